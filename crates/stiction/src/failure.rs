//! Errors on their way to the person: what happened, to what, and what to do next.

use std::fmt::{self, Display};

use crate::exit::Exit;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What happened, with the path and the system's reason.
    message: String,
    /// What to do next, where that is not plain from the message.
    advice: Option<String>,
    /// The code that the program ends with.
    pub(crate) exit: Exit,
}

impl Failure {
    /// A failure that ends with code 2.
    pub(crate) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            advice: None,
            exit: Exit::Error,
        }
    }

    /// What happened, and what to do next, without who says so.
    pub(crate) fn message(&self) -> String {
        match &self.advice {
            Some(advice) => format!("{}; {advice}", self.message),
            None => self.message.clone(),
        }
    }

    /// The same with what to do next.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// The same with another exit code.
    pub(crate) fn ending_with(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stiction: {}", self.message)?;
        match &self.advice {
            Some(advice) => write!(f, "\n          {advice}"),
            None => Ok(()),
        }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            let text = inner.to_string();
            // thiserror's `#[from]` variants often print their source already.
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            cause = inner.source();
        }
        Self::new(message)
    }
}
