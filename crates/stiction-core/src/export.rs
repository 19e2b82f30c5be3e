//! A session as one JSON text that loses nothing and says what it is.

use serde::{Deserialize, Serialize};

use crate::{RECORD_FORMAT_VERSION, Session};

/// The name that an exported session carries.
pub const EXPORT_SCHEMA: &str = "stiction-session";

/// Version of the export's form. A reader refuses a higher one and reads all
/// lower ones.
pub const EXPORT_SCHEMA_VERSION: u32 = 1;

/// The form of an export around the session.
#[derive(Serialize, Deserialize)]
struct Envelope<S> {
    schema: String,
    schema_version: u32,
    session: S,
}

/// The part of an export that says how to read the rest.
#[derive(Deserialize)]
struct Label {
    schema: String,
    schema_version: u32,
}

/// The part of an exported session that says how to read the rest.
#[derive(Deserialize)]
struct Form {
    header: FormOfHeader,
}

#[derive(Deserialize)]
struct FormOfHeader {
    format_version: u32,
}

/// Why a text is not an exported session.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ExportError {
    /// It does not claim to be one; it may be something else that can be read.
    #[error(
        "this is not an exported session: it does not begin as a JSON object with `\"schema\": \"{EXPORT_SCHEMA}\"`"
    )]
    NotAnExport,
    /// A later version of stiction wrote it.
    #[error(
        "{what} is of version {found}, and this stiction reads versions up to {known}; read it with a newer one"
    )]
    Newer {
        /// Which part of it: the export or the records.
        what: &'static str,
        /// The version that it states.
        found: u32,
        /// The highest version that can be read.
        known: u32,
    },
    /// It claims to be one, and does not read as one.
    #[error("this exported session is damaged, or was changed by hand: {0}")]
    Malformed(String),
}

/// The session as JSON, from which [`read_exported_session`] makes an equal one, but for
/// what was typed to run it: that is of use on its own machine alone, and may name what is
/// not meant for others.
#[must_use]
pub fn export_session(session: &Session) -> String {
    let mut session = session.clone();
    session.header.invocation = None;
    let envelope = Envelope {
        schema: EXPORT_SCHEMA.to_owned(),
        schema_version: EXPORT_SCHEMA_VERSION,
        session,
    };
    serde_json::to_string_pretty(&envelope).expect("a session is plain data")
}

/// Reads what [`export_session`] wrote.
///
/// # Errors
/// [`ExportError::NotAnExport`] for any text that does not claim to be one, so that
/// other readers can be tried; the others when it does and cannot be read.
pub fn read_exported_session(text: &str) -> Result<Session, ExportError> {
    let label: Label = serde_json::from_str(text).map_err(|error| {
        // A text that was cut off still says what it was to be.
        let claims = text.trim_start().starts_with('{')
            && text.split_once("\"schema\"").is_some_and(|(_, rest)| {
                rest.trim_start_matches([':', ' '])
                    .starts_with(&format!("\"{EXPORT_SCHEMA}\""))
            });
        if claims {
            ExportError::Malformed(error.to_string())
        } else {
            ExportError::NotAnExport
        }
    })?;
    if label.schema != EXPORT_SCHEMA {
        return Err(ExportError::NotAnExport);
    }
    refuse_newer("this export", label.schema_version, EXPORT_SCHEMA_VERSION)?;
    let malformed = |error: serde_json::Error| ExportError::Malformed(error.to_string());
    let form: Envelope<Form> = serde_json::from_str(text).map_err(malformed)?;
    refuse_newer(
        "the session in this export",
        form.session.header.format_version,
        RECORD_FORMAT_VERSION,
    )?;
    let envelope: Envelope<Session> = serde_json::from_str(text).map_err(malformed)?;
    Ok(envelope.session)
}

fn refuse_newer(what: &'static str, found: u32, known: u32) -> Result<(), ExportError> {
    if found > known {
        return Err(ExportError::Newer { what, found, known });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cell, Environment, Measurement, Phase, PhaseKind, Provenance, SessionHeader, SessionId,
        Trial, metrics,
    };

    fn session() -> Session {
        let started = "2002-11-30T10:59:12Z".parse().unwrap();
        let mut trial = Trial::new(Cell::new().with("threads", 4u32), 0);
        let mut phase = Phase::new("read", PhaseKind::Measure);
        phase
            .measurements
            .push(Measurement::new(metrics::RATE, 0.1 + 0.2, 1));
        trial.phases.push(phase);
        Session {
            header: SessionHeader {
                format_version: RECORD_FORMAT_VERSION,
                id: SessionId::new(started, 7),
                started,
                label: None,
                command: vec!["quick".to_owned()],
                provenance: Provenance::Measured,
                plan: None,
                environment: Environment::default(),
                caveats: Vec::new(),
                invocation: None,
            },
            trials: vec![trial],
            end: None,
            resumptions: Vec::new(),
        }
    }

    #[test]
    fn an_export_reads_back_as_the_same_session() {
        let text = export_session(&session());
        assert!(
            text.starts_with("{\n  \"schema\": \"stiction-session\",\n  \"schema_version\": 1,")
        );
        assert_eq!(read_exported_session(&text), Ok(session()));
    }

    #[test]
    fn newer_versions_are_refused_by_name() {
        let text = export_session(&session());
        let newer = text.replace("\"schema_version\": 1", "\"schema_version\": 2");
        let error = read_exported_session(&newer).unwrap_err();
        assert!(matches!(
            error,
            ExportError::Newer {
                found: 2,
                known: 1,
                ..
            }
        ));
        let newer = text.replace("\"format_version\": 1", "\"format_version\": 9");
        let error = read_exported_session(&newer).unwrap_err();
        assert!(matches!(
            error,
            ExportError::Newer {
                found: 9,
                known: 1,
                ..
            }
        ));
    }

    #[test]
    fn other_texts_are_told_from_damaged_exports() {
        for text in [
            "",
            "{}",
            "[1]",
            "Tiotest results",
            "{\"schema\":\"x\",\"schema_version\":1}",
        ] {
            assert_eq!(
                read_exported_session(text),
                Err(ExportError::NotAnExport),
                "{text}"
            );
        }
        let text = export_session(&session());
        let cut = &text[..text.len() / 2];
        assert!(matches!(
            read_exported_session(cut),
            Err(ExportError::Malformed(_))
        ));
        let forged = text.replace("\"trials\"", "\"trails\"");
        assert!(matches!(
            read_exported_session(&forged),
            Err(ExportError::Malformed(_))
        ));
    }
}
