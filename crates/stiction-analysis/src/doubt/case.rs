//! One phase laid out for the rules: what was asked, and what each witness says.

use stiction_core::{
    Action, Caveat, CaveatCode, Direction, Environment, Job, Layer, Phase, Recording, TargetStack,
    Witnesses, metrics,
};

use super::without_numbers;

/// A phase with numbers, and everything the rules look at.
pub(super) struct Case<'a> {
    pub(super) phase: &'a Phase,
    pub(super) job: Option<&'a Job>,
    pub(super) witnesses: &'a Witnesses,
    pub(super) environment: &'a Environment,
    /// What the phase's target stands on; several when it cannot be told which.
    pub(super) stacks: Vec<&'a TargetStack>,
    /// Reads or writes; of a mix, what moved more.
    pub(super) way: Way,
    /// The operations of that way, over time; `None` when none were recorded.
    pub(super) recording: Option<&'a Recording>,
    /// Bytes that the job moved, by its own count.
    pub(super) asked_bytes: u64,
    /// Bytes that the job, and jobs beside it, moved the other way.
    pub(super) asked_otherwise_bytes: u64,
    /// Bytes that jobs beside it moved the same way between the same readings.
    pub(super) beside_bytes: u64,
    /// Operations that the job completed.
    pub(super) operations: u64,
    /// Syncs that the job completed.
    pub(super) syncs: u64,
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

/// What the devices under the target did in the direction of the job.
pub(super) enum Moved {
    /// No counter of theirs could be read, for this reason.
    Unseen(String),
    /// They moved this many bytes.
    Bytes(u64),
}

impl<'a> Case<'a> {
    /// Lays out `phase`; refuses, with the reason, what has nothing to examine.
    pub(super) fn open(
        phase: &'a Phase,
        stacks: &[&'a TargetStack],
        environment: &'a Environment,
    ) -> Result<Self, String> {
        if let Some(reason) = without_numbers(phase) {
            return Err(reason);
        }
        let bytes = |direction| phase.recording(direction).map_or(0, Recording::bytes);
        let read = bytes(Direction::Read);
        let written = bytes(Direction::Write).max(bytes(Direction::Commit));
        let recorded = (read > 0 || written > 0).then_some(if written > read {
            Way::Write
        } else {
            Way::Read
        });
        let way = match (phase.job.as_ref().map(|job| job.action), recorded) {
            (Some(Action::Read), _) => Way::Read,
            (Some(Action::Write | Action::TrimWrite), _) => Way::Write,
            (Some(Action::Trim), _) => return Err("trims move no data".to_owned()),
            (Some(Action::Mixed { .. }) | None, Some(way)) => way,
            (Some(Action::Mixed { .. }), None) => return Err("nothing was moved".to_owned()),
            (None, None) => {
                let printed = phase.measurements.iter().any(|m| m.printed.is_some());
                let whole = phase.recording(Direction::Whole).is_some();
                return Err(if printed {
                    "no witness stood beside it: the figures are as printed".to_owned()
                } else if whole {
                    "files were worked on and no bytes of theirs were moved, so that the \
                     device's traffic says nothing of it"
                        .to_owned()
                } else {
                    "no I/O was recorded".to_owned()
                });
            }
        };
        let recording = match way {
            Way::Read => phase.recording(Direction::Read),
            Way::Write => phase
                .recording(Direction::Write)
                .or_else(|| phase.recording(Direction::Commit)),
        };
        let syncs = phase
            .recording(Direction::Sync)
            .map_or(0, Recording::operations);
        let asked_bytes =
            recording.map_or_else(|| total(phase, |worker| worker.bytes), Recording::bytes);
        if asked_bytes == 0 {
            return Err("nothing was moved".to_owned());
        }
        let beside = phase.witnesses.beside.unwrap_or_default();
        let (beside_bytes, beside_otherwise_bytes) = match way {
            Way::Read => (beside.read_bytes, beside.written_bytes),
            Way::Write => (beside.written_bytes, beside.read_bytes),
        };
        let operations = recording.map_or_else(
            || total(phase, |worker| worker.operations),
            Recording::operations,
        );
        Ok(Self {
            phase,
            job: phase.job.as_ref(),
            witnesses: &phase.witnesses,
            environment,
            stacks: stacks.to_vec(),
            way,
            beside_bytes,
            asked_otherwise_bytes: beside_otherwise_bytes
                + match way {
                    Way::Read => written,
                    Way::Write => read,
                },
            recording,
            asked_bytes,
            operations,
            syncs,
        })
    }

    /// `read` or `wrote`.
    pub(super) fn verb(&self) -> &'static str {
        match self.way {
            Way::Read => "read",
            Way::Write => "wrote",
        }
    }

