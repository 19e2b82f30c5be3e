//! Counters that filesystems keep of their journals and logs.

use stiction_core::{
    BtrfsCounters, Ext4Counters, FilesystemCounters, JournalTraffic, Unit, XfsCounters,
};

use super::super::counter::Group;
use super::{List, mean};

/// A counter's value of what it is read from.
type Of<From, Value> = fn(&From) -> Value;

pub(super) fn add(list: &mut List, counters: &FilesystemCounters) {
    journals(list, &counters.journals);
    ext4(list, &counters.ext4);
    xfs(list, &counters.xfs);
    btrfs(list, &counters.btrfs);
}

/// jbd2. What is known to lie between two numbers is taken in the middle.
fn journals(list: &mut List, journals: &[JournalTraffic]) {
    if journals.is_empty() {
        return;
    }
    let group = Group::Journal;
    let sum = |of: fn(&JournalTraffic) -> f64| journals.iter().map(of).sum::<f64>();
    let transactions = journals.iter().map(|one| one.transactions).sum();
    list.count("jbd2 transactions", group, transactions);
    let amounts: [(&str, Of<JournalTraffic, f64>); 3] = [
        ("jbd2 handles", |one| one.handles.middle()),
        ("jbd2 blocks in transactions", |one| one.blocks.middle()),
        ("jbd2 blocks written to the journal", |one| {
            one.logged_blocks.middle()
        }),
    ];
    for (name, of) in amounts {
        list.amount(name, group, Unit::Count, sum(of));
    }
    let times: [(&str, Of<JournalTraffic, f64>); 4] = [
        ("jbd2 waiting for a handle", |one| one.waiting_ns.middle()),
        ("jbd2 transactions locked", |one| one.locked_ns.middle()),
        ("jbd2 waiting for ordered data", |one| {
            one.flushing_ns.middle()
        }),
        ("jbd2 writing the journal", |one| one.logging_ns.middle()),
    ];
    for (name, of) in times {
        list.amount(name, group, Unit::Nanoseconds, sum(of));
    }
}

fn ext4(list: &mut List, counters: &[Ext4Counters]) {
    if counters.is_empty() {
        return;
    }
    let written = counters.iter().map(|one| one.written_bytes).sum();
    list.bytes("bytes written by the filesystem", Group::Journal, written);
}

fn xfs(list: &mut List, counters: &[XfsCounters]) {
    if counters.is_empty() {
        return;
    }
    let sum = |of: fn(&XfsCounters) -> u64| counters.iter().map(of).sum::<u64>();
    let group = Group::Journal;
    list.bytes(
        "bytes written to the XFS log",
        group,
        sum(|one| one.log_bytes),
    );
    let counts: [(&str, Group, Of<XfsCounters, u64>); 6] = [
        ("XFS log writes", group, |one| one.log_writes),
        ("XFS log forces", group, |one| one.log_forces),
        ("XFS waits for log space", group, |one| one.log_space_waits),
        ("XFS waits for a log buffer", group, |one| {
            one.log_buffer_waits
        }),
        ("XFS pushes of metadata", group, |one| one.ail_pushes),
        ("XFS extents given to files", Group::Layout, |one| {
            one.extents_allocated
        }),
    ];
    for (name, group, of) in counts {
        list.count(name, group, sum(of));
    }
    let (blocks, extents) = (
        sum(|one| one.blocks_allocated),
        sum(|one| one.extents_allocated),
    );
    let name = "XFS blocks of an extent";
    list.level(name, Group::Layout, Unit::Count, mean(blocks, extents));
}

fn btrfs(list: &mut List, counters: &[BtrfsCounters]) {
    if counters.is_empty() {
        return;
    }
    let commits = counters.iter().map(|one| one.commits).sum();
    let commit_ns = counters.iter().map(|one| one.commit_ns).sum();
    list.count("btrfs commits", Group::Journal, commits);
    list.time("btrfs committing", Group::Journal, commit_ns);
}
