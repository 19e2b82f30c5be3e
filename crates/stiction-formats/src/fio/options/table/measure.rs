//! Logs, rates, limits, pauses and traces.

use super::super::{Feature, FioOption, Kind};
use super::{MICROSECOND, SECOND, accepted, meant, refused};

pub(super) const OPTIONS: &[FioOption] = &[
    // series
    meant("write_bw_log", &[], Kind::Text, Feature::Series),
    meant("write_lat_log", &[], Kind::Text, Feature::Series),
    meant("write_iops_log", &[], Kind::Text, Feature::Series),
    meant("write_hist_log", &[], Kind::Text, Feature::Series),
    meant(
        "log_avg_msec",
        &[],
        Kind::Integer(0, i64::MAX),
        Feature::Series,
    ),
    meant(
        "log_hist_msec",
        &[],
        Kind::Integer(0, i64::MAX),
        Feature::Series,
    ),
    accepted(
        "log_hist_coarseness",
        &[],
        Kind::Integer(0, 6),
        "histograms are kept at their full resolution",
    ),
    meant("log_max_value", &[], Kind::Bool, Feature::Series),
    meant("log_window_value", &[], Kind::Text, Feature::Series),
    refused(
        "log_offset",
        &[],
        Kind::Bool,
        "series are counts by interval, not a line for each operation with its offset",
    ),
    refused(
        "log_prio",
        &[],
        Kind::Bool,
        "series are counts by interval, not a line for each operation with its priority",
    ),
    refused(
        "log_issue_time",
        &[],
        Kind::Bool,
        "series are counts by interval, not a line for each operation with its issue time",
    ),
    accepted(
        "log_entries",
        &[],
        Kind::Integer(1024, 1_048_576),
        "the series grows as it needs",
    ),
    accepted(
        "log_compression",
        &[],
        Kind::Size(0),
        "the series are small: counts by interval, not a line an operation",
    ),
    accepted(
        "log_compression_cpus",
        &[],
        Kind::Text,
        "nothing is compressed during a run",
    ),
    accepted(
        "log_store_compressed",
        &[],
        Kind::Bool,
        "nothing is compressed during a run",
    ),
    meant("log_unix_epoch", &[], Kind::Bool, Feature::Series),
    meant("log_alternate_epoch", &[], Kind::Bool, Feature::Series),
    meant(
        "log_alternate_epoch_clock_id",
        &[],
        Kind::Integer(0, 16),
        Feature::Series,
    ),
    accepted(
        "bwavgtime",
        &[],
        Kind::Integer(0, i64::MAX),
        "totals and intervals come from the same counts, so no averaging window is needed",
    ),
    accepted(
        "iopsavgtime",
        &[],
        Kind::Integer(0, i64::MAX),
        "totals and intervals come from the same counts, so no averaging window is needed",
    ),
    // rate
    meant("rate", &[], Kind::Sizes(0), Feature::Rate),
    meant("rate_min", &["ratemin"], Kind::Sizes(0), Feature::Rate),
    meant("rate_iops", &[], Kind::Integers(0, i64::MAX), Feature::Rate),
    meant(
        "rate_iops_min",
        &[],
        Kind::Integers(0, i64::MAX),
        Feature::Rate,
    ),
    meant(
        "rate_process",
        &[],
        Kind::Word(&["linear", "poisson"]),
        Feature::Rate,
    ),
    meant(
        "rate_cycle",
        &["ratecycle"],
        Kind::Integer(1, i64::MAX),
        Feature::Rate,
    ),
    meant("rate_ignore_thinktime", &[], Kind::Bool, Feature::Rate),
    // distribution
    meant(
        "random_distribution",
        &[],
        Kind::Text,
        Feature::Distribution,
    ),
    // errors
    meant(
        "continue_on_error",
        &[],
        Kind::Word(&["none", "read", "write", "io", "verify", "all", "0", "1"]),
        Feature::Errors,
    ),
    meant("ignore_error", &[], Kind::Text, Feature::Errors),
    accepted(
        "error_dump",
        &[],
        Kind::Bool,
        "every error names its file, offset and errno",
    ),
    // steady state
    meant("steadystate", &["ss"], Kind::Text, Feature::SteadyState),
    meant(
        "steadystate_duration",
        &["ss_dur"],
        Kind::Time(SECOND),
        Feature::SteadyState,
    ),
    meant(
        "steadystate_ramp_time",
        &["ss_ramp"],
        Kind::Time(SECOND),
        Feature::SteadyState,
    ),
    meant(
        "steadystate_check_interval",
        &["ss_interval"],
        Kind::Time(SECOND),
        Feature::SteadyState,
    ),
    // units
    meant(
        "kb_base",
        &[],
        Kind::Word(&["1024", "1000"]),
        Feature::Units,
    ),
    accepted(
        "unit_base",
        &[],
        Kind::Word(&["0", "8", "1"]),
        "reports are in bytes; every figure names its unit",
    ),
    // latency
    meant(
        "max_latency",
        &[],
        Kind::Time(MICROSECOND),
        Feature::LatencyLimit,
    ),
    meant(
        "latency_target",
        &[],
        Kind::Time(MICROSECOND),
        Feature::LatencyLimit,
    ),
    meant(
        "latency_window",
        &[],
        Kind::Time(MICROSECOND),
        Feature::LatencyLimit,
    ),
    meant(
        "latency_percentile",
        &[],
        Kind::Percentages,
        Feature::LatencyLimit,
    ),
    meant("latency_run", &[], Kind::Bool, Feature::LatencyLimit),
    // think
    meant(
        "thinktime",
        &[],
        Kind::Time(MICROSECOND),
        Feature::ThinkTime,
    ),
    meant(
        "thinktime_spin",
        &[],
        Kind::Time(MICROSECOND),
        Feature::ThinkTime,
    ),
    meant(
        "thinktime_blocks",
        &[],
        Kind::Integer(1, i64::MAX),
        Feature::ThinkTime,
    ),
    meant(
        "thinktime_blocks_type",
        &[],
        Kind::Word(&["complete", "issue"]),
        Feature::ThinkTime,
    ),
    meant(
        "thinktime_iotime",
        &[],
        Kind::Time(MICROSECOND),
        Feature::ThinkTime,
    ),
    refused(
        "thinkcycles",
        &[],
        Kind::Integer(0, i64::MAX),
        "a number of idle loops means another time on every CPU; use thinktime_spin",
    ),
    // replay
    meant("write_iolog", &[], Kind::Text, Feature::Replay),
    meant("read_iolog", &[], Kind::Text, Feature::Replay),
    accepted(
        "read_iolog_chunked",
        &[],
        Kind::Bool,
        "traces are always read piece by piece",
    ),
    meant("replay_no_stall", &[], Kind::Bool, Feature::Replay),
    meant("replay_redirect", &[], Kind::Text, Feature::Replay),
    meant(
        "replay_scale",
        &[],
        Kind::Integer(1, i64::MAX),
        Feature::Replay,
    ),
    meant("replay_align", &[], Kind::Size(0), Feature::Replay),
    meant(
        "replay_time_scale",
        &[],
        Kind::Integer(1, i64::MAX),
        Feature::Replay,
    ),
    meant("replay_skip", &[], Kind::Text, Feature::Replay),
    refused(
        "merge_blktrace_file",
        &[],
        Kind::Text,
        "traces are not merged",
    ),
    refused(
        "merge_blktrace_scalars",
        &[],
        Kind::Text,
        "traces are not merged",
    ),
    refused(
        "merge_blktrace_iters",
        &[],
        Kind::Text,
        "traces are not merged",
    ),
];
