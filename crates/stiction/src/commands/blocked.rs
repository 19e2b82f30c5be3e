//! Configurations in blocks: run, ended when there is enough, and compared with the first.

mod stop;

use std::time::Duration;

use stiction_analysis::Effects;
use stiction_analysis::compare::{CompareOptions, Matrix, Side, matrix};
use stiction_analysis::mixed::directions_apart;
use stiction_core::{Cell, Conditions, Level, Session, SessionOutcome, Setting, parse_duration_ns};
use stiction_host::Alterations;
use stiction_report::JunitRules;
use stiction_runner::blocks::{BlockOrder, Blocks, CONFIGURATION};
use stiction_runner::{Configuration, Study};
use stiction_suite::CommandLine;

use super::meant::Meant;
use super::measure::{self, Measured};
use super::{Desk, compare, plan, single};
use crate::arguments::{Blocking, OrderWord, Recording, ShownArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use stop::StopRule;

/// Blocks where nothing was said.
const BLOCKS: u32 = 10;
/// Blocks at most where a precision ends it.
const BLOCKS_PRECISE: u32 = 30;
/// Blocks of a calibration.
pub(super) const BLOCKS_CALIBRATION: u32 = 12;
/// Fewest blocks that a verdict may rest on.
const BLOCKS_VERDICT: u32 = 6;

/// One of the configurations.
pub(super) struct Ready {
    pub(super) name: String,
    /// Which workload and target it is of, where there are several.
    pub(super) at: Cell,
    /// Options of its workload that are factors.
    pub(super) varied: Vec<Setting>,
    pub(super) meant: Meant,
    /// What is changed on the machine for each of its trials.
    pub(super) alterations: Option<Alterations>,
    /// What its files and data are to be like.
    pub(super) conditions: Conditions,
    pub(super) prepare: Option<CommandLine>,
    pub(super) conclude: Option<CommandLine>,
}

impl Ready {
    fn configuration(&self) -> Configuration<'_> {
        Configuration {
            name: self.name.clone(),
            at: self.at.clone(),
            varied: self.varied.clone(),
            workload: &*self.meant.workload,
            places: &self.meant.places,
            command: self.meant.command.clone(),
            alterations: self.alterations.as_ref(),
            conditions: self.conditions.clone(),
            prepare: self.prepare.clone(),
            conclude: self.conclude.clone(),
            hook_limit: self.meant.hook_limit,
        }
    }
}

/// The factor of places that everything is run in.
pub(super) const TARGET: &str = "target";

/// What a session is about: the levels of a factor, the baseline first.
pub(super) struct Sides {
    factor: &'static str,
    levels: Vec<Level>,
}

impl Sides {
    /// The distinct levels, where there are several and nothing lacks one.
    fn of(factor: &'static str, all: Vec<Option<Level>>) -> Option<Self> {
        let mut levels: Vec<Level> = Vec::new();
        for level in all {
            let level = level?;
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        (levels.len() > 1).then_some(Self { factor, levels })
    }
}

/// What is run in blocks.
pub(super) struct Blocked {
    /// The baseline first.
    pub(super) all: Vec<Ready>,
    pub(super) blocking: Blocking,
    pub(super) recording: Recording,
    pub(super) shown: ShownArguments,
    /// The command as it is recorded.
    pub(super) command: Vec<String>,
    /// The smallest effects of interest of the comparison.
    pub(super) effects: Effects,
    pub(super) is_calibration: bool,
}

impl Blocked {
    /// Runs it and prints the comparison; of a single configuration what it came to.
    ///
    /// # Errors
    /// When nothing could be run, or the report cannot be printed.
    pub(super) fn run(&self, desk: &Desk<'_>) -> Result<Exit, Failure> {
        let Some(measured) = self.measure(desk)? else {
            return Ok(Exit::Done);
        };
        match self.sides() {
            None => single::conclude(&self.all, &measured, desk),
            Some(sides) => self.compare(&measured, &sides, desk),
        }
    }

    /// What is compared with its first level: the configurations, or else the targets;
    /// nothing where there is one of both.
    fn sides(&self) -> Option<Sides> {
        let names = self
            .all
            .iter()
            .map(|one| Some(Level::from(one.name.as_str())));
        let targets = self.all.iter().map(|one| one.at.get(TARGET).cloned());
        let configurations = Sides::of(CONFIGURATION, names.collect());
        configurations.or_else(|| Sides::of(TARGET, targets.collect()))
    }

