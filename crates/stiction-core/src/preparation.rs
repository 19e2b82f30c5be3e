//! What is done to targets, and asked of the machine, before what is measured.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::omitted::is_default;
use crate::{Caveat, CaveatCode};

/// Range that is preconditioned in a directory where none was given, bytes.
const RANGE_BYTES: u64 = 1 << 30;
/// How often the range may be overwritten where nothing else bounds it.
const OVERWRITES_MOST: u64 = 16;
/// How long a canary run takes at most, ns.
const CANARY_NS: u64 = 2_000_000_000;
/// How long a look for spoilers takes, ns.
pub const LOOK_NS: u64 = 100_000_000;

/// What is done before trials, so that their numbers are about what they say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preparation {
    /// Whether blocks that hold nothing are given back to the device: before
    /// preconditioning, or without that before each trial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub purge: bool,
    /// Writing until the rate is steady; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Precondition>,
    /// How files stand in the page cache before each measured phase.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache: CacheState,
    /// How long a trial waits for its device to be idle, ns; `None` where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_ns_max: Option<u64>,
    /// What is done about what would spoil a trial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spoilers: SpoilerPolicy,
    /// Short runs of the same thing that tell whether the machine itself has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<Canary>,
}

/// Writing a range in order, then at random places until the rate is steady.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition {
    /// How much of a target is written, bytes; `None` for a whole device, and for 1 GiB
    /// in a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_bytes: Option<u64>,
    /// How often the range is written in order, 1 or more.
    pub fills: u32,
    /// Bytes of an overwrite.
    pub block_size_bytes: u64,
    /// Overwrites in flight.
    pub depth: u32,
    /// Length of a round, ns: what is judged are the rates of rounds.
    pub round_ns: u64,
    /// How far the rate may change over the window, millionths of it.
    pub tolerance_ppm: u32,
    /// How long all of it may take, ns.
    pub duration_ns_max: u64,
    /// How much may be overwritten, bytes; `None` for 16 times the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overwritten_bytes_max: Option<u64>,
}

impl Default for Precondition {
    /// Two fills and 4 KiB at random, as the Performance Test Specification of SNIA has
    /// it for solid state storage; rounds of a second, 3 %, ten minutes.
    fn default() -> Self {
        Self {
            range_bytes: None,
            fills: 2,
            block_size_bytes: 4096,
            depth: 32,
            round_ns: 1_000_000_000,
            tolerance_ppm: 30_000,
            duration_ns_max: 600_000_000_000,
            overwritten_bytes_max: None,
        }
    }
}

impl Precondition {
    /// How much of a device of `device_bytes` is written, bytes.
    #[must_use]
    pub fn range_of_device(&self, device_bytes: u64) -> u64 {
        self.range_bytes.unwrap_or(u64::MAX).min(device_bytes)
    }

    /// How much is written in a directory that has room for `room_bytes`, bytes. What was
    /// asked for is not cut; what was not is at most half of the room.
    #[must_use]
    pub fn range_in_directory(&self, room_bytes: u64) -> u64 {
        self.range_bytes.unwrap_or(RANGE_BYTES.min(room_bytes / 2))
    }

    /// How much of a range of `range_bytes` is overwritten at most, bytes.
    #[must_use]
    pub fn overwritten_bytes_max(&self, range_bytes: u64) -> u64 {
        let usual = range_bytes.saturating_mul(OVERWRITES_MOST);
        self.overwritten_bytes_max.unwrap_or(usual)
    }
}

/// How files stand in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// As whatever came before has left them.
    #[default]
    AsIs,
    /// Not in it.
    Cold,
    /// Wholly in it.
    Warm,
}

/// What is done about what would spoil a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpoilerPolicy {
    /// Nothing: nobody looks.
    #[default]
    Ignore,
    /// The trial runs, with a caveat.
    Warn,
    /// The trial waits for it to pass, and runs with a caveat when it does not.
    Wait,
    /// The trial does not run.
    Refuse,
}

