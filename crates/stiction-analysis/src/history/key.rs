//! What makes figures of different sessions one series.
//!
//! A key has to be the same in every session that measured the same thing in the same
//! place, or one machine falls apart into several. So it holds what a person chose and
//! what is screwed to the machine; readings that move by themselves are left out (clock
//! rates, free space, names of devices, boots) or rounded (memory, sizes). What the
//! series is there to show the effects of is left out too: the kernel, the distribution,
//! the settings that come with them. They are told at each change instead.

use std::collections::BTreeMap;

use stiction_core::{
    Cell, Digest, Environment, Layer, LayerKind, Level, Metric, Plan, Provenance, Session,
    TargetStack, format_bytes,
};

use crate::compare::{flat_parameters, stated_of};

/// Where and how something was measured: everything of a key but the figure itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Context {
    /// The workload, or the layout of the imported table.
    pub workload: String,
    /// Where it stood in the matrix.
    pub cell: Cell,
    /// The workload's other parameters, by name.
    pub parameters: BTreeMap<String, String>,
    /// What the machine and the places are, a fact each.
    pub machine: Vec<(String, String)>,
}

/// What a series is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Where and how.
    pub context: Context,
    /// The phase.
    pub phase: String,
    /// The metric, with its unit.
    pub metric: Metric,
}

/// Digits of a series' id: enough for a store, few enough to type.
const ID_DIGITS: usize = 8;

impl Key {
    /// The name of the series: the same as long as nothing in the key changes.
    #[must_use]
    pub fn id(&self) -> String {
        let Context {
            workload,
            cell,
            parameters,
            machine,
        } = &self.context;
        let whole = serde_json::json!([
            workload,
            cell,
            parameters,
            machine,
            self.phase,
            self.metric.name,
            self.metric.unit,
        ]);
        let digest = Digest::of(whole.to_string().as_bytes());
        digest.as_str()[..ID_DIGITS].to_owned()
    }
}

/// What a machine is, of one session: worked out once for all its trials.
pub(super) struct Place<'a> {
    session: &'a Session,
    machine: Vec<(String, String)>,
}

impl<'a> Place<'a> {
    pub(super) fn of(session: &'a Session) -> Self {
        Self {
            session,
            machine: machine(&session.header.environment),
        }
    }

    /// The context of a trial in `cell`; `targets` is what stood under its places, where
    /// that was not what the session's environment has.
    pub(super) fn context(&self, cell: &Cell, targets: Option<&[TargetStack]>) -> Context {
        let header = &self.session.header;
        let mut machine = self.machine.clone();
        for stack in targets.unwrap_or(&header.environment.targets) {
            target(&mut machine, "target", stack);
        }
        let workload = match (&header.plan, &header.provenance) {
            (Some(plan), _) => {
                let stated = stated_of(plan, cell);
                stated.map_or(&*plan.workload, |(name, _)| name).to_owned()
            }
            (None, Provenance::Imported { layout, .. }) => layout.clone(),
            (None, Provenance::Measured) => "unknown".to_owned(),
        };
        Context {
            workload,
            cell: cell.clone(),
            parameters: parameters(header.plan.as_ref(), cell),
            machine,
        }
    }
}

fn machine(environment: &Environment) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
    let tool = &environment.tool;
    fact("tool", format!("{} {}", tool.name, tool.version));
    if let Some(host) = &environment.host_name {
        fact("host", host.clone());
    }
    if let Some(machine) = environment.stated.get("machine") {
        fact("machine", machine.clone());
    }
    if let Some(kernel) = &environment.kernel {
        fact("architecture", kernel.architecture.clone());
    }
    if let Some(cpu) = &environment.cpu {
        fact("cpu", without_clock_rate(&cpu.model));
        fact("cpus", format!("{} of {}", cpu.allowed, cpu.online));
    }
    if let Some(memory) = &environment.memory {
        fact("memory", rounded_up(memory.total_bytes));
    }
    let limits = &environment.limits;
    if let Some(bytes) = limits.memory_bytes {
        fact("memory limit", format_bytes(bytes));
    }
    if let Some(percent) = limits.cpu_percent {
        fact("cpu limit", format!("{percent} %"));
    }
    let mut io: Vec<String> = limits
        .io
        .iter()
        .map(|limit| {
            format!(
                "{:?} {:?} {:?} {:?}",
                limit.read_bytes_per_s,
                limit.write_bytes_per_s,
                limit.read_operations_per_s,
                limit.write_operations_per_s
            )
        })
        .collect();
    io.sort();
    if !io.is_empty() {
        fact("I/O limits", io.join(", "));
    }
    let virtualisation = &environment.virtualisation;
    for (name, value) in [
        ("hypervisor", &virtualisation.hypervisor),
        ("container", &virtualisation.container),
    ] {
        if let Some(value) = value {
            fact(name, value.clone());
        }
    }
    facts
}

