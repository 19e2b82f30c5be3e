//! Every doubt that there is: which test provokes it, and those provoked here.

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

/// A test that provokes a doubt.
enum Provoked {
    /// By doing what it is about, on this machine.
    Truly(&'static str, &'static str),
    /// By what witnesses or a file recorded, where nobody can make it happen at will.
    Recorded(&'static str, &'static str),
}
use Provoked::{Recorded, Truly};

const HERE: &str = "stiction/tests/e2e/caveats.rs";
const SESSIONS: &str = "stiction-analysis/tests/doubt/sessions.rs";

/// The tests, by code: the file below `crates/` and the function. A code that is added has
/// its test here.
const PROVOKED: &[(CaveatCode, Provoked)] = &[
    (
        CaveatCode::ServedFromCache,
        Truly(HERE, "root_memory_that_answers"),
    ),
    (
        CaveatCode::NotFlushed,
        Truly(HERE, "root_writes_that_nobody_waits_for"),
    ),
    (
        CaveatCode::DeviceMovedMore,
        Truly(HERE, "root_others_on_the_device"),
    ),
    (
        CaveatCode::ClientBound,
        Truly(HERE, "root_memory_that_answers"),
    ),
    (
        CaveatCode::CpuStolen,
        Recorded(
            "stiction-analysis/tests/doubt/cpu.rs",
            "a_crowded_machine_and_a_thieving_hypervisor_are_doubts",
        ),
    ),
    (
        CaveatCode::NotSteady,
        Truly(
            "stiction-engine/tests/engine/steering.rs",
            "a_job_ends_when_its_rate_is_steady",
        ),
    ),
    (
        CaveatCode::Throttled,
        Recorded(
            "stiction-analysis/tests/doubt/cpu.rs",
            "heat_that_slowed_something_down_is_a_doubt",
        ),
    ),
    (
        CaveatCode::Limiter,
        Truly(
            "stiction/tests/e2e/ground_truth/throttles.rs",
            "root_rates_under_a_throttle_are_the_throttles",
        ),
    ),
    (
        CaveatCode::HolesRead,
        Truly(HERE, "root_holes_that_are_read"),
    ),
    (
        CaveatCode::Compressible,
        Truly(HERE, "data_that_a_layer_may_make_small"),
    ),
    (
        CaveatCode::DirectRefused,
        Truly(
            "stiction-engine/tests/engine/backends.rs",
            "a_refused_o_direct_is_said_and_the_job_runs",
        ),
    ),
    (
        CaveatCode::DirectNotEffective,
        Truly(
            "stiction-suite/tests/suite/root_quick.rs",
            "where_direct_io_is_a_word_alone_reads_follow_an_emptied_cache",
        ),
    ),
    (
        CaveatCode::BackendReplaced,
        Recorded(
            "stiction-suite/src/engine_choice.rs",
            "threads_do_what_a_ring_would_leave_to_helpers",
        ),
    ),
    (
        CaveatCode::CacheNotDropped,
        Truly(
            "stiction-suite/tests/suite/root_quick.rs",
            "on_tmpfs_every_read_says_that_the_cache_stayed",
        ),
    ),
    (
        CaveatCode::FactorNotApplied,
        Truly(HERE, "root_a_setting_that_the_kernel_rounds"),
    ),
    (
        CaveatCode::TooFewSamples,
        Truly(HERE, "samples_that_are_small"),
    ),
    (CaveatCode::TooShort, Truly(HERE, "samples_that_are_small")),
    (
        CaveatCode::LongStall,
        Truly(
            "stiction/tests/e2e/ground_truth/delays.rs",
            "root_a_stall_is_in_the_column_beyond_2_s_and_told_with_its_time",
        ),
    ),
    (
        CaveatCode::OtherIo,
        Truly(HERE, "root_others_on_the_device"),
    ),
    (
        CaveatCode::NotQuiet,
        Truly(
            "stiction-runner/tests/preparation.rs",
            "settling_is_told_with_what_was_seen",
        ),
    ),
    (
        CaveatCode::Suspect,
        Recorded(
            "stiction-analysis/src/canary.rs",
            "trials_around_an_odd_canary_are_suspect",
        ),
    ),
    (
        CaveatCode::CacheNotFilled,
        Truly(HERE, "root_a_cache_that_stays_empty"),
    ),
    (
        CaveatCode::EndedEarly,
        Truly(
            "stiction-suite/tests/suite/root_trouble.rs",
            "quick_takes_the_file_that_fits",
        ),
    ),
    (
        CaveatCode::Interrupted,
        Truly(
            "stiction-suite/tests/suite/quick.rs",
            "a_stop_keeps_what_is_finished_and_cleans_up",
        ),
    ),
    (
        CaveatCode::RateMissed,
        Truly(
            "stiction-engine/tests/engine/pacing.rs",
            "root_a_pace_that_is_too_fast_is_called_missed",
        ),
    ),
    (
        CaveatCode::OperationsFailed,
        Truly(
            "stiction/tests/e2e/ground_truth/faults.rs",
            "root_errors_are_counted_exactly",
        ),
    ),
    (
        CaveatCode::DataMismatch,
        Truly(
            "stiction-engine/tests/engine/checking.rs",
            "a_flipped_bit_is_found",
        ),
    ),
    (
        CaveatCode::SharedWitness,
        Truly(
            "stiction/tests/e2e/fio_run.rs",
            "jobs_of_a_wave_share_their_witnesses_and_waves_follow_each_other",
        ),
    ),
    (
        CaveatCode::JobFile,
        Truly("stiction/tests/e2e/fio_run.rs", "doubts_are_said_and_kept"),
    ),
    (
        CaveatCode::WitnessMissing,
        Truly(HERE, "root_devices_that_nobody_sees"),
    ),
    (
        CaveatCode::SummedOverRuns,
        Recorded(
            "stiction-formats/tests/seeds/figures.rs",
            "tiobench_on_ext3",
        ),
    ),
    (
        CaveatCode::CumulativeRows,
        Recorded(
            "stiction-formats/tests/tiobench/old.rs",
            "cumulative_rows_are_told_apart_when_that_is_certain",
        ),
    ),
    (
        CaveatCode::DigitsLost,
        Recorded(
            "stiction-formats/tests/tiobench/mail.rs",
            "figures_that_lost_digits_are_unknown_and_never_zero",
        ),
    ),
    (
        CaveatCode::CpuCountedPerThread,
        Recorded(
            "stiction-formats/tests/tiobench/mail.rs",
            "cpu_counted_by_every_thread_is_divided",
        ),
    ),
    (CaveatCode::SingleRun, Truly(HERE, "samples_that_are_small")),
    (
        CaveatCode::NotInterleaved,
        Recorded(
            SESSIONS,
            "runs_that_followed_each_other_are_told_from_those_in_turns",
        ),
    ),
    (
        CaveatCode::CoarseClock,
        Recorded(
            SESSIONS,
            "a_wall_clock_that_was_set_back_is_seen_by_the_other",
        ),
    ),
    (
        CaveatCode::PartlyRead,
        Truly(
            "stiction-journal/tests/damage.rs",
            "a_damaged_line_costs_no_other",
        ),
    ),
    (
        CaveatCode::TesterSlept,
        Truly(HERE, "root_workers_that_take_turns_on_a_cpu"),
    ),
    (
        CaveatCode::Inconsistent,
        Recorded(
            "stiction-formats/tests/tiobench/mail.rs",
            "an_edited_efficiency_is_seen",
        ),
    ),
];

