//! What job files come to as programs of our own jobs.

use stiction_core::{
    Access, Action, BackendKind, Batches, CacheBefore, Data, Job, MemoryPolicy, Pace, Program,
    ProgramEnds, ProgramPlace, Rate, RatesByWay, Region, Reserve, Seed, SizeMix, SteadyFigure,
    SteadyLimit, Stride, SyncEvery, SyncKind,
};
use stiction_formats::fio::{FioError, Found, Nodes, ProgramGround, Trace, TraceReader, program};

use crate::all;

const MIB: u64 = 1 << 20;

/// A machine with a file of 100 MiB, a disk of 1 GiB and a granted disk of 2 GiB.
fn look(path: &str) -> Found {
    match path {
        "/mnt/old" => Found::File(100 * MIB),
        "/dev/sdx" => Found::Device(1024 * MIB),
        "/dev/sdy" => Found::Device(2048 * MIB),
        "/mnt" | "/data" | "/dev" => Found::Directory,
        "/dev/null" => Found::Other("neither a file nor a block device".to_owned()),
        _ => Found::Nothing,
    }
}

/// A machine with one trace: `t.log` reads 8 KiB of a file, writes 4 KiB of another at
/// byte 1 MiB, syncs it and trims the end of the first.
fn trace(path: &str) -> Result<Result<Trace, FioError>, String> {
    if path != "t.log" {
        return Err("No such file or directory".to_owned());
    }
    let mut reader = TraceReader::new(path);
    let lines = "fio version 3 iolog\n0 /srv/a add\n0 /srv/b add\n10 /srv/a read 5000 8192\n\
                 20 /srv/b write 1048576 4096\n30 /srv/b sync 0 0\n40 /srv/a trim 12288 4096\n";
    for line in lines.lines() {
        reader.line(line).unwrap();
    }
    Ok(reader.finish())
}

fn made(text: &str) -> Result<Program, Vec<FioError>> {
    let ground = ProgramGround {
        directory: "/mnt",
        look: &look,
        trace: &trace,
        may_overwrite: &|path| ["/dev/sdy", "old"].contains(&path),
        seed: Seed(7),
        nodes: &Nodes::from([(0, vec![0, 1, 4]), (1, vec![2, 3]), (3, Vec::new())]),
    };
    program(&all(text).unwrap(), &ground)
}

/// The only job of these lines.
fn job(lines: &str) -> Job {
    let made = made(&format!("[x]\n{lines}\n"));
    let mut parts = made.unwrap_or_else(|errors| panic!("{errors:?}")).parts;
    assert_eq!(parts.len(), 1);
    parts.remove(0).job
}

/// What is said about a job of these lines, the first of which is line 2.
pub(crate) fn refused(lines: &str) -> String {
    let errors = made(&format!("[x]\n{lines}\n")).expect_err(lines);
    let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
    said.join("\n")
}

fn regions(job: &Job) -> Vec<(u32, u64, u64)> {
    let region = |one: &Region| (one.target, one.offset_bytes, one.length_bytes);
    job.regions.iter().map(region).collect()
}

#[test]
fn the_size_is_region_and_amount_unless_something_else_is_said() {
    let ends = |lines: &str| {
        let job = job(&format!("size=8m\n{lines}"));
        let Job {
            once,
            passes,
            bytes_per_worker,
            operations_per_worker,
            duration_ns,
            ..
        } = job;
        (
            once,
            passes,
            bytes_per_worker,
            operations_per_worker,
            duration_ns,
        )
    };
    assert_eq!(ends(""), (true, 1, None, None, None));
    assert_eq!(ends("loops=3"), (true, 3, None, None, None));
    assert_eq!(ends("io_size=20m"), (false, 1, Some(20 * MIB), None, None));
    assert_eq!(ends("io_size=50%"), (false, 1, Some(4 * MIB), None, None));
    assert_eq!(ends("number_ios=9"), (true, 1, None, Some(9), None));
    let runtime = Some(5_000_000_000);
    assert_eq!(ends("runtime=5"), (true, 1, None, None, runtime));
    assert_eq!(
        ends("runtime=5\ntime_based"),
        (false, 1, None, None, runtime)
    );
    // fio's runtime does not count the warm-up, ours does.
    let with_ramp = Some(7_000_000_000);
    assert_eq!(
        ends("runtime=5\nramp_time=2"),
        (true, 1, None, None, with_ramp)
    );
}

