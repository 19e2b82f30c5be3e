//! The features that job files are made of, and what becomes of each of their options:
//! the table of `docs/fio.md`.

use std::collections::BTreeSet;

use stiction_formats::fio::options::{FioOption, Status, all};

use crate::program::refused;

/// The groups by how many job files need them, with the options of each; `*` stands for
/// anything.
const GROUPS: [(&str, &str); 27] = [
    (
        "pattern and mix",
        "rw rwmixread rwmixwrite percentage_random rw_sequencer",
    ),
    (
        "jobs",
        "name numjobs thread description cpus_allowed* cpumask numa_* nice prio prioclass",
    ),
    (
        "block size",
        "bs bsrange bssplit blockalign bs_unaligned bs_is_seq_rand",
    ),
    ("engine", "ioengine"),
    (
        "flags",
        "direct buffered sync hipri* registerfiles fixedbufs sqthread_poll* nonvectored force_async \
         uncached nowait",
    ),
    (
        "depth and batches",
        "iodepth iodepth_* serialize_overlap io_submit_mode",
    ),
    (
        "extent",
        "size filesize io_size offset offset_* number_ios fill_device file_append",
    ),
    (
        "targets",
        "filename directory opendir filename_format unique_filename",
    ),
    ("duration", "runtime time_based ramp_time"),
    (
        "report",
        "group_reporting unified_rw_reporting per_job_logs percentile_list *_percentiles disk_util \
         stats",
    ),
    (
        "order and ends",
        "stonewall wait_for startdelay exitall exit_what exitall_on_error new_group loops",
    ),
    (
        "seeds and coverage",
        "randrepeat randseed allrandrepeat norandommap random_generator softrandommap",
    ),
    ("verify", "verify do_verify verify_*"),
    ("cache", "invalidate pre_read fadvise_hint"),
    (
        "layout",
        "fallocate create_* allow_file_create overwrite nrfiles openfiles file_service_type unlink \
         unlink_each_loop",
    ),
    (
        "payload",
        "refill_buffers buffer_pattern buffer_compress_* dedupe_* zero_buffers scramble_buffers mem \
         iomem_align",
    ),
    (
        "savings of time",
        "gtod_reduce disable_* clocksource gtod_cpu",
    ),
    (
        "durability",
        "fsync fdatasync sync_file_range end_fsync fsync_on_close write_barrier",
    ),
    ("series", "write_*_log log_* bwavgtime iopsavgtime"),
    ("rate", "rate rate_*"),
    ("distribution", "random_distribution"),
    ("errors", "continue_on_error ignore_error error_dump"),
    ("steady state", "steadystate*"),
    ("units", "kb_base unit_base"),
    ("latency limits", "latency_* max_latency"),
    ("think time", "thinktime*"),
    ("traces", "read_iolog* write_iolog replay_*"),
];

/// Options that are known and yet stop the run, with a job that does not run for that and
/// what is said of it.
const REFUSED: [(&str, &str, &str); 7] = [
    (
        "opendir",
        "opendir=/mnt",
        "all files below a directory are not taken; name them",
    ),
    (
        "fill_device",
        "size=1m\nfill_device=1",
        "a full file system is not an end here; set size",
    ),
    (
        "file_append",
        "size=1m\nrw=write\nfile_append=1",
        "files are not appended to",
    ),
    (
        "create_only",
        "size=1m\ncreate_only=1",
        "there would be nothing to measure",
    ),
    (
        "verify_only",
        "size=1m\nrw=write\nverify=crc32c\nverify_only",
        "say rw=read with the same verify: blocks carry what they are checked by",
    ),
    (
        "dedupe_global",
        "size=1m\nrw=write\ndedupe_percentage=50\ndedupe_global=1",
        "repeats are among the blocks of a clone",
    ),
    (
        "write_iolog",
        "size=1m\nwrite_iolog=x",
        "figures are kept of operations and not each operation: the timed loop makes no list",
    ),
];

