//! What a configuration sets on the machine is found there, and everything is as it was
//! afterwards, also after a kill at any moment.

mod root_age;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use stiction_core::{Applied, Seed, SessionId, Setting, SkipCode};
use stiction_host::{
    Alterations, Altered, BlockQueue, GlobalGrant, GrantedDevice, HeldDevice, LoopDevice,
    ScratchGrant, UndoJournal, pending, restore,
};
use testkit::scratch_folder;

const MIB: u64 = 1 << 20;

fn journal(state: &Path) -> UndoJournal {
    let session = SessionId::new("2002-11-30T10:59:12Z".parse().unwrap(), 7);
    UndoJournal::open(state, &session).unwrap()
}

fn alterations(settings: &[(&str, &str)], size_bytes: u64) -> Alterations {
    let settings: Vec<Setting> = settings
        .iter()
        .map(|(factor, level)| Setting::new(*factor, *level))
        .collect();
    Alterations::read(&settings, size_bytes, GlobalGrant::from_option(true)).unwrap()
}

fn made(settings: &[(&str, &str)], top: &Path, undo: &UndoJournal) -> Altered {
    let made = alterations(settings, 320 * MIB).make(top, Seed(1), undo);
    made.unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}

fn of<'a>(altered: &'a Altered, factor: &str) -> &'a Applied {
    let mut applied = altered.applied().iter();
    applied.find(|one| one.asked.factor == factor).unwrap()
}

/// The mount table's line of what is mounted on `path`: its type and its options.
fn mount_of(path: &Path) -> (String, String) {
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let path = path.to_str().unwrap();
    let mut lines = mounts
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>());
    let line = lines
        .find(|fields| fields[1] == path)
        .expect("it is mounted");
    (line[2].to_owned(), line[3].to_owned())
}

/// The settings of a device's queue, as `/sys` shows them.
fn queue(name: &str) -> BTreeMap<String, String> {
    let queue = PathBuf::from(format!("/sys/block/{name}/queue"));
    let files = fs::read_dir(&queue).unwrap().map(|file| file.unwrap());
    files
        .filter_map(|file| {
            let text = fs::read_to_string(file.path()).ok()?;
            Some((file.file_name().into_string().unwrap(), text))
        })
        .collect()
}

/// Nothing of ours is mounted or attached, and nothing pending.
fn assert_clean(top: &Path) {
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(top.to_str().unwrap()), "{mounts}");
    for device in fs::read_dir("/sys/block").unwrap() {
        let file = device.unwrap().path().join("loop/backing_file");
        let file = fs::read_to_string(file).unwrap_or_default();
        assert!(!file.contains(top.to_str().unwrap()), "{file}");
    }
    let left: Vec<_> = fs::read_dir(top)
        .unwrap()
        .map(|one| one.unwrap().file_name())
        .collect();
    assert!(left.iter().all(|name| name == "state"), "{left:?}");
    assert!(pending(&top.join("state")).unwrap().pending.is_empty());
}

#[test]
fn root_every_filesystem_is_made_and_found() {
    testkit::require_root!();
    testkit::require_program!("mkfs.xfs");
    testkit::require_program!("mkfs.btrfs");
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    for (level, mounted_as) in [
        ("ext2", "ext2"),
        ("ext3", "ext3"),
        ("ext4", "ext4"),
        ("xfs", "xfs"),
        ("btrfs", "btrfs"),
        ("tmpfs", "tmpfs"),
        ("ext2-to-ext3", "ext3"),
        ("ext3-to-ext2", "ext2"),
    ] {
        let altered = made(&[("filesystem", level)], top.path(), &undo);
        let place = altered.directory().unwrap();
        assert_eq!(mount_of(place).0, mounted_as, "{level}");
        assert!(of(&altered, "filesystem").is_in_force(), "{level}");
        fs::write(place.join("file"), "text").unwrap();
        altered.undo().unwrap();
        assert!(undo.open_changes().is_empty(), "{level}");
    }
    drop(undo);
    assert_clean(top.path());
}

