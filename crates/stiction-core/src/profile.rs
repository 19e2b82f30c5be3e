//! Where the CPUs' time went, by samples.

use serde::{Deserialize, Serialize};

/// A call path and how many samples found a CPU in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldedStack {
    /// Name of the program, then functions from the outermost to the one that ran, with
    /// `;` between. User code is one frame, `[user]`.
    pub stack: String,
    /// Samples.
    pub samples: u64,
}

/// Samples of all CPUs while they were not idle, taken so many times a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Samples a second and CPU that were asked for.
    pub hz: u32,
    /// Samples taken; of idle CPUs there are none.
    pub samples: u64,
    /// Samples of our process and of what it started.
    pub own_samples: u64,
    /// Names of the programs among them that are ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_programs: Vec<String>,
    /// Names of those that are the kernel's own threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_programs: Vec<String>,
    /// The paths with most samples, most first; what is cut off is missing from the sum.
    pub stacks: Vec<FoldedStack>,
    /// Records that the kernel dropped because a ring was full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_records: Option<u64>,
    /// Why functions are addresses, where the kernel did not tell their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_symbols: Option<String>,
}

impl Profile {
    /// Most paths that are kept.
    pub const MOST_STACKS: usize = 2000;

    /// Samples by the function that ran, in kernel or `[user]`, most first.
    #[must_use]
    pub fn by_function(&self) -> Vec<(&str, u64)> {
        by_function(&self.stacks, |_| true)
    }

    /// As [`by_function`](Self::by_function), of our own programs alone.
    #[must_use]
    pub fn by_own_function(&self) -> Vec<(&str, u64)> {
        let is_own = |program: &str| self.own_programs.iter().any(|own| own == program);
        by_function(&self.stacks, is_own)
    }
}

fn by_function(stacks: &[FoldedStack], is_wanted: impl Fn(&str) -> bool) -> Vec<(&str, u64)> {
    let mut functions: Vec<(&str, u64)> = Vec::new();
    let program = |stack: &FoldedStack| is_wanted(stack.stack.split(';').next().unwrap_or(""));
    for FoldedStack { stack, samples } in stacks.iter().filter(|stack| program(stack)) {
        let function = stack.rsplit(';').next().unwrap_or(stack);
        match functions.iter_mut().find(|(name, _)| *name == function) {
            Some((_, sum)) => *sum += samples,
            None => functions.push((function, *samples)),
        }
    }
    functions.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_the_samples_of_all_paths_that_end_in_it() {
        let stack = |stack: &str, samples| FoldedStack {
            stack: stack.to_owned(),
            samples,
        };
        let profile = Profile {
            hz: 997,
            samples: 10,
            own_samples: 8,
            own_programs: vec!["stiction".to_owned()],
            kernel_programs: vec!["kworker".to_owned()],
            stacks: vec![
                stack("stiction;read;copy", 3),
                stack("stiction;[user]", 5),
                stack("kworker;write;copy", 2),
            ],
            lost_records: None,
            without_symbols: None,
        };
        assert_eq!(profile.by_function(), [("[user]", 5), ("copy", 5)]);
        assert_eq!(profile.by_own_function(), [("[user]", 5), ("copy", 3)]);
    }
}
