//! What the engine itself costs: CPU time of a worker for each operation.
//!
//! Jobs without I/O (`null`) show the worker's own cost; cached 4 KiB reads show
//! what is left of it beside a real system call, against a bare loop of `pread`
//! without any statistics. All variants alternate, in random order, in one process
//! on one CPU; the differences are taken within a round, where both sides saw the
//! same machine.
//!
//! `cargo xtask bench overhead [--rounds N] [--operations N] [--cpu N] [--json]`
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints what it measured"
)]

#[path = "engine/spread.rs"]
mod spread;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use stiction_core::{
    Access, Action, BackendKind, Create, Data, Job, Region, Seed, SizeMix, Sizes, Skew, SkewShape,
    StartOrder, Timing, WriteSync,
};
use stiction_engine::{Progress, StopFlag, Target, run};

use spread::quartiles;

const BLOCK_BYTES: u64 = 4096;
const FILE_BYTES: u64 = 8 << 20;

/// One way of doing operations.
struct Variant {
    name: &'static str,
    kind: Kind,
    /// Index of the variant that differences are taken to.
    baseline: usize,
}

/// A pattern that is more than an order of blocks.
#[derive(Clone, Copy)]
enum Pattern {
    Zipf,
    Mixed,
}

impl Pattern {
    fn job(self, operations: u64) -> Job {
        let job = job(
            BackendKind::Null,
            Access::RandomIndependent,
            1,
            Timing::Chained,
            operations,
        );
        match self {
            Self::Zipf => Job {
                skew: Some(Skew {
                    shape: SkewShape::Zipf {
                        exponent_ppm: 1_200_000,
                    },
                    scattered: true,
                }),
                ..job
            },
            Self::Mixed => Job {
                action: Action::Mixed { reads_percent: 70 },
                sizes: Some(Sizes::same(SizeMix::Range {
                    min_bytes: 4096,
                    max_bytes: 65_536,
                    step_bytes: 4096,
                })),
                ..job
            },
        }
    }
}

enum Kind {
    Pattern(Pattern),
    /// `pread` in a loop, and nothing else.
    Bare,
    Engine {
        backend: BackendKind,
        access: Access,
        depth: u32,
        timing: Timing,
    },
    /// Writes without I/O: what making the data costs.
    Data(Data),
}

const fn engine(backend: BackendKind, access: Access, depth: u32, timing: Timing) -> Kind {
    Kind::Engine {
        backend,
        access,
        depth,
        timing,
    }
}

#[rustfmt::skip]
const VARIANTS: &[Variant] = &{
    use Access::{RandomIndependent as Independent, RandomPermutation as Permutation};
    use BackendKind::{IoUring, Null, Psync};
    use Timing::{Chained, Exact};
    [
        Variant { name: "null", kind: engine(Null, Independent, 1, Chained), baseline: 0 },
        Variant { name: "null, each block once", kind: engine(Null, Permutation, 1, Chained), baseline: 0 },
        Variant { name: "null, zipf", kind: Kind::Pattern(Pattern::Zipf), baseline: 0 },
        Variant { name: "null, mixed sizes and ways", kind: Kind::Pattern(Pattern::Mixed), baseline: 0 },
        Variant { name: "null, exact", kind: engine(Null, Independent, 1, Exact), baseline: 0 },
        Variant { name: "null, depth 8", kind: engine(Null, Independent, 8, Chained), baseline: 0 },
        Variant { name: "null, depth 32", kind: engine(Null, Independent, 32, Chained), baseline: 0 },
        Variant { name: "null, unique data", kind: Kind::Data(Data::Unique), baseline: 4 },
        Variant { name: "null, stamped data", kind: Kind::Data(Data::Stamped), baseline: 4 },
        Variant { name: "cached read, bare loop", kind: Kind::Bare, baseline: 9 },
        Variant { name: "cached read, psync", kind: engine(Psync, Independent, 1, Chained), baseline: 9 },
        Variant { name: "cached read, psync, exact", kind: engine(Psync, Independent, 1, Exact), baseline: 9 },
        Variant { name: "cached read, io_uring 32", kind: engine(IoUring, Independent, 32, Chained), baseline: 9 },
    ]
};