/// ext4 turns delayed allocation off under data=journal (Documentation/admin-guide/ext4.rst).
#[test]
fn root_mount_options_are_checked_with_what_they_move() {
    testkit::require_root!();
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let options = "noatime,data=journal,commit=1,barrier=0";
    let settings = [("filesystem", "ext4"), ("mount_options", options)];
    let altered = made(&settings, top.path(), &undo);
    let applied = of(&altered, "mount_options");
    assert!(applied.is_in_force(), "{applied:?}");
    let moved: Vec<String> = applied
        .also_changed
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        moved.contains(&"delalloc on -> off".to_owned()),
        "{moved:?}"
    );
    let (_, shown) = mount_of(altered.directory().unwrap());
    assert!(
        shown.contains("noatime") && shown.contains("data=journal"),
        "{shown}"
    );
    altered.undo().unwrap();

    let settings = [("filesystem", "ext2"), ("mount_options", "data=journal")];
    let error = alterations(&settings, 64 * MIB)
        .make(top.path(), Seed(1), &undo)
        .unwrap_err();
    let reason = error.skip_reason().unwrap();
    assert_eq!(reason.code, SkipCode::NotSupported);
    assert!(
        reason.detail.contains("ext2 with `data=journal`"),
        "{reason:?}"
    );
    assert!(undo.open_changes().is_empty());
    drop(undo);
    assert_clean(top.path());
}

/// What dumpe2fs(8) and xfs_info(8) say of the journal.
#[test]
fn root_journals_are_where_they_were_asked_for() {
    testkit::require_root!();
    testkit::require_program!("mkfs.xfs");
    testkit::require_program!("dumpe2fs");
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let header = |altered: &Altered| {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let place = altered.directory().unwrap().to_str().unwrap();
        let line = mounts.lines().find(|line| line.contains(place)).unwrap();
        let device = line.split(' ').next().unwrap();
        let output = Command::new("dumpe2fs")
            .args(["-h", device])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.map(|line| line.split(':').nth(1).unwrap().trim().to_owned())
    };
    let sized = [("filesystem", "ext3"), ("journal", "8MiB")];
    let altered = made(&sized, top.path(), &undo);
    assert_eq!(
        field(&header(&altered), "Total journal size").as_deref(),
        Some("8M")
    );
    assert!(of(&altered, "journal").is_in_force());
    altered.undo().unwrap();
    let sized = [("filesystem", "xfs"), ("journal", "64MiB")];
    let altered = made(&sized, top.path(), &undo);
    assert!(
        of(&altered, "journal").is_in_force(),
        "{:?}",
        of(&altered, "journal")
    );
    altered.undo().unwrap();
    for filesystem in ["ext3", "ext4", "xfs"] {
        let settings = [("filesystem", filesystem), ("journal", "external")];
        let altered = made(&settings, top.path(), &undo);
        assert!(of(&altered, "journal").is_in_force(), "{filesystem}");
        match filesystem {
            "xfs" => {
                let (_, options) = mount_of(altered.directory().unwrap());
                assert!(options.contains("logdev=/dev/loop"), "{options}");
            }
            _ => {
                let device = field(&header(&altered), "Journal device");
                assert_eq!(device.unwrap()[..4], *"0x07", "a loop device");
            }
        }
        altered.undo().unwrap();
    }
    drop(undo);
    assert_clean(top.path());
}

