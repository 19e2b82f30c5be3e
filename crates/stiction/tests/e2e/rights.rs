//! Users who may not write here, or have no home.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::lab::{Lab, PATIENCE, assert_empty, assert_says, squeezed, words};

/// A user whom no machine knows, and no other test.
fn stranger() -> u32 {
    60_000_000 + std::process::id()
}

/// The binary where a stranger can run it, and places of several kinds.
struct Ground {
    top: TempDir,
}

impl Ground {
    fn new() -> Self {
        let top = TempDir::new_in("/var/tmp").expect("a directory");
        set_mode(top.path(), 0o755);
        std::fs::copy(crate::lab::binary(), top.path().join("stiction")).expect("a copy");
        Self { top }
    }

    /// A directory that belongs to the stranger or to root.
    fn directory(&self, name: &str, owner: u32) -> PathBuf {
        let path = self.top.path().join(name);
        std::fs::create_dir(&path).expect("a directory");
        set_mode(&path, 0o755);
        std::os::unix::fs::chown(&path, Some(owner), Some(owner)).expect("an owner");
        path
    }

    /// `stiction` as the stranger, who has no environment.
    fn stiction<const N: usize>(&self, arguments: [OsString; N]) -> Said {
        let mut command = Command::new(self.top.path().join("stiction"));
        command
            .uid(stranger())
            .gid(stranger())
            .env_clear()
            .current_dir("/")
            .args(arguments);
        let output = assert_cmd::Command::from_std(command)
            .timeout(PATIENCE)
            .output()
            .expect("stiction runs");
        Said {
            code: output.status.code(),
            output: squeezed(&String::from_utf8_lossy(&output.stdout)),
            talk: squeezed(&String::from_utf8_lossy(&output.stderr)),
        }
    }
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    output: String,
    talk: String,
}

fn set_mode(path: &Path, mode: u32) {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).expect("permissions");
}

/// The directory of someone without a home, which is gone with the test.
struct Fallback(PathBuf);

impl Fallback {
    fn new() -> Self {
        let path = PathBuf::from(format!("/var/tmp/stiction-{}", stranger()));
        assert!(!path.exists(), "{} is in the way", path.display());
        Self(path)
    }
}

impl Drop for Fallback {
    fn drop(&mut self) {
        // Where the test failed before it was made there is none.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn root_someone_without_rights_or_home_is_told_where_things_go() {
    testkit::require_root!();
    let fallback = Fallback::new();
    let ground = Ground::new();
    let (own, others) = (
        ground.directory("own", stranger()),
        ground.directory("others", 0),
    );

    let said = ground.stiction(words([&"quick", &"--seconds=1", &"--size=4M", &own]));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_says(&said.talk, &[&*fallback.0.to_string_lossy(), "--store"]);
    let mode = std::fs::metadata(&fallback.0)
        .expect("the directory")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700, "for its owner alone");
    assert_empty(&own);

    let said = ground.stiction(words([&"quick", &"--seconds=1", &others]));
    assert_eq!(said.code, Some(4), "{said:?}");
    assert_says(
        &said.output,
        &["Nothing was measured", "Permission denied (os error 13)"],
    );
    let said = ground.stiction(words([
        &"tiobench",
        &"--size=1",
        &"--runs=1",
        &"-d",
        &others,
    ]));
    assert_eq!(said.code, Some(4), "{said:?}");
    assert_says(
        &said.output,
        &["Permission denied (os error 13)", "run as its owner"],
    );
    assert_empty(&others);

    let said = ground.stiction(words([&"list"]));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_says(&said.output, &["3 sessions"]);
}

/// In `/var/tmp` everybody can take a name first.
#[test]
fn root_a_fallback_that_someone_else_made_is_not_used() {
    testkit::require_root!();
    let ground = Ground::new();
    let fallback = Fallback::new();
    std::fs::create_dir(&fallback.0).expect("a directory of root's");
    set_mode(&fallback.0, 0o777);
    let own = ground.directory("own", stranger());
    let said = ground.stiction(words([&"quick", &"--seconds=1", &own]));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert_says(
        &said.talk,
        &[&*fallback.0.to_string_lossy(), "not yours alone", "--store"],
    );
    assert_empty(&fallback.0);
}

#[test]
fn root_a_store_that_may_not_be_written_to_runs_nothing() {
    testkit::require_root!();
    let ground = Ground::new();
    let own = ground.directory("own", stranger());
    let theirs = ground.directory("store", 0);
    let refused = |said: Said| {
        assert_eq!(said.code, Some(2), "{said:?}");
        assert_says(&said.talk, &["Permission denied (os error 13)", "--store"]);
    };
    refused(ground.stiction(words([&"list", &"--store", &theirs])));
    refused(ground.stiction(words([&"quick", &own, &"--store", &theirs])));
    assert_empty(&own);
    assert_empty(&theirs);
}

#[test]
fn sessions_go_where_the_xdg_rules_say() {
    let lab = Lab::new();
    let home = tempfile::tempdir().expect("a home");
    let path = |variable: &str| {
        let mut command = lab.process(["store", "path"]);
        command.env_clear().env("HOME", home.path());
        if !variable.is_empty() {
            command.env(variable, home.path().join("data"));
        }
        let output = command.output().expect("stiction runs");
        assert!(output.status.success(), "{output:?}");
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    };
    assert_eq!(path(""), home.path().join(".local/share/stiction"));
    assert_eq!(path("XDG_DATA_HOME"), home.path().join("data/stiction"));
    assert_eq!(path("STICTION_STORE"), home.path().join("data"));
}

/// Each witness falls to the next best, and says what would have given it.
#[test]
fn root_someone_without_rights_is_told_what_cannot_be_watched() {
    testkit::require_root!();
    let ground = Ground::new();
    let own = ground.directory("own", stranger());
    let store = ground.directory("store", stranger());
    let said = ground.stiction(words([
        &"quick",
        &"--seconds=1",
        &"--size=4M",
        &"--witness=full",
        &"--json",
        &"--store",
        &store,
        &own,
    ]));
    assert_eq!(said.code, Some(0), "{said:?}");
    let report: serde_json::Value = serde_json::from_str(&said.output).expect("JSON");
    let phases = crate::counters::phases(&report);
    let witnesses = phases
        .iter()
        .map(|phase| &phase["witnesses"])
        .find(|witnesses| witnesses["level"] == "full")
        .expect("a phase that was watched");
    let trace = &witnesses["block_traces"][0];
    assert_eq!(trace["source"], "sampled", "{witnesses:#}");
    let missing = witnesses["unexplained"].to_string();
    for (witness, why) in [
        ("block tracepoints: ", "CAP_PERFMON"),
        ("profile: ", "CAP_PERFMON"),
        ("waits of writers: ", "a tracepoint alone"),
    ] {
        assert!(
            missing.contains(witness) && missing.contains(why),
            "{missing}"
        );
    }
    assert!(
        missing.contains("(os error 13)") || missing.contains("(os error 1)"),
        "{missing}"
    );
}