/// A code without a test, or one whose test is gone, has no place in a report.
#[test]
fn every_doubt_has_a_test_that_provokes_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = root.expect("crates/");
    for &code in CaveatCode::ALL {
        let known = PROVOKED.iter().find(|(known, _)| *known == code);
        let (_, by) = known.unwrap_or_else(|| panic!("no test of {code} is named here"));
        let (Truly(file, test) | Recorded(file, test)) = by;
        let text = fs::read_to_string(root.join(file)).expect(file);
        assert!(
            text.contains(&format!("fn {test}()")),
            "{code}: {file} has no {test}"
        );
        let (variant, word) = (format!("{code:?}"), format!("\"{code}\""));
        assert!(
            text.contains(&variant) || text.contains(&word),
            "{code} is not in {file}"
        );
    }
}

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

/// Files that are opened past the page cache are never in it, however often they are read.
#[test]
fn root_a_cache_that_stays_empty() {
    testkit::require_root!();
    let lab = Lab::new();
    let fault = FaultFs::mount(Faults::default()).expect("a FUSE file system");
    let options = ["quick", "--seconds=1", "--size=1M", "--cache=warm"].map(Into::into);
    let place = [fault.path().as_os_str().to_owned()];
    let report = lab.json(options.into_iter().chain(place), 0);
    let read = phase(&report, "sequential_read");
    assert_doubted(read, CaveatCode::CacheNotFilled);
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
