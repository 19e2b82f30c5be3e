//! Figures as Bonnie and Bonnie++ spell them.

/// A figure of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shown {
    /// The phase did not run, or the table that was read lacks it.
    Missing,
    /// The phase took less than half a second: the programs then say `+++++`.
    TooFast,
    /// Its value.
    Value(f64),
}

/// Slack for figures that are whole but for the last bit of a division.
const SLACK: f64 = 1e-13;

impl Shown {
    /// The figure as `spell` has it, pluses when it was too fast, nothing when there is
    /// none.
    pub(super) fn spelled(self, pluses: &str, spell: impl FnOnce(f64) -> String) -> String {
        match self {
            Self::Missing => String::new(),
            Self::TooFast => pluses.to_owned(),
            Self::Value(value) => spell(value),
        }
    }
}

/// The whole number below.
pub(super) fn whole(value: f64) -> String {
    format!("{:.0}", (value * (1.0 + SLACK)).floor())
}

/// KiB/s as they stand in CSV and in reports up to 1.9x.
pub(super) fn kib_per_s(bytes_per_s: f64) -> String {
    whole(bytes_per_s / 1024.0)
}

/// Seeks per second: with a decimal below 1000.
pub(super) fn per_s(rate: f64) -> String {
    if rate < 1000.0 {
        format!("{rate:.1}")
    } else {
        format!("{rate:.0}")
    }
}

/// Bytes per second as the 2.00 report has them: KiB below 10,000, then MiB with a
/// decimal below 100 and without one below 1000, then GiB.
pub(super) fn scaled_rate(bytes_per_s: f64) -> String {
    let kib = (bytes_per_s / 1024.0 * (1.0 + SLACK)).floor();
    let mib = kib / 1024.0;
    if kib < 10_000.0 {
        format!("{kib:4.0}k")
    } else if mib < 100.0 {
        format!("{mib:4.1}m")
    } else if mib < 1000.0 {
        format!("{mib:4.0}m")
    } else {
        format!("{:4.1}g", mib / 1024.0)
    }
}

/// A latency: microseconds below 0.1 s, milliseconds below 100 s, then seconds.
pub(super) fn latency(ns: f64) -> String {
    let s = ns / 1e9;
    if s < 0.1 {
        format!("{}us", whole(ns / 1e3))
    } else if s < 100.0 {
        format!("{}ms", whole(ns / 1e6))
    } else {
        format!("{}s", whole(s))
    }
}

/// A size in MiB, as `4G` when it is a multiple of 1024.
pub(super) fn size(bytes: u64) -> String {
    let mib = bytes >> 20;
    if mib > 0 && mib.is_multiple_of(1024) {
        format!("{}G", mib / 1024)
    } else {
        format!("{mib}M")
    }
}

/// A chunk: `16k`, or bytes when it is no multiple of 1024.
pub(super) fn chunk(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) {
        format!("{}k", bytes / 1024)
    } else {
        bytes.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: f64 = 1_048_576.0;

    /// The vectors of the programs' specification.
    #[test]
    fn rates_and_latencies_are_spelled_as_specified() {
        assert_eq!(kib_per_s(300.0 * MIB / 3.0), "102400");
        assert_eq!(whole(100.0 * 1.119 / 3.0), "37");
        for (seconds, text) in [(0.0999, "99900us"), (0.1, "100ms"), (120.0, "120s")] {
            assert_eq!(latency(seconds * 1e9), text);
        }
        for (kib, text) in [
            (9999.0, "9999k"),
            (10_000.0, " 9.8m"),
            (102_400.0, " 100m"),
            // As 2.00a itself prints them.
            (264_780.0, " 259m"),
            (197_666.0, " 193m"),
            (1_024_000.0, " 1.0g"),
        ] {
            assert_eq!(scaled_rate(kib * 1024.0), text);
        }
        assert_eq!(
            (per_s(999.94), per_s(1234.5)),
            ("999.9".into(), "1234".into())
        );
    }

    #[test]
    fn sizes_are_in_gigabytes_when_whole() {
        assert_eq!(size(300 << 20), "300M");
        assert_eq!(size(4 << 30), "4G");
        assert_eq!(size(1025 << 20), "1025M");
        assert_eq!((chunk(16 << 10), chunk(512)), ("16k".into(), "512".into()));
    }

    proptest! {
        /// What was spelled is found again in the digits, to the last of them.
        #[test]
        fn spelling_inverts(kib in 0u64..1 << 40, us in 0u64..99_999, ms in 100u64..99_999) {
            prop_assert_eq!(kib_per_s(kib as f64 * 1024.0), kib.to_string());
            prop_assert_eq!(latency(us as f64 * 1e3), format!("{us}us"));
            prop_assert_eq!(latency(ms as f64 * 1e6), format!("{ms}ms"));
            let text = scaled_rate(kib as f64 * 1024.0);
            let (digits, unit) = text.trim().split_at(text.trim().len() - 1);
            let unit = match unit { "k" => 1.0, "m" => 1024.0, _ => 1024.0 * 1024.0 };
            let printed: f64 = digits.parse().unwrap();
            let step = if digits.contains('.') { 0.1 } else { 1.0 };
            prop_assert!((printed * unit - kib as f64).abs() <= step * unit + 1.0, "{}", text);
        }
    }
}
