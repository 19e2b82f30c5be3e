//! What was observed of the machine, in full.

use std::collections::BTreeMap;

use stiction_core::{
    Cpu, Environment, Filesystem, IoLimit, Kernel, Layer, LayerKind, Limits, Memory, TargetStack,
    format_bytes, format_count,
};

use crate::page::{Page, Role, Span};
use crate::stack::stack_line;
use crate::text::fit;

/// Columns of the names of facts, indent included.
const NAME: usize = 16;

/// Writes all that is known of the machine.
pub(crate) fn write_environment(page: &mut Page, environment: &Environment) {
    for (name, text) in machine(environment) {
        fact(page, &name, &text);
    }
    for stack in &environment.targets {
        page.blank();
        write_stack(page, stack, 0);
    }
    for missing in &environment.missing {
        fact(
            page,
            "not known",
            &format!("{}: {}", missing.fact, missing.reason),
        );
    }
}

/// One fact, wrapped under its name.
pub(crate) fn fact(page: &mut Page, name: &str, text: &str) {
    let width = NAME - 3;
    page.paragraph(&format!("  {:<width$} ", fit(name, width)), text);
}

/// Facts by name; what was not observed is left out.
fn machine(environment: &Environment) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, text: String| {
        if !text.is_empty() {
            facts.push((name.to_owned(), text));
        }
    };
    if let Some(kernel) = &environment.kernel {
        add("kernel", kernel_text(kernel));
        add("boot options", kernel.command_line.join(" "));
    }
    add(
        "distribution",
        environment.distribution.clone().unwrap_or_default(),
    );
    add("host", environment.host_name.clone().unwrap_or_default());
    if let Some(cpu) = &environment.cpu {
        add("cpu", cpu_text(cpu));
        add("mitigations", settings(&cpu.mitigations, ": ", "; "));
    }
    if let Some(memory) = &environment.memory {
        add("memory", memory_text(memory));
        add("writeback", settings(&memory.writeback, "=", " "));
    }
    let virtualisation = &environment.virtualisation;
    let kinds = [&virtualisation.hypervisor, &virtualisation.container];
    let kinds: Vec<&str> = kinds.into_iter().flatten().map(String::as_str).collect();
    add("virtualised", kinds.join(", "));
    add("signs of it", virtualisation.evidence.join("; "));
    add("limits", limits_text(&environment.limits));
    for limit in &environment.limits.io {
        add("I/O limit", io_limit_text(limit));
    }
    for (name, text) in &environment.stated {
        add(name, text.clone());
    }
    facts
}

