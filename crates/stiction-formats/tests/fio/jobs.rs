//! What options come to.

use stiction_formats::fio::job::{
    Action, BlockSize, Check, Coverage, Distribution, EndEnds, Engine, FileOrder, Fill, Order,
    PerDirection, Share, WriteSync,
};
use stiction_formats::fio::{Amount, Bytes, Nanoseconds};

use crate::{all, refused, with};

#[test]
fn fios_defaults_are_kept() {
    let job = with("");
    assert_eq!(job.engine, Engine::Psync);
    assert!(!job.direct && job.cache.drop_before && job.chance.repeat);
    assert_eq!(
        (job.pattern.order, job.pattern.action),
        (Order::Sequential, Action::Read)
    );
    assert_eq!(
        job.block.size,
        PerDirection::same(BlockSize::Fixed(Bytes(4096)))
    );
    assert_eq!(
        (job.clones, job.depth.in_flight, job.extent.loops),
        (1, 1, 1)
    );
    assert_eq!(job.chance.coverage, Coverage::EachOnce);
    assert_eq!(job.payload.fill, Fill::Scrambled);
    assert!(job.layout.may_create && job.layout.sync_created);
}

#[test]
fn defaults_in_force_are_told() {
    let told = |lines: &str| -> Vec<&'static str> {
        let text = format!("[x]\nsize=1m\n{lines}\n");
        let resolved = all(&text).unwrap();
        resolved.jobs[0]
            .defaults
            .iter()
            .map(|default| default.option)
            .collect()
    };
    assert_eq!(
        told(""),
        [
            "direct",
            "ioengine",
            "rw",
            "bs",
            "io_size",
            "invalidate",
            "kb_base"
        ]
    );
    assert_eq!(
        told("rw=randrw\nbs=4k\nioengine=libaio\ndirect=1\nkb_base=1000\nruntime=1\ntime_based"),
        [
            "iodepth",
            "randrepeat",
            "norandommap",
            "rwmixread",
            "refill_buffers"
        ]
    );
}

#[test]
fn direct_and_buffered_are_one_setting() {
    assert!(with("direct=1").direct);
    assert!(with("buffered=0").direct);
    assert!(!with("direct=1\nbuffered=1").direct);
    assert!(with("buffered=1\ndirect=1").direct);
}

#[test]
fn patterns_have_runs_and_skips() {
    let job = with("rw=randread:8");
    assert_eq!(
        (job.pattern.order, job.pattern.run_operations),
        (Order::Random, 8)
    );
    assert_eq!(with("rw=write:12k").pattern.skip_bytes, 12288);
    assert_eq!(with("rw=read:-4k").pattern.skip_bytes, -4096);
    assert_eq!(
        with("readwrite=randtrimwrite").pattern.action,
        Action::TrimWrite
    );
    assert!(refused("rw=randread:x").contains("`x` is no number of operations"));
    assert!(refused("rw=sideways").contains("`sideways` is no pattern"));
}

#[test]
fn mixes_are_shares_of_reads() {
    assert_eq!(with("rw=randrw").pattern.read_percent, Some(50));
    assert_eq!(with("rw=rw\nrwmixread=70").pattern.read_percent, Some(70));
    assert_eq!(with("rw=rw\nrwmixwrite=25").pattern.read_percent, Some(75));
    assert_eq!(
        with("rw=rw\nrwmixread=70\nrwmixwrite=25")
            .pattern
            .read_percent,
        Some(75)
    );
    assert_eq!(with("rw=randread\nrwmixread=70").pattern.read_percent, None);
}

#[test]
fn block_sizes_by_direction_range_and_split() {
    let fixed = |kib: u64| BlockSize::Fixed(Bytes(kib << 10));
    let size = with("bs=4k,16k,64k").block.size;
    assert_eq!(
        size,
        PerDirection {
            read: fixed(4),
            write: fixed(16),
            trim: fixed(64)
        }
    );
    let size = with("bs=,16k,").block.size;
    assert_eq!(
        size,
        PerDirection {
            read: fixed(4),
            write: fixed(16),
            trim: fixed(4)
        }
    );
    let size = with("bsrange=4k-512k,8k-8k").block.size;
    let range = BlockSize::Range {
        least: Bytes(4096),
        most: Bytes(512 << 10),
    };
    assert_eq!(
        size,
        PerDirection {
            read: range,
            write: fixed(8),
            trim: fixed(8)
        }
    );
    assert!(refused("bsrange=8k-4k").contains("the range runs backwards"));
    assert!(refused("bs=4k-8k").contains("`-8k`") || refused("bs=4k-8k").contains("negative"));
}

