//! What the counters, the layout and the times of a phase are consistent with.
//!
//! Each rule needs figures that moved and says what they are consistent with, in these
//! words. None says that one thing made another.

use stiction_core::{format_bytes, format_duration_ns};

use super::lie::LieChange;
use super::phase::PhaseExplanation;
use super::score::Score;
use super::time::Part;
use super::together::MovedCounter;

/// From here on the device wrote more than was asked, beyond metadata.
const WRITTEN_TWICE: f64 = 1.5;
/// A counter that changed by this factor at least is spoken of.
const TELLING: f64 = 1.25;
/// CPU time is spoken of from here on, being steadier than most.
const TELLING_CPU: f64 = 1.10;
/// Fewer bytes that come back for each byte asked, or stalls for each MiB, are nothing to
/// speak of.
const REFAULTED: f64 = 0.05;
/// Less of what was read came from the device: the rest was in memory.
const FROM_MEMORY: f64 = 0.9;

/// What a reading is about: which run could prove it follows from this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Data written twice, first to a journal.
    JournaledData,
    /// More written than asked, wherever it comes from.
    WrittenMore,
    /// How files lie.
    Layout,
    /// Requests joined, and their size.
    Merges,
    /// How long requests wait, and how many.
    Queue,
    /// What memory answered.
    Cache,
    /// Writers held back, dirty pages.
    Writeback,
    /// Memory that had to be freed.
    Reclaim,
    /// CPU time.
    Cpu,
    /// CPUs that others had.
    CpuTaken,
}

/// What some figures of a phase are consistent with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What it is about.
    pub theme: Theme,
    /// A sentence with figures, without a final full stop.
    pub text: String,
    /// Whether it speaks of B's being slower, or of A's.
    pub slows_b: bool,
}

/// Adds the readings to each phase, those that speak of most first.
pub(super) fn read(phases: &mut [PhaseExplanation]) {
    for phase in phases {
        let rules = [
            layout(phase),
            written(phase),
            cache(phase),
            merges(phase),
            writeback(phase),
            reclaim(phase),
            taken(phase),
            cpu(phase),
            queue(phase),
        ];
        let is_b_slower = phase.score.as_ref().and_then(Score::is_b_worse);
        // What would have made the faster side the slower one is consistent with nothing.
        let fits = |reading: &Reading| is_b_slower.is_none_or(|slower| slower == reading.slows_b);
        phase.readings = rules.into_iter().flatten().filter(fits).collect();
    }
}

/// A counter that moved, or, where nothing could be tested, differs.
fn moved<'p>(phase: &'p PhaseExplanation, name: &str) -> Option<&'p MovedCounter> {
    let together = phase.together.as_ref()?;
    let mut all = together.moved.iter().chain(&together.differing);
    all.find(|counter| counter.name == name)
}

/// Whether a counter grew, or fell, by `factor` at least.
fn changed(counter: &MovedCounter, factor: f64) -> bool {
    match counter.ratio() {
        Some(ratio) => ratio >= factor || ratio <= 1.0 / factor,
        None => true,
    }
}

fn telling<'p>(phase: &'p PhaseExplanation, name: &str) -> Option<&'p MovedCounter> {
    moved(phase, name).filter(|counter| changed(counter, TELLING))
}

fn reading(theme: Theme, slower: &str, text: String) -> Option<Reading> {
    Some(Reading {
        theme,
        text,
        slows_b: slower == "B",
    })
}

/// The side on which a counter is higher.
fn higher(counter: &MovedCounter) -> &'static str {
    if counter.b > counter.a { "B" } else { "A" }
}

/// The other side.
fn other(side: &str) -> &'static str {
    if side == "A" { "B" } else { "A" }
}

fn layout(phase: &PhaseExplanation) -> Option<Reading> {
    // What was written lies so afterwards, and nothing had to be sought.
    let change = phase.lie_change().filter(LieChange::is_telling);
    let change = change.filter(|_| phase.reads)?;
    let (a, b) = (&change.a, &change.b);
    let run = |bytes: f64| format_bytes(bytes.round() as u64);
    let woven = match a.interleave_ratio.zip(b.interleave_ratio) {
        Some((a, b)) => format!(", intermingled {a:.2} in A and {b:.2} in B"),
        None => String::new(),
    };
    let scattered = if change.is_b_more_scattered() {
        "B"
    } else {
        "A"
    };
    let text = format!(
        "the files lie in runs of {} in A and {} in B{woven}: consistent with more seeking for \
         each byte in {scattered}",
        run(a.run_bytes_mean),
        run(b.run_bytes_mean)
    );
    reading(Theme::Layout, scattered, text)
}

/// More was written to the device than asked, and a journal may have it.
fn written(phase: &PhaseExplanation) -> Option<Reading> {
    let written = telling(phase, "bytes written by the device")?;
    let more = written.a.max(written.b);
    if more < WRITTEN_TWICE {
        return None;
    }
    let side = higher(written);
    let facts = format!(
        "for each byte asked the device wrote {:.2} in A and {:.2} in B",
        written.a, written.b
    );
    let logged = telling(phase, "jbd2 blocks written to the journal");
    let same_way = |logged: &&MovedCounter| (logged.b > logged.a) == (written.b > written.a);
    if let Some(logged) = logged.filter(same_way) {
        let text = format!(
            "{facts}, and jbd2 wrote {:.0} blocks to its journal for each MiB in A and {:.0} in \
             B: consistent with data in {side} that go through the journal first and are then \
             written again (doubled writes)",
            logged.a, logged.b
        );
        return reading(Theme::JournaledData, side, text);
    }
    let text = format!(
        "{facts}: consistent with doubled writes in {side}, as by a journal or log that takes \
         data too, or by copies below the filesystem"
    );
    reading(Theme::WrittenMore, side, text)
}

