//! What a job does: pattern, blocks, depth, targets, region, switches.

use super::super::error::FioError;
use super::super::job::{
    Action, Block, BlockSize, Depth, Engine, Extent, Order, Pattern, PerDirection, Sequencer,
    Strides, Switches, Targets,
};
use super::super::settings::{Settings, Value};
use super::super::units::{Amount, Bytes};
use super::texts::{self, Rw};

pub(super) fn pattern(settings: &mut Settings) -> Pattern {
    let rw = settings.parsed("rw", texts::rw).unwrap_or(Rw {
        order: Order::Sequential,
        action: Action::Read,
        run_operations: 1,
        skip_bytes: 0,
    });
    let read_percent = settings
        .later("rwmixread", "rwmixwrite")
        .and_then(|chosen| match chosen.value {
            Value::Integer(percent) if chosen.option.name == "rwmixread" => Some(percent),
            Value::Integer(percent) => Some(100 - percent),
            _ => None,
        })
        .unwrap_or(50);
    Pattern {
        order: rw.order,
        action: rw.action,
        read_percent: (rw.action == Action::ReadWrite)
            .then(|| u8::try_from(read_percent).unwrap_or(50)),
        run_operations: rw.run_operations,
        skip_bytes: rw.skip_bytes,
        sequencer: match settings.text("rw_sequencer") {
            Some("identical") => Sequencer::Same,
            _ => Sequencer::Next,
        },
        random_percent: settings.integers("percentage_random").map(|percent| {
            percent
                .and_then(|percent| u8::try_from(percent).ok())
                .unwrap_or(100)
        }),
        strides: strides(settings),
    }
}

/// Fixed zones; zoned block devices are refused.
fn strides(settings: &mut Settings) -> Option<Strides> {
    let mode = settings.get("zonemode")?.clone();
    if mode.written == "zbd" {
        settings.errors.push(FioError::Refused {
            place: mode.place,
            name: "zonemode=zbd".to_owned(),
            reason: "zoned block devices are not driven".to_owned(),
        });
        return None;
    }
    if mode.written != "strided" {
        return None;
    }
    let Some(use_size) = settings.size("zonesize").filter(|size| size.0 > 0) else {
        settings.errors.push(FioError::Conflict {
            place: mode.place,
            what: "zonemode=strided without a zonesize".to_owned(),
            advice: "set zonesize to the bytes used of each zone".to_owned(),
        });
        return None;
    };
    Some(Strides {
        use_size,
        zone_size: settings.size("zonerange").unwrap_or(use_size),
        gap: settings
            .amount("zoneskip")
            .and_then(Amount::known_bytes)
            .map_or(Bytes(0), Bytes),
    })
}

pub(super) fn block(settings: &mut Settings) -> Block {
    let fixed = settings
        .sizes("bs")
        .map(|size| BlockSize::Fixed(Bytes(size.unwrap_or(4096))));
    let ranges = match settings.get("bsrange").map(|chosen| &chosen.value) {
        Some(Value::SizeRanges(ranges)) => *ranges,
        _ => PerDirection::default(),
    };
    let splits = settings
        .parsed("bssplit", texts::block_split)
        .unwrap_or_default();
    // A split beats a range, and a range a size, whatever their order in the file.
    let choose = |fixed, range: Option<(u64, u64)>, split: Option<_>| match (split, range) {
        (Some(shares), _) => BlockSize::Split(shares),
        (None, Some((least, most))) if least < most => BlockSize::Range {
            least: Bytes(least),
            most: Bytes(most),
        },
        (None, Some((least, _))) => BlockSize::Fixed(Bytes(least)),
        (None, None) => fixed,
    };
    let align = settings.get("ba").is_some().then(|| {
        let sizes = settings.sizes("ba");
        sizes.map(|size| Bytes(size.unwrap_or(0)))
    });
    Block {
        size: PerDirection {
            read: choose(fixed.read, ranges.read, splits.read),
            write: choose(fixed.write, ranges.write, splits.write),
            trim: choose(fixed.trim, ranges.trim, splits.trim),
        },
        align,
        any_size: settings.on("bs_unaligned"),
        by_order: settings.on("bs_is_seq_rand"),
    }
}

