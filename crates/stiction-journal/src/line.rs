//! One record as one line, with a checksum of itself.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stiction_core::{BISECT_FORMAT_VERSION, BisectEvent, Digest, RECORD_FORMAT_VERSION, Record};

/// What every line begins with; the checksum and [`AFTER_CHECKSUM`] follow.
const BEFORE_CHECKSUM: &[u8] = b"{\"checksum\":\"";
const AFTER_CHECKSUM: &[u8] = b"\",";

/// What stands on the lines of a journal: objects with a tag first.
pub(crate) trait Lines: DeserializeOwned {
    /// What the first line begins with, after its checksum.
    const FIRST: &'static [u8];
    /// The highest version of the form that can be read; the first line states its own.
    const KNOWN_VERSION: u32;
}

impl Lines for Record {
    const FIRST: &'static [u8] = b"\"record\":\"header\",";
    const KNOWN_VERSION: u32 = RECORD_FORMAT_VERSION;
}

impl Lines for BisectEvent {
    const FIRST: &'static [u8] = b"\"event\":\"begun\",";
    const KNOWN_VERSION: u32 = BISECT_FORMAT_VERSION;
}

/// Why a line is not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineError {
    /// It was not written like this, or not wholly.
    Damaged(String),
    /// It is the header of a form that came after this one.
    Newer(u32),
}

/// The line for `record`, with its line end.
///
/// The checksum covers every byte between itself and the line end.
pub(crate) fn encode(record: &impl Serialize) -> Vec<u8> {
    let json = serde_json::to_vec(record).expect("a record is plain data");
    let body = json
        .strip_prefix(b"{")
        .expect("a record is a JSON object with at least its tag");
    let mut line = Vec::with_capacity(body.len() + 32);
    line.extend_from_slice(BEFORE_CHECKSUM);
    line.extend_from_slice(Digest::of(body).short().as_bytes());
    line.extend_from_slice(AFTER_CHECKSUM);
    line.extend_from_slice(body);
    line.push(b'\n');
    line
}

/// The record that `line`, without its line end, stands for.
pub(crate) fn decode<T: Lines>(line: &[u8]) -> Result<T, LineError> {
    let damaged = |what: &str| LineError::Damaged(what.to_owned());
    let (stated, body) = line
        .strip_prefix(BEFORE_CHECKSUM)
        .and_then(|rest| rest.split_at_checked(CHECKSUM_DIGITS))
        .and_then(|(stated, rest)| Some((stated, rest.strip_prefix(AFTER_CHECKSUM)?)))
        .ok_or_else(|| damaged("it does not begin with a checksum"))?;
    if Digest::of(body).short().as_bytes() != stated {
        return Err(damaged("its checksum does not fit it"));
    }
    let json = [b"{", body].concat();
    let unreadable = |error: serde_json::Error| LineError::Damaged(error.to_string());
    if body.starts_with(T::FIRST) {
        // The version first: the rest of a newer header need not make sense here.
        let form: Form = serde_json::from_slice(&json).map_err(unreadable)?;
        if form.format_version > T::KNOWN_VERSION {
            return Err(LineError::Newer(form.format_version));
        }
    }
    serde_json::from_slice(&json).map_err(unreadable)
}

/// Hexadecimal digits of a checksum: 48 bits of SHA-256.
const CHECKSUM_DIGITS: usize = 12;

#[derive(Deserialize)]
struct Form {
    format_version: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum is from `printf '"record":...}' | sha256sum | cut -c1-12`.
    const LINE: &[u8] = br#"{"checksum":"d3236054c0be","record":"trial_start","cell":{"threads":4},"repetition":0,"start_ns":5}"#;

    fn record() -> Record {
        Record::TrialStart {
            cell: stiction_core::Cell::new().with("threads", 4u32),
            repetition: 0,
            block: None,
            targets: None,
            settings: Vec::new(),
            start_ns: 5,
        }
    }

    #[test]
    fn a_line_is_json_with_a_checksum_of_the_rest() {
        let line = encode(&record());
        assert_eq!(line.strip_suffix(b"\n"), Some(LINE));
        assert_eq!(decode(LINE), Ok(record()));
        let json: serde_json::Value = serde_json::from_slice(LINE).unwrap();
        assert_eq!(json["record"], "trial_start");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        for at in 0..LINE.len() {
            for bit in 0..8 {
                let mut line = LINE.to_vec();
                line[at] ^= 1 << bit;
                assert!(decode::<Record>(&line).is_err(), "byte {at}, bit {bit}");
            }
            assert!(decode::<Record>(&LINE[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_newer_header_is_told_from_a_damaged_one() {
        let body = br#""record":"header","format_version":2,"identity":"?"}"#;
        let checksum = Digest::of(body).short().to_owned();
        let line = [BEFORE_CHECKSUM, checksum.as_bytes(), AFTER_CHECKSUM, body].concat();
        assert_eq!(decode::<Record>(&line), Err(LineError::Newer(2)));
    }
}
