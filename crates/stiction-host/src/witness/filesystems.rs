//! The counters of the filesystems under the targets.

use rustix::time::{ClockId, clock_getres};
use stiction_core::{Filesystem, TargetStack, Witnesses};

use super::filesystem_stats::{BtrfsReading, Ext4Reading, XfsReading};
use super::journal::{self, JournalReading};
use crate::Roots;

/// One filesystem before a phase.
#[derive(Debug)]
struct Watched {
    device: String,
    before: Reading,
}

#[derive(Debug)]
enum Reading {
    Ext4 {
        stats: Option<Ext4Reading>,
        journal: Option<(String, JournalReading)>,
    },
    Xfs(XfsReading),
    Btrfs(BtrfsReading),
    /// It counts nothing that we can read, for this reason.
    Nothing(&'static str),
}

/// Readings of all filesystems under the targets, before a phase.
#[derive(Debug)]
pub(super) struct Filesystems(Vec<Watched>);

impl Filesystems {
    pub(super) fn begin(roots: &Roots, stacks: &[TargetStack]) -> Self {
        let mut all: Vec<Watched> = Vec::new();
        for filesystem in stacks.iter().filter_map(|stack| stack.filesystem.as_ref()) {
            let Some(device) = filesystem.devices.first() else {
                continue;
            };
            if all.iter().any(|watched| watched.device == *device) {
                continue;
            }
            if let Some(before) = read(roots, filesystem, device) {
                all.push(Watched {
                    device: device.clone(),
                    before,
                });
            }
        }
        Self(all)
    }

