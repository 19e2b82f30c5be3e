//! How the runs of one pair make blocks: what counts as one repetition, which
//! repetitions of both sides belong together, and what keeps their order from being
//! known.

use std::collections::BTreeMap;

use stiction_core::{Digest, Provenance, Session, SessionId};

use super::order::{Order, order};
use super::pairing::{Pair, Run};
use super::replication::{RunOrder, Unit};
use super::side::begun;

/// One repetition of each side, close in time: places in the pair's lists of runs.
/// Several runs of a side are one repetition and are averaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) a: Vec<usize>,
    pub(super) b: Vec<usize>,
}

/// How the runs of one pair make blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Design {
    pub(super) unit: Unit,
    pub(super) order: RunOrder,
    /// In the order of time; none where runs are not interleaved.
    pub(super) blocks: Vec<Block>,
    /// The repetitions of each side, each with its runs.
    pub(super) units: (Vec<Vec<usize>>, Vec<Vec<usize>>),
    /// Blocks that lack a side: recorded ones, or the last of those that the order shows.
    pub(super) unfinished: u32,
    /// Why nothing is known of the order, if so.
    pub(super) trouble: Option<String>,
}

impl Design {
    /// How the runs of `pair` make blocks, where `unit` is what a repetition has to be
    /// at least: a run, a boot or a machine.
    pub(super) fn of(pair: &Pair<'_>, unit: Unit) -> Self {
        let sessions = sessions_of(pair);
        let imported = |session: &&Session| session.header.provenance != Provenance::Measured;
        if sessions.iter().any(imported) {
            return Self::without_order(pair, unit, None);
        }
        if unit == Unit::Run && sessions.iter().all(|session| has_both(pair, session)) {
            return Self::inside(pair, &sessions);
        }
        if let Some(trouble) = clock_trouble(&sessions) {
            return Self::without_order(pair, unit, Some(trouble));
        }
        let found = Self::across(pair, unit);
        if unit != Unit::Run || found.order != RunOrder::NotInterleaved {
            return found;
        }
        let by_session = Self::across(pair, Unit::Session);
        let alternate = by_session.order != RunOrder::NotInterleaved && by_session.blocks.len() > 1;
        if alternate { by_session } else { found }
    }

    /// Blocks inside sessions that each have both sides.
    fn inside(pair: &Pair<'_>, sessions: &[&Session]) -> Self {
        let mut found = Self::without_order(pair, Unit::Run, None);
        let mut recorded = true;
        for session in sessions {
            let a = of_session(&pair.a, session);
            let b = of_session(&pair.b, session);
            let blocks = match recorded_blocks(pair, &a, &b) {
                Some((blocks, unfinished)) => {
                    found.unfinished += unfinished;
                    blocks
                }
                None => {
                    recorded = false;
                    match ordered(&pair.a, &a, &pair.b, &b) {
                        Some(blocks) => {
                            found.unfinished += (a.len() + b.len() - 2 * blocks.len()) as u32;
                            blocks
                        }
                        None => return Self::without_order(pair, Unit::Run, None),
                    }
                }
            };
            found.blocks.extend(blocks);
        }
        found.order = if recorded {
            // Whoever recorded the blocks drew their order at random.
            RunOrder::Interleaved
        } else {
            either_first(pair, &found.blocks)
        };
        found
    }

