//! Block devices as sysfs shows them (`Documentation/ABI/stable/sysfs-block`).

use std::collections::BTreeMap;
use std::path::Path;

use stiction_core::{Layer, LayerKind, TargetStack};

use super::{MOST_DEPTH, link};
use crate::{FactOptions, Roots};

/// Unit of `size` and of `/proc/diskstats`, whatever the device's own blocks are.
const SECTOR_BYTES: u64 = 512;

/// Adds `devices` and everything under them to the stack, each device once.
pub(super) fn add_layers(
    roots: &Roots,
    devices: &[String],
    options: FactOptions,
    depth: usize,
    stack: &mut TargetStack,
) {
    for name in devices {
        if stack.layers.iter().any(|layer| layer.name == *name) {
            continue;
        }
        if depth > MOST_DEPTH {
            stack
                .missing
                .push(format!("{name}: more than {MOST_DEPTH} layers above it"));
            continue;
        }
        if !roots.has(folder(name)) {
            stack
                .missing
                .push(format!("{name}: {} cannot be read", folder(name)));
        }
        let (layer, missing) = layer(roots, name, options, depth);
        stack.layers.push(layer);
        stack.missing.extend(missing);
        add_layers(roots, &below(roots, name), options, depth + 1, stack);
    }
}

/// The folder of a device; names with a slash, as of `cciss/c0d0`, have an
/// exclamation mark there.
fn folder(name: &str) -> String {
    format!("/sys/class/block/{}", name.replace('/', "!"))
}

/// Kernel name of the device with that number.
pub(crate) fn name_of_number(roots: &Roots, (major, minor): (u32, u32)) -> Option<String> {
    roots.link_name(format!("/sys/dev/block/{major}:{minor}"))
}

/// Major and minor number of the device with that kernel name.
pub(crate) fn number_of_name(roots: &Roots, name: &str) -> Option<(u32, u32)> {
    super::mountinfo::device_number(&roots.text(format!("{}/dev", folder(name))).ok()?)
}

/// Kernel name of the node `/dev/NODE`, which may be a symbolic link such as
/// `mapper/vg-root`.
pub(super) fn name_of_node(roots: &Roots, node: &str) -> Option<String> {
    let path = roots.path(Path::new("/dev").join(node));
    let real = path.canonicalize().unwrap_or(path);
    let dev = roots.path("/dev");
    let dev = dev.canonicalize().unwrap_or(dev);
    let name = real.strip_prefix(dev).ok()?.to_str()?.replace('/', "!");
    roots.has(folder(&name)).then_some(name)
}

/// The disk that a partition is part of.
pub(crate) fn whole_disk(roots: &Roots, name: &str) -> Option<String> {
    if !roots.has(format!("{}/partition", folder(name))) {
        return None;
    }
    let real = roots.path(folder(name)).canonicalize().ok()?;
    Some(real.parent()?.file_name()?.to_str()?.to_owned())
}

/// The disk that a partition is of; any other device is one itself.
pub(crate) fn disk_of(roots: &Roots, name: &str) -> String {
    whole_disk(roots, name).unwrap_or_else(|| name.to_owned())
}

/// The devices directly under one.
fn below(roots: &Roots, name: &str) -> Vec<String> {
    let slaves = roots.names(format!("{}/slaves", folder(name)));
    if slaves.is_empty() {
        whole_disk(roots, name).into_iter().collect()
    } else {
        slaves
    }
}

fn kind(roots: &Roots, name: &str) -> LayerKind {
    let has = |entry: &str| roots.has(format!("{}/{entry}", folder(name)));
    let starts = |beginnings: &[&str]| beginnings.iter().any(|start| name.starts_with(start));
    if has("partition") {
        LayerKind::Partition
    } else if has("dm") {
        LayerKind::DeviceMapper
    } else if has("md") {
        LayerKind::Raid
    } else if starts(&["loop"]) {
        LayerKind::Loop
    } else if starts(&["zram"]) {
        LayerKind::Zram
    } else if starts(&["nbd", "rbd", "drbd"]) {
        LayerKind::Network
    } else if has("device") || starts(&["vd", "xvd"]) {
        LayerKind::Disk
    } else {
        LayerKind::Other
    }
}

