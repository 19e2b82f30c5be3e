//! Doubts about a session as a whole: how often, in which order, and by which clock.

use std::collections::BTreeMap;

use stiction_core::{
    Caveat, CaveatCode, Cell, Phase, Provenance, Session, Trial, format_duration_ns,
};

/// By so much the wall clock may fall behind the steady one: adjustments of a clock that
/// runs free are far below, and a leap second is just this.
const BEHIND_NS: i128 = 1_000_000_000;

/// What was stored with the session, then what follows from its trials; one of each code.
#[must_use]
pub fn examine_session(session: &Session) -> Vec<Caveat> {
    let mut caveats = session.header.caveats.clone();
    if session.header.provenance == Provenance::Measured {
        let all = [
            single_run(session),
            not_interleaved(session),
            stepped_clock(session),
        ];
        for doubt in all.into_iter().flatten() {
            if caveats.iter().all(|caveat| caveat.code != doubt.code) {
                caveats.push(doubt);
            }
        }
    }
    caveats
}

/// The trials that came to numbers, by cell: their places in the order of time.
fn places_of_cells(session: &Session) -> BTreeMap<&Cell, Vec<usize>> {
    let mut places: BTreeMap<&Cell, Vec<usize>> = BTreeMap::new();
    let counted = |trial: &&Trial| trial.phases.iter().any(Phase::has_numbers);
    for (place, trial) in session.trials.iter().filter(counted).enumerate() {
        places.entry(&trial.cell).or_default().push(place);
    }
    places
}

fn single_run(session: &Session) -> Option<Caveat> {
    let cells = places_of_cells(session);
    let once = !cells.is_empty() && cells.values().all(|places| places.len() == 1);
    once.then(|| {
        let what = match cells.len() {
            1 => "1 run".to_owned(),
            count => format!("1 run of each of {count} cells"),
        };
        let detail = format!("{what}: how far another would be from it is not known");
        Caveat::new(CaveatCode::SingleRun, detail)
    })
}

/// The runs of each cell stand together, as they do without blocks.
fn not_interleaved(session: &Session) -> Option<Caveat> {
    let cells = places_of_cells(session);
    let repeated = cells.values().filter(|places| places.len() > 1);
    let together = |places: &Vec<usize>| places[places.len() - 1] - places[0] + 1 == places.len();
    let batched = cells.len() > 1 && cells.values().all(together);
    let runs = repeated.map(Vec::len).max()?;
    batched.then(|| {
        let detail = format!(
            "the {runs} runs of a cell followed each other, one cell after another ({} cells)",
            cells.len()
        );
        Caveat::new(CaveatCode::NotInterleaved, detail)
    })
}

/// The wall clock against the one that nobody sets. Only the first tells when a session was,
/// and in which order sessions were.
fn stepped_clock(session: &Session) -> Option<Caveat> {
    let end = session.end.as_ref()?;
    let wall_ns = end.at.as_nanosecond() - session.header.started.as_nanosecond();
    let phases = session.trials.iter().flat_map(|trial| &trial.phases);
    let ends = phases.map(|phase| phase.start_ns.saturating_add(phase.elapsed_ns));
    let worked_ns = i128::from(ends.max()?);
    let behind_ns = worked_ns - wall_ns;
    if behind_ns <= BEHIND_NS {
        return None;
    }
    let detail = format!(
        "by the wall clock the session took {} less than until the end of its last phase by the \
         monotonic one: the wall clock was set back meanwhile",
        format_duration_ns(behind_ns as f64)
    );
    Some(Caveat::new(CaveatCode::CoarseClock, detail))
}