    /// Runs it; nothing where only the plan was wanted, which is printed.
    ///
    /// # Errors
    /// When nothing could be run.
    pub(super) fn measure(&self, desk: &Desk<'_>) -> Result<Option<Measured>, Failure> {
        let mut rule = self.rule()?;
        let study = self.study(&rule);
        if self.blocking.dry_run {
            plan::print(&study, &self.recording, desk)?;
            return Ok(None);
        }
        if rule.blocks < BLOCKS_VERDICT && self.sides().is_some() {
            desk.console.say(&format!(
                "{} too few for a verdict, which needs {BLOCKS_VERDICT}; the figures are shown \
                 without one",
                match rule.blocks {
                    1 => "1 block is".to_owned(),
                    count => format!("{count} blocks are"),
                }
            ));
        }
        let talk = self.all[0].meant.talk;
        let command = self.command.clone();
        let measured = measure::run(&study, &self.recording, command, talk, &mut rule, desk)?;
        let end = measured.session.end.as_ref();
        if let Some(words) = end.and_then(|end| end.message.as_deref()) {
            desk.console.say(&match measured.session.can_go_on() {
                true => format!(
                    "Ended {words}. `{}` goes on with it.",
                    stiction_report::going_on(&measured.session.header.id)
                ),
                false => format!("Ended {words}."),
            });
        }
        Ok(Some(measured))
    }

    fn rule(&self) -> Result<StopRule, Failure> {
        let typed = &self.blocking;
        let budget = typed.budget.as_deref().map(parse_duration_ns).transpose()?;
        let usual = match (self.is_calibration, typed.looks, typed.until_precise) {
            (_, true, _) => stop::LOOKS_MOST,
            (_, _, Some(_)) => BLOCKS_PRECISE,
            (true, ..) => BLOCKS_CALIBRATION,
            _ => BLOCKS,
        };
        let percent = typed.until_precise.flatten();
        if percent.is_some_and(|percent| !(percent.is_finite() && percent > 0.0)) {
            return Err(Failure::new("--until-precise: give a percentage above 0"));
        }
        Ok(StopRule {
            blocks: typed.blocks.unwrap_or(usual),
            until_precise: typed.until_precise.is_some(),
            percent,
            looks: typed.looks,
            budget: budget.map(Duration::from_nanos),
            sides: self.sides().unwrap_or_else(|| Sides {
                factor: CONFIGURATION,
                levels: vec![Level::from(self.all[0].name.as_str())],
            }),
        })
    }

    fn study(&self, rule: &StopRule) -> Study<'_> {
        Study {
            configurations: self.all.iter().map(Ready::configuration).collect(),
            preparation: stiction_core::Preparation::default(),
            blocks: Some(Blocks {
                count: rule.blocks,
                order: match self.blocking.order {
                    OrderWord::Random => BlockOrder::Random,
                    OrderWord::Abba => BlockOrder::Abba,
                },
                stop: rule.parameters(),
                is_calibration: self.is_calibration,
            }),
        }
    }

    fn compare(
        &self,
        measured: &Measured,
        sides: &Sides,
        desk: &Desk<'_>,
    ) -> Result<Exit, Failure> {
        if !measured.has_run() {
            return single::conclude(&self.all, measured, desk);
        }
        let session = directions_apart(measured.session.clone());
        let options = CompareOptions {
            effects: self.effects,
            ..CompareOptions::default()
        };
        let matrix = compared(&session, sides, &options);
        let rules = JunitRules::default();
        let mut text = String::new();
        if compare::is_read_by_a_person(&self.shown, desk.console) {
            text += &compare::coverage([&measured.session].into_iter(), desk.console);
        }
        text += &compare::text(&matrix, &self.shown, rules, desk.console);
        let exit = measured.conclude(&text, desk)?;
        let is_whole = measured.is_whole();
        let completed = measured.outcome() == Some(SessionOutcome::Completed);
        Ok(if completed && is_whole {
            compare::exit(matrix.outcome())
        } else {
            exit
        })
    }
}

/// The levels of the factor that a session is about, each held against the first.
pub(super) fn compared(session: &Session, sides: &Sides, options: &CompareOptions) -> Matrix {
    let side = |level: &Level| Side::at_level(session, sides.factor, level);
    let sides: Vec<Side<'_>> = sides.levels.iter().map(side).collect();
    let (baseline, candidates) = sides.split_first().expect("at least one configuration");
    matrix(baseline, candidates, options)
}
