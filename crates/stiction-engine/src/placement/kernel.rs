//! The calls about memory and I/O priority that have no wrapper elsewhere.
#![allow(unsafe_code)]

use std::io;

use stiction_core::{IoPriority, MemoryPolicy};

/// Nodes that a mask has room for: more than any kernel is built for.
pub(super) const NODES_MAX: u32 = 1024;
const MASK_WORDS: usize = NODES_MAX as usize / 64;
/// The calls' words for "the calling thread" (linux/ioprio.h).
const IOPRIO_WHO_PROCESS: libc::c_int = 1;
const IOPRIO_CLASS_SHIFT: u32 = 13;
/// What get_mempolicy is asked for: the nodes that there are for this thread.
const MPOL_F_MEMS_ALLOWED: libc::c_ulong = 4;

/// The nodes that a policy names.
pub(super) fn nodes(policy: &MemoryPolicy) -> &[u32] {
    match policy {
        MemoryPolicy::Inherit | MemoryPolicy::Local => &[],
        MemoryPolicy::Bind(nodes) | MemoryPolicy::Interleave(nodes) => nodes,
        MemoryPolicy::Prefer(node) => std::slice::from_ref(node),
    }
}

/// Makes `policy` that of the calling thread; its nodes are below [`NODES_MAX`].
///
/// # Errors
/// The kernel's.
pub(super) fn set_memory_policy(policy: &MemoryPolicy) -> io::Result<()> {
    let mode = match policy {
        MemoryPolicy::Inherit => libc::MPOL_DEFAULT,
        MemoryPolicy::Local => libc::MPOL_LOCAL,
        MemoryPolicy::Bind(_) => libc::MPOL_BIND,
        MemoryPolicy::Prefer(_) => libc::MPOL_PREFERRED,
        MemoryPolicy::Interleave(_) => libc::MPOL_INTERLEAVE,
    };
    let named = nodes(policy);
    let mut mask = [0u64; MASK_WORDS];
    for &node in named {
        mask[node as usize / 64] |= 1 << (node % 64);
    }
    let (pointer, bits) = if named.is_empty() {
        (std::ptr::null(), 0)
    } else {
        (mask.as_ptr(), libc::c_ulong::from(NODES_MAX) + 1)
    };
    // SAFETY: the mask has as many bits as the kernel is told that it may read (it
    // takes one off); a null mask goes with 0 bits.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, pointer, bits) };
    no_error(result)
}

/// The policy that is in force for the calling thread.
///
/// # Errors
/// The kernel's.
pub(super) fn memory_policy() -> io::Result<MemoryPolicy> {
    let (mode, nodes) = get_mempolicy(0)?;
    Ok(match mode {
        libc::MPOL_BIND => MemoryPolicy::Bind(nodes),
        libc::MPOL_INTERLEAVE => MemoryPolicy::Interleave(nodes),
        libc::MPOL_PREFERRED if !nodes.is_empty() => MemoryPolicy::Prefer(nodes[0]),
        // Older kernels say "preferred, none in particular" for it.
        libc::MPOL_LOCAL | libc::MPOL_PREFERRED => MemoryPolicy::Local,
        _ => MemoryPolicy::Inherit,
    })
}

/// The nodes that the calling thread may have memory from.
///
/// # Errors
/// The kernel's, when it knows of no nodes.
pub(super) fn allowed_nodes() -> io::Result<Vec<u32>> {
    get_mempolicy(MPOL_F_MEMS_ALLOWED).map(|(_, nodes)| nodes)
}

fn get_mempolicy(flags: libc::c_ulong) -> io::Result<(libc::c_int, Vec<u32>)> {
    let mut mode: libc::c_int = 0;
    let mut mask = [0u64; MASK_WORDS];
    // SAFETY: the kernel writes one int and `NODES_MAX` bits, and there is room for
    // both; no address is looked up, as the flags ask for none.
    let result = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut mode,
            mask.as_mut_ptr(),
            libc::c_ulong::from(NODES_MAX),
            std::ptr::null_mut::<libc::c_void>(),
            flags,
        )
    };
    no_error(result)?;
    let is_set = |node: &u32| mask[*node as usize / 64] >> (node % 64) & 1 == 1;
    Ok((mode, (0..NODES_MAX).filter(is_set).collect()))
}

/// Makes `priority` that of the calling thread's I/O.
///
/// # Errors
/// The kernel's.
pub(super) fn set_io_priority(priority: IoPriority) -> io::Result<()> {
    let (class, level) = match priority {
        IoPriority::RealTime(level) => (1, level),
        IoPriority::BestEffort(level) => (2, level),
        IoPriority::Idle => (3, 0),
    };
    let value = class << IOPRIO_CLASS_SHIFT | libc::c_int::from(level);
    // SAFETY: the call takes three numbers; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, value) };
    no_error(result)
}

/// The I/O priority that is in force for the calling thread, if it has one of its own.
pub(super) fn io_priority() -> Option<IoPriority> {
    // SAFETY: the call takes two numbers; 0 is the calling thread.
    let value = unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) };
    let level = (value & 7) as u8;
    match value >> IOPRIO_CLASS_SHIFT {
        1 => Some(IoPriority::RealTime(level)),
        2 => Some(IoPriority::BestEffort(level)),
        3 => Some(IoPriority::Idle),
        _ => None,
    }
}

fn no_error(result: libc::c_long) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
