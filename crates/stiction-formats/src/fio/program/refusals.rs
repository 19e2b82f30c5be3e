//! What a job asks for that is not done, each with its reason; and what changes
//! nothing here.

use super::super::job::{Action, Check, Coverage, Engine, Fill, Order, PerDirection};
use super::Desk;

/// Says all that cannot be done as the job asks.
pub(super) fn find(desk: &mut Desk<'_>) {
    let refusals = [
        pattern(desk),
        files(desk),
        calls(desk),
        course(desk),
        data(desk),
        check(desk),
    ];
    for (option, reason) in refusals.into_iter().flatten() {
        desk.refuse(option, reason);
    }
    without_effect(desk);
}

/// Those of the rules that are broken: the option and the reason.
type Broken = Vec<(&'static str, &'static str)>;

fn broken(rules: &[(bool, &'static str, &'static str)]) -> Broken {
    let found = rules.iter().filter(|(applies, ..)| *applies);
    found
        .map(|(_, option, reason)| (*option, *reason))
        .collect()
}

fn pattern(desk: &Desk<'_>) -> Broken {
    let job = desk.job();
    let pattern = &job.pattern;
    let random = pattern.order == Order::Random;
    broken(&[
        (
            pattern.skip_bytes < 0,
            "rw",
            "sequential offsets only ascend",
        ),
        (
            random && pattern.strides.is_some(),
            "zonemode",
            "random offsets within zones are not done",
        ),
        (
            job.block.by_order && pattern.action == Action::ReadWrite && random,
            "bs_is_seq_rand",
            "sizes by order need a job of one order",
        ),
    ])
}

fn files(desk: &Desk<'_>) -> Broken {
    let job = desk.job();
    let (targets, layout, extent) = (&job.targets, &job.layout, &job.extent);
    broken(&[
        (
            targets.below.is_some(),
            "opendir",
            "all files below a directory are not taken; name them",
        ),
        (
            extent.until_full,
            "fill_device",
            "a full file system is not an end here; set size",
        ),
        (extent.append, "file_append", "files are not appended to"),
        (
            layout.create_only,
            "create_only",
            "there would be nothing to measure",
        ),
        (
            layout.remove_each_loop && extent.loops > 1,
            "unlink_each_loop",
            "files stay until the end of the run",
        ),
        (
            job.replay
                .as_ref()
                .is_some_and(|replay| replay.to.is_some()),
            "write_iolog",
            "figures are kept of operations and not each operation: the timed loop makes no list",
        ),
    ])
}

fn calls(desk: &Desk<'_>) -> Broken {
    let job = desk.job();
    let (depth, switches) = (&job.depth, &job.switches);
    broken(&[
        (
            depth.offload,
            "io_submit_mode",
            "each worker submits for itself",
        ),
        (
            depth.hold_overlaps
                && job.pattern.action.writes()
                && job.chance.coverage == Coverage::Independent,
            "serialize_overlap",
            "operations on one block are not held back for each other",
        ),
        (
            switches.polled_percent > 0 && switches.polled_percent < 100,
            "hipri_percentage",
            "all operations of a job are polled for, or none",
        ),
        (
            switches.kernel_cpu.is_some(),
            "sqthread_poll_cpu",
            "where the kernel's thread runs is left to the kernel",
        ),
        (
            switches.forced_async_every > 1,
            "force_async",
            "all operations of a job are forced, or none",
        ),
        (
            job.durability.range.is_some()
                && job.durability.fsync_every_writes + job.durability.fdatasync_every_writes > 0,
            "sync_file_range",
            "one kind of sync in the course of a job; remove it or fsync and fdatasync",
        ),
        (
            job.durability.fsync_every_writes > 0 && job.durability.fdatasync_every_writes > 0,
            "fdatasync",
            "one kind of sync in the course of a job; remove it or fsync",
        ),
    ])
}

fn course(desk: &Desk<'_>) -> Broken {
    let rate = &desk.job().rate;
    let some = |each: &PerDirection<Option<u64>>| {
        [each.read, each.write, each.trim]
            .iter()
            .any(Option::is_some)
    };
    broken(&[(
        some(&rate.bytes_per_second) && some(&rate.operations_per_second),
        "rate",
        "a job has one rate; remove it or rate_iops",
    )])
}

