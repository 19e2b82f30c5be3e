//! The link that a disk hangs on, and what it can carry.

use std::path::{Path, PathBuf};

use crate::Roots;

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// `PCIe 8.0 GT/s x4`, `SATA 6.0 Gbps`, `USB 5000 Mbps`, `virtio`.
    pub(super) name: String,
    /// Most payload bytes per second, after the line code.
    pub(super) bytes_per_s: Option<u64>,
}

/// The link of the disk with that sysfs folder.
pub(super) fn of_disk(roots: &Roots, folder: &str) -> Option<Link> {
    let real = roots.path(folder).canonicalize().ok()?;
    // Only what is under /sys: a recorded tree may lie anywhere.
    let under_sys: PathBuf = real
        .components()
        .skip_while(|component| component.as_os_str() != "sys")
        .collect();
    let has = |part: &str| {
        under_sys
            .components()
            .any(|component| component.as_os_str().to_string_lossy().starts_with(part))
    };
    if let Some(transport) = roots.text_if_any(format!("{folder}/device/transport")) {
        return match transport.as_str() {
            "pcie" => pcie(roots, &format!("{folder}/device/device")),
            other => Some(unmeasured(&format!("NVMe over {other}"))),
        };
    }
    if has("nvme") {
        return pcie(roots, &format!("{folder}/device/device"));
    }
    if has("usb") {
        return usb(&real);
    }
    if has("ata") {
        return sata(roots, &under_sys);
    }
    let plain = [("virtio", "virtio"), ("mmc", "MMC"), ("vbd-", "Xen")];
    plain
        .into_iter()
        .find(|(part, _)| has(part))
        .map(|(_, name)| unmeasured(name))
}

fn unmeasured(name: &str) -> Link {
    Link {
        name: name.to_owned(),
        bytes_per_s: None,
    }
}

/// `current_link_speed` is `8.0 GT/s PCIe`, and `8 GT/s` on old kernels.
fn pcie(roots: &Roots, device: &str) -> Option<Link> {
    let speed = roots.text_if_any(format!("{device}/current_link_speed"))?;
    let width = roots.number_if_any(format!("{device}/current_link_width"))?;
    let transfers: f64 = speed.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Link {
        name: format!("PCIe {transfers:.1} GT/s x{width}"),
        bytes_per_s: Some(pcie_bytes_per_s(transfers, width)),
    })
}

/// The line codes of the PCI Express Base Specification: 8b/10b up to 5 GT/s,
/// 128b/130b up to 32 GT/s, and 242 of 256 bytes of a flit at 64 GT/s.
fn pcie_bytes_per_s(gigatransfers: f64, width: u64) -> u64 {
    let code = if gigatransfers <= 5.0 {
        8.0 / 10.0
    } else if gigatransfers <= 32.0 {
        128.0 / 130.0
    } else {
        242.0 / 256.0
    };
    (gigatransfers * 1e9 / 8.0 * code * width as f64) as u64
}

/// The port's number is that of the `ataN` folder on the way to the disk; SATA
/// codes 8 bits as 10 (Serial ATA specification).
fn sata(roots: &Roots, real: &Path) -> Option<Link> {
    let port = real.components().find_map(|component| {
        let number = component.as_os_str().to_str()?.strip_prefix("ata")?;
        number.parse::<u32>().ok()
    })?;
    let speed = roots.text_if_any(format!("/sys/class/ata_link/link{port}/sata_spd"))?;
    // A port that has not negotiated says `<unknown>`.
    let gigabits: f64 = speed.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Link {
        name: format!("SATA {speed}"),
        bytes_per_s: Some((gigabits * 1e9 / 10.0) as u64),
    })
}

/// The nearest folder above the disk with a `speed`, in Mbps, is the USB device.
fn usb(real: &Path) -> Option<Link> {
    let speed = real
        .ancestors()
        .find_map(|folder| std::fs::read_to_string(folder.join("speed")).ok())?;
    let megabits: u64 = speed.trim().parse().ok()?;
    Some(Link {
        name: format!("USB {megabits} Mbps"),
        bytes_per_s: usb_bytes_per_s(megabits),
    })
}

/// 480 Mbps carries at most 13 bulk packets of 512 bytes in each of 8000
/// microframes a second (USB 2.0, table 5-10); 5 Gbps codes 8b/10b, 10 and 20 Gbps
/// 128b/132b (USB 3.2, section 6).
fn usb_bytes_per_s(megabits: u64) -> Option<u64> {
    match megabits {
        480 => Some(13 * 512 * 8000),
        5000 => Some(500_000_000),
        10_000 | 20_000 => Some(megabits * 1_000_000 / 8 * 128 / 132),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures that PCI-SIG publishes: 985 MB/s a lane in generation 3, 500 MB/s
    /// in generation 2.
    #[test]
    fn pcie_carries_what_pci_sig_says() {
        assert_eq!(pcie_bytes_per_s(5.0, 1), 500_000_000);
        assert_eq!(pcie_bytes_per_s(8.0, 1) / 1_000_000, 984);
        assert_eq!(pcie_bytes_per_s(16.0, 4) / 1_000_000, 7876);
    }

    #[test]
    fn usb_carries_what_the_specifications_say() {
        assert_eq!(usb_bytes_per_s(480), Some(53_248_000));
        assert_eq!(
            usb_bytes_per_s(10_000).map(|bytes| bytes / 1_000_000),
            Some(1212)
        );
        assert_eq!(usb_bytes_per_s(12), None);
    }
}