#[test]
fn splits_share_out_what_is_left() {
    let shares = |text: &str| match with(&format!("bssplit={text}")).block.size.read {
        BlockSize::Split(shares) => shares
            .iter()
            .map(|share| (share.size.0 >> 10, share.percent))
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shares("8k/50:64k/50"), [(8, 50), (64, 50)]);
    assert_eq!(shares("4k/10:64k/50:32k/40"), [(4, 10), (64, 50), (32, 40)]);
    assert_eq!(shares("4k/50:1k/:32k/"), [(4, 50), (1, 25), (32, 25)]);
    assert_eq!(shares("4k:8k:16k"), [(4, 34), (8, 33), (16, 33)]);
    assert!(refused("bssplit=4k/60:8k/60").contains("come to 120 percent"));
    assert!(refused("bssplit=4k/60:8k/20").contains("come to 80 percent"));
    let both = with("rw=rw\nbssplit=2k/50:4k/50,4k/90:8k/10").block.size;
    let share = |kib: u64, percent| Share {
        size: Bytes(kib << 10),
        percent,
    };
    assert_eq!(
        both.write,
        BlockSize::Split(vec![share(4, 90), share(8, 10)])
    );
}

#[test]
fn lists_of_files_have_escapes() {
    let job = with(r"filename=/dev/sda:/dev/disk/by-path/pci\:00\:1:c\d");
    assert_eq!(
        job.targets.names,
        ["/dev/sda", "/dev/disk/by-path/pci:00:1", r"c\d"]
    );
    assert_eq!(job.targets.files, 3);
    assert_eq!(with("nr_files=7").targets.files, 7);
}

#[test]
fn amounts_are_bytes_or_shares() {
    let extent = with("io_limit=2m\noffset=25%\noffset_increment=10%\nfilesize=4k-1m").extent;
    assert_eq!(extent.io, Some(Amount::Bytes(Bytes(2 << 20))));
    assert_eq!(extent.offset, Some(Amount::Percent(25)));
    assert_eq!(extent.offset_step, Some(Amount::Percent(10)));
    assert_eq!(extent.file_size, Some((Bytes(4096), Bytes(1 << 20))));
    assert_eq!(with("size=0").extent.size, None, "0 is not set");
    assert!(refused("size=101%").contains("from 0% to 100%"));
    assert!(refused("size=-1").contains("it is negative"));
    assert_eq!(Amount::Percent(25).of_bytes(4000), 1000);
}

#[test]
fn times_have_units_of_their_options() {
    let job = with(
        "timeout=2m\nramp_time=5\ntime_based\nstartdelay=1-5\nthinktime=7\nlog_avg_msec=500\nmax_latency=3ms",
    );
    assert_eq!(job.time.limit, Some(Nanoseconds(120_000_000_000)));
    assert_eq!(job.time.ramp, Nanoseconds(5_000_000_000));
    let second = 1_000_000_000;
    assert_eq!(
        job.phase.delay,
        Some((Nanoseconds(second), Nanoseconds(5 * second)))
    );
    assert_eq!(job.think.unwrap().pause, Nanoseconds(7_000));
    assert_eq!(job.series.interval, Some(Nanoseconds(500_000_000)));
    assert_eq!(job.latency.most, Some(Nanoseconds(3_000_000)));
    assert!(refused("runtime=1m30s").contains("such as 90s for 1m30s"));
    assert!(refused("time_based").contains("set runtime"));
}

