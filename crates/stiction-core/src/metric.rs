//! What is measured: a name, a unit and which way is better.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The unit of a [`Measurement`](crate::Measurement).
///
/// Rates are kept in bytes per second and times in nanoseconds or seconds; the
/// report chooses MiB/s or ms when it prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    OperationsPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A plain number of things.
    Count,
    /// Percent; for CPU, 100 is one CPU kept busy for the whole time.
    Percent,
    /// A dimensionless ratio.
    Ratio,
    /// Bytes per second that one fully busy CPU would move: rate / (CPU% / 100).
    BytesPerSecondPerCpu,
}

impl Unit {
    /// The suffix that keys of machine-readable output carry, such as `ns`.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::BytesPerSecond => "bytes_per_s",
            Self::OperationsPerSecond => "per_s",
            Self::Nanoseconds => "ns",
            Self::Seconds => "s",
            Self::Bytes => "bytes",
            Self::Count => "count",
            Self::Percent => "percent",
            Self::Ratio => "ratio",
            Self::BytesPerSecondPerCpu => "bytes_per_s_per_cpu",
        }
    }
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better: rates.
    More,
    /// Less is better: times, latencies, CPU.
    Less,
    /// Neither: a description, such as the number of operations done.
    Neither,
}

/// Metrics of one class share a default minimum effect of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricClass {
    /// Bytes or operations per second, elapsed time of a fixed amount of work.
    Throughput,
    /// Mean and median latency.
    LatencyMean,
    /// p99 and its neighbours.
    LatencyTail,
    /// Maximum and the outermost percentiles: described, never judged by default.
    LatencyExtreme,
    /// CPU time and CPU percent.
    Cpu,
    /// Everything that is described and not judged.
    Descriptive,
}

/// What a number is: name, unit, direction and class.
///
/// The names of stiction's own metrics are constants in [`metrics`]; a metric
/// read from a user's program carries the name the user gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Metric {
    /// Snake-case name with its unit last, such as `latency_ns_p99`.
    pub name: Cow<'static, str>,
    /// Unit of the value.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// What it may be compared by.
    pub class: MetricClass,
}

/// The metrics that stiction's own benchmarks and importers produce.
pub mod metrics {
    use super::{Better, Metric, MetricClass, Unit};
    use std::borrow::Cow;