/// By Documentation/block/switching-sched.rst and blk-mq's default depths: without a
/// scheduler a loop device has 128 requests, with one twice as many.
#[test]
fn root_a_scheduler_moves_the_number_of_requests_and_all_is_put_back() {
    testkit::require_root!();
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let file = top.path().join("file");
    fs::File::create(&file).unwrap().set_len(64 * MIB).unwrap();
    let device = LoopDevice::attach(&file, 512, true, &undo).unwrap();
    let before = queue(&device.name());
    let settings = [
        // Whoever had the device before may have left it with another.
        ("scheduler", "none"),
        ("scheduler", "mq-deadline"),
        ("scheduler", "bfq"),
        ("read_ahead_kb", "64"),
    ];
    let held = BlockQueue::of_loop(&device, &undo).unwrap();
    let set = |file: &str, level: &str| held.set(file, Setting::new(file, level)).unwrap();
    for (file, level) in settings {
        let applied = set(file, level);
        assert!(applied.is_in_force(), "{applied:?}");
        if level == "mq-deadline" {
            let moved: Vec<_> = applied.also_changed.iter().map(|one| &one.name).collect();
            assert!(moved.iter().any(|name| *name == "nr_requests"), "{moved:?}");
        }
    }
    // Two would put back what the other has set.
    let error = BlockQueue::of_loop(&device, &undo).unwrap_err();
    assert!(error.to_string().contains("another run"), "{error}");
    let error = held
        .set("scheduler", Setting::new("scheduler", "cfq"))
        .unwrap_err();
    assert_eq!(error.errno(), Some(libc::EINVAL), "{error}");
    set("nr_requests", "33");
    set("write_cache", "write back");
    set("iosched/low_latency", "0");
    held.put_back().unwrap();
    assert_eq!(queue(&device.name()), before);
    device.detach().unwrap();
}

#[test]
fn root_limits_of_dirty_data_memory_and_cpus_are_found_and_put_back() {
    testkit::require_root!();
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let altered = made(&[("dirty_limit", "8MiB")], top.path(), &undo);
    let applied = of(&altered, "dirty_limit");
    assert!(applied.is_in_force(), "{applied:?}");
    let source = fs::read_to_string("/proc/mounts").unwrap();
    let place = altered.directory().unwrap().to_str().unwrap().to_owned();
    let line = source.lines().find(|line| line.contains(&place)).unwrap();
    let name = line
        .split(' ')
        .next()
        .unwrap()
        .strip_prefix("/dev/loop")
        .unwrap()
        .to_owned();
    let limit = |file: &str| {
        let path = format!("/sys/class/bdi/7:{name}/{file}");
        fs::read_to_string(path).unwrap().trim().to_owned()
    };
    assert_eq!(limit("strict_limit"), "1");
    altered.undo().unwrap();
    assert_eq!(
        (limit("strict_limit"), limit("max_ratio")),
        ("0".to_owned(), "100".to_owned())
    );

    let altered = made(&[("memory", "512MiB"), ("cpus", "0")], top.path(), &undo);
    assert!(
        altered.applied().iter().all(Applied::is_in_force),
        "{:?}",
        altered.applied()
    );
    assert_eq!(altered.directory(), None);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap();
    assert!(
        groups.contains(&format!("stiction-{}", std::process::id())),
        "{groups}"
    );
    altered.undo().unwrap();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap();
    assert!(!groups.contains("stiction-"), "{groups}");
    assert!(undo.open_changes().is_empty());
}

/// The CPUs of a thread, as `/proc` shows them.
fn allowed_cpus() -> String {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("Cpus_allowed_list"));
    line.unwrap().split_whitespace().nth(1).unwrap().to_owned()
}

