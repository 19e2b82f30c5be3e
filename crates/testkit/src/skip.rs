//! Leaving a test out, in the open.
//!
//! A test that cannot run where it finds itself says why and returns:
//!
//! ```no_run
//! # fn the_test() {
//! testkit::require_root!();
//! testkit::require_program!("mkfs.xfs");
//! if !std::path::Path::new("/dev/fuse").exists() {
//!     testkit::skip!("this kernel offers no /dev/fuse");
//! }
//! # }
//! ```
//!
//! The reason goes to standard error, and to the file named by
//! [`RECORD_VARIABLE`] where a runner asked for one. Where `CI` is set a skip is
//! a failure: a machine that calls itself CI promises everything that the tests
//! need, so a reason to skip there means that something was not installed.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The environment variable that names a file to which every skip adds a line,
/// `test name: reason`. `cargo xtask ci` sets it and prints the file at the end.
pub const RECORD_VARIABLE: &str = "STICTION_SKIPPED";

/// Whether this process may do what only root may: the effective user is 0.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether an executable file called `program` is on `PATH`.
#[must_use]
pub fn has_program(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| is_on_path(&path, program))
}

fn is_on_path(path: &OsStr, program: &str) -> bool {
    std::env::split_paths(path).any(|directory| is_executable(&directory.join(program)))
}

fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// What the macros of this module call: prints and records the reason.
///
/// # Panics
/// Where `CI` is set, and where the record cannot be written.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    tell(test, reason);
    if let Some(record) = std::env::var_os(RECORD_VARIABLE) {
        add_line(Path::new(&record), test, reason);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "CI is set, so nothing may be skipped: {test}: {reason}"
    );
}

#[expect(
    clippy::print_stderr,
    reason = "the reason for a skip is for the person who runs the tests"
)]
fn tell(test: &str, reason: &str) {
    eprintln!("SKIPPED: {test}: {reason}");
}

/// One `write` of one line to a file opened for appending: tests that run at the
/// same time do not mix their lines.
fn add_line(record: &Path, test: &str, reason: &str) {
    let line = format!("{test}: {reason}\n");
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(record)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .unwrap_or_else(|error| panic!("cannot record a skip in {}: {error}", record.display()));
}

/// Says why the test does not run, and returns from it. Takes what `format!` takes.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        $crate::skip::skipped(&::std::format!($($reason)+));
        return;
    }};
}

/// Skips the test unless it runs as root.
///
/// Such a test belongs in a module or function whose name starts with `root_`:
/// these run last, one at a time.
#[macro_export]
macro_rules! require_root {
    () => {
        if !$crate::skip::is_root() {
            $crate::skip!("needs root, for loop devices and mounts");
        }
    };
}

/// Skips the test unless the named program is on `PATH`.
#[macro_export]
macro_rules! require_program {
    ($program:expr) => {
        if !$crate::skip::has_program($program) {
            $crate::skip!("the program {} is not installed", $program);
        }
    };
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_program_is_an_executable_file_in_a_directory_of_the_path() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("mkfs.none");
        std::fs::write(&file, "").expect("an empty file");
        let path = std::env::join_paths(["/nowhere".as_ref(), directory.path()]).expect("a PATH");

        assert!(!is_on_path(&path, "mkfs.none"), "not executable yet");
        std::fs::set_permissions(&file, Permissions::from_mode(0o755)).expect("a mode");
        assert!(is_on_path(&path, "mkfs.none"));
        assert!(!is_on_path(&path, "mkfs.other"));
    }

    #[test]
    fn every_skip_adds_one_line_to_the_record() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let record = directory.path().join("skipped");
        add_line(&record, "root_loop::mounts", "needs root");
        add_line(&record, "root_fuse::fails", "no /dev/fuse");
        assert_eq!(
            std::fs::read_to_string(&record).expect("a record"),
            "root_loop::mounts: needs root\nroot_fuse::fails: no /dev/fuse\n"
        );
    }

    #[test]
    fn the_effective_user_decides_what_root_is() {
        let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
        let effective = status
            .lines()
            .find_map(|line| line.strip_prefix("Uid:"))
            .and_then(|ids| ids.split_whitespace().nth(1))
            .expect("an effective user id");
        assert_eq!(is_root(), effective == "0");
    }
}
