//! Samples of what the CPUs did, counted by path.

use std::collections::{BTreeSet, HashMap};

use stiction_core::{FoldedStack, Profile};

use super::owners::{Owner, Whose};
use super::symbols::Symbols;

/// The one frame that stands for all of a program's own code.
const USER: &str = "[user]";

#[derive(Debug, Default)]
pub(super) struct Samples {
    /// By program: by addresses, the innermost first.
    paths: HashMap<String, HashMap<Vec<u64>, u64>>,
    samples: u64,
    own_samples: u64,
    own_programs: BTreeSet<String>,
    kernel_programs: BTreeSet<String>,
    pub(super) lost: u64,
}

impl Samples {
    /// A sample of a program; user code has no addresses.
    pub(super) fn take(&mut self, owner: &Owner, addresses: Vec<u64>) {
        self.samples += 1;
        self.own_samples += u64::from(owner.whose == Whose::Ours);
        if !self.paths.contains_key(&owner.name) {
            match owner.whose {
                Whose::Ours => self.own_programs.insert(folded_name(&owner.name)),
                Whose::Kernel => self.kernel_programs.insert(folded_name(&owner.name)),
                Whose::Other => false,
            };
        }
        if !self.paths.contains_key(&owner.name) {
            self.paths.insert(owner.name.clone(), HashMap::new());
        }
        if let Some(paths) = self.paths.get_mut(&owner.name) {
            *paths.entry(addresses).or_default() += 1;
        }
    }

    /// Folds the paths, with the names of functions.
    pub(super) fn finish(self, hz: u32) -> Profile {
        let symbols = Symbols::read();
        let mut folded: HashMap<String, u64> = HashMap::new();
        for (program, paths) in &self.paths {
            for (addresses, samples) in paths {
                let path = folded_path(program, addresses, symbols.as_ref().ok());
                *folded.entry(path).or_default() += samples;
            }
        }
        let mut stacks: Vec<FoldedStack> = folded
            .into_iter()
            .map(|(stack, samples)| FoldedStack { stack, samples })
            .collect();
        stacks.sort_by(|a, b| b.samples.cmp(&a.samples).then(a.stack.cmp(&b.stack)));
        stacks.truncate(Profile::MOST_STACKS);
        Profile {
            hz,
            samples: self.samples,
            own_samples: self.own_samples,
            own_programs: self.own_programs.into_iter().collect(),
            kernel_programs: self.kernel_programs.into_iter().collect(),
            stacks,
            lost_records: (self.lost > 0).then_some(self.lost),
            without_symbols: symbols
                .err()
                .map(|error| format!("/proc/kallsyms: {error}; root may see it")),
        }
    }
}

/// A program's name without what the form gives a meaning: `;`, and the last space.
fn folded_name(program: &str) -> String {
    program.replace([';', ' '], "_")
}

fn folded_path(program: &str, addresses: &[u64], symbols: Option<&Symbols>) -> String {
    let mut path = folded_name(program);
    if addresses.is_empty() {
        path.push(';');
        path.push_str(USER);
    }
    for (depth, address) in addresses.iter().enumerate().rev() {
        path.push(';');
        // All but the innermost are where a call returns to, behind the call.
        let inside = address.saturating_sub(u64::from(depth > 0));
        match symbols.and_then(|symbols| symbols.name(inside)) {
            Some(name) => path.push_str(name),
            None => path.push_str(&format!("{address:#x}")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_from_the_outermost_to_the_innermost() {
        assert_eq!(folded_path("my; tool", &[], None), "my__tool;[user]");
        assert_eq!(folded_path("dd", &[0x20, 0x10], None), "dd;0x10;0x20");
    }

    #[test]
    fn equal_paths_are_counted_together() {
        let owner = |whose, name: &str| Owner {
            whose,
            name: name.to_owned(),
        };
        let mut samples = Samples::default();
        for _ in 0..3 {
            samples.take(&owner(Whose::Ours, "stiction"), Vec::new());
        }
        samples.take(&owner(Whose::Other, "dd"), Vec::new());
        samples.take(&owner(Whose::Kernel, "kworker"), vec![0x10]);
        let profile = samples.finish(997);
        assert_eq!((profile.samples, profile.own_samples), (5, 3));
        assert_eq!(profile.stacks[0].stack, "stiction;[user]");
        assert_eq!(profile.stacks[0].samples, 3);
        assert_eq!(profile.own_programs, ["stiction"]);
        assert_eq!(profile.kernel_programs, ["kworker"]);
        assert_eq!(profile.lost_records, None);
    }
}
