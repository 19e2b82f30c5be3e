//! One number, with everything it takes to read it.

use serde::{Deserialize, Serialize};

use crate::Metric;

/// A value of a [`Metric`] and how many observations stand behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was measured.
    pub metric: Metric,
    /// The value, in the metric's unit. Always finite.
    pub value: f64,
    /// Observations behind the value: operations for a latency, 1 for a wall time.
    pub n: u64,
    /// The text an imported value was printed as; its digits are all the precision there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
    /// Whether the program that printed the text cut its digits off where others
    /// round: GNU time and zsh print 53.9 % as `53%`, tiobench 34.2757 % as `34.27%`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub digits_cut: bool,
    /// Why the value differs from the printed text, when a known defect was corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<String>,
}

impl Measurement {
    /// A value that stiction measured itself.
    ///
    /// # Panics
    /// When `value` is not finite: a number that is not one must become a failed
    /// phase where it arises, not a record.
    #[must_use]
    pub fn new(metric: Metric, value: f64, n: u64) -> Self {
        assert!(value.is_finite(), "{} is not finite: {value}", metric.name);
        Self {
            metric,
            value,
            n,
            printed: None,
            digits_cut: false,
            corrected: None,
        }
    }

    /// A value read from another program's output, with the text it stood in.
    ///
    /// # Panics
    /// As [`Measurement::new`].
    #[must_use]
    pub fn imported(metric: Metric, value: f64, n: u64, printed: impl Into<String>) -> Self {
        Self {
            printed: Some(printed.into()),
            ..Self::new(metric, value, n)
        }
    }

    /// This value, printed by a program that cuts digits off.
    #[must_use]
    pub fn with_digits_cut(self) -> Self {
        Self {
            digits_cut: true,
            ..self
        }
    }

    /// The half width of the last printed digit, in the metric's unit scaled by
    /// `value / printed`; 0 for values that stiction measured.
    ///
    /// `32.39` stands for anything from 32.385 to 32.395. A sum, `37.4+1290.1`,
    /// has the half widths of its parts. The last digits of a clock, `3:20.94` or
    /// `10m42.697s`, are seconds already.
    #[must_use]
    pub fn printed_half_width(&self) -> f64 {
        let Some(printed) = &self.printed else {
            return 0.0;
        };
        if let Some(seconds) = clock_seconds(printed) {
            return last_digit_half(seconds);
        }
        let (mut half, mut read) = (0.0, 0.0);
        for part in printed.split('+').map(first_number) {
            if let Ok(value) = part.parse::<f64>() {
                half += last_digit_half(part);
                read += value;
            }
        }
        if read == 0.0 {
            half
        } else {
            (half * self.value / read).abs()
        }
    }

    /// The lowest and the highest value that the printed digits can stand for; the
    /// value itself, twice, for values that stiction measured.
    ///
    /// A rounded `32.39` stands for 32.385 to 32.395, a cut `53%` for 53 to 54.
    #[must_use]
    pub fn printed_range(&self) -> (f64, f64) {
        let half = self.printed_half_width();
        if !self.digits_cut {
            (self.value - half, self.value + half)
        } else if self.value >= 0.0 {
            (self.value, self.value + 2.0 * half)
        } else {
            (self.value - 2.0 * half, self.value)
        }
    }
}

/// The seconds of `3:20.94` or `10m42.697s`; `None` for a plain number.
fn clock_seconds(printed: &str) -> Option<&str> {
    let after_minutes = |(minutes, seconds): (&str, &str)| {
        minutes.ends_with(|c: char| c.is_ascii_digit())
            && seconds.starts_with(|c: char| c.is_ascii_digit())
    };
    let parts = [printed.rsplit_once(':'), printed.rsplit_once('m')];
    let (_, seconds) = parts.into_iter().flatten().find(|&p| after_minutes(p))?;
    Some(first_number(seconds))
}

/// The first number in `text`, up to the first character that is not of it.
fn first_number(text: &str) -> &str {
    let Some(start) = text.find(|c: char| c.is_ascii_digit() || c == '-') else {
        return "";
    };
    let number = &text[start..];
    let end = number[1..]
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map_or(number.len(), |end| end + 1);
    &number[..end]
}

/// Half a unit in the last place of a decimal number.
fn last_digit_half(number: &str) -> f64 {
    let decimals = number
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    0.5 * 10f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics;

    #[test]
    fn printed_digits_bound_the_precision() {
        let mib = 1024.0 * 1024.0;
        let rate = Measurement::imported(metrics::RATE, 32.39 * mib, 1, "32.39");
        assert!((rate.printed_half_width() - 0.005 * mib).abs() < 1e-6);
        let percent = Measurement::imported(metrics::CPU_PERCENT, 99.0, 1, "99%");
        assert!((percent.printed_half_width() - 0.5).abs() < 1e-12);
        assert_eq!(percent.printed_range(), (98.5, 99.5));
        assert_eq!(percent.with_digits_cut().printed_range(), (99.0, 100.0));
        let measured = Measurement::new(metrics::RATE, 7.0, 1);
        assert_eq!(measured.printed_range(), (7.0, 7.0));
        let change = Measurement::imported(metrics::CHANGE_LOWEST, -67.07, 1, "-67.07(8)");
        assert!((change.printed_half_width() - 0.005).abs() < 1e-12);
        assert_eq!(
            Measurement::new(metrics::CPU_PERCENT, 99.0, 1).printed_half_width(),
            0.0
        );
    }

    #[test]
    fn clocks_and_sums_have_their_own_precision() {
        let elapsed = |value, printed| Measurement::imported(metrics::ELAPSED, value, 1, printed);
        for (measurement, half) in [
            (elapsed(200.94, "3:20.94"), 0.005),
            (elapsed(642.697, "10m42.697s"), 0.0005),
            (elapsed(4000.0, "1:06:40"), 0.5),
            (elapsed(59.5, "59.5"), 0.05),
            (
                Measurement::imported(metrics::CPU_PERCENT, 1327.5, 1, "37.4+1290.1"),
                0.1,
            ),
        ] {
            assert!(
                (measurement.printed_half_width() - half).abs() < 1e-9,
                "{measurement:?}"
            );
        }
    }
}
