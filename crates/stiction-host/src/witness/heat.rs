//! Temperatures, and how often heat slowed a CPU down.

use stiction_core::{Heat, Layer, TargetStack, Temperature, Witnesses};

use crate::Roots;

const HWMON: &str = "/sys/class/hwmon";
const ZONES: &str = "/sys/class/thermal";
const CPUS: &str = "/sys/devices/system/cpu";

/// Above this a limit is none: NVMe devices without one give 65 535 kelvin.
const LIMIT_MILLICELSIUS_MOST: i64 = 200_000;

/// Drivers of sensors that stand in a disk, and that ask the disk when they are read.
const OF_DISKS: [&str; 2] = ["nvme", "drivetemp"];

/// A reading of everything that tells of heat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeatReading {
    /// The disks whose sensors may be asked.
    disks: Vec<String>,
    sensors: Vec<Sensor>,
    throttles: Vec<CpuThrottles>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sensor {
    name: String,
    devices: Vec<String>,
    millicelsius: i64,
    limit_millicelsius: Option<i64>,
}

/// `thermal_throttle/` of one CPU: counts since it was started, and time in ms from
/// Linux 5.6 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CpuThrottles {
    core_count: u64,
    package_count: u64,
    core_ms: Option<u64>,
    package_ms: Option<u64>,
}

impl HeatReading {
    /// Reads what there is. Of disks only those under the targets are asked: a sensor in
    /// a disk that sleeps could keep it from sleeping.
    pub(super) fn begin(roots: &Roots, stacks: &[TargetStack]) -> Self {
        let mut disks = Vec::new();
        for stack in stacks {
            collect_names(&stack.layers, &mut disks);
        }
        Self::read(roots, disks)
    }

    fn read(roots: &Roots, disks: Vec<String>) -> Self {
        let mut sensors = of_hwmon(roots, &disks);
        let zones = of_zones(roots);
        // The kernel shows most zones as a hwmon of the zone's name as well.
        let is_new = |zone: &Sensor| {
            let of_hwmon = zone.name.replace('-', "_");
            sensors.iter().all(|sensor| {
                let chip = sensor.name.split(' ').next();
                chip != Some(&zone.name) && chip != Some(&of_hwmon)
            })
        };
        let zones: Vec<Sensor> = zones.into_iter().filter(is_new).collect();
        sensors.extend(zones);
        Self {
            disks,
            sensors,
            throttles: throttles(roots),
        }
    }

    /// How things stand, and what the CPUs counted since `before`; `None` where nothing
    /// tells of heat.
    fn since(&self, before: &Self) -> Option<Heat> {
        let temperatures: Vec<Temperature> = self
            .sensors
            .iter()
            .filter_map(|after| {
                let before = before.sensors.iter().find(|one| one.name == after.name)?;
                Some(Temperature {
                    sensor: after.name.clone(),
                    devices: after.devices.clone(),
                    before_millicelsius: before.millicelsius,
                    after_millicelsius: after.millicelsius,
                    limit_millicelsius: after.limit_millicelsius,
                })
            })
            .collect();
        // A CPU that came or went meanwhile shifts the others.
        let pairs: Vec<(CpuThrottles, CpuThrottles)> =
            if self.throttles.len() == before.throttles.len() {
                let pairs = before.throttles.iter().copied();
                pairs.zip(self.throttles.iter().copied()).collect()
            } else {
                Vec::new()
            };
        let counts = |of: fn(CpuThrottles) -> u64| {
            pairs
                .iter()
                .map(move |(before, after)| of(*after).saturating_sub(of(*before)))
        };
        let times = pairs.iter().flat_map(|(before, after)| {
            let between =
                |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
            [
                between(after.core_ms, before.core_ms),
                between(after.package_ms, before.package_ms),
            ]
        });
        let heat = Heat {
            temperatures,
            core_throttles: (!pairs.is_empty()).then(|| counts(|cpu| cpu.core_count).sum()),
            package_throttles: counts(|cpu| cpu.package_count).max(),
            throttled_ns: times.flatten().max().map(|ms| ms * 1_000_000),
        };
        (heat != Heat::default()).then_some(heat)
    }