pub(super) fn depth(settings: &mut Settings) -> Depth {
    let in_flight = settings.integer("iodepth").unwrap_or(1);
    let depth = Depth {
        in_flight,
        submit_batch: settings.integer("iodepth_batch").unwrap_or(1),
        reap_least: settings.integer("iodepth_batch_complete_min").unwrap_or(1),
        reap_most: settings
            .integer("iodepth_batch_complete_max")
            .filter(|most: &u32| *most > 0),
        refill_below: settings.integer("iodepth_low").filter(|low: &u32| *low > 0),
        hold_overlaps: settings.on("serialize_overlap"),
        offload: settings.text("io_submit_mode") == Some("offload"),
    };
    // fio lowers these in silence; so does this, and the values say so.
    Depth {
        submit_batch: depth.submit_batch.min(in_flight),
        reap_least: depth.reap_least.min(in_flight),
        reap_most: depth
            .reap_most
            .map(|most| most.max(depth.reap_least).min(in_flight)),
        refill_below: depth.refill_below.map(|low| low.min(in_flight)),
        ..depth
    }
}

pub(super) fn targets(settings: &Settings) -> Targets {
    let list = |name| settings.text(name).map(texts::list).unwrap_or_default();
    let names: Vec<String> = list("filename");
    let files = match u32::try_from(names.len()) {
        Ok(count @ 1..) => count,
        _ => settings.integer("nrfiles").unwrap_or(1),
    };
    Targets {
        names,
        directories: list("directory"),
        below: settings.text("opendir").map(str::to_owned),
        name_format: settings.text("filename_format").map(str::to_owned),
        files,
    }
}

pub(super) fn extent(settings: &Settings) -> Extent {
    // 0 is fio's "not set".
    let amount = |name| settings.amount(name).filter(|a| a.known_bytes() != Some(0));
    let file_size = match settings.get("filesize").map(|chosen| &chosen.value) {
        Some(Value::SizeRange(least, most)) => Some((Bytes(*least), Bytes(*most))),
        _ => None,
    };
    Extent {
        size: amount("size"),
        file_size,
        io: amount("io_size"),
        offset: amount("offset"),
        offset_step: amount("offset_increment"),
        offset_align: settings.size("offset_align").filter(|align| align.0 > 0),
        operations: settings
            .integer("number_ios")
            .filter(|count: &u64| *count > 0),
        until_full: settings.on("fill_device"),
        append: settings.on("file_append"),
        loops: settings.integer("loops").unwrap_or(1).max(1),
    }
}

pub(super) fn switches(settings: &mut Settings, engine: Engine) -> Switches {
    let polled_percent = if settings.on("hipri") {
        settings.integer("hipri_percentage").unwrap_or(100)
    } else {
        0
    };
    let switches = Switches {
        polled_percent,
        registered_files: settings.on("registerfiles"),
        registered_buffers: settings.on("fixedbufs"),
        kernel_submits: settings.on("sqthread_poll"),
        kernel_cpu: settings.integer("sqthread_poll_cpu"),
        plain_calls: settings.switch("nonvectored"),
        forced_async_every: settings.integer("force_async").unwrap_or(0),
        uncached: settings.on("uncached"),
        no_wait: settings.on("nowait"),
    };
    // Which engines know a switch: fio --enghelp=ENGINE. fio says "bad option" where
    // another engine has it.
    let ring = &[Engine::IoUring][..];
    let known: &[(&str, &[Engine])] = &[
        ("hipri", &[Engine::IoUring, Engine::Pvsync2]),
        ("hipri_percentage", &[Engine::Pvsync2]),
        ("registerfiles", ring),
        ("fixedbufs", ring),
        ("sqthread_poll", ring),
        ("sqthread_poll_cpu", ring),
        ("nonvectored", ring),
        ("force_async", ring),
        ("uncached", &[Engine::IoUring, Engine::Pvsync2]),
        (
            "nowait",
            &[Engine::IoUring, Engine::Pvsync2, Engine::Libaio],
        ),
    ];
    for (name, engines) in known {
        if let Some(chosen) = settings.get(name)
            && !engines.contains(&engine)
        {
            let error = FioError::Conflict {
                place: chosen.place.clone(),
                what: format!("this job's ioengine has no option `{name}`"),
                advice: "remove it, or choose the engine that has it".to_owned(),
            };
            settings.errors.push(error);
        }
    }
    switches
}
