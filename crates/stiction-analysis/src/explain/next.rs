//! The next run: the one that would show whether a reading is right.

use stiction_core::{Session, Setting};

use super::attribution::Attribution;
use super::phase::PhaseExplanation;
use super::reading::Theme;
use super::surroundings::Likely;
use crate::compare::{RunOrder, Side};
use crate::estimate::plan::FEWEST_BLOCKS;

/// Runs proposed at most.
const MOST: usize = 4;
const MIB: u64 = 1 << 20;
/// Ways tried at most.
const WAYS: usize = 2;
/// Blocks that a proposed comparison runs.
const BLOCKS: u32 = 10;
/// Less than this is no likely reason to try it alone.
const WEIGHT_MIN: u32 = 20;

/// A run, and what it would show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextRun {
    /// A command line, or what to do where no command does it.
    pub what: String,
    /// Whether `what` is a command line.
    pub is_command: bool,
    /// What it would show, without a final full stop.
    pub shows: String,
}

impl NextRun {
    fn command(what: String, shows: impl Into<String>) -> Self {
        Self {
            what,
            is_command: true,
            shows: shows.into(),
        }
    }

    fn deed(what: impl Into<String>, shows: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            is_command: false,
            shows: shows.into(),
        }
    }
}

/// After one side was looked at.
pub(super) fn of_one(side: &Side<'_>, phases: &[PhaseExplanation]) -> Vec<NextRun> {
    let Some(work) = Work::of(side) else {
        return Vec::new();
    };
    let mut next = Vec::new();
    let is_profiled = phases
        .iter()
        .any(|phase| phase.symbols != super::Symbols::Unseen);
    if !is_profiled {
        next.push(NextRun::command(
            format!("stiction {} --witness full", work.words()),
            "where CPUs were, how long the device took for each request, and who was held back \
             by writeback",
        ));
    }
    next
}

/// After two sides were held against each other.
pub(super) fn of_both(
    a: &Side<'_>,
    b: &Side<'_>,
    attribution: &Attribution,
    differs: &[Likely],
    phases: &[PhaseExplanation],
) -> Vec<NextRun> {
    let (of_a, of_b) = (Work::of(a), Work::of(b));
    let mut next = Vec::new();
    let is_one_thing = attribution.one_thing().is_some();
    let themes = themes(phases);
    if !is_one_thing {
        next.extend(of_b.iter().flat_map(|work| one_by_one(work, differs)));
    }
    let ways = themes.into_iter();
    let ways = ways.filter_map(|theme| intervention(theme, of_a.as_ref(), of_b.as_ref()));
    next.extend(ways.take(WAYS));
    if !is_one_thing {
        next.extend(not_settable(differs));
    }
    let fewest = phases.iter().map(|phase| phase.runs.0.min(phase.runs.1));
    let is_thin = fewest.min().is_some_and(|runs| runs < FEWEST_BLOCKS);
    let is_apart = attribution.order != RunOrder::Interleaved;
    if is_thin || is_apart || next.is_empty() {
        let (blocks, shows) = if is_thin || is_apart {
            (
                BLOCKS,
                "the same in blocks, so that counters can be tested and drift cannot take sides",
            )
        } else {
            (
                2 * BLOCKS,
                "the same with more blocks: smaller differences, and counters that move less",
            )
        };
        let both = of_a.as_ref().zip(of_b.as_ref());
        next.extend(both.and_then(|(a, b)| again(a, b, blocks, shows)));
    }
    dedup(&mut next);
    next.truncate(MOST);
    next
}

fn dedup(next: &mut Vec<NextRun>) {
    let mut seen: Vec<String> = Vec::new();
    next.retain(|one| {
        let is_new = !seen.contains(&one.what);
        seen.push(one.what.clone());
        is_new
    });
}

/// The themes of all readings, each once: those of the phase that differs most come first,
/// since a run that shows nothing of it is no help.
fn themes(phases: &[PhaseExplanation]) -> Vec<Theme> {
    let apart = |phase: &PhaseExplanation| {
        let ratio = phase.score.as_ref().and_then(super::Score::ratio);
        ratio.map_or(0.0, |ratio| ratio.ln().abs())
    };
    let mut by_effect: Vec<&PhaseExplanation> = phases.iter().collect();
    by_effect.sort_by(|a, b| apart(b).total_cmp(&apart(a)));
    let mut themes = Vec::new();
    for reading in by_effect.iter().flat_map(|phase| &phase.readings) {
        if !themes.contains(&reading.theme) {
            themes.push(reading.theme);
        }
    }
    themes
}

