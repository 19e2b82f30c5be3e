//! NUMA nodes: whose CPUs a job runs on, and whose memory it has.

use std::collections::BTreeMap;

use stiction_core::MemoryPolicy;

use super::Desk;

/// The CPUs of a machine's NUMA nodes, by the node's number; nothing where the kernel
/// knows of no nodes.
pub type Nodes = BTreeMap<u32, Vec<u32>>;

/// The CPUs that the job may run on: those that it names, or those of its nodes.
pub(super) fn cpus(desk: &mut Desk<'_>, nodes: &Nodes) -> Vec<u32> {
    let placement = &desk.job().placement;
    let Some(list) = &placement.numa_nodes else {
        return placement.cpus.clone();
    };
    if !placement.cpus.is_empty() {
        let what = "both name the CPUs to run on";
        desk.conflict("numa_cpu_nodes", what, "remove it or cpus_allowed");
        return Vec::new();
    }
    let named = listed(desk, "numa_cpu_nodes", list, nodes);
    let cpus: Vec<u32> = named.iter().flat_map(|node| nodes[node].clone()).collect();
    if cpus.is_empty() && !named.is_empty() {
        let what = format!("no node of `{list}` has a CPU");
        desk.conflict("numa_cpu_nodes", what, "name one that has");
    }
    cpus
}

/// Where memory comes from: `MODE[:NODES]` (fio's manual, `numa_mem_policy`).
pub(super) fn memory(desk: &mut Desk<'_>, nodes: &Nodes) -> MemoryPolicy {
    const OPTION: &str = "numa_mem_policy";
    let Some(written) = &desk.job().placement.numa_memory else {
        return MemoryPolicy::Inherit;
    };
    let (mode, list) = written.split_once(':').unwrap_or((written, ""));
    match mode {
        "default" => MemoryPolicy::Inherit,
        "local" => MemoryPolicy::Local,
        "bind" => MemoryPolicy::Bind(listed(desk, OPTION, list, nodes)),
        "interleave" => MemoryPolicy::Interleave(listed(desk, OPTION, list, nodes)),
        "prefer" => match listed(desk, OPTION, list, nodes)[..] {
            [node] => MemoryPolicy::Prefer(node),
            // It was said already.
            [] => MemoryPolicy::Inherit,
            _ => {
                let what = format!("`{list}` are several nodes, and one is preferred");
                desk.conflict(OPTION, what, "name one");
                MemoryPolicy::Inherit
            }
        },
        _ => {
            let what = format!("`{mode}` is no policy");
            let advice = "write default, local, prefer:NODE, bind:NODES or interleave:NODES";
            desk.conflict(OPTION, what, advice);
            MemoryPolicy::Inherit
        }
    }
}

/// The nodes of a list such as `0-1,3` or `all`, each once; none where one of them is not
/// there, which the desk then says.
fn listed(desk: &mut Desk<'_>, option: &str, list: &str, nodes: &Nodes) -> Vec<u32> {
    let known: Vec<u32> = nodes.keys().copied().collect();
    if list == "all" && !known.is_empty() {
        return known;
    }
    let mut found = Vec::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let of_range = match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            (Ok(first), Ok(last)) if first <= last && nodes.contains_key(&last) => (first..=last)
                .all(|node| nodes.contains_key(&node))
                .then_some(first..=last),
            _ => None,
        };
        let Some(of_range) = of_range else {
            let what = format!("`{range}` is no NUMA node of this machine");
            let there: Vec<String> = known.iter().map(u32::to_string).collect();
            let advice = match there.is_empty() {
                true => "remove it: the kernel knows of no nodes".to_owned(),
                false => format!("choose among {}", there.join(", ")),
            };
            desk.conflict(option, what, advice);
            return Vec::new();
        };
        found.extend(
            of_range
                .filter(|node| !found.contains(node))
                .collect::<Vec<_>>(),
        );
    }
    found
}
