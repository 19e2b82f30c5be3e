//! `stiction compare`.

use std::ffi::OsStr;

use stiction_analysis::Outcome;
use stiction_analysis::compare::{CompareOptions, Side, compare};
use stiction_core::Session;
use stiction_report::json;
use stiction_store::Archive;

use super::operand::{is_path, session_or_file};
use super::{Desk, store};
use crate::arguments::CompareArguments;
use crate::exit::Exit;
use crate::failure::Failure;

/// Puts two sides next to each other.
pub(super) fn run(typed: &CompareArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open(desk)?;
    let [a, b] = sides(&archive, &typed.operands)?;
    let options = CompareOptions {
        factor: typed.factor.clone(),
        ..CompareOptions::default()
    };
    let comparison = compare(&a.side()?, &b.side()?, &options);
    let text = if desk.console.json {
        json::comparison(&comparison)
    } else {
        stiction_report::comparison(&comparison, desk.console.style())
    };
    desk.console.data(&text)?;
    Ok(match comparison.outcome() {
        Outcome::NoRegression => Exit::Done,
        Outcome::Regression => Exit::Regression,
        Outcome::CannotTell => Exit::CannotTell,
        Outcome::NotComparable => Exit::NothingToJudge,
    })
}

/// What one operand means: a session, or a label inside one.
struct Chosen {
    session: Session,
    label: Option<String>,
}

impl Chosen {
    fn side(&self) -> Result<Side<'_>, Failure> {
        match &self.label {
            None => Ok(Side::whole(&self.session)),
            Some(label) => Ok(Side::labelled(&self.session, label)?),
        }
    }
}

/// Reads two operands as sides, three as a session and two labels inside it.
fn sides(archive: &Archive, operands: &[std::ffi::OsString]) -> Result<[Chosen; 2], Failure> {
    match operands {
        [a, b] => Ok([chosen(archive, a)?, chosen(archive, b)?]),
        [within, a, b] => {
            let session = session_or_file(archive, within)?;
            let inside = |label: &OsStr| Chosen {
                session: session.clone(),
                label: Some(label.to_string_lossy().into_owned()),
            };
            Ok([inside(a), inside(b)])
        }
        _ => Err(Failure::new(
            "give two sides, or a session and two labels inside it",
        )),
    }
}

/// `SESSION`, or `SESSION/LABEL` where the whole is neither a session nor a file.
fn chosen(archive: &Archive, operand: &OsStr) -> Result<Chosen, Failure> {
    let failure = match session_or_file(archive, operand) {
        Ok(session) => {
            return Ok(Chosen {
                session,
                label: None,
            });
        }
        Err(failure) => failure,
    };
    let split = operand.to_str().and_then(|text| text.split_once('/'));
    match split {
        Some((name, label)) if !is_path(operand) => Ok(Chosen {
            session: session_or_file(archive, OsStr::new(name))?,
            label: Some(label.to_owned()),
        }),
        _ => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_named_whole() {
        let top = tempfile::tempdir().unwrap();
        let (archive, _) = Archive::open(&top.path().join("store")).unwrap();
        let empty = top.path().join("mail.txt");
        std::fs::write(&empty, "no table").unwrap();
        for operand in [
            "./nothing.txt",
            "/nothing/mail.txt",
            empty.to_str().unwrap(),
        ] {
            let failure = chosen(&archive, OsStr::new(operand)).err().unwrap();
            assert!(failure.to_string().contains(operand), "{failure}");
        }
        let failure = chosen(&archive, OsStr::new("k3f9/2.5.59")).err().unwrap();
        assert!(failure.to_string().contains("`k3f9`"), "{failure}");
    }
}
