//! The journal of ext3 and ext4, from `/proc/fs/jbd2/JOURNAL/info`.

use stiction_core::{Between, JournalTraffic};

use crate::Roots;

/// What the kernel printed of one journal: a count, and averages over it since the
/// filesystem was mounted, each cut to a whole number (`jbd2_seq_info_show` in
/// `fs/jbd2/journal.c`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JournalReading {
    transactions: u64,
    requested: Option<u64>,
    waiting_ms: u64,
    locked_ms: u64,
    flushing_ms: u64,
    logging_ms: u64,
    commit_us: Option<u64>,
    handles: u64,
    blocks: u64,
    logged_blocks: u64,
}

impl JournalReading {
    pub(super) fn read(roots: &Roots, journal: &str) -> Option<Self> {
        Self::parse(&roots.text(format!("/proc/fs/jbd2/{journal}/info")).ok()?)
    }

    /// The first line, then the averages; a journal without transactions has none.
    ///
    /// ```text
    /// 3 transactions (2 requested), each up to 1024 blocks
    /// average:
    ///   0ms waiting for transaction
    ///   2539us average transaction commit time
    ///   40 handles per transaction
    /// ```
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let first = lines.next()?;
        let (count, rest) = first.split_once(" transaction")?;
        let requested = rest
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(" requested"))
            .and_then(|(count, _)| count.parse().ok());
        let mut reading = Self {
            transactions: count.parse().ok()?,
            requested,
            ..Self::default()
        };
        for line in lines {
            let Some((number, what)) = line.trim().split_once(' ') else {
                continue;
            };
            let digits = number.trim_end_matches(|c: char| !c.is_ascii_digit());
            let Ok(number) = digits.parse::<u64>() else {
                continue;
            };
            match what {
                "waiting for transaction" => reading.waiting_ms = number,
                "transaction was being locked" => reading.locked_ms = number,
                "flushing data (in ordered mode)" => reading.flushing_ms = number,
                "logging transaction" => reading.logging_ms = number,
                "average transaction commit time" => reading.commit_us = Some(number),
                "handles per transaction" => reading.handles = number,
                "blocks per transaction" => reading.blocks = number,
                "logged blocks per transaction" => reading.logged_blocks = number,
                _ => {}
            }
        }
        Some(reading)
    }

    /// What came to it since `before`. Times are averages of whole ticks of the kernel's
    /// clock, of `tick_ns`. `None` when the counts ran backwards: it was mounted anew.
    pub(super) fn since(
        self,
        before: Self,
        device: &str,
        journal: &str,
        tick_ns: u64,
    ) -> Option<JournalTraffic> {
        let transactions = self.transactions.checked_sub(before.transactions)?;
        let count = |of: fn(Self) -> u64| {
            let total = |reading: Self| total(reading.transactions, of(reading), 1);
            come_to(total(before), total(self), transactions)
        };
        let time = |of: fn(Self) -> u64| {
            let total =
                |reading: Self| total(reading.transactions, of(reading) * 1_000_000, tick_ns);
            come_to(total(before), total(self), transactions)
        };
        Some(JournalTraffic {
            device: device.to_owned(),
            journal: journal.to_owned(),
            transactions,
            requested: self
                .requested
                .zip(before.requested)
                .map(|(after, before)| after.saturating_sub(before)),
            handles: count(|reading| reading.handles),
            blocks: count(|reading| reading.blocks),
            logged_blocks: count(|reading| reading.logged_blocks),
            waiting_ns: time(|reading| reading.waiting_ms),
            locked_ns: time(|reading| reading.locked_ms),
            flushing_ns: time(|reading| reading.flushing_ms),
            logging_ns: time(|reading| reading.logging_ms),
            commit_ns_recent_mean: self
                .commit_us
                .filter(|_| transactions > 0)
                .map(|us| us * 1000),
        })
    }
}

/// A total of which the average over `count` was cut down to a multiple of `step`.
fn total(count: u64, average: u64, step: u64) -> Between {
    let least = count.saturating_mul(average);
    Between {
        least,
        most: least.saturating_add(count.saturating_mul(step).saturating_sub(1)),
    }
}

/// What was added between two totals; nothing where nothing was counted.
fn come_to(before: Between, after: Between, counted: u64) -> Between {
    if counted == 0 {
        return Between::default();
    }
    Between {
        least: after.least.saturating_sub(before.most),
        most: after.most.saturating_sub(before.least),
    }
}

