//! The command as a session records it: what was chosen, without paths and serial
//! numbers, which the environment has.

use std::fmt::Display;

use clap::ValueEnum;

/// A command line under construction.
pub(super) struct Recorded(Vec<String>);

impl Recorded {
    /// `stiction NAME`.
    pub(super) fn new(name: &str) -> Self {
        Self(vec!["stiction".to_owned(), name.to_owned()])
    }

    /// `--OPTION=VALUE`, where there is one.
    pub(super) fn value(mut self, option: &str, value: Option<impl Display>) -> Self {
        self.0
            .extend(value.map(|value| format!("{option}={value}")));
        self
    }

    /// `--OPTION=WORD` of a choice, as it is typed, where there is one.
    pub(super) fn choice(self, option: &str, choice: Option<&impl ValueEnum>) -> Self {
        self.value(option, choice.and_then(word))
    }

    /// `--OPTION=WORD,WORD` of choices, where there are any.
    pub(super) fn choices(self, option: &str, choices: &[impl ValueEnum]) -> Self {
        let words: Vec<String> = choices.iter().filter_map(word).collect();
        self.list(option, &words)
    }

    /// `--OPTION=A,B`, where there are any.
    pub(super) fn list<T: Display>(self, option: &str, values: &[T]) -> Self {
        let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
        self.value(option, (!texts.is_empty()).then(|| texts.join(",")))
    }

    /// The option, where it is on.
    pub(super) fn switch(mut self, option: &str, is_on: bool) -> Self {
        self.0.extend(is_on.then(|| option.to_owned()));
        self
    }

    /// The words.
    pub(super) fn words(self) -> Vec<String> {
        self.0
    }
}

/// The word that is typed for a choice.
fn word(choice: &impl ValueEnum) -> Option<String> {
    let word = choice.to_possible_value()?;
    Some(word.get_name().to_owned())
}