/// Short runs of the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Canary {
    /// After so many blocks, or trials that are in none, comes another; 1 or more. One
    /// comes first of all, and one last.
    pub every: u32,
}

impl Default for Canary {
    fn default() -> Self {
        Self { every: 4 }
    }
}

/// What preparing takes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparationEstimate {
    /// Time, ns; what fills caches takes is not in it.
    pub duration_ns_max: u64,
    /// Bytes written: the wear.
    pub written_bytes_max: u64,
}

impl Preparation {
    /// Whether nothing is prepared.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What it takes at most: `ranges_bytes` has the length of each range that is
    /// preconditioned, once for each time that it is; there are `trials` trials in all,
    /// in `blocks` blocks (as many as trials where these are in none).
    #[must_use]
    pub fn estimate(&self, ranges_bytes: &[u64], trials: u64, blocks: u64) -> PreparationEstimate {
        let mut all = PreparationEstimate::default();
        if let Some(precondition) = &self.precondition {
            for &range in ranges_bytes {
                let filled = range.saturating_mul(precondition.fills.into());
                let overwritten = precondition.overwritten_bytes_max(range);
                all.written_bytes_max = all
                    .written_bytes_max
                    .saturating_add(filled.saturating_add(overwritten));
                all.add_ns(precondition.duration_ns_max, 1);
            }
        }
        all.add_ns(self.settle_ns_max.unwrap_or(0), trials);
        if self.spoilers != SpoilerPolicy::Ignore {
            all.add_ns(LOOK_NS, trials);
        }
        if let Some(canary) = self.canary {
            let runs = 1 + blocks.div_ceil(canary.every.max(1).into());
            all.add_ns(CANARY_NS, runs);
        }
        all
    }
}

impl PreparationEstimate {
    fn add_ns(&mut self, ns: u64, times: u64) {
        let added = ns.saturating_mul(times);
        self.duration_ns_max = self.duration_ns_max.saturating_add(added);
    }
}

/// Something on the machine that would spoil a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spoiler {
    /// What it is.
    pub kind: SpoilerKind,
    /// What was seen, with figures, without a final full stop.
    pub detail: String,
}

/// The kind of a [`Spoiler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpoilerKind {
    /// The target's devices move although we do nothing.
    OtherIo,
    /// An array is resynchronised, checked, rebuilt or reshaped.
    ArrayResync,
    /// A btrfs is balanced, scrubbed or has a device exchanged.
    BtrfsOperation,
    /// ext4 still writes the inode tables that mkfs left out.
    LazyInit,
    /// A program that trims, checks or upgrades is running.
    Maintenance,
    /// A timer or a job of cron is due before the session may have ended.
    Timer,
    /// Little memory is left.
    LowMemory,
    /// Pages go to swap or come from there.
    Swapping,
    /// A CPU slowed down for heat since the last look.
    Throttling,
    /// The machine runs on its battery.
    Battery,
    /// CPUs are busy, or tasks wait for one.
    Load,
    /// A hypervisor takes CPUs away.
    Steal,
}

impl SpoilerKind {
    /// The doubt that it casts on a trial.
    #[must_use]
    pub fn code(self) -> CaveatCode {
        match self {
            Self::OtherIo => CaveatCode::OtherIo,
            Self::Throttling => CaveatCode::Throttled,
            Self::Steal => CaveatCode::CpuStolen,
            Self::ArrayResync
            | Self::BtrfsOperation
            | Self::LazyInit
            | Self::Maintenance
            | Self::Timer
            | Self::LowMemory
            | Self::Swapping
            | Self::Battery
            | Self::Load => CaveatCode::NotQuiet,
        }
    }
}

impl fmt::Display for SpoilerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OtherIo => "other-io",
            Self::ArrayResync => "array-resync",
            Self::BtrfsOperation => "btrfs-operation",
            Self::LazyInit => "lazy-init",
            Self::Maintenance => "maintenance",
            Self::Timer => "timer",
            Self::LowMemory => "low-memory",
            Self::Swapping => "swapping",
            Self::Throttling => "throttling",
            Self::Battery => "battery",
            Self::Load => "load",
            Self::Steal => "steal",
        })
    }
}

