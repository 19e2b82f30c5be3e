//! How the machines of two sessions differ, what weighs most first.

use std::collections::BTreeMap;

use stiction_core::{
    Cell, Environment, Layer, LayerKind, Plan, Session, TargetStack, WitnessLevel, format_bytes,
};

use super::matrix::Fact;
use super::side::{Side, SideTrial};

/// The fact of how much was watched.
const WITNESS: &str = "witness";

/// A fact that is known on both sides and differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which fact: `target.filesystem`, `kernel.release`, `target.vda.scheduler`.
    pub key: String,
    /// On A's side.
    pub a: String,
    /// On B's side.
    pub b: String,
    /// Whether it belongs to the factor that the comparison is about.
    pub named: bool,
    /// Whether the user lets it differ beside the factor.
    pub allowed: bool,
}

/// What differs between two environments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentDifference {
    /// Facts known on both sides that differ, the ones that usually weigh most first:
    /// what the target stands on, kernel, limits, processors, memory, then the rest.
    pub differs: Vec<Difference>,
    /// Facts known on A's side only.
    pub only_a: Vec<String>,
    /// Facts known on B's side only.
    pub only_b: Vec<String>,
}

impl EnvironmentDifference {
    /// The differences that neither the factor of the comparison nor the user's leave
    /// accounts for.
    pub fn unnamed(&self) -> impl Iterator<Item = &Difference> {
        self.differs
            .iter()
            .filter(|difference| !difference.named && !difference.allowed)
    }
}

/// Holds two environments against each other. `factor` is what the comparison is
/// about: a factor's name such as `kernel`, or the beginning of a key.
#[must_use]
pub fn difference(a: &Environment, b: &Environment, factor: Option<&str>) -> EnvironmentDifference {
    held(&facts(a, &a.targets), &facts(b, &b.targets), factor, &[])
}

/// Holds what two sides' trials stood on against each other. What varies inside a side
/// has all of its values. `allow` are beginnings of keys that may differ.
pub(super) fn sides_difference(
    a: &Side<'_>,
    b: &Side<'_>,
    factor: Option<&str>,
    allow: &[String],
) -> EnvironmentDifference {
    held(&side_facts(a), &side_facts(b), factor, allow)
}

fn held(
    a: &[(String, String)],
    b: &[(String, String)],
    factor: Option<&str>,
    allow: &[String],
) -> EnvironmentDifference {
    let index = |facts: &[(String, String)]| -> BTreeMap<String, String> {
        facts.iter().cloned().collect()
    };
    let (of_a, of_b) = (index(a), index(b));
    let mut found = EnvironmentDifference::default();
    for (key, value_a) in a {
        match of_b.get(key) {
            None => found.only_a.push(key.clone()),
            Some(value_b) if value_b != value_a => found.differs.push(Difference {
                key: key.clone(),
                a: value_a.clone(),
                b: value_b.clone(),
                named: factor.is_some_and(|factor| belongs(key, factor)),
                allowed: allow.iter().any(|allowed| belongs(key, allowed)),
            }),
            Some(_) => {}
        }
    }
    let only_b = b.iter().filter(|(key, _)| !of_a.contains_key(key));
    found.only_b = only_b.map(|(key, _)| key.clone()).collect();
    found
}

