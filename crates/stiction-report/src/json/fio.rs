//! What a job file of fio will do, as JSON.

use serde::Serialize;
use stiction_formats::fio::lint::{End, Finding, Forecast, Lint, Reaches, Severity};
use stiction_formats::fio::{Bytes, DefaultInForce, FioError, Place, Resolved};

use super::document;

#[derive(Default, Serialize)]
struct LintView<'a> {
    errors: Vec<ErrorView>,
    jobs: Vec<JobView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<TotalView>,
    findings: Vec<FindingView<'a>>,
}

#[derive(Serialize)]
struct ErrorView {
    #[serde(flatten)]
    place: Option<PlaceView>,
    message: String,
}

/// Where something stands; without a file it is an argument of the command line.
#[derive(Serialize)]
struct PlaceView {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line_number: u32,
    column_number: u32,
}

#[derive(Serialize)]
struct JobView<'a> {
    name: &'a str,
    #[serde(flatten)]
    place: PlaceView,
    clones_count: u32,
    wave: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    region_each_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_each_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_back_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    laid_out_bytes: Option<u64>,
    ends_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_most_ns: Option<u64>,
    depth_asked_operations: u64,
    depth_effective_operations: u64,
    reaches: &'static str,
    defaults: &'a [DefaultInForce],
}

#[derive(Serialize)]
struct TotalView {
    workers_most_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_most_ns: Option<u64>,
}

#[derive(Serialize)]
struct FindingView<'a> {
    severity: &'static str,
    code: String,
    job: &'a str,
    #[serde(flatten)]
    place: PlaceView,
    what: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    advice: &'a str,
}

/// What a job file will do. Schema `stiction-fio-lint`.
#[must_use]
pub fn fio_lint(resolved: &Resolved, lint: &Lint) -> String {
    let jobs = lint.jobs.iter().zip(&resolved.jobs);
    let view = LintView {
        errors: Vec::new(),
        jobs: jobs
            .map(|(forecast, job)| job_view(forecast, &job.defaults))
            .collect(),
        total: Some(TotalView {
            workers_most_count: lint.total.workers_most,
            moved_bytes: count(lint.total.moved),
            time_most_ns: lint.total.time_most.map(|time| time.0),
        }),
        findings: lint.findings.iter().map(finding_view).collect(),
    };
    document("stiction-fio-lint", view)
}

/// What is wrong in a job file. Schema `stiction-fio-lint`.
#[must_use]
pub fn fio_errors(errors: &[FioError]) -> String {
    let errors = errors.iter().map(|error| ErrorView {
        place: error.place().map(place_view),
        message: error.to_string(),
    });
    let view = LintView {
        errors: errors.collect(),
        ..LintView::default()
    };
    document("stiction-fio-lint", view)
}

fn place_view(place: &Place) -> PlaceView {
    PlaceView {
        file: place.file.as_deref().map(str::to_owned),
        line_number: place.line,
        column_number: place.column,
    }
}

fn count(bytes: Option<Bytes>) -> Option<u64> {
    bytes.map(|bytes| bytes.0)
}

fn job_view<'a>(job: &'a Forecast, defaults: &'a [DefaultInForce]) -> JobView<'a> {
    JobView {
        name: &job.name,
        place: place_view(&job.place),
        clones_count: job.clones,
        wave: job.wave,
        region_each_bytes: count(job.region_each),
        moved_each_bytes: count(job.moved_each),
        moved_bytes: count(job.moved),
        read_back_bytes: count(job.read_back),
        laid_out_bytes: count(job.laid_out),
        ends_by: match job.end {
            End::Amount => "amount",
            End::Time => "time",
            End::AmountOrTime => "amount-or-time",
            End::Full => "no-space",
        },
        time_most_ns: job.time_most.map(|time| time.0),
        depth_asked_operations: job.depth_asked,
        depth_effective_operations: job.depth_effective,
        reaches: match job.reaches {
            Reaches::Device => "device",
            Reaches::ColdCache => "cold-cache",
            Reaches::WarmCache => "warm-cache",
            Reaches::Nothing => "nothing",
        },
        defaults,
    }
}

fn finding_view(finding: &Finding) -> FindingView<'_> {
    FindingView {
        severity: match finding.severity {
            Severity::Failure => "failure",
            Severity::Doubt => "doubt",
            Severity::Note => "note",
        },
        code: finding.code.name(),
        job: &finding.job,
        place: place_view(&finding.place),
        what: &finding.what,
        advice: &finding.advice,
    }
}
