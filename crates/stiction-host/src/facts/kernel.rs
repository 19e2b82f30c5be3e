//! The kernel that runs.

use std::io::Read as _;

use stiction_core::{Digest, Kernel};

use super::Facts;

/// Boot arguments that bear on how fast storage is, by their whole name. All others
/// are left out: command lines can hold secrets.
const ARGUMENTS: &[&str] = &[
    "amd_iommu",
    "amd_pstate",
    "audit",
    "cgroup_disable",
    "cgroup_no_v1",
    "clocksource",
    "debug_pagealloc",
    "default_hugepagesz",
    "elevator",
    "gather_data_sampling",
    "highres",
    "hugepages",
    "hugepagesz",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "kasan",
    "l1tf",
    "maxcpus",
    "mds",
    "mem",
    "mitigations",
    "mmio_stale_data",
    "nmi_watchdog",
    "nohz",
    "nohz_full",
    "nopti",
    "nosmt",
    "nospectre_v1",
    "nospectre_v2",
    "nowatchdog",
    "nr_cpus",
    "numa_balancing",
    "page_poison",
    "pci",
    "pcie_aspm",
    "preempt",
    "profile",
    "psi",
    "pti",
    "rcu_nocbs",
    "reg_file_data_sampling",
    "retbleed",
    "skew_tick",
    "slab_nomerge",
    "slub_debug",
    "spec_rstack_overflow",
    "spec_store_bypass_disable",
    "spectre_v2",
    "srbds",
    "swiotlb",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
    "tsx",
    "tsx_async_abort",
];

/// Modules and subsystems all of whose arguments (`nvme.poll_queues`) count.
const ARGUMENTS_OF: &[&str] = &[
    "block.",
    "cpuidle.",
    "intel_idle.",
    "iommu.",
    "libata.",
    "md_mod.",
    "nvme.",
    "nvme_core.",
    "page_alloc.",
    "processor.",
    "rcutree.",
    "scsi_mod.",
    "virtio_blk.",
    "workqueue.",
];

/// A kernel configuration is some 300 KiB of text.
const MOST_CONFIG_BYTES: u64 = 16 << 20;

pub(super) fn observe(facts: &mut Facts<'_>) -> Option<Kernel> {
    let release = facts.text("kernel", "/proc/sys/kernel/osrelease")?;
    let config = config(facts, &release);
    if config.is_none() {
        let places =
            "neither /proc/config.gz nor /boot/config-RELEASE nor the modules' folder has it";
        facts.miss("kernel configuration", places);
    }
    let command_line = facts
        .text("boot arguments", "/proc/cmdline")
        .unwrap_or_default();
    Some(Kernel {
        version: facts
            .text("kernel version", "/proc/sys/kernel/version")
            .unwrap_or_default(),
        architecture: architecture(facts),
        config_digest: config,
        command_line: arguments(&command_line),
        tainted: facts
            .text("kernel taint", "/proc/sys/kernel/tainted")
            .and_then(|text| text.parse().ok()),
        boot: facts
            .text("boot id", "/proc/sys/kernel/random/boot_id")
            .map(|name| Digest::of(name.as_bytes())),
        release,
    })
}

/// `/proc/sys/kernel/arch` is there since Linux 6.1.
fn architecture(facts: &mut Facts<'_>) -> String {
    if let Some(name) = facts.roots.text_if_any("/proc/sys/kernel/arch") {
        return name;
    }
    if facts.roots.is_live() {
        let system = rustix::system::uname();
        return system.machine().to_string_lossy().into_owned();
    }
    facts.miss("architecture", "/proc/sys/kernel/arch is not there");
    String::new()
}

/// Digest of the configuration's text, wherever it lies: the same whether the file
/// is compressed or not.
fn config(facts: &Facts<'_>, release: &str) -> Option<Digest> {
    let plain = [
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
        format!("/lib/modules/{release}/build/.config"),
    ];
    let packed = facts.roots.bytes("/proc/config.gz").ok().and_then(|bytes| {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .take(MOST_CONFIG_BYTES)
            .read_to_end(&mut text)
            .ok()?;
        Some(text)
    });
    let text = packed.or_else(|| plain.iter().find_map(|path| facts.roots.bytes(path).ok()))?;
    Some(Digest::of(&text))
}

/// The allowed ones of a kernel command line, in their order. What follows `--` is
/// for the first process.
fn arguments(line: &str) -> Vec<String> {
    line.split_ascii_whitespace()
        .take_while(|argument| *argument != "--")
        .filter(|argument| {
            let name = argument.split('=').next().unwrap_or(argument);
            // The kernel takes dashes and underscores for each other.
            let name = name.replace('-', "_");
            ARGUMENTS.contains(&name.as_str())
                || ARGUMENTS_OF.iter().any(|start| name.starts_with(start))
        })
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_arguments_are_kept() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=1234 ro quiet mitigations=off nosmt \
                    cryptkey=secret nvme.poll_queues=4 rd.luks.key=/k isolcpus=2-3 token=abc \
                    transparent-hugepage=never -- psi=1";
        assert_eq!(
            arguments(line),
            [
                "mitigations=off",
                "nosmt",
                "nvme.poll_queues=4",
                "isolcpus=2-3",
                "transparent-hugepage=never"
            ]
        );
    }

    #[test]
    fn the_list_is_in_order() {
        assert!(ARGUMENTS.is_sorted() && ARGUMENTS_OF.is_sorted());
    }
}