    /// Sets it against a reading after the phase, into `seen`.
    pub(super) fn finish(self, roots: &Roots, seen: &mut Witnesses) {
        seen.heat = Self::read(roots, self.disks.clone()).since(&self);
        if seen.heat.is_none() {
            let reason = "heat: this machine shows no sensor and counts no slowing down";
            seen.unexplained.push(reason.to_owned());
        }
    }
}

fn collect_names(layers: &[Layer], names: &mut Vec<String>) {
    for layer in layers {
        names.push(layer.name.clone());
        if let Some(backing) = &layer.backing {
            collect_names(&backing.layers, names);
        }
    }
}

/// `hwmonN/tempM_input` in thousandths of a degree, with `_label`, and `_max` or `_crit`
/// (`Documentation/hwmon/sysfs-interface.rst`). `_max` is the warning of an NVMe device,
/// near which devices begin to slow down.
fn of_hwmon(roots: &Roots, disks: &[String]) -> Vec<Sensor> {
    let mut sensors = Vec::new();
    for chip in roots.names(HWMON) {
        let folder = format!("{HWMON}/{chip}");
        let Some(driver) = roots.text_if_any(format!("{folder}/name")) else {
            continue;
        };
        let devices = devices_of(roots, &folder);
        if OF_DISKS.contains(&driver.as_str())
            && !devices.iter().any(|device| disks.contains(device))
        {
            continue;
        }
        let whose = devices.first().unwrap_or(&driver);
        for file in roots.names(&folder) {
            let Some(sensor) = file
                .strip_suffix("_input")
                .filter(|s| s.starts_with("temp"))
            else {
                continue;
            };
            let Some(millicelsius) = signed(roots, &format!("{folder}/{file}")) else {
                continue;
            };
            let label = roots.text_if_any(format!("{folder}/{sensor}_label"));
            let limit = ["max", "crit"].into_iter().find_map(|kind| {
                signed(roots, &format!("{folder}/{sensor}_{kind}"))
                    .filter(|limit| (1..=LIMIT_MILLICELSIUS_MOST).contains(limit))
            });
            sensors.push(Sensor {
                name: format!("{whose} {}", label.as_deref().unwrap_or(sensor)),
                devices: devices.clone(),
                millicelsius,
                limit_millicelsius: limit,
            });
        }
    }
    sensors
}

/// Block devices that belong to the same device as the sensor: `device/block/sda` of a
/// SCSI disk, `device/nvme0n1` of an NVMe controller (in `device/nvme0/` on some kernels).
fn devices_of(roots: &Roots, chip: &str) -> Vec<String> {
    let device = format!("{chip}/device");
    let mut devices = roots.names(format!("{device}/block"));
    let mut folders = vec![device.clone()];
    for name in roots.names(&device) {
        if name.starts_with("nvme") {
            folders.push(format!("{device}/{name}"));
        }
    }
    for folder in folders {
        let names = roots.names(&folder);
        devices.extend(names.into_iter().filter(|name| {
            name.starts_with("nvme") && roots.has(format!("/sys/class/block/{name}"))
        }));
    }
    devices.dedup();
    devices
}

fn of_zones(roots: &Roots) -> Vec<Sensor> {
    let zones = roots.names(ZONES).into_iter();
    zones
        .filter(|name| name.starts_with("thermal_zone"))
        .filter_map(|zone| {
            Some(Sensor {
                name: roots.text_if_any(format!("{ZONES}/{zone}/type"))?,
                devices: Vec::new(),
                millicelsius: signed(roots, &format!("{ZONES}/{zone}/temp"))?,
                limit_millicelsius: None,
            })
        })
        .collect()
}

fn throttles(roots: &Roots) -> Vec<CpuThrottles> {
    let cpus = roots.names(CPUS).into_iter();
    cpus.filter_map(|cpu| {
        let number = cpu.strip_prefix("cpu")?;
        number.parse::<u32>().ok()?;
        let count =
            |name: &str| roots.number_if_any(format!("{CPUS}/{cpu}/thermal_throttle/{name}"));
        Some(CpuThrottles {
            core_count: count("core_throttle_count")?,
            package_count: count("package_throttle_count").unwrap_or(0),
            core_ms: count("core_throttle_total_time_ms"),
            package_ms: count("package_throttle_total_time_ms"),
        })
    })
    .collect()
}