#[test]
fn clones_have_files_of_their_own_unless_they_are_named() {
    let own = job("size=1m\nnumjobs=3");
    assert_eq!(regions(&own), [(0, 0, MIB), (1, 0, MIB), (2, 0, MIB)]);
    let shared = job("size=1m\nnumjobs=3\nfilename=f\noffset=4k\noffset_increment=2m");
    let start = |clone: u64| 4096 + clone * 2 * MIB;
    assert_eq!(
        regions(&shared),
        [(0, start(0), MIB), (0, start(1), MIB), (0, start(2), MIB)]
    );
    let program = made("[x]\nsize=1m\nnumjobs=2\nfilename=f\noffset_increment=1m\n").unwrap();
    let target = &program.parts[0].targets[0];
    assert_eq!((target.name.as_str(), target.length_bytes), ("f", 2 * MIB));
    let names = made("[x]\nsize=1m\nnumjobs=2\nnrfiles=2\n").unwrap();
    let names: Vec<&str> = names.parts[0]
        .targets
        .iter()
        .map(|one| &*one.name)
        .collect();
    assert_eq!(names, ["x.0.0", "x.0.1", "x.1.0", "x.1.1"]);
}

#[test]
fn files_of_a_clone_share_its_size() {
    let many = job("size=100k\nnrfiles=3\nbs=4k\nopenfiles=2");
    assert_eq!(many.regions_per_worker, 3);
    assert_eq!(many.open_files_max, Some(2));
    let lengths: Vec<u64> = many.regions.iter().map(|one| one.length_bytes).collect();
    assert_eq!(lengths, [34133; 3], "a third each, as fio divides");
    let fixed = job("filesize=64k\nnrfiles=2");
    assert_eq!(regions(&fixed), [(0, 0, 65536), (1, 0, 65536)]);
}

#[test]
fn shares_are_of_what_is_there() {
    assert_eq!(regions(&job("filename=old")), [(0, 0, 100 * MIB)]);
    assert_eq!(
        regions(&job("filename=/dev/sdx\nsize=25%\noffset=50%")),
        [(0, 512 * MIB, 256 * MIB)]
    );
    assert_eq!(
        regions(&job("filename=/dev/sdx\noffset=1m")),
        [(0, MIB, 1023 * MIB)]
    );
    for lines in ["size=10%", "offset=10%\nsize=1m", "rw=read"] {
        assert!(refused(lines).contains("has no size yet"), "{lines}");
    }
    let beyond = refused("filename=/dev/sdx\nsize=2g");
    assert!(
        beyond.contains("the region ends at byte 2147483648"),
        "{beyond}"
    );
}

#[test]
fn no_file_takes_the_place_of_the_marker_of_our_directory() {
    for lines in [
        "filename=.stiction-directory",
        "filename=/data/.stiction-directory",
        "filename_format=.stiction-directory",
    ] {
        let said = refused(&format!("{lines}\nrw=write\nsize=1m"));
        assert!(said.contains("begin with .stiction-"), "{lines}: {said}");
    }
}

