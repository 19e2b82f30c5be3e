//! Names of sessions: ordered by time, short enough to type.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Crockford's base 32: no i, l, o or u, so an id survives being read aloud.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TAIL: usize = 4;

/// The id of a session, such as `20021130-105912-k3f9`: UTC date and time, then
/// four random characters.
///
/// Ids sort by time. A person types any unique beginning, or the tail alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// Why a text is not a session id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a session id; ids look like 20021130-105912-k3f9 (see `stiction list`)")]
pub struct IdError(String);

impl SessionId {
    /// The id for a session that starts at `at`, with `random` choosing its tail.
    #[must_use]
    pub fn new(at: jiff::Timestamp, random: u64) -> Self {
        let tail: String = (0..TAIL)
            .map(|place| char::from(ALPHABET[(random >> (5 * place)) as usize & 31]))
            .collect();
        Self(format!("{}-{tail}", at.strftime("%Y%m%d-%H%M%S")))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The random part, which is mostly unique by itself.
    #[must_use]
    pub fn tail(&self) -> &str {
        &self.0[self.0.len() - TAIL..]
    }

    /// Whether `typed` means this id: a beginning of it, or its whole tail.
    #[must_use]
    pub fn answers_to(&self, typed: &str) -> bool {
        !typed.is_empty() && (self.0.starts_with(typed) || self.tail() == typed)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let digits = |part: &str, length: usize| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        let parts: Vec<&str> = text.split('-').collect();
        match parts[..] {
            [date, time, tail]
                if digits(date, 8)
                    && digits(time, 6)
                    && tail.len() == TAIL
                    && tail.bytes().all(|byte| ALPHABET.contains(&byte)) =>
            {
                Ok(Self(text.to_owned()))
            }
            _ => Err(IdError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for SessionId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_answer_to_beginning_and_tail() {
        let early = SessionId::new("2002-11-30T10:59:12Z".parse().unwrap(), 0);
        let late = SessionId::new("2002-11-30T10:59:13Z".parse().unwrap(), 0x9_4c37);
        assert!(early < late);
        assert_eq!(early.as_str(), "20021130-105912-0000");
        assert!(late.answers_to("20021130-105913"));
        assert!(late.answers_to(late.tail()));
        assert!(!late.answers_to(""));
        assert!(!late.answers_to(&late.tail()[1..]));
    }

    #[test]
    fn only_well_formed_ids_parse() {
        for text in ["20021130-105912-k3f9", "20260101-000000-zzzz"] {
            assert_eq!(text.parse::<SessionId>().unwrap().as_str(), text);
        }
        for text in [
            "",
            "k3f9",
            "20021130-105912-k3fl",
            "20021130-105912-K3F9",
            "../x-105912-k3f9",
        ] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
    }
}