fn signed(roots: &Roots, path: &str) -> Option<i64> {
    roots.text_if_any(path)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use stiction_core::LayerKind;
    use testkit::machine::lay_out;

    use super::*;

    /// A machine with an NVMe device without a limit, a SATA disk under another target,
    /// a CPU that the kernel shows twice, and a board.
    fn machine(composite: i64, core: u64, package: u64, ms: u64) -> String {
        format!(
            "/sys/class/hwmon/hwmon0/name: nvme\n\
             /sys/class/hwmon/hwmon0/device/nvme0n1/size: 1\n\
             /sys/class/block/nvme0n1/size: 1\n\
             /sys/class/hwmon/hwmon0/temp1_input: {composite}\n\
             /sys/class/hwmon/hwmon0/temp1_label: Composite\n\
             /sys/class/hwmon/hwmon0/temp1_max: 65261850\n\
             /sys/class/hwmon/hwmon0/temp1_crit: 84850\n\
             /sys/class/hwmon/hwmon1/name: drivetemp\n\
             /sys/class/hwmon/hwmon1/device/block/sda/size: 1\n\
             /sys/class/hwmon/hwmon1/temp1_input: 31000\n\
             /sys/class/hwmon/hwmon2/name: acpitz\n\
             /sys/class/hwmon/hwmon2/temp1_input: -3000\n\
             /sys/class/thermal/thermal_zone0/type: acpitz\n\
             /sys/class/thermal/thermal_zone0/temp: -3000\n\
             /sys/class/thermal/thermal_zone1/type: x86_pkg_temp\n\
             /sys/class/thermal/thermal_zone1/temp: 55000\n\
             /sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count: {core}\n\
             /sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count: {package}\n\
             /sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms: {ms}\n\
             /sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count: {core}\n\
             /sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count: {package}\n\
             /sys/devices/system/cpu/cpufreq/x: 1\n"
        )
    }

    fn stack() -> TargetStack {
        let layer = |name: &str, kind| Layer {
            name: name.to_owned(),
            kind,
            device_number: (259, 0),
            size_bytes: 1 << 30,
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
        };
        TargetStack {
            path: "/x".to_owned(),
            filesystem: None,
            layers: vec![
                layer("nvme0n1p1", LayerKind::Partition),
                layer("nvme0n1", LayerKind::Disk),
            ],
            missing: Vec::new(),
        }
    }

    #[test]
    fn only_the_target_s_disk_is_asked_and_throttling_is_counted() {
        let read = |text: &str| {
            let machine = lay_out(text);
            HeatReading::begin(&Roots::at(machine.path()), &[stack()])
        };
        let before = read(&machine(40_850, 5, 7, 100));
        let heat = read(&machine(71_850, 8, 9, 350)).since(&before).unwrap();
        let names: Vec<&str> = heat
            .temperatures
            .iter()
            .map(|t| t.sensor.as_str())
            .collect();
        assert_eq!(names, ["nvme0n1 Composite", "acpitz temp1", "x86_pkg_temp"]);
        let expected = Temperature {
            sensor: "nvme0n1 Composite".to_owned(),
            devices: vec!["nvme0n1".to_owned()],
            before_millicelsius: 40_850,
            after_millicelsius: 71_850,
            limit_millicelsius: Some(84_850),
        };
        assert_eq!(heat.temperatures[0], expected);
        assert_eq!(heat.temperatures[1].after_millicelsius, -3000);
        // Three on each of two CPUs; the package counts on both as one.
        assert_eq!(
            (heat.core_throttles, heat.package_throttles),
            (Some(6), Some(2))
        );
        assert_eq!(heat.throttled_ns, Some(250_000_000));
    }

    #[test]
    fn a_machine_that_says_nothing_is_said_to() {
        let machine = lay_out("/proc/mounts:\n");
        let roots = Roots::at(machine.path());
        let before = HeatReading::begin(&roots, &[stack()]);
        let mut seen = Witnesses::default();
        before.finish(&roots, &mut seen);
        assert_eq!(seen.heat, None);
        assert_eq!(seen.unexplained.len(), 1);
    }
}
