//! Numbers as programs print them, read by one rule.

/// The number that `text` is: digits with at most one point, a sign before them and a
/// decimal exponent behind, and nothing else.
///
/// What may mean two numbers is refused: `12K` is 12,000 or 12,288, `1,234` is a
/// thousand or a little over one.
///
/// # Errors
/// In words, with what to do.
pub(super) fn read(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    if let Some(value) = value.filter(|_| is_plain) {
        return Ok(value);
    }
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    let separated = text.contains(',') || text.contains('_') || text.contains('\'');
    Err(if begins && separated {
        format!(
            "`{text}` has a separator, which may be of thousands or of decimals; let the \
             program print a plain number"
        )
    } else if begins && text.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%') {
        format!(
            "`{text}` has a unit, which may mean powers of 1000 or of 1024; take the digits \
             alone and state the unit: NAME[MB/s,more]"
        )
    } else {
        format!("`{text}` is no number")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_are_read() {
        for (text, value) in [
            ("12", 12.0),
            (" 0.5\n", 0.5),
            ("-3", -3.0),
            ("+7", 7.0),
            (".25", 0.25),
            ("1e3", 1000.0),
            ("2.5E-2", 0.025),
        ] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_may_mean_two_numbers_is_refused_with_the_reason() {
        for (text, reason) in [
            ("12K", "powers of 1000 or of 1024"),
            ("1.5M", "powers of 1000 or of 1024"),
            ("3 GiB", "powers of 1000 or of 1024"),
            ("50%", "state the unit"),
            ("1,234", "thousands or of decimals"),
            ("1_000", "thousands or of decimals"),
            ("1'234.5", "thousands or of decimals"),
            ("", "is no number"),
            ("fast", "is no number"),
            ("inf", "is no number"),
            ("NaN", "is no number"),
            ("1e999", "is no number"),
            ("0x10", "is no number"),
            ("1.2.3", "is no number"),
            ("--1", "is no number"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
