//! How warm the machine was, and whether that slowed it down.

use serde::{Deserialize, Serialize};

/// One temperature before and after a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Temperature {
    /// What was measured, such as `nvme0n1 Composite` or `x86_pkg_temp`.
    pub sensor: String,
    /// Kernel names of the block devices that it is of; none for a CPU or a board.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// At the first reading, thousandths of a degree Celsius.
    pub before_millicelsius: i64,
    /// At the second.
    pub after_millicelsius: i64,
    /// From which on the device's maker calls it too warm, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_millicelsius: Option<i64>,
}

/// Heat before and after a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heat {
    /// Temperatures that could be read both times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temperatures: Vec<Temperature>,
    /// Times that a CPU core became too warm and was slowed down, added up over the
    /// CPUs (`thermal_throttle/core_throttle_count`): CPUs that share a core each count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_throttles: Option<u64>,
    /// Times that a whole package was, of the CPU that counted most
    /// (`thermal_throttle/package_throttle_count`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_throttles: Option<u64>,
    /// Time for which it was slowed down, of the CPU that was so longest, ns
    /// (`core_throttle_total_time_ms`, `package_throttle_total_time_ms`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
}