    /// Blocks of repetitions that lie apart, paired as they followed one another.
    fn across(pair: &Pair<'_>, unit: Unit) -> Self {
        let mut found = Self::without_order(pair, unit, None);
        let (units_a, units_b) = &found.units;
        let starts = |runs: &[Run<'_>], units: &[Vec<usize>]| -> Vec<Option<Moment>> {
            let first = |unit: &Vec<usize>| unit.iter().map(|&index| moment(&runs[index])).min();
            units.iter().map(first).collect()
        };
        let (starts_a, starts_b) = (starts(&pair.a, units_a), starts(&pair.b, units_b));
        let mut all: Vec<&Option<Moment>> = starts_a.iter().chain(&starts_b).collect();
        all.sort();
        let ranks = |starts: &[Option<Moment>]| -> Vec<usize> {
            let rank = |start| all.iter().position(|other| *other == start);
            starts.iter().filter_map(rank).collect()
        };
        let (ranks_a, ranks_b) = (ranks(&starts_a), ranks(&starts_b));
        let at = |ranks: &[usize], rank| ranks.iter().position(|&other| other == rank);
        let pick = |(a, b): (usize, usize)| {
            Some(Block {
                a: units_a[at(&ranks_a, a)?].clone(),
                b: units_b[at(&ranks_b, b)?].clone(),
            })
        };
        let (order, blocks) = match order(&ranks_a, &ranks_b) {
            Order::Blocks(blocks) => (RunOrder::Interleaved, blocks),
            Order::OneSideFirst(blocks) => (RunOrder::OneSideFirst, blocks),
            Order::Batched => (RunOrder::NotInterleaved, Vec::new()),
        };
        found.blocks = blocks.into_iter().filter_map(pick).collect();
        if order != RunOrder::NotInterleaved {
            let repetitions = units_a.len() + units_b.len();
            found.unfinished = (repetitions - 2 * found.blocks.len()) as u32;
        }
        found.order = order;
        found
    }

    fn without_order(pair: &Pair<'_>, unit: Unit, trouble: Option<String>) -> Self {
        Self {
            unit,
            order: RunOrder::NotInterleaved,
            blocks: Vec::new(),
            units: (units(&pair.a, unit), units(&pair.b, unit)),
            unfinished: 0,
            trouble,
        }
    }
}

/// The runs of each repetition, in the order of time.
fn units(runs: &[Run<'_>], unit: Unit) -> Vec<Vec<usize>> {
    let key = |index: usize| -> Key {
        let Run { session, trial, .. } = runs[index];
        match unit {
            Unit::Run => Key::Run(index),
            Unit::Session => Key::Session(session.header.id.clone()),
            Unit::Boot => {
                let kernel = session.environment_of(trial).kernel.as_ref();
                Key::Boot(kernel.and_then(|kernel| kernel.boot.clone()))
            }
            Unit::Machine => Key::Machine(machine(session)),
        }
    };
    let mut found: Vec<(Key, Vec<usize>)> = Vec::new();
    for index in 0..runs.len() {
        let key = key(index);
        match found.iter_mut().find(|(other, _)| *other == key) {
            Some((_, members)) => members.push(index),
            None => found.push((key, vec![index])),
        }
    }
    found.into_iter().map(|(_, members)| members).collect()
}

/// What tells repetitions apart. Boots that were not recorded may all be one.
#[derive(PartialEq)]
enum Key {
    Run(usize),
    Session(SessionId),
    Boot(Option<Digest>),
    Machine(Vec<String>),
}

/// What a machine is known by.
fn machine(session: &Session) -> Vec<String> {
    let environment = &session.header.environment;
    let mut known: Vec<String> = environment.host_name.iter().cloned().collect();
    known.extend(environment.cpu.as_ref().map(|cpu| cpu.model.clone()));
    let memory = environment.memory.as_ref();
    known.extend(memory.map(|memory| memory.total_bytes.to_string()));
    known
}

/// By which runs are put in order: when they began, ns since 1970, and where that does
/// not tell them apart, their session and place.
pub(super) type Moment = (i128, SessionId, usize);

/// When a run began.
pub(super) fn moment(run: &Run<'_>) -> Moment {
    let (started, _) = begun(run.session);
    let began = started + i128::from(run.trial.start_ns);
    (began, run.session.header.id.clone(), run.place)
}

/// The sessions of a pair, in the order of time.
fn sessions_of<'a>(pair: &Pair<'a>) -> Vec<&'a Session> {
    let mut found: Vec<&Session> = Vec::new();
    for run in pair.a.iter().chain(&pair.b) {
        if !found.iter().any(|other| is(other, run.session)) {
            found.push(run.session);
        }
    }
    found.sort_by_key(|&session| begun(session));
    found
}

fn is(session: &Session, other: &Session) -> bool {
    session.header.id == other.header.id
}

