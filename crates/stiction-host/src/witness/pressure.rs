//! Pressure stall information (`Documentation/accounting/psi.rst`).

use std::path::PathBuf;

use stiction_core::{Pressure, PressureSeen};

use crate::Roots;
use crate::cgroup::{ControlGroups, is_top};

/// A reading of the time in which tasks waited for each resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupPressure {
    /// Of our own control group where it has files for it, else of the machine.
    source: String,
    totals: Pressure,
}

impl GroupPressure {
    /// `None` where the kernel does not count it.
    pub(super) fn read(roots: &Roots) -> Option<Self> {
        let groups = ControlGroups::read(roots).version_two();
        let own = groups.and_then(|groups| groups.folders.first().cloned());
        let own = own.filter(|folder| !is_top(roots, folder));
        let own = own.and_then(|folder| {
            let totals = totals_in(roots, |name| folder.join(format!("{name}.pressure")));
            (totals != Pressure::default()).then(|| Self {
                source: folder.display().to_string(),
                totals,
            })
        });
        own.or_else(|| {
            let totals = pressure_in(roots);
            (totals != Pressure::default()).then(|| Self {
                source: "/proc/pressure".to_owned(),
                totals,
            })
        })
    }

    /// What was waited since `before`; `None` when that was read elsewhere: the process
    /// has been moved to another group.
    pub(super) fn since(&self, before: &Self) -> Option<PressureSeen> {
        (self.source == before.source).then(|| PressureSeen {
            source: self.source.clone(),
            waited: self.totals.since(before.totals),
        })
    }
}

/// Time in which tasks of the machine have waited for each resource since it was booted.
#[must_use]
pub fn pressure() -> Pressure {
    pressure_in(&Roots::live())
}

/// As [`pressure`], of a machine whose files lie elsewhere.
pub(crate) fn pressure_in(roots: &Roots) -> Pressure {
    totals_in(roots, |name| PathBuf::from("/proc/pressure").join(name))
}

fn totals_in(roots: &Roots, path: impl Fn(&str) -> PathBuf) -> Pressure {
    let text = |name: &str| roots.text(path(name)).unwrap_or_default();
    let (cpu, io, memory) = (text("cpu"), text("io"), text("memory"));
    Pressure {
        cpu_some_ns: total_ns(&cpu, "some "),
        io_some_ns: total_ns(&io, "some "),
        io_full_ns: total_ns(&io, "full "),
        memory_some_ns: total_ns(&memory, "some "),
        memory_full_ns: total_ns(&memory, "full "),
    }
}

/// Total of the line that begins so, ns: `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`,
/// in microseconds. `some`: at least one task waited; `full`: all that could have run did.
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
        assert_eq!(total_ns(text, "some "), Some(58_761_459_000));
        assert_eq!(total_ns("full avg10=0.00 total=5", "some "), None);
        assert_eq!(total_ns("some avg10=0.22 total=", "some "), None);
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
        let seen = pressure_in(&Roots::at(machine.path()));
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
        let own = GroupPressure::read(&roots).unwrap();
        assert_eq!(own.source, "/sys/fs/cgroup");
        assert_eq!(own.totals.io_some_ns, Some(1_500_000));
        assert!(!own.since(&own).unwrap().is_of_machine());

        let text = "/proc/pressure/io: some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        let machine = lay_out(text);
        let of_system = GroupPressure::read(&Roots::at(machine.path())).unwrap();
        assert_eq!(of_system.totals.io_some_ns, Some(7000));
        assert_eq!(of_system.since(&own), None);
        let seen = of_system.since(&of_system).unwrap();
        assert_eq!(seen.waited.io_some_ns, Some(0));
        assert!(seen.is_of_machine());
        assert_eq!(
            GroupPressure::read(&Roots::at(&machine.path().join("proc"))),
            None
        );
    }

    /// Where our process stands at the top it gets a group of its own, whose tasks are
    /// ours alone, and is put back.
    #[test]
    fn root_a_group_of_our_own_has_our_pressure() {
        testkit::require_root!();
        let roots = Roots::live();
        let groups = || std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let home = groups();
        let state = tempfile::tempdir().unwrap();
        let id = stiction_core::SessionId::new(jiff::Timestamp::UNIX_EPOCH, 1);
        let undo = crate::UndoJournal::open(state.path(), &id).unwrap();
        let at_home = GroupPressure::read(&roots).unwrap();
        let group = crate::enter_own_group(&undo).unwrap();
        let inside = GroupPressure::read(&roots).unwrap();
        let Some(group) = group else {
            assert_ne!(at_home.source, "/proc/pressure", "{home}");
            return;
        };
        assert_eq!(at_home.source, "/proc/pressure");
        assert_eq!(inside.source, group.path().display().to_string());
        assert_eq!(inside.since(&at_home), None);
        let path = group.path().to_owned();
        group.remove().unwrap();
        assert_eq!(groups(), home);
        assert!(!path.exists());
        assert!(undo.open_changes().is_empty());
    }
}
