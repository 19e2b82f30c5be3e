//! What was observed of the machine. Factors say what was wanted; this says what was got.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Digest, TargetStack, WitnessLevel};

/// The kernel that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// `uname -r`.
    pub release: String,
    /// `uname -v`.
    pub version: String,
    /// `uname -m`.
    pub architecture: String,
    /// Digest of the kernel's configuration, where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_digest: Option<Digest>,
    /// Boot arguments that bear on performance; all others are left out, since
    /// command lines can hold secrets.
    pub command_line: Vec<String>,
    /// The taint flags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tainted: Option<u64>,
    /// Digest of the boot's random name: the same in two sessions when the machine was
    /// not started anew between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<Digest>,
}

/// The processors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Model name.
    pub model: String,
    /// CPUs online.
    pub online: u32,
    /// CPUs that the process may run on.
    pub allowed: u32,
    /// Microcode revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// Frequency governor of the first CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Kernel clock source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_source: Option<String>,
    /// Vulnerability mitigations in force, by vulnerability.
    pub mitigations: BTreeMap<String, String>,
}

/// The memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Total, bytes.
    pub total_bytes: u64,
    /// Swap, bytes.
    pub swap_bytes: u64,
    /// Page size, bytes.
    pub page_size_bytes: u64,
    /// Setting of transparent huge pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<String>,
    /// `vm.dirty_*` and related settings, by name.
    pub writeback: BTreeMap<String, String>,
}

/// A ceiling that a control group sets on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimit {
    /// Major and minor number of the device.
    pub device_number: (u32, u32),
    /// Where it is set: `io.max of /sys/fs/cgroup/x`, `blkio.throttle of ...`.
    pub source: String,
    /// Bytes read per second at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<u64>,
    /// Reads per second at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_operations_per_s: Option<u64>,
    /// Writes per second at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_operations_per_s: Option<u64>,
}

/// Limits on the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory limit of the control group or its parents, bytes; the smallest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// CPU time that the control group may use, percent of one CPU: 250 is two and a
    /// half CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u64>,
    /// I/O ceilings of the control group and its parents on the target's devices.
    pub io: Vec<IoLimit>,
    /// Largest file, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size_bytes: Option<u64>,
    /// Locked memory, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_memory_bytes: Option<u64>,
}

/// Whether this is a real machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Virtualisation {
    /// Hypervisor: `kvm`, `vmware`; `None` when none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// Container: `docker`, `podman`; `None` when none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// What the two answers rest on; the signs can contradict each other.
    pub evidence: Vec<String>,
}

/// The tool that measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Name: `stiction`, or the program whose output was imported.
    pub name: String,
    /// Version.
    pub version: String,
}

/// A fact that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingFact {
    /// Which fact.
    pub fact: String,
    /// Why, with the errno where there was one.
    pub reason: String,
}

/// Everything observed of the machine at the start of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The tool.
    pub tool: Tool,
    /// The kernel; `None` for imported results that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// The processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// The memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Limits on the process.
    #[serde(default)]
    pub limits: Limits,
    /// Whether this is a real machine.
    #[serde(default)]
    pub virtualisation: Virtualisation,
    /// Name of the distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Host name; only when the user asked for it to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_name: Option<String>,
    /// How much stood beside each phase.
    #[serde(default, skip_serializing_if = "WitnessLevel::is_usual")]
    pub witness: WitnessLevel,
    /// The stack under each target.
    #[serde(default)]
    pub targets: Vec<TargetStack>,
    /// Facts that an imported text states in prose, by name: `machine`, `command`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stated: BTreeMap<String, String>,
    /// Facts that could not be had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingFact>,
}
