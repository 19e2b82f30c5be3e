//! What a configuration would change on the machine, and whether it could, found by
//! looking alone.

use std::path::Path;

use rustix::process::geteuid;
use stiction_core::{Seed, Setting, SkipCode, SkipReason, format_bytes, parse_size_bytes};

use super::alterations::OF_SCHEDULER;
use super::filesystem_kind::{FilesystemKind, JournalPlace, Tool, uuid};
use super::scratch::JOURNAL_BYTES;
use super::{Alterations, FilesystemRecipe};
use crate::stack::disk_of;
use crate::{GrantedDevice, Reserve, Roots, admit_bytes};

/// The loop device, whose number is not known before it is there.
const LOOP: &str = "loopN";
/// The loop device of an external journal.
const JOURNAL: &str = "loopM";
/// Where programs of the system's lie.
const PROGRAM_FOLDERS: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

impl Alterations {
    /// What [`make`](Self::make) changes, in order, as a person would type it: a command,
    /// a mount, `FILE = VALUE`. All of it is undone after each trial.
    #[must_use]
    pub fn foreseen(&self, directory: &Path) -> Vec<String> {
        let mut settings: Vec<&Setting> = self.settings().iter().collect();
        settings.sort_by_key(|setting| turn(setting));
        let mut lines = Vec::new();
        if let (Some((kind, recipe)), Some(bytes)) = (self.scratch(), self.scratch_bytes()) {
            let disk = self.disk(&Roots::live());
            let queue = settings.iter().filter_map(|one| of_device(one, &disk));
            let granted = self.granted();
            lines = scratch((*kind, recipe), bytes, directory, granted, queue.collect());
        }
        lines.extend(settings.into_iter().filter_map(elsewhere));
        lines
    }

    /// The disk that scratch space is on: it has the queue.
    fn disk(&self, roots: &Roots) -> String {
        match self.granted() {
            None => LOOP.to_owned(),
            Some(device) => disk_of(roots, device.name()),
        }
    }

    /// Why it cannot be made here, as far as looking tells; the kernel may still refuse.
    #[must_use]
    pub fn obstacles(&self, directory: &Path, roots: &Roots) -> Vec<SkipReason> {
        let mut found = Vec::new();
        let needs_root = |one: &Setting| of_device(one, LOOP).is_some() || is_of_root(one);
        let is_root = geteuid().is_root() || !roots.is_live();
        if !is_root && (self.scratch().is_some() || self.settings().iter().any(needs_root)) {
            let text = "settings of the machine take root; run it as root";
            found.push(SkipReason::new(SkipCode::NotPermitted, text));
        }
        if let (Some((kind, recipe)), Some(bytes)) = (self.scratch(), self.scratch_bytes()) {
            found.extend(kind.missing_in(roots));
            let tools = kind.tools(Path::new(LOOP), recipe, None, Seed(0));
            let programs = tools.iter().flatten().map(Tool::program);
            found.extend(programs.filter_map(|program| missing_program(program, roots)));
            if self.granted().is_none() {
                found.extend(admit_bytes(directory, bytes, Reserve::default()).err());
            }
        }
        let disk = match self.granted() {
            // All loop devices are alike.
            None => ("loop0".to_owned(), "a loop device".to_owned()),
            Some(_) => (self.disk(roots), self.disk(roots)),
        };
        let refused = |one: &Setting| {
            let reason = refused(one, (&disk.0, &disk.1), roots)?;
            Some(SkipReason::new(SkipCode::NotSupported, reason))
        };
        found.extend(self.settings().iter().filter_map(refused));
        found
    }
}

/// In which order settings are made.
fn turn(setting: &Setting) -> u32 {
    match setting.factor.as_str() {
        // It moves what else its queue is set to.
        "scheduler" => 0,
        "dirty_limit" => 2,
        "file_age" => 3,
        _ if setting.is_of_whole_machine() => 4,
        "memory" | "cpuset" => 5,
        "cpus" => 6,
        _ => 1,
    }
}