/// Facts that are known of all `sides` and equal, in the order of
/// [`EnvironmentDifference::differs`].
pub(super) fn common(sides: &[&Side<'_>]) -> Vec<Fact> {
    let Some((first, others)) = sides.split_first() else {
        return Vec::new();
    };
    let others: Vec<_> = others.iter().map(|side| side_facts(side)).collect();
    side_facts(first)
        .into_iter()
        .filter(|fact| others.iter().all(|other| other.contains(fact)))
        // That as much was watched as usual goes without saying.
        .filter(|(key, value)| key != WITNESS || value != WitnessLevel::default().as_str())
        .map(|(key, value)| Fact { key, value })
        .collect()
}

/// What the trials of a side stood on.
fn side_facts(side: &Side<'_>) -> Vec<(String, String)> {
    let mut grounds: Vec<(&Session, Vec<&TargetStack>)> = Vec::new();
    for trial in &side.trials {
        let ground = (trial.session, stacks(side, trial));
        let known = |other: &(&Session, Vec<&TargetStack>)| {
            other.0.header.id == ground.0.header.id && other.1 == ground.1
        };
        if !grounds.iter().any(known) {
            grounds.push(ground);
        }
    }
    if grounds.is_empty() {
        let all = side.sessions().iter();
        grounds.extend(all.map(|&s| (s, s.header.environment.targets.iter().collect())));
    }
    let mut values: Vec<(String, Vec<String>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (session, stacks) in grounds {
        for (key, value) in facts(&session.header.environment, stacks) {
            let place = *places.entry(key.clone()).or_insert_with(|| {
                values.push((key, Vec::new()));
                values.len() - 1
            });
            if !values[place].1.contains(&value) {
                values[place].1.push(value);
            }
        }
    }
    values
        .into_iter()
        .map(|(key, mut values)| {
            values.sort();
            (key, values.join(" or "))
        })
        .collect()
}

/// What stood under the places of a trial: as it was seen when the trial began, else as
/// the session began; of several places those that its configuration or its cell names.
fn stacks<'a>(side: &Side<'a>, trial: &SideTrial<'a>) -> Vec<&'a TargetStack> {
    if let Some(targets) = &trial.trial.targets {
        return targets.iter().collect();
    }
    let header = &trial.session.header;
    let all = &header.environment.targets;
    let level = |factor: &str| {
        let chosen = side.chosen.as_ref().filter(|(chosen, _)| chosen == factor);
        let level = chosen.map(|(_, level)| level);
        level
            .or_else(|| trial.cell.get(factor))
            .map(ToString::to_string)
    };
    let of_configuration = level("configuration").and_then(|name| {
        let plan = header.plan.as_ref()?;
        // A factor that chose the side is no longer in its cells.
        let chosen = side.chosen.iter();
        let cell = chosen.fold(trial.cell.clone(), |cell, (factor, level)| {
            cell.with(factor, level.clone())
        });
        let places = configuration(&plan.parameters, &name, &cell)?.get("places")?;
        let places: Vec<usize> = serde_json::from_value(places.clone()).ok()?;
        places
            .into_iter()
            .map(|place| all.get(place))
            .collect::<Option<Vec<_>>>()
    });
    if let Some(stacks) = of_configuration {
        return stacks;
    }
    let directory = level("directory");
    let named = all
        .iter()
        .filter(|stack| Some(&stack.path) == directory.as_ref());
    let named: Vec<&TargetStack> = named.collect();
    if named.is_empty() {
        all.iter().collect()
    } else {
        named
    }
}

/// What the plan's parameters say of the configuration of that name, at the workload and
/// the target of `cell`, where it is at several.
pub(crate) fn configuration<'p>(
    parameters: &'p serde_json::Value,
    name: &str,
    cell: &Cell,
) -> Option<&'p serde_json::Value> {
    let mut named = configurations(parameters, name);
    named.find(|one| {
        let at = one.get("at").and_then(|at| at.as_object());
        let mut at = at.into_iter().flatten();
        at.all(|(factor, level)| {
            let own = cell.get(factor).map(ToString::to_string);
            own.as_deref() == level.as_str()
        })
    })
}

/// Which benchmark ran in a cell of a session in blocks, and with which parameters;
/// `None` where the plan is that of one workload.
#[must_use]
pub fn stated_of<'p>(plan: &'p Plan, cell: &Cell) -> Option<(&'p str, &'p serde_json::Value)> {
    let name = cell.get("configuration")?.to_string();
    let stated = configuration(&plan.parameters, &name, cell)?;
    let workload = stated.get("workload").and_then(|name| name.as_str());
    Some((
        workload.unwrap_or(&plan.workload),
        stated.get("parameters")?,
    ))
}

/// The names of the plan's configurations, each with all that is said of it but that
/// name: once for each workload and target.
pub(crate) fn stated_by_name(
    parameters: &serde_json::Value,
) -> Vec<(String, Vec<serde_json::Map<String, serde_json::Value>>)> {
    let mut found: Vec<(String, Vec<_>)> = Vec::new();
    let all = parameters
        .get("configurations")
        .and_then(|all| all.as_array());
    let stated = |one: &serde_json::Value| {
        let mut stated = one.as_object()?.clone();
        let name = stated.remove("name")?.as_str()?.to_owned();
        Some((name, stated))
    };
    for (name, stated) in all.into_iter().flatten().filter_map(stated) {
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(stated),
            None => found.push((name, vec![stated])),
        }
    }
    found
}

/// All that the plan's parameters say of the configuration of that name: once for each
/// workload and target.
pub(crate) fn configurations<'p>(
    parameters: &'p serde_json::Value,
    name: &str,
) -> impl Iterator<Item = &'p serde_json::Value> {
    let all = parameters
        .get("configurations")
        .and_then(|all| all.as_array());
    let all = all.into_iter().flatten();
    all.filter(move |one| one.get("name").and_then(|n| n.as_str()) == Some(name))
}

