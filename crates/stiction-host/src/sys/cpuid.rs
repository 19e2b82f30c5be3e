//! The CPUID instruction.

/// What the hypervisor says its name is; `None` on bare machines, and on
/// architectures without the instruction.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) fn hypervisor_signature() -> Option<String> {
    #[cfg(target_arch = "x86")]
    use std::arch::x86::__cpuid;
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::__cpuid;

    /// Leaf 1, ECX: "not used, always 0" on processors, set by hypervisors.
    const HYPERVISOR: u32 = 1 << 31;
    if __cpuid(1).ecx & HYPERVISOR == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx]
        .iter()
        .flat_map(|register| register.to_le_bytes())
        .take_while(|byte| byte.is_ascii_graphic() || *byte == b' ')
        .collect();
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
pub(crate) fn hypervisor_signature() -> Option<String> {
    None
}