    /// Takes the readings after the phase into `seen`.
    pub(super) fn finish(self, roots: &Roots, seen: &mut Witnesses) {
        for Watched { device, before } in self.0 {
            let found = match before {
                Reading::Ext4 { stats, journal } => ext4(roots, &device, stats, journal, seen),
                Reading::Xfs(before) => XfsReading::read(roots, &device).map(|after| {
                    let counters = after.since(&before, &device);
                    seen.filesystems.xfs.push(counters);
                }),
                Reading::Btrfs(before) => BtrfsReading::read(roots, &device)
                    .and_then(|after| after.since(before, &device))
                    .map(|counters| seen.filesystems.btrfs.push(counters)),
                Reading::Nothing(reason) => {
                    seen.unexplained
                        .push(format!("counters of the filesystem on {device}: {reason}"));
                    continue;
                }
            };
            if found.is_none() {
                seen.unexplained.push(format!(
                    "counters of the filesystem on {device}: they are gone or ran backwards: it \
                     was mounted anew"
                ));
            }
        }
    }
}

/// What the filesystem counts; `None` for kinds that count nothing.
fn read(roots: &Roots, filesystem: &Filesystem, device: &str) -> Option<Reading> {
    Some(match filesystem.kind.as_str() {
        "ext2" | "ext3" | "ext4" => ext4_before(roots, device),
        "xfs" => match XfsReading::read(roots, device) {
            Some(reading) => Reading::Xfs(reading),
            None => Reading::Nothing("/sys/fs/xfs has none of this device"),
        },
        "btrfs" => match BtrfsReading::read(roots, device) {
            Some(reading) => Reading::Btrfs(reading),
            None => Reading::Nothing("/sys/fs/btrfs has no commit_stats of this device"),
        },
        _ => return None,
    })
}

/// One without a journal has the counters of `/sys/fs/ext4` all the same; the old driver
/// for ext2 has neither.
fn ext4_before(roots: &Roots, device: &str) -> Reading {
    let stats = Ext4Reading::read(roots, device);
    let journal = journal::name_of(roots, device).and_then(|name| {
        let reading = JournalReading::read(roots, &name)?;
        Some((name, reading))
    });
    if stats.is_none() && journal.is_none() {
        return Reading::Nothing("neither /sys/fs/ext4 nor /proc/fs/jbd2 has any of this device");
    }
    Reading::Ext4 { stats, journal }
}

/// `None` when what was there before is not there after.
fn ext4(
    roots: &Roots,
    device: &str,
    stats: Option<Ext4Reading>,
    journal: Option<(String, JournalReading)>,
    seen: &mut Witnesses,
) -> Option<()> {
    if let Some((name, before)) = journal {
        let after = JournalReading::read(roots, &name)?;
        let traffic = after.since(before, device, &name, tick_ns())?;
        seen.filesystems.journals.push(traffic);
    }
    if let Some(before) = stats {
        let after = Ext4Reading::read(roots, device)?;
        seen.filesystems.ext4.push(after.since(before, device)?);
    }
    Some(())
}

/// Length of a tick of the kernel's clock, ns: the coarse clocks move by one.
fn tick_ns() -> u64 {
    let resolution = clock_getres(ClockId::MonotonicCoarse);
    resolution.tv_sec.cast_unsigned() * 1_000_000_000 + resolution.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;
    use std::path::Path;

    use testkit::machine::lay_out;
    use testkit::{LoopFilesystem, LoopKind};

    use super::*;
    use crate::{FactOptions, observe_target};

    /// What the filesystem at `path` counts while `work` is done on it.
    fn seen(path: &Path, work: impl FnOnce(&Path)) -> Witnesses {
        let roots = Roots::live();
        let stack = observe_target(path, FactOptions::default()).unwrap();
        let before = Filesystems::begin(&roots, &[stack]);
        work(path);
        let mut seen = Witnesses::default();
        before.finish(&roots, &mut seen);
        seen
    }

    /// So many files, each made, written and synced: as many commits asked for.
    fn make_files(folder: &Path, files: u32) {
        for number in 0..files {
            let mut file = File::create(folder.join(number.to_string())).unwrap();
            file.write_all(&[9; 4096]).unwrap();
            file.sync_all().unwrap();
        }
    }

    const SIZE_BYTES: u64 = 64 << 20;

    #[test]
    fn root_each_fsync_of_a_new_file_is_a_transaction_of_jbd2() {
        testkit::require_root!();
        let filesystem = LoopFilesystem::new(LoopKind::Ext4, SIZE_BYTES);
        let seen = seen(filesystem.path(), |folder| make_files(folder, 20));
        let [journal] = &seen.filesystems.journals[..] else {
            panic!("{seen:?}");
        };
        assert_eq!(journal.journal, format!("{}-8", filesystem.device().name()));
        // One may join another's or the kernel add one of its own, but not many.
        assert!((20..=23).contains(&journal.transactions), "{journal:?}");
        assert!(journal.requested >= Some(20));
        // A file that is new changes its inode, the folder, two bitmaps and more; each
        // transaction has a descriptor and a commit block beside them.
        assert!(
            journal.logged_blocks.least >= 3 * journal.transactions,
            "{journal:?}"
        );
        assert!(journal.logged_blocks.least >= journal.blocks.least);
        assert!(journal.handles.least >= journal.transactions);
        assert!(journal.commit_ns_recent_mean > Some(0));
        let [ext4] = &seen.filesystems.ext4[..] else {
            panic!("{seen:?}");
        };
        let logged = journal.logged_blocks.least * 1024;
        assert!(ext4.written_bytes >= 20 * 4096 + logged, "{ext4:?}");
        assert!(seen.unexplained.is_empty(), "{:?}", seen.unexplained);
    }

    #[test]
    fn root_ext2_has_no_journal_and_nothing_is_missing() {
        testkit::require_root!();
        let filesystem = LoopFilesystem::new(LoopKind::Ext2, SIZE_BYTES);
        let seen = seen(filesystem.path(), |folder| make_files(folder, 2));
        assert!(seen.filesystems.journals.is_empty());
        assert_eq!(seen.filesystems.ext4.len(), 1);
        assert!(seen.unexplained.is_empty(), "{:?}", seen.unexplained);
    }

    #[test]
    fn root_xfs_counts_what_its_log_wrote() {
        testkit::require_root!();
        let filesystem = LoopFilesystem::new(LoopKind::Xfs, 320 << 20);
        let seen = seen(filesystem.path(), |folder| make_files(folder, 20));
        let [xfs] = &seen.filesystems.xfs[..] else {
            panic!("{seen:?}");
        };
        assert_eq!(xfs.write_call_bytes, 20 * 4096);
        assert!(xfs.extents_allocated >= 20, "{xfs:?}");
        assert!(xfs.log_writes >= 20 && xfs.log_bytes >= 20 * 512, "{xfs:?}");
        assert!(xfs.log_forces >= 20, "{xfs:?}");
    }

    #[test]
    fn root_btrfs_counts_its_commits() {
        testkit::require_root!();
        let filesystem = LoopFilesystem::new(LoopKind::Btrfs, 256 << 20);
        let seen = seen(filesystem.path(), |folder| {
            make_files(folder, 1);
            let folder = File::open(folder).unwrap();
            rustix::fs::syncfs(&folder).unwrap();
        });
        let [btrfs] = &seen.filesystems.btrfs[..] else {
            panic!("{seen:?}");
        };
        assert!(btrfs.commits >= 1, "{btrfs:?}");
        assert!(btrfs.commit_ns_max_since_mount >= btrfs.commit_ns / btrfs.commits);
    }

    #[test]
    fn a_kernel_that_counts_nothing_says_so() {
        let machine = lay_out("/proc/mounts:\n");
        let roots = Roots::at(machine.path());
        let stack = |kind: &str| TargetStack {
            path: "/x".to_owned(),
            filesystem: Some(Filesystem {
                kind: kind.to_owned(),
                devices: vec!["sda".to_owned()],
                ..Filesystem::default()
            }),
            layers: Vec::new(),
            missing: Vec::new(),
        };
        for (kind, reasons) in [("xfs", 1), ("btrfs", 1), ("ext4", 1), ("vfat", 0)] {
            let mut seen = Witnesses::default();
            Filesystems::begin(&roots, &[stack(kind)]).finish(&roots, &mut seen);
            assert_eq!(seen.unexplained.len(), reasons, "{kind}");
            assert!(seen.filesystems.is_empty());
        }
    }

    #[test]
    fn a_tick_is_one_to_ten_milliseconds() {
        assert!((1_000_000..=10_000_000).contains(&tick_ns()));
    }
}
