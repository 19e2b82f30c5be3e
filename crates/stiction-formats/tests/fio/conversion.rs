//! Our own job text: what it looks like, and that nothing is lost on the way.

use stiction_formats::fio::{from_toml, to_toml};

use crate::all;
use crate::data_files::job_files;

#[test]
fn the_text_of_a_job() {
    let text = to_toml(
        &all("\
[mix]
rw=randrw
rwmixread=70
bs=4k,16k
size=64m
runtime=30
ioengine=libaio
direct=1
iodepth=16
numjobs=2
rate_iops=,500
gtod_reduce=1
")
        .unwrap(),
    );
    assert_eq!(
        text,
        r#"# Converted from a job file of fio. Sizes and times carry their units: KiB is 1024.

# [mix] at t.fio:1:1
# fio's default io_size=size: the size of the region is the amount of I/O too
# fio's default randrepeat=1: every run visits the same blocks in the same order
# fio's default norandommap=0: each block is visited once before any is again
# fio's default refill_buffers=0: writes repeat one random buffer, changed a little each time
# fio's default kb_base=1024: k, kB and Ki are 1024, and KiB is 1000
# left out: gtod_reduce, reading the clock costs little here, and latencies are always kept
[[job]]
name = "mix"
clones = 2
engine = "libaio"
direct = true

[job.pattern]
order = "random"
action = "read_write"
read_percent = 70

[job.block.size]
read = "4KiB"
write = "16KiB"
trim = "16KiB"

[job.depth]
in_flight = 16

[job.targets]
files = 1

[job.extent]
size = "64MiB"

[job.time]
limit = "30s"

[job.chance]
repeat = true
coverage = "each_once"

[job.rate.operations_per_second]
write = 500
trim = 500

[job.cache]
drop_before = true

[job.layout]
reserve = "native"
sync_created = true
may_create = true
file_order = "round_robin"

[job.payload]
fill = "scrambled"
"#
    );
}

#[test]
fn every_job_file_comes_back_from_its_text() {
    for (path, text) in job_files() {
        let resolved = all(&text).unwrap();
        let text = to_toml(&resolved);
        let back = from_toml("own.toml", &text)
            .unwrap_or_else(|error| panic!("{}: {error}\n{text}", path.display()));
        let jobs: Vec<_> = resolved.jobs.into_iter().map(|r| r.job).collect();
        assert_eq!(back, jobs, "{}\n{text}", path.display());
    }
}

#[test]
fn every_setting_comes_back_from_its_text() {
    let resolved = all("\
[x]
size=50%
filesize=4k-8k
rw=randread:4
hipri
fixedbufs
registerfiles
ioengine=io_uring
percentage_random=20,30
random_distribution=zoned_abs:95/1m:5/3m,60/20m:40/80m
zonemode=strided
zonesize=1m
zoneskip=2m
thinktime=5
sync_file_range=write:4
verify=pattern
verify_pattern=0xff
steadystate=bw:2%
ss_dur=5
startdelay=1-2
latency_target=5ms
latency_percentile=99.9
read_iolog=a.log
replay_skip=trim
percentile_list=50:99.9
file_service_type=pareto:0.3:2
ignore_error=EIO
cpus_allowed=0-3
rate=1m
")
    .unwrap();
    let text = to_toml(&resolved);
    assert_eq!(
        from_toml("own.toml", &text).unwrap(),
        [resolved.jobs[0].job.clone()],
        "{text}"
    );
}

#[test]
fn a_slip_in_our_text_is_told_with_its_line() {
    let text = to_toml(&all("[x]\nsize=1m\n").unwrap());
    let broken = text.replace("clones = 1", "clones = 1\nclone = 2");
    let line = broken.lines().position(|line| line == "clone = 2").unwrap() + 1;
    let error = from_toml("own.toml", &broken).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("own.toml:{line}: unknown field `clone`")),
        "{error}"
    );
    let error = from_toml("own.toml", &text.replace("\"1MiB\"", "\"1 meg\"")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("write a whole number with B, KiB"),
        "{error}"
    );
}
