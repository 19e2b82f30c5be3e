//! Who uses a device, as the kernel's own tables tell.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use crate::Roots;
use crate::stack::{device_number, mountinfo, number_of_name};

/// Whether anything stands in the way of writing to the device `name`; the first
/// reason found.
pub(super) fn reason_not_free(roots: &Roots, name: &str) -> Option<String> {
    let partitions = partitions(roots, name);
    for device in std::iter::once(name).chain(partitions.iter().map(String::as_str)) {
        let reason = mounted(roots, device)
            .or_else(|| swapped(roots, device))
            .or_else(|| held(roots, device));
        if reason.is_some() {
            return reason;
        }
    }
    if let Some(first) = partitions.first() {
        return Some(format!(
            "it has partitions, such as {first}; remove them first if nothing on them is needed"
        ));
    }
    aliased(roots, name)
}

/// A partition is a folder of its disk's folder, with a file `partition`.
fn partitions(roots: &Roots, name: &str) -> Vec<String> {
    let folder = format!("/sys/class/block/{name}");
    roots
        .names(&folder)
        .into_iter()
        .filter(|entry| roots.has(format!("{folder}/{entry}/partition")))
        .collect()
}

fn mounted(roots: &Roots, name: &str) -> Option<String> {
    let number = number_of_name(roots, name)?;
    let mounts = mountinfo::read(roots).ok()?;
    let mount = mounts.iter().find(|mount| mount.device == number)?;
    Some(format!(
        "{name} is mounted on {}; unmount it first",
        mount.mount_point.display()
    ))
}

fn swapped(roots: &Roots, name: &str) -> Option<String> {
    let swaps = roots.text_if_any("/proc/swaps")?;
    let number = number_of_name(roots, name);
    let backing = backing_file(roots, name);
    let is_it = |swap: &str| {
        let by_name = swap.strip_prefix("/dev/") == Some(name);
        let by_file = backing
            .as_deref()
            .is_some_and(|file| is_same_file(roots, file, swap));
        by_name || by_file || (number.is_some() && number_of_node(roots, swap) == number)
    };
    swaps
        .lines()
        .skip(1)
        .filter_map(|line| line.split_ascii_whitespace().next())
        .any(is_it)
        .then(|| format!("{name} is swap space in use; run swapoff on it first"))
}

fn held(roots: &Roots, name: &str) -> Option<String> {
    let holders = roots.names(format!("/sys/class/block/{name}/holders"));
    let holder = holders.first()?;
    Some(format!(
        "{holder} stands on {name} (LVM, RAID, encryption or the like); take that apart first"
    ))
}

/// The file under a loop device; `None` for other devices.
fn backing_file(roots: &Roots, name: &str) -> Option<String> {
    roots.text_if_any(format!("/sys/class/block/{name}/loop/backing_file"))
}

/// Another loop device over the same file, or over the device itself or the disk that
/// it is a part of, writes to the same place without the kernel's knowing.
fn aliased(roots: &Roots, name: &str) -> Option<String> {
    let own = backing_file(roots, name);
    let disk = crate::stack::whole_disk(roots, name);
    for other in roots.names("/sys/class/block") {
        let Some(file) = (other != name)
            .then(|| backing_file(roots, &other))
            .flatten()
        else {
            continue;
        };
        let same_file = own
            .as_deref()
            .is_some_and(|own| is_same_file(roots, own, &file));
        if same_file {
            return Some(format!("{other} is over the same file; detach it first"));
        }
        let under = number_of_node(roots, &file);
        for device in std::iter::once(name).chain(disk.as_deref()) {
            if under.is_some() && number_of_name(roots, device) == under {
                return Some(format!("{other} is over {device}; detach it first"));
            }
        }
    }
    None
}

