//! The user's own metrics: what they are called, and where their numbers stand.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use stiction_core::{Better, Measurement, Metric, MetricClass, Unit};

use super::number;
use crate::SuiteError;

/// Longest file that a metric is read from, bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Units as they are typed: what each is kept in, how many of that, and its class.
#[rustfmt::skip]
const UNITS: &[(&str, Unit, f64, MetricClass)] = &[
    ("B/s", Unit::BytesPerSecond, 1.0, MetricClass::Throughput),
    ("kB/s", Unit::BytesPerSecond, 1e3, MetricClass::Throughput),
    ("MB/s", Unit::BytesPerSecond, 1e6, MetricClass::Throughput),
    ("GB/s", Unit::BytesPerSecond, 1e9, MetricClass::Throughput),
    ("KiB/s", Unit::BytesPerSecond, 1024.0, MetricClass::Throughput),
    ("MiB/s", Unit::BytesPerSecond, 1_048_576.0, MetricClass::Throughput),
    ("GiB/s", Unit::BytesPerSecond, 1_073_741_824.0, MetricClass::Throughput),
    ("/s", Unit::OperationsPerSecond, 1.0, MetricClass::Throughput),
    ("ops/s", Unit::OperationsPerSecond, 1.0, MetricClass::Throughput),
    ("s", Unit::Seconds, 1.0, MetricClass::Throughput),
    ("min", Unit::Seconds, 60.0, MetricClass::Throughput),
    ("ms", Unit::Nanoseconds, 1e6, MetricClass::LatencyMean),
    ("us", Unit::Nanoseconds, 1e3, MetricClass::LatencyMean),
    ("ns", Unit::Nanoseconds, 1.0, MetricClass::LatencyMean),
    ("B", Unit::Bytes, 1.0, MetricClass::Throughput),
    ("KiB", Unit::Bytes, 1024.0, MetricClass::Throughput),
    ("MiB", Unit::Bytes, 1_048_576.0, MetricClass::Throughput),
    ("GiB", Unit::Bytes, 1_073_741_824.0, MetricClass::Throughput),
    ("count", Unit::Count, 1.0, MetricClass::Throughput),
    ("%", Unit::Percent, 1.0, MetricClass::Throughput),
    ("ratio", Unit::Ratio, 1.0, MetricClass::Throughput),
];

/// A metric and where its number stands, as in `tps[/s,more]=/tps = ([0-9.]+)/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MetricSource {
    text: String,
    name: String,
    unit: usize,
    better: Better,
    place: Place,
    finder: Finder,
}

/// What is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Output,
    Talk,
    File(PathBuf),
}

/// How it is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finder {
    /// An expression with one group.
    Pattern(String),
    /// A JSON pointer (RFC 6901) into the whole.
    Pointer(String),
}

/// What a program said, and where it was run.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// Its standard output.
    pub output: &'a [u8],
    /// Its standard error.
    pub talk: &'a [u8],
    /// Its working directory, which paths of files are relative to.
    pub directory: &'a Path,
}

/// A number that was found, or why there is none.
pub type Found = Result<Measurement, String>;

impl MetricSource {
    /// What the user calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The metric.
    #[must_use]
    pub fn metric(&self) -> Metric {
        let (_, unit, _, class) = UNITS[self.unit];
        Metric {
            name: self.name.clone().into(),
            unit,
            better: self.better,
            class,
        }
    }

    /// The metric's number in what was said. There has to be exactly one.
    ///
    /// # Errors
    /// In words, when there is none, or several, or it does not read.
    pub fn find(&self, said: &Said<'_>) -> Found {
        let value = self.text_of(said).and_then(|text| match &self.finder {
            Finder::Pattern(pattern) => in_pattern(pattern, &text),
            Finder::Pointer(pointer) => at_pointer(pointer, &text),
        });
        let value = value.map_err(|problem| format!("metric {}: {problem}", self.name))?;
        let (_, _, scale, _) = UNITS[self.unit];
        let scaled = value * scale;
        if !scaled.is_finite() {
            return Err(format!("metric {}: {value} is too large", self.name));
        }
        Ok(Measurement::new(self.metric(), scaled, 1))
    }

