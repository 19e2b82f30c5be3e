//! Sizes and times in fio's spelling, and the types that carry them on.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::arithmetic::evaluate;

/// A size in bytes; in text a number with the largest binary unit that divides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A time in nanoseconds; in text a number with the largest unit that divides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanoseconds(pub u64);

/// A size, or a share of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many bytes.
    Bytes(Bytes),
    /// So many percent of the file or device, 0 to 100.
    Percent(u8),
}

impl Amount {
    /// The bytes that it comes to on a target of `whole_bytes`.
    #[must_use]
    pub fn of_bytes(self, whole_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.0,
            Self::Percent(percent) => {
                u64::try_from(u128::from(whole_bytes) * u128::from(percent) / 100)
                    .unwrap_or(u64::MAX)
            }
        }
    }

    /// The bytes, if they do not depend on the target.
    #[must_use]
    pub fn known_bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes.0),
            Self::Percent(_) => None,
        }
    }
}

const SIZE_UNITS: [(u64, &str); 6] = [
    (1 << 50, "PiB"),
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
    (1, "B"),
];

const TIME_UNITS: [(u64, &str); 6] = [
    (3_600_000_000_000, "h"),
    (60_000_000_000, "m"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

/// The largest unit that divides `value`, and how often.
fn exact(value: u64, units: &[(u64, &'static str)]) -> (u64, &'static str) {
    units
        .iter()
        .find(|(factor, _)| value != 0 && value.is_multiple_of(*factor))
        .map_or((value, units[units.len() - 1].1), |(factor, unit)| {
            (value / factor, unit)
        })
}

/// Reads what [`exact`] was written from: a whole number and one of `units`.
fn read_exact(text: &str, units: &[(u64, &str)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let (factor, _) = units.iter().find(|(_, name)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = exact(self.0, &SIZE_UNITS);
        write!(f, "{number}{unit}")
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = exact(self.0, &TIME_UNITS);
        write!(f, "{number}{unit}")
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read_exact(text, &SIZE_UNITS).map(Self).ok_or_else(|| {
            format!("`{text}` is not a size; write a whole number with B, KiB, MiB, GiB or TiB")
        })
    }
}

impl std::str::FromStr for Nanoseconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read_exact(text, &TIME_UNITS).map(Self).ok_or_else(|| {
            format!("`{text}` is not a time; write a whole number with ns, us, ms, s, m or h")
        })
    }
}

impl std::str::FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_suffix('%') {
            Some(number) => match number.parse() {
                Ok(percent @ 0..=100) => Ok(Self::Percent(percent)),
                _ => Err(format!("`{text}` is not a share from 0% to 100%")),
            },
            None => text.parse().map(Self::Bytes),
        }
    }
}

/// Serialises a type by its text.
macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?
                    .parse()
                    .map_err(serde::de::Error::custom)
            }
        }
    )*};
}
as_text!(Bytes, Nanoseconds, Amount);

/// What `k`, `m` and `g` mean in a job (fio's `kb_base`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KbBase {
    /// `k` and `kB` are 1024, `KiB` is 1000: fio's default, inverted for the sake
    /// of old files.
    #[default]
    Inverted1024,
    /// `k` and `kB` are 1000, `KiB` is 1024, as the standards say.
    Standard1000,
}

/// The factor of a size unit: fio 3.33 printed these for each spelling under both
/// bases. Only `i` *and* `b` together select the other base, so `Ki` is `k`.
pub(crate) fn size_factor(unit: &str, base: KbBase) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    if unit == "b" {
        return Some(1);
    }
    let exponent = match unit.as_bytes().first()? {
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        b'p' => 5,
        _ => return None,
    };
    let binary = match &unit[1..] {
        "" | "b" | "i" => base == KbBase::Inverted1024,
        "ib" => base == KbBase::Standard1000,
        _ => return None,
    };
    let kilo: u64 = if binary { 1024 } else { 1000 };
    Some(kilo.pow(exponent))
}