/// What a side ran: the benchmark with its words, and what was set on the machine.
struct Work {
    words: Vec<String>,
    /// Where; a command of the user's has none.
    place: Option<String>,
    settings: Vec<Setting>,
    /// The option for what its settings were tried on.
    scratch: Option<String>,
}

impl Work {
    /// `None` of tables that were imported, and of commands.
    fn of(side: &Side<'_>) -> Option<Self> {
        let session = side.sessions().first()?;
        let plan = session.header.plan.as_ref()?;
        let configuration = side.configuration();
        let told = configuration.and_then(|one| one.get("command")?.as_str());
        let words: Vec<String> = match told {
            Some(text) => text.split(' ').map(str::to_owned).collect(),
            None => session.header.command.clone(),
        };
        let first = words.first().is_some_and(|word| word == "stiction");
        let words = words[usize::from(first)..].to_vec();
        if plan.workload == "command" || words.first() != Some(&plan.workload) {
            return None;
        }
        Some(Self {
            words,
            place: place(session),
            settings: side.settings(),
            scratch: configuration.and_then(scratch),
        })
    }

    /// The benchmark's words, with its place.
    fn words(&self) -> String {
        let mut words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        let is_said = self.words.iter().any(|word| {
            let is_option = word.starts_with("--dir") || word.starts_with("--target");
            is_option || Some(word) == self.place.as_ref()
        });
        if let Some(place) = self.place.as_ref().filter(|_| !is_said) {
            let first = self.words.first().map(String::as_str);
            if matches!(first, Some("tiobench" | "fio")) {
                words.push("--dir".to_owned());
            }
            words.push(quoted(place));
        }
        words.join(" ")
    }

    /// `stiction ab` with settings for both sides, and others for each.
    fn ab(&self, common: &[Setting], a: &[Setting], b: &[Setting]) -> String {
        let mut line = format!("stiction ab --blocks {BLOCKS}");
        if let Some(option) = &self.scratch {
            line.push_str(&format!(" {option}"));
        }
        for (option, settings) in [("--set", common), ("--a-set", a), ("--b-set", b)] {
            for setting in settings {
                line.push_str(&format!(" {option} {}", quoted(&setting.to_string())));
            }
        }
        let mut all = common.iter().chain(a).chain(b);
        if all.any(Setting::is_of_whole_machine) {
            line.push_str(" --global-settings");
        }
        format!("{line} {}", self.words())
    }

    fn level(&self, factor: &str) -> Option<&str> {
        let mut settings = self.settings.iter();
        let setting = settings.find(|setting| setting.factor == factor)?;
        Some(&setting.level)
    }

    fn without(&self, factor: &str) -> Vec<Setting> {
        let others = self.settings.iter().filter(|one| one.factor != factor);
        others.cloned().collect()
    }

    /// B as it is against B with one factor at another level.
    fn against(&self, factor: &str, level: &str) -> String {
        let as_it_is = self.level(factor).map(|level| Setting::new(factor, level));
        let as_it_is: Vec<Setting> = as_it_is.into_iter().collect();
        let other = [Setting::new(factor, level)];
        self.ab(&self.without(factor), &as_it_is, &other)
    }
}

/// The option that gives a configuration what it stood on. The serial of a device that was
/// handed over is not kept: who runs it again states it again.
fn scratch(configuration: &serde_json::Value) -> Option<String> {
    if let Some(device) = configuration.get("scratch_device") {
        return Some(format!("--scratch {}=SERIAL", quoted(device.as_str()?)));
    }
    let bytes = configuration.get("scratch_bytes")?.as_u64()?;
    Some(format!("--scratch-size {}", sized(bytes)))
}

/// A size as options take it.
fn sized(bytes: u64) -> String {
    match bytes / MIB {
        mib if mib > 0 && bytes.is_multiple_of(MIB) => format!("{mib}MiB"),
        _ => bytes.to_string(),
    }
}