    /// Names of the devices that were watched.
    pub(super) fn devices(&self) -> String {
        let names: Vec<&str> = self
            .witnesses
            .devices
            .iter()
            .map(|device| device.device.as_str())
            .collect();
        names.join(" and ")
    }

    /// Bytes that the devices moved in the direction of the job.
    pub(super) fn moved(&self) -> Moved {
        self.device_bytes(|device| match self.way {
            Way::Read => device.read_bytes,
            Way::Write => device.written_bytes,
        })
    }

    /// Bytes that the devices moved in the other direction, beyond what the job did
    /// that way itself.
    pub(super) fn moved_otherwise(&self) -> Moved {
        let moved = self.device_bytes(|device| match self.way {
            Way::Read => device.written_bytes,
            Way::Write => device.read_bytes,
        });
        match moved {
            Moved::Bytes(bytes) => Moved::Bytes(bytes.saturating_sub(self.asked_otherwise_bytes)),
            unseen @ Moved::Unseen(_) => unseen,
        }
    }

    fn device_bytes(&self, bytes: impl Fn(&stiction_core::DeviceTraffic) -> u64) -> Moved {
        let devices = &self.witnesses.devices;
        if devices.is_empty() {
            return Moved::Unseen("no counter of the device could be read".to_owned());
        }
        let uncounted = devices
            .iter()
            .find(|device| self.queue_setting(&device.device, "iostats") == Some("0"));
        if let Some(device) = uncounted {
            let name = &device.device;
            return Moved::Unseen(format!(
                "{name} does not count its traffic (queue/iostats is 0)"
            ));
        }
        Moved::Bytes(devices.iter().map(bytes).fold(0, u64::saturating_add))
    }

    /// Bytes that everything between the readings asked the devices to move in the
    /// direction of the job.
    pub(super) fn asked_together_bytes(&self) -> u64 {
        self.asked_bytes.saturating_add(self.beside_bytes)
    }

    /// The moved bytes over those asked together; `None` when no counter could be read.
    pub(super) fn moved_share(&self) -> Option<f64> {
        match self.moved() {
            Moved::Bytes(bytes) => Some(bytes as f64 / self.asked_together_bytes() as f64),
            Moved::Unseen(_) => None,
        }
    }

    /// A setting of `queue/` of a device.
    fn queue_setting(&self, device: &str, name: &str) -> Option<&str> {
        self.layers()
            .into_iter()
            .find(|layer| layer.name == device)
            .and_then(|layer| layer.queue.get(name))
            .map(|value| value.trim())
    }