fn data(desk: &Desk<'_>) -> Broken {
    let payload = &desk.job().payload;
    broken(&[
        (
            payload.repeat_among_percent.is_some(),
            "dedupe_mode",
            "repeats are of any block that the clone wrote before",
        ),
        (
            payload.repeat_across_jobs,
            "dedupe_global",
            "repeats are among the blocks of a clone",
        ),
        (
            payload.memory.contains("huge"),
            "mem",
            "buffers are memory of ordinary pages",
        ),
    ])
}

fn check(desk: &Desk<'_>) -> Broken {
    let job = desk.job();
    let Some(verify) = &job.verify else {
        return Vec::new();
    };
    let action = job.pattern.action;
    let used = [
        (action.reads(), &job.block.size.read),
        (action.writes(), &job.block.size.write),
    ];
    let mut used = used.into_iter().filter(|(occurs, _)| *occurs);
    let first = used.next().map(|(_, size)| size);
    let one_size = first.is_none_or(|first| {
        first.least_bytes() == first.most_bytes() && used.all(|(_, size)| size == first)
    });
    broken(&[
        (
            verify.check == Check::Pattern && action == Action::ReadWrite,
            "verify",
            "in a mix a pattern cannot tell what was written from what was not; use a checksum",
        ),
        (
            verify.only,
            "verify_only",
            "say rw=read with the same verify: blocks carry what they are checked by",
        ),
        (
            verify.after_blocks.is_some() && action != Action::Write,
            "verify_backlog",
            "only jobs that write and nothing else read back as they go",
        ),
        (
            verify.check != Check::Null && !one_size,
            "verify",
            "blocks that are checked are of one size",
        ),
    ])
}

/// Options that leave the load as it is.
fn without_effect(desk: &mut Desk<'_>) {
    let job = desk.job();
    if job
        .replay
        .as_ref()
        .is_none_or(|replay| replay.from.is_none())
    {
        for option in [
            "replay_no_stall",
            "replay_redirect",
            "replay_scale",
            "replay_align",
            "replay_time_scale",
            "replay_skip",
        ] {
            desk.no_effect(option, "no trace is played");
        }
    }
    let said = [
        (
            job.payload.fill == Fill::Scrambled,
            "scramble_buffers",
            "every write has random bytes of its own",
        ),
        (
            job.payload.compress_chunk.is_some(),
            "buffer_compress_chunk",
            "data compress in pieces of 4 KiB",
        ),
        (true, "mem", "buffers are memory of our own"),
        (true, "iomem_align", "buffers begin at a page"),
        (
            true,
            "registerfiles",
            "files are registered with every ring",
        ),
        (true, "fixedbufs", "buffers are registered with every ring"),
        (true, "nonvectored", "calls are plain"),
        (
            true,
            "create_on_open",
            "files are there before the measured time",
        ),
        (
            !job.layout.sync_created,
            "create_fsync",
            "files that are laid down are synced",
        ),
        (
            true,
            "unlink",
            "files that were made are removed after the run, and no others",
        ),
        (
            true,
            "verify_interval",
            "each block has one header, at its start",
        ),
        (
            true,
            "verify_offset",
            "each block has one header, at its start",
        ),
        (
            true,
            "verify_backlog_batch",
            "all that was written since the last time is read back at once",
        ),
        (
            true,
            "verify_dump",
            "what is wrong with a block is said in words",
        ),
        (
            true,
            "verify_fatal",
            "blocks that are wrong are counted, and the job has then failed",
        ),
        (
            job.engine == Engine::Mmap,
            "direct",
            "mappings go through the page cache",
        ),
        (
            true,
            "fadvise_hint",
            "the kernel is told nothing about the order of reads",
        ),
        (
            job.targets.files <= 1,
            "openfiles",
            "each clone has one file",
        ),
        (
            matches!(
                job.engine,
                Engine::Sync | Engine::Vsync | Engine::Pvsync | Engine::Pvsync2
            ),
            "ioengine",
            "operations are made by pread and pwrite, or preadv2 and pwritev2 where flags need it",
        ),
        (
            matches!(
                job.verify.as_ref().map(|verify| verify.check),
                Some(Check::PatternWithHeader)
            ),
            "verify_pattern",
            "blocks that are checked hold our own header and random bytes",
        ),
    ];
    for (applies, option, reason) in said {
        if applies {
            desk.no_effect(option, reason);
        }
    }
}
