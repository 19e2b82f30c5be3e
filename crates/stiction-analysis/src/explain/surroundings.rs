//! What differs between the machines and plans of two sides, what usually weighs most first.
//!
//! The weights are no measurement: they put a list of differences into the order in which
//! an engineer would try them. What the work itself leaves out of play (readahead under
//! O_DIRECT, dirty limits of reads) goes to the end.

use stiction_core::{Action, Job, Phase, Setting, SyncKind};

use crate::compare::{Comparison, Difference};

/// One difference, with its place in the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Likely {
    /// What differs, and how.
    pub difference: Difference,
    /// From 0, of no effect known, to 100.
    pub weight: u32,
    /// By which way it could act on such work.
    pub reason: &'static str,
    /// The factor of stiction that sets it, where there is one.
    pub factor: Option<String>,
}

/// What the phases do, as far as it decides which settings can matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// Some of it goes through the page cache.
    pub(super) buffered: bool,
    pub(super) syncs: bool,
}

impl Work {
    pub(super) fn of<'p>(phases: impl Iterator<Item = &'p Phase>) -> Self {
        let mut work = Self::default();
        for phase in phases {
            match &phase.job {
                Some(job) => work.add(job),
                // A command may do anything.
                None => {
                    return Self {
                        reads: true,
                        writes: true,
                        buffered: true,
                        syncs: true,
                    };
                }
            }
        }
        work
    }

    fn add(&mut self, job: &Job) {
        self.reads |= matches!(job.action, Action::Read | Action::Mixed { .. });
        self.writes |= !matches!(job.action, Action::Read);
        self.buffered |= !job.direct;
        let at_end: Option<SyncKind> = job.sync_at_end;
        self.syncs |= at_end.is_some() || job.sync_every.is_some();
    }
}

/// When a difference can matter.
type Matters = fn(Work) -> bool;

/// A part of a key, its weight, the way it could act, and on which work.
const WEIGHTS: &[(&str, u32, &str, Matters)] = &[
    (
        "limits.io",
        98,
        "a ceiling of the control group on the device",
        always,
    ),
    (".model", 95, "another device", always),
    (
        ".devices",
        94,
        "another device, or other layers over it",
        always,
    ),
    (".link", 90, "another way to the device", always),
    (".firmware", 85, "another program inside the device", always),
    (
        "settings.filesystem",
        92,
        "another filesystem places and logs in another way",
        always,
    ),
    (
        ".filesystem.options",
        80,
        "journal mode, barriers, delayed allocation",
        always,
    ),
    (
        "settings.mount_options",
        80,
        "journal mode, barriers, delayed allocation",
        always,
    ),
    (
        "settings.mkfs_options",
        70,
        "how the filesystem is laid out",
        always,
    ),
    (
        "settings.journal",
        75,
        "where the journal lies, and how large it is",
        writing,
    ),
    (
        ".filesystem.mount_options",
        60,
        "access times, barriers",
        always,
    ),
    (
        ".filesystem.block_size",
        55,
        "smallest piece that is placed",
        always,
    ),
    (
        ".filesystem.size",
        20,
        "another place on the device",
        always,
    ),
    (
        ".filesystem",
        92,
        "another filesystem places and logs in another way",
        always,
    ),
    (
        ".write_cache",
        82,
        "whether a flush has anything to do",
        writing,
    ),
    (".scheduler", 75, "order and joining of requests", always),
    (
        "settings.scheduler",
        75,
        "order and joining of requests",
        always,
    ),
    (
        "iosched",
        50,
        "deadlines and batches of the scheduler",
        always,
    ),
    (
        ".rotational",
        60,
        "heuristics of schedulers and of readahead",
        always,
    ),
    (
        "read_ahead_kb",
        72,
        "how far reads run ahead",
        buffered_reads,
    ),
    ("max_sectors_kb", 50, "largest request", always),
    ("nr_requests", 45, "how many requests may wait", always),
    ("nomerges", 50, "whether requests are joined", always),
    (
        "wbt_lat_usec",
        55,
        "how far writeback is held back for reads",
        writing,
    ),
    ("rq_affinity", 25, "on which CPU a request ends", always),
    (
        ".direct_io",
        85,
        "whether the loop device goes through another page cache",
        always,
    ),
    (
        ".made_as",
        80,
        "what the device-mapper does with each block",
        always,
    ),
    ("limits.memory", 78, "how much may be cached", buffered),
    ("settings.memory", 78, "how much may be cached", buffered),
    ("limits.cpu_percent", 80, "a ceiling on CPU time", always),
    ("settings.cpus", 65, "CPUs that the work may use", always),
    ("cpu.allowed", 65, "CPUs that the work may use", always),
    ("cpu.online", 60, "CPUs of the machine", always),
    ("cpu.model", 70, "another processor", always),
    (
        "cpu.governor",
        60,
        "clock rates when much is waited for",
        always,
    ),
    ("cpu.mitigations", 55, "the price of a system call", always),
    ("cpu.microcode", 35, "the price of a system call", always),
    (
        "cpu.clock_source",
        40,
        "the price of reading a clock",
        always,
    ),
    ("kernel.release", 76, "another kernel", always),
    ("kernel.version", 74, "another build of the kernel", always),
    ("kernel.config", 60, "another build of the kernel", always),
    (
        "kernel.command_line",
        58,
        "another start of the kernel",
        always,
    ),
    ("kernel.tainted", 15, "foreign modules", always),
    ("stated.kernel", 76, "another kernel", always),
    ("memory.total", 62, "how much is cached", buffered),
    (
        "memory.swap",
        20,
        "where memory goes when it is short",
        buffered,
    ),
    (
        "transparent_huge",
        25,
        "size of the pages in the cache",
        buffered,
    ),
    (
        "dirty",
        66,
        "when writing back begins, and when writers are held back",
        buffered_writes,
    ),
    ("swappiness", 15, "what is dropped first", buffered),
    ("memory.", 30, "what the page cache does", buffered),
    (
        "virtualisation",
        72,
        "another machine below this one",
        always,
    ),
    (
        "tool.version",
        40,
        "another version of the program that measured",
        always,
    ),
    ("tool.name", 60, "another program measured", always),
    ("distribution", 10, "other programs around it", always),
    ("host_name", 30, "another machine", always),
    (".queue.", 30, "a setting of the device's queue", always),
    ("settings.", 70, "what was set for the trials", always),
    ("block_bytes", 85, "another size of an operation", always),
    ("direct", 85, "whether the page cache is passed by", always),
    ("depth", 80, "how much is in flight", always),
    ("threads", 80, "how much is in flight", always),
    ("sync", 80, "what has to be durable", writing),
    ("size", 60, "how much is touched", always),
    ("target.path", 2, "another name for the place", always),
];

