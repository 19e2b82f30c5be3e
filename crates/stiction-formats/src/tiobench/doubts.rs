//! Rows of tiobench held against themselves.

use stiction_core::{Caveat, CaveatCode, Phase, metrics};

use super::cut::Column;
use super::known::{Known, Layout};
use super::row::Printed;
use super::runs::{Runs, Sample};
use crate::command::Command;
use crate::harvest::Harvest;
use crate::number::half_ulp;

/// Operations of the random phases when the driver is not told otherwise, in total.
const RANDOM_OPERATIONS: u64 = 4000;
/// What 0.4 adds to the CPU share before it divides by it.
const V0_4_EPSILON: f64 = 0.00001;

/// Adds to `phase` what its own row makes doubtful.
pub(super) fn examine(row: &Known, runs: &Runs, harvest: &Harvest, phase: &mut Phase) {
    phase
        .caveats
        .extend(efficiency(&row.at.printed, row.at.layout));
    phase
        .caveats
        .extend(cut_column("block size", row.block.as_ref()));
    phase
        .caveats
        .extend(cut_column("number of threads", row.threads.as_ref()));
    if let (Some(block), Some(threads)) = (row.block_bytes(), row.thread_count()) {
        let sample = Sample::of(&row.at.printed, block, threads, false, row.at.line);
        if let Some(sample) = sample {
            busy(row, runs, &sample, phase);
            random_rate(row, runs, harvest, &sample, phase);
        }
    }
}

/// `CPU Eff` is rate over CPU share. Where no rounding makes it so, a column was
/// misread or edited.
fn efficiency(printed: &Printed, layout: Layout) -> Option<Caveat> {
    let figure = printed.efficiency.as_ref()?;
    let (rate, cpu, efficiency) = (printed.rate.value?, printed.cpu.value?, figure.value?);
    let epsilon = if layout == Layout::V0_4 {
        V0_4_EPSILON
    } else {
        0.0
    };
    let (rate_half, cpu_half) = (
        half_ulp(&printed.rate.text),
        half_ulp(printed.cpu.text.trim_end_matches('%')),
    );
    // The share may have been cut and not rounded, so it may be a whole digit higher.
    let (cpu_low, cpu_high) = ((cpu - cpu_half).max(0.0), cpu + 2.0 * cpu_half);
    let low = (rate - rate_half) / (cpu_high / 100.0 + epsilon) - 0.5;
    let high = (rate + rate_half) / (cpu_low / 100.0 + epsilon) + 0.5;
    let is_possible = efficiency >= low * 0.999 && efficiency <= high * 1.001;
    (!is_possible).then(|| {
        Caveat::new(
            CaveatCode::Inconsistent,
            format!(
                "CPU Eff is {}, but {} MB/s at {} of CPU are {:.0}",
                figure.text,
                printed.rate.text,
                printed.cpu.text,
                rate / (cpu / 100.0 + epsilon)
            ),
        )
    })
}

fn cut_column(what: &str, column: Option<&Column>) -> Option<Caveat> {
    let detail = match column? {
        Column::Whole(_) => return None,
        Column::Restored(value) => {
            format!("the {what} was cut by its column and is {value} by the command")
        }
        Column::Cut(digits) => {
            format!("the {what} begins with {digits}; its column cut the rest off")
        }
    };
    Some(Caveat::new(CaveatCode::DigitsLost, detail))
}

/// Notes how much of the phase a thread was in operations: with many threads this
/// is all that the report tells of fairness.
fn busy(row: &Known, runs: &Runs, sample: &Sample, phase: &mut Phase) {
    let (Runs::Known(count, _) | Runs::AtLeast(count, _)) = runs else {
        return;
    };
    let share = sample.k / *count as f64;
    let is_read = !row.at.title.phase.contains("write");
    if is_read && share <= 1.05 {
        phase.notes.push(format!(
            "a thread was in reads for {:.0} % of the phase, by latency x rate",
            100.0 * share
        ));
    }
}

