//! Whether this is a real machine, and whether the process is in a container.
//!
//! The signs can contradict each other, so the evidence is kept beside the answers.

use stiction_core::Virtualisation;

use super::field;
use crate::cgroup::ControlGroups;
use crate::stack::mountinfo;
use crate::{Roots, sys};

/// Words in the firmware's tables, and the hypervisor that writes them (the list
/// of systemd-detect-virt(1)).
const FIRMWARE: &[(&str, &str)] = &[
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("Amazon EC2", "amazon"),
    ("QEMU", "qemu"),
    ("VMware", "vmware"),
    ("VMW", "vmware"),
    ("innotek GmbH", "oracle"),
    ("VirtualBox", "oracle"),
    ("Xen", "xen"),
    ("Bochs", "bochs"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Hyper-V", "microsoft"),
    ("Google Compute Engine", "google"),
    ("Apple Virtualization", "apple"),
];

/// Signatures of CPUID leaf 0x4000_0000.
const SIGNATURES: &[(&str, &str)] = &[
    ("KVMKVMKVM", "kvm"),
    ("Linux KVM Hv", "kvm"),
    ("Microsoft Hv", "microsoft"),
    ("TCGTCGTCGTCG", "qemu"),
    ("VMwareVMware", "vmware"),
    ("XenVMMXenVMM", "xen"),
    ("bhyve bhyve", "bhyve"),
    ("prl hyperv", "parallels"),
];

/// Words in the path of a control group that container managers put there.
const GROUP_WORDS: &[(&str, &str)] = &[
    ("kubepods", "kubernetes"),
    ("docker", "docker"),
    ("libpod", "podman"),
    ("containerd", "containerd"),
    ("crio", "cri-o"),
    ("lxc", "lxc"),
    ("machine.slice", "systemd-nspawn"),
];

pub(super) fn observe(roots: &Roots) -> Virtualisation {
    let mut evidence = Vec::new();
    let hypervisor = hypervisor(roots, &mut evidence);
    let container = container(roots, &mut evidence);
    Virtualisation {
        hypervisor,
        container,
        evidence,
    }
}

fn named(table: &[(&str, &str)], text: &str) -> Option<String> {
    table
        .iter()
        .find(|(word, _)| text.contains(word))
        .map(|(_, name)| (*name).to_owned())
}

/// The first sign that gives a name decides; a sign without one says `unknown`.
fn hypervisor(roots: &Roots, evidence: &mut Vec<String>) -> Option<String> {
    let mut names: Vec<Option<String>> = Vec::new();
    let mut note = |text: String, name: Option<String>| {
        evidence.push(text);
        names.push(name);
    };
    if let Some(signature) = roots
        .is_live()
        .then(sys::cpuid::hypervisor_signature)
        .flatten()
    {
        let name = named(SIGNATURES, &signature);
        note(format!("CPUID leaf 0x40000000 says {signature:?}"), name);
    }
    for entry in ["sys_vendor", "product_name", "board_vendor", "bios_vendor"] {
        let path = format!("/sys/class/dmi/id/{entry}");
        if let Some(text) = roots.text_if_any(&path)
            && let Some(name) = named(FIRMWARE, &text)
        {
            note(format!("{path} is {text:?}"), Some(name));
        }
    }
    if let Some(kind) = roots.text_if_any("/sys/hypervisor/type") {
        note(format!("/sys/hypervisor/type is {kind:?}"), Some(kind));
    }
    if let Some(text) = roots.text_if_any("/proc/device-tree/hypervisor/compatible") {
        let name = if text.contains("kvm") { "kvm" } else { "xen" };
        let path = "/proc/device-tree/hypervisor/compatible";
        note(format!("{path} is {text:?}"), Some(name.to_owned()));
    }
    let info = roots.text("/proc/cpuinfo").unwrap_or_default();
    let flags = field(&info, "flags").unwrap_or_default();
    if flags.split(' ').any(|flag| flag == "hypervisor") {
        note("/proc/cpuinfo has the flag hypervisor".to_owned(), None);
    }
    let virtio = roots.names("/sys/bus/virtio/devices").len();
    if virtio > 0 {
        note(format!("{virtio} virtio devices in /sys/bus/virtio"), None);
    }
    let is_any = !names.is_empty();
    names
        .into_iter()
        .flatten()
        .next()
        .or_else(|| is_any.then(|| "unknown".to_owned()))
}

/// A container manager that names itself decides. The file `/.dockerenv` alone does
/// not: image builders leave it behind on real machines.
fn container(roots: &Roots, evidence: &mut Vec<String>) -> Option<String> {
    let mut name: Option<String> = None;
    let mut found = |text: String, kind: String| {
        evidence.push(text);
        name.get_or_insert(kind);
    };
    if let Some(kind) = roots.text_if_any("/run/systemd/container") {
        found(format!("/run/systemd/container is {kind:?}"), kind);
    }
    if roots.has("/run/.containerenv") {
        found("/run/.containerenv exists".to_owned(), "podman".to_owned());
    }
    let first = roots.bytes("/proc/1/environ").unwrap_or_default();
    let variables = String::from_utf8_lossy(&first).into_owned();
    if let Some(kind) = variables
        .split('\0')
        .find_map(|variable| variable.strip_prefix("container="))
    {
        found(format!("process 1 has container={kind}"), kind.to_owned());
    }
    for path in ControlGroups::read(roots).own_paths() {
        if let Some(kind) = named(GROUP_WORDS, &path.to_string_lossy()) {
            found(format!("a control group's path names {kind}"), kind);
            break;
        }
    }
    let mounts = mountinfo::read(roots).unwrap_or_default();
    let top = mountinfo::containing(&mounts, std::path::Path::new("/"), None);
    let is_overlay = top.is_some_and(|mount| mount.kind == "overlay");
    if roots.has("/.dockerenv") {
        if is_overlay {
            found("/.dockerenv exists".to_owned(), "docker".to_owned());
        } else {
            evidence.push("/.dockerenv exists, though / is no overlay".to_owned());
        }
    }
    if is_overlay {
        evidence.push("/ is an overlay".to_owned());
    }
    name
}
