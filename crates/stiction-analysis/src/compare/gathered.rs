//! Whether the runs of a side gather around several values, and what became of those.

use stiction_core::{Metric, Unit, format_bytes, format_count, format_duration_ns};

use super::decide::LEVEL;
use crate::change::SideValue;
use crate::estimate::dip::References;
use crate::estimate::modes::{Mode, ModeChange, RUNS_MIN, modes};

/// The modes of both sides in words; `None` when both have one, or too few runs to tell.
/// Levels closer than `margin`, a difference of logarithms, are the same.
pub(super) fn told(
    metric: &Metric,
    (a, b): (&SideValue, &SideValue),
    margin: f64,
    references: &References,
) -> Option<String> {
    let of = |side: &SideValue| {
        let runs = &side.runs;
        let enough = runs.len() >= RUNS_MIN;
        enough.then(|| modes(runs, &references.of(runs.len())))
    };
    let (of_a, of_b) = (of(a), of(b));
    let several = |modes: &Option<Vec<Mode>>| modes.as_ref().is_some_and(|modes| modes.len() > 1);
    if !several(&of_a) && !several(&of_b) {
        return None;
    }
    let sides = [("A", &of_a), ("B", &of_b)];
    let levels: Vec<String> = sides
        .into_iter()
        .filter_map(|(name, modes)| Some(format!("{name}: {}", listed(metric, modes.as_ref()?))))
        .collect();
    let change = of_a
        .zip(of_b)
        .and_then(|(a, b)| ModeChange::between(&a, &b, margin))
        .map_or("", |change| {
            match (change.levels_moved, change.shares_p <= LEVEL) {
                (true, true) => "; the levels and their shares changed",
                (true, false) => "; the levels changed",
                (false, true) => "; the shares changed",
                (false, false) => "; neither levels nor shares changed",
            }
        });
    Some(format!("{}{change}", levels.join("; ")))
}

/// `70 % near 33.5 MiB/s, 30 % near 11.8 MiB/s`: the level of most runs first.
fn listed(metric: &Metric, modes: &[Mode]) -> String {
    let mut by_share = modes.to_vec();
    by_share.sort_by_key(|mode| std::cmp::Reverse(mode.runs));
    let words = by_share.iter().map(|mode| {
        let percent = 100.0 * mode.share;
        format!("{percent:.0} % near {}", amount(metric.unit, mode.level))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn amount(unit: Unit, value: f64) -> String {
    match unit {
        Unit::BytesPerSecond => format!("{}/s", format_bytes(value.round() as u64)),
        Unit::BytesPerSecondPerCpu => format!("{}/s per CPU", format_bytes(value.round() as u64)),
        Unit::Bytes => format_bytes(value.round() as u64),
        Unit::Nanoseconds => format_duration_ns(value),
        Unit::Seconds => format_duration_ns(value * 1e9),
        Unit::OperationsPerSecond => format!("{}/s", format_count(value)),
        Unit::Percent => format!("{} %", format_count(value)),
        Unit::Count | Unit::Ratio => format_count(value),
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::{Seed, Subject, metrics};

    use super::*;

    fn side(runs: &[f64]) -> SideValue {
        SideValue {
            value: 1.0,
            lowest: 1.0,
            highest: 1.0,
            runs: runs.to_vec(),
            subject: Subject::Unknown,
            printed: None,
            corrected: None,
        }
    }

    const MIB: f64 = 1_048_576.0;

    /// Runs a per mille apart around each of the levels.
    fn around(levels: &[(f64, usize)]) -> SideValue {
        let runs = levels.iter().flat_map(|&(level, runs)| {
            (0..runs).map(move |run| level * MIB * (1.0 + run as f64 / 1000.0))
        });
        side(&runs.collect::<Vec<f64>>())
    }

    fn said(a: &SideValue, b: &SideValue) -> Option<String> {
        told(&metrics::RATE, (a, b), 0.03, &References::new(Seed(1)))
    }

    #[test]
    fn shares_and_levels_are_told_apart() {
        let a = around(&[(35.0, 14), (12.0, 6)]);
        let fewer = around(&[(35.0, 4), (12.0, 16)]);
        let text = said(&a, &fewer).unwrap();
        assert!(text.starts_with("A: 70 % near 35."), "{text}");
        assert!(
            text.contains(", 30 % near 12.0 MiB/s; B: 80 % near 12.1"),
            "{text}"
        );
        assert!(text.ends_with("; the shares changed"), "{text}");
        let slower = around(&[(30.0, 14), (10.0, 6)]);
        let text = said(&a, &slower).unwrap();
        assert!(text.ends_with("; the levels changed"), "{text}");
        let text = said(&a, &a).unwrap();
        assert!(
            text.ends_with("; neither levels nor shares changed"),
            "{text}"
        );
    }

    #[test]
    fn one_level_or_few_runs_are_not_worth_a_word() {
        let one = around(&[(35.0, 14)]);
        assert_eq!(said(&one, &one), None);
        let few = around(&[(35.0, 5), (12.0, 5)]);
        assert_eq!(said(&few, &few), None);
        // A side with too few runs to look at is left out.
        let text = said(&around(&[(35.0, 7), (12.0, 7)]), &few).unwrap();
        assert!(!text.contains("B:") && !text.contains(';'), "{text}");
    }
}