#[test]
fn groups_and_barriers() {
    let resolved = all("\
[global]
size=1m
[a]
[b]
[c]
stonewall
[d]
new_group
[e]
wait_for=a
exitall
exit_what=all
")
    .unwrap();
    let phases: Vec<_> = resolved
        .jobs
        .iter()
        .map(|r| (r.job.phase.group, r.job.phase.after_all))
        .collect();
    assert_eq!(
        phases,
        [(0, false), (0, false), (1, true), (2, false), (2, false)]
    );
    assert_eq!(resolved.jobs[4].job.phase.after.as_deref(), Some("a"));
    assert_eq!(resolved.jobs[4].job.phase.end_ends, EndEnds::All);
    assert!(refused("wait_for=nobody").contains("no job before this one is called `nobody`"));
}

#[test]
fn depths_that_do_nothing_are_one() {
    assert_eq!(with("iodepth=32").effective_depth(), 1);
    assert_eq!(with("iodepth=32\nioengine=libaio").effective_depth(), 1);
    assert_eq!(
        with("iodepth=32\nioengine=libaio\ndirect=1").effective_depth(),
        32
    );
    assert_eq!(with("iodepth=32\nioengine=io_uring").effective_depth(), 32);
    let depth = with("iodepth=8\niodepth_batch=64\nioengine=io_uring").depth;
    assert_eq!(depth.submit_batch, 8);
}

#[test]
fn distributions() {
    let of = |text: &str| {
        with(&format!("rw=randread\nrandom_distribution={text}"))
            .chance
            .distribution
            .read
    };
    assert_eq!(
        of("zipf:1.2"),
        Distribution::Zipf {
            theta: 1.2,
            centre: None
        }
    );
    assert_eq!(
        of("zipf"),
        Distribution::Zipf {
            theta: 1.1,
            centre: None
        }
    );
    assert_eq!(
        of("pareto:0.9:0.5"),
        Distribution::Pareto {
            power: 0.9,
            centre: Some(0.5)
        }
    );
    assert_eq!(
        of("normal:20"),
        Distribution::Normal {
            deviation_percent: 20.0,
            centre: None
        }
    );
    let Distribution::Zoned(zones) = of("zoned:50/5:30/15:20/") else {
        panic!()
    };
    let zones: Vec<_> = zones
        .iter()
        .map(|zone| (zone.access_percent, zone.size))
        .collect();
    assert_eq!(
        zones,
        [
            (50.0, Amount::Percent(5)),
            (30.0, Amount::Percent(15)),
            (20.0, Amount::Percent(80)),
        ]
    );
    let Distribution::Zoned(zones) = of("zoned_abs:95/1m:5/3m") else {
        panic!()
    };
    assert_eq!(zones[1].size, Amount::Bytes(Bytes(3 << 20)));
    assert!(refused("random_distribution=zoned:60/10:30/20").contains("90 percent"));
    assert!(refused("random_distribution=zipf:1").contains("may not be 1"));
}

#[test]
fn checks_and_payloads() {
    let verify = with("rw=write\nverify=crc32c-intel\nverify_backlog=8")
        .verify
        .unwrap();
    assert_eq!(
        (verify.check, verify.after_blocks),
        (Check::Checksum, Some(8))
    );
    assert!(verify.read_back);
    assert!(
        !with("rw=write\nverify=md5\ndo_verify=0")
            .verify
            .unwrap()
            .read_back
    );
    assert_eq!(with("verify=0").verify, None);
    let pattern = |text: &str| with(&format!("buffer_pattern={text}")).payload.pattern;
    assert_eq!(pattern("0xdeadbeef"), [0xde, 0xad, 0xbe, 0xef]);
    assert_eq!(pattern("\"ab\"0x00"), [b'a', b'b', 0]);
    assert_eq!(pattern("255"), [255]);
    assert_eq!(pattern("0xabc"), [0x0a, 0xbc]);
    assert!(refused("buffer_pattern=\"ab").contains("not closed"));
    assert!(refused("verify=pattern").contains("set verify_pattern"));
    assert_eq!(with("zero_buffers").payload.fill, Fill::Zeros);
    assert_eq!(
        with("buffer_compress_percentage=66").payload.fill,
        Fill::Fresh
    );
}

#[test]
fn the_rest_of_the_features() {
    let job = with(
        "\
sync=dsync
fsync=8
sync_file_range=wait_before,write:16
cpus_allowed=0-2,5
cpus_allowed_policy=split
rate=1m,512k,
rate_iops=100
rate_process=poisson
file_service_type=zipf:1.5:4
steadystate=iops_slope:0.3%
ss_dur=10
percentile_list=50:99:99.9
continue_on_error=all
ignore_error=EIO:5,ENOSPC",
    );
    assert_eq!(job.write_sync, WriteSync::DataSync);
    assert_eq!(job.durability.fsync_every_writes, 8);
    let range = job.durability.range.unwrap();
    assert!(range.wait_before && range.write && !range.wait_after && range.every_writes == 16);
    assert_eq!(job.placement.cpus, [0, 1, 2, 5]);
    assert!(job.placement.cpu_each);
    let rate = job.rate.bytes_per_second;
    assert_eq!(
        (rate.read, rate.write, rate.trim),
        (Some(1 << 20), Some(512 << 10), None)
    );
    assert_eq!(job.layout.file_order, FileOrder::Zipf(1.5));
    assert_eq!(job.layout.file_operations, 4);
    let steady = job.steady.unwrap();
    assert!(steady.by_slope && steady.in_percent && steady.limit == 0.3);
    assert_eq!(steady.window, Nanoseconds(10_000_000_000));
    assert_eq!(job.report.percentiles, [50.0, 99.0, 99.9]);
    assert_eq!(job.errors.ignored, [vec!["EIO", "5"], vec!["ENOSPC"]]);
    assert_eq!(with("cpumask=5").placement.cpus, [0, 2]);
}

#[test]
fn what_is_not_done_is_refused_with_its_reason_unless_it_is_off() {
    assert!(refused("exec_prerun=/bin/true").contains("a job file may not run commands"));
    assert!(refused("ioengine=rbd").contains("the engine `rbd` is not driven"));
    assert!(refused("ioengine=io_uring_cmd").contains("NVMe passthrough"));
    assert!(refused("zonemode=zbd").contains("zoned block devices"));
    assert!(refused("allow_mounted_write=1").contains("never written"));
    with("allow_mounted_write=0\nlockfile=none\nzonemode=none");
    assert!(refused("hipri").contains("this job's ioengine has no option `hipri`"));
    assert_eq!(
        with("ioengine=io_uring\nhipri").switches.polled_percent,
        100
    );
}

#[test]
fn what_changes_nothing_is_listed_with_its_place() {
    let resolved = all("[x]\nsize=1m\ngtod_reduce=1\nthread\n").unwrap();
    let listed: Vec<String> = resolved.jobs[0]
        .without_effect
        .iter()
        .map(|w| format!("{} {}: {}", w.place, w.option, w.reason))
        .collect();
    assert_eq!(
        listed,
        [
            "t.fio:3:1 gtod_reduce: reading the clock costs little here, and latencies are always kept",
            "t.fio:4:1 thread: workers are threads always",
        ]
    );
}
