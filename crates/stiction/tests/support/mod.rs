//! What the end-to-end tests share: the binary with a store of its own.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// A store that is gone with the test, and the binary that uses it.
pub(crate) struct Lab {
    store: TempDir,
}

impl Lab {
    /// An empty store.
    pub(crate) fn new() -> Self {
        Self {
            store: TempDir::new().expect("a temporary directory"),
        }
    }

    /// `stiction` with these arguments, in plain surroundings.
    pub(crate) fn stiction<I, S>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        let mut command = Command::cargo_bin("stiction").expect("the binary is built");
        command
            .env_remove("NO_COLOR")
            .env("STICTION_STORE", self.store.path())
            .args(arguments);
        command
    }

    /// Stdout of a command that ends with `code`.
    pub(crate) fn output<I, S>(&self, arguments: I, code: i32) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        let assert = self.stiction(arguments).assert().code(code);
        String::from_utf8(assert.get_output().stdout.clone()).expect("stdout is UTF-8")
    }

    /// JSON on stdout of a command that ends with `code`.
    pub(crate) fn json<I, S>(&self, arguments: I, code: i32) -> serde_json::Value
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        let arguments = arguments.into_iter().map(|a| a.as_ref().to_owned());
        let text = self.output(arguments.chain(["--json".into()]), code);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in:\n{text}"))
    }

    /// Where the store is.
    pub(crate) fn store(&self) -> &Path {
        self.store.path()
    }
}

/// One of the tables of 2002 and 2003.
pub(crate) fn seed(name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("crates/");
    crates.join("stiction-formats/tests/data").join(name)
}

/// Every line fits a terminal.
pub(crate) fn assert_fits(text: &str) {
    for line in text.lines() {
        assert!(
            line.chars().count() <= 80,
            "{} columns: {line}",
            line.chars().count()
        );
    }
}