    macro_rules! metrics {
        ($($(#[$doc:meta])* $constant:ident = $name:literal, $unit:ident, $better:ident, $class:ident;)*) => {
            $($(#[$doc])* pub const $constant: Metric = Metric {
                name: Cow::Borrowed($name),
                unit: Unit::$unit,
                better: Better::$better,
                class: MetricClass::$class,
            };)*

            /// Every metric of this module, in the order in which reports show them.
            pub const ALL: &[Metric] = &[$($constant),*];
        };
    }

    metrics! {
        /// Bytes moved per second of the phase.
        RATE = "rate_bytes_per_s", BytesPerSecond, More, Throughput;
        /// Operations completed per second of the phase.
        OPERATION_RATE = "operations_per_s", OperationsPerSecond, More, Throughput;
        /// Bytes moved per second while every worker was active.
        RATE_ALL_ACTIVE = "rate_all_active_bytes_per_s", BytesPerSecond, More, Throughput;
        /// Wall time of the phase or of a timed command.
        ELAPSED = "elapsed_s", Seconds, Less, Throughput;
        /// Time until the last write of any worker had returned, and the sync at the end
        /// began. What is left of the elapsed time is that sync.
        UNTIL_WRITTEN = "until_written_s", Seconds, Less, Descriptive;
        /// Mean latency of an operation.
        LATENCY_MEAN = "latency_ns_mean", Nanoseconds, Less, LatencyMean;
        /// Median latency of an operation.
        LATENCY_P50 = "latency_ns_p50", Nanoseconds, Less, LatencyMean;
        /// 90th percentile of latency.
        LATENCY_P90 = "latency_ns_p90", Nanoseconds, Less, LatencyTail;
        /// 99th percentile of latency.
        LATENCY_P99 = "latency_ns_p99", Nanoseconds, Less, LatencyTail;
        /// 99.9th percentile of latency.
        LATENCY_P999 = "latency_ns_p99_9", Nanoseconds, Less, LatencyTail;
        /// 99.99th percentile of latency.
        LATENCY_P9999 = "latency_ns_p99_99", Nanoseconds, Less, LatencyExtreme;
        /// Largest latency.
        LATENCY_MAX = "latency_ns_max", Nanoseconds, Less, LatencyExtreme;
        /// Share of operations that took longer than 2 s.
        LATENCY_OVER_2S = "latency_over_2s_percent", Percent, Less, LatencyExtreme;
        /// Share of operations that took longer than 10 s.
        LATENCY_OVER_10S = "latency_over_10s_percent", Percent, Less, LatencyExtreme;
        /// Mean latency of an fsync or fdatasync.
        SYNC_LATENCY_MEAN = "sync_latency_ns_mean", Nanoseconds, Less, LatencyMean;
        /// Median latency of an fsync or fdatasync.
        SYNC_LATENCY_P50 = "sync_latency_ns_p50", Nanoseconds, Less, LatencyMean;
        /// 99th percentile of the latency of an fsync or fdatasync.
        SYNC_LATENCY_P99 = "sync_latency_ns_p99", Nanoseconds, Less, LatencyTail;
        /// Largest latency of an fsync or fdatasync.
        SYNC_LATENCY_MAX = "sync_latency_ns_max", Nanoseconds, Less, LatencyExtreme;
        /// Operations that were to begin at a set pace.
        ASKED_OPERATIONS = "operations_asked_count", Count, Neither, Descriptive;
        /// Operations done at a set pace over those that were to begin; less than 1 is an overload.
        DONE_OVER_ASKED = "done_over_asked_ratio", Ratio, More, Descriptive;
        /// By how much operations began later than they were to, on average.
        LATENESS_MEAN = "lateness_ns_mean", Nanoseconds, Less, Descriptive;
        /// 99th percentile of the same.
        LATENESS_P99 = "lateness_ns_p99", Nanoseconds, Less, Descriptive;
        /// Largest of the same.
        LATENESS_MAX = "lateness_ns_max", Nanoseconds, Less, Descriptive;
        /// CPU time in user mode. The user/system split is sampled by tick on many kernels.
        CPU_USER = "cpu_user_s", Seconds, Less, Cpu;
        /// CPU time in kernel mode on behalf of the process.
        CPU_SYSTEM = "cpu_system_s", Seconds, Less, Cpu;
        /// CPU time of the process over wall time; 100 is one busy CPU.
        CPU_PERCENT = "cpu_percent", Percent, Less, Cpu;
        /// User part of the CPU share, for programs that print it apart.
        CPU_USER_PERCENT = "cpu_user_percent", Percent, Less, Cpu;
        /// Kernel part of the CPU share, for programs that print it apart.
        CPU_SYSTEM_PERCENT = "cpu_system_percent", Percent, Less, Cpu;
        /// CPU time of the whole machine that was not idle, over wall time; 100 is one busy CPU.
        CPU_SYSTEM_WIDE_PERCENT = "cpu_system_wide_percent", Percent, Less, Cpu;
        /// Rate over CPU share, as tiobench's `CPU Eff`: what one fully busy CPU would move.
        CPU_EFFICIENCY = "cpu_efficiency_bytes_per_s_per_cpu", BytesPerSecondPerCpu, More, Cpu;
        /// Rate over the CPU share of the whole machine: kernel threads and interrupts included.
        CPU_SYSTEM_WIDE_EFFICIENCY = "cpu_system_wide_efficiency_bytes_per_s_per_cpu", BytesPerSecondPerCpu, More, Cpu;
        /// Bytes moved.
        BYTES = "bytes", Bytes, Neither, Descriptive;
        /// Operations completed.
        OPERATIONS = "operations_count", Count, Neither, Descriptive;
        /// Jain's fairness index of the workers' rates: 1 when all are equal, 1/n when one has all.
        FAIRNESS = "fairness_ratio", Ratio, More, Descriptive;
        /// Slowest worker's rate over the fastest one's.
        WORKER_RATE_SPREAD = "worker_rate_slowest_over_fastest_ratio", Ratio, More, Descriptive;
        /// Page faults that needed I/O.
        MAJOR_FAULTS = "major_faults_count", Count, Neither, Descriptive;
        /// Page faults that needed none.
        MINOR_FAULTS = "minor_faults_count", Count, Neither, Descriptive;
        /// Most memory that the process had resident at once.
        RESIDENT_MAX = "resident_bytes_max", Bytes, Less, Descriptive;
        /// Times that the process gave up the CPU to wait.
        SWITCHES_VOLUNTARY = "context_switches_voluntary_count", Count, Neither, Descriptive;
        /// Times that the CPU was taken from the process.
        SWITCHES_INVOLUNTARY = "context_switches_involuntary_count", Count, Neither, Descriptive;
        /// Whole files that a background load wrote while the timed job ran.
        LOAD_FILES = "load_files_count", Count, More, Descriptive;
        /// Size of each file that a background load wrote.
        LOAD_FILE_SIZE = "load_file_size_bytes", Bytes, Neither, Descriptive;
        /// How long a background load ran.
        LOAD_ELAPSED = "load_elapsed_s", Seconds, Neither, Descriptive;
        /// Rate of a background load, from what it wrote over its time.
        LOAD_RATE = "load_rate_bytes_per_s", BytesPerSecond, More, Throughput;
        /// Steps that a background load did each second: trips of a ring, entries of a tree.
        LOAD_STEP_RATE = "load_steps_per_s", OperationsPerSecond, More, Throughput;
        /// Units of work that a background load got done beside the timed job; what a
        /// unit is depends on the load.
        LOAD_UNITS = "load_units_count", Count, More, Descriptive;
        /// CPU share of a background load.
        LOAD_CPU_PERCENT = "load_cpu_percent", Percent, Neither, Descriptive;
        /// Time in which at least one task of the machine waited for a CPU.
        PRESSURE_CPU_SOME = "pressure_cpu_some_s", Seconds, Less, Descriptive;
        /// Time in which at least one task waited for I/O.
        PRESSURE_IO_SOME = "pressure_io_some_s", Seconds, Less, Descriptive;
        /// Time in which all tasks that could have run waited for I/O.
        PRESSURE_IO_FULL = "pressure_io_full_s", Seconds, Less, Descriptive;
        /// Time in which at least one task waited for memory.
        PRESSURE_MEMORY_SOME = "pressure_memory_some_s", Seconds, Less, Descriptive;
        /// Time in which all tasks that could have run waited for memory.
        PRESSURE_MEMORY_FULL = "pressure_memory_full_s", Seconds, Less, Descriptive;
        /// Elapsed time over that of a reference, such as the same job without a load.
        SLOWDOWN = "slowdown_ratio", Ratio, Less, Descriptive;
        /// Percent difference from a baseline, lowest over the parameters.
        CHANGE_LOWEST = "change_lowest_percent", Percent, More, Descriptive;
        /// Percent difference from a baseline, highest over the parameters.
        CHANGE_HIGHEST = "change_highest_percent", Percent, More, Descriptive;
        /// Percent difference from a baseline, unweighted mean over the parameters.
        CHANGE_AVERAGE = "change_average_percent", Percent, More, Descriptive;
    }

    /// The metric of that name, if it is one of stiction's own.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Metric> {
        ALL.iter().find(|metric| metric.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::metrics;

    #[test]
    fn every_name_is_unique_and_found_again() {
        for metric in metrics::ALL {
            assert_eq!(metrics::by_name(&metric.name), Some(metric));
        }
        let mut names: Vec<_> = metrics::ALL.iter().map(|m| &m.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), metrics::ALL.len());
    }

    #[test]
    fn every_name_says_its_unit() {
        for metric in metrics::ALL {
            let unit = metric.unit.suffix();
            assert!(
                metric.name.contains(unit),
                "{} does not name its unit {unit}",
                metric.name
            );
        }
    }
}
