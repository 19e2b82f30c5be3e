//! Files, bytes and syncs.

use super::super::{Feature, FioOption, Kind};
use super::{accepted, meant, refused};

pub(super) const OPTIONS: &[FioOption] = &[
    // cache
    meant("invalidate", &[], Kind::Bool, Feature::Cache),
    meant("pre_read", &[], Kind::Bool, Feature::Cache),
    meant(
        "fadvise_hint",
        &[],
        Kind::Word(&["0", "1", "none", "auto", "random", "sequential"]),
        Feature::Cache,
    ),
    // layout
    meant(
        "fallocate",
        &[],
        Kind::Word(&["none", "native", "posix", "keep", "truncate", "0", "1"]),
        Feature::Layout,
    ),
    meant("create_on_open", &[], Kind::Bool, Feature::Layout),
    meant("create_only", &[], Kind::Bool, Feature::Layout),
    accepted(
        "create_serialize",
        &[],
        Kind::Bool,
        "files are laid out before the measured time, so their order does not show",
    ),
    meant("create_fsync", &[], Kind::Bool, Feature::Layout),
    meant("overwrite", &[], Kind::Bool, Feature::Layout),
    meant(
        "nrfiles",
        &["nr_files"],
        Kind::Integer(1, 10_000_000),
        Feature::Layout,
    ),
    meant(
        "openfiles",
        &[],
        Kind::Integer(0, 10_000_000),
        Feature::Layout,
    ),
    meant("file_service_type", &[], Kind::Text, Feature::Layout),
    meant("unlink", &[], Kind::Bool, Feature::Layout),
    meant("unlink_each_loop", &[], Kind::Bool, Feature::Layout),
    meant("allow_file_create", &[], Kind::Bool, Feature::Layout),
    refused(
        "filetype",
        &[],
        Kind::Text,
        "the kind of a file is that which stands there",
    ),
    // payload
    meant("refill_buffers", &[], Kind::Flag, Feature::Payload),
    meant("scramble_buffers", &[], Kind::Bool, Feature::Payload),
    meant("zero_buffers", &[], Kind::Flag, Feature::Payload),
    meant("buffer_pattern", &[], Kind::Text, Feature::Payload),
    meant(
        "buffer_compress_percentage",
        &[],
        Kind::Integer(0, 100),
        Feature::Payload,
    ),
    meant(
        "buffer_compress_chunk",
        &[],
        Kind::Size(0),
        Feature::Payload,
    ),
    meant(
        "dedupe_percentage",
        &[],
        Kind::Integer(0, 100),
        Feature::Payload,
    ),
    meant(
        "dedupe_mode",
        &[],
        Kind::Word(&["repeat", "working_set"]),
        Feature::Payload,
    ),
    meant(
        "dedupe_working_set_percentage",
        &[],
        Kind::Integer(0, 100),
        Feature::Payload,
    ),
    meant("dedupe_global", &[], Kind::Bool, Feature::Payload),
    meant("mem", &["iomem"], Kind::Text, Feature::Payload),
    meant(
        "iomem_align",
        &["mem_align"],
        Kind::Size(0),
        Feature::Payload,
    ),
    accepted(
        "hugepage-size",
        &["hugepage_size"],
        Kind::Size(0),
        "pages are as large as the kernel's huge page size",
    ),
    refused(
        "lockmem",
        &[],
        Kind::Size(0),
        "pinning memory to make it scarce is the work of a cgroup limit outside of the job",
    ),
    // accepted
    accepted(
        "gtod_reduce",
        &[],
        Kind::Bool,
        "reading the clock costs little here, and latencies are always kept",
    ),
    accepted("disable_lat", &[], Kind::Bool, "latencies are always kept"),
    accepted("disable_clat", &[], Kind::Bool, "latencies are always kept"),
    accepted("disable_slat", &[], Kind::Bool, "latencies are always kept"),
    accepted(
        "disable_bw_measurement",
        &["disable_bw"],
        Kind::Bool,
        "bandwidth comes from the same counts as the totals, at no cost",
    ),
    accepted(
        "clocksource",
        &[],
        Kind::Word(&["gettimeofday", "clock_gettime", "cpu"]),
        "the best clock is chosen by measurement and named in the result",
    ),
    accepted(
        "gtod_cpu",
        &[],
        Kind::Integer(0, 65_535),
        "no thread is needed to read the clock",
    ),
    // durability
    meant(
        "fsync",
        &[],
        Kind::Integer(0, i64::MAX),
        Feature::Durability,
    ),
    meant(
        "fdatasync",
        &[],
        Kind::Integer(0, i64::MAX),
        Feature::Durability,
    ),
    meant("sync_file_range", &[], Kind::Text, Feature::Durability),
    meant("end_fsync", &[], Kind::Bool, Feature::Durability),
    meant("fsync_on_close", &[], Kind::Bool, Feature::Durability),
    refused(
        "write_barrier",
        &[],
        Kind::Integer(0, i64::MAX),
        "Linux has no barrier writes; use fsync or fdatasync",
    ),
];
