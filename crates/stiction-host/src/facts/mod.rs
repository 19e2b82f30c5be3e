//! What this machine is, as far as it bears on a measurement.

mod cpu;
mod kernel;
mod limits;
mod memory;
mod nodes;
mod virtualisation;

use std::path::Path;

use stiction_core::{Environment, MissingFact, Tool};

use crate::{FactOptions, Roots, observe_target_in};

pub use nodes::{cpus_of_nodes, numa_nodes};

/// Everything that can be found out of the machine and of what `targets` stand on.
/// It never fails: facts that cannot be had are listed with the reason.
#[must_use]
pub fn observe_environment(targets: &[&Path], tool: Tool, options: FactOptions) -> Environment {
    observe_environment_in(&Roots::live(), targets, tool, options)
}

/// As [`observe_environment`], of a machine whose files lie elsewhere.
#[must_use]
pub fn observe_environment_in(
    roots: &Roots,
    targets: &[&Path],
    tool: Tool,
    options: FactOptions,
) -> Environment {
    let mut facts = Facts {
        roots,
        missing: Vec::new(),
    };
    let mut stacks = Vec::new();
    for path in targets {
        match observe_target_in(roots, path, options) {
            Ok(stack) => stacks.push(stack),
            Err(error) => facts.miss("target", error.to_string()),
        }
    }
    Environment {
        tool,
        kernel: kernel::observe(&mut facts),
        cpu: cpu::observe(&mut facts),
        memory: memory::observe(&mut facts),
        limits: limits::observe(&mut facts, &stacks),
        virtualisation: virtualisation::observe(roots),
        distribution: distribution(&mut facts),
        host_name: options
            .keep_host_name
            .then(|| facts.text("host name", "/proc/sys/kernel/hostname"))
            .flatten(),
        targets: stacks,
        missing: facts.missing,
        ..Environment::default()
    }
}

/// Reads facts and keeps account of those that cannot be had.
struct Facts<'a> {
    roots: &'a Roots,
    missing: Vec<MissingFact>,
}

impl Facts<'_> {
    fn miss(&mut self, fact: &str, reason: impl Into<String>) {
        self.missing.push(MissingFact {
            fact: fact.to_owned(),
            reason: reason.into(),
        });
    }

    /// The text of a file that every machine should have.
    fn text(&mut self, fact: &str, path: &str) -> Option<String> {
        match self.roots.text(path) {
            Ok(text) if !text.is_empty() => Some(text),
            Ok(_) => {
                self.miss(fact, format!("{path} is empty"));
                None
            }
            Err(error) => {
                self.miss(fact, format!("{path}: {error}"));
                None
            }
        }
    }
}

/// os-release(5).
fn distribution(facts: &mut Facts<'_>) -> Option<String> {
    let text = facts
        .roots
        .text_if_any("/etc/os-release")
        .or_else(|| facts.text("distribution", "/usr/lib/os-release"))?;
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let value = line.strip_prefix(key)?.strip_prefix('=')?;
            Some(value.trim_matches(['"', '\'']).to_owned())
        })
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

/// Fields of `key: value` files such as `/proc/meminfo`: the value after `key` and
/// its colon, of the first line that has it.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim_end() == key).then(|| value.trim())
    })
}

/// How many members a kernel list such as `0-3,8` has; 0 when it is not one.
fn count_of_list(list: &str) -> u32 {
    nodes::members(list).map_or(0, |members| members.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted() {
        assert_eq!(count_of_list("0"), 1);
        assert_eq!(count_of_list("0-3,8,10-11\n"), 7);
        for broken in ["", "x", "3-1", "0-", "0-4294967295"] {
            assert_eq!(count_of_list(broken), 0, "{broken}");
        }
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 1\nmodel name\t: AMD EPYC\n";
        assert_eq!(field(text, "model name"), Some("AMD EPYC"));
        assert_eq!(field(text, "model"), Some("1"));
        assert_eq!(field(text, "name"), None);
    }
}
