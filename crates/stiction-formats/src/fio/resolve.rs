//! Job files into jobs: defaults filled in, texts read, contradictions found.

mod spread;
mod texts;
mod work;

use std::collections::HashSet;

use serde::Serialize;

use super::error::{FioError, Place};
use super::ini::{JobFile, Section};
use super::job::{
    Action, Advice, Arrivals, Cache, Directions, Durability, EndEnds, Engine, Errors, Fill, FioJob,
    GoOnAfter, Latency, PerDirection, Phase, Placement, Rate, Report, Series, Think, Time,
    WindowValue, WriteSync,
};
use super::options::Status;
use super::settings::{self, Chosen, Settings, Value};
use super::units::{Nanoseconds, is_trap};

/// Jobs of a file and how they came to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    /// One for each section, in their order.
    pub jobs: Vec<ResolvedJob>,
}

/// A job and where its settings come from.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedJob {
    /// The job.
    pub job: FioJob,
    /// Where its section starts.
    pub place: Place,
    /// Every setting that counts, in the order in which they count.
    pub set: Vec<Set>,
    /// What was left to fio's defaults and shapes the result.
    pub defaults: Vec<DefaultInForce>,
    /// What was read and changes nothing.
    pub without_effect: Vec<WithoutEffect>,
    /// Sizes that fio reads otherwise than people do, such as `4KiB`.
    pub misread: Vec<Misread>,
}

/// A setting that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// The option's name in fio's manual.
    pub option: &'static str,
    /// The value as written.
    pub value: String,
    /// Where.
    pub place: Place,
    /// Whether it stands where all jobs take it on: in `[global]`, or before the first
    /// `--name`.
    pub is_shared: bool,
}

/// A default of fio that shapes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DefaultInForce {
    /// The option that would change it.
    pub option: &'static str,
    /// Its value.
    pub value: &'static str,
    /// What that means.
    pub meaning: &'static str,
}

impl DefaultInForce {
    /// Whether a run here follows it. What fio's writes repeat, ours do not: each has bytes
    /// of its own.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.option != "refill_buffers"
    }
}

/// An option that was read and changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutEffect {
    /// The option.
    pub option: &'static str,
    /// Why.
    pub reason: &'static str,
    /// Where it stands.
    pub place: Place,
}

/// A size that fio reads otherwise than people do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// The option.
    pub option: &'static str,
    /// The size as written.
    pub value: String,
    /// Where it stands.
    pub place: Place,
}

impl ResolvedJob {
    /// Where an option was set, else where the section starts.
    #[must_use]
    pub fn place_of(&self, option: &str) -> &Place {
        self.set
            .iter()
            .find(|set| set.option == option)
            .map_or(&self.place, |set| &set.place)
    }
}

/// Jobs that a file may have, all clones counted.
const MAX_JOBS: usize = 65_536;