/// One device, and what could not be found out about what is under it.
fn layer(roots: &Roots, name: &str, options: FactOptions, depth: usize) -> (Layer, Vec<String>) {
    let file = |entry: &str| roots.text_if_any(format!("{}/{entry}", folder(name)));
    let kind = kind(roots, name);
    let link = (kind == LayerKind::Disk)
        .then(|| link::of_disk(roots, &folder(name)))
        .flatten();
    let mut missing = Vec::new();
    let backing = file("loop/backing_file").and_then(|backing| {
        backing_stack(roots, name, &backing, options, depth)
            .map_err(|reason| missing.push(reason))
            .ok()
    });
    let queue = queue(roots, name);
    let number = |entry: &str| queue.get(entry).and_then(|text| text.parse().ok());
    let (bare_disk, logical, physical) = match whole_disk(roots, name) {
        Some(disk) => {
            let of_disk = self::queue(roots, &disk);
            let number = |entry: &str| of_disk.get(entry).and_then(|text| text.parse().ok());
            let sizes = (number("logical_block_size"), number("physical_block_size"));
            (false, sizes.0, sizes.1)
        }
        None => (
            true,
            number("logical_block_size"),
            number("physical_block_size"),
        ),
    };
    let layer = Layer {
        name: name.to_owned(),
        kind,
        device_number: number_of_name(roots, name).unwrap_or_default(),
        size_bytes: file("size")
            .and_then(|sectors| sectors.parse::<u64>().ok())
            .unwrap_or(0)
            .saturating_mul(SECTOR_BYTES),
        model: model(&file),
        firmware: file("device/firmware_rev")
            .or_else(|| file("device/rev"))
            .or_else(|| file("device/fwrev")),
        serial: options.keep_serials.then(|| serial(roots, name)).flatten(),
        link_bytes_per_s: link.as_ref().and_then(|link| link.bytes_per_s),
        link: link.map(|link| link.name),
        scheduler: queue.get("scheduler").map(|text| chosen(text)),
        rotational: queue
            .get("rotational")
            .filter(|_| bare_disk)
            .map(|text| text == "1"),
        logical_block_size_bytes: logical.unwrap_or(512),
        physical_block_size_bytes: physical.unwrap_or(512),
        queue,
        target: target(roots, name),
        backing,
        loop_direct_io: file("loop/dio").map(|text| text == "1"),
    };
    (layer, missing)
}

/// Model, with the vendor where that is a vendor's name.
fn model(file: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let model = file("device/model").or_else(|| file("device/name"))?;
    match file("device/vendor") {
        // PCI and virtio have numbers there, and SATA disks all say ATA.
        Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => {
            Some(format!("{vendor} {model}"))
        }
        _ => Some(model),
    }
}

/// What the device itself says its serial number is.
pub(crate) fn serial(roots: &Roots, name: &str) -> Option<String> {
    let folder = folder(name);
    // NVMe and MMC; virtio; a SCSI vital product data page 0x80, which has four
    // bytes before the text (SPC-4, 7.8.18).
    roots
        .text_if_any(format!("{folder}/device/serial"))
        .or_else(|| roots.text_if_any(format!("{folder}/serial")))
        .or_else(|| {
            let page = roots.bytes(format!("{folder}/device/vpd_pg80")).ok()?;
            let text = String::from_utf8_lossy(page.get(4..)?).trim().to_owned();
            (!text.is_empty()).then_some(text)
        })
}

/// The files of `queue/` that hold one line of text.
fn queue(roots: &Roots, name: &str) -> BTreeMap<String, String> {
    let folder = format!("{}/queue", folder(name));
    roots
        .names(&folder)
        .into_iter()
        .filter_map(|entry| {
            let text = roots.text_if_any(format!("{folder}/{entry}"))?;
            Some((entry, text))
        })
        .collect()
}

/// `none [mq-deadline] kyber`: the one in brackets, or the only one.
pub(crate) fn chosen(text: &str) -> String {
    text.split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or(text, |(name, _)| name)
        .to_owned()
}

/// What a device-mapper or RAID device is made as. The table of a device-mapper
/// device is for root alone, but its uuid begins with who made it:
/// `CRYPT-LUKS2-...`, `LVM-...`, `mpath-...`.
fn target(roots: &Roots, name: &str) -> Option<String> {
    let folder = folder(name);
    if let Some(level) = roots.text_if_any(format!("{folder}/md/level")) {
        return Some(level);
    }
    let uuid = roots.text_if_any(format!("{folder}/dm/uuid"))?;
    Some(uuid.split('-').next().unwrap_or(&uuid).to_lowercase())
}

/// The stack under a loop device's backing file. Only the file's own name is kept:
/// the folders above it are nobody's business.
fn backing_stack(
    roots: &Roots,
    name: &str,
    backing: &str,
    options: FactOptions,
    depth: usize,
) -> Result<Box<TargetStack>, String> {
    if depth > MOST_DEPTH {
        return Err(format!("{name}: more than {MOST_DEPTH} layers"));
    }
    let path = Path::new(backing);
    let mut stack = super::observe(roots, path, options, depth + 1)
        .map_err(|error| format!("what {name} lies on: {error}"))?;
    stack.path = path.file_name().map_or_else(
        || backing.to_owned(),
        |file| file.to_string_lossy().into_owned(),
    );
    Ok(Box::new(stack))
}
