//! Numbers as people read them: with their unit, and with as many digits as are
//! known.

use stiction_core::{Measurement, Metric, Unit, format_bytes, format_count, format_duration_ns};

/// Significant digits of a figure that stiction measured: run to run, the fourth
/// is noise.
const MEASURED_DIGITS: usize = 3;
/// Digits of a figure whose printed text has more than anybody can measure.
const MOST_DIGITS: usize = 6;

/// The value with its unit. Figures that were read from a table keep the digits
/// that the table had.
pub(crate) fn figure(measurement: &Measurement) -> String {
    if measurement.printed.is_none() {
        return measured(measurement.metric.unit, measurement.value);
    }
    let range = measurement.printed_range();
    ranged(measurement.metric.unit, measurement.value, range)
}

/// A value with as many digits as the range leaves it, in the unit that tables
/// print; with the digits of a measurement where the range is a point.
pub(crate) fn ranged(unit: Unit, value: f64, (lowest, highest): (f64, f64)) -> String {
    let step = highest - lowest;
    if step > 0.0 {
        in_unit(unit, value, digits_of(value, step))
    } else {
        measured(unit, value)
    }
}

/// A value of that unit, with the digits of a measurement.
pub(crate) fn measured(unit: Unit, value: f64) -> String {
    match unit {
        Unit::BytesPerSecond => format!("{}/s", size(value)),
        Unit::BytesPerSecondPerCpu => format!("{}/s/CPU", size(value)),
        Unit::Bytes => size(value),
        Unit::OperationsPerSecond => format!("{}/s", rounded_count(value)),
        Unit::Nanoseconds => format_duration_ns(value),
        Unit::Seconds => seconds(value),
        Unit::Count => rounded_count(value),
        Unit::Percent => percent(value),
        Unit::Ratio => format!("{value:.2}"),
    }
}

/// Bytes, with three digits: a rate is no exact multiple of anything.
fn size(bytes: f64) -> String {
    if bytes < 0.0 {
        return format!("-{}", size(-bytes));
    }
    if bytes < 999.5 {
        return format!("{} B", significant(bytes, MEASURED_DIGITS));
    }
    format_bytes(bytes.round() as u64)
}

/// A count without digits that are not known: 812, 12.3 k.
pub(crate) fn rounded_count(count: f64) -> String {
    if (99.95..999.5).contains(&count) {
        return format!("{count:.0}");
    }
    format_count(count)
}

/// A time in seconds, or in its parts when it is short.
fn seconds(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".to_owned();
    }
    if seconds.abs() < 1.0 {
        return format_duration_ns(seconds * 1e9);
    }
    format!("{} s", significant(seconds, MEASURED_DIGITS))
}

fn percent(value: f64) -> String {
    if value == 0.0 {
        return "0 %".to_owned();
    }
    format!("{} %", significant(value, MEASURED_DIGITS))
}

/// A value of that unit to `digits` significant digits.
fn in_unit(unit: Unit, value: f64, digits: usize) -> String {
    const MIB: f64 = 1_048_576.0;
    match unit {
        Unit::BytesPerSecond => format!("{} MiB/s", significant(value / MIB, digits)),
        Unit::BytesPerSecondPerCpu => format!("{} MiB/s/CPU", significant(value / MIB, digits)),
        Unit::Bytes => format_bytes(value.max(0.0) as u64),
        Unit::OperationsPerSecond => format!("{}/s", significant(value, digits)),
        Unit::Nanoseconds if value.abs() < 1e9 => {
            format!("{} ms", significant(value / 1e6, digits))
        }
        Unit::Nanoseconds => format!("{} s", significant(value / 1e9, digits)),
        Unit::Seconds => format!("{} s", significant(value, digits)),
        Unit::Count => significant(value, digits),
        Unit::Percent => format!("{} %", significant(value, digits)),
        Unit::Ratio => significant(value, digits),
    }
}

/// A decimal with `digits` significant digits, never in exponent form. Digits
/// before the point are never dropped.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = |magnitude: i32| (digits as i32 - 1 - magnitude).clamp(0, 12) as usize;
    let text = format!("{value:.*}", decimals(magnitude));
    // 9.996 to three digits is 10.0 and not 10.00.
    let rounded: f64 = text.parse().unwrap_or(value);
    let after = if rounded == 0.0 {
        magnitude
    } else {
        rounded.abs().log10().floor() as i32
    };
    if after > magnitude {
        format!("{value:.*}", decimals(after))
    } else {
        text
    }
}

