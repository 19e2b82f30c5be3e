//! Ceilings on this process: control groups and resource limits.

use std::collections::BTreeMap;
use std::path::Path;

use stiction_core::{IoLimit, Limits, TargetStack};

use super::Facts;
use crate::Roots;
use crate::cgroup::{ControlGroups, Groups, Version};
use crate::stack::device_number;

/// Version 1 writes "no limit" as the largest number of pages in bytes, which
/// differs by page size; no machine has so much memory.
const UNLIMITED_BYTES: u64 = 1 << 62;

pub(super) fn observe(facts: &mut Facts<'_>, stacks: &[TargetStack]) -> Limits {
    let roots = facts.roots;
    let groups = ControlGroups::read(roots);
    let table = facts
        .text("resource limits", "/proc/self/limits")
        .unwrap_or_default();
    if groups.own_paths().next().is_none() {
        facts.miss("control groups", "/proc/self/cgroup names none");
    }
    Limits {
        memory_bytes: groups
            .of("memory")
            .and_then(|own| memory_bytes(roots, &own)),
        cpu_percent: groups.of("cpu").and_then(|own| cpu_percent(roots, &own)),
        io: io_limits(roots, &groups, &device_numbers(stacks)),
        file_size_bytes: soft_limit(&table, "Max file size"),
        locked_memory_bytes: soft_limit(&table, "Max locked memory"),
    }
}

/// `Max file size             unlimited            unlimited            bytes`
fn soft_limit(table: &str, name: &str) -> Option<u64> {
    table
        .lines()
        .find_map(|line| line.strip_prefix(name))?
        .split_ascii_whitespace()
        .next()?
        .parse()
        .ok()
}

/// The smallest limit of the group and its parents.
fn memory_bytes(roots: &Roots, groups: &Groups) -> Option<u64> {
    let files: &[&str] = match groups.version {
        Version::One => &["memory.limit_in_bytes"],
        Version::Two => &["memory.max", "memory.high"],
    };
    let limits = groups.folders.iter().flat_map(|folder| {
        files
            .iter()
            .filter_map(|file| roots.number_if_any(folder.join(file)))
    });
    limits.filter(|limit| *limit < UNLIMITED_BYTES).min()
}

