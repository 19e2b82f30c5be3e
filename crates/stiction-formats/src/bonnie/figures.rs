//! Figures of one phase, as text reports and CSV have them.

use stiction_core::{Caveat, CaveatCode, Measurement, Metric, Phase, metrics};

use super::version::Version;
use crate::harvest;
use crate::number::{decimal, split_unit};

/// What the six pairs of the first part are, in the order of the report.
pub(super) const IO_PHASES: [&str; 6] =
    ["putc", "put_block", "rewrite", "getc", "get_block", "seeks"];
/// What the six pairs of Bonnie++'s second part are.
pub(super) const FILE_PHASES: [&str; 6] = [
    "create_sequential",
    "stat_sequential",
    "delete_sequential",
    "create_random",
    "stat_random",
    "delete_random",
];
/// Seeks that Bonnie++ does when nothing else is asked for.
const SEEKS: f64 = 8192.0;
/// Files that Bonnie++'s `files` column counts by.
const FILES: f64 = 1024.0;

/// What is known of the figures beside their text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The version, where it is said.
    pub(super) version: Option<Version>,
    /// Bytes per second that a rate without a unit counts by.
    pub(super) rate_unit: f64,
    /// Bytes that each phase of the first part moved.
    pub(super) size_bytes: Option<u64>,
    /// How many files the `files` column says, in thousands of 1024.
    pub(super) files: Option<f64>,
    /// Seeks, where they are said.
    pub(super) seeks: Option<f64>,
    /// Seekers, where they are said.
    pub(super) seekers: Option<u64>,
    /// Whether it is a text report.
    pub(super) is_text: bool,
}

impl Source {
    /// The phase of that name, from the rate and the CPU share as printed; `None` when
    /// neither was.
    pub(super) fn phase(&self, name: &str, rate: &str, cpu: &str) -> Option<Phase> {
        let is_of_files = FILE_PHASES.contains(&name);
        let is_of_bytes = !is_of_files && name != "seeks";
        let metric = if is_of_bytes {
            metrics::RATE
        } else {
            metrics::OPERATION_RATE
        };
        let mut phase = harvest::phase(name);
        let is_spoilt = is_of_files
            && self.is_text
            && self.version.is_some_and(Version::text_spoils_file_rates);
        // The converter of 2.00 prints what was too fast as a rate of 0.
        let is_too_fast = is_plus(rate) || (self.is_text && rate == "0k" && is_plus(cpu));
        if is_too_fast {
            let amount = match (is_of_bytes, is_of_files) {
                (true, _) => self.size_bytes.map(|bytes| bytes as f64),
                (false, false) => Some(self.seeks.unwrap_or(SEEKS)),
                (false, true) => self.files.map(|count| count * FILES),
            };
            self.too_fast(&mut phase, metric, rate, amount);
        } else if is_spoilt && decimal(rate).is_some() {
            phase.caveats.push(Caveat::new(
                CaveatCode::DigitsLost,
                format!("printed as {rate}, which is no rate: this version's text report has none for files, its CSV has"),
            ));
        } else if let Some(value) = self.rate(rate, is_of_bytes) {
            let measurement = Measurement::imported(metric, value, 1, rate);
            phase.measurements.push(measurement);
        }
        if let Some(value) = decimal(cpu) {
            phase.measurements.push(self.cpu(name, value, cpu));
        }
        let has_wait = self.version.is_some_and(Version::seeks_have_the_wait);
        if name == "seeks" && has_wait && decimal(rate).is_some() {
            phase.caveats.push(Caveat::new(
                CaveatCode::Inconsistent,
                "this version counts its wait of 5 s before the seeks as theirs: the rate is too low",
            ));
        }
        (!phase.measurements.is_empty() || !phase.caveats.is_empty()).then_some(phase)
    }

    /// A rate in bytes or operations per second: plain, or scaled as 2.00 has it.
    fn rate(&self, text: &str, is_of_bytes: bool) -> Option<f64> {
        if let Some(value) = decimal(text) {
            return Some(value * if is_of_bytes { self.rate_unit } else { 1.0 });
        }
        scaled(text).filter(|_| is_of_bytes)
    }

    /// The CPU share. Since 1.90 seekers are threads and each gives the time of the whole
    /// process, which the program adds up.
    fn cpu(&self, name: &str, value: f64, printed: &str) -> Measurement {
        let seekers = match self.version {
            Some(version) if name == "seeks" && version.adds_up_seekers() => {
                self.seekers.unwrap_or(version.seekers()).max(1)
            }
            _ => 1,
        };
        let share = value / seekers as f64;
        let mut share = Measurement::imported(metrics::CPU_PERCENT, share, 1, printed);
        if seekers > 1 {
            share.corrected = Some(format!(
                "divided by {seekers}: this version counts the process's CPU time once for each seeker"
            ));
        }
        share
    }

    /// `+++++` says that the phase took less than half a second, so its rate is at
    /// least what was to be done over that time.
    fn too_fast(&self, phase: &mut Phase, metric: Metric, printed: &str, amount: Option<f64>) {
        let too_short_cs = self.version.map_or(50, Version::too_short_cs);
        let seconds = f64::from(too_short_cs) / 100.0;
        let detail = format!("printed as {printed}: it took less than {seconds} s");
        if let Some(amount) = amount {
            let mut bound = Measurement::imported(metric, amount / seconds, 1, printed);
            bound.corrected = Some(format!("{detail}; the rate is at least this"));
            phase.measurements.push(bound);
        }
        phase
            .caveats
            .push(Caveat::new(CaveatCode::TooShort, detail));
    }
}

/// Adds the greatest latency to a phase, `32715us`, `151ms` or `2s`; false when `text`
/// is none.
pub(super) fn add_latency(phase: &mut Phase, text: &str) -> bool {
    let (number, unit) = split_unit(text);
    let ns_per_unit = match unit {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return false,
    };
    let Some(value) = decimal(number) else {
        return false;
    };
    let latency = Measurement::imported(metrics::LATENCY_MAX, value * ns_per_unit, 1, text);
    phase.measurements.push(latency.with_digits_cut());
    true
}

/// `620k`, `9.8m`, `1.0g`: bytes per second.
fn scaled(text: &str) -> Option<f64> {
    let (number, unit) = split_unit(text);
    let shift = match unit {
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    Some(decimal(number)? * f64::from(1u32 << shift))
}

/// A number, or a mark for one that was not measured.
pub(super) fn is_figure(word: &str) -> bool {
    decimal(word).is_some() || scaled(word).is_some() || is_plus(word) || is_skipped(word)
}

pub(super) fn is_plus(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|byte| byte == b'+')
}

fn is_skipped(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|byte| byte == b'x')
}