    fn text_of(&self, said: &Said<'_>) -> Result<String, String> {
        let bytes = match &self.place {
            Place::Output => said.output.to_vec(),
            Place::Talk => said.talk.to_vec(),
            Place::File(path) => {
                let path = said.directory.join(path);
                contents(&path)?
            }
        };
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The expression, in which `^` and `$` are the ends of lines.
fn expression(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).multi_line(true).build();
    built.map_err(|error| error.to_string())
}

/// All that a file holds. Its length is not asked for: a file of the kernel's has none.
fn contents(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error| format!("cannot read {}: {error}", path.display());
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(format!("{} is no regular file", path.display()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("{} has more than 64 MiB", path.display()));
    }
    Ok(bytes)
}

/// The number in the group of the only match.
fn in_pattern(pattern: &str, text: &str) -> Result<f64, String> {
    let expression = expression(pattern)?;
    let mut matches = expression.captures_iter(text);
    let Some(first) = matches.next() else {
        return Err(format!("nothing matches /{pattern}/"));
    };
    if matches.next().is_some() {
        return Err(format!(
            "/{pattern}/ matches more than once; make it match the one that counts"
        ));
    }
    match first.get(1) {
        Some(group) => number::read(group.as_str()),
        None => Err(format!("the group of /{pattern}/ matched nothing")),
    }
}

/// The number at a place of a JSON document.
fn at_pointer(pointer: &str, text: &str) -> Result<f64, String> {
    let document: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    match document.pointer(pointer) {
        None => Err(format!("the JSON has nothing at {pointer}")),
        Some(serde_json::Value::Number(number)) => number
            .as_f64()
            .ok_or_else(|| format!("{number} at {pointer} is too large")),
        Some(serde_json::Value::String(text)) => number::read(text),
        Some(other) => Err(format!("the JSON has no number at {pointer}: {other}")),
    }
}

/// The form, for messages.
const FORM: &str = "NAME[UNIT,more|less]=/REGEX with one group/ (or stderr:/REGEX/, \
                    json:/POINTER, file:PATH:/REGEX/, file:PATH:json:/POINTER)";

impl FromStr for MetricSource {
    type Err = SuiteError;

    fn from_str(text: &str) -> Result<Self, SuiteError> {
        parse(text).map_err(|problem| {
            SuiteError::option("metric", format!("`{text}`: {problem}; the form is {FORM}"))
        })
    }
}

fn parse(text: &str) -> Result<MetricSource, String> {
    let (head, source) = text
        .split_once("]=")
        .ok_or("there is no unit and direction in brackets before `=`")?;
    let (name, inside) = head.split_once('[').ok_or("there is no `[`")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if name.is_empty() || !name.chars().all(is_name) {
        return Err("a name is made of letters, digits, `_`, `.` and `-`".to_owned());
    }
    if stiction_core::metrics::by_name(name).is_some() {
        return Err(format!("{name} is a metric of stiction's own"));
    }
    let (unit, better) = inside
        .split_once(',')
        .ok_or("say which way is better: [UNIT,more] or [UNIT,less]")?;
    let number = UNITS
        .iter()
        .position(|(known, ..)| *known == unit.trim())
        .ok_or_else(|| format!("no such unit; there are {}", known_units()))?;
    let better = match better.trim() {
        "more" => Better::More,
        "less" => Better::Less,
        other => return Err(format!("`{other}` is neither more nor less")),
    };
    let (place, finder) = place_and_finder(source)?;
    Ok(MetricSource {
        text: text.to_owned(),
        name: name.to_owned(),
        unit: number,
        better,
        place,
        finder,
    })
}

fn known_units() -> String {
    let names: Vec<&str> = UNITS.iter().map(|(name, ..)| *name).collect();
    names.join(" ")
}

fn place_and_finder(source: &str) -> Result<(Place, Finder), String> {
    if let Some(rest) = source.strip_prefix("stderr:") {
        return Ok((Place::Talk, finder(rest)?));
    }
    let Some(rest) = source.strip_prefix("file:") else {
        return Ok((Place::Output, finder(source)?));
    };
    let end = rest
        .find(":json:/")
        .or_else(|| rest.find(":/"))
        .filter(|&end| end > 0)
        .ok_or("after file: comes PATH, a colon, and /REGEX/ or json:/POINTER")?;
    Ok((Place::File(rest[..end].into()), finder(&rest[end + 1..])?))
}

fn finder(text: &str) -> Result<Finder, String> {
    if let Some(pointer) = text.strip_prefix("json:") {
        if !pointer.starts_with('/') {
            return Err("a JSON pointer begins with `/`".to_owned());
        }
        return Ok(Finder::Pointer(pointer.to_owned()));
    }
    let pattern = text
        .strip_prefix('/')
        .and_then(|rest| rest.strip_suffix('/'))
        .filter(|pattern| !pattern.is_empty())
        .ok_or("there is no /REGEX/")?;
    match expression(pattern)?.captures_len() {
        2 => Ok(Finder::Pattern(pattern.to_owned())),
        1 => Err("the expression has no group around the number".to_owned()),
        _ => Err("the expression has several groups; (?:...) groups without one".to_owned()),
    }
}

impl TryFrom<String> for MetricSource {
    type Error = SuiteError;