    /// Every block device under the target, those under loop devices included.
    pub(super) fn layers(&self) -> Vec<&'a Layer> {
        let mut all = Vec::new();
        self.stacks
            .iter()
            .for_each(|stack| collect_layers(stack, &mut all));
        all
    }

    /// Bytes of the files or regions that the job works on; `None` when unknown.
    pub(super) fn region_bytes(&self) -> Option<u64> {
        let regions = self.job?.regions.iter();
        Some(
            regions
                .map(|region| region.length_bytes)
                .fold(0, u64::saturating_add),
        )
    }

    /// The most bytes that the job can have touched: each at least once if the
    /// order visits each block before it comes back to one.
    pub(super) fn touched_bytes(&self) -> u64 {
        self.region_bytes()
            .map_or(self.asked_bytes, |region| region.min(self.asked_bytes))
    }

    /// Whether O_DIRECT was asked for and granted.
    pub(super) fn is_direct(&self) -> bool {
        self.witnesses.direct_granted == Some(true)
    }

    /// Whether each write had to be durable, or all of them at the end of the phase.
    pub(super) fn is_synced(&self) -> bool {
        let durable = |job: &stiction_core::Job| job.writeback_every.is_none();
        self.syncs > 0 && self.job.is_none_or(durable)
            || self.job.is_some_and(|job| {
                job.sync_every.is_some()
                    || job.sync_at_end.is_some()
                    || job.write_sync != stiction_core::WriteSync::None
            })
    }

    /// Whether all that was written had to pass a write cache below the device: each
    /// write was synced by itself, or each block was written once before the sync at
    /// the end. Blocks written over and over before a sync meet in such a cache, and
    /// only the last of each goes on.
    pub(super) fn passes_caches_below(&self) -> bool {
        self.is_synced()
            && self.job.is_none_or(|job| {
                let each = job.sync_every.is_some_and(|every| every.writes == 1);
                each || job.once || job.write_sync != stiction_core::WriteSync::None
            })
    }

    /// Bytes per second, as reported, with those of jobs beside it: what a ceiling for
    /// all of them has to do with.
    pub(super) fn byte_rate(&self) -> f64 {
        let beside = self.witnesses.beside.unwrap_or_default();
        let beside = beside.read_bytes.saturating_add(beside.written_bytes);
        self.phase
            .value(&metrics::RATE)
            .unwrap_or_else(|| self.asked_bytes as f64 / self.elapsed_s())
            + beside as f64 / self.elapsed_s()
    }

    /// Operations per second, as reported, with those of jobs beside it.
    pub(super) fn operation_rate(&self) -> f64 {
        let beside = self.witnesses.beside.unwrap_or_default();
        let beside = beside.reads.saturating_add(beside.writes);
        self.phase
            .value(&metrics::OPERATION_RATE)
            .unwrap_or_else(|| self.operations as f64 / self.elapsed_s())
            + beside as f64 / self.elapsed_s()
    }

    /// Wall time, s; never 0.
    pub(super) fn elapsed_s(&self) -> f64 {
        self.phase.elapsed_ns.max(1) as f64 / 1e9
    }

    /// What could not be checked for want of a witness. A target in memory has no
    /// device whose witness could be missed.
    pub(super) fn missing_witnesses(&self) -> Option<Caveat> {
        if super::memory::filesystem_in_memory(self).is_some() {
            return None;
        }
        let mut missing = self.witnesses.missing.clone();
        if let (Moved::Unseen(why), true) = (self.moved(), missing.is_empty()) {
            missing.push(why);
        }
        let said = missing.join("; ");
        (!missing.is_empty()).then(|| Caveat::new(CaveatCode::WitnessMissing, said))
    }
}

/// What all workers did together.
fn total(phase: &Phase, of: impl Fn(&stiction_core::WorkerSummary) -> u64) -> u64 {
    phase.workers.iter().map(of).fold(0, u64::saturating_add)
}

fn collect_layers<'a>(stack: &'a TargetStack, all: &mut Vec<&'a Layer>) {
    for layer in &stack.layers {
        all.push(layer);
        if let Some(backing) = &layer.backing {
            collect_layers(backing, all);
        }
    }
}

/// The targets that the phase's devices belong to, or all when none can be told.
pub(super) fn stacks_of<'a>(phase: &Phase, environment: &'a Environment) -> Vec<&'a TargetStack> {
    let watched = |stack: &&TargetStack| {
        let mut layers = Vec::new();
        collect_layers(stack, &mut layers);
        let devices = &phase.witnesses.devices;
        layers
            .iter()
            .any(|layer| devices.iter().any(|device| device.device == layer.name))
    };
    let named: Vec<&TargetStack> = environment.targets.iter().filter(watched).collect();
    if named.is_empty() {
        environment.targets.iter().collect()
    } else {
        named
    }
}