// The leave given is for `old`, and the job writes to /mnt/old.
#[test]
fn what_was_there_is_written_only_where_that_is_allowed() {
    for lines in ["filename=old", "filename=/dev/sdx"] {
        job(lines);
        let said = refused(&format!("{lines}\nrw=randrw\nsize=1m"));
        assert!(said.contains("t.fio:2:1: "), "{said}");
        let how = if lines.contains("/dev") {
            "--scratch"
        } else {
            "--may-overwrite"
        };
        assert!(said.contains(how), "{said}");
    }
    let granted = made("[x]\nfilename=/dev/sdy\nrw=trim\n").unwrap();
    let place = ProgramPlace::Device {
        path: "/dev/sdy".to_owned(),
        may_write: true,
    };
    assert_eq!(granted.places, [place]);
    for (lines, what) in [
        ("filename=/dev/null", "neither a file nor a block device"),
        ("filename=/dev/sdz", "is not there"),
        ("filename=/gone/x", "/gone is no directory"),
        ("filename=/data", "is a directory"),
    ] {
        let said = refused(&format!("{lines}\nsize=1m"));
        assert!(said.contains(what), "{said}");
    }
    // A new file is made beside the place where the job file wants it.
    let new = made("[x]\nfilename=/data/new\nsize=1m\nrw=write\n").unwrap();
    assert_eq!(new.places[0].path(), "/data");
    assert_eq!(new.parts[0].targets[0].name, "new");
}

#[test]
fn order_mix_and_sizes_are_kept() {
    let read = job("size=1m");
    assert_eq!(
        (read.access, read.action),
        (Access::Sequential, Action::Read)
    );
    assert_eq!(
        job("size=1m\nrw=randread").access,
        Access::RandomPermutation
    );
    let independent = job("size=1m\nrw=randread\nnorandommap");
    assert_eq!(independent.access, Access::RandomIndependent);
    let mix = job("size=1m\nrw=randrw\nrwmixwrite=30");
    assert_eq!(mix.action, Action::Mixed { reads_percent: 70 });
    let skip = job("size=1m\nrw=read:12k\nbs=4k").stride;
    assert_eq!(
        skip,
        Some(Stride {
            run_bytes: 4096,
            skip_bytes: 12288
        })
    );
    let by_way = job("size=1m\nrw=randrw\nbs=4k,64k");
    let sizes = by_way.sizes.unwrap();
    assert_eq!(
        (sizes.read, sizes.write),
        (SizeMix::One(4096), SizeMix::One(65536))
    );
    assert_eq!(by_way.block_size_bytes, 4096);
    assert_eq!(
        job("size=1m\nrw=read\nbs=4k,64k").sizes,
        None,
        "no writes occur"
    );
    let range = job("size=1m\nbsrange=4k-16k").sizes.unwrap().read;
    assert_eq!(
        range,
        SizeMix::Range {
            min_bytes: 4096,
            max_bytes: 16384,
            step_bytes: 4096
        }
    );
}

#[test]
fn calls_syncs_and_rates_are_kept() {
    let depth = |lines: &str| job(&format!("size=1m\niodepth=16\n{lines}")).depth;
    assert_eq!(depth("ioengine=io_uring"), 16);
    assert_eq!(
        depth("ioengine=psync"),
        1,
        "one at a time, whatever iodepth says"
    );
    assert_eq!(
        job("size=1m\nioengine=libaio\ndirect=1").backend,
        BackendKind::Libaio
    );
    let log = job("size=1m\nrw=write\nfdatasync=2\nend_fsync=1");
    let every = SyncEvery {
        writes: 2,
        kind: SyncKind::Fdatasync,
    };
    assert_eq!(
        (log.sync_every, log.sync_at_end),
        (Some(every), Some(SyncKind::Fsync))
    );
    assert_eq!(log.reserve, Reserve::Native, "fio's fallocate=native");
    let read = job("size=1m\nrw=read\nfdatasync=2\nend_fsync=1\nsync=1");
    assert_eq!(
        (read.sync_every, read.sync_at_end, read.reserve),
        (None, None, Reserve::None)
    );
    let batches = job("size=1m\nioengine=libaio\niodepth=8\niodepth_batch=4").batches;
    assert_eq!(
        batches,
        Some(Batches {
            submit: 4,
            complete_min: 1,
            complete_max: 8,
            refill_below: None
        })
    );
    let rates = job("size=1m\nrw=randrw\nrate_iops=100,50").pace;
    let each = RatesByWay {
        read: Some(Rate::OperationsPerS(100)),
        write: Some(Rate::OperationsPerS(50)),
        trim: None,
    };
    assert_eq!(rates.and_then(|pace: Pace| pace.by_way), Some(each));
}