/// In a process of its own: tests that run beside it are not to be moved.
#[test]
fn root_cpus_of_a_group_are_found_and_put_back_and_go_with_memory() {
    testkit::require_root!();
    let before = allowed_cpus();
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let group = || {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = format!("stiction-{}", std::process::id());
        groups.lines().filter(|line| line.contains(&own)).count()
    };
    let settings = [("cpuset", "0"), ("memory", "512MiB")];
    let altered = made(&settings, top.path(), &undo);
    let applied = of(&altered, "cpuset");
    assert!(applied.is_in_force(), "{applied:?}");
    assert!(of(&altered, "memory").is_in_force());
    assert_eq!(allowed_cpus(), "0");
    assert!(group() >= 1);
    altered.undo().unwrap();
    assert_eq!(allowed_cpus(), before);
    assert_eq!(group(), 0);
    assert!(undo.open_changes().is_empty());

    let error = alterations(&[("cpuset", "4000")], 64 * MIB)
        .make(top.path(), Seed(1), &undo)
        .unwrap_err();
    assert!(error.skip_reason().is_some(), "{error}");
    assert_eq!(group(), 0);
    assert!(undo.open_changes().is_empty());
}

/// Where no frequencies are chosen the trial is skipped; elsewhere they are put back.
#[test]
fn root_a_governor_is_in_force_or_cannot_be_had() {
    testkit::require_root!();
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let made =
        alterations(&[("governor", "performance")], 64 * MIB).make(top.path(), Seed(1), &undo);
    match made {
        Ok(altered) => {
            assert!(of(&altered, "governor").is_in_force());
            altered.undo().unwrap();
        }
        Err(error) => {
            let reason = error.skip_reason().unwrap();
            assert_eq!(reason.code, SkipCode::NotSupported, "{reason:?}");
        }
    }
    assert!(undo.open_changes().is_empty());
}

/// A device that is told that its cache writes through is sent no flushes
/// (Documentation/ABI/stable/sysfs-block, field 16 of Documentation/admin-guide/iostats.rst).
#[test]
fn root_the_write_cache_of_a_granted_device_decides_over_flushes() {
    testkit::require_root!();
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let file = top.path().join("file");
    fs::File::create(&file).unwrap().set_len(16 * MIB).unwrap();
    let device = LoopDevice::attach(&file, 512, true, &undo).unwrap();
    let grant = ScratchGrant {
        serial: file.to_str().unwrap().to_owned(),
        wipe_signature: None,
    };
    let held = HeldDevice::acquire(device.path(), &grant).unwrap();
    let descriptor = held.descriptor();
    let queue = BlockQueue::of_granted(&GrantedDevice::new(held), &undo).unwrap();
    let flushes = || {
        let stat = fs::read_to_string(format!("/sys/block/{}/stat", device.name())).unwrap();
        let field = stat.split_whitespace().nth(15).unwrap();
        field.parse::<u64>().unwrap()
    };
    let flushed_by_a_sync = || {
        let before = flushes();
        rustix::fs::fsync(&descriptor).unwrap();
        flushes() - before
    };
    for (level, expected) in [("write through", 0), ("write back", 1)] {
        let applied = queue.set("write_cache", Setting::new("write_cache", level));
        let applied = applied.unwrap();
        assert!(applied.is_in_force(), "{applied:?}");
        assert_eq!(flushed_by_a_sync(), expected, "{level}");
    }
    queue.put_back().unwrap();
    drop(descriptor);
    device.detach().unwrap();
    assert!(undo.open_changes().is_empty());
}

/// Two that matter to nobody's data, and to little else for as long as this takes.
#[test]
fn root_settings_of_the_whole_machine_are_put_back() {
    const INTERVAL: &str = "/proc/sys/vm/stat_interval";
    const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    testkit::require_root!();
    let Ok(before) = fs::read_to_string(ENABLED) else {
        testkit::skip!("this kernel has no transparent huge pages");
    };
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let level = if before.contains("[never]") {
        "madvise"
    } else {
        "never"
    };
    let altered = made(&[("transparent_hugepage", level)], top.path(), &undo);
    assert!(
        fs::read_to_string(ENABLED)
            .unwrap()
            .contains(&format!("[{level}]"))
    );
    altered.undo().unwrap();
    assert_eq!(fs::read_to_string(ENABLED).unwrap(), before);

    let before = fs::read_to_string(INTERVAL).unwrap();
    let level = (before.trim().parse::<u32>().unwrap() + 1).to_string();
    let altered = made(&[("sysctl.vm.stat_interval", &level)], top.path(), &undo);
    assert_eq!(fs::read_to_string(INTERVAL).unwrap().trim(), level);
    assert!(altered.applied()[0].is_in_force());
    drop(altered);
    assert_eq!(fs::read_to_string(INTERVAL).unwrap(), before);
}

