//! The processors.

use std::collections::BTreeMap;

use stiction_core::Cpu;

use super::{Facts, count_of_list, field};

const FOLDER: &str = "/sys/devices/system/cpu";

pub(super) fn observe(facts: &mut Facts<'_>) -> Option<Cpu> {
    let info = facts.text("cpu", "/proc/cpuinfo")?;
    let model = model(&info).or_else(|| facts.roots.text_if_any("/proc/device-tree/model"));
    if model.is_none() {
        facts.miss("cpu model", "/proc/cpuinfo does not name it");
    }
    let listed = facts
        .roots
        .text_if_any(format!("{FOLDER}/online"))
        .map_or(0, |list| count_of_list(&list));
    let counted = info
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count() as u32;
    let online = if listed > 0 { listed } else { counted };
    let status = facts.roots.text("/proc/self/status").unwrap_or_default();
    let allowed = field(&status, "Cpus_allowed_list").map_or(0, count_of_list);
    let governor = format!("{FOLDER}/cpu0/cpufreq/scaling_governor");
    let clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Some(Cpu {
        model: model.unwrap_or_default(),
        online,
        // The mask may name CPUs that the machine does not have.
        allowed: if allowed == 0 {
            online
        } else {
            allowed.min(online)
        },
        microcode: field(&info, "microcode").map(str::to_owned),
        governor: facts.text("frequency governor", &governor),
        clock_source: facts.text("clock source", clock),
        mitigations: mitigations(facts),
    })
}

/// x86 and POWER name their model; ARM gives numbers, which are names in the
/// architecture manuals; s390 has its own form.
fn model(info: &str) -> Option<String> {
    let named = ["model name", "cpu model", "cpu"]
        .iter()
        .find_map(|key| field(info, key));
    if let Some(name) = named {
        return Some(name.to_owned());
    }
    if let (Some(maker), Some(part)) = (field(info, "CPU implementer"), field(info, "CPU part")) {
        return Some(format!("implementer {maker} part {part}"));
    }
    field(info, "vendor_id").map(str::to_owned)
}

fn mitigations(facts: &mut Facts<'_>) -> BTreeMap<String, String> {
    let folder = format!("{FOLDER}/vulnerabilities");
    let found: BTreeMap<String, String> = facts
        .roots
        .names(&folder)
        .into_iter()
        .filter_map(|name| {
            let text = facts.roots.text_if_any(format!("{folder}/{name}"))?;
            Some((name, text))
        })
        .collect();
    if found.is_empty() {
        facts.miss("cpu mitigations", format!("{folder} cannot be read"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::model;

    #[test]
    fn every_architecture_says_its_model_in_its_own_way() {
        let x86 =
            "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n";
        assert_eq!(model(x86).as_deref(), Some("AMD EPYC"));
        let arm = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(model(arm).as_deref(), Some("implementer 0x41 part 0xd0c"));
        let power = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n";
        assert_eq!(model(power).as_deref(), Some("POWER9, altivec supported"));
        let s390 = "vendor_id       : IBM/S390\n# processors    : 2\n";
        assert_eq!(model(s390).as_deref(), Some("IBM/S390"));
        assert_eq!(model("processor\t: 0\n"), None);
    }
}
