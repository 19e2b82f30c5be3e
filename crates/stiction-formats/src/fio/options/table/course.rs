//! How a job goes, and what is reported and checked.

use super::super::{Feature, FioOption, Kind};
use super::{SECOND, accepted, meant, refused};

pub(super) const OPTIONS: &[FioOption] = &[
    // report
    meant("group_reporting", &[], Kind::Flag, Feature::Report),
    meant(
        "unified_rw_reporting",
        &[],
        Kind::Word(&["none", "0", "mixed", "1", "both", "2"]),
        Feature::Report,
    ),
    accepted(
        "per_job_logs",
        &[],
        Kind::Bool,
        "every worker's series is kept apart and can be joined afterwards",
    ),
    meant("percentile_list", &[], Kind::Percentages, Feature::Report),
    meant("clat_percentiles", &[], Kind::Bool, Feature::Report),
    meant("lat_percentiles", &[], Kind::Bool, Feature::Report),
    meant("slat_percentiles", &[], Kind::Bool, Feature::Report),
    accepted(
        "disk_util",
        &[],
        Kind::Bool,
        "what the device did is always observed",
    ),
    accepted(
        "stats",
        &[],
        Kind::Bool,
        "every operation is always counted",
    ),
    accepted(
        "significant_figures",
        &[],
        Kind::Integer(1, 10),
        "digits follow the uncertainty of a figure",
    ),
    refused(
        "block_error_percentiles",
        &[],
        Kind::Bool,
        "errors of trims are counted, not ranked",
    ),
    // phases
    meant(
        "stonewall",
        &["wait_for_previous"],
        Kind::Flag,
        Feature::Phases,
    ),
    meant("wait_for", &[], Kind::Text, Feature::Phases),
    meant("startdelay", &[], Kind::TimeRange(SECOND), Feature::Phases),
    meant("exitall", &[], Kind::Flag, Feature::Phases),
    meant(
        "exit_what",
        &[],
        Kind::Word(&["group", "stonewall", "all"]),
        Feature::Phases,
    ),
    meant("exitall_on_error", &[], Kind::Flag, Feature::Phases),
    meant("new_group", &[], Kind::Flag, Feature::Phases),
    meant("loops", &[], Kind::Integer(0, i64::MAX), Feature::Phases),
    // coverage
    meant("randrepeat", &[], Kind::Bool, Feature::Coverage),
    meant("allrandrepeat", &[], Kind::Bool, Feature::Coverage),
    meant(
        "randseed",
        &[],
        Kind::Integer(0, i64::MAX),
        Feature::Coverage,
    ),
    meant("norandommap", &[], Kind::Flag, Feature::Coverage),
    accepted(
        "softrandommap",
        &[],
        Kind::Bool,
        "blocks are visited by a permutation, which needs no memory for a map",
    ),
    accepted(
        "random_generator",
        &[],
        Kind::Word(&["tausworthe", "lfsr", "tausworthe64"]),
        "one generator serves every size of target, and a permutation visits each block once",
    ),
    accepted(
        "use_os_rand",
        &[],
        Kind::Bool,
        "numbers come from the seed alone, so that a run can be repeated",
    ),
    // verify
    meant("verify", &[], Kind::Text, Feature::Verify),
    meant("do_verify", &[], Kind::Bool, Feature::Verify),
    meant("verify_only", &[], Kind::Flag, Feature::Verify),
    meant("verify_interval", &[], Kind::Size(80), Feature::Verify),
    meant("verify_offset", &[], Kind::Size(40), Feature::Verify),
    meant("verify_pattern", &[], Kind::Text, Feature::Verify),
    meant("verify_pattern_interval", &[], Kind::Bool, Feature::Verify),
    meant("verify_fatal", &[], Kind::Bool, Feature::Verify),
    meant("verify_dump", &[], Kind::Bool, Feature::Verify),
    meant(
        "verify_backlog",
        &[],
        Kind::Integer(0, i64::MAX),
        Feature::Verify,
    ),
    meant(
        "verify_backlog_batch",
        &[],
        Kind::Integer(0, i64::MAX),
        Feature::Verify,
    ),
    accepted(
        "verify_async",
        &[],
        Kind::Integer(0, 65_535),
        "blocks are checked outside the latency of the read, by the worker that read them",
    ),
    accepted(
        "verify_async_cpus",
        &[],
        Kind::Text,
        "blocks are checked by the worker that read them",
    ),
    refused(
        "verify_state_load",
        &[],
        Kind::Bool,
        "saved states of fio are not read; every block names its own place and generation",
    ),
    accepted(
        "verify_state_save",
        &[],
        Kind::Bool,
        "what was written is told from the blocks themselves: each names its place and generation",
    ),
    accepted(
        "verify_write_sequence",
        &[],
        Kind::Bool,
        "every block names its generation, whatever the order of writes",
    ),
    accepted(
        "verify_header_seed",
        &[],
        Kind::Bool,
        "every block names its place and generation",
    ),
    refused(
        "experimental_verify",
        &[],
        Kind::Bool,
        "fio's own manual calls it experimental and it was replaced",
    ),
    refused(
        "trim_percentage",
        &[],
        Kind::Integer(0, 100),
        "trims inside a verified write stream are not generated",
    ),
    refused(
        "trim_verify_zero",
        &[],
        Kind::Bool,
        "trims inside a verified write stream are not generated",
    ),
    refused(
        "trim_backlog",
        &[],
        Kind::Integer(0, i64::MAX),
        "trims inside a verified write stream are not generated",
    ),
    refused(
        "trim_backlog_batch",
        &[],
        Kind::Integer(0, i64::MAX),
        "trims inside a verified write stream are not generated",
    ),
];
