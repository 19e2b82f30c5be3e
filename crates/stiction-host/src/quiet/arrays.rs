//! Arrays and filesystems that move data of their own accord.

use stiction_core::{Spoiler, SpoilerKind, TargetStack};

use crate::Roots;

/// What `/proc/mdstat` calls work on a whole array (`drivers/md/md.c`).
const WORK: [&str; 4] = ["resync", "recovery", "check", "reshape"];

/// Arrays under the targets that are at such work.
pub(super) fn resync(roots: &Roots, stacks: &[TargetStack]) -> Vec<Spoiler> {
    let text = roots.text("/proc/mdstat").unwrap_or_default();
    let layers = || stacks.iter().flat_map(|stack| &stack.layers);
    let is_ours = |name: &str| layers().any(|layer| layer.name == name);
    at_work(&text)
        .into_iter()
        .filter(|(name, _)| is_ours(name))
        .map(|(name, progress)| Spoiler {
            kind: SpoilerKind::ArrayResync,
            detail: format!("{name} is at work: {progress}"),
        })
        .collect()
}

/// Arrays at work, and how far they are. What is delayed or pending moves nothing.
///
/// ```text
/// md0 : active raid1 sdb1[1] sda1[0]
///       [==>..................]  resync = 12.6% (37043392/292945152) finish=127.5min
/// ```
fn at_work(mdstat: &str) -> Vec<(String, String)> {
    let mut array = "";
    let mut found = Vec::new();
    for line in mdstat.lines() {
        if let Some((name, _)) = line
            .split_once(" : ")
            .filter(|(name, _)| !name.contains(' '))
        {
            array = name;
        }
        for work in WORK {
            let Some((_, after)) = line.split_once(&format!(" {work} = ")) else {
                continue;
            };
            let percent = after.split_ascii_whitespace().next().unwrap_or("");
            found.push((array.to_owned(), format!("{work} {percent}")));
        }
    }
    found
}

/// What a btrfs under the targets is busy with
/// (`/sys/fs/btrfs/UUID/exclusive_operation`, since Linux 5.10).
pub(super) fn btrfs_operation(roots: &Roots, stacks: &[TargetStack]) -> Vec<Spoiler> {
    let filesystems = stacks.iter().filter_map(|stack| stack.filesystem.as_ref());
    let devices: Vec<&String> = filesystems
        .filter(|filesystem| filesystem.kind == "btrfs")
        .flat_map(|filesystem| &filesystem.devices)
        .collect();
    let mut found = Vec::new();
    for uuid in roots.names("/sys/fs/btrfs") {
        let folder = format!("/sys/fs/btrfs/{uuid}");
        let own = roots.names(format!("{folder}/devices"));
        if !own.iter().any(|name| devices.contains(&name)) {
            continue;
        }
        let operation = roots.text_if_any(format!("{folder}/exclusive_operation"));
        // A balance that is paused moves nothing.
        let busy = operation.filter(|name| name != "none" && !name.contains("paused"));
        found.extend(busy.map(|name| Spoiler {
            kind: SpoilerKind::BtrfsOperation,
            detail: format!("the btrfs on {} is at work: {name}", own.join(", ")),
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use stiction_core::{Filesystem, Layer, LayerKind};
    use testkit::machine::lay_out;

    use super::*;

    /// The forms of `Documentation/admin-guide/md.rst` and of `drivers/md/md.c`.
    const MDSTAT: &str = "\
Personalities : [raid1] [raid6] [raid5] [raid4]
md1 : active raid5 sdd1[3] sdc1[1] sdb1[0]
      1953260544 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]
      [==>..................]  recovery = 12.6% (123043392/976630272) finish=127.5min speed=111472K/sec

md0 : active raid1 sdb2[1] sda2[0]
      292945152 blocks [2/2] [UU]
        resync=DELAYED

md2 : active raid1 sde1[1] sdf1[0]
      292945152 blocks [2/2] [UU]
      [=>...................]  check =  5.0% (14647257/292945152) finish=20.0min speed=200000K/sec

unused devices: <none>
";

    fn stack(kind: &str, device: &str) -> TargetStack {
        TargetStack {
            path: "/mnt".to_owned(),
            filesystem: Some(Filesystem {
                kind: kind.to_owned(),
                devices: vec![device.to_owned()],
                ..Filesystem::default()
            }),
            layers: vec![Layer {
                name: device.to_owned(),
                kind: LayerKind::Raid,
                device_number: (9, 1),
                size_bytes: 0,
                model: None,
                firmware: None,
                serial: None,
                link: None,
                link_bytes_per_s: None,
                scheduler: None,
                rotational: None,
                logical_block_size_bytes: 512,
                physical_block_size_bytes: 512,
                queue: std::collections::BTreeMap::new(),
                target: None,
                backing: None,
                loop_direct_io: None,
            }],
            missing: Vec::new(),
        }
    }

    #[test]
    fn arrays_at_work_are_told_with_how_far_they_are() {
        let found = at_work(MDSTAT);
        let expected = [("md1", "recovery 12.6%"), ("md2", "check 5.0%")];
        let expected = expected.map(|(name, how)| (name.to_owned(), how.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn only_arrays_under_the_target_count() {
        let text: String = MDSTAT.lines().map(|line| format!("|{line}\n")).collect();
        let top = lay_out(&format!("/proc/mdstat:\n{text}"));
        let roots = Roots::at(top.path());
        let found = resync(&roots, &[stack("ext4", "md1")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].detail, "md1 is at work: recovery 12.6%");
        assert_eq!(resync(&roots, &[stack("ext4", "md0")]), []);
    }

    #[test]
    fn a_balance_counts_unless_it_is_paused() {
        let at = |operation: &str| {
            let text = format!(
                "/sys/fs/btrfs/features/\n\
                 /sys/fs/btrfs/1234-abcd/devices/sda1/\n\
                 /sys/fs/btrfs/1234-abcd/devices/sdb1/\n\
                 /sys/fs/btrfs/1234-abcd/exclusive_operation: {operation}\n"
            );
            let top = lay_out(&text);
            btrfs_operation(&Roots::at(top.path()), &[stack("btrfs", "sdb1")])
        };
        assert_eq!(at("none"), []);
        assert_eq!(at("balance paused"), []);
        let found = at("balance");
        assert_eq!(
            found[0].detail,
            "the btrfs on sda1, sdb1 is at work: balance"
        );
    }
}