struct Options {
    rounds: usize,
    operations: u64,
    cpu: usize,
    json: bool,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            rounds: 21,
            operations: 400_000,
            cpu: 0,
            json: false,
        };
        let mut arguments = arguments.filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let value = arguments.next().ok_or("a number is missing")?;
                value.parse().map_err(|error| format!("{value}: {error}"))
            };
            match argument.as_str() {
                "--rounds" => options.rounds = number()? as usize,
                "--operations" => options.operations = number()?,
                "--cpu" => options.cpu = number()? as usize,
                "--json" => options.json = true,
                other => return Err(format!("there is no option {other}")),
            }
        }
        if options.rounds == 0 || options.operations == 0 {
            return Err("rounds and operations are 1 or more".to_owned());
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| measure(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("overhead: {message}");
            ExitCode::from(2)
        }
    }
}

fn measure(options: &Options) -> Result<(), String> {
    pin(options.cpu)?;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("overhead.data");
    write_file(&path)?;
    let mut rounds = Vec::with_capacity(options.rounds);
    // The first round warms up and is not kept.
    for round in 0..=options.rounds {
        rounds.push(one_round(round as u64, options, &path)?);
    }
    std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    rounds.remove(0);
    let rows: Vec<Row> = (0..VARIANTS.len())
        .map(|variant| Row::of(variant, &rounds))
        .collect();
    if options.json {
        print_json(options, &rows);
    } else {
        print_table(options, &rows);
    }
    Ok(())
}

fn pin(cpu: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| format!("cannot stay on CPU {cpu}: {error}"))
}

fn write_file(path: &Path) -> Result<(), String> {
    let job = Job {
        action: Action::Write,
        create: Create::Truncate,
        data: Data::Unique,
        once: true,
        operations_per_worker: None,
        ..job(BackendKind::Psync, Access::Sequential, 1, Timing::Exact, 0)
    };
    run_job(&job, path).map(|_| ())
}

/// Every variant once, in an order drawn for this round: CPU ns for an operation.
fn one_round(round: u64, options: &Options, path: &Path) -> Result<Vec<f64>, String> {
    let mut order: Vec<usize> = (0..VARIANTS.len()).collect();
    order.sort_by_key(|&variant| Seed(round).stream(variant as u64).0);
    let mut ns = vec![0.0; VARIANTS.len()];
    for variant in order {
        let cpu_ns = match VARIANTS[variant].kind {
            Kind::Pattern(pattern) => run_job(&pattern.job(options.operations), path)?,
            Kind::Bare => bare_loop(path, options.operations)?,
            Kind::Engine {
                backend,
                access,
                depth,
                timing,
            } => run_job(
                &job(backend, access, depth, timing, options.operations),
                path,
            )?,
            Kind::Data(data) => {
                let (access, timing) = (Access::RandomIndependent, Timing::Exact);
                let reads = job(BackendKind::Null, access, 1, timing, options.operations);
                let writes = Job {
                    action: Action::Write,
                    data,
                    ..reads
                };
                run_job(&writes, path)?
            }
        };
        ns[variant] = cpu_ns as f64 / options.operations as f64;
    }
    Ok(ns)
}