fn cache(phase: &PhaseExplanation) -> Option<Reading> {
    let read = telling(phase, "bytes read by the device")?;
    let less = read.a.min(read.b);
    if less >= FROM_MEMORY || read.a.max(read.b) < 1.0 - FROM_MEMORY {
        return None;
    }
    let side = other(higher(read));
    let text = format!(
        "for each byte asked the device read {:.2} in A and {:.2} in B: consistent with more of \
         the answers in {side} from memory",
        read.a, read.b
    );
    reading(Theme::Cache, other(side), text)
}

fn merges(phase: &PhaseExplanation) -> Option<Reading> {
    let of_kind = |size, joined| Some((telling(phase, size)?, moved(phase, joined)));
    let (size, joined) = of_kind("size of a read", "reads joined to another")
        .or_else(|| of_kind("size of a write", "writes joined to another"))?;
    let of = |bytes: f64| format_bytes(bytes.round() as u64);
    let smaller = other(higher(size));
    let said = joined.map_or_else(String::new, |joined| {
        format!(
            ", and {} were {:.0} % and {:.0} %",
            joined.name, joined.a, joined.b
        )
    });
    // Where more of them were joined and they are smaller all the same, they began so.
    let way = match joined.map(higher) {
        Some(side) if side == smaller => "that begin smaller, or are cut",
        _ => "that are joined less, or cut",
    };
    let text = format!(
        "the {} was {} in A and {} in B{said}: consistent with requests in {smaller} {way}",
        size.name,
        of(size.a),
        of(size.b)
    );
    reading(Theme::Merges, smaller, text)
}

fn writeback(phase: &PhaseExplanation) -> Option<Reading> {
    let held = telling(phase, "time that writers were held back");
    if let Some(held) = held {
        let side = higher(held);
        let text = format!(
            "writers were held back for {:.2} ms a MiB in A and {:.2} ms in B: consistent with \
             dirty pages at their limit in {side}",
            held.a / 1e6,
            held.b / 1e6
        );
        return reading(Theme::Writeback, side, text);
    }
    let left = telling(phase, "dirty when it ended")?;
    let of = |bytes: f64| format_bytes(bytes.round() as u64);
    let text = format!(
        "{} were dirty at the end in A and {} in B: consistent with writing back at another \
         time, in part after the phase",
        of(left.a),
        of(left.b)
    );
    // What is left to write was not waited for.
    reading(Theme::Writeback, other(higher(left)), text)
}

fn reclaim(phase: &PhaseExplanation) -> Option<Reading> {
    let names = [
        "stalls to free memory",
        "waiting to free memory",
        "bytes read again after a drop",
    ];
    let much = |counter: &&MovedCounter| counter.a.max(counter.b) >= REFAULTED;
    let found = names
        .iter()
        .find_map(|name| telling(phase, name).filter(much))?;
    let side = higher(found);
    let text = format!(
        "{} moved: consistent with memory that is short in {side}",
        found.name
    );
    reading(Theme::Reclaim, side, text)
}

fn taken(phase: &PhaseExplanation) -> Option<Reading> {
    let found = ["CPU stolen", "waiting for a CPU"];
    let found = found.iter().find_map(|name| telling(phase, name))?;
    let side = higher(found);
    let text = format!(
        "`{}` moved: consistent with CPUs that were busy elsewhere in {side}",
        found.name
    );
    reading(Theme::CpuTaken, side, text)
}

fn cpu(phase: &PhaseExplanation) -> Option<Reading> {
    let spent = moved(phase, "CPU time of the process");
    let spent = spent.filter(|counter| changed(counter, TELLING_CPU))?;
    let (a, b) = (phase.times.0.as_ref()?, phase.times.1.as_ref()?);
    let side = higher(spent);
    let is_bound =
        |time: &super::TimeSplit| matches!(time.largest(), Some(Part::User | Part::System));
    let weighs = if is_bound(a) || is_bound(b) {
        "which is most of the time"
    } else {
        "which is less than half of the time"
    };
    let ratio = spent.ratio()?;
    let ratio = ratio.max(1.0 / ratio);
    let text = format!(
        "the same work took {ratio:.2} times the CPU time in {side}, {weighs}: consistent with \
         a longer way through the code there"
    );
    reading(Theme::Cpu, side, text)
}

fn queue(phase: &PhaseExplanation) -> Option<Reading> {
    let time = telling(phase, "time of a read").or_else(|| telling(phase, "time of a write"))?;
    let depth = telling(phase, "requests in the queue");
    let slower = higher(time);
    let facts = format!(
        "the {} was {} in A and {} in B",
        time.name,
        format_duration_ns(time.a).trim(),
        format_duration_ns(time.b).trim()
    );
    let text = match depth {
        Some(depth) if (depth.b > depth.a) == (time.b > time.a) => format!(
            "{facts} with {:.1} and {:.1} requests in the queue: consistent with waiting in a \
             fuller queue in {slower}",
            depth.a, depth.b
        ),
        _ => format!(
            "{facts} and the queue was no fuller: consistent with a device that takes longer \
             for such requests in {slower}"
        ),
    };
    reading(Theme::Queue, slower, text)
}