#[test]
fn ends_and_limits_are_kept() {
    let steady = job("size=1m\nsteadystate=iops_slope:0.3%\nss_dur=10\nss_ramp=5").steady_stop;
    let steady = steady.unwrap();
    assert_eq!(
        (steady.figure, steady.rounds),
        (SteadyFigure::Operations, 10)
    );
    assert_eq!(steady.limit, SteadyLimit::Ppm(3000));
    assert_eq!(steady.ramp_ns, 5_000_000_000);
    let search = job("size=1m\nlatency_target=2ms\nlatency_window=1s\nlatency_percentile=99.5");
    let search = search.depth_search.unwrap();
    assert_eq!(
        (search.latency_ns_max, search.share_ppm),
        (2_000_000, 995_000)
    );
    let tolerance = job("size=1m\nrw=randrw\ncontinue_on_error=read\nignore_error=EIO:28,ENOSPC");
    let tolerance = tolerance.tolerance;
    assert!(tolerance.reads && !tolerance.writes);
    assert_eq!(tolerance.expected_of_reads, [5, 28]);
    assert_eq!(tolerance.expected_of_writes, [28]);
    let think = job("size=1m\nthinktime=1ms\nthinktime_iotime=9ms")
        .think
        .unwrap();
    assert_eq!(
        (think.every_operations, think.every_ns),
        (None, Some(9_000_000))
    );
}

#[test]
fn the_seed_repeats_unless_it_is_not_to() {
    let seed = |lines: &str| job(&format!("size=1m\nrw=randread\n{lines}")).seed;
    assert_eq!(seed(""), seed("randrepeat=1"));
    assert_ne!(seed(""), seed("randrepeat=0"));
    assert_eq!(seed("randrepeat=0"), Seed(7).stream(0));
    assert_eq!(seed("randseed=99"), Seed(99));
}

#[test]
fn checked_blocks_are_stamped_and_read_back() {
    let part = |lines: &str| {
        let made = made(&format!("[x]\nsize=1m\n{lines}\n")).unwrap();
        made.parts.into_iter().next().unwrap()
    };
    let writes = part("rw=randwrite\nverify=crc32c");
    assert!(writes.verify_after && !writes.job.verify && !writes.lay_down);
    assert_eq!(writes.job.data, Data::Stamped);
    let reads = part("rw=read\nverify=md5");
    assert!(!reads.verify_after && reads.job.verify && reads.lay_down);
    let backlog = part("rw=write\nverify=crc32c\nverify_backlog=16");
    assert_eq!(backlog.job.read_back_every, Some(16));
    assert!(!backlog.verify_after, "it has been read back already");
    let pattern = part("rw=write\nverify=pattern\nverify_pattern=0xdeadbeef");
    assert_eq!(pattern.job.data, Data::Pattern);
    assert!(pattern.verify_after);
    assert!(!part("rw=write\nverify=crc32c\ndo_verify=0").verify_after);
}

#[test]
fn waves_groups_and_names_are_kept() {
    let made = made(
        "[global]\nsize=1m\n[a]\n[a]\nrw=write\ngroup_reporting\n[b]\nstonewall\ninvalidate=0\n\
         [c]\nwait_for=b\nexitall\nexit_what=all\npre_read=1\n",
    )
    .unwrap();
    let parts = &made.parts;
    let named: Vec<(&str, u32, u32)> = parts
        .iter()
        .map(|part| (part.phase.as_str(), part.wave, part.group))
        .collect();
    assert_eq!(
        named,
        [("a", 0, 0), ("a #2", 0, 0), ("b", 1, 1), ("c", 1, 1)]
    );
    assert!(parts[1].reported_together && !parts[0].reported_together);
    assert_eq!(
        (parts[3].after.as_slice(), parts[3].ends),
        (&[2][..], ProgramEnds::All)
    );
    // In fio the switch is the program's: one job that has it sets it for all.
    assert_eq!(parts[0].ends, ProgramEnds::Group);
    let caches: Vec<CacheBefore> = parts.iter().map(|part| part.cache).collect();
    use CacheBefore::{Drop, Keep, Load};
    assert_eq!(caches, [Drop, Drop, Keep, Load]);
    assert_eq!(made.global_options["size"], "1m");
    assert_eq!(parts[1].options["rw"], "write");
    assert!(!parts[1].options.contains_key("size"));
}

