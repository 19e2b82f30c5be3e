//! What the tests share: the binary with a store of its own, and words about what it
//! leaves.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

/// Longer than any command of these tests takes, on a machine that does much else.
pub(crate) const PATIENCE: Duration = Duration::from_secs(200);

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
        S: AsRef<OsStr>,
    {
        let mut command = Command::from_std(self.process(arguments));
        command.timeout(PATIENCE);
        command
    }

    /// The same, to be started in another way.
    pub(crate) fn process<I, S>(&self, arguments: I) -> std::process::Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut command = std::process::Command::new(binary());
        command
            .env_remove("NO_COLOR")
            .env("STICTION_STORE", self.store.path())
            // The machine that tests run on is never quiet.
            .env("STICTION_SPOILERS", "ignore")
            .stdin(Stdio::null())
            .args(arguments);
        command
    }

    /// Stdout of a command that ends with `code`.
    pub(crate) fn output<I, S>(&self, arguments: I, code: i32) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let assert = self.stiction(arguments).assert().code(code);
        String::from_utf8(assert.get_output().stdout.clone()).expect("stdout is UTF-8")
    }

    /// Stderr of a command that ends with `code`, its lines joined.
    pub(crate) fn talk<I, S>(&self, arguments: I, code: i32) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let assert = self.stiction(arguments).assert().code(code);
        squeezed(&String::from_utf8_lossy(&assert.get_output().stderr))
    }

    /// JSON on stdout of a command that ends with `code`.
    pub(crate) fn json<I, S>(&self, arguments: I, code: i32) -> serde_json::Value
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
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

/// The binary under test.
pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_stiction"))
}

/// Arguments of several kinds in one list.
pub(crate) fn words<const N: usize>(words: [&dyn AsRef<OsStr>; N]) -> [OsString; N] {
    words.map(|word| word.as_ref().to_owned())
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

/// The words of a text with one blank between them, wherever its lines were broken.
pub(crate) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
pub(crate) fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

/// What is in a directory, but for the `lost+found` of its filesystem.
pub(crate) fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory that can be read");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.file_name() != Some(OsStr::new("lost+found")))
        .collect()
}

/// Nothing of ours is left in a directory that was empty before.
#[track_caller]
pub(crate) fn assert_empty(directory: &Path) {
    assert_eq!(entries(directory), Vec::<PathBuf>::new(), "left behind");
}