/// 0.4.0 to 0.4.2 before 2023 counted the whole file for a random phase, whatever
/// it did: k of such a row is far above what its runs allow.
fn random_rate(row: &Known, runs: &Runs, harvest: &Harvest, sample: &Sample, phase: &mut Phase) {
    let allowed = runs.divisor() as f64;
    if row.at.layout != Layout::V0_4 || !row.is_random() || sample.k_low <= allowed * 1.1 {
        return;
    }
    let command = harvest.commands.iter().find_map(Command::random_operations);
    let operations = command.unwrap_or(RANDOM_OPERATIONS);
    let Some(factor) = inflation(row, operations) else {
        return;
    };
    let proof = format!(
        "{} threads cannot be in operations for {:.0} times the phase: the whole file was counted \
         for {operations} random operations",
        sample.threads, sample.k
    );
    if command.is_none() {
        phase.caveats.push(Caveat::new(
            CaveatCode::Inconsistent,
            format!(
                "{proof}, if the default was not changed; then the rate is {factor} times too high"
            ),
        ));
        return;
    }
    for measurement in &mut phase.measurements {
        if [metrics::RATE, metrics::CPU_EFFICIENCY].contains(&measurement.metric) {
            measurement.value /= factor;
            measurement.corrected = Some(format!("{proof}; divided by {factor}"));
        }
    }
    phase
        .caveats
        .push(Caveat::new(CaveatCode::Inconsistent, proof));
}

/// Blocks of a thread's file over its random operations.
fn inflation(row: &Known, operations: u64) -> Option<f64> {
    let block = row.block_bytes().filter(|&block| block > 0)?;
    let threads = row.thread_count().filter(|&threads| threads > 0)?;
    // The driver gives each thread a whole number of MiB.
    let per_thread_mib = (row.size_bytes? / threads) >> 20;
    let blocks = (per_thread_mib << 20) / block;
    let per_thread = operations / threads;
    (per_thread > 0 && blocks > per_thread).then(|| blocks as f64 / per_thread as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiobench::head::Title;
    use crate::tiobench::known::Placed;
    use crate::tiobench::row;

    fn printed(text: &str) -> Printed {
        row::parse(&text.split_whitespace().collect::<Vec<_>>(), None).unwrap()
    }

    /// Rate and CPU share of the rows recompute 16, 20, 94, 114, 173 and 199.
    #[test]
    fn efficiency_is_rate_over_cpu_share() {
        for (rate, cpu, printed_efficiency) in [
            ("11.85", "72.77%", 16),
            ("3.42", "17.36%", 20),
            ("32.39", "34.28%", 94),
            ("8.24", "7.21%", 114),
            ("9.50", "5.50%", 173),
            ("35.28", "17.69%", 199),
        ] {
            let row = |efficiency: u64| {
                printed(&format!(
                    "k 8192 4096 32 {rate} {cpu} 1.000 1.00 0.00000 0.00000 {efficiency}"
                ))
            };
            assert_eq!(efficiency(&row(printed_efficiency), Layout::V0_3_3), None);
            let wrong = efficiency(&row(printed_efficiency + 3), Layout::V0_3_3);
            assert_eq!(wrong.unwrap().code, CaveatCode::Inconsistent);
        }
    }

    /// The drivers' defaults, 2000 MB and 4 KiB, make 128 times the true rate.
    #[test]
    fn inflation_is_blocks_over_operations() {
        let row = Known {
            at: Placed {
                title_index: 0,
                index: 1,
                line: 1,
                layout: Layout::V0_4,
                title: Title::parse("Random Reads").unwrap(),
                named_kernel: false,
                printed: printed("k 2000 4096 1 9.0 9.0% 1.0 1.0 0.0 0.0 100"),
            },
            size_bytes: Some(2000 << 20),
            block: Some(Column::Whole(4096)),
            threads: Some(Column::Whole(1)),
        };
        assert_eq!(inflation(&row, 4000), Some(128.0));
    }
}
