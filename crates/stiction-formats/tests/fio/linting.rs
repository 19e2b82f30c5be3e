//! What jobs will do, by arithmetic, and what is said about them.

use stiction_formats::fio::lint::{Code, End, Finding, Forecast, Lint, Reaches, Severity, lint};
use stiction_formats::fio::{Bytes, Nanoseconds};

use crate::data_files::job_files;
use crate::{MACHINE, all};

const MIB: u64 = 1 << 20;
const SECOND: u64 = 1_000_000_000;

fn of(text: &str) -> Lint {
    lint(&all(text).unwrap(), MACHINE)
}

fn forecast(lines: &str) -> Forecast {
    of(&format!("[x]\n{lines}\n")).jobs.remove(0)
}

/// The findings about one job of these lines, which start at line 2.
fn found(lines: &str) -> Vec<Finding> {
    of(&format!("[x]\n{lines}\n")).findings
}

fn codes(lines: &str) -> Vec<Code> {
    found(lines).iter().map(|finding| finding.code).collect()
}

/// A job that nothing is said about, for one flaw at a time to be put in.
const FLAWLESS: &str = "ioengine=io_uring\ndirect=1\nrw=randread\nbs=4k\nsize=64m\niodepth=8";

#[test]
fn nothing_is_said_about_a_flawless_job() {
    assert_eq!(found(FLAWLESS), []);
}

#[test]
fn bytes_are_sizes_times_clones_and_loops() {
    let job = forecast("size=64m\nnumjobs=3\nloops=2");
    assert_eq!(job.region_each, Some(Bytes(64 * MIB)));
    assert_eq!(job.moved_each, Some(Bytes(128 * MIB)));
    assert_eq!(job.moved, Some(Bytes(384 * MIB)));
    assert_eq!(job.laid_out, Some(Bytes(192 * MIB)));
    assert_eq!(job.end, End::Amount);
    let job = forecast("size=64m\nio_size=100m\nrw=write\nverify=md5");
    assert_eq!(job.moved, Some(Bytes(100 * MIB)));
    assert_eq!(job.read_back, Some(Bytes(100 * MIB)));
    assert_eq!(job.laid_out, Some(Bytes(0)), "writes make their own files");
    assert_eq!(
        forecast("size=64m\nio_size=50%").moved,
        Some(Bytes(32 * MIB))
    );
    assert_eq!(
        forecast("size=64m\nnumber_ios=100").moved,
        Some(Bytes(409_600))
    );
    assert_eq!(
        forecast("size=64m\nnumber_ios=100\nbsrange=4k-8k").moved,
        Some(Bytes(64 * MIB))
    );
    assert_eq!(forecast("filename=/dev/sdz").moved, None);
    assert_eq!(forecast("size=10%\nfilename=/dev/sdz").region_each, None);
    assert_eq!(
        forecast("filesize=1m\nnrfiles=4\nrw=write").moved,
        Some(Bytes(4 * MIB))
    );
    assert_eq!(
        forecast("filesize=16m\nsize=4m").laid_out,
        Some(Bytes(16 * MIB))
    );
}

#[test]
fn time_is_limit_warm_up_and_delay() {
    let job = forecast("size=1m\nruntime=30\ntime_based\nramp_time=5\nstartdelay=1-2");
    assert_eq!(job.time_most, Some(Nanoseconds(37 * SECOND)));
    assert_eq!((job.end, job.moved), (End::Time, None));
    assert_eq!(forecast("size=1m\nruntime=3").end, End::AmountOrTime);
    assert_eq!(forecast("size=1m").time_most, None);
    assert_eq!(forecast("size=1m\nrw=write\nfill_device=1").end, End::Full);
}

