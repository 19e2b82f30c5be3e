//! Heat and power.

use stiction_core::{Spoiler, SpoilerKind};

use crate::Roots;

/// How often the CPUs have slowed down for heat, all counters added up
/// (`Documentation/ABI/testing/sysfs-devices-system-cpu`); `None` where the machine does
/// not count it.
pub(super) fn throttle_count(roots: &Roots) -> Option<u64> {
    let folder = "/sys/devices/system/cpu";
    let names = roots.names(folder);
    let counters = names.iter().flat_map(|name| {
        ["core", "package"]
            .map(|of| format!("{folder}/{name}/thermal_throttle/{of}_throttle_count"))
    });
    counters
        .filter_map(|path| roots.number_if_any(path))
        .reduce(|a, b| a + b)
}

/// Whether they did between two counts.
pub(super) fn throttled_since(before: Option<u64>, after: Option<u64>) -> Option<Spoiler> {
    let times = after?.checked_sub(before?).filter(|&times| times > 0)?;
    Some(Spoiler {
        kind: SpoilerKind::Throttling,
        detail: format!("CPUs slowed down for heat {times} times since the last look"),
    })
}

/// Whether the machine runs on a battery (`Documentation/ABI/testing/sysfs-class-power`).
/// Batteries of keyboards and mice say that they are a device's.
pub(super) fn battery(roots: &Roots) -> Option<Spoiler> {
    let folder = "/sys/class/power_supply";
    let is = |name: &str, file: &str, value: &str| {
        roots
            .text_if_any(format!("{folder}/{name}/{file}"))
            .as_deref()
            == Some(value)
    };
    let discharges = |name: &String| {
        is(name, "type", "Battery")
            && is(name, "status", "Discharging")
            && !is(name, "scope", "Device")
    };
    let name = roots.names(folder).into_iter().find(discharges)?;
    Some(Spoiler {
        kind: SpoilerKind::Battery,
        detail: format!("{name} discharges: power saving changes speeds"),
    })
}

#[cfg(test)]
mod tests {
    use testkit::machine::lay_out;

    use super::*;

    #[test]
    fn a_battery_that_discharges_is_told_but_not_a_mouse_s() {
        let supply = |name: &str, kind: &str, status: &str, scope: &str| {
            format!(
                "/sys/class/power_supply/{name}/type: {kind}\n\
                 /sys/class/power_supply/{name}/status: {status}\n\
                 /sys/class/power_supply/{name}/scope: {scope}\n"
            )
        };
        let found = |text: &str| battery(&Roots::at(lay_out(text).path()));
        assert_eq!(found("/sys/class/power_supply/AC/type: Mains\n"), None);
        assert_eq!(
            found(&supply("BAT0", "Battery", "Charging", "System")),
            None
        );
        assert_eq!(
            found(&supply("hid-0", "Battery", "Discharging", "Device")),
            None
        );
        let one = found(&supply("BAT0", "Battery", "Discharging", "System")).unwrap();
        assert!(one.detail.starts_with("BAT0 discharges"), "{}", one.detail);
    }

    #[test]
    fn counters_of_all_cpus_are_added_up() {
        let text = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count: 2\n\
                    /sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count: 3\n\
                    /sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count: 5\n";
        let top = lay_out(text);
        assert_eq!(throttle_count(&Roots::at(top.path())), Some(10));
        let none = lay_out("/sys/devices/system/cpu/online: 0-1\n");
        assert_eq!(throttle_count(&Roots::at(none.path())), None);
        assert_eq!(throttled_since(None, Some(10)), None);
        assert_eq!(throttled_since(Some(10), Some(10)), None);
    }
}