/// The lines of scratch space; `queue` are those about its device.
fn scratch(
    (kind, recipe): (FilesystemKind, &FilesystemRecipe),
    bytes: u64,
    directory: &Path,
    granted: Option<&GrantedDevice>,
    queue: Vec<String>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let own = directory.join(".stiction-...");
    let own = own.display();
    let mut options = recipe.mount_options.clone();
    let source = if kind == FilesystemKind::Tmpfs {
        let comma = if options.is_empty() { "" } else { "," };
        options = format!("size={bytes}{comma}{options}");
        "tmpfs".to_owned()
    } else {
        let is_external = recipe.journal == JournalPlace::External;
        let journal = is_external.then_some((JOURNAL, "journal", JOURNAL_BYTES));
        let own_device = granted.is_none().then_some((LOOP, "device", bytes));
        for (node, name, bytes) in own_device.into_iter().chain(journal) {
            lines.push(format!(
                "losetup --direct-io=on /dev/{node} {own}/{name}   (a file of {})",
                format_bytes(bytes)
            ));
        }
        lines.extend(queue);
        let journal = Path::new("/dev").join(JOURNAL);
        let loop_device = Path::new("/dev").join(LOOP);
        let device = granted.map_or(loop_device.as_path(), GrantedDevice::path);
        let journal = is_external.then_some(journal.as_path());
        // Each trial's tools have a seed of their own.
        let of_seed = format!("={}", uuid(Seed(0)));
        if let Ok(tools) = kind.tools(device, recipe, journal, Seed(0)) {
            let lines_of = tools.iter().map(ToString::to_string);
            lines.extend(lines_of.map(|line| line.replace(&of_seed, "=...")));
        }
        device.display().to_string()
    };
    let options = match options.is_empty() {
        true => String::new(),
        false => format!(" -o {options}"),
    };
    let kind = kind.mounted_as();
    lines.push(format!("mount -t {kind}{options} {source} {own}/mounted"));
    lines
}

/// What is set on the scratch device itself, or on the disk that it is of.
fn of_device(setting: &Setting, disk: &str) -> Option<String> {
    let level = &setting.level;
    let queue = |file: &str| Some(format!("/sys/block/{disk}/queue/{file} = {level}"));
    match setting.factor.as_str() {
        "dirty_limit" => {
            let bytes = parse_size_bytes(level).ok()?;
            Some(format!("/sys/class/bdi/({disk})/max_bytes = {bytes}"))
        }
        name if Setting::QUEUE.contains(&name) => queue(name),
        name => queue(&format!("iosched/{}", name.strip_prefix(OF_SCHEDULER)?)),
    }
}

/// What is set elsewhere; nothing where the line of a mount or a command has it.
fn elsewhere(setting: &Setting) -> Option<String> {
    let Setting { factor, level } = setting;
    if of_device(setting, LOOP).is_some() {
        return None;
    }
    let what = match factor.as_str() {
        "filesystem" | "mkfs_options" | "mount_options" | "journal" => return None,
        "memory" => "a memory control group of its own".to_owned(),
        "cpus" => "the CPUs that stiction may run on".to_owned(),
        Setting::HUGE_PAGES => "/sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
        Setting::GOVERNOR => "the scaling_governor of all CPUs".to_owned(),
        name => name
            .strip_prefix(Setting::SYSCTL)
            .map_or_else(|| factor.clone(), sysctl_file),
    };
    let whose = match setting.is_of_whole_machine() {
        true => "   (everybody's)",
        false => "",
    };
    Some(format!("{what} = {level}{whose}"))
}

fn is_of_root(setting: &Setting) -> bool {
    setting.is_of_whole_machine() || ["cpuset", "memory"].contains(&setting.factor.as_str())
}

