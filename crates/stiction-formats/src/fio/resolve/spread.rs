//! Chance, checking, files, bytes, steadiness and traces.

use super::super::error::FioError;
use super::super::job::{
    Action, Chance, Check, Coverage, FileOrder, Fill, Layout, Payload, Replay, Reserve, Steady,
    Verify,
};
use super::super::settings::Settings;
use super::super::units::Nanoseconds;
use super::texts;

const SECOND_NS: u64 = 1_000_000_000;

pub(super) fn chance(settings: &mut Settings) -> Chance {
    let distribution = settings
        .parsed("random_distribution", texts::distribution)
        .unwrap_or_default();
    Chance {
        seed: settings.integer("randseed"),
        repeat: settings.switch("randrepeat") != Some(false)
            || settings.on("allrandrepeat")
            || settings.get("randseed").is_some(),
        coverage: if settings.on("norandommap") {
            Coverage::Independent
        } else {
            Coverage::EachOnce
        },
        distribution,
    }
}

pub(super) fn verify(settings: &mut Settings, action: Action) -> Option<Verify> {
    let pattern = settings
        .parsed("verify_pattern", |text, _| texts::pattern_bytes(text))
        .unwrap_or_default();
    let check = settings.parsed("verify", |text, _| match text {
        "0" => Ok(None),
        "null" => Ok(Some(Check::Null)),
        "pattern" => Ok(Some(Check::Pattern)),
        "pattern_hdr" => Ok(Some(Check::PatternWithHeader)),
        "meta" | "md5" | "crc64" | "crc32" | "crc32c" | "crc32c-intel" | "crc16" | "crc7"
        | "sha1" | "sha256" | "sha512" | "sha3-224" | "sha3-256" | "sha3-384" | "sha3-512"
        | "xxhash" => Ok(Some(Check::Checksum)),
        _ => Err((
            format!("`{text}` is no check"),
            "write crc32c, md5, sha256, xxhash or another checksum of fio, or pattern".to_owned(),
        )),
    });
    let check = match check.flatten() {
        Some(check) => check,
        // A pattern alone asks for its check (fio's manual, verify_pattern).
        None if !pattern.is_empty() && settings.get("verify").is_none() => Check::PatternWithHeader,
        None => return None,
    };
    if check == Check::Pattern && pattern.is_empty() {
        let place = settings.get("verify").map(|chosen| chosen.place.clone());
        settings
            .errors
            .extend(place.map(|place| FioError::Conflict {
                place,
                what: "verify=pattern without a pattern".to_owned(),
                advice: "set verify_pattern".to_owned(),
            }));
    }
    let only = settings.on("verify_only");
    Some(Verify {
        check,
        pattern,
        read_back: settings.switch("do_verify") != Some(false)
            && (action.writes() || action.reads()),
        only,
        interval: settings.size("verify_interval"),
        header_at: settings.size("verify_offset"),
        fatal: settings.on("verify_fatal"),
        dump: settings.on("verify_dump"),
        after_blocks: settings
            .integer("verify_backlog")
            .filter(|blocks: &u64| *blocks > 0),
        batch_blocks: settings
            .integer("verify_backlog_batch")
            .filter(|blocks: &u64| *blocks > 0),
    })
}

pub(super) fn layout(settings: &mut Settings) -> Layout {
    let (file_order, file_operations) = settings
        .parsed("file_service_type", |text, _| texts::file_order(text))
        .unwrap_or((FileOrder::RoundRobin, 1));
    Layout {
        reserve: match settings.text("fallocate") {
            Some("none" | "0") => Reserve::None,
            Some("posix" | "1") => Reserve::Posix,
            Some("keep") => Reserve::KeepSize,
            Some("truncate") => Reserve::Truncate,
            _ => Reserve::Native,
        },
        create_on_open: settings.on("create_on_open"),
        create_only: settings.on("create_only"),
        sync_created: settings.switch("create_fsync") != Some(false),
        write_before: settings.on("overwrite"),
        may_create: settings.switch("allow_file_create") != Some(false),
        open_files: settings.integer("openfiles").filter(|open: &u32| *open > 0),
        file_order,
        file_operations,
        remove_after: settings.on("unlink"),
        remove_each_loop: settings.on("unlink_each_loop"),
    }
}

