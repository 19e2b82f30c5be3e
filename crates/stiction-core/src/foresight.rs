//! What a session would do, looked at before it is run.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Cell, Environment, Estimate, Layer, LayerKind, Plan, PlannedTrial, PreparationEstimate,
    SkipReason, TargetStack,
};

/// A plan with what can be known of it on this machine, which was looked at for it and
/// not changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Foresight {
    /// The plan.
    pub plan: Plan,
    /// The machine, with what stands under the places now.
    pub environment: Environment,
    /// What each trial is one of.
    pub parts: Vec<ForeseenPart>,
    /// The trials, in the order in which they would run.
    pub trials: Vec<ForeseenTrial>,
    /// What preparing them takes at most; `None` where nothing is asked for.
    pub preparation: Option<PreparationEstimate>,
}

/// A configuration, at one workload and target where there are several.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeseenPart {
    /// The configuration's name.
    pub configuration: String,
    /// Which workload and target.
    pub at: Cell,
    /// The benchmark.
    pub workload: String,
    /// Its parameters, every choice made.
    pub parameters: serde_json::Value,
    /// Its places among the targets of the environment.
    pub places: Vec<usize>,
    /// Scratch space that is made in the directory for each of its trials, bytes.
    pub scratch_bytes: Option<u64>,
    /// What is changed on the machine for each of its trials, and undone after it, in
    /// order: a command, a mount, `FILE = VALUE`.
    pub changes: Vec<String>,
    /// Why it would be skipped here, as far as looking tells.
    pub obstacles: Vec<SkipReason>,
}

/// One trial to come.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeseenTrial {
    /// Where it stands in the matrix, and in which block.
    pub planned: PlannedTrial,
    /// Which of the parts it is of.
    pub part: usize,
    /// What it is expected to take.
    pub estimate: Estimate,
    /// Whether the time is that of the same trial in an earlier session.
    pub is_by_experience: bool,
}

impl Foresight {
    /// The trials that would run here.
    pub fn to_run(&self) -> impl Iterator<Item = &ForeseenTrial> {
        let runs = |trial: &&ForeseenTrial| self.parts[trial.part].obstacles.is_empty();
        self.trials.iter().filter(runs)
    }
}

/// Something that adds up over trials, of some of which it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// What is known, added up.
    pub sum: u64,
    /// How many trials it is known of.
    pub known: usize,
    /// How many it is not known of.
    pub unknown: usize,
}

impl Known {
    /// Of each of `all`.
    pub fn of(all: impl Iterator<Item = Option<u64>>) -> Self {
        all.fold(Self::default(), |so_far, one| match one {
            Some(value) => Self {
                sum: so_far.sum.saturating_add(value),
                known: so_far.known + 1,
                ..so_far
            },
            None => Self {
                unknown: so_far.unknown + 1,
                ..so_far
            },
        })
    }
}

impl Foresight {
    /// The disks that a part's writes reach, by their kernel names: below a loop device
    /// those that its file lies on. None in memory and on a network.
    #[must_use]
    pub fn disks_of(&self, part: &ForeseenPart) -> BTreeSet<String> {
        let targets = part
            .places
            .iter()
            .filter_map(|place| self.environment.targets.get(*place));
        targets.flat_map(disks).collect()
    }

    /// Bytes that trials write to each disk, without what filesystems write for
    /// themselves: the wear. What preparing writes is not in it.
    #[must_use]
    pub fn wear(&self) -> BTreeMap<String, Known> {
        let mut all: BTreeMap<String, Vec<Option<u64>>> = BTreeMap::new();
        let disks: Vec<BTreeSet<String>> =
            self.parts.iter().map(|part| self.disks_of(part)).collect();
        for trial in self.to_run() {
            for disk in &disks[trial.part] {
                let own = all.entry(disk.clone()).or_default();
                own.push(trial.estimate.written_bytes);
            }
        }
        let known = |(disk, all): (String, Vec<Option<u64>>)| (disk, Known::of(all.into_iter()));
        all.into_iter().map(known).collect()
    }

    /// Most space that a trial takes in the directory of each target, bytes, by its path:
    /// the scratch space, or else the files.
    #[must_use]
    pub fn space(&self) -> BTreeMap<String, Option<u64>> {
        let mut all: BTreeMap<String, Option<u64>> = BTreeMap::new();
        for trial in self.to_run() {
            let part = &self.parts[trial.part];
            let own = part.scratch_bytes.or(trial.estimate.space_bytes);
            for place in &part.places {
                let Some(target) = self.environment.targets.get(*place) else {
                    continue;
                };
                let known = all.entry(target.path.clone()).or_insert(Some(0));
                *known = known.zip(own).map(|(known, own)| known.max(own));
            }
        }
        all
    }
}

/// The disks at the bottom of a stack.
fn disks(stack: &TargetStack) -> Vec<String> {
    let backing = stack
        .layers
        .iter()
        .filter_map(|layer| layer.backing.as_deref());
    let below: Vec<String> = backing.flat_map(disks).collect();
    if !below.is_empty() {
        return below;
    }
    // Of devices over several all are listed; what is above them holds nothing itself.
    let whole = |layer: &&Layer| layer.kind == LayerKind::Disk;
    let disks: Vec<String> = stack
        .layers
        .iter()
        .filter(whole)
        .map(|layer| layer.name.clone())
        .collect();
    if disks.is_empty() {
        return stack
            .layers
            .last()
            .map(|layer| layer.name.clone())
            .into_iter()
            .collect();
    }
    disks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn wear_is_what_trials_write_to_disks_that_can_be_run() {
        let layer = |name: &str, kind: &str| {
            serde_json::json!({
                "name": name, "kind": kind, "device_number": [0, 0], "size_bytes": 0,
                "logical_block_size_bytes": 0, "physical_block_size_bytes": 0, "queue": {},
            })
        };
        let layers = [layer("vda1", "partition"), layer("vda", "disk")];
        let stack = serde_json::json!({ "path": "/d", "layers": layers });
        let stack: TargetStack = serde_json::from_value(stack).unwrap();
        let part = |obstacles| ForeseenPart {
            configuration: "a".to_owned(),
            at: Cell::new(),
            workload: "quick".to_owned(),
            parameters: serde_json::Value::Null,
            places: vec![0],
            scratch_bytes: None,
            changes: Vec::new(),
            obstacles,
        };
        let trial = |part, written_bytes| ForeseenTrial {
            planned: PlannedTrial::new(Cell::new(), 0),
            part,
            estimate: Estimate {
                written_bytes,
                space_bytes: Some(9),
                ..Estimate::UNKNOWN
            },
            is_by_experience: false,
        };
        let skipped = SkipReason::new(crate::SkipCode::NotSupported, "no");
        let foresight = Foresight {
            plan: Plan {
                workload: "quick".to_owned(),
                parameters: serde_json::Value::Null,
                seed: Seed(1),
                preparation: crate::Preparation::default(),
                trials: Vec::new(),
            },
            environment: Environment {
                targets: vec![stack],
                ..Environment::default()
            },
            parts: vec![part(Vec::new()), part(vec![skipped])],
            trials: vec![
                trial(0, Some(5)),
                trial(0, Some(7)),
                trial(0, None),
                trial(1, Some(100)),
            ],
            preparation: None,
        };
        let expected = Known {
            sum: 12,
            known: 2,
            unknown: 1,
        };
        assert_eq!(
            foresight.wear(),
            BTreeMap::from([("vda".to_owned(), expected)])
        );
        let space = BTreeMap::from([("/d".to_owned(), Some(9))]);
        assert_eq!(foresight.space(), space);
    }
}
