//! The NUMA nodes and their CPUs.

use std::collections::BTreeMap;

use crate::{HostError, Roots};

const FOLDER: &str = "/sys/devices/system/node";
/// CPUs that are taken from a list at most: more than any kernel is built for.
const CPUS_MAX: usize = 1 << 16;

/// The CPUs of the NUMA nodes `nodes`, in the order of the nodes, each once.
///
/// # Errors
/// [`HostError::Unavailable`] when there is no such node, with those that there are; a
/// kernel without NUMA has none.
pub fn cpus_of_nodes(roots: &Roots, nodes: &[u32]) -> Result<Vec<u32>, HostError> {
    let mut cpus = Vec::new();
    for node in nodes {
        let list = roots.text(format!("{FOLDER}/node{node}/cpulist")).ok();
        let of_node = list.and_then(|list| members(&list));
        for cpu in of_node.ok_or_else(|| missing(roots, *node))? {
            if !cpus.contains(&cpu) {
                cpus.push(cpu);
            }
        }
    }
    Ok(cpus)
}

/// The CPUs of every NUMA node that is online, by the node's number; nothing where the
/// kernel knows of no nodes.
///
/// # Errors
/// [`HostError::Unavailable`] when a node's CPUs cannot be read.
pub fn numa_nodes(roots: &Roots) -> Result<BTreeMap<u32, Vec<u32>>, HostError> {
    let online = roots.text_if_any(format!("{FOLDER}/online"));
    let nodes = online.and_then(|list| members(&list)).unwrap_or_default();
    let with_cpus = |node| Ok((node, cpus_of_nodes(roots, &[node])?));
    nodes.into_iter().map(with_cpus).collect()
}

fn missing(roots: &Roots, node: u32) -> HostError {
    let online = roots.text_if_any(format!("{FOLDER}/online"));
    HostError::Unavailable {
        what: "the CPUs of a NUMA node",
        reason: match online {
            Some(online) => format!("there is no node {node}; choose among {online}"),
            None => format!("the kernel knows of no nodes, and of no node {node}"),
        },
    }
}

/// The members of a kernel list such as `0-3,8`; `None` when it is not one. A node may
/// have memory and no CPU: its list is empty.
pub(super) fn members(list: &str) -> Option<Vec<u32>> {
    let mut members = Vec::new();
    for range in list.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || (last - first) as usize >= CPUS_MAX - members.len() {
            return None;
        }
        members.extend(first..=last);
    }
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        assert_eq!(members("0-2,8,10-11\n"), Some(vec![0, 1, 2, 8, 10, 11]));
        assert_eq!(members("\n"), Some(Vec::new()));
        for broken in ["x", "3-1", "0-", "0-4294967295", "0-70000"] {
            assert_eq!(members(broken), None, "{broken}");
        }
    }

    /// A machine of three nodes, of which the last has memory only.
    #[test]
    fn cpus_are_those_of_the_nodes() {
        let machine = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = machine.path().join("sys/devices/system/node").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("online", "0-2\n");
        write("node0/cpulist", "0-1,4\n");
        write("node1/cpulist", "2-3\n");
        write("node2/cpulist", "\n");
        let roots = Roots::at(machine.path());
        let cpus = |nodes: &[u32]| cpus_of_nodes(&roots, nodes).unwrap();
        assert_eq!(cpus(&[1, 0, 1]), [2, 3, 0, 1, 4]);
        assert!(cpus(&[2]).is_empty());
        let all = numa_nodes(&roots).unwrap();
        let expected = [(0, vec![0, 1, 4]), (1, vec![2, 3]), (2, vec![])];
        assert_eq!(all, BTreeMap::from(expected));
        let error = cpus_of_nodes(&roots, &[0, 3]).unwrap_err().to_string();
        assert!(error.contains("no node 3; choose among 0-2"), "{error}");
        let nothing = tempfile::tempdir().unwrap();
        let error = cpus_of_nodes(&Roots::at(nothing.path()), &[0]).unwrap_err();
        assert!(error.to_string().contains("knows of no nodes"), "{error}");
        let none = numa_nodes(&Roots::at(nothing.path())).unwrap();
        assert!(none.is_empty());
    }
}
