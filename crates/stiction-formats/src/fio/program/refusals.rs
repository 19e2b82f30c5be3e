//! What a job asks for that is not done, each with its reason; and what changes
//! nothing here.

use super::super::job::{
    self, Action, Check, Coverage, Engine, FileOrder, Fill, Order, PerDirection, Sequencer,
};
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
            pattern.action == Action::TrimWrite,
            "rw",
            "each block trimmed and then written is not done; run a trim and a write job with stonewall",
        ),
        (
            pattern.skip_bytes < 0,
            "rw",
            "sequential offsets only ascend",
        ),
        (
            random && pattern.random_percent != PerDirection::same(100),
            "percentage_random",
            "a part of random offsets does not follow its predecessor",
        ),
        (
            random && pattern.run_operations > 1 && pattern.sequencer == Sequencer::Same,
            "rw_sequencer",
            "operations of a run follow each other, and do not stay at one place",
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
            targets.files > 1 && targets.names.is_empty(),
            "nrfiles",
            "each clone has one file; use numjobs, or a job for each file",
        ),
        (
            targets.names.len() > 1,
            "filename",
            "each clone has one file; write a job for each",
        ),
        (
            layout.file_operations > 1 && !matches!(layout.file_order, FileOrder::RoundRobin),
            "file_service_type",
            "each clone has one file",
        ),
        (
            extent.file_size.is_some_and(|(least, most)| least != most),
            "filesize",
            "files of a job are of one size",
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
            job.replay.is_some(),
            "read_iolog",
            "traces are neither played nor written",
        ),
    ])
}

fn calls(desk: &Desk<'_>) -> Broken {
    let job = desk.job();
    let (depth, switches, placement) = (&job.depth, &job.switches, &job.placement);
    broken(&[
        (
            depth.offload,
            "io_submit_mode",
            "each worker submits for itself",
        ),
        (
            depth.submit_batch != 1,
            "iodepth_batch",
            "how many are submitted together is the engine's choice",
        ),
        (
            depth.reap_least != 1,
            "iodepth_batch_complete_min",
            "how many are reaped together is the engine's choice",
        ),
        (
            depth.refill_below.is_some(),
            "iodepth_low",
            "the depth is kept at its height",
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
            placement.numa_nodes.is_some(),
            "numa_cpu_nodes",
            "CPUs are chosen by number; use cpus_allowed",
        ),
        (
            placement.numa_memory.is_some(),
            "numa_mem_policy",
            "memory comes from the node of the CPU; use cpus_allowed",
        ),
        (
            job.durability.range.is_some(),
            "sync_file_range",
            "only whole files are synced; use fdatasync",
        ),
        (
            job.durability.fsync_every_writes > 0 && job.durability.fdatasync_every_writes > 0,
            "fdatasync",
            "one kind of sync in the course of a job; remove it or fsync",
        ),
    ])
}

fn course(desk: &Desk<'_>) -> Broken {
    let job = desk.job();
    let (rate, latency) = (&job.rate, &job.latency);
    let some = |each: &PerDirection<Option<u64>>| {
        [each.read, each.write, each.trim]
            .iter()
            .any(Option::is_some)
    };
    let is_mix = job.pattern.action == Action::ReadWrite;
    broken(&[
        (
            job.think.is_some(),
            "thinktime",
            "operations follow without pauses",
        ),
        (
            is_mix && (some(&rate.bytes_per_second) || some(&rate.operations_per_second)),
            if some(&rate.bytes_per_second) {
                "rate"
            } else {
                "rate_iops"
            },
            "in a mix the rates of reads and writes are not kept apart; write a job for each",
        ),
        (
            some(&rate.bytes_per_second) && some(&rate.operations_per_second),
            "rate",
            "a job has one rate; remove it or rate_iops",
        ),
        (
            some(&rate.least_bytes_per_second),
            "rate_min",
            "no rate is too low to go on",
        ),
        (
            some(&rate.least_operations_per_second),
            "rate_iops_min",
            "no rate is too low to go on",
        ),
        (
            latency.most.is_some(),
            "max_latency",
            "no latency ends a job",
        ),
        (
            latency.target.is_some(),
            "latency_target",
            "the depth is as given",
        ),
        (
            job.steady.is_some(),
            "steadystate",
            "a steady rate is a finding, and does not end a job",
        ),
        (
            job.errors.go_on_after != job::GoOnAfter::None,
            "continue_on_error",
            "an error ends a job",
        ),
        (
            !job.errors.ignored.is_empty(),
            "ignore_error",
            "an error ends a job",
        ),
    ])
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
    let is_stamped = matches!(verify.check, Check::Checksum | Check::PatternWithHeader);
    let sizes = [&job.block.size.read, &job.block.size.write];
    let one_size = sizes
        .iter()
        .all(|size| size.least_bytes() == size.most_bytes() && size == &sizes[0]);
    broken(&[
        (
            verify.check == Check::Pattern,
            "verify",
            "a pattern alone cannot tell lost writes from good ones; use a checksum",
        ),
        (
            verify.only,
            "verify_only",
            "what an earlier run wrote is not known any more",
        ),
        (
            verify.after_blocks.is_some(),
            "verify_backlog",
            "written blocks are read back when the job has ended",
        ),
        (
            is_stamped && !one_size,
            "verify",
            "blocks that are checked are of one size",
        ),
    ])
}

/// Options that leave the load as it is.
fn without_effect(desk: &mut Desk<'_>) {
    let job = desk.job();
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
            "verify_dump",
            "what is wrong with a block is said in words",
        ),
        (
            true,
            "verify_fatal",
            "blocks that are wrong are counted, and the job has then failed",
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
