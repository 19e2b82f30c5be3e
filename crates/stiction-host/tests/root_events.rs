//! What is recorded while a phase runs, against devices and faults that are known.

use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use stiction_core::{
    BlockTrace, KindTrace, RequestKind, SizeCount, TraceSource, WitnessLevel, Witnesses,
};
use stiction_host::{FactOptions, LoopDevice, Witness, observe_target, process_cpu};
use testkit::{FaultFs, Faults, LoopFilesystem, LoopKind, ScratchLoop, Zram};

const MIB: u64 = 1 << 20;

/// Room at an address that O_DIRECT takes.
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
}

impl Aligned {
    fn new(length: usize) -> Self {
        let bytes = vec![0x5a; length + 4096];
        let start = bytes.as_ptr().align_offset(4096);
        Self { bytes, start }
    }

    fn first(&mut self, length: usize) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + length]
    }
}

fn direct(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_DIRECT);
    options.open(path).unwrap()
}

/// All that is recorded while `work` runs on what `target` stands on.
fn recorded(target: &Path, work: impl FnOnce()) -> Witnesses {
    let stack = observe_target(target, FactOptions::default()).unwrap();
    let witness = Witness::begin(WitnessLevel::Full, &[stack], &[]);
    work();
    witness.finish()
}

fn of<'a>(seen: &'a Witnesses, device: &str) -> &'a BlockTrace {
    let mut traces = seen.block_traces.iter();
    traces
        .find(|trace| trace.device == device)
        .unwrap_or_else(|| panic!("no trace of {device}: {:?}", seen.missing))
}

fn kind(trace: &BlockTrace, kind: RequestKind) -> &KindTrace {
    trace.kind(kind).unwrap_or_else(|| panic!("{trace:?}"))
}

/// One after the other and then back and forth, and each as large as it was asked for.
#[test]
fn root_each_request_is_seen_once_with_its_size_and_place() {
    testkit::require_root!();
    let device = ScratchLoop::new(64 * MIB);
    let mut buffer = Aligned::new(16384);
    let seen = recorded(device.path(), || {
        let file = direct(device.path());
        for number in 0..100 {
            file.read_exact_at(buffer.first(4096), number * 4096)
                .unwrap();
        }
        for number in 0..20 {
            let place = (number % 2) * 32 * MIB;
            file.write_all_at(buffer.first(16384), place).unwrap();
        }
    });
    let trace = of(&seen, &device.name());
    assert_eq!(trace.source, TraceSource::Requests);
    assert_eq!(trace.device_number, device.device_number());
    assert_eq!(
        (trace.lost_records, trace.unmatched, trace.unfinished),
        (0, 0, 0)
    );

    let reads = kind(trace, RequestKind::Read);
    assert_eq!((reads.all.requests, reads.all.bytes), (100, 100 * 4096));
    assert_eq!((reads.sequential, reads.jumps), (99, 0));
    assert_eq!(
        reads.sizes,
        [SizeCount {
            bytes: 4096,
            requests: 100
        }]
    );
    assert_eq!(
        (reads.others.requests, reads.kernel.requests),
        (0, 0),
        "{trace:?}"
    );

    let writes = kind(trace, RequestKind::Write);
    assert_eq!((writes.all.requests, writes.all.bytes), (20, 20 * 16384));
    assert_eq!((writes.sequential, writes.jumps), (0, 19));
    // From the end of one to the start of the other: 32 MiB less or more than a write.
    let (there, back) = (32 * MIB - 16384, 32 * MIB + 16384);
    assert_eq!(writes.jump_bytes, 10 * there + 9 * back);
    assert_eq!(trace.depth.max, 1);

    // The kernel's own counters, around the same work.
    let [counted] = &seen.devices[..] else {
        panic!("{:?}", seen.missing);
    };
    assert_eq!((counted.reads, counted.writes), (100, 20));
    assert_eq!(
        (counted.read_bytes, counted.written_bytes),
        (reads.all.bytes, writes.all.bytes)
    );
    assert!(seen.missing.is_empty(), "{:?}", seen.missing);
    let cost = seen
        .costs
        .iter()
        .find(|cost| cost.witness == "events")
        .unwrap();
    assert!(cost.beside_ns > 0 && cost.records >= 240, "{cost:?}");
}

