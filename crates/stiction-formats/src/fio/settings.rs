//! The settings of one job: globals, its own and the command line's in the order in
//! which they count, each value read by its option's kind.

use super::error::{FioError, Place};
use super::ini::{JobFile, Section, Setting};
use super::job::PerDirection;
use super::options::{self, FioOption, Kind, Status};
use super::units::{Amount, Bytes, KbBase, read_bytes, read_integer, read_time_ns};

/// A value, read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Switch(bool),
    Integer(i64),
    Integers(PerDirection<Option<i64>>),
    Size(u64),
    Sizes(PerDirection<Option<u64>>),
    SizeRange(u64, u64),
    SizeRanges(PerDirection<Option<(u64, u64)>>),
    Amount(Amount),
    TimeRange(u64, u64),
    Numbers(Vec<f64>),
}

/// A setting that counts: no later one of its option replaces it.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) option: &'static FioOption,
    pub(super) value: Value,
    /// The value as written.
    pub(super) written: String,
    pub(super) place: Place,
    pub(super) value_place: Place,
}

/// All that count for one job, in their order, and what was wrong.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    chosen: Vec<Chosen>,
    pub(super) errors: Vec<FioError>,
    pub(super) kb_base: KbBase,
}

/// The job sections of a file, each with the raw settings that count for it.
pub(super) fn jobs(file: &JobFile) -> Vec<(&Section, Vec<&Setting>)> {
    let mut globals: Vec<&Setting> = Vec::new();
    let mut jobs = Vec::new();
    for section in &file.sections {
        if section.is_global() {
            globals.extend(&section.settings);
            continue;
        }
        let from_command_line = section.place.file.is_none();
        let mut settings = globals.clone();
        if from_command_line {
            settings.extend(&file.overrides);
        }
        settings.extend(&section.settings);
        if !from_command_line {
            settings.extend(&file.overrides);
        }
        jobs.push((section, settings));
    }
    jobs
}

impl Settings {
    /// Reads the settings of one job, in their order; later ones replace earlier.
    pub(super) fn read(raw: &[&Setting]) -> Self {
        let mut settings = Self::default();
        // fio reads kb_base before all others, wherever it stands.
        for setting in raw.iter().filter(|setting| setting.name == "kb_base") {
            settings.kb_base = match setting.value.as_deref() {
                Some("1000") => KbBase::Standard1000,
                _ => KbBase::Inverted1024,
            };
        }
        for setting in raw {
            settings.add(setting);
        }
        settings
    }

    fn add(&mut self, setting: &Setting) {
        let Some(option) = options::find(&setting.name) else {
            self.errors.push(FioError::UnknownOption {
                place: setting.place.clone(),
                name: setting.name.clone(),
                nearest: options::nearest(&setting.name).map(str::to_owned),
            });
            return;
        };
        if let Status::Refused(reason) = option.status {
            // Switched off, or left at what it does anyway, it asks for nothing.
            if !matches!(
                (option.kind, setting.value.as_deref()),
                (Kind::Bool, Some("0")) | (Kind::Word(_), Some("none"))
            ) {
                self.errors.push(FioError::Refused {
                    place: setting.place.clone(),
                    name: setting.name.clone(),
                    reason: reason.to_owned(),
                });
            }
            return;
        }
        match read(option.kind, setting.value.as_deref(), self.kb_base) {
            Ok(value) => {
                self.chosen
                    .retain(|chosen| chosen.option.name != option.name);
                self.chosen.push(Chosen {
                    option,
                    value,
                    written: setting.value.clone().unwrap_or_default(),
                    place: setting.place.clone(),
                    value_place: setting.value_place.clone(),
                });
            }
            Err((what, advice)) => self.errors.push(FioError::Value {
                place: setting.value_place.clone(),
                option: setting.name.clone(),
                value: setting.value.clone().unwrap_or_default(),
                what,
                advice,
            }),
        }
    }

    /// All that count, in their order.
    pub(super) fn all(&self) -> &[Chosen] {
        &self.chosen
    }

    /// The setting of an option.
    pub(super) fn get(&self, name: &str) -> Option<&Chosen> {
        debug_assert!(options::find(name).is_some(), "{name} is in the table");
        self.chosen.iter().find(|chosen| chosen.option.name == name)
    }

    /// Whichever of two options was set last.
    pub(super) fn later(&self, one: &str, other: &str) -> Option<&Chosen> {
        self.chosen
            .iter()
            .rev()
            .find(|chosen| chosen.option.name == one || chosen.option.name == other)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match &self.get(name)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        match self.get(name)?.value {
            Value::Switch(on) => Some(on),
            _ => None,
        }
    }

    /// Whether it is set to 1.
    pub(super) fn on(&self, name: &str) -> bool {
        self.switch(name) == Some(true)
    }