fn has_both(pair: &Pair<'_>, session: &Session) -> bool {
    let has = |runs: &[Run<'_>]| runs.iter().any(|run| is(run.session, session));
    has(&pair.a) && has(&pair.b)
}

fn of_session(runs: &[Run<'_>], session: &Session) -> Vec<usize> {
    let here = |&index: &usize| is(runs[index].session, session);
    (0..runs.len()).filter(here).collect()
}

/// The blocks that the session recorded, and how many lack a side; `None` where some
/// run belongs to none.
fn recorded_blocks(pair: &Pair<'_>, a: &[usize], b: &[usize]) -> Option<(Vec<Block>, u32)> {
    let mut by_number: BTreeMap<u32, Block> = BTreeMap::new();
    let empty = || Block {
        a: Vec::new(),
        b: Vec::new(),
    };
    for &index in a {
        let number = pair.a[index].trial.block?;
        by_number.entry(number).or_insert_with(empty).a.push(index);
    }
    for &index in b {
        let number = pair.b[index].trial.block?;
        by_number.entry(number).or_insert_with(empty).b.push(index);
    }
    let all = by_number.len();
    let whole = by_number.into_values();
    let blocks: Vec<Block> = whole
        .filter(|block| !block.a.is_empty() && !block.b.is_empty())
        .collect();
    let unfinished = (all - blocks.len()) as u32;
    Some((blocks, unfinished))
}

/// The blocks that the order of the runs in one session shows.
fn ordered(runs_a: &[Run<'_>], a: &[usize], runs_b: &[Run<'_>], b: &[usize]) -> Option<Vec<Block>> {
    let places = |runs: &[Run<'_>], members: &[usize]| -> Vec<usize> {
        members.iter().map(|&index| runs[index].place).collect()
    };
    let blocks = match order(&places(runs_a, a), &places(runs_b, b)) {
        Order::Blocks(blocks) | Order::OneSideFirst(blocks) => blocks,
        Order::Batched => return None,
    };
    let at = |runs: &[Run<'_>], members: &[usize], place: usize| {
        members
            .iter()
            .copied()
            .find(|&index| runs[index].place == place)
    };
    let pick = |(place_a, place_b)| {
        Some(Block {
            a: vec![at(runs_a, a, place_a)?],
            b: vec![at(runs_b, b, place_b)?],
        })
    };
    blocks.into_iter().map(pick).collect()
}

/// Whether either side came first in some block.
fn either_first(pair: &Pair<'_>, blocks: &[Block]) -> RunOrder {
    let a_first = |block: &&Block| {
        let start = |runs: &[Run<'_>], members: &[usize]| {
            members.iter().map(|&index| runs[index].place).min()
        };
        start(&pair.a, &block.a) < start(&pair.b, &block.b)
    };
    let count = blocks.iter().filter(a_first).count();
    if count == 0 || count == blocks.len() {
        RunOrder::OneSideFirst
    } else {
        RunOrder::Interleaved
    }
}

/// Why the times of these sessions, in their order, cannot be trusted.
fn clock_trouble(sessions: &[&Session]) -> Option<String> {
    for session in sessions {
        let id = &session.header.id;
        let ended_first = session
            .end
            .as_ref()
            .is_some_and(|end| end.at < session.header.started);
        let starts = session.trials.iter().map(|trial| trial.start_ns);
        if ended_first || !starts.is_sorted() {
            return Some(format!("the clock went back during session {id}"));
        }
    }
    sessions.windows(2).find_map(|neighbours| {
        let [first, second] = neighbours else {
            return None;
        };
        let began = second.header.started.as_nanosecond();
        (began < last_seen(first)).then(|| {
            let (first, second) = (&first.header.id, &second.header.id);
            format!(
                "sessions {first} and {second} overlap in time: a clock went back, or they ran at \
                 once"
            )
        })
    })
}

/// The last moment that a session is known to have been running, ns since 1970.
fn last_seen(session: &Session) -> i128 {
    let started = session.header.started.as_nanosecond();
    let last = session.trials.last().map_or(0, |trial| trial.start_ns);
    let ended = session.end.as_ref().map(|end| end.at.as_nanosecond());
    ended.unwrap_or(started + i128::from(last))
}
