//! The layout of pg_test_fsync, of PostgreSQL 15.

use std::fmt::Write as _;

use stiction_core::{Phase, Session, metrics};

const METHODS: [&str; 5] = [
    "open_datasync",
    "fdatasync",
    "fsync",
    "fsync_writethrough",
    "open_sync",
];

/// The tests of the session's first trial as pg_test_fsync prints them. What it has no
/// line for is left out; a test that did not run is `n/a`, as `fsync_writethrough` always
/// is on Linux.
#[must_use]
pub fn pg_test_fsync(session: &Session) -> String {
    let phases: &[Phase] = session.trials.first().map_or(&[], |trial| &trial.phases);
    let first = |name: &str| phases.iter().find(|phase| phase.name == name);
    let last = |name: &str| phases.iter().rfind(|phase| phase.name == name);
    let mut text = String::new();
    let measured = first("unsynced.1x8k").or(first("fdatasync.1x8k"));
    let seconds = measured.map_or(0, |phase| (phase.elapsed_ns + 500_000_000) / 1_000_000_000);
    let _ = writeln!(
        text,
        "{seconds} second{} per test",
        if seconds == 1 { "" } else { "s" }
    );
    text.push_str(
        match first("open_datasync.1x8k").map(|phase| phase.witnesses.direct_granted) {
            Some(Some(true)) => {
                "O_DIRECT supported on this platform for open_datasync and open_sync.\n"
            }
            _ => "Direct I/O is not supported on this platform.\n",
        },
    );
    for (writes, words) in [(1, "one 8kB write"), (2, "two 8kB writes")] {
        let _ = write!(
            text,
            "\nCompare file sync methods using {words}:\n(in wal_sync_method preference order, \
             except fdatasync is Linux's default)\n"
        );
        for method in METHODS {
            line(&mut text, method, first(&format!("{method}.{writes}x8k")));
        }
    }
    text.push_str(
        "\nCompare open_sync with different write sizes:\n(This is designed to compare the cost \
         of writing 16kB in different write\nopen_sync sizes.)\n",
    );
    for (writes, kib) in [(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)] {
        let label = format!(
            "{writes:>2} * {kib:>2}kB open_sync write{}",
            if writes == 1 { "" } else { "s" }
        );
        line(
            &mut text,
            &label,
            last(&format!("open_sync.{writes}x{kib}k")),
        );
    }
    text.push_str(
        "\nTest if fsync on non-write file descriptor is honored:\n(If the times are similar, \
         fsync() can sync data written on a different\ndescriptor.)\n",
    );
    line(
        &mut text,
        "write, fsync, close",
        first("write_fsync_close.1x8k"),
    );
    line(
        &mut text,
        "write, close, fsync",
        first("write_close_fsync.1x8k"),
    );
    text.push_str("\nNon-sync'ed 8kB writes:\n");
    line(&mut text, "write", first("unsynced.1x8k"));
    text
}

/// A test's line: operations a second, and the mean time of one.
fn line(text: &mut String, label: &str, phase: Option<&Phase>) {
    let rate = phase.and_then(|phase| phase.value(&metrics::OPERATION_RATE));
    let _ = match rate.filter(|&rate| rate > 0.0) {
        Some(rate) => writeln!(
            text,
            "        {label:<30}{rate:>13.3} ops/sec  {:>6.0} usecs/op",
            1e6 / rate
        ),
        None => writeln!(text, "        {label:<30}{:>21}", "n/a"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Measurement, PhaseKind};

    /// Lines of pg_test_fsync 15.18 on an ext4 of a virtual disk.
    #[test]
    fn lines_stand_where_the_program_puts_them() {
        let mut phase = Phase::new("open_datasync.1x8k", PhaseKind::Measure);
        let mut lines = |label: &str, rate: f64| {
            phase.measurements = vec![Measurement::new(metrics::OPERATION_RATE, rate, 1)];
            let mut text = String::new();
            line(&mut text, label, Some(&phase));
            text
        };
        assert_eq!(
            lines("open_datasync", 130.008),
            "        open_datasync                       130.008 ops/sec    7692 usecs/op\n"
        );
        assert_eq!(
            lines("open_sync", 2.630),
            "        open_sync                             2.630 ops/sec  380228 usecs/op\n"
        );
        assert_eq!(
            lines(" 1 * 16kB open_sync write", 3.973),
            "         1 * 16kB open_sync write             3.973 ops/sec  251699 usecs/op\n"
        );
        assert_eq!(
            lines("write", 648_984.048),
            "        write                            648984.048 ops/sec       2 usecs/op\n"
        );
        let mut text = String::new();
        line(&mut text, "fsync_writethrough", None);
        assert_eq!(
            text,
            "        fsync_writethrough                              n/a\n"
        );
    }
}