    fn try_from(text: String) -> Result<Self, SuiteError> {
        text.parse()
    }
}

impl From<MetricSource> for String {
    fn from(source: MetricSource) -> Self {
        source.text
    }
}

impl fmt::Display for MetricSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, output: &str) -> Result<f64, String> {
        let source: MetricSource = source.parse().unwrap();
        let said = Said {
            output: output.as_bytes(),
            talk: b"said aside: 7\n",
            directory: Path::new("/nowhere"),
        };
        source.find(&said).map(|measurement| measurement.value)
    }

    #[test]
    fn numbers_are_found_and_scaled_to_their_unit() {
        let pgbench = "latency average = 1.250 ms\ntps = 3200.5 (without initial)\n";
        assert_eq!(
            found(r"tps[/s,more]=/tps = ([0-9.]+)/", pgbench),
            Ok(3200.5)
        );
        assert_eq!(
            found(r"wait[ms,less]=/average = ([0-9.]+) ms/", pgbench),
            Ok(1_250_000.0)
        );
        assert_eq!(found("rate[MiB/s,more]=/^(.*)$/", "2"), Ok(2_097_152.0));
        assert_eq!(
            found(r"n[count,more]=/^b=(\d+)$/", "a=1\nb=2\nb=\n"),
            Ok(2.0)
        );
        assert_eq!(found(r"x[count,less]=stderr:/aside: (\d+)/", ""), Ok(7.0));
        let json = r#"{"jobs":[{"read":{"iops":12.5,"bw":"300"}}]}"#;
        assert_eq!(
            found("iops[/s,more]=json:/jobs/0/read/iops", json),
            Ok(12.5)
        );
        assert_eq!(found("bw[kB/s,more]=json:/jobs/0/read/bw", json), Ok(300e3));
    }

    #[test]
    fn a_number_that_is_missing_or_ambiguous_is_never_zero() {
        for (source, output, reason) in [
            (r"x[s,less]=/t=(\d+)/", "nothing", "nothing matches"),
            (r"x[s,less]=/t=(\d+)/", "t=1 t=2", "more than once"),
            (r"x[s,less]=/t=(\S+)/", "t=12K", "1000 or of 1024"),
            (r"x[s,less]=/t=(\S+)/", "t=1,5", "separator"),
            (r"x[s,less]=/t(=1)?/", "t", "matched nothing"),
            ("x[s,less]=json:/a", "{", "no JSON"),
            ("x[s,less]=json:/a", "{\"b\":1}", "nothing at /a"),
            ("x[s,less]=json:/a", "{\"a\":null}", "no number at /a"),
            ("x[s,less]=json:/a", "{\"a\":true}", "no number at /a"),
            ("x[GiB/s,more]=/^(.+)$/", "1e308", "too large"),
            ("x[s,less]=file:out:json:/a", "", "/nowhere/out"),
            // Neither has an end that could be waited for.
            (r"x[s,less]=file:/dev/zero:/(\d)/", "", "no regular file"),
            (r"x[s,less]=file:/dev/tty:/(\d)/", "", "no regular file"),
        ] {
            let error = found(source, output).unwrap_err();
            assert!(
                error.contains(reason) && error.contains("metric x"),
                "{source}: {error}"
            );
        }
    }

    #[test]
    fn files_are_read_from_the_working_directory() {
        let folder = testkit::scratch_folder();
        std::fs::write(folder.path().join("a:b.json"), r#"{"a":{"b~c":3}}"#).unwrap();
        std::fs::write(folder.path().join("log"), "rate 5\n").unwrap();
        let said = Said {
            output: b"",
            talk: b"",
            directory: folder.path(),
        };
        for (source, value) in [
            ("x[s,less]=file:a:b.json:json:/a/b~0c", 3.0),
            ("x[s,less]=file:log:/rate ([0-9]+)/", 5.0),
        ] {
            let source: MetricSource = source.parse().unwrap();
            assert_eq!(source.find(&said).unwrap().value, value);
        }
    }

    #[test]
    fn what_does_not_say_all_of_it_is_refused() {
        for (text, reason) in [
            ("x=/(1)/", "brackets"),
            ("x[s]=/(1)/", "which way is better"),
            ("x[parsec,less]=/(1)/", "no such unit"),
            ("x[s,worse]=/(1)/", "neither more nor less"),
            ("[s,less]=/(1)/", "a name is made of"),
            ("a b[s,less]=/(1)/", "a name is made of"),
            ("elapsed_s[s,less]=/(1)/", "stiction's own"),
            ("x[s,less]=1", "no /REGEX/"),
            ("x[s,less]=//", "no /REGEX/"),
            ("x[s,less]=/1/", "no group"),
            ("x[s,less]=/(1)(2)/", "several groups"),
            ("x[s,less]=/(1/", "group"),
            ("x[s,less]=json:a", "begins with"),
            ("x[s,less]=file:log", "after file:"),
        ] {
            let error = text.parse::<MetricSource>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_source_reads_back_as_it_was_written() {
        let text = r"p99[us,less]=file:out.json:json:/lat/p99";
        let source: MetricSource = text.parse().unwrap();
        let json = serde_json::to_string(&source).unwrap();
        assert_eq!(serde_json::from_str::<MetricSource>(&json).unwrap(), source);
        assert_eq!(source.metric().class, MetricClass::LatencyMean);
    }
}
