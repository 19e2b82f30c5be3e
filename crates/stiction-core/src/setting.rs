//! What a trial's configuration set on the machine, and what was found there afterwards.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Caveat, CaveatCode};

/// A level of a factor of the machine: what is to be set, and to what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    /// The factor: `scheduler`, `mount_options`, `sysctl.vm.dirty_ratio`.
    pub factor: String,
    /// Its level, in the words of the kernel or the tool that takes it.
    pub level: String,
}

impl Setting {
    /// Factors that are files of a device's queue, by their own names
    /// (`Documentation/ABI/stable/sysfs-block`).
    pub const QUEUE: [&str; 10] = [
        "scheduler",
        "read_ahead_kb",
        "nr_requests",
        "nomerges",
        "rq_affinity",
        "max_sectors_kb",
        "write_cache",
        "wbt_lat_usec",
        "add_random",
        "rotational",
    ];
    /// The factor for a sysctl begins so: `sysctl.vm.dirty_ratio`.
    pub const SYSCTL: &str = "sysctl.";
    /// The factor for the size of the pages of memory.
    pub const HUGE_PAGES: &str = "transparent_hugepage";
    /// The factor for how the frequencies of CPUs are chosen.
    pub const GOVERNOR: &str = "governor";

    /// `factor` at `level`.
    #[must_use]
    pub fn new(factor: impl Into<String>, level: impl Into<String>) -> Self {
        Self {
            factor: factor.into(),
            level: level.into(),
        }
    }

    /// Whether everybody on the machine has it, and not the trial alone.
    #[must_use]
    pub fn is_of_whole_machine(&self) -> bool {
        self.factor.starts_with(Self::SYSCTL)
            || [Self::HUGE_PAGES, Self::GOVERNOR].contains(&self.factor.as_str())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.factor, self.level)
    }
}

/// A setting after it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// What was asked for.
    #[serde(flatten)]
    pub asked: Setting,
    /// What was read back, in the words of `asked` where it is in force; `None` where
    /// nothing tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Other settings that are not as they were before this one was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_changed: Vec<Moved>,
}

/// A setting that moved with another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Which: a file of `/sys` or `/proc` within its folder, or a mount option.
    pub name: String,
    /// What it was.
    pub before: String,
    /// What it became.
    pub after: String,
}

impl Applied {
    /// Whether what was asked for was found.
    #[must_use]
    pub fn is_in_force(&self) -> bool {
        self.found.as_ref() == Some(&self.asked.level)
    }

    /// The doubt that follows where it was not.
    #[must_use]
    pub fn doubt(&self) -> Option<Caveat> {
        if self.is_in_force() {
            return None;
        }
        let found = match &self.found {
            Some(found) => format!("found as `{found}` afterwards"),
            None => "could not be read back".to_owned(),
        };
        let detail = format!("{} was asked for and {found}", self.asked);
        Some(Caveat::new(CaveatCode::FactorNotApplied, detail))
    }
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.name, self.before, self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_found_as_asked_is_doubted() {
        let asked = Setting::new("scheduler", "bfq");
        let applied = |found: Option<&str>| Applied {
            asked: asked.clone(),
            found: found.map(str::to_owned),
            also_changed: Vec::new(),
        };
        assert_eq!(applied(Some("bfq")).doubt(), None);
        let doubt = applied(Some("none")).doubt().unwrap();
        assert_eq!(doubt.code, CaveatCode::FactorNotApplied);
        assert_eq!(
            doubt.detail,
            "scheduler=bfq was asked for and found as `none` afterwards"
        );
        assert!(applied(None).doubt().is_some());
    }

    #[test]
    fn it_reads_back_as_it_is_written() {
        let applied = Applied {
            asked: Setting::new("scheduler", "bfq"),
            found: Some("bfq".to_owned()),
            also_changed: vec![Moved {
                name: "nr_requests".to_owned(),
                before: "128".to_owned(),
                after: "256".to_owned(),
            }],
        };
        let text = serde_json::to_string(&applied).unwrap();
        assert!(text.starts_with(r#"{"factor":"scheduler","level":"bfq","found":"bfq""#));
        assert_eq!(serde_json::from_str::<Applied>(&text).unwrap(), applied);
    }
}