fn always(_: Work) -> bool {
    true
}

fn writing(work: Work) -> bool {
    work.writes || work.syncs
}

fn buffered(work: Work) -> bool {
    work.buffered
}

fn buffered_reads(work: Work) -> bool {
    work.buffered && work.reads
}

fn buffered_writes(work: Work) -> bool {
    work.buffered && work.writes
}

/// What is out of play for such work weighs this much.
const OUT_OF_PLAY: u32 = 1;
/// What the table has no line for.
const UNKNOWN: u32 = 35;

/// All differences of machine and plan, what usually weighs most first.
pub(super) fn likely(comparison: &Comparison, work: Work) -> Vec<Likely> {
    let environment = comparison.environment.differs.iter();
    let parameters = comparison.parameters.iter();
    let mut all: Vec<Likely> = parameters
        .chain(environment)
        .map(|difference| weigh(difference, work))
        .collect();
    all.sort_by_key(|likely| std::cmp::Reverse(likely.weight));
    all
}

fn weigh(difference: &Difference, work: Work) -> Likely {
    let key = difference.key.as_str();
    let line = WEIGHTS.iter().find(|(part, ..)| contains(key, part));
    let (weight, reason) = match line {
        Some((_, weight, reason, matters)) if matters(work) => (*weight, *reason),
        Some(_) => (OUT_OF_PLAY, "out of play for this work"),
        None => (UNKNOWN, ""),
    };
    Likely {
        difference: difference.clone(),
        weight,
        reason,
        factor: factor_of(key),
    }
}

/// Whether a key has `part`: at its beginning, unless the part begins with a point.
fn contains(key: &str, part: &str) -> bool {
    match part.strip_prefix('.') {
        Some(_) => {
            key.ends_with(part) || key.contains(&format!("{part}.")) || {
                part.ends_with('.') && key.contains(part)
            }
        }
        None => key.starts_with(part) || key.contains(&format!(".{part}")),
    }
}

/// The factor that sets what a key tells of, as [`Setting`] calls it.
fn factor_of(key: &str) -> Option<String> {
    if let Some(factor) = key.strip_prefix("settings.") {
        return Some(factor.to_owned());
    }
    if !key.starts_with("target") {
        let setting = key.strip_prefix("memory.")?;
        let is_sysctl = setting.starts_with("dirty_") || setting == "swappiness";
        return match setting {
            "transparent_huge_pages" => Some(Setting::HUGE_PAGES.to_owned()),
            _ => is_sysctl.then(|| format!("{}vm.{setting}", Setting::SYSCTL)),
        };
    }
    let last = key.rsplit('.').next()?;
    if key.contains(".queue.") {
        return Setting::QUEUE.contains(&last).then(|| last.to_owned());
    }
    match last {
        "scheduler" | "filesystem" => Some(last.to_owned()),
        "mount_options" | "options" => Some("mount_options".to_owned()),
        _ => None,
    }
}