/// The floor: random block, `pread`, check of the result.
fn bare_loop(path: &Path, operations: u64) -> Result<u64, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    #[repr(align(4096))]
    struct Block([u8; BLOCK_BYTES as usize]);
    let mut block = Box::new(Block([0; BLOCK_BYTES as usize]));
    let blocks = FILE_BYTES / BLOCK_BYTES;
    let mut state = 1u64;
    let before = thread_cpu_ns();
    for _ in 0..operations {
        state = state.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(state) * u128::from(state ^ 0xe703_7ed1_a0b4_28db);
        let random = (product as u64) ^ ((product >> 64) as u64);
        let offset = ((u128::from(random) * u128::from(blocks)) >> 64) as u64 * BLOCK_BYTES;
        match rustix::io::pread(&file, &mut block.0, offset) {
            Ok(read) if read as u64 == BLOCK_BYTES => {}
            other => return Err(format!("{}: {other:?}", path.display())),
        }
    }
    Ok(thread_cpu_ns() - before)
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn job(backend: BackendKind, access: Access, depth: u32, timing: Timing, operations: u64) -> Job {
    Job {
        name: "overhead".to_owned(),
        access,
        action: Action::Read,
        block_size_bytes: BLOCK_BYTES,
        depth,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: FILE_BYTES,
        }],
        backend,
        direct: false,
        write_sync: WriteSync::None,
        sync_every: None,
        create: Create::Open,
        data: Data::Zeros,
        operations_per_worker: Some(operations),
        duration_ns: None,
        once: false,
        start: StartOrder::Together,
        interval_ns: 10_000_000,
        timing,
        seed: Seed(1),
        ..Job::default()
    }
}

/// CPU time of the one worker, ns.
fn run_job(job: &Job, path: &Path) -> Result<u64, String> {
    let targets = [Target::File(path.to_owned())];
    let outcome = run(job, &targets, &StopFlag::new(), &Progress::new(1))
        .map_err(|error| error.to_string())?;
    match &outcome.workers[0].failure {
        None => Ok(outcome.workers[0].cpu.total_ns),
        Some(failure) => Err(failure.to_string()),
    }
}

/// One variant over all rounds, ns an operation.
struct Row {
    name: &'static str,
    quartiles: [f64; 3],
    least: f64,
    /// Quartiles of the difference to the baseline in the same round.
    difference: Option<[f64; 3]>,
}

impl Row {
    fn of(variant: usize, rounds: &[Vec<f64>]) -> Self {
        let Variant { name, baseline, .. } = VARIANTS[variant];
        let own = rounds.iter().map(|round| round[variant]);
        let difference = rounds.iter().map(|round| round[variant] - round[baseline]);
        Self {
            name,
            quartiles: quartiles(own.clone().collect()),
            least: own.fold(f64::INFINITY, f64::min),
            difference: (variant != baseline).then(|| quartiles(difference.collect())),
        }
    }
}

fn print_table(options: &Options, rows: &[Row]) {
    println!(
        "CPU ns for an operation; {} rounds of {} operations on CPU {}",
        options.rounds, options.operations, options.cpu
    );
    println!(
        "{:27}{:>8}{:>18}{:>8}   difference in the round",
        "", "median", "quartiles", "least"
    );
    for row in rows {
        let [lower, median, upper] = row.quartiles;
        let range = format!("{lower:.1} to {upper:.1}");
        print!("{:27}{median:8.1}{range:>18}{:8.1}", row.name, row.least);
        match row.difference {
            Some([lower, median, upper]) => {
                println!("   {median:+.1} ({lower:+.1} to {upper:+.1})");
            }
            None => println!("   -"),
        }
    }
}

fn print_json(options: &Options, rows: &[Row]) {
    let numbers = |[lower, median, upper]: [f64; 3]| {
        format!(
            "{{\"lower_quartile\":{lower:.2},\"median\":{median:.2},\"upper_quartile\":{upper:.2}}}"
        )
    };
    let row = |row: &Row| {
        let difference = row.difference.map_or_else(|| "null".to_owned(), numbers);
        format!(
            "{{\"name\":\"{}\",\"cpu_ns_per_operation\":{},\"cpu_ns_per_operation_least\":{:.2},\
             \"difference_ns_per_operation\":{difference}}}",
            row.name,
            numbers(row.quartiles),
            row.least
        )
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    println!(
        "{{\"schema\":\"stiction-overhead\",\"schema_version\":1,\"rounds\":{},\"operations\":{},\"cpu\":{},\"variants\":[{}]}}",
        options.rounds,
        options.operations,
        options.cpu,
        rows.join(",")
    );
}