/// What a place stands on. Its path, the names and numbers of its devices and how full it
/// is are left out: they differ between two sessions on one disk.
fn target(facts: &mut Vec<(String, String)>, name: &str, stack: &TargetStack) {
    if let Some(filesystem) = &stack.filesystem {
        facts.push((format!("{name} filesystem"), filesystem.kind.clone()));
        let mut options = filesystem.mount_options.clone();
        options.sort();
        facts.push((format!("{name} mounted"), options.join(",")));
        let block = format_bytes(filesystem.block_size_bytes);
        facts.push((format!("{name} blocks"), block));
        facts.push((format!("{name} size"), rounded_up(filesystem.size_bytes)));
    }
    for layer in &stack.layers {
        facts.push((format!("{name} device"), device(layer)));
        if let Some(backing) = &layer.backing {
            target(facts, &format!("{name} backing"), backing);
        }
    }
}

fn device(layer: &Layer) -> String {
    let kind = match layer.kind {
        LayerKind::Disk => "disk",
        LayerKind::Partition => "partition",
        LayerKind::DeviceMapper => "device-mapper",
        LayerKind::Raid => "raid",
        LayerKind::Loop => "loop",
        LayerKind::Zram => "zram",
        LayerKind::Network => "network",
        LayerKind::Other => "other",
    };
    let rotational = layer.rotational.map(|rotates| {
        let word = if rotates { "rotating" } else { "not rotating" };
        word.to_owned()
    });
    let direct = layer.loop_direct_io.map(|direct| {
        let word = if direct { "direct" } else { "buffered" };
        word.to_owned()
    });
    let parts = [
        Some(kind.to_owned()),
        layer.model.clone(),
        layer.serial.clone(),
        layer.target.clone(),
        layer.link.clone(),
        layer.scheduler.clone(),
        rotational,
        direct,
        Some(rounded_up(layer.size_bytes)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

/// A model's name without the clock rate that some end with, `Xeon(R) CPU @ 2.60GHz`: the
/// rate that is read there differs from start to start on some machines.
fn without_clock_rate(model: &str) -> String {
    let rate = |word: &str| {
        let number = word
            .strip_suffix("GHz")
            .or_else(|| word.strip_suffix("MHz"));
        number.is_some_and(|number| number.parse::<f64>().is_ok())
    };
    let words = model.split_whitespace();
    let kept: Vec<&str> = words.filter(|word| !rate(word) && *word != "@").collect();
    kept.join(" ")
}

/// A size, rounded up to a quarter of the power of two below it. Of what is built in, the
/// kernel takes a little, and not always the same, for itself: 8 GB are 7.75 GiB at one
/// start and 7.74 at another.
fn rounded_up(bytes: u64) -> String {
    let step = (1u64 << bytes.max(1).ilog2()) / 4;
    format_bytes(bytes.checked_next_multiple_of(step.max(1)).unwrap_or(bytes))
}

/// Parameters that say how often and in which order, and not what.
const NOT_WORK: &[&str] = &[
    "seed",
    "runs",
    "repetitions",
    "blocks",
    "order",
    "label",
    "budget",
    "until_precise",
    "looks",
    "calibration",
    "warmup",
];

/// Parameters of the work done in `cell`, by the path of their key. Sizes follow from free
/// space where they were not given, and are rounded.
fn parameters(plan: Option<&Plan>, cell: &Cell) -> BTreeMap<String, String> {
    let Some(plan) = plan else {
        return BTreeMap::new();
    };
    let own = stated_of(plan, cell).map_or(&plan.parameters, |(_, own)| own);
    let mut flat = flat_parameters(own);
    flat.retain(|name, _| {
        let first = name.split('.').next().unwrap_or(name);
        !NOT_WORK.contains(&first) && !lists_levels(own, name, cell) && cell.get(name).is_none()
    });
    for (name, value) in &mut flat {
        if name.ends_with("size_bytes")
            && let Ok(bytes) = value.parse()
        {
            *value = rounded_up(bytes);
        }
    }
    flat
}

/// Whether a parameter is the list of the levels that a factor of the cell takes in turn:
/// the cell says which of them it was.
fn lists_levels(parameters: &serde_json::Value, name: &str, cell: &Cell) -> bool {
    let Some(list) = parameters.get(name).and_then(|list| list.as_array()) else {
        return false;
    };
    cell.iter().any(|(factor, level)| {
        let same = |item: &serde_json::Value| match level {
            Level::Integer(level) => item.as_i64() == Some(*level),
            Level::Text(level) => item.as_str() == Some(level),
        };
        (name.starts_with(factor) || factor.starts_with(name.trim_end_matches('s')))
            && list.iter().any(same)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Cpu, Filesystem, Memory, Seed, metrics};
    use testkit::sessions::sample;

    fn session() -> Session {
        let mut session = sample(3);
        session.header.environment = Environment {
            cpu: Some(Cpu {
                model: "Intel(R) Xeon(R) CPU @ 2.60GHz".to_owned(),
                online: 4,
                allowed: 2,
                ..Cpu::default()
            }),
            memory: Some(Memory {
                total_bytes: 8_321_499_136,
                ..Memory::default()
            }),
            targets: vec![TargetStack {
                path: "/mnt/a".to_owned(),
                filesystem: Some(Filesystem {
                    kind: "ext4".to_owned(),
                    mount_options: vec!["rw".to_owned(), "noatime".to_owned()],
                    size_bytes: 98_294_767_616,
                    available_bytes: 5,
                    ..Filesystem::default()
                }),
                layers: Vec::new(),
                missing: Vec::new(),
            }],
            ..Environment::default()
        };
        session.header.plan = Some(Plan {
            workload: "tiobench".to_owned(),
            parameters: serde_json::json!({
                "threads": [1, 8], "block_size_bytes": 4096, "seed": 7,
                "file_size_bytes": 4_000_000_000u64, "direct": true, "runs": 3,
            }),
            seed: Seed(7),
            preparation: stiction_core::Preparation::default(),
            trials: Vec::new(),
        });
        session
    }

    fn id(session: &Session) -> String {
        let cell = Cell::new().with("threads", 8u32);
        let key = Key {
            context: Place::of(session).context(&cell, None),
            phase: "write".to_owned(),
            metric: metrics::RATE,
        };
        key.id()
    }

    #[test]
    fn readings_that_move_by_themselves_do_not_make_another_series() {
        let first = id(&session());
        let mut later = session();
        let environment = &mut later.header.environment;
        environment.cpu.as_mut().unwrap().model = "Intel(R) Xeon(R) CPU @ 2.59GHz".to_owned();
        environment.memory.as_mut().unwrap().total_bytes -= 9_000_000;
        environment.targets[0].path = "/mnt/b".to_owned();
        let filesystem = environment.targets[0].filesystem.as_mut().unwrap();
        filesystem.available_bytes = 7_000_000;
        filesystem.mount_options.reverse();
        let plan = later.header.plan.as_mut().unwrap();
        plan.seed = Seed(8);
        plan.parameters["seed"] = 8.into();
        plan.parameters["runs"] = 5.into();
        plan.parameters["threads"] = serde_json::json!([8]);
        plan.parameters["file_size_bytes"] = 3_990_000_000u64.into();
        assert_eq!(id(&later), first);
    }

    #[test]
    fn other_work_and_another_place_are_another_series() {
        let first = id(&session());
        let changes: [fn(&mut Session); 7] = [
            |s| s.header.environment.tool.version = "9.9".to_owned(),
            |s| s.header.environment.cpu.as_mut().unwrap().allowed = 1,
            |s| s.header.environment.memory.as_mut().unwrap().total_bytes /= 2,
            |s| s.header.environment.limits.memory_bytes = Some(1 << 30),
            |s| {
                let targets = &mut s.header.environment.targets;
                targets[0].filesystem.as_mut().unwrap().kind = "xfs".to_owned();
            },
            |s| s.header.plan.as_mut().unwrap().parameters["direct"] = false.into(),
            |s| s.header.plan.as_mut().unwrap().workload = "quick".to_owned(),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut other = session();
            change(&mut other);
            assert_ne!(id(&other), first, "change {number}");
        }
    }

    #[test]
    fn another_unit_is_another_series() {
        let cell = Cell::new();
        let with = |metric: Metric| Key {
            context: Place::of(&session()).context(&cell, None),
            phase: "write".to_owned(),
            metric,
        };
        let other = Metric {
            unit: stiction_core::Unit::Bytes,
            ..metrics::RATE
        };
        assert_ne!(with(metrics::RATE).id(), with(other).id());
    }

    /// A machine with 8 GiB shows 7.75 GiB of them, one with 24 GiB 23.5 GiB.
    #[test]
    fn sizes_are_rounded_up_to_quarters() {
        for (bytes, text) in [
            (8_321_499_136, "8 GiB"),
            (8 << 30, "8 GiB"),
            ((8 << 30) + 1, "10 GiB"),
            (25_276_510_208, "24 GiB"),
            (0, "0 B"),
            (3, "3 B"),
        ] {
            assert_eq!(rounded_up(bytes), text, "{bytes}");
        }
    }
}
