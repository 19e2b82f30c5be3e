//! Numbers and fields as Perl's `format` prints them, for layouts that its users
//! and their parsers know to the byte.

/// The text of a number in Perl: C's `%.15g`, so the shortest decimal that fifteen
/// significant digits give, with an exponent of at least two digits outside
/// 1e-4 to 1e15.
pub(super) fn number(value: f64) -> String {
    const DIGITS: i32 = 15;
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific
        .split_once('e')
        .expect("Rust's exponent form has an e");
    let exponent: i32 = exponent.parse().expect("Rust's exponent is an integer");
    if (-4..DIGITS).contains(&exponent) {
        let decimals = (DIGITS - 1 - exponent).max(0) as usize;
        return without_trailing_zeros(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{}e{sign}{:02}",
        without_trailing_zeros(mantissa),
        exponent.abs()
    )
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// `@<<<`: text on the left of its field, cut to it.
pub(super) fn left(text: &str, width: usize) -> String {
    format!("{text:<width$.width$}")
}

/// `@>>>`: text on the right of its field, cut to it.
pub(super) fn right(text: &str, width: usize) -> String {
    format!("{text:>width$.width$}")
}

/// `@|||`: text in the middle of its field, cut to it; the odd blank goes right.
pub(super) fn centred(text: &str, width: usize) -> String {
    format!("{text:^width$.width$}")
}

/// `@##.##`: a number with `decimals` places, rounded half to even on its binary
/// value; `#` throughout when it does not fit.
///
/// Perl asks before it rounds, by adding half of the last place: 999.995 does not
/// fit into `@##.##`, although it may print as 999.99.
pub(super) fn decimal(value: f64, width: usize, decimals: usize) -> String {
    let point = usize::from(decimals > 0);
    let places = width.saturating_sub(decimals + point);
    let limit = 10f64.powi(places as i32);
    let half = (0..decimals).fold(0.5, |half, _| half / 10.0);
    if value + half < limit {
        format!("{value:width$.decimals$}")
    } else {
        unknown(width)
    }
}

/// What readers of these layouts take for a value that is not known: `#` throughout.
pub(super) fn unknown(width: usize) -> String {
    "#".repeat(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expectations printed by perl 5.36: `print 34.2757` and so on.
    #[test]
    fn numbers_are_perls() {
        for (value, text) in [
            (34.2757, "34.2757"),
            (0.0271, "0.0271"),
            (110.0, "110"),
            (0.0, "0"),
            (0.000_012, "1.2e-05"),
            (0.000_1, "0.0001"),
            (100.0 / 3.0, "33.3333333333333"),
            (1e15 / 3.0, "333333333333333"),
            (1e15, "1e+15"),
            (0.1 + 0.2, "0.3"),
            (1e100, "1e+100"),
            (999_999_999_999_999.9, "1e+15"),
            (f64::INFINITY, "Inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    /// Expectations printed by perl 5.36 through `formline`.
    #[test]
    fn fields_are_perls() {
        assert_eq!(left("abcdefgh", 5), "abcde");
        assert_eq!(left("ab", 5), "ab   ");
        assert_eq!(right("1.2e-05", 5), "1.2e-");
        assert_eq!(right("110", 5), "  110");
        assert_eq!(centred("252", 6), " 252  ");
        assert_eq!(centred("2643", 6), " 2643 ");
        assert_eq!(centred("131072", 5), "13107");
    }

    /// Expectations printed by perl 5.36 through `formline`.
    #[test]
    fn decimals_that_do_not_fit_are_hidden() {
        for (value, width, decimals, text) in [
            (12_345.678, 6, 2, "######"),
            (999.994, 6, 2, "999.99"),
            (999.995, 6, 2, "######"),
            (0.042_875, 8, 5, " 0.04288"),
            (99_999.5, 5, 0, "#####"),
            (94.5, 5, 0, "   94"),
            (0.5, 5, 0, "    0"),
            (1.5, 5, 0, "    2"),
            (f64::INFINITY, 5, 0, "#####"),
            (f64::NAN, 6, 2, "######"),
        ] {
            assert_eq!(decimal(value, width, decimals), text, "{value}");
        }
    }
}
