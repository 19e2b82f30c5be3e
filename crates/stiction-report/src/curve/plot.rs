//! Latency over rate, drawn with characters: the rate runs evenly, the latency by its
//! logarithm.

use stiction_core::format_duration_ns;

use crate::figure::rounded_count;

/// Columns before the field, with its edge.
const MARGIN: usize = 10;
/// Columns of the field; margin and field are the width of a page.
const COLUMNS: usize = 70;
/// Lines of the field.
const ROWS: usize = 14;

/// One rate, with the latencies that are known, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) per_s: f64,
    pub(super) p50_ns: Option<f64>,
    pub(super) p99_ns: Option<f64>,
    pub(super) p999_ns: Option<f64>,
}

impl Mark {
    /// With their signs; where two fall on one place the later one stays.
    fn signs(self) -> [(char, Option<f64>); 3] {
        [('x', self.p999_ns), ('o', self.p99_ns), ('.', self.p50_ns)]
    }
}

/// What stands in the plot beside the marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lines {
    /// The bound on latency, ns.
    pub(super) limit_ns: Option<f64>,
    /// The greatest rate that held.
    pub(super) held_per_s: Option<f64>,
    /// The knee.
    pub(super) knee_per_s: Option<f64>,
}

/// The plot in lines, with its legend; nothing of fewer than two rates.
pub(super) fn plot(marks: &[Mark], lines: Lines) -> Vec<String> {
    let latencies = || {
        marks
            .iter()
            .flat_map(|mark| mark.signs())
            .filter_map(|s| s.1)
    };
    let lowest_ns = latencies()
        .chain(lines.limit_ns)
        .fold(f64::INFINITY, f64::min);
    let highest_ns = latencies().chain(lines.limit_ns).fold(0.0, f64::max);
    let greatest_per_s = marks.iter().map(|mark| mark.per_s).fold(0.0, f64::max);
    if marks.len() < 2 || latencies().next().is_none() {
        return Vec::new();
    }
    let scale = Scale::new(lowest_ns.max(1.0), highest_ns.max(1.0), greatest_per_s);
    let mut field = vec![vec![' '; COLUMNS]; ROWS];
    if let Some(ns) = lines.limit_ns {
        field[scale.row(ns)].fill('-');
    }
    for mark in marks {
        let column = scale.column(mark.per_s);
        for (sign, ns) in mark.signs() {
            if let Some(ns) = ns {
                field[scale.row(ns)][column] = sign;
            }
        }
    }
    let mut text: Vec<String> = field
        .into_iter()
        .enumerate()
        .map(|(row, signs)| {
            let signs: String = signs.into_iter().collect();
            let label = scale.label(row);
            format!("{label:>width$}|{signs}", width = MARGIN - 1)
                .trim_end()
                .to_owned()
        })
        .collect();
    text.push(axis(&scale, lines));
    text.push(ends(greatest_per_s));
    text.push(legend(lines));
    text
}

/// Where a value stands in the field.
struct Scale {
    /// Logarithm of the latency at the lowest line, and from line to line.
    lowest: f64,
    step: f64,
    greatest_per_s: f64,
}

impl Scale {
    fn new(lowest_ns: f64, highest_ns: f64, greatest_per_s: f64) -> Self {
        let (lowest, highest) = (lowest_ns.log10(), highest_ns.log10());
        Self {
            lowest,
            // A field that is less than a factor of ten high would show noise as hills.
            step: (highest - lowest).max(1.0) / (ROWS - 1) as f64,
            greatest_per_s: greatest_per_s.max(1.0),
        }
    }

    fn row(&self, ns: f64) -> usize {
        let above = (ns.max(1.0).log10() - self.lowest) / self.step;
        ROWS - 1 - (above.round().max(0.0) as usize).min(ROWS - 1)
    }

    fn column(&self, per_s: f64) -> usize {
        let share = (per_s / self.greatest_per_s).clamp(0.0, 1.0);
        (share * (COLUMNS - 1) as f64).round() as usize
    }

    /// The latency of every third line.
    fn label(&self, row: usize) -> String {
        let above = ROWS - 1 - row;
        if !above.is_multiple_of(3) {
            return " ".to_owned();
        }
        let ns = 10f64.powf(self.lowest + above as f64 * self.step);
        format!("{} ", format_duration_ns(ns))
    }
}

/// `+-----^-----|--`
fn axis(scale: &Scale, lines: Lines) -> String {
    let mut axis = vec!['-'; COLUMNS];
    for (per_s, sign) in [(lines.held_per_s, '|'), (lines.knee_per_s, '^')] {
        if let Some(per_s) = per_s {
            axis[scale.column(per_s)] = sign;
        }
    }
    let axis: String = axis.into_iter().collect();
    format!("{:>width$}+{axis}", "", width = MARGIN - 1)
}

fn ends(greatest_per_s: f64) -> String {
    let end = format!("{}/s asked", rounded_count(greatest_per_s));
    format!("{:>MARGIN$}0{end:>width$}", "", width = COLUMNS - 1)
}

fn legend(lines: Lines) -> String {
    let mut parts = vec![". p50", "o p99", "x p99.9"];
    parts.extend(lines.limit_ns.map(|_| "--- limit"));
    parts.extend(lines.held_per_s.map(|_| "| holds"));
    parts.extend(lines.knee_per_s.map(|_| "^ knee"));
    format!("{:>MARGIN$}{}", "", parts.join("   "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(per_s: f64, p50_ns: f64, p99_ns: f64) -> Mark {
        Mark {
            per_s,
            p50_ns: Some(p50_ns),
            p99_ns: Some(p99_ns),
            p999_ns: None,
        }
    }

    /// Four decades from 100 us to 1 s in 13 steps: 1 ms lies 3.25 steps up, 10 ms 6.5.
    #[test]
    fn marks_stand_where_their_values_are() {
        let marks = [mark(500.0, 1e5, 1e6), mark(1000.0, 1e6, 1e9)];
        let lines = Lines {
            limit_ns: Some(1e7),
            held_per_s: Some(500.0),
            knee_per_s: Some(250.0),
        };
        let plot = plot(&marks, lines);
        assert_eq!(plot.len(), ROWS + 3);
        assert!(plot.iter().all(|line| line.len() <= MARGIN + COLUMNS));
        let at = |row: usize, column: usize| plot[row].chars().nth(MARGIN + column);
        // Half of 69 columns, rounded up, and the last of them.
        assert_eq!(at(13, 35), Some('.'));
        assert_eq!(at(10, 35), Some('o'));
        assert_eq!(at(10, 69), Some('.'));
        assert_eq!(at(0, 69), Some('o'));
        assert_eq!(at(6, 3), Some('-'));
        assert_eq!((at(14, 35), at(14, 17)), (Some('|'), Some('^')));
        assert!(plot[13].starts_with("  100 us |"), "{}", plot[13]);
        assert!(plot[15].ends_with("1.00 k/s asked") || plot[15].ends_with("1000/s asked"));
    }

    #[test]
    fn too_little_draws_nothing() {
        assert!(plot(&[mark(1.0, 1.0, 1.0)], Lines::default()).is_empty());
        let nothing = Mark {
            per_s: 1.0,
            p50_ns: None,
            p99_ns: None,
            p999_ns: None,
        };
        assert!(plot(&[nothing, nothing], Lines::default()).is_empty());
        // One latency alone is a line, not a division by nothing.
        assert!(
            !plot(
                &[mark(0.0, 5.0, 5.0), mark(0.0, 5.0, 5.0)],
                Lines::default()
            )
            .is_empty()
        );
    }
}
