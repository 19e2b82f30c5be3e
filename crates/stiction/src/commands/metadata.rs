//! `stiction metadata`.

use stiction_report::{Judged, json, metadata};
use stiction_suite::metadata::SyncStyle;
use stiction_suite::{Metadata, MetadataOptions, Place};

use super::recorded::Recorded;
use super::sizes::optional_bytes;
use super::{Desk, measure};
use crate::arguments::MetadataArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::Talk;

/// Measures and prints.
pub(super) fn run(typed: &MetadataArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let workload = Metadata {
        options: meant(typed)?,
    };
    let places = [Place::Directory(typed.directory.clone())];
    let measured = measure::run(
        &workload,
        &places,
        &typed.recording,
        command(typed),
        Talk::default(),
        desk,
    )?;
    let judged = Judged::examine(&measured.session);
    let text = if desk.console.json {
        json::session(&judged)
    } else {
        metadata(&judged, desk.console.style())
    };
    measured.conclude(&text, desk)
}

/// What the words mean.
fn meant(typed: &MetadataArguments) -> Result<MetadataOptions, Failure> {
    Ok(MetadataOptions {
        files: typed.files,
        file_bytes: optional_bytes(typed.size.as_ref(), 1)?,
        workers: typed.threads,
        depth: typed.depth,
        branch: typed.branch,
        leaves: typed.leaves,
        shared: typed.shared,
        shift: typed.shift,
        sync: SyncStyle::ALL
            .into_iter()
            .find(|style| style.number() == typed.sync)
            .unwrap_or_default(),
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    })
}

fn command(typed: &MetadataArguments) -> Vec<String> {
    Recorded::new("metadata")
        .switch("--quick", typed.quick)
        .value("--files", typed.files)
        .value("--size", typed.size.as_ref())
        .value("--runs", typed.runs)
        .value("--threads", typed.threads)
        .value("--depth", typed.depth)
        .value("--branch", typed.branch)
        .switch("--leaves", typed.leaves)
        .switch("--shared", typed.shared)
        .value("--shift", (typed.shift > 0).then_some(typed.shift))
        .value("--sync", (typed.sync > 0).then_some(typed.sync))
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