    /// A whole number, as a type that the range of its kind fits in.
    pub(super) fn integer<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        match self.get(name)?.value {
            Value::Integer(value) => T::try_from(value).ok(),
            _ => None,
        }
    }

    pub(super) fn size(&self, name: &str) -> Option<Bytes> {
        match self.get(name)?.value {
            Value::Size(bytes) => Some(Bytes(bytes)),
            _ => None,
        }
    }

    pub(super) fn sizes(&self, name: &str) -> PerDirection<Option<u64>> {
        match self.get(name).map(|chosen| &chosen.value) {
            Some(Value::Sizes(sizes)) => *sizes,
            _ => PerDirection::default(),
        }
    }

    pub(super) fn integers(&self, name: &str) -> PerDirection<Option<u64>> {
        match self.get(name).map(|chosen| &chosen.value) {
            Some(Value::Integers(values)) => {
                values.map(|value| value.and_then(|value| u64::try_from(value).ok()))
            }
            _ => PerDirection::default(),
        }
    }

    pub(super) fn amount(&self, name: &str) -> Option<Amount> {
        match self.get(name)?.value {
            Value::Amount(amount) => Some(amount),
            _ => None,
        }
    }

    pub(super) fn time_ns(&self, name: &str) -> Option<u64> {
        self.time_range_ns(name).map(|(least, _)| least)
    }

    pub(super) fn time_range_ns(&self, name: &str) -> Option<(u64, u64)> {
        match self.get(name)?.value {
            Value::TimeRange(least, most) => Some((least, most)),
            _ => None,
        }
    }

    pub(super) fn numbers(&self, name: &str) -> Vec<f64> {
        match self.get(name).map(|chosen| &chosen.value) {
            Some(Value::Numbers(numbers)) => numbers.clone(),
            _ => Vec::new(),
        }
    }

    /// Reads the text of an option by `read`, and notes what is wrong with it.
    pub(super) fn parsed<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str, KbBase) -> Result<T, Complaint>,
    ) -> Option<T> {
        let chosen = self.get(name)?;
        let result = read(&chosen.written, self.kb_base);
        match result {
            Ok(value) => Some(value),
            Err((what, advice)) => {
                let error = FioError::Value {
                    place: chosen.value_place.clone(),
                    option: name.to_owned(),
                    value: chosen.written.clone(),
                    what,
                    advice,
                };
                self.errors.push(error);
                None
            }
        }
    }
}

/// What is wrong with a value, and what to write instead.
pub(super) type Complaint = (String, String);

fn complaint<T>(what: impl Into<String>, advice: impl Into<String>) -> Result<T, Complaint> {
    Err((what.into(), advice.into()))
}

const SIZE_ADVICE: &str = "write a whole number with k, m, g or t, such as 1536m for 1.5g";
const TIME_ADVICE: &str = "write one whole number with us, ms, s, m, h or d, such as 90s for 1m30s";

