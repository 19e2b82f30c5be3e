//! What the job loses against what the load keeps, drawn with characters: the slowdown
//! runs to the right by its logarithm, the share kept upwards evenly.

/// Columns before the field, with its edge.
const MARGIN: usize = 8;
/// Columns of the field.
const COLUMNS: usize = 60;
/// Lines of the field.
const ROWS: usize = 9;
/// A field that is less than this factor wide would show noise as distance.
const FACTOR_MIN: f64 = 2.0;

/// One load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) load: String,
    /// Time beside the load over that without.
    pub(super) slowdown: f64,
    /// Rate of the load beside the job over that alone.
    pub(super) kept: f64,
}

/// The plot in lines, with its legend; nothing of fewer than two loads.
pub(super) fn plot(marks: &[Mark]) -> Vec<String> {
    let is_drawn = |mark: &&Mark| mark.slowdown > 0.0 && mark.kept.is_finite();
    let marks: Vec<&Mark> = marks.iter().filter(is_drawn).collect();
    if marks.len() < 2 {
        return Vec::new();
    }
    let least = marks.iter().map(|mark| mark.slowdown).fold(1.0, f64::min);
    let most = marks.iter().map(|mark| mark.slowdown).fold(1.0, f64::max);
    let most = most.max(least * FACTOR_MIN);
    let all_kept = marks.iter().map(|mark| mark.kept).fold(1.0, f64::max);
    let mut field = vec![vec![' '; COLUMNS]; ROWS];
    let mut legend = Vec::new();
    for (mark, sign) in marks.iter().zip('a'..) {
        let share = (mark.slowdown / least).ln() / (most / least).ln();
        let column = (share * (COLUMNS - 1) as f64).round() as usize;
        let above = (mark.kept.max(0.0) / all_kept * (ROWS - 1) as f64).round() as usize;
        let place = &mut field[ROWS - 1 - above.min(ROWS - 1)][column.min(COLUMNS - 1)];
        // Two loads in one place share the first one's sign.
        if *place == ' ' {
            *place = sign;
            legend.push(format!("{sign} {}", mark.load));
        } else {
            legend.push(format!("{place} {}", mark.load));
        }
    }
    let label = |row: usize| match row {
        0 => format!("{:.0} %", 100.0 * all_kept),
        row if row == ROWS / 2 => "kept".to_owned(),
        row if row == ROWS - 1 => "0 %".to_owned(),
        _ => String::new(),
    };
    let mut text: Vec<String> = field
        .into_iter()
        .enumerate()
        .map(|(row, signs)| {
            let signs: String = signs.into_iter().collect();
            let line = format!("{:>width$} |{signs}", label(row), width = MARGIN - 2);
            line.trim_end().to_owned()
        })
        .collect();
    text.push(format!("{:>MARGIN$}{}", "+", "-".repeat(COLUMNS)));
    let (from, to) = (format!("{least:.2}"), format!("{most:.2} slowdown"));
    let width = COLUMNS - from.len();
    text.push(format!("{:>MARGIN$}{from}{to:>width$}", ""));
    text.extend(lines_of(&legend));
    text
}

/// The legend in as many lines as it takes.
fn lines_of(parts: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.len() + 3 + part.len() <= MARGIN + COLUMNS => {
                line.push_str("   ");
                line.push_str(part);
            }
            _ => lines.push(format!("{:>MARGIN$}{part}", "")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(load: &str, slowdown: f64, kept: f64) -> Mark {
        Mark {
            load: load.to_owned(),
            slowdown,
            kept,
        }
    }

    /// From 1 to 4 a slowdown of 2 is in the middle; a quarter kept is two of eight lines
    /// up.
    #[test]
    fn marks_stand_where_their_values_are() {
        let marks = [
            mark("process_load", 2.0, 0.25),
            mark("io_load", 4.0, 1.0),
            mark("read_load", 4.0, 1.0),
        ];
        let plot = plot(&marks);
        let at = |row: usize, column: usize| plot[row].chars().nth(MARGIN + column);
        assert_eq!(at(6, 30), Some('a'));
        assert_eq!(at(0, 59), Some('b'));
        assert!(plot.iter().all(|line| line.len() <= MARGIN + COLUMNS));
        assert!(plot[0].starts_with(" 100 % |"), "{}", plot[0]);
        assert!(plot[10].contains("1.00") && plot[10].ends_with("4.00 slowdown"));
        assert_eq!(plot[11].trim(), "a process_load   b io_load   b read_load");
    }

    #[test]
    fn too_little_draws_nothing_and_oddities_do_no_harm() {
        assert!(plot(&[mark("io_load", 2.0, 0.5)]).is_empty());
        let odd = [
            mark("x", 0.5, -1.0),
            mark("y", 1e9, 40.0),
            mark("z", f64::NAN, f64::NAN),
        ];
        let drawn = plot(&odd);
        assert!(drawn.iter().all(|line| line.len() <= MARGIN + COLUMNS));
        assert_eq!(drawn.iter().filter(|line| line.contains('z')).count(), 0);
    }
}
