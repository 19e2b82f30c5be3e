//! What several rounds come to, and tables of it.

/// The median; `None` of nothing.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        even if even.is_multiple_of(2) => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

/// How far the rounds lie apart: the greatest less the least, in percent of the median.
pub(super) fn spread_percent(values: &[f64]) -> Option<f64> {
    let middle = median(values).filter(|&middle| middle != 0.0)?;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(100.0 * (most - least) / middle)
}

/// A number with three digits; nothing of nothing.
pub(super) fn digits(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

/// Prints a table in Markdown, as the documents have them.
pub(super) fn print(title: &str, heads: &[&str], rows: &[Vec<String>]) {
    println!("\n{title}\n");
    println!("| {} |", heads.join(" | "));
    println!("|{}", "---|".repeat(heads.len()));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_to_a_median_and_a_spread() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(spread_percent(&[90.0, 100.0, 120.0]), Some(30.0));
        assert_eq!(spread_percent(&[0.0]), None);
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(digits(Some(1234.5)), "1234");
        assert_eq!(digits(Some(12.34)), "12.3");
        assert_eq!(digits(Some(0.126)), "0.13");
        assert_eq!(digits(None), "");
    }
}