fn kernel_text(kernel: &Kernel) -> String {
    let mut parts = vec![kernel.release.clone()];
    parts.extend([&kernel.architecture, &kernel.version].map(Clone::clone));
    if let Some(digest) = &kernel.config_digest {
        parts.push(format!("configuration {}", digest.short()));
    }
    if let Some(tainted) = kernel.tainted.filter(|&flags| flags != 0) {
        parts.push(format!("tainted {tainted}"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

fn cpu_text(cpu: &Cpu) -> String {
    let mut parts = vec![cpu.model.clone(), format!("{} online", cpu.online)];
    if cpu.allowed != cpu.online {
        parts.push(format!("{} allowed", cpu.allowed));
    }
    let named = [
        ("microcode", &cpu.microcode),
        ("governor", &cpu.governor),
        ("clock source", &cpu.clock_source),
    ];
    for (name, value) in named {
        parts.extend(value.as_ref().map(|value| format!("{name} {value}")));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

fn memory_text(memory: &Memory) -> String {
    let mut parts = vec![format_bytes(memory.total_bytes)];
    parts.push(match memory.swap_bytes {
        0 => "no swap".to_owned(),
        bytes => format!("{} swap", format_bytes(bytes)),
    });
    parts.push(format!("{} pages", format_bytes(memory.page_size_bytes)));
    if let Some(setting) = &memory.transparent_huge_pages {
        parts.push(format!("huge pages {setting}"));
    }
    parts.join(", ")
}

fn settings(settings: &BTreeMap<String, String>, between: &str, after: &str) -> String {
    let texts: Vec<String> = settings
        .iter()
        .map(|(name, value)| format!("{name}{between}{value}"))
        .collect();
    texts.join(after)
}

fn limits_text(limits: &Limits) -> String {
    let bytes = [
        ("memory", limits.memory_bytes),
        ("file size", limits.file_size_bytes),
        ("locked memory", limits.locked_memory_bytes),
    ];
    let mut parts: Vec<String> = bytes
        .into_iter()
        .filter_map(|(name, bytes)| Some(format!("{name} {}", format_bytes(bytes?))))
        .collect();
    parts.extend(limits.cpu_percent.map(|percent| format!("CPU {percent} %")));
    parts.join(", ")
}

fn io_limit_text(limit: &IoLimit) -> String {
    let (major, minor) = limit.device_number;
    let bytes = [
        ("reads", limit.read_bytes_per_s),
        ("writes", limit.write_bytes_per_s),
    ];
    let operations = [
        ("reads", limit.read_operations_per_s),
        ("writes", limit.write_operations_per_s),
    ];
    let mut parts: Vec<String> = bytes
        .into_iter()
        .filter_map(|(name, rate)| Some(format!("{name} {}/s", format_bytes(rate?))))
        .collect();
    parts.extend(
        operations
            .into_iter()
            .filter_map(|(name, rate)| Some(format!("{} {name}/s", format_count(rate? as f64)))),
    );
    format!("{major}:{minor} {} ({})", parts.join(", "), limit.source)
}

/// A target and its layers; `depth` counts the loop devices above it.
fn write_stack(page: &mut Page, stack: &TargetStack, depth: usize) {
    let name = if depth == 0 { "target" } else { "backing file" };
    page.spans([
        Span::new(Role::Strong, format!("  {name:<width$}", width = NAME - 2)),
        stack.path.as_str().into(),
    ]);
    fact(page, "stack", &stack_line(stack));
    if let Some(filesystem) = &stack.filesystem {
        fact(page, "filesystem", &filesystem_text(filesystem));
        let mut options = filesystem.mount_options.clone();
        options.extend(filesystem.filesystem_options.clone());
        options.dedup();
        fact(page, "options", &options.join(" "));
    }
    for layer in &stack.layers {
        fact(page, "device", &layer_text(layer));
        let queue = settings(&layer.queue, "=", " ");
        if !queue.is_empty() {
            fact(page, "queue", &queue);
        }
        if let Some(backing) = &layer.backing {
            write_stack(page, backing, depth + 1);
        }
    }
    for missing in &stack.missing {
        fact(page, "not known", missing);
    }
}

fn filesystem_text(filesystem: &Filesystem) -> String {
    let mut text = format!(
        "{} {} on {}",
        filesystem.kind, filesystem.source, filesystem.mount_point
    );
    if filesystem.size_bytes > 0 {
        text.push_str(&format!(
            ", {} of {} available, {} blocks",
            format_bytes(filesystem.available_bytes),
            format_bytes(filesystem.size_bytes),
            format_bytes(filesystem.block_size_bytes)
        ));
    }
    text
}

fn layer_text(layer: &Layer) -> String {
    let kind = match layer.kind {
        LayerKind::Disk => "disk",
        LayerKind::Partition => "partition",
        LayerKind::DeviceMapper => "device mapper",
        LayerKind::Raid => "RAID",
        LayerKind::Loop => "loop device",
        LayerKind::Zram => "compressed memory",
        LayerKind::Network => "network block device",
        LayerKind::Other => "block device",
    };
    let (major, minor) = layer.device_number;
    let mut parts = vec![format!("{} ({major}:{minor})", layer.name), kind.to_owned()];
    parts.extend(layer.target.clone());
    parts.push(format_bytes(layer.size_bytes));
    let named = [
        ("model", &layer.model),
        ("firmware", &layer.firmware),
        ("serial", &layer.serial),
        ("link", &layer.link),
        ("scheduler", &layer.scheduler),
    ];
    for (name, value) in named {
        parts.extend(value.as_ref().map(|value| format!("{name} {value}")));
    }
    if let Some(rate) = layer.link_bytes_per_s {
        parts.push(format!("at most {}/s", format_bytes(rate)));
    }
    parts.extend(layer.rotational.map(|rotates| {
        if rotates {
            "rotational"
        } else {
            "not rotational"
        }
        .to_owned()
    }));
    parts.push(format!(
        "sectors {} B logical, {} B physical",
        layer.logical_block_size_bytes, layer.physical_block_size_bytes
    ));
    parts.extend(layer.loop_direct_io.map(|direct| {
        if direct {
            "direct I/O"
        } else {
            "through the page cache"
        }
        .to_owned()
    }));
    parts.join(", ")
}
