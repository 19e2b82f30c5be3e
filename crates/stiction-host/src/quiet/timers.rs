//! Timers of systemd that set off work on filesystems.

use std::process::{Command, Stdio};
use std::time::Duration;

use stiction_core::{Spoiler, SpoilerKind, format_duration_ns};

use crate::Roots;

/// Timers whose work reads or writes much.
const TIMERS: [&str; 10] = [
    "fstrim.timer",
    "e2scrub_all.timer",
    "xfs_scrub_all.timer",
    "btrfs-scrub.timer",
    "mdcheck_start.timer",
    "mdcheck_continue.timer",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dnf-makecache.timer",
    "plocate-updatedb.timer",
];

/// When timers are due.
#[derive(Debug, Default)]
pub(super) struct Timers {
    due: Vec<(String, jiff::Timestamp)>,
}

impl Timers {
    /// Asks systemd, where it runs this machine. Where it does not answer, or is too old
    /// to tell times as numbers (before version 251), there are none.
    pub(super) fn ask(roots: &Roots) -> Self {
        if !(roots.is_live() && roots.has("/run/systemd/system")) {
            return Self::default();
        }
        let asked = Command::new("systemctl")
            .args([
                "show",
                "--timestamp=unix",
                "--property=Id,NextElapseUSecRealtime",
            ])
            .args(TIMERS)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let told = asked.ok().filter(|answer| answer.status.success());
        told.map_or_else(Self::default, |answer| {
            Self::parse(&String::from_utf8_lossy(&answer.stdout))
        })
    }

    /// Blocks of `NAME=VALUE`, an empty line between them (systemctl(1), `show`).
    fn parse(text: &str) -> Self {
        let of_block = |block: &str| {
            let value = |name: &str| {
                let mut lines = block.lines();
                lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            };
            let seconds = value("NextElapseUSecRealtime")?.strip_prefix('@')?;
            let at = jiff::Timestamp::from_second(seconds.parse().ok()?).ok()?;
            Some((value("Id")?.to_owned(), at))
        };
        Self {
            due: text.split("\n\n").filter_map(of_block).collect(),
        }
    }

    /// Those due `within` so long from `now`.
    pub(super) fn due(&self, now: jiff::Timestamp, within: Duration) -> Vec<Spoiler> {
        let soon = self.due.iter().filter_map(|(name, at)| {
            let left = Duration::try_from(at.duration_since(now)).ok()?;
            (left <= within).then(|| due(name, left))
        });
        soon.collect()
    }
}

/// Something that is due in `left`.
pub(super) fn due(name: &str, left: Duration) -> Spoiler {
    Spoiler {
        kind: SpoilerKind::Timer,
        detail: format!(
            "{name} is due in {}",
            format_duration_ns(left.as_nanos() as f64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As systemd 252 writes them; what is not installed has no time.
    #[test]
    fn timers_are_due_when_their_time_is_near() {
        let text = "NextElapseUSecRealtime=@1796000600\nId=fstrim.timer\n\n\
                    NextElapseUSecRealtime=\nId=xfs_scrub_all.timer\n\n\
                    NextElapseUSecRealtime=@1796009999\nId=apt-daily.timer\n\n\
                    NextElapseUSecRealtime=@1795999999\nId=gone.timer\n";
        let timers = Timers::parse(text);
        assert_eq!(timers.due.len(), 3);
        let now = jiff::Timestamp::from_second(1_796_000_000).unwrap();
        let found = timers.due(now, Duration::from_secs(600));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].detail, "fstrim.timer is due in 600 s");
        assert!(timers.due(now, Duration::from_secs(599)).is_empty());
    }
}