/// Options that run, but not with each value, with a job that does not for that.
const IN_PART: [(&str, &str); 10] = [
    ("rw", "size=1m\nrw=read:-4k"),
    (
        "unlink_each_loop",
        "size=1m\nrw=write\nloops=2\nunlink_each_loop=1",
    ),
    ("io_submit_mode", "size=1m\nio_submit_mode=offload"),
    (
        "serialize_overlap",
        "size=1m\nrw=randwrite\nnorandommap\nserialize_overlap=1",
    ),
    (
        "hipri_percentage",
        "size=1m\nioengine=pvsync2\nhipri\nhipri_percentage=50",
    ),
    (
        "sqthread_poll_cpu",
        "size=1m\nioengine=io_uring\nsqthread_poll\nsqthread_poll_cpu=0",
    ),
    ("force_async", "size=1m\nioengine=io_uring\nforce_async=4"),
    (
        "dedupe_mode",
        "size=1m\nrw=write\ndedupe_percentage=50\ndedupe_mode=working_set\n\
         dedupe_working_set_percentage=5",
    ),
    ("mem", "size=1m\nmem=mmaphuge"),
    (
        "steadystate",
        "size=1m\nsteadystate=lat:5%\nsteadystate_duration=10",
    ),
];

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((front, back)) => {
            name.len() >= front.len() + back.len()
                && name.starts_with(front)
                && name.ends_with(back)
        }
    }
}

fn options(patterns: &str) -> Vec<&'static FioOption> {
    let patterns: Vec<&str> = patterns.split_whitespace().collect();
    let is_meant = |option: &FioOption| {
        let mut names = std::iter::once(&option.name).chain(option.aliases);
        names.any(|name| patterns.iter().any(|pattern| matches(pattern, name)))
    };
    all().filter(|option| is_meant(option)).collect()
}

fn refusal(option: &FioOption) -> Option<&'static str> {
    let mut refused = REFUSED.iter();
    let found = refused.find(|(name, ..)| *name == option.name);
    found.map(|(_, _, reason)| *reason)
}

fn row(title: &str, patterns: &str) -> String {
    let (mut runs, mut harmless, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for option in options(patterns) {
        match option.status {
            Status::Meant(_) if let Some(reason) = refusal(option) => {
                refused.push((option.name, reason));
            }
            Status::Meant(_) if IN_PART.iter().any(|(part, _)| *part == option.name) => {
                runs.push(format!("`{}` (in part)", option.name));
            }
            Status::Meant(_) => runs.push(format!("`{}`", option.name)),
            Status::Accepted(_) => harmless.push(format!("`{}`", option.name)),
            Status::Refused(reason) => refused.push((option.name, reason)),
        }
    }
    let [runs, harmless] = [runs, harmless].map(|names| names.join(" "));
    let of_one_reason = refused
        .chunk_by(|one, next| one.1 == next.1)
        .map(|options| {
            let names: Vec<String> = options
                .iter()
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            format!("{}: {}", names.join(" "), options[0].1)
        });
    let refused = of_one_reason.collect::<Vec<_>>().join("; ");
    let cells = [title, &runs, &harmless, &refused];
    format!("|{}|", cells.map(|cell| format!(" {cell} ")).join("|"))
        .replace("|  |", "| |")
        .replace("|  |", "| |")
}

#[test]
fn the_table_of_groups_is_that_of_the_manual() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fio.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let rows: Vec<String> = GROUPS
        .iter()
        .map(|(title, patterns)| row(title, patterns))
        .collect();
    let missing: Vec<&String> = rows
        .iter()
        .filter(|row| !manual.lines().any(|line| line == row.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/fio.md lacks:\n{}",
        rows.join("\n")
    );
}

#[test]
fn what_the_table_calls_refused_is() {
    for (option, lines, reason) in REFUSED {
        let said = refused(lines);
        assert!(said.contains(option) && said.contains(reason), "{said}");
    }
    for (option, lines) in IN_PART {
        assert!(refused(lines).contains(option), "{option}");
    }
}

#[test]
fn groups_name_most_options_each_once() {
    let mut seen = BTreeSet::new();
    for (title, patterns) in GROUPS {
        for option in options(patterns) {
            assert!(seen.insert(option.name), "{} again in {title}", option.name);
        }
        for pattern in patterns.split_whitespace() {
            assert!(!options(pattern).is_empty(), "{pattern} of {title} is none");
        }
    }
    assert!(seen.len() >= 170, "{}", seen.len());
}
