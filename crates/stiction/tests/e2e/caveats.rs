//! Every doubt that there is, and those that are provoked here.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use stiction_core::CaveatCode;
use testkit::{FaultFs, Faults, LoopFilesystem, LoopKind};

use crate::counters::phase;
use crate::lab::{Lab, entries, words};
use crate::signals::journals;

/// docs/caveats.md has a row for each code, in order, with its meaning; and what to do.
#[test]
fn every_doubt_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/caveats.md");
    let text = fs::read_to_string(path).expect("docs/caveats.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let mut codes = CaveatCode::ALL.iter();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [code, meaning, computed, advice] = cells[..] else {
            panic!("{row}");
        };
        let expected = codes.next().unwrap_or_else(|| panic!("{code} is no code"));
        assert_eq!(code, format!("`{expected}`"));
        assert_eq!(meaning, expected.meaning());
        assert!(!computed.is_empty() && !advice.is_empty(), "{row}");
    }
    assert_eq!(codes.next(), None, "a code without a row");
}

/// What a job in fio's words says of itself, below `place`.
fn job(lab: &Lab, options: &str, place: &Path) -> Value {
    let typed = ["fio", "--name=job"].into_iter();
    let typed = typed.chain(options.split_whitespace());
    let typed = typed.map(std::ffi::OsString::from);
    let report = lab.json(typed.chain(["--dir".into(), place.into()]), 0);
    phase(&report, "job").clone()
}

fn codes(phase: &Value) -> Vec<&str> {
    let caveats = phase["caveats"].as_array().expect("caveats").iter();
    caveats
        .map(|caveat| caveat["code"].as_str().expect("a code"))
        .collect()
}

#[track_caller]
fn assert_doubted(phase: &Value, code: CaveatCode) {
    assert!(
        codes(phase).contains(&code.as_str()),
        "no {code} in {phase:#}"
    );
}

fn ext4() -> LoopFilesystem {
    LoopFilesystem::new(LoopKind::Ext4, 128 << 20)
}

/// A file that is in memory is read at the speed of the CPU.
#[test]
fn root_memory_that_answers() {
    testkit::require_root!();
    let (lab, filesystem) = (Lab::new(), ext4());
    fs::write(filesystem.path().join("old"), vec![7; 8 << 20]).expect("a file");
    let options = "--rw=read --bs=64k --filename=old --invalidate=0 --time_based --runtime=1";
    let read = job(&lab, options, filesystem.path());
    assert_doubted(&read, CaveatCode::ServedFromCache);
    assert_doubted(&read, CaveatCode::ClientBound);
}

#[test]
fn root_writes_that_nobody_waits_for() {
    testkit::require_root!();
    let (lab, filesystem) = (Lab::new(), ext4());
    let written = job(&lab, "--rw=write --bs=64k --size=16m", filesystem.path());
    assert_doubted(&written, CaveatCode::NotFlushed);
    let waited = job(
        &lab,
        "--rw=write --bs=64k --size=16m --end_fsync=1",
        filesystem.path(),
    );
    assert!(!codes(&waited).contains(&"not-flushed"), "{waited:#}");
}

/// Reads the device past the cache, over and over, until it is told to stop.
fn read_until(device: &Path, stop: &AtomicBool) {
    let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(device);
    let file = file.expect("a device");
    let mut buffer = vec![0; (64 << 10) + 4096];
    let start = buffer.as_ptr().align_offset(4096);
    while !stop.load(Ordering::Relaxed) {
        for offset in (0..16 << 20).step_by(64 << 10) {
            let piece = &mut buffer[start..start + (64 << 10)];
            file.read_exact_at(piece, offset).expect("a read");
        }
    }
}

/// Somebody else reads the device: more than the job's reads explain, and against the
/// direction of its writes.
#[test]
fn root_others_on_the_device() {
    testkit::require_root!();
    let (lab, filesystem) = (Lab::new(), ext4());
    let paced = "--bs=4k --direct=1 --size=4m --rate_iops=200 --time_based --runtime=1";
    let stop = AtomicBool::new(false);
    let [read, written] = std::thread::scope(|scope| {
        scope.spawn(|| read_until(filesystem.device().path(), &stop));
        let jobs =
            ["read", "write"].map(|rw| job(&lab, &format!("--rw={rw} {paced}"), filesystem.path()));
        stop.store(true, Ordering::Relaxed);
        jobs
    });
    assert_doubted(&read, CaveatCode::DeviceMovedMore);
    assert_doubted(&written, CaveatCode::OtherIo);
}

