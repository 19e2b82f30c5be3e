//! Numbers as programs print them.

/// Bytes in what tiobench, Bonnie and their like call a megabyte.
pub(crate) const MIB: f64 = 1_048_576.0;
/// Nanoseconds in a millisecond.
pub(crate) const NS_PER_MS: f64 = 1e6;

/// Digits beyond which a text is not taken for a figure; 10^15 in any unit that is
/// read here stays far inside `f64` and `u64`.
const DIGITS_MAX: usize = 15;

/// A decimal number without sign or exponent: `12.3`, `105.`, `.5`.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let points = text.bytes().filter(|&byte| byte == b'.').count();
    if digits == 0 || digits > DIGITS_MAX || points > 1 || digits + points != text.len() {
        return None;
    }
    text.parse().ok()
}

/// A decimal number with or without a minus.
pub(crate) fn signed_decimal(text: &str) -> Option<f64> {
    match text.strip_prefix('-') {
        Some(magnitude) => decimal(magnitude).map(|value| -value),
        None => decimal(text),
    }
}

/// A whole number without a sign.
pub(crate) fn integer(text: &str) -> Option<u64> {
    if text.len() > DIGITS_MAX || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Seconds from `59.47`, `3:20.94` or `1:06:40`.
pub(crate) fn clock_s(text: &str) -> Option<f64> {
    let mut parts = text.rsplit(':');
    let mut seconds = decimal(parts.next()?)?;
    let mut weight_s = 60.0;
    for part in parts {
        if weight_s > 3600.0 {
            return None;
        }
        seconds += weight_s * integer(part)? as f64;
        weight_s *= 60.0;
    }
    Some(to_ns(seconds))
}

/// Seconds from `10m42.697s`, as bash prints them.
pub(crate) fn minutes_and_seconds_s(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    Some(to_ns(60.0 * integer(minutes)? as f64 + decimal(seconds)?))
}

/// Seconds to the nearest ns: a sum of minutes and seconds is as exact as its text.
fn to_ns(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

/// Bytes from `8 GB`, `4K` or `252MB` given as number and unit; `None` for other
/// units. Units are 1024s, as the programs that are read here mean them.
pub(crate) fn bytes(number: &str, unit: &str) -> Option<u64> {
    let shift = match unit.to_ascii_lowercase().as_str() {
        "k" | "kb" | "kib" | "kbyte" | "kbytes" => 10,
        "m" | "mb" | "mib" | "meg" | "megs" => 20,
        "g" | "gb" | "gib" | "gig" | "gigs" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    Some((decimal(number)? * (1u64 << shift) as f64) as u64)
}

/// Splits `4K` into `4` and `K`; the unit may be empty.
pub(crate) fn split_unit(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    text.split_at(end)
}

/// Half a unit in the last printed place: `32.39` gives 0.005.
pub(crate) fn half_ulp(text: &str) -> f64 {
    let decimals = text
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    0.5 * 10f64.powi(-i32::try_from(decimals).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_numbers_are_figures() {
        assert_eq!(decimal("12.3"), Some(12.3));
        assert_eq!(decimal("105."), Some(105.0));
        assert_eq!(decimal(".5"), Some(0.5));
        for text in ["", ".", "1e9", "-1", "+1", "1.2.3", "inf", "NaN", "1,5"] {
            assert_eq!(decimal(text), None, "{text}");
        }
        assert_eq!(decimal(&"9".repeat(16)), None);
        assert_eq!(signed_decimal("-67.07"), Some(-67.07));
        assert_eq!(integer("12.0"), None);
        assert_eq!(integer(""), None);
    }

    #[test]
    fn clocks_are_seconds() {
        assert_eq!(clock_s("259.47"), Some(259.47));
        assert_eq!(clock_s("3:20.94"), Some(200.94));
        assert_eq!(clock_s("2:16.17"), Some(136.17));
        assert_eq!(clock_s("1:06:40"), Some(4000.0));
        assert_eq!(clock_s("1:1:1:1"), None);
        assert_eq!(minutes_and_seconds_s("10m42.697s"), Some(642.697));
        assert_eq!(minutes_and_seconds_s("642.697"), None);
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(bytes("8", "GB"), Some(8 << 30));
        assert_eq!(bytes("4", "K"), Some(4096));
        assert_eq!(bytes("4", "files"), None);
        assert_eq!(split_unit("128k"), ("128", "k"));
    }
}