/// A time in seconds that is known to lie between two bounds: its middle, with the
/// digits that they leave, three at most, in the unit that suits it.
pub(crate) fn time_in_range(lowest_s: f64, highest_s: f64) -> String {
    let middle = f64::midpoint(lowest_s, highest_s);
    let digits = match highest_s - lowest_s {
        step if step > 0.0 => digits_of(middle, step).min(MEASURED_DIGITS),
        _ => MEASURED_DIGITS,
    };
    let (scale, unit) = match middle.abs() {
        s if s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e3, "ms"),
        s if s >= 1e-6 => (1e6, "us"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", significant(middle * scale, digits))
}

/// Significant digits of a value that is known to within `step`.
fn digits_of(value: f64, step: f64) -> usize {
    // 1.05 - 0.95 is a little more than 0.1 in binary; without the allowance 1.0
    // would have one digit.
    let digits = ((value.abs() / step).log10() + 1e-9).floor() + 1.0;
    // A value of 0 has one, and so has one that is less than its step.
    (digits.max(1.0) as usize).min(MOST_DIGITS)
}

/// A metric's name for people, without the unit that the figure carries:
/// `latency_ns_p99_9` is `latency p99.9`, `rate_bytes_per_s` is `rate`.
pub(crate) fn label(metric: &Metric) -> String {
    let mut words: Vec<&str> = metric.name.split('_').collect();
    let unit: Vec<&str> = metric.unit.suffix().split('_').collect();
    let place = words.windows(unit.len()).rposition(|part| part == unit);
    if let Some(place) = place.filter(|_| words.len() > unit.len()) {
        words.drain(place..place + unit.len());
    }
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let mut label = String::new();
    let mut after_percentile = false;
    for word in words {
        if !label.is_empty() {
            label.push(if after_percentile && is_number(word) {
                '.'
            } else {
                ' '
            });
        }
        label.push_str(word);
        after_percentile = word.strip_prefix('p').is_some_and(is_number);
    }
    label
}

/// A change in percent with its sign; small changes keep a decimal.
pub(crate) fn change(percent: f64) -> String {
    if percent.abs() < 0.05 {
        "0.0 %".to_owned()
    } else if percent.abs() >= 99.95 {
        format!("{percent:+.0} %")
    } else {
        format!("{percent:+.1} %")
    }
}

/// Decimals of percentages that are known to within `width` points: two digits of the
/// width, so that a reader sees no more than is known.
fn decimals_of(width: f64) -> usize {
    if !width.is_finite() || width <= 0.0 {
        return 1;
    }
    (1.0 - width.log10().floor()).clamp(0.0, 2.0) as usize
}

/// A change in percent with its sign, rounded as its interval allows: `-67.1 %`.
pub(crate) fn change_within(percent: f64, (lowest, highest): (f64, f64)) -> String {
    format!("{} %", signed(percent, decimals_of(highest - lowest)))
}

/// The ends of an interval in percent, without the sign of percent: `-68.0..-66.2`.
pub(crate) fn interval(lowest: f64, highest: f64) -> String {
    let decimals = decimals_of(highest - lowest);
    format!(
        "{}..{}",
        signed(lowest, decimals),
        signed(highest, decimals)
    )
}

/// A number with its sign; one that rounds to nothing has none.
pub(crate) fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text[1..].bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        text[1..].to_owned()
    } else {
        text
    }
}

/// A probability; never p = 0.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 {
        "<.001".to_owned()
    } else {
        format!("{p:.3}").trim_start_matches('0').to_owned()
    }
}

/// Ratios from here on are told beside the percentage.
const TELLING_RATIO: f64 = 2.0;

/// `9.47x` or `0.11x` for changes that a percentage tells badly, else empty.
pub(crate) fn ratio(ratio: f64) -> String {
    if ratio >= TELLING_RATIO {
        format!("{}x", significant(ratio, 3))
    } else if ratio > 0.0 && ratio <= 1.0 / TELLING_RATIO {
        format!("{}x", significant(ratio, 2))
    } else {
        String::new()
    }
}