/// The place of a session that has one.
fn place(session: &Session) -> Option<String> {
    match &session.header.environment.targets[..] {
        [one] => Some(one.path.clone()),
        _ => None,
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Each likely difference that stiction can set, alone.
fn one_by_one(work: &Work, differs: &[Likely]) -> Vec<NextRun> {
    let settable = differs.iter().filter(|likely| likely.weight >= WEIGHT_MIN);
    settable
        .filter_map(|likely| {
            let factor = likely.factor.as_ref()?;
            let (a, b) = (&likely.difference.a, &likely.difference.b);
            let level = |value: &str| (value != "not set").then(|| in_force(factor, value));
            let (a, b) = (level(a)?, level(b)?);
            let line = work.ab(
                &work.without(factor),
                &[Setting::new(factor.as_str(), a)],
                &[Setting::new(factor.as_str(), b)],
            );
            let shows = format!("whether the difference goes with {factor} alone");
            Some(NextRun::command(line, shows))
        })
        .take(2)
        .collect()
}

/// The level of a factor in what the kernel shows: the scheduler in brackets.
fn in_force(factor: &str, value: &str) -> String {
    let bracketed = value
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    match bracketed {
        Some((level, _)) if factor == "scheduler" => level.to_owned(),
        _ => value.to_owned(),
    }
}

/// Differences that no setting makes.
fn not_settable(differs: &[Likely]) -> Option<NextRun> {
    let likely = differs.iter().find(|likely| likely.factor.is_none())?;
    if likely.weight < WEIGHT_MIN {
        return None;
    }
    let key = &likely.difference.key;
    let what = if key.starts_with("kernel") {
        "Boot each kernel in turn, several times, and run the same command with `--label` naming \
         it; then `stiction compare --col kernel`"
            .to_owned()
    } else {
        format!("Run both sides again with {key} the same on both, and nothing else changed")
    };
    let shows = format!("whether the difference goes with {key}");
    Some(NextRun::deed(what, shows))
}

/// A third arm: B with the way that a reading speaks of taken away.
fn intervention(theme: Theme, a: Option<&Work>, b: Option<&Work>) -> Option<NextRun> {
    if theme == Theme::Layout {
        return Some(written_anew());
    }
    let (a, b) = a.zip(b)?;
    let shows = |what: &str| format!("if the effect goes by {what}, it goes with it");
    match theme {
        Theme::JournaledData | Theme::WrittenMore => {
            let options = |work: &Work| work.level("mount_options").unwrap_or_default().to_owned();
            let is_journaled = |work: &Work| options(work).contains("data=journal");
            // Where A was in order, every block has taken that back already.
            if is_journaled(b) && is_journaled(a) {
                let ordered = options(b).replace("data=journal", "data=ordered");
                let line = b.against("mount_options", &ordered);
                let what = "data written through the journal";
                return Some(NextRun::command(line, shows(what)));
            }
            let is_ext = b
                .level("filesystem")
                .is_none_or(|kind| kind.starts_with("ext"));
            is_ext.then(|| {
                let line = b.against("journal", "external");
                NextRun::command(line, shows("a journal on the same device"))
            })
        }
        Theme::Merges => {
            let line = b.against("nomerges", "2");
            Some(NextRun::command(
                line,
                "what joining requests is worth on B",
            ))
        }
        Theme::Writeback => {
            let line = b.against("dirty_limit", "64MiB");
            Some(NextRun::command(line, shows("how much may be dirty")))
        }
        Theme::Reclaim => Some(NextRun::command(
            b.against("memory", "1GiB"),
            "what memory is worth on B",
        )),
        Theme::Cache => Some(NextRun::deed(
            format!(
                "stiction {} with O_DIRECT (--direct), or with files larger than memory",
                b.words()
            ),
            shows("what is in memory"),
        )),
        Theme::Cpu => Some(NextRun::command(
            format!("stiction {} --witness full", b.words()),
            "which functions the CPU time is in; `stiction explain` then lists those that \
             gained and lost",
        )),
        Theme::Layout | Theme::Queue | Theme::CpuTaken => None,
    }
}

/// The layout, taken away.
fn written_anew() -> NextRun {
    NextRun::deed(
        "Copy the files of the slower side one after the other (`cp --sparse=never OLD NEW`, then \
         `stiction layout NEW...` should show whole runs), and read OLD and NEW in blocks: \
         `stiction ab -- stiction time-read OLD --- stiction time-read NEW`",
        "if the effect goes by where the files lie, it goes with it",
    )
}

/// The same again, in blocks.
fn again(a: &Work, b: &Work, blocks: u32, shows: &str) -> Option<NextRun> {
    if a.words != b.words || a.place != b.place {
        let what = "Run both sides in blocks of one session: `stiction run SPEC.toml` with a \
                    [[configuration]] for each (docs/run.md)";
        return Some(NextRun::deed(what, shows));
    }
    let is_common = |setting: &&Setting| b.settings.contains(setting);
    let common: Vec<Setting> = a.settings.iter().filter(is_common).cloned().collect();
    let own = |work: &Work| -> Vec<Setting> {
        let own = work.settings.iter().filter(|one| !common.contains(one));
        own.cloned().collect()
    };
    let (own_a, own_b) = (own(a), own(b));
    if own_a.is_empty() && own_b.is_empty() {
        return None;
    }
    let line = a.ab(&common, &own_a, &own_b);
    let line = line.replace(
        &format!("--blocks {BLOCKS} "),
        &format!("--blocks {blocks} "),
    );
    Some(NextRun::command(line, shows))
}
