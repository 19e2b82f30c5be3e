//! `stiction bonnie`.

use std::path::PathBuf;

use stiction_core::Session;
use stiction_report::Judged;
use stiction_report::bonnie::{
    Version, bonnie, bonnie_64, csv, html_plus_plus, html_row, is_shown, modern, plus_plus,
};
use stiction_suite::{Bonnie, Place};

use super::bonnie_options;
use super::meant::Meant;
use super::recorded::Recorded;
use crate::arguments::{BonnieArguments, BonnieClassic, BonnieLayout};
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size or a list of them that does not read.
pub(super) fn meant(typed: &BonnieArguments) -> Result<Meant, Failure> {
    let workload = Bonnie {
        options: bonnie_options::meant(typed)?,
    };
    let directory = typed.directory.as_ref().or(typed.directory_option.as_ref());
    let directory = directory.cloned().unwrap_or_else(|| PathBuf::from("."));
    let (classic, layout) = (typed.classic, typed.layout);
    let meant = Meant::new(
        workload,
        vec![Place::Directory(directory)],
        &typed.recording,
        command(typed),
        move |session, style| match (classic, layout) {
            (_, Some(layout)) => print(session, layout),
            (Some(program), None) => as_printed(session, program),
            (None, None) => modern(&Judged::examine(session), style),
        },
    );
    Ok(Meant {
        dumps_plan: typed.dump,
        ..meant
    })
}

/// A stored session in a classic layout.
///
/// # Errors
/// When the session has none of Bonnie's phases.
pub(super) fn classic_report(session: &Session, layout: BonnieLayout) -> Result<String, Failure> {
    if !is_shown(session) {
        return Err(
            Failure::new(format!("{} is not a bonnie session", session.header.id))
                .advise("Leave out --layout to see it in stiction's own."),
        );
    }
    Ok(print(session, layout))
}

fn print(session: &Session, layout: BonnieLayout) -> String {
    match layout {
        BonnieLayout::Bonnie => bonnie(session),
        BonnieLayout::Bonnie64 => bonnie_64(session),
        BonnieLayout::BonnieHtml => html_row(session),
        BonnieLayout::Text103e => plus_plus(session, Version::V103e),
        BonnieLayout::Text196 => plus_plus(session, Version::V196),
        BonnieLayout::Text200a => plus_plus(session, Version::V200a),
        BonnieLayout::Csv103e => csv(session, Version::V103e),
        BonnieLayout::Csv196 => csv(session, Version::V196),
        BonnieLayout::Csv200a => csv(session, Version::V200a),
        BonnieLayout::PlusPlusHtml => html_plus_plus(session),
    }
}

/// What the program prints by itself: its table, and behind it Bonnie++'s line.
fn as_printed(session: &Session, program: BonnieClassic) -> String {
    let with_line = |text, line| print(session, text) + &print(session, line);
    match program {
        BonnieClassic::Bonnie => print(session, BonnieLayout::Bonnie),
        BonnieClassic::Bonnie64 => print(session, BonnieLayout::Bonnie64),
        BonnieClassic::V103e => with_line(BonnieLayout::Text103e, BonnieLayout::Csv103e),
        BonnieClassic::V196 => with_line(BonnieLayout::Text196, BonnieLayout::Csv196),
        BonnieClassic::V200a => with_line(BonnieLayout::Text200a, BonnieLayout::Csv200a),
    }
}

/// The command as it is recorded: what was chosen, without the path.
fn command(typed: &BonnieArguments) -> Vec<String> {
    Recorded::new("bonnie")
        .choice("--classic", typed.classic.as_ref())
        .value("--size", typed.size.as_ref())
        .value("--chunk", typed.chunk)
        .value("--seeks", typed.seeks)
        .value("--seekers", typed.seekers)
        .value("--files", typed.files.as_ref())
        .value("--per-char", typed.per_char.as_ref())
        .value("--runs", typed.runs)
        .choices("--skip", &typed.skip)
        .value("--concurrency", typed.concurrency)
        .value("--machine", typed.machine.as_ref())
        .switch("--quick", typed.quick)
        .switch("--direct", typed.direct)
        .switch("--sync-each", typed.sync_each)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