/// A size in percent without a sign, to two digits: `2.1 %`, `3 %`.
pub(crate) fn size_percent(percent: f64) -> String {
    let text = significant(percent, 2);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    use stiction_core::metrics;

    const MIB: f64 = 1_048_576.0;

    #[test]
    fn labels_leave_the_unit_to_the_figure() {
        for (metric, text) in [
            (metrics::RATE, "rate"),
            (metrics::LATENCY_P50, "latency p50"),
            (metrics::LATENCY_P9999, "latency p99.99"),
            (metrics::LATENCY_OVER_2S, "latency over 2s"),
            (metrics::CPU_SYSTEM_WIDE_PERCENT, "cpu system wide"),
            (metrics::CPU_EFFICIENCY, "cpu efficiency"),
            (metrics::CPU_SYSTEM, "cpu system"),
            (metrics::SWITCHES_VOLUNTARY, "context switches voluntary"),
            (metrics::BYTES, "bytes"),
            (metrics::OPERATIONS, "operations"),
            (metrics::RESIDENT_MAX, "resident max"),
        ] {
            assert_eq!(label(&metric), text);
        }
    }

    #[test]
    fn measured_figures_have_three_digits_and_a_unit() {
        for (unit, value, text) in [
            (Unit::BytesPerSecond, 1.234_56 * MIB * 1024.0, "1.23 GiB/s"),
            (Unit::BytesPerSecond, 512.0 * MIB, "512 MiB/s"),
            (Unit::BytesPerSecond, 0.0, "0 B/s"),
            (Unit::BytesPerSecondPerCpu, 94.49 * MIB, "94.5 MiB/s/CPU"),
            (Unit::OperationsPerSecond, 12_345.678, "12.3 k/s"),
            (Unit::OperationsPerSecond, 812.4, "812/s"),
            (Unit::OperationsPerSecond, 81.24, "81.2/s"),
            (Unit::Nanoseconds, 1_234_567.0, "1.23 ms"),
            (Unit::Seconds, 60.44, "60.4 s"),
            (Unit::Seconds, 0.012, "12.0 ms"),
            (Unit::Seconds, 0.0, "0 s"),
            (Unit::Percent, 34.2757, "34.3 %"),
            (Unit::Percent, 0.042_87, "0.0429 %"),
            (Unit::Percent, 0.0, "0 %"),
            (Unit::Ratio, 0.987_6, "0.99"),
            (Unit::Count, 1_234_567.0, "1.23 M"),
        ] {
            assert_eq!(measured(unit, value), text);
        }
    }

    #[test]
    fn imported_figures_keep_the_digits_they_had() {
        for (metric, value, printed, text) in [
            (metrics::RATE, 32.39 * MIB, "32.39", "32.39 MiB/s"),
            (metrics::RATE, 3.42 * MIB, "3.42", "3.42 MiB/s"),
            (metrics::CPU_PERCENT, 99.0, "99%", "99 %"),
            (metrics::LATENCY_MEAN, 7.742e6, "7.742", "7.742 ms"),
            // Divided by three runs, the digits are as many as before.
            (metrics::LATENCY_MEAN, 7.742e6 / 3.0, "7.742", "2.581 ms"),
            (
                metrics::LATENCY_MAX,
                3_109_518.52e6,
                "3109518.52",
                "3109.52 s",
            ),
            (metrics::ELAPSED, 200.94, "3:20.94", "200.94 s"),
            (metrics::CPU_EFFICIENCY, 94.0 * MIB, "94", "94 MiB/s/CPU"),
            (metrics::LATENCY_OVER_2S, 0.0, "0.00000", "0 %"),
            (metrics::CPU_PERCENT, 0.0, "0%", "0 %"),
            (metrics::CPU_PERCENT, 1.0, "1.0%", "1.0 %"),
            (metrics::OPERATIONS, 7.0, "all", "7"),
        ] {
            let measurement = Measurement::imported(metric, value, 1, printed);
            assert_eq!(figure(&measurement), text);
        }
    }

    #[test]
    fn times_have_the_digits_that_their_bounds_leave() {
        // 306.82 s at 87 % cut: 37 to 40 s of waiting.
        assert_eq!(time_in_range(36.8, 39.9), "38 s");
        assert_eq!(time_in_range(0.292_2, 0.292_6), "292 ms");
        assert_eq!(time_in_range(30e-6, 30e-6), "30.0 us");
        assert_eq!(time_in_range(0.0, 0.0), "0 ns");
    }

    #[test]
    fn rounding_up_a_place_does_not_add_a_digit() {
        assert_eq!(significant(9.996, 3), "10.0");
        assert_eq!(significant(999.6, 3), "1000");
        assert_eq!(significant(0.000_123_456, 3), "0.000123");
        assert_eq!(significant(-67.07, 4), "-67.07");
    }

    #[test]
    fn changes_carry_their_sign() {
        assert_eq!(change(-0.04), "0.0 %");
        assert_eq!(change(12.34), "+12.3 %");
        assert_eq!(change(847.1), "+847 %");
    }

    /// The rows of the layout that the reports follow: intervals of 1.8, 4.8 and 27
    /// points leave one, one and no decimal.
    #[test]
    fn intervals_decide_how_far_a_change_is_rounded() {
        for (low, high, change, change_text, text) in [
            (-68.0, -66.2, -67.07, "-67.1 %", "-68.0..-66.2"),
            (-33.9, -29.1, -31.6, "-31.6 %", "-33.9..-29.1"),
            (160.0, 187.0, 172.7, "+173 %", "+160..+187"),
            (-0.061, 0.034, -0.0134, "-0.01 %", "-0.06..+0.03"),
            (-0.4, 0.4, 0.001, "0.00 %", "-0.40..+0.40"),
        ] {
            assert_eq!(change_within(change, (low, high)), change_text);
            assert_eq!(interval(low, high), text);
        }
        assert_eq!(interval(f64::NEG_INFINITY, 3.0), "-inf..+3.0");
    }

    #[test]
    fn sizes_have_no_idle_decimals() {
        for (percent, text) in [
            (3.0, "3 %"),
            (2.14, "2.1 %"),
            (10.0, "10 %"),
            (0.5, "0.50 %"),
        ] {
            assert_eq!(size_percent(percent), text);
        }
    }

    #[test]
    fn probabilities_are_never_nothing() {
        assert_eq!(probability(0.000_4), "<.001");
        assert_eq!(probability(0.003_9), ".004");
        assert_eq!(probability(1.0), "1.000");
    }
}