/// The name under which the journal of the filesystem on `device` has its folder: `vda-8`
/// for one inside, with the number of its inode; the name of a device of its own
/// otherwise, which only the kernel's thread for it tells. `None` without a journal.
pub(super) fn name_of(roots: &Roots, device: &str) -> Option<String> {
    let task = roots.text_if_any(format!("/sys/fs/ext4/{device}/journal_task"));
    if task.as_deref() == Some("<none>") {
        return None;
    }
    let names = roots.names("/proc/fs/jbd2");
    let inside = names.iter().find(|name| {
        let inode = name
            .strip_prefix(device)
            .and_then(|rest| rest.strip_prefix('-'));
        inode.is_some_and(|inode| inode.bytes().all(|byte| byte.is_ascii_digit()))
    });
    inside.cloned().or_else(|| {
        let thread = roots.text_if_any(format!("/proc/{}/comm", task?))?;
        // The kernel cuts names of threads after 15 bytes.
        let begin = thread.strip_prefix("jbd2/")?.to_owned();
        let mut fitting = names
            .into_iter()
            .filter(|name| *name == begin || (thread.len() == 15 && name.starts_with(&begin)));
        let name = fitting.next()?;
        fitting.next().is_none().then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use testkit::machine::lay_out;

    use super::*;

    /// As Linux 6.18 printed it.
    const TEXT: &str = "1 transactions (1 requested), each up to 2730 blocks\naverage: \n  \
        0ms waiting for transaction\n  0ms request delay\n  24ms running transaction\n  \
        0ms transaction was being locked\n  0ms flushing data (in ordered mode)\n  \
        4ms logging transaction\n  3178us average transaction commit time\n  \
        1007 handles per transaction\n  25 blocks per transaction\n  \
        27 logged blocks per transaction";

    #[test]
    fn one_transaction_is_known_but_for_its_times() {
        let before = JournalReading::parse("0 transactions (0 requested), each up to 2730 blocks");
        let after = JournalReading::parse(TEXT).unwrap();
        let seen = after
            .since(before.unwrap(), "loop3", "loop3-8", 4_000_000)
            .unwrap();
        let exactly = |number| Between {
            least: number,
            most: number,
        };
        assert_eq!((seen.transactions, seen.requested), (1, Some(1)));
        assert_eq!(seen.handles, exactly(1007));
        assert_eq!(seen.blocks, exactly(25));
        assert_eq!(seen.logged_blocks, exactly(27));
        assert_eq!(seen.commit_ns_recent_mean, Some(3_178_000));
        // One tick of 4 ms, and anything below the next.
        let logging = Between {
            least: 4_000_000,
            most: 7_999_999,
        };
        assert_eq!(seen.logging_ns, logging);
    }

    /// 10 transactions of 2.9 blocks are 29, printed as 2 each; 14 of 50/14 = 3.57 are 50,
    /// printed as 3: 21 came to it, and the text lets it be 42-29 = 13 to 55-20 = 35.
    #[test]
    fn what_was_cut_off_widens_the_answer() {
        let reading = |transactions, blocks| JournalReading {
            transactions,
            blocks,
            ..JournalReading::default()
        };
        let seen = reading(14, 3)
            .since(reading(10, 2), "vda", "vda-8", 4_000_000)
            .unwrap();
        assert_eq!(
            seen.blocks,
            Between {
                least: 13,
                most: 35
            }
        );
        let nothing = reading(10, 2)
            .since(reading(10, 2), "vda", "vda-8", 4_000_000)
            .unwrap();
        assert_eq!(nothing.blocks, Between::default());
        assert_eq!(nothing.commit_ns_recent_mean, None);
        let anew = reading(1, 2).since(reading(10, 2), "vda", "vda-8", 4_000_000);
        assert_eq!(anew, None);
    }

    #[test]
    fn kernels_before_requests_were_counted() {
        let text = "5 transaction, each up to 8192 blocks\naverage: \n  0ms waiting";
        let reading = JournalReading::parse(text).unwrap();
        assert_eq!((reading.transactions, reading.requested), (5, None));
        assert_eq!(JournalReading::parse(""), None);
        assert_eq!(JournalReading::parse("average: "), None);
    }

    #[test]
    fn a_journal_is_found_inside_and_on_a_device_of_its_own() {
        let machine = lay_out(
            "/proc/fs/jbd2/sda1-8/info:\n/proc/fs/jbd2/sda12-8/info:\n\
             /proc/fs/jbd2/nvme0n1p1/info:\n/proc/77/comm: jbd2/nvme0n1p1\n\
             /sys/fs/ext4/sdb/journal_task: 77\n/sys/fs/ext4/sdc/journal_task: <none>\n",
        );
        let roots = Roots::at(machine.path());
        assert_eq!(name_of(&roots, "sda1").as_deref(), Some("sda1-8"));
        assert_eq!(name_of(&roots, "sdb").as_deref(), Some("nvme0n1p1"));
        assert_eq!(name_of(&roots, "sdc"), None);
        assert_eq!(name_of(&roots, "sda"), None);
    }
}
