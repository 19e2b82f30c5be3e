//! What on this machine would spoil a measurement that is about to begin.

mod arrays;
mod cron;
mod load;
mod power;
mod programs;
mod timers;

use std::time::Duration;

use stiction_core::{DeviceTraffic, Spoiler, SpoilerKind, TargetStack, Witnesses, format_bytes};

pub(crate) use load::meminfo_bytes;

use crate::Roots;
use crate::witness::Traffic;
use load::Load;
use timers::Timers;

/// Others move more than this in a second, bytes: enough to be seen in a figure.
const OTHER_BYTES_PER_S: f64 = 1_048_576.0;
/// Others do more than this in a second, operations.
const OTHER_OPERATIONS_PER_S: f64 = 100.0;

/// Looks for spoilers again and again while a session goes on.
///
/// A look has two ends, between which whoever measures does nothing: what moves
/// meanwhile is others'.
#[derive(Debug)]
pub struct QuietWatch {
    roots: Roots,
    /// How often CPUs have slowed down for heat, when that was last looked at.
    throttled: Option<u64>,
    /// When timers are due, asked once.
    timers: Option<Timers>,
}

/// The first end of a look.
#[derive(Debug)]
pub struct QuietLook {
    traffic: Traffic,
    load: Load,
}

impl Default for QuietWatch {
    fn default() -> Self {
        Self::new()
    }
}

impl QuietWatch {
    /// Of this machine.
    #[must_use]
    pub fn new() -> Self {
        Self::new_in(Roots::live())
    }

    /// Of a machine whose files lie elsewhere.
    #[must_use]
    pub fn new_in(roots: Roots) -> Self {
        Self {
            throttled: power::throttle_count(&roots),
            roots,
            timers: None,
        }
    }

    /// Begins a look at what stands under the targets.
    #[must_use]
    pub fn begin(&self, stacks: &[TargetStack]) -> QuietLook {
        QuietLook {
            traffic: Traffic::begin(&self.roots, stacks),
            load: Load::read(&self.roots),
        }
    }

    /// Ends the look, `elapsed` after it began. Timers count that are due `within` that
    /// time from `now` on.
    #[must_use]
    pub fn finish(
        &mut self,
        look: QuietLook,
        elapsed: Duration,
        stacks: &[TargetStack],
        now: &jiff::Zoned,
        within: Duration,
    ) -> Vec<Spoiler> {
        let roots = &self.roots;
        let mut moved = Witnesses::default();
        look.traffic.finish(roots, &mut moved);
        let mut found: Vec<Spoiler> = Vec::new();
        found.extend(
            moved
                .devices
                .iter()
                .filter_map(|one| other_io(one, elapsed)),
        );
        found.extend(Load::read(roots).since(&look.load, elapsed));
        found.extend(load::low_memory(roots));
        let programs = programs::running(roots);
        found.extend(arrays::resync(roots, stacks));
        found.extend(arrays::btrfs_operation(roots, stacks));
        found.extend(programs.lazy_init(stacks));
        found.extend(programs.maintenance());
        found.extend(power::battery(roots));
        let throttled = power::throttle_count(roots);
        found.extend(power::throttled_since(self.throttled, throttled));
        self.throttled = throttled;
        if programs.cron_runs() {
            found.extend(cron::due(roots, now, within));
        }
        let timers = self.timers.get_or_insert_with(|| Timers::ask(roots));
        found.extend(timers.due(now.timestamp(), within));
        found
    }
}

/// Whether a device moved too much for one that is left alone.
fn other_io(moved: &DeviceTraffic, elapsed: Duration) -> Option<Spoiler> {
    let bytes = moved.read_bytes + moved.written_bytes;
    let operations = moved.reads + moved.writes;
    let elapsed_s = elapsed.as_secs_f64();
    let is_much = bytes as f64 >= OTHER_BYTES_PER_S * elapsed_s
        || operations as f64 >= OTHER_OPERATIONS_PER_S * elapsed_s;
    (operations > 0 && is_much).then(|| Spoiler {
        kind: SpoilerKind::OtherIo,
        detail: format!(
            "{} moved {} in {operations} operations within {} ms in which stiction did nothing",
            moved.device,
            format_bytes(bytes),
            elapsed.as_millis()
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use stiction_core::SpoilerKind;
    use testkit::machine::lay_out;

    use super::*;
    use crate::{FactOptions, observe_target_in};

    const MACHINE: &str = include_str!("../../tests/machines/virtio-microvm.tree");
    const LOOK: Duration = Duration::from_millis(100);

    fn now() -> jiff::Zoned {
        "2026-11-29T03:00:30+00:00[UTC]".parse().unwrap()
    }

    /// What is found between the two ends when `change` is made to a machine's files.
    fn found(more: &str, change: impl FnOnce(&Path)) -> Vec<Spoiler> {
        let top = lay_out(&format!("{MACHINE}{more}"));
        let roots = Roots::at(top.path());
        let stacks = [observe_target_in(&roots, Path::new("/"), FactOptions::default()).unwrap()];
        let mut watch = QuietWatch::new_in(roots);
        let look = watch.begin(&stacks);
        change(top.path());
        watch.finish(look, LOOK, &stacks, &now(), Duration::from_secs(1800))
    }

    fn kinds(found: &[Spoiler]) -> Vec<SpoilerKind> {
        found.iter().map(|one| one.kind).collect()
    }

    const DISK: &str = "/proc/diskstats: 254 0 vda 1 0 8 0 1 0 8 0 0 0 0\n";

    #[test]
    fn a_quiet_machine_has_none() {
        let found = found(DISK, |_| {});
        assert_eq!(found, []);
    }

    /// 3 reads of 4 KiB in 100 ms are 30 a second and nothing; 4096 sectors written are
    /// 2 MiB.
    #[test]
    fn what_a_device_moves_by_itself_is_others() {
        let moves = |line: &'static str| {
            found(DISK, move |top| {
                std::fs::write(top.join("proc/diskstats"), line).unwrap();
            })
        };
        assert_eq!(moves("254 0 vda 4 0 32 0 1 0 8 0 0 0 0\n"), []);
        let found = moves("254 0 vda 1 0 8 0 3 0 4104 0 0 0 0\n");
        assert_eq!(kinds(&found), [SpoilerKind::OtherIo]);
        assert_eq!(
            found[0].detail,
            "vda moved 2 MiB in 2 operations within 100 ms in which stiction did nothing"
        );
        // Ten empty operations, such as flushes of others' commits, count too.
        let found = moves("254 0 vda 11 0 88 0 1 0 8 0 0 0 0\n");
        assert_eq!(kinds(&found), [SpoilerKind::OtherIo]);
    }

    #[test]
    fn throttling_is_what_rose_since_the_last_look() {
        let counts = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count: 7\n\
                      /sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count: 7\n";
        assert_eq!(found(counts, |_| {}), []);
        let found = found(counts, |top| {
            let file = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
            std::fs::write(top.join(file), "9\n").unwrap();
        });
        assert_eq!(kinds(&found), [SpoilerKind::Throttling]);
        assert!(found[0].detail.contains("2 times"), "{}", found[0].detail);
    }
}