/// By inode, since a file has many paths; by path where the file cannot be seen.
fn is_same_file(roots: &Roots, one: &str, other: &str) -> bool {
    let identity = |path: &str| {
        let metadata = roots.path(path).metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Number of the block device whose node is at `path`.
fn number_of_node(roots: &Roots, path: &str) -> Option<(u32, u32)> {
    if !roots.is_live() {
        return number_of_name(roots, Path::new(path).strip_prefix("/dev").ok()?.to_str()?);
    }
    let metadata = Path::new(path).metadata().ok()?;
    let device = metadata.rdev();
    metadata
        .file_type()
        .is_block_device()
        .then(|| (rustix::fs::major(device), rustix::fs::minor(device)))
}

/// What identifies the device for good, as the kernel tells: what a grant must
/// name.
pub(super) fn identities(roots: &Roots, name: &str) -> Vec<String> {
    let folder = format!("/sys/class/block/{name}");
    if roots.has(format!("{folder}/loop")) {
        // A loop device is its file.
        return roots
            .text_if_any(format!("{folder}/loop/backing_file"))
            .into_iter()
            .collect();
    }
    if let Some(uuid) = roots.text_if_any(format!("{folder}/dm/uuid")) {
        return vec![uuid];
    }
    let disk = &crate::stack::disk_of(roots, name);
    let wwid = ["wwid", "device/wwid"]
        .iter()
        .find_map(|file| roots.text_if_any(format!("/sys/class/block/{disk}/{file}")));
    crate::stack::serial(roots, disk)
        .into_iter()
        .chain(wwid)
        .collect()
}

/// Kernel name of the device with that number.
pub(super) fn name_of(roots: &Roots, number: (u32, u32)) -> Option<String> {
    let name = crate::stack::name_of_number(roots, number)?;
    // The link and the device must agree, lest a stale /sys names another one.
    let told = roots.text(format!("/sys/class/block/{name}/dev")).ok()?;
    (device_number(&told) == Some(number)).then_some(name)
}

#[cfg(test)]
mod tests {
    use testkit::machine::lay_out;

    use super::*;

    fn reason(machine: &str, name: &str) -> Option<String> {
        let top = lay_out(machine);
        reason_not_free(&Roots::at(top.path()), name)
    }

    fn identities_of(machine: &str, name: &str) -> Vec<String> {
        let top = lay_out(machine);
        identities(&Roots::at(top.path()), name)
    }

    const FREE: &str = "/proc/self/mountinfo: 28 1 8:1 / / rw - ext4 /dev/sda1 rw
/proc/swaps:
|Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
|/dev/sda2                              partition\t999420\t\t0\t\t-2
/sys/class/block/sda/dev: 8:0
/sys/class/block/sda/sda1/dev: 8:1
/sys/class/block/sda/sda1/partition: 1
/sys/class/block/sda1/dev: 8:1
/sys/class/block/sda2/dev: 8:2
/sys/class/block/sdb/dev: 8:16
/sys/class/block/sdb/holders/
/sys/class/block/sdb/slaves/
";

    #[test]
    fn a_device_that_nothing_uses_is_free() {
        assert_eq!(reason(FREE, "sdb"), None);
    }

    #[test]
    fn a_mount_counts_for_the_partition_and_its_disk() {
        for name in ["sda1", "sda"] {
            let reason = reason(FREE, name).unwrap();
            assert!(reason.contains("sda1 is mounted on /;"), "{reason}");
        }
    }

    #[test]
    fn swap_in_use_counts() {
        let reason = reason(FREE, "sda2").unwrap();
        assert!(reason.contains("swapoff"), "{reason}");
    }

    #[test]
    fn what_stands_on_a_device_or_its_partition_counts() {
        let mirror = include_str!("../../tests/machines/md-raid1-sata.tree");
        let text = reason(mirror, "sdb").unwrap();
        assert!(text.contains("md0 stands on sdb"), "{text}");
        let laptop = include_str!("../../tests/machines/crypt-lvm-nvme.tree");
        for name in ["nvme0n1", "nvme0n1p3"] {
            let text = reason(laptop, name).unwrap();
            assert!(text.contains("dm-0 stands on nvme0n1p3"), "{text}");
        }
    }

    #[test]
    fn unused_partitions_count_too() {
        let machine = FREE.replace("8:1 / / rw - ext4 /dev/sda1", "8:9 / / rw - ext4 /dev/sdx");
        let reason = reason(&machine, "sda").unwrap();
        assert!(reason.contains("has partitions, such as sda1"), "{reason}");
    }

    #[test]
    fn a_loop_device_over_the_device_counts() {
        let machine = format!("{FREE}/sys/class/block/loop0/loop/backing_file: /dev/sdb\n");
        let reason = reason(&machine, "sdb").unwrap();
        assert!(reason.contains("loop0 is over sdb"), "{reason}");
    }

    #[test]
    fn a_loop_device_over_the_disk_counts_for_its_partition() {
        let machine = "/proc/self/mountinfo:
/proc/swaps:
/sys/class/block/sda/dev: 8:0
/sys/class/block/sda/sda1/dev: 8:1
/sys/class/block/sda/sda1/partition: 1
/sys/class/block/sda1 -> sda/sda1
/sys/class/block/loop0/loop/backing_file: /dev/sda
";
        let reason = reason(machine, "sda1").unwrap();
        assert!(reason.contains("loop0 is over sda;"), "{reason}");
    }

    #[test]
    fn a_swap_file_in_use_counts_for_the_loop_device_over_it() {
        let machine = "/proc/swaps:
|Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
|/var/swap                              file\t\t999420\t\t0\t\t-2
/sys/class/block/loop0/dev: 7:0
/sys/class/block/loop0/loop/backing_file: /var/swap
";
        let reason = reason(machine, "loop0").unwrap();
        assert!(reason.contains("swapoff"), "{reason}");
    }

    #[test]
    fn a_device_is_known_by_serial_wwid_uuid_or_file() {
        let desktop = include_str!("../../tests/machines/nvme-ext4.tree");
        let drive = ["S5H9NS0N123456A", "eui.0025385b91b0c1d2"];
        assert_eq!(identities_of(desktop, "nvme0n1"), drive);
        assert_eq!(identities_of(desktop, "nvme0n1p2"), drive, "of its disk");
        let mirror = include_str!("../../tests/machines/md-raid1-sata.tree");
        let disk = ["WD-WCC7K0123456", "naa.50014ee2b9a1b2c3"];
        assert_eq!(identities_of(mirror, "sda"), disk);
        assert!(identities_of(mirror, "md0").is_empty());
        let laptop = include_str!("../../tests/machines/crypt-lvm-nvme.tree");
        assert_eq!(identities_of(laptop, "dm-2"), ["LVM-AAAAbbbbCCCC"]);
        let guest = include_str!("../../tests/machines/loop-on-xfs.tree");
        assert_eq!(identities_of(guest, "vda"), ["disk-1"]);
        assert_eq!(identities_of(guest, "loop0"), ["/var/images/a.img"]);
        assert!(identities_of(guest, "zram0").is_empty());
    }
}