/// Whether a fact follows from the choice of a factor's level. Another disk comes
/// with its own size, queue and filesystem; another kernel with its own defaults.
fn belongs(key: &str, factor: &str) -> bool {
    let within = |beginning: &str| {
        key.strip_prefix(beginning)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    match factor {
        "directory" | "device" | "disk" => within("target"),
        "filesystem" | "options" => within("target.filesystem"),
        "scheduler" => key.ends_with(".scheduler") || key.contains(".queue."),
        "kernel" => within("kernel") || within("stated.kernel"),
        // What a configuration sets shows in what stands under its places.
        "configuration" => within("kernel") || within("stated.kernel") || within("target"),
        "machine" | "host" => !within("target") && !within("tool"),
        other => within(other) || within(&format!("stated.{other}")),
    }
}

/// An environment as keys and values, in the order of
/// [`EnvironmentDifference::differs`]. What differs between any two moments, such as
/// free space, is left out; so are facts that could not be had.
fn facts<'t>(
    environment: &Environment,
    stacks: impl IntoIterator<Item = &'t TargetStack>,
) -> Vec<(String, String)> {
    let mut facts = Facts::default();
    let stacks: Vec<&TargetStack> = stacks.into_iter().collect();
    let single = stacks.len() == 1;
    for (index, stack) in stacks.into_iter().enumerate() {
        let name = if single {
            "target".to_owned()
        } else {
            format!("target.{index}")
        };
        target(&mut facts, &name, stack);
    }
    kernel(&mut facts, environment);
    limits(&mut facts, environment);
    cpu(&mut facts, environment);
    memory(&mut facts, environment);
    let virtualisation = &environment.virtualisation;
    facts.maybe(
        "virtualisation.hypervisor",
        virtualisation.hypervisor.as_ref(),
    );
    facts.maybe(
        "virtualisation.container",
        virtualisation.container.as_ref(),
    );
    facts.maybe("distribution", environment.distribution.as_ref());
    facts.maybe("host_name", environment.host_name.as_ref());
    for (name, value) in &environment.stated {
        facts.add(format!("stated.{name}"), value);
    }
    if !environment.tool.name.is_empty() {
        facts.add("tool.name", &environment.tool.name);
        facts.add("tool.version", &environment.tool.version);
        facts.add(WITNESS, environment.witness.as_str());
    }
    facts.0
}

#[derive(Default)]
struct Facts(Vec<(String, String)>);

impl Facts {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers have references as well as fresh strings"
    )]
    fn add(&mut self, key: impl Into<String>, value: impl ToString) {
        self.0.push((key.into(), value.to_string()));
    }

    fn maybe(&mut self, key: impl Into<String>, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.add(key, value);
        }
    }
}

fn target(facts: &mut Facts, name: &str, stack: &TargetStack) {
    facts.add(format!("{name}.path"), &stack.path);
    if let Some(filesystem) = &stack.filesystem {
        let key = format!("{name}.filesystem");
        facts.add(&key, &filesystem.kind);
        facts.add(
            format!("{key}.mount_options"),
            filesystem.mount_options.join(","),
        );
        let options = filesystem.filesystem_options.join(",");
        facts.add(format!("{key}.options"), options);
        facts.add(format!("{key}.size"), format_bytes(filesystem.size_bytes));
        let block = format_bytes(filesystem.block_size_bytes);
        facts.add(format!("{key}.block_size"), block);
    }
    let names: Vec<&str> = stack.layers.iter().map(lasting_name).collect();
    facts.add(format!("{name}.devices"), names.join(" "));
    stack.layers.iter().for_each(|l| layer(facts, name, l));
}

/// A device's name, of a loop device without its number: that is whichever was free.
fn lasting_name(layer: &Layer) -> &str {
    match layer.kind {
        LayerKind::Loop => "loop",
        _ => &layer.name,
    }
}

fn layer(facts: &mut Facts, target_name: &str, layer: &Layer) {
    let key = format!("{target_name}.{}", lasting_name(layer));
    facts.maybe(format!("{key}.model"), layer.model.as_ref());
    facts.maybe(format!("{key}.firmware"), layer.firmware.as_ref());
    facts.maybe(format!("{key}.link"), layer.link.as_ref());
    facts.maybe(format!("{key}.scheduler"), layer.scheduler.as_ref());
    facts.maybe(format!("{key}.rotational"), layer.rotational);
    facts.add(format!("{key}.size"), format_bytes(layer.size_bytes));
    facts.maybe(format!("{key}.made_as"), layer.target.as_ref());
    facts.maybe(format!("{key}.direct_io"), layer.loop_direct_io);
    for (setting, value) in &layer.queue {
        facts.add(format!("{key}.queue.{setting}"), value.trim());
    }
    if let Some(backing) = &layer.backing {
        target(facts, &format!("{key}.backing"), backing);
    }
}