#[test]
fn a_mapping_is_not_direct_and_says_so() {
    let said = |engine: &str| {
        let made = made(&format!("[x]\nsize=1m\ndirect=1\nioengine={engine}\n")).unwrap();
        let mut options = made.without_effect.into_iter();
        options.any(|without| without.option == "direct")
    };
    assert!(said("mmap") && !said("psync"));
}

#[test]
fn what_is_not_done_is_refused_by_option_and_line() {
    for (lines, option) in [
        ("rw=read:-4k", "rw"),
        ("opendir=/mnt", "opendir"),
        ("write_iolog=x", "write_iolog"),
        ("read_iolog=t.log\nverify=md5", "verify"),
        ("read_iolog=t.log\nnumjobs=2", "numjobs"),
        ("read_iolog=t.log\nioengine=mmap", "ioengine"),
        ("rw=randrw\nverify=pattern\nverify_pattern=1", "verify"),
        ("rw=randwrite\nbsrange=4k-8k\nverify=md5", "verify"),
        ("rw=write\nfsync=1\nfdatasync=1", "fdatasync"),
        (
            "random_distribution=zipf:1.2:0.5\nrw=randread",
            "random_distribution",
        ),
    ] {
        let said = refused(&format!("size=1m\n{lines}"));
        assert!(said.starts_with("t.fio:"), "{said}");
        assert!(
            said.contains(&format!("`{option}` cannot be honoured")),
            "{said}"
        );
    }
}

/// fio's manual, `numa_cpu_nodes` and `numa_mem_policy`, on a machine of three nodes of
/// which the last has memory only.
#[test]
fn nodes_give_their_cpus_and_their_memory() {
    let placement = |lines: &str| job(&format!("size=1m\n{lines}")).placement;
    let cpus = |list: &str| placement(&format!("numa_cpu_nodes={list}")).cpus;
    assert_eq!(cpus("1"), [2, 3]);
    assert_eq!(cpus("0-1"), [0, 1, 4, 2, 3]);
    assert_eq!(cpus("1,0,1"), [2, 3, 0, 1, 4]);
    assert_eq!(cpus("all"), [0, 1, 4, 2, 3]);
    let memory = |policy: &str| placement(&format!("numa_mem_policy={policy}")).memory;
    assert_eq!(memory("default"), MemoryPolicy::Inherit);
    assert_eq!(memory("local"), MemoryPolicy::Local);
    assert_eq!(memory("prefer:3"), MemoryPolicy::Prefer(3));
    assert_eq!(memory("bind:0-1"), MemoryPolicy::Bind(vec![0, 1]));
    let all = vec![0, 1, 3];
    assert_eq!(memory("interleave:all"), MemoryPolicy::Interleave(all));
    for (lines, said) in [
        ("numa_cpu_nodes=2", "choose among 0, 1, 3"),
        ("numa_cpu_nodes=0-3", "`0-3` is no NUMA node"),
        ("numa_cpu_nodes=3", "has a CPU"),
        (
            "numa_cpu_nodes=0\ncpus_allowed=1",
            "remove it or cpus_allowed",
        ),
        ("numa_mem_policy=prefer:0-1", "one is preferred"),
        ("numa_mem_policy=prefer", "no NUMA node"),
        ("numa_mem_policy=nearest:1", "is no policy"),
    ] {
        let found = refused(&format!("size=1m\n{lines}"));
        assert!(found.contains(said), "{lines}: {found}");
    }
}

