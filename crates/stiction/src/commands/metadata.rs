//! `stiction metadata`.

use stiction_report::{Judged, metadata};
use stiction_suite::metadata::SyncStyle;
use stiction_suite::{Metadata, MetadataOptions, Place};

use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::optional_bytes;
use crate::arguments::MetadataArguments;
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size that does not read.
pub(super) fn meant(typed: &MetadataArguments) -> Result<Meant, Failure> {
    Ok(Meant::new(
        Metadata {
            options: options(typed)?,
        },
        vec![Place::Directory(typed.directory.clone())],
        &typed.recording,
        command(typed),
        |session, style| metadata(&Judged::examine(session), style),
    ))
}

fn options(typed: &MetadataArguments) -> Result<MetadataOptions, Failure> {
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