fn kernel(facts: &mut Facts, environment: &Environment) {
    let Some(kernel) = &environment.kernel else {
        return;
    };
    facts.add("kernel.release", &kernel.release);
    facts.add("kernel.version", &kernel.version);
    facts.add("kernel.architecture", &kernel.architecture);
    let config = kernel.config_digest.as_ref();
    facts.maybe(
        "kernel.config",
        config.map(|digest| digest.short().to_owned()),
    );
    facts.add("kernel.command_line", kernel.command_line.join(" "));
    facts.maybe("kernel.tainted", kernel.tainted);
}

fn limits(facts: &mut Facts, environment: &Environment) {
    let limits = &environment.limits;
    facts.maybe("limits.memory", limits.memory_bytes.map(format_bytes));
    facts.maybe("limits.cpu_percent", limits.cpu_percent);
    for limit in &limits.io {
        let (major, minor) = limit.device_number;
        let key = format!("limits.io.{major}:{minor}");
        let rates = [
            ("read", limit.read_bytes_per_s.map(format_bytes)),
            ("write", limit.write_bytes_per_s.map(format_bytes)),
        ];
        for (direction, rate) in rates {
            facts.maybe(format!("{key}.{direction}_per_s"), rate);
        }
        let read = limit.read_operations_per_s;
        let write = limit.write_operations_per_s;
        facts.maybe(format!("{key}.reads_per_s"), read);
        facts.maybe(format!("{key}.writes_per_s"), write);
    }
}

fn cpu(facts: &mut Facts, environment: &Environment) {
    let Some(cpu) = &environment.cpu else {
        return;
    };
    facts.add("cpu.model", &cpu.model);
    facts.add("cpu.online", cpu.online);
    facts.add("cpu.allowed", cpu.allowed);
    facts.maybe("cpu.governor", cpu.governor.as_ref());
    facts.maybe("cpu.clock_source", cpu.clock_source.as_ref());
    facts.maybe("cpu.microcode", cpu.microcode.as_ref());
    for (vulnerability, mitigation) in &cpu.mitigations {
        facts.add(format!("cpu.mitigations.{vulnerability}"), mitigation);
    }
}

fn memory(facts: &mut Facts, environment: &Environment) {
    let Some(memory) = &environment.memory else {
        return;
    };
    facts.add("memory.total", format_bytes(memory.total_bytes));
    facts.add("memory.swap", format_bytes(memory.swap_bytes));
    facts.add("memory.page_size", format_bytes(memory.page_size_bytes));
    let pages = memory.transparent_huge_pages.as_ref();
    facts.maybe("memory.transparent_huge_pages", pages);
    for (setting, value) in &memory.writeback {
        facts.add(format!("memory.{setting}"), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Filesystem, Kernel};

    fn machine(release: &str, kind: &str) -> Environment {
        Environment {
            kernel: Some(Kernel {
                release: release.to_owned(),
                ..Kernel::default()
            }),
            targets: vec![TargetStack {
                path: "/mnt".to_owned(),
                filesystem: Some(Filesystem {
                    kind: kind.to_owned(),
                    ..Filesystem::default()
                }),
                layers: Vec::new(),
                missing: Vec::new(),
            }],
            ..Environment::default()
        }
    }

    #[test]
    fn only_what_differs_is_listed_and_the_target_first() {
        let found = difference(
            &machine("6.1", "ext4"),
            &machine("6.12", "xfs"),
            Some("kernel"),
        );
        let keys: Vec<_> = found
            .differs
            .iter()
            .map(|d| (d.key.as_str(), d.named))
            .collect();
        assert_eq!(
            keys,
            [("target.filesystem", false), ("kernel.release", true)]
        );
        assert_eq!(found.unnamed().count(), 1);
        assert_eq!((found.only_a.len(), found.only_b.len()), (0, 0));
    }

    #[test]
    fn free_space_is_no_difference_and_unknown_facts_are_apart() {
        let mut fuller = machine("6.1", "ext4");
        fuller.targets[0]
            .filesystem
            .as_mut()
            .unwrap()
            .available_bytes = 7;
        fuller.distribution = Some("Debian".to_owned());
        let found = difference(&machine("6.1", "ext4"), &fuller, None);
        assert_eq!(found.differs, []);
        assert_eq!(found.only_b, ["distribution"]);
    }

    #[test]
    fn a_factor_accounts_for_what_follows_from_it() {
        for (key, factor, follows) in [
            ("target.vda.model", "directory", true),
            ("target.filesystem.options", "filesystem", true),
            ("target.vda.model", "filesystem", false),
            ("target.vda.queue.nr_requests", "scheduler", true),
            ("kernel.config", "kernel", true),
            ("memory.total", "kernel", false),
            ("memory.total", "memory.total", true),
            ("memory.total", "mem", false),
        ] {
            assert_eq!(belongs(key, factor), follows, "{key} {factor}");
        }
    }
}
