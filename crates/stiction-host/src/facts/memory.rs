//! The memory, and when the kernel writes back what is dirty in it.

use stiction_core::Memory;

use super::{Facts, field};
use crate::stack::chosen;

/// Settings under `/proc/sys/vm` that decide when dirty pages go to the device and
/// what is kept in the cache.
const WRITEBACK: &[&str] = &[
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_expire_centisecs",
    "dirty_ratio",
    "dirty_writeback_centisecs",
    "laptop_mode",
    "swappiness",
    "vfs_cache_pressure",
];

pub(super) fn observe(facts: &mut Facts<'_>) -> Option<Memory> {
    let info = facts.text("memory", "/proc/meminfo")?;
    let huge = "/sys/kernel/mm/transparent_hugepage/enabled";
    let Some(total_bytes) = kibibytes(&info, "MemTotal") else {
        facts.miss("memory", "/proc/meminfo has no MemTotal");
        return None;
    };
    let writeback = WRITEBACK
        .iter()
        .filter_map(|name| {
            let text = facts.roots.text_if_any(format!("/proc/sys/vm/{name}"))?;
            Some(((*name).to_owned(), text))
        })
        .collect();
    Some(Memory {
        total_bytes,
        swap_bytes: kibibytes(&info, "SwapTotal").unwrap_or(0),
        page_size_bytes: rustix::param::page_size() as u64,
        transparent_huge_pages: facts
            .text("transparent huge pages", huge)
            .map(|text| chosen(&text)),
        writeback,
    })
}

/// `MemTotal:       24684092 kB`, which means KiB (proc_meminfo(5)).
fn kibibytes(info: &str, key: &str) -> Option<u64> {
    let number = field(info, key)?.split_ascii_whitespace().next()?;
    number.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::kibibytes;

    #[test]
    fn kb_means_1024() {
        let info = "MemTotal:       24684092 kB\nSwapTotal:             0 kB\nMemFree: x kB\n";
        assert_eq!(kibibytes(info, "MemTotal"), Some(25_276_510_208));
        assert_eq!(kibibytes(info, "SwapTotal"), Some(0));
        assert_eq!(kibibytes(info, "MemFree"), None);
        assert_eq!(kibibytes(info, "Mem"), None);
    }
}