/// Whether a size is spelt so that fio reads other bytes than people expect:
/// `4KiB` is 4000 with the default base, `4Ki` is 4000 with base 1000.
pub(crate) fn is_trap(text: &str, base: KbBase) -> bool {
    let lower = text.to_ascii_lowercase();
    let ends = |suffix: &str| {
        ["k", "m", "g", "t", "p"]
            .iter()
            .any(|unit| lower.ends_with(&format!("{unit}{suffix}")))
    };
    match base {
        KbBase::Inverted1024 => ends("ib"),
        KbBase::Standard1000 => ends("i"),
    }
}

/// The factor of a time unit, ns.
pub(crate) fn time_factor_ns(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" | "hr" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    })
}

/// Reads a size in bytes.
pub(crate) fn read_bytes(text: &str, base: KbBase) -> Result<u64, String> {
    let evaluated = evaluate(text, &|unit| size_factor(unit, base))?;
    bounded(evaluated.value)
}

/// Reads a whole number; sizes' units multiply it, as fio allows (`loops=1k`).
pub(crate) fn read_integer(text: &str, base: KbBase) -> Result<i64, String> {
    let evaluated = evaluate(text, &|unit| size_factor(unit, base))?;
    i64::try_from(evaluated.value).map_err(|_| "it is too large".to_owned())
}

/// Reads a time in nanoseconds; `unit_ns` is what a bare number counts.
pub(crate) fn read_time_ns(text: &str, unit_ns: u64) -> Result<u64, String> {
    let evaluated = evaluate(text, &time_factor_ns)?;
    let factor = if evaluated.had_unit { 1 } else { unit_ns };
    bounded(
        evaluated
            .value
            .checked_mul(i128::from(factor))
            .ok_or("it is too large")?,
    )
}

fn bounded(value: i128) -> Result<u64, String> {
    if value < 0 {
        return Err("it is negative".to_owned());
    }
    i64::try_from(value)
        .map(i64::unsigned_abs)
        .map_err(|_| "it is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_mean_what_fio_3_33_printed_for_them() {
        let printed = [
            ("k", 4096, 4000),
            ("KB", 4096, 4000),
            ("Ki", 4096, 4000),
            ("KiB", 4000, 4096),
            ("m", 4_194_304, 4_000_000),
            ("MiB", 4_000_000, 4_194_304),
            ("mb", 4_194_304, 4_000_000),
        ];
        for (unit, inverted, standard) in printed {
            let text = format!("4{unit}");
            assert_eq!(read_bytes(&text, KbBase::Inverted1024), Ok(inverted));
            assert_eq!(read_bytes(&text, KbBase::Standard1000), Ok(standard));
        }
    }

    #[test]
    fn what_fio_misreads_in_silence_is_refused() {
        // fio 3.33 reads the first as 1 byte, the second and third as 1 us.
        assert!(read_bytes("1.5g", KbBase::Inverted1024).is_err());
        assert!(read_time_ns("1m30s", 1_000_000_000).is_err());
        assert!(read_time_ns("1h30m", 1_000_000_000).is_err());
        assert!(read_bytes("8s", KbBase::Inverted1024).is_err());
    }

    #[test]
    fn times_count_their_default_unit_unless_one_is_given() {
        assert_eq!(read_time_ns("30", 1_000_000_000), Ok(30_000_000_000));
        assert_eq!(read_time_ns("30", 1_000), Ok(30_000));
        assert_eq!(read_time_ns("1500ms", 1_000_000_000), Ok(1_500_000_000));
        assert_eq!(read_time_ns("(1m+30s)", 1_000_000_000), Ok(90_000_000_000));
        assert_eq!(read_time_ns("(2*30)", 1_000_000_000), Ok(60_000_000_000));
    }

    #[test]
    fn text_is_exact_both_ways() {
        for (bytes, text) in [
            (0, "0B"),
            (4096, "4KiB"),
            (4000, "4000B"),
            (3 << 29, "1536MiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
        }
        for (ns, text) in [(0, "0ns"), (90_000_000_000, "90s"), (1_500_000, "1500us")] {
            assert_eq!(Nanoseconds(ns).to_string(), text);
            assert_eq!(text.parse(), Ok(Nanoseconds(ns)));
        }
        assert_eq!("50%".parse(), Ok(Amount::Percent(50)));
        assert!("101%".parse::<Amount>().is_err());
    }
}