/// Reads a value by the kind of its option.
fn read(kind: Kind, value: Option<&str>, base: KbBase) -> Result<Value, Complaint> {
    let Some(text) = value else {
        return match kind {
            Kind::Flag => Ok(Value::Switch(true)),
            // fio takes a log without a prefix: it is then the job's name.
            Kind::Text => Ok(Value::Text(String::new())),
            Kind::Bool => complaint("it needs a value", "write 0 or 1 after a `=`"),
            _ => complaint("it needs a value", "write it after a `=`"),
        };
    };
    match kind {
        Kind::Text => Ok(Value::Text(text.to_owned())),
        Kind::Flag | Kind::Bool => match text {
            "0" => Ok(Value::Switch(false)),
            "1" => Ok(Value::Switch(true)),
            _ => complaint("it is neither 0 nor 1", "write 0 or 1"),
        },
        Kind::Integer(least, most) => integer(text, least, most, base).map(Value::Integer),
        Kind::Integers(least, most) => {
            triple(text, |part| integer(part, least, most, base)).map(Value::Integers)
        }
        Kind::Size(least) => size(text, least, base).map(Value::Size),
        Kind::Sizes(least) => triple(text, |part| size(part, least, base)).map(Value::Sizes),
        Kind::Amount => amount(text, base).map(Value::Amount),
        Kind::SizeRange => match text.split_once('-') {
            Some(_) => range(text, base),
            None => size(text, 1, base).map(|bytes| (bytes, bytes)),
        }
        .map(|(least, most)| Value::SizeRange(least, most)),
        Kind::SizeRanges => triple(text, |part| range(part, base)).map(Value::SizeRanges),
        Kind::Time(unit_ns) => {
            time(text, unit_ns).map(|time_ns| Value::TimeRange(time_ns, time_ns))
        }
        Kind::TimeRange(unit_ns) => {
            let (least, most) = text.split_once('-').unwrap_or((text, text));
            let (least, most) = (time(least, unit_ns)?, time(most, unit_ns)?);
            if least > most {
                return complaint("the range runs backwards", "write the least first");
            }
            Ok(Value::TimeRange(least, most))
        }
        Kind::Word(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
        Kind::Word(words) => complaint(
            "it is not a value of this option",
            format!("write one of {}", words.join(", ")),
        ),
        Kind::Percentages => text
            .split(':')
            .map(|part| match part.trim().parse() {
                Ok(number @ 0.0..=100.0) => Ok(number),
                _ => complaint(
                    format!("`{part}` is no number from 0 to 100"),
                    "write decimal numbers with `:` between them",
                ),
            })
            .collect::<Result<_, _>>()
            .map(Value::Numbers),
    }
}

fn integer(text: &str, least: i64, most: i64, base: KbBase) -> Result<i64, Complaint> {
    let bounds = if most == i64::MAX {
        format!("write a whole number of {least} or more")
    } else {
        format!("write a whole number from {least} to {most}")
    };
    match read_integer(text, base) {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        Ok(_) => complaint("it is out of range", bounds),
        Err(what) => complaint(what, bounds),
    }
}

pub(super) fn size(text: &str, least: u64, base: KbBase) -> Result<u64, Complaint> {
    match read_bytes(text, base) {
        Ok(bytes) if bytes >= least => Ok(bytes),
        Ok(_) => complaint("it is too small", format!("write {least} or more")),
        Err(what) => complaint(what, SIZE_ADVICE),
    }
}

fn amount(text: &str, base: KbBase) -> Result<Amount, Complaint> {
    match text.strip_suffix('%') {
        // Arithmetic has a `%` too, but never at its end.
        Some(number) => match number.parse() {
            Ok(percent @ 0..=100) => Ok(Amount::Percent(percent)),
            _ => complaint(
                "it is not a share of the target",
                "write a whole number from 0% to 100%",
            ),
        },
        None => size(text, 0, base).map(|bytes| Amount::Bytes(Bytes(bytes))),
    }
}

fn range(text: &str, base: KbBase) -> Result<(u64, u64), Complaint> {
    let Some((least, most)) = text.split_once('-') else {
        return complaint("it is not a range", "write two sizes as in 4k-64k");
    };
    let (least, most) = (size(least, 1, base)?, size(most, 1, base)?);
    if least > most {
        return complaint("the range runs backwards", "write the smaller size first");
    }
    Ok((least, most))
}

fn time(text: &str, unit_ns: u64) -> Result<u64, Complaint> {
    read_time_ns(text, unit_ns).map_err(|what| (what, TIME_ADVICE.to_owned()))
}

/// Reads one to three values for reads, writes and trims. The last one given counts
/// for the directions after it too, unless a comma follows it; an empty one leaves the
/// usual setting (fio's manual, "comma-separated values").
fn triple<T: Copy>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Complaint>,
) -> Result<PerDirection<Option<T>>, Complaint> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return complaint("it has more than three values", "write reads,writes,trims");
    }
    let mut values = [None; 3];
    for (index, part) in parts.iter().enumerate() {
        if !part.is_empty() {
            values[index..].fill(Some(read(part)?));
        } else {
            values[index..].fill(None);
        }
    }
    if values.iter().all(Option::is_none) {
        return complaint("it has no value", "write reads,writes,trims");
    }
    let [read, write, trim] = values;
    Ok(PerDirection { read, write, trim })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> [Option<u64>; 3] {
        match read(Kind::Sizes(1), Some(text), KbBase::Inverted1024) {
            Ok(Value::Sizes(sizes)) => [sizes.read, sizes.write, sizes.trim],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn commas_divide_reads_writes_and_trims() {
        let (k8, k32) = (Some(8192), Some(32768));
        assert_eq!(sizes("8k"), [k8, k8, k8]);
        assert_eq!(sizes("8k,32k"), [k8, k32, k32]);
        assert_eq!(sizes("8k,32k,"), [k8, k32, None]);
        assert_eq!(sizes(",8k"), [None, k8, k8]);
        assert_eq!(sizes(",8k,"), [None, k8, None]);
        assert_eq!(sizes("8k,"), [k8, None, None]);
        assert!(read(Kind::Sizes(1), Some("1,2,3,4"), KbBase::Inverted1024).is_err());
        assert!(read(Kind::Sizes(1), Some(","), KbBase::Inverted1024).is_err());
        assert!(read(Kind::Sizes(1), Some(""), KbBase::Inverted1024).is_err());
    }

    #[test]
    fn only_flags_go_without_a_value() {
        let base = KbBase::Inverted1024;
        assert_eq!(read(Kind::Flag, None, base), Ok(Value::Switch(true)));
        assert!(read(Kind::Bool, None, base).is_err());
        assert!(read(Kind::Integer(0, 9), None, base).is_err());
        assert!(read(Kind::Bool, Some("yes"), base).is_err());
    }
}