/// Where this is set, a test is its own child, which makes and undoes all in that folder.
const CHILD: &str = "STICTION_TEST_CHILD";
/// At which step the child kills itself: two steps are a line of the undo journal.
const DEATH: &str = "STICTION_TEST_DEATH";

static STEPS_LEFT: AtomicU64 = AtomicU64::new(u64::MAX);

fn die_in_time() {
    if STEPS_LEFT.fetch_sub(1, Ordering::Relaxed) == 0 {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    }
}

fn everything(top: &Path) {
    let steps = std::env::var(DEATH).unwrap().parse().unwrap();
    let undo = journal(&top.join("state"));
    STEPS_LEFT.store(steps, Ordering::Relaxed);
    undo.watch_writes(die_in_time);
    let settings = [
        ("filesystem", "ext4"),
        ("mount_options", "noatime"),
        ("scheduler", "bfq"),
        ("read_ahead_kb", "32"),
        ("dirty_limit", "16MiB"),
    ];
    let altered = alterations(&settings, 32 * MIB)
        .make(top, Seed(1), &undo)
        .unwrap();
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let place = altered.directory().unwrap().to_str().unwrap();
    let line = mounts.lines().find(|line| line.contains(place)).unwrap();
    let name = line
        .split(' ')
        .next()
        .unwrap()
        .strip_prefix("/dev/")
        .unwrap();
    std::io::stdout()
        .write_all(format!("\ndevice {name}\n").as_bytes())
        .unwrap();
    altered.undo().unwrap();
}

#[test]
fn root_a_kill_at_any_write_of_the_undo_journal_leaves_nothing() {
    if let Some(folder) = std::env::var_os(CHILD) {
        everything(Path::new(&folder));
        return;
    }
    testkit::require_root!();
    let settings_of_loops = || -> Vec<(String, String, String)> {
        let names = fs::read_dir("/sys/block").unwrap();
        let names = names.map(|name| name.unwrap().file_name().into_string().unwrap());
        let mut all: Vec<_> = names
            .filter(|name| name.starts_with("loop"))
            .map(|name| {
                let files = queue(&name);
                (
                    name,
                    files["scheduler"].clone(),
                    files["read_ahead_kb"].clone(),
                )
            })
            .collect();
        all.sort();
        all
    };
    let before = settings_of_loops();
    let mut steps = 0;
    loop {
        let top = scratch_folder();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "root_a_kill_at_any_write_of_the_undo_journal_leaves_nothing",
            ])
            .arg("--nocapture")
            .env(CHILD, top.path())
            .env(DEATH, steps.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.for_each(|line| drop(line.unwrap()));
        let status = child.wait().unwrap();
        if status.success() {
            assert_clean(top.path());
            break;
        }
        assert_eq!(status.signal(), Some(libc::SIGKILL), "step {steps}");
        let restoration = restore(&top.path().join("state")).unwrap();
        for restored in &restoration.changes {
            assert!(restored.result.is_ok(), "step {steps}: {restored:?}");
        }
        assert!(restoration.problems.is_empty(), "step {steps}");
        assert_clean(top.path());
        steps += 1;
    }
    // Own directory, device, queue, limit, and a filesystem that is mounted twice: each
    // begun and undone, each time before and after its line.
    assert_eq!(steps, 2 * 2 * 6);
    let after = settings_of_loops();
    let known = |one: &(String, String, String)| before.iter().find(|other| other.0 == one.0);
    for one in &after {
        assert_eq!(known(one).unwrap_or(one), one);
    }
}
