//! Whether the devices under some targets have come to rest.

use std::fs::File;
use std::path::Path;

use stiction_core::{TargetStack, format_bytes};

use crate::quiet::meminfo_bytes;
use crate::stack::disk_of;
use crate::witness::own_devices;
use crate::{HostError, Roots};

/// What may wait in memory to be written back on a machine at rest, bytes: other
/// programs leave a little all the time.
const UNWRITTEN_BYTES_MAX: u64 = 16 << 20;

/// What is still on its way to some devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idleness {
    /// Requests in flight on the devices.
    pub in_flight: u64,
    /// Bytes that are dirty or being written back, on the whole machine.
    pub unwritten_bytes: u64,
}

impl Idleness {
    /// Looks once. What cannot be seen counts as nothing.
    #[must_use]
    pub fn look(stacks: &[TargetStack]) -> Self {
        Self::look_in(&Roots::live(), stacks)
    }

    /// As [`look`](Self::look), at a machine whose files lie elsewhere.
    #[must_use]
    pub fn look_in(roots: &Roots, stacks: &[TargetStack]) -> Self {
        let mut disks: Vec<String> = Vec::new();
        for (name, _) in stacks.iter().flat_map(own_devices) {
            let disk = disk_of(roots, &name);
            if !disks.contains(&disk) {
                disks.push(disk);
            }
        }
        // Reads and writes (`Documentation/ABI/stable/sysfs-block`, `inflight`).
        let in_flight = |disk: &String| -> u64 {
            let text = roots.text_if_any(format!("/sys/class/block/{disk}/inflight"));
            let text = text.unwrap_or_default();
            let counts = text.split_ascii_whitespace();
            counts.filter_map(|count| count.parse::<u64>().ok()).sum()
        };
        let memory = roots.text("/proc/meminfo").unwrap_or_default();
        let bytes = |name| meminfo_bytes(&memory, name).unwrap_or(0);
        Self {
            in_flight: disks.iter().map(in_flight).sum(),
            unwritten_bytes: bytes("Dirty") + bytes("Writeback"),
        }
    }

    /// Whether nothing is in flight, and no more waits in memory than 16 MiB.
    #[must_use]
    pub fn is_idle(self) -> bool {
        self.in_flight == 0 && self.unwritten_bytes <= UNWRITTEN_BYTES_MAX
    }
}

impl std::fmt::Display for Idleness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} requests in flight, {} waiting to be written back",
            self.in_flight,
            format_bytes(self.unwritten_bytes)
        )
    }
}

/// Has everything written back that waits in memory for the filesystem at `path`.
///
/// # Errors
/// When it cannot be opened, or the device reports an error.
pub fn write_back(path: &Path) -> Result<(), HostError> {
    let refused = |error| HostError::refused("write back the filesystem of", path, error);
    let file = File::open(path).map_err(refused)?;
    rustix::fs::syncfs(&file).map_err(|errno| refused(errno.into()))
}

#[cfg(test)]
mod tests {
    use testkit::machine::lay_out;

    use super::*;
    use crate::{FactOptions, observe_target_in};

    fn idleness(inflight: &str, dirty_kib: u64, writeback_kib: u64) -> Idleness {
        let machine = include_str!("../tests/machines/virtio-microvm.tree");
        let disk = "/sys/devices/pci0000:00/0000:00:01.0/virtio0/block/vda";
        let top = lay_out(&format!("{machine}{disk}/inflight: {inflight}\n"));
        let memory = format!("Dirty:    {dirty_kib} kB\nWriteback:   {writeback_kib} kB\n");
        std::fs::write(top.path().join("proc/meminfo"), memory).unwrap();
        let roots = Roots::at(top.path());
        let stack = observe_target_in(&roots, Path::new("/"), FactOptions::default()).unwrap();
        Idleness::look_in(&roots, &[stack])
    }

    #[test]
    fn a_machine_at_rest_has_nothing_in_flight_and_little_to_write() {
        let seen = idleness("       0        0", 16_000, 384);
        assert_eq!(seen.unwritten_bytes, 16 << 20);
        assert!(seen.is_idle());
        assert!(!idleness("       0        0", 16_000, 385).is_idle());
        let seen = idleness("       2        3", 0, 0);
        assert!(!seen.is_idle());
        assert_eq!(
            seen.to_string(),
            "5 requests in flight, 0 B waiting to be written back"
        );
    }
}