/// The smallest quota of the group and its parents, in percent of one CPU.
fn cpu_percent(roots: &Roots, groups: &Groups) -> Option<u64> {
    let percent = |quota: u64, period: u64| quota.checked_mul(100)?.checked_div(period);
    let quota = |folder: &Path| match groups.version {
        // -1 is no limit.
        Version::One => percent(
            roots.number_if_any(folder.join("cpu.cfs_quota_us"))?,
            roots.number_if_any(folder.join("cpu.cfs_period_us"))?,
        ),
        // `max 100000` or `200000 100000`.
        Version::Two => {
            let text = roots.text_if_any(folder.join("cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            percent(quota.parse().ok()?, period.parse().ok()?)
        }
    };
    groups
        .folders
        .iter()
        .filter_map(|folder| quota(folder))
        .min()
}

/// Numbers of all devices under the targets, those under loop devices' files too.
fn device_numbers(stacks: &[TargetStack]) -> Vec<(u32, u32)> {
    let mut numbers = Vec::new();
    for layer in stacks.iter().flat_map(|stack| &stack.layers) {
        numbers.push(layer.device_number);
        if let Some(backing) = &layer.backing {
            numbers.extend(device_numbers(std::slice::from_ref(backing)));
        }
    }
    numbers
}

/// Ceilings that the group and its parents set on `devices`.
fn io_limits(roots: &Roots, groups: &ControlGroups, devices: &[(u32, u32)]) -> Vec<IoLimit> {
    let one = groups
        .of("blkio")
        .filter(|groups| groups.version == Version::One);
    let mut limits = Vec::new();
    for folder in one.iter().flat_map(|groups| &groups.folders) {
        limits.extend(throttles(roots, folder));
    }
    for folder in groups
        .version_two()
        .iter()
        .flat_map(|groups| &groups.folders)
    {
        let text = roots.text_if_any(folder.join("io.max")).unwrap_or_default();
        let source = format!("io.max of {}", folder.display());
        limits.extend(text.lines().filter_map(|line| io_max(line, &source)));
    }
    limits.retain(|limit| devices.contains(&limit.device_number));
    limits
}

/// `8:16 rbps=2097152 wbps=max riops=max wiops=120`
fn io_max(line: &str, source: &str) -> Option<IoLimit> {
    let mut fields = line.split_ascii_whitespace();
    let device_number = device_number(fields.next()?)?;
    let values: BTreeMap<&str, &str> = fields.filter_map(|field| field.split_once('=')).collect();
    let value = |key: &str| values.get(key)?.parse().ok();
    let limit = IoLimit {
        device_number,
        source: source.to_owned(),
        read_bytes_per_s: value("rbps"),
        write_bytes_per_s: value("wbps"),
        read_operations_per_s: value("riops"),
        write_operations_per_s: value("wiops"),
    };
    is_any(&limit).then_some(limit)
}

fn is_any(limit: &IoLimit) -> bool {
    let values = [
        limit.read_bytes_per_s,
        limit.write_bytes_per_s,
        limit.read_operations_per_s,
        limit.write_operations_per_s,
    ];
    values.iter().any(Option::is_some)
}

/// The `blkio.throttle.*` files of one group, each a line `8:16 1048576` a device.
fn throttles(roots: &Roots, folder: &Path) -> Vec<IoLimit> {
    let rules = |file: &str| -> Vec<((u32, u32), u64)> {
        let text = roots
            .text_if_any(folder.join(format!("blkio.throttle.{file}_device")))
            .unwrap_or_default();
        let rule = |line: &str| {
            let (device, value) = line.split_once(' ')?;
            Some((device_number(device)?, value.trim().parse().ok()?))
        };
        text.lines().filter_map(rule).collect()
    };
    let files = ["read_bps", "write_bps", "read_iops", "write_iops"].map(rules);
    let mut devices: Vec<(u32, u32)> = files.iter().flatten().map(|(device, _)| *device).collect();
    devices.sort_unstable();
    devices.dedup();
    devices
        .into_iter()
        .map(|device| {
            let value = |rules: &[((u32, u32), u64)]| {
                let rule = rules.iter().find(|(other, _)| *other == device);
                rule.map(|(_, value)| *value)
            };
            let [read_bytes, write_bytes, reads, writes] = &files;
            IoLimit {
                device_number: device,
                source: format!("blkio.throttle of {}", folder.display()),
                read_bytes_per_s: value(read_bytes),
                write_bytes_per_s: value(write_bytes),
                read_operations_per_s: value(reads),
                write_operations_per_s: value(writes),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the kernel's `cgroup-v2.rst`.
    #[test]
    fn io_max_reads_as_the_kernel_documents_it() {
        let limit = io_max("8:16 rbps=2097152 wbps=max riops=max wiops=120", "x").unwrap();
        assert_eq!(limit.device_number, (8, 16));
        assert_eq!(limit.read_bytes_per_s, Some(2_097_152));
        assert_eq!(limit.write_bytes_per_s, None);
        assert_eq!(limit.write_operations_per_s, Some(120));
        assert_eq!(
            io_max("8:16 rbps=max wbps=max riops=max wiops=max", "x"),
            None
        );
        assert_eq!(io_max("nonsense", "x"), None);
    }

    #[test]
    fn resource_limits_read_from_the_kernel_s_table() {
        let table = "Limit                     Soft Limit           Hard Limit           Units     \n\
                     Max file size             1048576              unlimited            bytes     \n\
                     Max locked memory         unlimited            unlimited            bytes     \n";
        assert_eq!(soft_limit(table, "Max file size"), Some(1 << 20));
        assert_eq!(soft_limit(table, "Max locked memory"), None);
        assert_eq!(soft_limit("", "Max file size"), None);
    }
}