/// A disk that takes a known time: a loop device over a file that answers late.
#[test]
fn root_a_device_takes_as_long_as_it_was_made_to() {
    testkit::require_root!();
    let slow = match FaultFs::mount(Faults::default()) {
        Ok(slow) => slow,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let backing = slow.path().join("device");
    File::create(&backing).unwrap().set_len(8 * MIB).unwrap();
    let undo = testkit::journal();
    let device = LoopDevice::attach(&backing, 512, true, &undo).unwrap();
    let delay = Duration::from_millis(2);
    slow.set(Faults {
        delay,
        ..Faults::default()
    });
    let mut buffer = Aligned::new(4096);
    let seen = recorded(device.path(), || {
        let file = direct(device.path());
        for number in 0..100 {
            file.read_exact_at(buffer.first(4096), number * 4096)
                .unwrap();
        }
    });
    let trace = of(&seen, &device.name());
    let latencies = kind(trace, RequestKind::Read).latencies.clone().unwrap();
    assert_eq!(latencies.count(), 100);
    let delay_ns = delay.as_nanos() as u64;
    assert!(latencies.min_ns().unwrap() >= delay_ns, "{latencies:?}");
    let median_ns = latencies.quantile_ns(0.5).unwrap();
    assert!(median_ns <= delay_ns * 5 / 4, "{median_ns}");
    // One in hand nearly all of the time that the requests took.
    let held_ns: u64 = trace.depth.held_ns.iter().sum();
    assert_eq!(held_ns, latencies.sum_ns());
    slow.set(Faults::default());
    device.detach().unwrap();
}

/// A process that was not started by us reads at the same time.
#[test]
fn root_the_requests_of_others_are_told_apart() {
    testkit::require_root!();
    let device = ScratchLoop::new(64 * MIB);
    let folder = testkit::scratch_folder();
    let (go, done) = (folder.path().join("go"), folder.path().join("done"));
    for fifo in [&go, &done] {
        testkit::run(Command::new("mkfifo").arg(fifo));
    }
    // The shell ends at once, so that what it began is nobody's child of ours.
    let script = format!(
        "(read x < {go}; dd if={device} of=/dev/null iflag=direct bs=8192 count=50 \
         2> /dev/null; echo > {done}) > /dev/null 2>&1 &",
        go = go.display(),
        done = done.display(),
        device = device.path().display()
    );
    testkit::run(Command::new("sh").arg("-c").arg(script));
    let mut buffer = Aligned::new(4096);
    let seen = recorded(device.path(), || {
        fs::write(&go, "x\n").unwrap();
        let file = direct(device.path());
        for number in 0..70 {
            file.read_exact_at(buffer.first(4096), number * 4096)
                .unwrap();
        }
        fs::read(&done).unwrap();
    });
    let trace = of(&seen, &device.name());
    let reads = kind(trace, RequestKind::Read);
    assert_eq!(reads.all.requests, 120);
    assert_eq!(
        (reads.others.requests, reads.others.bytes),
        (50, 50 * 8192),
        "{trace:?}"
    );
    assert_eq!(trace.other_programs, [("dd".to_owned(), 50)]);
}

/// What we start is ours, though it is gone before anybody can look it up.
#[test]
fn root_the_requests_of_what_we_start_are_ours() {
    testkit::require_root!();
    let device = ScratchLoop::new(16 * MIB);
    let seen = recorded(device.path(), || {
        let read = |from: u32| {
            testkit::run(Command::new("dd").args([
                &format!("if={}", device.path().display()),
                "of=/dev/null",
                "iflag=direct",
                "bs=4096",
                "count=1",
                &format!("skip={from}"),
            ]));
        };
        (0..5).for_each(read);
    });
    let trace = of(&seen, &device.name());
    let reads = kind(trace, RequestKind::Read);
    assert_eq!(
        (reads.all.requests, reads.others.requests),
        (5, 0),
        "{trace:?}"
    );
}

/// A device without requests shows its bios.
#[test]
fn root_compressed_memory_is_followed_by_its_bios() {
    testkit::require_root!();
    let zram = match Zram::new(16 * MIB) {
        Ok(zram) => zram,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let mut buffer = Aligned::new(4096);
    let seen = recorded(zram.path(), || {
        let file = direct(zram.path());
        for number in 0..64 {
            file.write_all_at(buffer.first(4096), number * 4096)
                .unwrap();
        }
    });
    let name = zram.path().file_name().unwrap().to_str().unwrap();
    let trace = of(&seen, name);
    assert_eq!(trace.source, TraceSource::Bios);
    let writes = kind(trace, RequestKind::Write);
    assert_eq!(
        (writes.all.requests, writes.completed, writes.sequential),
        (64, 64, 63)
    );
}

/// A limit on what may be dirty on one device, which is put back.
struct DirtyLimit(PathBuf);

impl DirtyLimit {
    fn new((major, minor): (u32, u32), bytes: u64) -> Self {
        let folder = PathBuf::from(format!("/sys/class/bdi/{major}:{minor}"));
        let limit = Self(folder);
        limit.set("strict_limit", "1");
        limit.set("max_bytes", &bytes.to_string());
        limit
    }

    fn set(&self, name: &str, value: &str) {
        fs::write(self.0.join(name), value).unwrap();
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        self.set("max_ratio", "100");
        self.set("strict_limit", "0");
    }
}

/// Who writes faster than little may be dirty is made to wait, and that is seen.
#[test]
fn root_a_writer_that_is_held_back_is_seen_to_wait() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 256 * MIB);
    let limit = DirtyLimit::new(filesystem.device().device_number(), 4 * MIB);
    let path = filesystem.path().join("file");
    let seen = recorded(filesystem.path(), || {
        fs::write(&path, vec![1; 24 << 20]).unwrap();
    });
    drop(limit);
    let stalls = seen.writeback_stalls.as_ref().unwrap();
    let ours: Vec<_> = stalls.iter().filter(|stall| stall.is_ours).collect();
    let [ours] = &ours[..] else {
        panic!("{stalls:?}");
    };
    assert!(ours.count > 0 && ours.total_ns >= ours.max_ns, "{ours:?}");
    assert!(
        ours.max_ns > 0 && ours.max_ns <= 200_000_000,
        "at most 200 ms (MAX_PAUSE): {ours:?}"
    );
}