/// Fills in every default and reads every value.
///
/// # Errors
/// All that is wrong, in the order of the jobs: unknown and refused options, values
/// that do not fit, contradictions; and a file without jobs.
pub fn resolve(file: &JobFile) -> Result<Resolved, Vec<FioError>> {
    let sections = settings::jobs(file);
    if sections.is_empty() {
        return Err(vec![FioError::NoJob {
            file: file
                .sections
                .first()
                .and_then(|section| section.place.file.as_deref())
                .unwrap_or("the job file")
                .to_owned(),
            reason: "write a section [name] that is not [global]".to_owned(),
        }]);
    }
    if sections.len() > MAX_JOBS {
        return Err(vec![FioError::NoJob {
            file: "a file that this can run".to_owned(),
            reason: format!("there are more than {MAX_JOBS} jobs; split the file"),
        }]);
    }
    let mut resolved = Resolved::default();
    let mut errors: Vec<FioError> = Vec::new();
    let mut group = 0;
    for (section, raw) in sections {
        let mut settings = Settings::read(&raw);
        let starts_group = settings.on("stonewall") || settings.on("new_group");
        if starts_group && !resolved.jobs.is_empty() {
            group += 1;
        }
        let job = job(section, &mut settings, group);
        if let Some(after) = &job.phase.after
            && !resolved.jobs.iter().any(|other| other.job.name == *after)
        {
            let place = place_of(&settings, section, "wait_for");
            settings.errors.push(FioError::Conflict {
                place,
                what: format!("no job before this one is called `{after}`"),
                advice: "name a job that stands above".to_owned(),
            });
        }
        // A mistake in [global] shows in every job, and is said once.
        for error in settings.errors.drain(..) {
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
        resolved.jobs.push(describe(job, section, &settings));
    }
    if errors.is_empty() {
        Ok(resolved)
    } else {
        Err(errors)
    }
}

fn place_of(settings: &Settings, section: &Section, option: &str) -> Place {
    settings
        .get(option)
        .map_or(&section.place, |chosen| &chosen.place)
        .clone()
}

fn describe(job: FioJob, section: &Section, settings: &Settings) -> ResolvedJob {
    let all = settings.all();
    let own: HashSet<&Place> = section.settings.iter().map(|set| &set.place).collect();
    ResolvedJob {
        defaults: defaults_in_force(&job, settings),
        job,
        place: section.place.clone(),
        set: all
            .iter()
            .map(|chosen| Set {
                option: chosen.option.name,
                value: chosen.written.clone(),
                place: chosen.place.clone(),
                is_shared: !own.contains(&chosen.place),
            })
            .collect(),
        without_effect: all.iter().filter_map(without_effect).collect(),
        misread: all
            .iter()
            .filter(|chosen| {
                !matches!(chosen.value, Value::Text(_) | Value::Numbers(_))
                    && chosen
                        .written
                        .split([',', '-'])
                        .any(|part| is_trap(part, settings.kb_base))
            })
            .map(|chosen| Misread {
                option: chosen.option.name,
                value: chosen.written.clone(),
                place: chosen.value_place.clone(),
            })
            .collect(),
    }
}

fn without_effect(chosen: &Chosen) -> Option<WithoutEffect> {
    let Status::Accepted(reason) = chosen.option.status else {
        return None;
    };
    Some(WithoutEffect {
        option: chosen.option.name,
        reason,
        place: chosen.place.clone(),
    })
}

fn job(section: &Section, settings: &mut Settings, group: u32) -> FioJob {
    let name = settings
        .text("name")
        .filter(|name| !name.is_empty())
        .unwrap_or(&section.name)
        .to_owned();
    let engine = settings
        .parsed("ioengine", |text, _| texts::engine(text))
        .unwrap_or_default();
    let direct = settings
        .later("direct", "buffered")
        .is_some_and(|chosen| chosen.value == Value::Switch(chosen.option.name == "direct"));
    let pattern = work::pattern(settings);
    let block = work::block(settings);
    FioJob {
        name,
        description: settings.text("description").map(str::to_owned),
        clones: settings.integer("numjobs").unwrap_or(1),
        engine,
        direct,
        write_sync: match settings.text("sync") {
            Some("1" | "sync") => WriteSync::Sync,
            Some("dsync") => WriteSync::DataSync,
            _ => WriteSync::None,
        },
        depth: work::depth(settings),
        targets: work::targets(settings),
        extent: work::extent(settings),
        time: time(settings),
        phase: phase(settings, group),
        chance: spread::chance(settings),
        switches: work::switches(settings, engine),
        placement: placement(settings),
        rate: rate(settings),
        think: think(settings),
        durability: durability(settings),
        verify: spread::verify(settings, pattern.action),
        cache: cache(settings),
        layout: spread::layout(settings),
        payload: spread::payload(settings),
        report: report(settings),
        series: series(settings),
        errors: errors(settings),
        steady: spread::steady(settings),
        latency: latency(settings),
        replay: spread::replay(settings),
        kb_base: settings.kb_base,
        pattern,
        block,
    }
}

fn time(settings: &mut Settings) -> Time {
    let limit = settings
        .time_ns("runtime")
        .filter(|limit_ns| *limit_ns > 0)
        .map(Nanoseconds);
    let until_limit = settings.on("time_based");
    if until_limit
        && limit.is_none()
        && let Some(chosen) = settings.get("time_based")
    {
        let error = FioError::Conflict {
            place: chosen.place.clone(),
            what: "time_based without a runtime says to go on for ever".to_owned(),
            advice: "set runtime".to_owned(),
        };
        settings.errors.push(error);
    }
    Time {
        limit,
        until_limit,
        ramp: Nanoseconds(settings.time_ns("ramp_time").unwrap_or(0)),
    }
}

fn phase(settings: &Settings, group: u32) -> Phase {
    Phase {
        group,
        after_all: settings.on("stonewall"),
        after: settings.text("wait_for").map(str::to_owned),
        delay: settings
            .time_range_ns("startdelay")
            .filter(|(_, most_ns)| *most_ns > 0)
            .map(|(least_ns, most_ns)| (Nanoseconds(least_ns), Nanoseconds(most_ns))),
        end_ends: match (settings.on("exitall"), settings.text("exit_what")) {
            (false, _) => EndEnds::Itself,
            (true, Some("all")) => EndEnds::All,
            (true, Some("stonewall")) => EndEnds::Running,
            (true, _) => EndEnds::Group,
        },
        error_ends_all: settings.on("exitall_on_error"),
    }
}

fn placement(settings: &mut Settings) -> Placement {
    let mask = settings.integer::<u64>("cpumask");
    let listed = settings.parsed("cpus_allowed", |text, _| texts::cpus(text));
    let by_mask = settings
        .later("cpus_allowed", "cpumask")
        .is_some_and(|chosen| chosen.option.name == "cpumask");
    let cpus = if by_mask {
        let mask = mask.unwrap_or(0);
        (0..64).filter(|cpu| mask >> cpu & 1 == 1).collect()
    } else {
        listed.unwrap_or_default()
    };
    Placement {
        cpus,
        cpu_each: settings.text("cpus_allowed_policy") == Some("split"),
        numa_nodes: settings.text("numa_cpu_nodes").map(str::to_owned),
        numa_memory: settings.text("numa_mem_policy").map(str::to_owned),
        nice: settings.integer("nice").unwrap_or(0),
        io_class: settings.integer("prioclass"),
        io_level: settings.integer("prio"),
    }
}

fn rate(settings: &Settings) -> Rate {
    let set = |values: PerDirection<Option<u64>>| values.map(|value| value.filter(|v| *v > 0));
    Rate {
        bytes_per_second: set(settings.sizes("rate")),
        operations_per_second: set(settings.integers("rate_iops")),
        least_bytes_per_second: set(settings.sizes("rate_min")),
        least_operations_per_second: set(settings.integers("rate_iops_min")),
        window: milliseconds(settings, "rate_cycle"),
        arrivals: match settings.text("rate_process") {
            Some("poisson") => Arrivals::Poisson,
            _ => Arrivals::Even,
        },
        ignores_think: settings.on("rate_ignore_thinktime"),
    }
}

/// A time in whole milliseconds, where 0 is no time.
fn milliseconds(settings: &Settings, name: &str) -> Option<Nanoseconds> {
    settings
        .integer::<u64>(name)
        .filter(|ms| *ms > 0)
        .map(|ms| Nanoseconds(ms.saturating_mul(1_000_000)))
}

fn think(settings: &Settings) -> Option<Think> {
    let pause_ns = settings.time_ns("thinktime").filter(|ns| *ns > 0)?;
    Some(Think {
        pause: Nanoseconds(pause_ns),
        spin: Nanoseconds(
            settings
                .time_ns("thinktime_spin")
                .unwrap_or(0)
                .min(pause_ns),
        ),
        every_operations: settings.integer("thinktime_blocks").unwrap_or(1),
        counts_issued: settings.text("thinktime_blocks_type") == Some("issue"),
        every_time: settings
            .time_ns("thinktime_iotime")
            .filter(|ns| *ns > 0)
            .map(Nanoseconds),
    })
}

fn durability(settings: &mut Settings) -> Durability {
    Durability {
        fsync_every_writes: settings.integer("fsync").unwrap_or(0),
        fdatasync_every_writes: settings.integer("fdatasync").unwrap_or(0),
        range: settings.parsed("sync_file_range", texts::range_sync),
        fsync_at_end: settings.on("end_fsync"),
        fsync_on_close: settings.on("fsync_on_close"),
    }
}

fn cache(settings: &Settings) -> Cache {
    Cache {
        drop_before: settings.switch("invalidate") != Some(false),
        read_before: settings.on("pre_read"),
        advice: match settings.text("fadvise_hint") {
            Some("0" | "none") => Advice::None,
            Some("random") => Advice::Random,
            Some("sequential") => Advice::Sequential,
            _ => Advice::Pattern,
        },
    }
}

fn report(settings: &Settings) -> Report {
    Report {
        by_group: settings.on("group_reporting"),
        directions: match settings.text("unified_rw_reporting") {
            Some("1" | "mixed") => Directions::Mixed,
            Some("2" | "both") => Directions::Both,
            _ => Directions::Apart,
        },
        percentiles: settings.numbers("percentile_list"),
        without_completion: settings.switch("clat_percentiles") == Some(false),
        with_total: settings.on("lat_percentiles"),
        with_submission: settings.on("slat_percentiles"),
    }
}

fn series(settings: &mut Settings) -> Series {
    let log = |settings: &Settings, name| settings.text(name).map(str::to_owned);
    let value = settings.parsed("log_window_value", |text, _| match text {
        "avg" | "average" | "0" => Ok(WindowValue::Mean),
        "max" | "1" => Ok(WindowValue::Most),
        "both" | "2" => Ok(WindowValue::Both),
        _ => Err((
            "it is not a value of this option".to_owned(),
            "write avg, max or both".to_owned(),
        )),
    });
    Series {
        bandwidth: log(settings, "write_bw_log"),
        latency: log(settings, "write_lat_log"),
        operations: log(settings, "write_iops_log"),
        histogram: log(settings, "write_hist_log"),
        interval: milliseconds(settings, "log_avg_msec"),
        histogram_interval: milliseconds(settings, "log_hist_msec"),
        value: match value {
            Some(value) => value,
            None if settings.on("log_max_value") => WindowValue::Most,
            None => WindowValue::Mean,
        },
        unix_time: settings.on("log_unix_epoch") || settings.on("log_alternate_epoch"),
    }
}

fn errors(settings: &Settings) -> Errors {
    Errors {
        go_on_after: match settings.text("continue_on_error") {
            Some("read") => GoOnAfter::Read,
            Some("write") => GoOnAfter::Write,
            Some("io") => GoOnAfter::Io,
            Some("verify") => GoOnAfter::Verify,
            Some("all" | "1") => GoOnAfter::All,
            _ => GoOnAfter::None,
        },
        ignored: settings
            .text("ignore_error")
            .map(|text| {
                text.split(',')
                    .map(|list| list.split(':').map(str::to_owned).collect())
                    .collect()
            })
            .unwrap_or_default(),
    }
}

fn latency(settings: &Settings) -> Latency {
    let time = |name| settings.time_ns(name).filter(|ns| *ns > 0).map(Nanoseconds);
    Latency {
        most: time("max_latency"),
        target: time("latency_target"),
        window: time("latency_window"),
        percent: settings.numbers("latency_percentile").first().copied(),
        keep_adjusting: settings.on("latency_run"),
    }
}

/// Defaults of fio that decide what is measured, where the file left them alone.
fn defaults_in_force(job: &FioJob, settings: &Settings) -> Vec<DefaultInForce> {
    let action = job.pattern.action;
    let random = job.pattern.order == super::job::Order::Random;
    let unset = |names: &[&str]| names.iter().all(|name| settings.get(name).is_none());
    let mut defaults = Vec::new();
    let mut add = |applies: bool, option, value, meaning| {
        if applies {
            defaults.push(DefaultInForce {
                option,
                value,
                meaning,
            });
        }
    };
    add(
        unset(&["direct", "buffered"]) && job.engine != Engine::Null,
        "direct",
        "0",
        "I/O goes through the page cache",
    );
    add(
        unset(&["ioengine"]),
        "ioengine",
        "psync",
        "one pread or pwrite at a time, whatever iodepth says",
    );
    add(unset(&["rw"]), "rw", "read", "sequential reads");
    add(
        unset(&["bs", "bsrange", "bssplit"]),
        "bs",
        "4k",
        "operations of 4 KiB",
    );
    add(
        unset(&["iodepth"]) && !job.engine.is_synchronous(),
        "iodepth",
        "1",
        "one operation at a time",
    );
    add(
        unset(&["io_size", "number_ios"]) && !job.time.until_limit,
        "io_size",
        "size",
        "the size of the region is the amount of I/O too",
    );
    add(
        unset(&["randrepeat", "allrandrepeat", "randseed"]) && random,
        "randrepeat",
        "1",
        "every run visits the same blocks in the same order",
    );
    add(
        unset(&["norandommap"]) && random,
        "norandommap",
        "0",
        "each block is visited once before any is again",
    );
    add(
        unset(&["invalidate"]) && !job.direct,
        "invalidate",
        "1",
        "the target's pages are dropped from the cache before the start",
    );
    add(
        action == Action::ReadWrite && unset(&["rwmixread", "rwmixwrite"]),
        "rwmixread",
        "50",
        "half of the operations are reads",
    );
    add(
        action.writes() && job.payload.fill == Fill::Scrambled,
        "refill_buffers",
        "0",
        "writes repeat one random buffer, changed a little each time",
    );
    add(
        unset(&["kb_base"]),
        "kb_base",
        "1024",
        "k, kB and Ki are 1024, and KiB is 1000",
    );
    defaults
}