#[test]
fn root_holes_that_are_read() {
    testkit::require_root!();
    let (lab, filesystem) = (Lab::new(), ext4());
    let file = File::create(filesystem.path().join("sparse")).expect("a file");
    file.set_len(4 << 20).expect("a length");
    let read = job(
        &lab,
        "--rw=read --bs=64k --filename=sparse",
        filesystem.path(),
    );
    assert_doubted(&read, CaveatCode::HolesRead);
}

#[test]
fn data_that_a_layer_may_make_small() {
    let (lab, folder) = (Lab::new(), testkit::scratch_folder());
    let zeros = "--rw=write --bs=64k --size=1m --zero_buffers=1";
    assert_doubted(&job(&lab, zeros, folder.path()), CaveatCode::Compressible);
}

/// Three reads are no sample and no time, and one run is no spread.
#[test]
fn samples_that_are_small() {
    let (lab, folder) = (Lab::new(), testkit::scratch_folder());
    fs::write(folder.path().join("old"), vec![7; 64 << 10]).expect("a file");
    let read = job(
        &lab,
        "--rw=read --bs=4k --filename=old --number_ios=3",
        folder.path(),
    );
    assert_doubted(&read, CaveatCode::TooFewSamples);
    assert_doubted(&read, CaveatCode::TooShort);
    let session = lab.json(words([&"show", &"latest"]), 0);
    assert_eq!(codes(&session), [CaveatCode::SingleRun.as_str()]);
}

/// A FUSE file system has no block device under it whose counters could be read.
#[test]
fn root_devices_that_nobody_sees() {
    testkit::require_root!();
    let lab = Lab::new();
    let fault = FaultFs::mount(Faults::default()).expect("a FUSE file system");
    fs::write(fault.path().join("old"), vec![7; 1 << 20]).expect("a file");
    let read = job(&lab, "--rw=read --bs=64k --filename=old", fault.path());
    assert_doubted(&read, CaveatCode::WitnessMissing);
}

/// Two workers that have one CPU for reads from memory each get half of it.
#[test]
fn root_workers_that_take_turns_on_a_cpu() {
    testkit::require_root!();
    let (lab, filesystem) = (Lab::new(), ext4());
    fs::write(filesystem.path().join("old"), vec![7; 8 << 20]).expect("a file");
    let options = "--rw=randread --bs=4k --filename=old --invalidate=0 --time_based --runtime=1 \
                   --numjobs=2 --cpus_allowed=0";
    let read = job(&lab, options, filesystem.path());
    assert_doubted(&read, CaveatCode::TesterSlept);
}

/// Readahead goes by pages: 5 KiB become 4.
#[test]
fn root_a_setting_that_the_kernel_rounds() {
    testkit::require_root!();
    let (lab, folder) = (Lab::new(), testkit::scratch_folder());
    let spec = lab.store().join("spec.toml");
    let text = format!(
        "directory = {:?}\nblocks = 1\nscratch_size = \"32MiB\"\n\
         [factors]\nread_ahead_kb = [\"5\", \"8\"]\n\
         [[configuration]]\nname = \"none\"\ncommand = \"true\"\n",
        folder.path()
    );
    fs::write(&spec, text).expect("a file");
    lab.stiction(words([&"run", &spec])).assert().code(3);
    let journal = &entries(&journals(&lab))[0];
    let session = stiction_journal::read_journal(journal)
        .expect("a journal")
        .session;
    for trial in &session.trials {
        let asked = trial
            .cell
            .get("read_ahead_kb")
            .expect("a factor")
            .to_string();
        let doubts: Vec<_> = trial.caveats.iter().map(|one| one.code).collect();
        let expected: &[CaveatCode] = match asked.as_str() {
            "5" => &[CaveatCode::FactorNotApplied],
            _ => &[],
        };
        assert_eq!(doubts, expected, "{trial:#?}");
    }
    assert_eq!(session.trials.len(), 2);
}