pub(super) fn payload(settings: &mut Settings) -> Payload {
    let pattern = settings
        .parsed("buffer_pattern", |text, _| texts::pattern_bytes(text))
        .unwrap_or_default();
    let compress_percent = settings.integer("buffer_compress_percentage");
    let repeat_percent = settings
        .integer("dedupe_percentage")
        .filter(|percent: &u8| *percent > 0);
    let fill = if settings.on("zero_buffers") {
        Fill::Zeros
    } else if !pattern.is_empty() {
        Fill::Pattern
    // Compression and repeats need buffers made anew, and fio then makes them so.
    } else if settings.on("refill_buffers")
        || compress_percent.is_some_and(|percent: u8| percent > 0)
        || repeat_percent.is_some()
    {
        Fill::Fresh
    } else if settings.switch("scramble_buffers") == Some(false) {
        Fill::Repeated
    } else {
        Fill::Scrambled
    };
    let working_set = settings.text("dedupe_mode") == Some("working_set");
    Payload {
        fill,
        pattern,
        compress_percent,
        compress_chunk: settings.size("buffer_compress_chunk"),
        repeat_percent,
        repeat_among_percent: (repeat_percent.is_some() && working_set).then(|| {
            settings
                .integer("dedupe_working_set_percentage")
                .unwrap_or(5)
        }),
        repeat_across_jobs: settings.on("dedupe_global"),
        memory: memory(settings),
        memory_align: settings.size("iomem_align").filter(|align| align.0 > 0),
    }
}

fn memory(settings: &mut Settings) -> String {
    settings
        .parsed("mem", |text, _| {
            let word = text.split(':').next().unwrap_or(text);
            match word {
                "malloc" | "shm" | "shmhuge" | "mmap" | "mmaphuge" | "mmapshared" => {
                    Ok(text.to_owned())
                }
                "cudamalloc" => Err((
                    "memory of GPUs is not driven".to_owned(),
                    "write malloc or mmap".to_owned(),
                )),
                _ => Err((
                    format!("`{word}` is no kind of memory"),
                    "write malloc, shm, shmhuge, mmap, mmaphuge or mmapshared".to_owned(),
                )),
            }
        })
        .unwrap_or_else(|| "malloc".to_owned())
}

pub(super) fn steady(settings: &mut Settings) -> Option<Steady> {
    let (of, by_slope, limit, in_percent) =
        settings.parsed("steadystate", |text, _| texts::steady(text))?;
    let window_ns = settings.time_ns("steadystate_duration").unwrap_or(0);
    if window_ns == 0
        && let Some(chosen) = settings.get("steadystate")
    {
        let error = FioError::Conflict {
            place: chosen.place.clone(),
            what: "steadystate without a duration that must be steady".to_owned(),
            advice: "set steadystate_duration".to_owned(),
        };
        settings.errors.push(error);
    }
    Some(Steady {
        of,
        by_slope,
        limit,
        in_percent,
        window: Nanoseconds(window_ns),
        ramp: Nanoseconds(settings.time_ns("steadystate_ramp_time").unwrap_or(0)),
        sample: Nanoseconds(
            settings
                .time_ns("steadystate_check_interval")
                .filter(|ns| *ns > 0)
                .unwrap_or(SECOND_NS),
        ),
    })
}

pub(super) fn replay(settings: &mut Settings) -> Option<Replay> {
    let text = |settings: &Settings, name| settings.text(name).map(str::to_owned);
    let (from, to) = (text(settings, "read_iolog"), text(settings, "write_iolog"));
    if from.is_none() && to.is_none() {
        return None;
    }
    let without = settings.parsed("replay_skip", |text, _| {
        text.split([',', ':'])
            .map(|word| match word {
                "read" | "write" | "trim" | "sync" => Ok(word.to_owned()),
                _ => Err((
                    format!("`{word}` is no kind of operation"),
                    "write read, write, trim or sync, with commas".to_owned(),
                )),
            })
            .collect()
    });
    Some(Replay {
        from,
        to,
        without_waits: settings.on("replay_no_stall"),
        onto: text(settings, "replay_redirect"),
        offset_divisor: settings.integer("replay_scale").unwrap_or(1),
        align: settings.size("replay_align").filter(|align| align.0 > 0),
        speed_percent: settings.integer("replay_time_scale").unwrap_or(100),
        without: without.unwrap_or_default(),
    })
}