/// What a thread does all the time is what most samples find it in.
#[test]
fn root_a_profile_finds_the_function_that_takes_the_time() {
    testkit::require_root!();
    let folder = testkit::scratch_folder();
    let seen = recorded(folder.path(), || {
        let mut zeros = File::open("/dev/zero").unwrap();
        let mut buffer = vec![0; 1 << 20];
        let before_ns = process_cpu().total_ns;
        while process_cpu().total_ns - before_ns < 300_000_000 {
            zeros.read_exact(&mut buffer).unwrap();
        }
    });
    let profile = seen.profile.unwrap();
    assert_eq!((profile.hz, &profile.without_symbols), (997, &None));
    let reading: u64 = profile
        .stacks
        .iter()
        .filter(|one| one.stack.contains(";vfs_read;"))
        .map(|one| one.samples)
        .sum();
    // 300 ms are 299 samples, if no hypervisor takes the CPU away meanwhile.
    assert!(reading >= 100, "{reading} of {profile:?}");
    assert!(profile.own_samples >= reading && profile.samples >= profile.own_samples);
}

/// At the usual level nothing is recorded, and at none nothing is read.
#[test]
fn root_lesser_levels_watch_less() {
    testkit::require_root!();
    let device = ScratchLoop::new(16 * MIB);
    let stack = observe_target(device.path(), FactOptions::default()).unwrap();
    let at = |level| Witness::begin(level, std::slice::from_ref(&stack), &[]).finish();
    let light = at(WitnessLevel::Light);
    assert_eq!((light.devices.len(), light.block_traces.len()), (1, 0));
    assert!(light.profile.is_none() && light.system_cpu.is_some());
    assert!(light.costs.iter().all(|cost| cost.during_cpu_ns == 0));
    let none = at(WitnessLevel::None);
    assert_eq!((none.level, none.devices.len()), (WitnessLevel::None, 0));
    assert!(none.process_cpu.is_some() && none.system_cpu.is_none());
    assert!(none.costs.is_empty());
    assert_eq!(none.missing.len(), 1);
}
