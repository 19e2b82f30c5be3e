//! `stiction bonnie`.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use stiction_core::Session;
use stiction_host::observe_environment;
use stiction_report::bonnie::{
    Version, bonnie, bonnie_64, csv, html_plus_plus, html_row, is_shown, modern, plus_plus,
};
use stiction_report::{Judged, json};
use stiction_suite::{Bonnie, Place, Workload as _};

use super::{Desk, bonnie_options, measure};
use crate::arguments::{BonnieArguments, BonnieClassic, BonnieLayout};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::Talk;

/// Measures and prints, or prints the plan alone.
pub(super) fn run(typed: &BonnieArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let workload = Bonnie {
        options: bonnie_options::meant(typed)?,
    };
    let directory = typed.directory.as_ref().or(typed.directory_option.as_ref());
    let places = [Place::Directory(
        directory.cloned().unwrap_or_else(|| PathBuf::from(".")),
    )];
    if typed.dump {
        return dump(&workload, &places, typed, desk);
    }
    let measured = measure::run(
        &workload,
        &places,
        &typed.recording,
        command(typed),
        Talk::default(),
        desk,
    )?;
    let session = &measured.session;
    let text = match (typed.classic, typed.layout) {
        _ if desk.console.json => json::session(&Judged::examine(session)),
        (_, Some(layout)) => print(session, layout),
        (Some(program), None) => as_printed(session, program),
        (None, None) => modern(&Judged::examine(session), desk.console.style()),
    };
    measured.conclude(&text, desk)
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

/// Prints the plan with every choice made.
fn dump(
    workload: &Bonnie,
    places: &[Place],
    typed: &BonnieArguments,
    desk: &Desk<'_>,
) -> Result<Exit, Failure> {
    let paths: Vec<&Path> = places.iter().map(Place::path).collect();
    let facts = measure::facts(&typed.recording);
    let environment = observe_environment(&paths, measure::this_tool(), facts);
    let plan = workload.plan(measure::seed(&typed.recording)?, &environment)?;
    desk.console.data(&serde_json::to_string_pretty(&plan)?)?;
    Ok(Exit::Done)
}

/// The command as it is recorded: what was chosen, without the path.
fn command(typed: &BonnieArguments) -> Vec<String> {
    let mut words = vec!["stiction".to_owned(), "bonnie".to_owned()];
    let word = |value: Option<clap::builder::PossibleValue>| {
        value.map(|value| value.get_name().to_owned())
    };
    let skip: Vec<String> = typed
        .skip
        .iter()
        .filter_map(|phase| word(phase.to_possible_value()))
        .collect();
    let values = [
        (
            "--classic",
            typed
                .classic
                .and_then(|program| word(program.to_possible_value())),
        ),
        ("--size", typed.size.clone()),
        ("--chunk", typed.chunk.map(|bytes| bytes.to_string())),
        ("--seeks", typed.seeks.map(|count| count.to_string())),
        ("--seekers", typed.seekers.map(|count| count.to_string())),
        ("--files", typed.files.clone()),
        ("--per-char", typed.per_char.clone()),
        ("--runs", typed.runs.map(|count| count.to_string())),
        ("--skip", (!skip.is_empty()).then(|| skip.join(","))),
        (
            "--concurrency",
            typed.concurrency.map(|count| count.to_string()),
        ),
        ("--machine", typed.machine.clone()),
    ];
    words.extend(
        values
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", value?))),
    );
    let switches = [
        ("--quick", typed.quick),
        ("--direct", typed.direct),
        ("--sync-each", typed.sync_each),
        ("--may-fill", typed.recording.may_fill),
    ];
    let on = switches.iter().filter(|(_, on)| *on);
    words.extend(on.map(|(word, _)| (*word).to_owned()));
    words
}
