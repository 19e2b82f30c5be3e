//! A series as a picture of text.

use stiction_analysis::history::Course;

/// One column of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    /// The mean of the values of its points.
    Value(f64),
    /// None of its points has a value.
    Failed,
    /// The level changed here.
    Change,
    /// A note cuts the series here.
    Cut,
}

/// The newest points as digits, 0 for the lowest value and 9 for the highest; `|` where
/// the level changed, `:` where a note cuts, `x` for a point that failed.
pub(super) fn sparkline(course: &Course, width: usize) -> String {
    let columns = columns(course, usize::MAX);
    let newest = &columns[columns.len().saturating_sub(width)..];
    let (lowest, highest) = range(newest);
    let digit = |column: &Column| match column {
        Column::Failed => 'x',
        Column::Change => '|',
        Column::Cut => ':',
        Column::Value(value) => {
            let share = share(*value, lowest, highest);
            char::from(b'0' + (share * 9.0).round() as u8)
        }
    };
    newest.iter().map(digit).collect()
}

/// All points, `height` lines of at most `width` columns, highest values first. Where there
/// are more points than columns, a column is the mean of several.
pub(super) fn plot(course: &Course, width: usize, height: usize) -> Vec<String> {
    let columns = columns(course, width);
    let (lowest, highest) = range(&columns);
    let mut lines = vec![String::new(); height];
    for column in columns {
        let row = match column {
            Column::Value(value) => {
                let share = 1.0 - share(value, lowest, highest);
                (share * (height - 1) as f64).round() as usize
            }
            _ => height - 1,
        };
        for (place, line) in lines.iter_mut().enumerate() {
            line.push(match column {
                Column::Change => '|',
                Column::Cut => ':',
                Column::Value(_) if place == row => '*',
                Column::Failed if place == row => 'x',
                _ => ' ',
            });
        }
    }
    lines
}

/// The points in at most `width` columns, with those of changes and cuts between them.
fn columns(course: &Course, width: usize) -> Vec<Column> {
    let points = &course.series.points;
    let marks = course.changes.len() + course.cuts.len();
    let together = points
        .len()
        .div_ceil(width.saturating_sub(marks).max(1))
        .max(1);
    let mut columns = Vec::new();
    for stretch in &course.stretches {
        let start = stretch.points.start;
        if course.cuts.iter().any(|cut| cut.at == start) {
            columns.push(Column::Cut);
        } else if start > 0 {
            columns.push(Column::Change);
        }
        for some in points[stretch.points.clone()].chunks(together) {
            let values: Vec<f64> = some.iter().filter_map(|point| point.value).collect();
            columns.push(if values.is_empty() {
                Column::Failed
            } else {
                Column::Value(values.iter().sum::<f64>() / values.len() as f64)
            });
        }
    }
    columns.truncate(width);
    columns
}

fn range(columns: &[Column]) -> (f64, f64) {
    let values = columns.iter().filter_map(|column| match column {
        Column::Value(value) => Some(*value),
        _ => None,
    });
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// Where a value lies between the lowest and the highest, from 0 to 1; in the middle when
/// these are one.
fn share(value: f64, lowest: f64, highest: f64) -> f64 {
    if highest > lowest {
        (value - lowest) / (highest - lowest)
    } else {
        0.5
    }
}

/// The lowest and the highest value of a plot.
pub(super) fn bounds(course: &Course, width: usize) -> Option<(f64, f64)> {
    let (lowest, highest) = range(&columns(course, width));
    (lowest <= highest).then_some((lowest, highest))
}
