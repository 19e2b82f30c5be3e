//! Sizes and durations as people write and read them.

/// Why a text is not a size or a duration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SizeError {
    /// The text is not a number with a known unit.
    #[error(
        "`{0}` is not a size; write bytes, or a number with K, M, G or T (1024s), such as 4K or 1.5G"
    )]
    NotASize(String),
    /// The text is not a duration.
    #[error(
        "`{0}` is not a duration; write a number with ms, s, m or h, such as 30s; a bare number is seconds"
    )]
    NotADuration(String),
    /// The value does not fit.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

/// Splits `1.5GiB` into the number and the unit in lower case.
fn split(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number
        .is_finite()
        .then(|| (number, text[end..].trim().to_ascii_lowercase()))
}

/// Reads a size in bytes: `4096`, `4k`, `4K`, `4KiB`, `1.5G`. Units are powers of
/// 1024, as in fio and tiobench; `kB`, `MB` and the like mean the same here, and
/// every report writes KiB and MiB so that nothing hides in the difference.
///
/// # Errors
/// When the text is not a size, or is one beyond `u64`.
pub fn parse_size_bytes(text: &str) -> Result<u64, SizeError> {
    let not_a_size = || SizeError::NotASize(text.to_owned());
    if let Ok(bytes) = text.trim().parse::<u64>() {
        return Ok(bytes);
    }
    let (number, unit) = split(text).ok_or_else(not_a_size)?;
    let shift = match unit.as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        "p" | "pb" | "pib" => 50,
        _ => return Err(not_a_size()),
    };
    let bytes = number * (1u64 << shift) as f64;
    if bytes >= u64::MAX as f64 {
        return Err(SizeError::TooLarge(text.to_owned()));
    }
    if bytes.fract() != 0.0 && shift == 0 {
        return Err(not_a_size());
    }
    Ok(bytes as u64)
}

/// Reads a duration in nanoseconds: `30`, `30s`, `1.5m`, `250ms`, `2h`.
///
/// # Errors
/// When the text is not a duration, or is one beyond `u64` nanoseconds.
pub fn parse_duration_ns(text: &str) -> Result<u64, SizeError> {
    let not_a_duration = || SizeError::NotADuration(text.to_owned());
    let (number, unit) = split(text).ok_or_else(not_a_duration)?;
    let unit_ns = match unit.as_str() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "" | "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        _ => return Err(not_a_duration()),
    };
    let ns = number * unit_ns;
    if ns >= u64::MAX as f64 {
        return Err(SizeError::TooLarge(text.to_owned()));
    }
    Ok(ns as u64)
}

/// Three significant digits: `1.23`, `12.3`, `123`, `1234`.
fn three_digits(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// Scales `value` by `step` until the printed digits fit below the next unit.
fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut index = 0;
    while value >= step - 0.5 && index + 1 < units.len() {
        value /= step;
        index += 1;
    }
    format!("{} {}", three_digits(value), units[index])
}

/// A size for people: `4 KiB`, `1.5 GiB`; whole numbers stay whole.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let exact = (bytes.max(1).trailing_zeros() / 10).min(6) as usize;
    let whole = bytes >> (10 * exact);
    if whole < 1024 {
        return format!("{whole} {}", UNITS[if bytes == 0 { 0 } else { exact }]);
    }
    scaled(bytes as f64, 1024.0, &UNITS)
}

/// A count or rate for people: `950`, `12.3 k`, `1.23 M`; powers of 1000.
#[must_use]
pub fn format_count(count: f64) -> String {
    if count < 999.5 {
        return if count.fract() == 0.0 {
            format!("{count:.0}")
        } else {
            three_digits(count)
        };
    }
    scaled(count, 1000.0, &["", "k", "M", "G", "T"])
}

/// A duration for people, in the unit that leaves one to four digits before the
/// point: `85 ns`, `12.3 us`, `1.23 ms`, `2.10 s`. ASCII only.
#[must_use]
pub fn format_duration_ns(ns: f64) -> String {
    if ns < 999.5 {
        return format!("{ns:.0} ns");
    }
    scaled(ns / 1000.0, 1000.0, &["us", "ms", "s"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("4k", 4096),
            ("4 KiB", 4096),
            ("1.5G", 1_610_612_736),
            ("2T", 2_199_023_255_552),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_size_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "k", "-1", "4x", "1.5", "0x10", "1e3", "4k4"] {
            assert!(
                matches!(parse_size_bytes(text), Err(SizeError::NotASize(_))),
                "{text}"
            );
        }
        assert!(matches!(
            parse_size_bytes("99999999P"),
            Err(SizeError::TooLarge(_))
        ));
    }

    #[test]
    fn durations_default_to_seconds() {
        for (text, ns) in [
            ("30", 30_000_000_000),
            ("250ms", 250_000_000),
            ("1.5m", 90_000_000_000),
            ("2h", 7_200_000_000_000),
        ] {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
        assert!(parse_duration_ns("1d").is_err());
    }

    #[test]
    fn people_read_three_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (512, "512 B"),
            (4096, "4 KiB"),
            (131_072, "128 KiB"),
            (1_610_612_736, "1.50 GiB"),
            (1023, "1023 B"),
            (1025, "1.00 KiB"),
            (2 << 40, "2 TiB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
        assert_eq!(format_count(950.0), "950");
        assert_eq!(format_count(999.7), "1.00 k");
        assert_eq!(format_count(12_345.0), "12.3 k");
        assert_eq!(format_duration_ns(85.0), "85 ns");
        assert_eq!(format_duration_ns(12_345.0), "12.3 us");
        assert_eq!(format_duration_ns(999_960.0), "1.00 ms");
        assert_eq!(format_duration_ns(2_100_570_000.0), "2.10 s");
        assert_eq!(format_duration_ns(120e9), "120 s");
    }
}