#[test]
fn waves_follow_each_other_and_add_up() {
    let lint = of("\
[global]
size=1m
time_based
[a]
runtime=10
numjobs=2
[b]
runtime=4
[c]
stonewall
runtime=5
numjobs=4
[d]
wait_for=a
runtime=1
");
    let waves: Vec<u32> = lint.jobs.iter().map(|job| job.wave).collect();
    assert_eq!(waves, [0, 0, 1, 1]);
    assert_eq!(lint.total.time_most, Some(Nanoseconds(16 * SECOND)));
    assert_eq!(lint.total.workers_most, 5);
    assert_eq!(lint.total.moved, None);
    let lint = of("[a]\nsize=1m\n[b]\nsize=3m\n");
    assert_eq!(lint.total.moved, Some(Bytes(4 * MIB)));
    assert_eq!(lint.total.time_most, None);
}

#[test]
fn depth_is_what_comes_of_it() {
    let job = forecast("size=1m\niodepth=32\nnumjobs=4");
    assert_eq!((job.depth_asked, job.depth_effective), (128, 4));
    let finding = found("size=1m\ndirect=1\nbs=4k\niodepth=32").remove(0);
    assert_eq!(finding.code, Code::DepthWithoutEffect);
    assert_eq!(finding.code.name(), "depth-without-effect");
    assert_eq!(finding.place.to_string(), "t.fio:5:1");
    assert!(finding.what.starts_with("iodepth=32 comes to 1"));
    assert!(codes("size=1m\nioengine=libaio\niodepth=4").contains(&Code::DepthWithoutEffect));
    assert_eq!(codes("size=1m\nioengine=libaio\ndirect=1\niodepth=4"), []);
}

#[test]
fn caches_are_told() {
    assert_eq!(forecast("size=1m").reaches, Reaches::ColdCache);
    assert_eq!(
        forecast("size=1m\ninvalidate=0").reaches,
        Reaches::WarmCache
    );
    assert_eq!(forecast("size=1m\ndirect=1").reaches, Reaches::Device);
    assert_eq!(forecast("size=1m\nioengine=null").reaches, Reaches::Nothing);
    let fits = |size: &str| {
        found(&format!("size={size}"))
            .into_iter()
            .any(|f| f.code == Code::Cached && f.what.contains("fits into this machine's memory"))
    };
    // The machine of these tests has 3000 MiB.
    assert!(fits("2999m") && !fits("3000m"));
    assert!(codes("size=1m\ninvalidate=0").contains(&Code::WarmCache));
}

/// One flaw put into the flawless job, and what must be said about it, where.
#[test]
fn each_flaw_is_found_alone() {
    let cases: &[(&str, Code, Severity)] = &[
        ("runtime=30", Code::RuntimeIsCeiling, Severity::Doubt),
        ("rwmixread=70", Code::MixIgnored, Severity::Doubt),
        ("numjobs=2\nfilename=a", Code::ClonesOverlap, Severity::Note),
        (
            "numjobs=2\nfilename=a\nrw=read",
            Code::ClonesOverlap,
            Severity::Doubt,
        ),
        (
            "numjobs=2\nfilename=a\nrw=write",
            Code::ClonesOverlap,
            Severity::Doubt,
        ),
        (
            "numjobs=2\nfilename=a\noffset_increment=32m",
            Code::ClonesOverlap,
            Severity::Note,
        ),
        ("bs=256", Code::DirectUnaligned, Severity::Failure),
        ("bs=128m", Code::BlockBeyondRegion, Severity::Failure),
        ("bs=7k", Code::RegionRest, Severity::Note),
        ("size=0", Code::NoSize, Severity::Failure),
        ("size=64MiB", Code::SizeMisread, Severity::Doubt),
        ("rw=randrw", Code::MixTied, Severity::Note),
        (
            "rw=write\nzero_buffers",
            Code::PayloadRepeats,
            Severity::Doubt,
        ),
        (
            "rw=write\nfsync_on_close=1",
            Code::SyncOutsideTime,
            Severity::Doubt,
        ),
        (
            "rw=write\nfilename=/dev/sdz",
            Code::DeviceOverwritten,
            Severity::Note,
        ),
        (
            "rw=randwrite\nverify=md5\nnorandommap",
            Code::VerifyRewrites,
            Severity::Failure,
        ),
        (
            "rw=randwrite:8\nverify=md5",
            Code::VerifyRewrites,
            Severity::Failure,
        ),
        (
            "rw=randwrite\nverify=md5\nbsrange=4k-8k",
            Code::VerifyRewrites,
            Severity::Failure,
        ),
        (
            "rw=write\nverify=md5\ntime_based\nruntime=9",
            Code::VerifyRewrites,
            Severity::Failure,
        ),
        (
            "rw=write\nverify=md5\ndo_verify=0",
            Code::VerifyNothing,
            Severity::Doubt,
        ),
        ("rate_iops=100", Code::RateOpen, Severity::Note),
        ("write_lat_log=a", Code::LogWithoutInterval, Severity::Note),
        ("gtod_reduce=1", Code::OptionWithoutEffect, Severity::Note),
        (
            "time_based\nruntime=5\nramp_time=5",
            Code::RampTooLong,
            Severity::Doubt,
        ),
        ("ramp_time=5", Code::RampCountsAmount, Severity::Doubt),
    ];
    for (flaw, code, severity) in cases {
        let found = found(&format!("{FLAWLESS}\n{flaw}"));
        let told: Vec<_> = found.iter().map(|f| (f.code, f.severity)).collect();
        assert_eq!(told, [(*code, *severity)], "{flaw}");
        assert!(!found[0].what.is_empty());
    }
}

#[test]
fn clones_apart_are_not_told() {
    for lines in [
        "numjobs=4\nfilename=a\noffset_increment=64m",
        "numjobs=4",
        "numjobs=4\nfilename=a\ndirectory=/a:/b",
        "numjobs=4\nfilename_format=$jobname.$jobnum",
    ] {
        assert_eq!(codes(&format!("{FLAWLESS}\n{lines}")), [], "{lines}");
    }
    let shared = codes(&format!("{FLAWLESS}\nnumjobs=4\nfilename_format=$jobname"));
    assert_eq!(shared, [Code::ClonesOverlap]);
}

#[test]
fn jobs_on_the_same_blocks_are_told_once_and_only_at_the_same_time() {
    let pair = |second: &str| -> Vec<(Code, String)> {
        of(&format!(
            "[global]\n{FLAWLESS}\nfilename=a\n[one]\nrw=write\n[two]\n{second}\n"
        ))
        .findings
        .into_iter()
        .map(|finding| (finding.code, finding.job))
        .collect()
    };
    assert_eq!(pair("rw=read"), [(Code::JobsOverlap, "two".to_owned())]);
    assert_eq!(pair("stonewall"), []);
    assert_eq!(pair("wait_for=one"), []);
    assert_eq!(pair("offset=64m"), []);
    assert_eq!(pair("filename=b"), []);
    assert_eq!(
        pair("rw=write\nverify=md5"),
        [
            (Code::VerifyOverlap, "two".to_owned()),
            (Code::JobsOverlap, "two".to_owned()),
        ]
    );
}

#[test]
fn unsynced_buffered_writes_are_told() {
    assert!(codes("rw=write\nsize=1m").contains(&Code::NotDurable));
    for sync in [
        "end_fsync=1",
        "fsync=8",
        "fdatasync=1",
        "sync=1",
        "direct=1",
    ] {
        let codes = codes(&format!("rw=write\nsize=1m\n{sync}"));
        assert!(!codes.contains(&Code::NotDurable), "{sync}");
    }
}

#[test]
fn the_job_files_are_linted() {
    for (path, text) in job_files() {
        let lint = lint(&all(&text).unwrap(), MACHINE);
        let failures: Vec<_> = lint
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Failure)
            .collect();
        assert!(failures.is_empty(), "{}: {failures:?}", path.display());
    }
}

#[test]
fn writes_that_each_wait_for_the_device_are_not_hidden_by_the_cache() {
    let log = "rw=write\nbs=8k\nsize=64m";
    assert!(codes(log).contains(&Code::Cached));
    for waits in ["fdatasync=1", "fsync=1", "sync=1"] {
        assert_eq!(codes(&format!("{log}\n{waits}")), [], "{waits}");
    }
    // Every second write, and all reads, are answered by the cache.
    for hidden in ["fsync=2", "fsync=1\nrw=rw"] {
        let codes = codes(&format!("{log}\n{hidden}"));
        assert!(codes.contains(&Code::Cached), "{hidden}");
    }
}

#[test]
fn what_stands_in_global_is_said_once_with_the_jobs() {
    let lint = of("[global]\nsize=1m\nrw=randrw\ndirect=1\n[a]\n[b]\n[c]\nrw=read\n");
    let told: Vec<(Code, Vec<&str>)> = lint
        .findings_with_jobs()
        .into_iter()
        .map(|(finding, jobs)| (finding.code, jobs))
        .collect();
    assert_eq!(told, [(Code::MixTied, vec!["a", "b"])]);
    assert_eq!(lint.findings.len(), 2);
}