fn sysctl_file(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

fn missing_program(program: &'static str, roots: &Roots) -> Option<SkipReason> {
    let is_there = |folder: &&str| roots.path(Path::new(folder).join(program)).exists();
    if PROGRAM_FOLDERS.iter().any(is_there) {
        return None;
    }
    let text = format!("{program} is not installed");
    Some(SkipReason::new(SkipCode::NotSupported, text))
}

/// Why the kernel will not take a setting, where its files tell; `disk` is one with such a
/// queue, and `of` what it is called.
fn refused(setting: &Setting, (disk, of): (&str, &str), roots: &Roots) -> Option<String> {
    let Setting { factor, level } = setting;
    if let Some(name) = factor.strip_prefix(Setting::SYSCTL) {
        let file = sysctl_file(name);
        let is_there = roots.path(&file).exists();
        return (!is_there).then(|| format!("{factor}: there is no {file}"));
    }
    let name = Setting::QUEUE.iter().find(|name| *name == factor)?;
    // Before the first loop device there is nothing to look at.
    let queue = roots.path(format!("/sys/block/{disk}/queue"));
    if !queue.is_dir() {
        return None;
    }
    let Ok(text) = std::fs::read_to_string(queue.join(name)) else {
        return Some(format!("{factor}: {of} has no queue/{name}"));
    };
    let known: Vec<&str> = text.split_whitespace().collect();
    let is_known = known
        .iter()
        .any(|one| one.trim_matches(['[', ']']) == level);
    // A scheduler that is a module is listed once it is loaded.
    let may_load = roots.text_if_any("/proc/modules").is_some();
    (factor == "scheduler" && !is_known && !may_load).then(|| {
        format!(
            "scheduler: this kernel has {} for {of}, and no {level}",
            known.join(" ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SCRATCH_BYTES;

    fn read(settings: &[(&str, &str)]) -> Alterations {
        let settings = settings
            .iter()
            .map(|(name, level)| Setting::new(*name, *level));
        let settings: Vec<Setting> = settings.collect();
        let grant = crate::GlobalGrant::from_option(true);
        Alterations::read(&settings, SCRATCH_BYTES, grant).unwrap()
    }

    #[test]
    fn every_change_is_foreseen_in_order() {
        let all = read(&[
            ("filesystem", "ext4"),
            ("mount_options", "noatime,data=journal"),
            ("cpus", "0"),
            ("memory", "256MiB"),
            ("sysctl.vm.dirty_ratio", "5"),
            ("governor", "performance"),
            ("dirty_limit", "8MiB"),
            ("nr_requests", "64"),
            ("scheduler", "none"),
        ]);
        let expected = [
            "losetup --direct-io=on /dev/loopN /d/.stiction-.../device   (a file of 1 GiB)",
            "/sys/block/loopN/queue/scheduler = none",
            "/sys/block/loopN/queue/nr_requests = 64",
            "/sys/class/bdi/(loopN)/max_bytes = 8388608",
            "mke2fs -q -F -t ext4 \
             -E lazy_itable_init=0,lazy_journal_init=0,nodiscard,hash_seed=... /dev/loopN",
            "mount -t ext4 -o noatime,data=journal /dev/loopN /d/.stiction-.../mounted",
            "/proc/sys/vm/dirty_ratio = 5   (everybody's)",
            "the scaling_governor of all CPUs = performance   (everybody's)",
            "a memory control group of its own = 256MiB",
            "the CPUs that stiction may run on = 0",
        ];
        assert_eq!(all.foreseen(Path::new("/d")), expected);
        let xfs = read(&[("filesystem", "xfs"), ("journal", "external")]);
        let lines = xfs.foreseen(Path::new("/d"));
        assert_eq!(
            lines[2],
            "mkfs.xfs -q -f -K -l logdev=/dev/loopM /dev/loopN"
        );
        assert_eq!(read(&[("cpus", "0")]).foreseen(Path::new("/d")).len(), 1);
    }

    #[test]
    fn what_this_machine_lacks_is_seen_beforehand() {
        let machine = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = machine.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file("proc/filesystems", "nodev\ttmpfs\n\text4\n");
        file("proc/sys/vm/dirty_ratio", "20\n");
        file("usr/sbin/mke2fs", "");
        file("sys/block/loop0/queue/scheduler", "[none] mq-deadline\n");
        let roots = Roots::at(machine.path());
        let obstacles = |settings: &[(&str, &str)]| -> Vec<String> {
            let small: Vec<Setting> = settings.iter().map(|(n, l)| Setting::new(*n, *l)).collect();
            let grant = crate::GlobalGrant::from_option(true);
            let read = Alterations::read(&small, 300 << 20, grant).unwrap();
            let found = read.obstacles(machine.path(), &roots).into_iter();
            found.map(|reason| reason.detail).collect()
        };
        let none: [&str; 0] = [];
        assert_eq!(
            obstacles(&[("filesystem", "ext4"), ("scheduler", "mq-deadline")]),
            none
        );
        assert_eq!(obstacles(&[("sysctl.vm.dirty_ratio", "5")]), none);
        let lacks = |settings: &[(&str, &str)], said: &str| {
            let found = obstacles(settings);
            assert!(
                found.iter().any(|text| text.contains(said)),
                "{said} in {found:?}"
            );
        };
        lacks(&[("filesystem", "xfs")], "does not know xfs");
        lacks(&[("filesystem", "btrfs")], "mkfs.btrfs is not installed");
        lacks(&[("scheduler", "bfq")], "and no bfq");
        lacks(&[("wbt_lat_usec", "0")], "has no queue/wbt_lat_usec");
        lacks(
            &[("sysctl.vm.nothing", "5")],
            "there is no /proc/sys/vm/nothing",
        );
        // A disk that was handed over has a queue of its own.
        file("sys/block/sdx/queue/wbt_lat_usec", "2000\n");
        let of_disk = |name: &str| refused(&Setting::new(name, "0"), ("sdx", "sdx"), &roots);
        assert_eq!(of_disk("wbt_lat_usec"), None);
        let absent = of_disk("nomerges").unwrap();
        assert_eq!(absent, "nomerges: sdx has no queue/nomerges");
    }
}
