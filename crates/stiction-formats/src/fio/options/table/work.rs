//! What each operation is.

use super::super::{Feature, FioOption, Kind};
use super::{SECOND, accepted, meant, refused};

pub(super) const OPTIONS: &[FioOption] = &[
    // pattern
    meant("rw", &["readwrite"], Kind::Text, Feature::Pattern),
    meant("rwmixread", &[], Kind::Integer(0, 100), Feature::Pattern),
    meant("rwmixwrite", &[], Kind::Integer(0, 100), Feature::Pattern),
    meant(
        "percentage_random",
        &[],
        Kind::Integers(0, 100),
        Feature::Pattern,
    ),
    meant(
        "rw_sequencer",
        &[],
        Kind::Word(&["sequential", "identical"]),
        Feature::Pattern,
    ),
    // jobs
    meant("name", &[], Kind::Text, Feature::Jobs),
    meant("description", &[], Kind::Text, Feature::Jobs),
    meant("numjobs", &[], Kind::Integer(1, 65_535), Feature::Jobs),
    accepted("thread", &[], Kind::Flag, "workers are threads always"),
    meant("cpus_allowed", &[], Kind::Text, Feature::Jobs),
    meant("cpumask", &[], Kind::Integer(0, i64::MAX), Feature::Jobs),
    meant(
        "cpus_allowed_policy",
        &[],
        Kind::Word(&["shared", "split"]),
        Feature::Jobs,
    ),
    meant("numa_cpu_nodes", &[], Kind::Text, Feature::Jobs),
    meant("numa_mem_policy", &[], Kind::Text, Feature::Jobs),
    meant("nice", &[], Kind::Integer(-20, 19), Feature::Jobs),
    meant("prio", &[], Kind::Integer(0, 7), Feature::Jobs),
    meant("prioclass", &[], Kind::Integer(0, 3), Feature::Jobs),
    // block size
    meant("bs", &["blocksize"], Kind::Sizes(1), Feature::BlockSize),
    meant("ba", &["blockalign"], Kind::Sizes(1), Feature::BlockSize),
    meant(
        "bsrange",
        &["blocksize_range"],
        Kind::SizeRanges,
        Feature::BlockSize,
    ),
    meant("bssplit", &[], Kind::Text, Feature::BlockSize),
    meant(
        "bs_unaligned",
        &["blocksize_unaligned"],
        Kind::Flag,
        Feature::BlockSize,
    ),
    meant("bs_is_seq_rand", &[], Kind::Bool, Feature::BlockSize),
    // engine
    meant("ioengine", &[], Kind::Text, Feature::Engine),
    // flags
    meant("direct", &[], Kind::Bool, Feature::Flags),
    meant("buffered", &[], Kind::Bool, Feature::Flags),
    meant(
        "sync",
        &[],
        Kind::Word(&["none", "0", "sync", "1", "dsync"]),
        Feature::Flags,
    ),
    refused(
        "atomic",
        &[],
        Kind::Bool,
        "atomic writes need RWF_ATOMIC and a device that offers it",
    ),
    meant("hipri", &[], Kind::Flag, Feature::Flags),
    meant(
        "hipri_percentage",
        &[],
        Kind::Integer(0, 100),
        Feature::Flags,
    ),
    meant("registerfiles", &[], Kind::Flag, Feature::Flags),
    meant("fixedbufs", &[], Kind::Flag, Feature::Flags),
    meant("sqthread_poll", &[], Kind::Flag, Feature::Flags),
    meant(
        "sqthread_poll_cpu",
        &[],
        Kind::Integer(0, 65_535),
        Feature::Flags,
    ),
    meant("nonvectored", &[], Kind::Bool, Feature::Flags),
    meant(
        "force_async",
        &[],
        Kind::Integer(0, 1_000_000),
        Feature::Flags,
    ),
    meant("uncached", &[], Kind::Bool, Feature::Flags),
    meant("nowait", &[], Kind::Bool, Feature::Flags),
    accepted(
        "userspace_reap",
        &[],
        Kind::Flag,
        "completions are taken from the ring without a system call where that is possible",
    ),
    refused(
        "cmdprio",
        &[],
        Kind::Integer(0, 7),
        "priorities are given to whole jobs, by prio and prioclass",
    ),
    // depth
    meant("iodepth", &[], Kind::Integer(1, 65_536), Feature::Depth),
    meant(
        "iodepth_batch",
        &["iodepth_batch_submit"],
        Kind::Integer(0, 65_536),
        Feature::Depth,
    ),
    meant(
        "iodepth_batch_complete_min",
        &["iodepth_batch_complete"],
        Kind::Integer(0, 65_536),
        Feature::Depth,
    ),
    meant(
        "iodepth_batch_complete_max",
        &[],
        Kind::Integer(0, 65_536),
        Feature::Depth,
    ),
    meant("iodepth_low", &[], Kind::Integer(0, 65_536), Feature::Depth),
    meant("serialize_overlap", &[], Kind::Bool, Feature::Depth),
    meant(
        "io_submit_mode",
        &[],
        Kind::Word(&["inline", "offload"]),
        Feature::Depth,
    ),
    // extent
    meant("size", &[], Kind::Amount, Feature::Extent),
    meant("filesize", &[], Kind::SizeRange, Feature::Extent),
    meant("io_size", &["io_limit"], Kind::Amount, Feature::Extent),
    meant("offset", &["fileoffset"], Kind::Amount, Feature::Extent),
    meant("offset_increment", &[], Kind::Amount, Feature::Extent),
    meant("offset_align", &[], Kind::Size(0), Feature::Extent),
    meant(
        "number_ios",
        &[],
        Kind::Integer(0, i64::MAX),
        Feature::Extent,
    ),
    meant("fill_device", &["fill_fs"], Kind::Bool, Feature::Extent),
    meant("file_append", &[], Kind::Bool, Feature::Extent),
    // targets
    meant("filename", &[], Kind::Text, Feature::Targets),
    meant("directory", &[], Kind::Text, Feature::Targets),
    meant("opendir", &[], Kind::Text, Feature::Targets),
    meant("filename_format", &[], Kind::Text, Feature::Targets),
    accepted(
        "unique_filename",
        &[],
        Kind::Bool,
        "it concerns clients of a fio server, and there is none",
    ),
    refused(
        "lockfile",
        &[],
        Kind::Word(&["none", "exclusive", "readwrite"]),
        "locks around every operation are not taken; they would be measured with it",
    ),
    // duration
    meant(
        "runtime",
        &["timeout"],
        Kind::Time(SECOND),
        Feature::Duration,
    ),
    meant("time_based", &[], Kind::Flag, Feature::Duration),
    meant("ramp_time", &[], Kind::Time(SECOND), Feature::Duration),
];