/// fio goes round until the size is moved, whatever it leaves out.
#[test]
fn what_a_stride_leaves_out_is_made_up_for() {
    for lines in [
        "rw=read:12k",
        "zonemode=strided\nzonesize=64k\nzoneskip=64k",
    ] {
        let job = job(&format!("size=1m\nloops=2\n{lines}"));
        assert_eq!((job.once, job.bytes_per_worker), (false, Some(2 * MIB)));
    }
}

/// fio's manual, `sync_file_range`.
#[test]
fn files_are_written_back_in_the_course_of_a_job() {
    let every = |lines: &str| job(&format!("size=1m\nrw=write\n{lines}")).writeback_every;
    let found = every("sync_file_range=wait_before,write:8").unwrap();
    assert_eq!(
        (
            found.writes,
            found.wait_before,
            found.start,
            found.wait_after
        ),
        (8, true, true, false)
    );
    assert_eq!(every("sync_file_range=write:8\ndirect=1"), None);
    let said = refused("size=1m\nrw=write\nsync_file_range=write:8\nfsync=4");
    assert!(said.contains("one kind of sync"), "{said}");
}

#[test]
fn a_trace_is_played_on_files_of_our_own_with_its_extents() {
    let made = made("[x]\nread_iolog=t.log\nrw=write\nioengine=io_uring\niodepth=3\n").unwrap();
    let part = &made.parts[0];
    let targets: Vec<(&str, u64)> = part
        .targets
        .iter()
        .map(|target| (target.name.as_str(), target.length_bytes))
        .collect();
    // Up to byte 16384, and to byte 1052672, which are multiples of 4096.
    assert_eq!(targets, [("x.0.a", 16384), ("x.1.b", 1_052_672)]);
    assert!(part.lay_down);
    assert_eq!(part.job.action, Action::Mixed { reads_percent: 33 });
    let played = part.trace.as_ref().unwrap();
    assert_eq!((played.steps, played.in_flight), (4, 3));
    let without_effect: Vec<&str> = made
        .without_effect
        .iter()
        .map(|one| one.option.as_str())
        .collect();
    assert_eq!(without_effect, ["ioengine", "rw"]);
    assert!(made.defaults.is_empty());
}

#[test]
fn a_trace_is_chosen_scaled_and_redirected_as_asked() {
    let steps = |lines: &str| {
        let made = made(&format!("[x]\nread_iolog=t.log\n{lines}\n")).unwrap();
        let list = made.parts[0].trace.clone().unwrap().list;
        let steps = list.iter().map(|step| {
            let at_us = step.is_timed.then_some(step.at_ns / 1000);
            (at_us, step.file, step.offset_bytes)
        });
        steps.collect::<Vec<_>>()
    };
    assert_eq!(
        steps("replay_skip=trim,sync\nreplay_scale=2\nreplay_align=512\nreplay_time_scale=50"),
        // 5000 / 2 = 2500 = 4 * 512 + 452; at half the speed, after twice the time.
        [(Some(20), 0, 2048), (Some(40), 1, 524_288)]
    );
    assert_eq!(
        steps("replay_no_stall=1\nreplay_redirect=/dev/sdy\nreplay_skip=trim"),
        [(None, 0, 5000), (None, 0, 1_048_576), (None, 0, 0)]
    );
    let refused = |lines: &str| refused(&format!("read_iolog=t.log\n{lines}"));
    assert!(refused("replay_redirect=/dev/sdx").contains("--scratch /dev/sdx=SERIAL"));
    assert!(refused("replay_redirect=/mnt/old").contains("--may-overwrite /mnt/old"));
    assert!(refused("replay_redirect=/dev/sdy").contains("replay_skip=trim"));
    assert!(refused("[y]\nrw=read\nsize=1m").contains("put `stonewall` between them"));
}
