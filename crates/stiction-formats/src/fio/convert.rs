//! Jobs as text of our own: `[[job]]` tables in TOML, in words that say what they do.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::error::FioError;
use super::job::FioJob;
use super::resolve::Resolved;

/// The whole of a job text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobText {
    job: Vec<FioJob>,
}

/// Writes the jobs of a file as our own text. What was left to fio's defaults is
/// spelt out, with a comment that says so.
#[must_use]
pub fn to_toml(resolved: &Resolved) -> String {
    let mut text = String::from(
        "# Converted from a job file of fio. Sizes and times carry their units: KiB is 1024.\n",
    );
    for resolved in &resolved.jobs {
        let _ = write!(text, "\n# [{}] at {}\n", resolved.job.name, resolved.place);
        for default in &resolved.defaults {
            let _ = writeln!(
                text,
                "# fio's default {}={}: {}",
                default.option, default.value, default.meaning
            );
        }
        for option in &resolved.without_effect {
            let _ = writeln!(text, "# left out: {}, {}", option.option, option.reason);
        }
        let one = JobText {
            job: vec![resolved.job.clone()],
        };
        // Plain data with text keys: nothing in it that TOML cannot say.
        text.push_str(&toml::to_string(&one).expect("a job is TOML"));
    }
    text
}

/// Reads what [`to_toml`] wrote, or what a person wrote in its manner; `file` is for
/// messages.
///
/// # Errors
/// [`FioError::Text`] with the line, when the text is no TOML or no job.
pub fn from_toml(file: &str, text: &str) -> Result<Vec<FioJob>, FioError> {
    toml::from_str::<JobText>(text)
        .map(|text| text.job)
        .map_err(|error| {
            let line = error.span().map_or(1, |span| {
                text.as_bytes()[..span.start.min(text.len())]
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count()
                    + 1
            });
            FioError::Text {
                file: file.to_owned(),
                line,
                what: error.message().to_owned(),
            }
        })
}