impl fmt::Display for Spoiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

/// The doubts that `spoilers` cast on a trial, one of each code.
#[must_use]
pub fn doubts_of_spoilers(spoilers: &[Spoiler]) -> Vec<Caveat> {
    let mut doubts: Vec<Caveat> = Vec::new();
    for spoiler in spoilers {
        let code = spoiler.kind.code();
        let detail = match code {
            // The code says it already.
            CaveatCode::NotQuiet => spoiler.to_string(),
            _ => spoiler.detail.clone(),
        };
        match doubts.iter_mut().find(|doubt| doubt.code == code) {
            Some(doubt) => doubt.detail = format!("{}; {detail}", doubt.detail),
            None => doubts.push(Caveat::new(code, format!("before the trial: {detail}"))),
        }
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn what_says_nothing_is_not_written() {
        let nothing = Preparation::default();
        assert!(nothing.is_nothing());
        assert_eq!(serde_json::to_string(&nothing).unwrap(), "{}");
        let all = Preparation {
            purge: true,
            precondition: Some(Precondition::default()),
            cache: CacheState::Cold,
            settle_ns_max: Some(5),
            spoilers: SpoilerPolicy::Refuse,
            canary: Some(Canary::default()),
        };
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Preparation>(&text).unwrap(), all);
    }

    /// By hand: two fills and 16 overwrites of 1 GiB are 18 GiB; twice.
    #[test]
    fn the_wear_is_fills_and_overwrites() {
        let mut preparation = Preparation {
            precondition: Some(Precondition::default()),
            ..Preparation::default()
        };
        let estimate = preparation.estimate(&[GIB, GIB], 20, 10);
        assert_eq!(estimate.written_bytes_max, 36 * GIB);
        assert_eq!(estimate.duration_ns_max, 1_200_000_000_000);

        preparation.precondition = None;
        preparation.settle_ns_max = Some(30_000_000_000);
        preparation.canary = Some(Canary { every: 4 });
        preparation.spoilers = SpoilerPolicy::Warn;
        let estimate = preparation.estimate(&[GIB], 20, 10);
        // 20 x 30 s, 20 x 0.1 s, and canaries at first and after blocks 4, 8 and 10.
        assert_eq!(estimate.duration_ns_max, (600 + 2 + 4 * 2) * 1_000_000_000);
        assert_eq!(estimate.written_bytes_max, 0);
    }

    #[test]
    fn ranges_keep_within_what_is_there() {
        let usual = Precondition::default();
        assert_eq!(usual.range_of_device(7 * GIB), 7 * GIB);
        assert_eq!(usual.range_in_directory(10 * GIB), GIB);
        assert_eq!(usual.range_in_directory(GIB), GIB / 2);
        let asked = Precondition {
            range_bytes: Some(4 * GIB),
            ..usual
        };
        assert_eq!(asked.range_of_device(GIB), GIB);
        assert_eq!(asked.range_in_directory(GIB), 4 * GIB);
        assert_eq!(asked.overwritten_bytes_max(u64::MAX), u64::MAX);
    }

    #[test]
    fn spoilers_of_one_code_are_one_doubt() {
        let spoiler = |kind, detail: &str| Spoiler {
            kind,
            detail: detail.to_owned(),
        };
        let doubts = doubts_of_spoilers(&[
            spoiler(SpoilerKind::Battery, "BAT0 discharges"),
            spoiler(SpoilerKind::OtherIo, "sda wrote 3 MiB"),
            spoiler(SpoilerKind::Load, "9 tasks ran on 2 CPUs"),
        ]);
        assert_eq!(doubts.len(), 2);
        assert_eq!(doubts[0].code, CaveatCode::NotQuiet);
        assert_eq!(
            doubts[0].detail,
            "before the trial: battery: BAT0 discharges; load: 9 tasks ran on 2 CPUs"
        );
        assert_eq!(doubts[1].detail, "before the trial: sda wrote 3 MiB");
    }
}
