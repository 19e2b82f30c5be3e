//! Pressure stall information (`Documentation/accounting/psi.rst`).

use std::path::PathBuf;

use crate::Roots;
use crate::cgroup::ControlGroups;

const OF_SYSTEM: &str = "/proc/pressure/io";

/// A reading of the time in which tasks waited for I/O: of our own control group
/// where it has a file for it, else of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IoPressure {
    path: PathBuf,
    some_ns: u64,
}

impl IoPressure {
    pub(super) fn read(roots: &Roots) -> Option<Self> {
        let groups = ControlGroups::read(roots).version_two();
        let own = groups.and_then(|groups| Some(groups.folders.first()?.join("io.pressure")));
        let paths = own.into_iter().chain([PathBuf::from(OF_SYSTEM)]);
        paths
            .filter_map(|path| {
                let some_ns = some_total_ns(&roots.text(&path).ok()?)?;
                Some(Self { path, some_ns })
            })
            .next()
    }

    /// ns since `before`; `None` when that was read elsewhere: the process has been
    /// moved to another group.
    pub(super) fn since(&self, before: &Self) -> Option<u64> {
        (self.path == before.path).then(|| self.some_ns.saturating_sub(before.some_ns))
    }
}

/// Time in which tasks of the machine waited for each resource, ns, since boot or between
/// two readings. `None` where the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// At least one task waited for a CPU.
    pub cpu_some_ns: Option<u64>,
    /// At least one waited for I/O.
    pub io_some_ns: Option<u64>,
    /// All that could have run waited for I/O.
    pub io_full_ns: Option<u64>,
    /// At least one waited for memory.
    pub memory_some_ns: Option<u64>,
    /// All that could have run waited for memory.
    pub memory_full_ns: Option<u64>,
}

impl Pressure {
    /// The totals now.
    #[must_use]
    pub fn read() -> Self {
        Self::read_in(&Roots::live())
    }

    fn read_in(roots: &Roots) -> Self {
        let text = |name: &str| {
            roots
                .text(format!("/proc/pressure/{name}"))
                .unwrap_or_default()
        };
        let (cpu, io, memory) = (text("cpu"), text("io"), text("memory"));
        Self {
            cpu_some_ns: total_ns(&cpu, "some "),
            io_some_ns: total_ns(&io, "some "),
            io_full_ns: total_ns(&io, "full "),
            memory_some_ns: total_ns(&memory, "some "),
            memory_full_ns: total_ns(&memory, "full "),
        }
    }

    /// What came to it since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let between =
            |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        Self {
            cpu_some_ns: between(self.cpu_some_ns, before.cpu_some_ns),
            io_some_ns: between(self.io_some_ns, before.io_some_ns),
            io_full_ns: between(self.io_full_ns, before.io_full_ns),
            memory_some_ns: between(self.memory_some_ns, before.memory_some_ns),
            memory_full_ns: between(self.memory_full_ns, before.memory_full_ns),
        }
    }
}

/// Total of the `some` line, ns: time in which at least one task waited.
///
/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=123` (in microseconds).
fn some_total_ns(text: &str) -> Option<u64> {
    total_ns(text, "some ")
}

/// Total of the line that begins so, ns.
fn total_ns(text: &str, begin: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(begin))?;
    let total = line
        .split_ascii_whitespace()
        .find_map(|field| field.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use testkit::machine::lay_out;

    use super::*;

    /// The form that the kernel's documentation gives.
    #[test]
    fn the_total_is_in_microseconds() {
        let text = "some avg10=0.22 avg60=0.17 avg300=1.11 total=58761459\n\
                    full avg10=0.00 avg60=0.13 avg300=0.96 total=57156513";
        assert_eq!(some_total_ns(text), Some(58_761_459_000));
        assert_eq!(some_total_ns("full avg10=0.00 total=5"), None);
        assert_eq!(some_total_ns("some avg10=0.22 total="), None);
    }

    #[test]
    fn each_resource_has_its_totals() {
        let line = |kind, total| format!("{kind} avg10=0.00 avg60=0.00 avg300=0.00 total={total}");
        let text = format!(
            "/proc/pressure/io: {}\n/proc/pressure/cpu: {}\n",
            line("full", 5),
            line("some", 3)
        );
        let machine = lay_out(&text);
        let seen = Pressure::read_in(&Roots::at(machine.path()));
        let expected = Pressure {
            cpu_some_ns: Some(3000),
            io_full_ns: Some(5000),
            ..Pressure::default()
        };
        assert_eq!(seen, expected);
        assert_eq!(seen.since(seen).io_full_ns, Some(0));
    }

    #[test]
    fn our_own_group_comes_first() {
        let machine = lay_out(include_str!("../../tests/machines/docker.tree"));
        let roots = Roots::at(machine.path());
        let own = IoPressure::read(&roots).unwrap();
        assert_eq!(own.some_ns, 1_500_000);
        assert_eq!(own.path, PathBuf::from("/sys/fs/cgroup/io.pressure"));

        let text = "/proc/pressure/io: some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        let machine = lay_out(text);
        let of_system = IoPressure::read(&Roots::at(machine.path())).unwrap();
        assert_eq!(of_system.some_ns, 7000);
        assert_eq!(of_system.since(&own), None);
        assert_eq!(of_system.since(&of_system), Some(0));
    }
}
