//! Sessions as a store gives them, through series to what they came to.

use super::*;
use crate::history::{Key, PointUnit, SeriesOptions, series};
use stiction_core::{
    AnnotationKind, Cell, Digest, Measurement, Metric, Phase, PhaseKind, Session, Trial,
    TrialOutcome, metrics,
};
use testkit::sessions::{nightly as session, nights as sessions};

fn trial(metric: Metric, value: f64) -> Trial {
    let mut phase = Phase::new("write", PhaseKind::Measure);
    phase.measurements = vec![Measurement::new(metric, value, 1)];
    Trial {
        phases: vec![phase],
        ..Trial::new(Cell::new().with("threads", 4u32), 0)
    }
}

fn only(sessions: &[Session], options: &SeriesOptions) -> Series {
    let mut all = series(sessions, options);
    assert_eq!(
        all.len(),
        1,
        "{:?}",
        all.iter().map(|s| &s.key).collect::<Vec<_>>()
    );
    all.remove(0)
}

fn judge(sessions: &[Session], annotations: &[Annotation]) -> Course {
    let one = only(sessions, &SeriesOptions::default());
    course(one, annotations, &CourseOptions::default())
}

fn annotation(at: &Session, series: Option<&Key>) -> Annotation {
    Annotation {
        series: series.map(Key::id),
        session: at.header.id.clone(),
        at: at.header.started,
        kind: AnnotationKind::Accepted,
        why: "a new default".to_owned(),
    }
}

#[test]
fn a_step_is_a_change_with_its_size_and_place() {
    let sessions = sessions(&[[100.0; 15], [80.0; 15]].concat());
    let course = judge(&sessions, &[]);
    assert_eq!(course.state, State::Changed);
    assert_eq!(course.changes.len(), 1);
    let change = &course.changes[0];
    assert_eq!(change.at, 15);
    assert!((change.size + 0.2).abs() < 0.01, "{change:?}");
    let (lowest, highest) = change.interval.unwrap();
    assert!(lowest < -0.2 && -0.2 < highest, "{change:?}");
    assert_eq!(change.is_worse, Some(true));
    let levels: Vec<_> = course.stretches.iter().map(|s| s.points.clone()).collect();
    assert_eq!(levels, [0..15, 15..30]);
    assert!((course.stretches[1].level.unwrap() - 80.0).abs() < 0.5);
}

/// Of a steady 1 % of noise a change of 1.5 % can be found, and does not count.
#[test]
fn a_change_below_the_effect_of_interest_is_not_told() {
    let sessions = sessions(&[[100.0; 30], [98.2; 30]].concat());
    let course = judge(&sessions, &[]);
    assert_eq!(course.state, State::Steady);
    assert_eq!((course.changes.len(), course.smaller), (0, 1));
    assert_eq!(course.stretches.len(), 1);
}

/// 2 % and 2 % come to 4 %, which is more than 3 %.
#[test]
fn small_steps_that_add_up_are_told_as_one() {
    let sessions = sessions(&[[100.0; 30], [98.0; 30], [96.0; 30]].concat());
    let course = judge(&sessions, &[]);
    assert_eq!(course.state, State::Changed);
    assert_eq!((course.changes.len(), course.smaller), (1, 1));
    let size = course.changes[0].size;
    assert!((-0.042..-0.025).contains(&size), "{size}");
}

#[test]
fn an_annotation_cuts_its_series_and_no_other() {
    let sessions = sessions(&[[100.0; 15], [80.0; 15]].concat());
    let key = only(&sessions, &SeriesOptions::default()).key;
    let accepted = annotation(&sessions[15], Some(&key));
    let course = judge(&sessions, std::slice::from_ref(&accepted));
    assert_eq!(course.state, State::Steady);
    assert_eq!(
        course.cuts,
        [SeriesCut {
            at: 15,
            annotation: accepted.clone()
        }]
    );
    assert!(course.changes.is_empty());
    assert_eq!(course.stretches.len(), 2);
    let every = annotation(&sessions[15], None);
    assert_eq!(judge(&sessions, &[every]).state, State::Steady);
    let other = Annotation {
        series: Some("00000000".to_owned()),
        ..accepted.clone()
    };
    assert_eq!(judge(&sessions, &[other]).state, State::Changed);
    // The session that it names has been deleted since.
    let mut without = sessions.clone();
    without.remove(15);
    let course = judge(&without, &[accepted]);
    assert_eq!((course.state, course.cuts[0].at), (State::Steady, 15));
}

#[test]
fn the_newest_point_is_flagged_then_provisional_then_a_change() {
    let with = |newest: usize| {
        judge(
            &sessions(&[vec![100.0; 20], vec![70.0; newest]].concat()),
            &[],
        )
    };
    assert_eq!(with(0).state, State::Steady);
    let one = with(1);
    assert_eq!(one.state, State::Flagged);
    let flag = one.flag.unwrap();
    assert!(
        flag.expected.0 > 95.0 && flag.expected.1 < 105.0,
        "{flag:?}"
    );
    assert_eq!(flag.is_worse, Some(true));
    assert_eq!(with(2).state, State::Flagged);
    assert_eq!(with(3).state, State::Provisional);
    assert_eq!(with(5).state, State::Changed);
}

#[test]
fn one_point_and_equal_points_are_no_change() {
    assert_eq!(judge(&sessions(&[100.0]), &[]).state, State::TooFew);
    let equal: Vec<Session> = (0..30).map(|n| session(n, 5.0)).collect();
    let course = judge(&equal, &[]);
    assert_eq!((course.state, course.changes.len()), (State::Steady, 0));
    assert_eq!(course.serial_correlation, 0.0);
}

/// Two levels in turn are two modes and no change.
#[test]
fn two_modes_are_no_change() {
    let levels: Vec<f64> = (0..40u32)
        .map(|n| if n * 7 % 10 < 3 { 60.0 } else { 100.0 })
        .collect();
    let course = judge(&sessions(&levels), &[]);
    assert_eq!(course.state, State::Steady);
}

/// 100 and 400 in one boot are one point of 200: the mean of their logarithms.
#[test]
fn runs_of_one_boot_are_one_point() {
    let mut sessions: Vec<Session> = [100.0, 400.0, 300.0, 300.0]
        .into_iter()
        .zip(0..)
        .map(|(rate, n)| session(n, rate))
        .collect();
    let boots = ["a", "a", "b", "c"];
    for (session, boot) in sessions.iter_mut().zip(boots) {
        let kernel = session.header.environment.kernel.as_mut().unwrap();
        kernel.boot = Some(Digest::of(boot.as_bytes()));
    }
    let values = |options: &SeriesOptions| -> Vec<(f64, usize)> {
        let points = only(&sessions, options).points;
        points
            .iter()
            .map(|p| (p.value.unwrap().round(), p.runs))
            .collect()
    };
    let by_boot = values(&SeriesOptions::default());
    assert_eq!(by_boot, [(200.0, 2), (300.0, 1), (300.0, 1)]);
    let by_session = values(&SeriesOptions {
        unit: PointUnit::Session,
        ..SeriesOptions::default()
    });
    assert_eq!(by_session.len(), 4);
    // Another label in the same boot is another thing measured.
    sessions[1].header.label = Some("patched".to_owned());
    assert_eq!(only(&sessions, &SeriesOptions::default()).points.len(), 4);
}

#[test]
fn labels_can_give_the_order() {
    let mut sessions: Vec<Session> = (0..4).map(|n| session(n, 10.0 * (n + 1) as f64)).collect();
    let labels = ["cccccccc", "aaaaaaa1", "unknown", "bbbbbbbb"];
    for (session, label) in sessions.iter_mut().zip(labels) {
        session.header.label = Some(label.to_owned());
    }
    let options = SeriesOptions {
        order: Some(vec![
            "aaaaaaa1ffff".to_owned(),
            "bbbbbbbb".to_owned(),
            "cccccccc".to_owned(),
        ]),
        ..SeriesOptions::default()
    };
    let one = only(&sessions, &options);
    let values: Vec<f64> = one
        .points
        .iter()
        .map(|p| p.value.unwrap().round())
        .collect();
    assert_eq!(values, [20.0, 40.0, 10.0]);
    assert_eq!(one.unplaced, 1);
}

#[test]
fn what_failed_or_is_zero_has_no_value_and_is_said() {
    let mut sessions = sessions(&[100.0; 12]);
    sessions[3].trials = vec![trial(metrics::RATE, 0.0)];
    let failed = &mut sessions[11].trials[0];
    failed.phases.clear();
    failed.outcome = TrialOutcome::Failed {
        message: "EIO".to_owned(),
    };
    let course = judge(&sessions, &[]);
    assert_eq!(course.state, State::Failed);
    let points = &course.series.points;
    assert_eq!(points.len(), 12);
    assert!(
        points[3].failures[0].contains("no logarithm"),
        "{:?}",
        points[3]
    );
    assert!(points[11].failures[0].contains("EIO"), "{:?}", points[11]);
    assert_eq!((points[3].value, points[11].value), (None, None));
}

#[test]
fn other_units_and_other_versions_are_other_series() {
    let mut sessions = sessions(&[100.0; 6]);
    sessions[1].trials = vec![trial(metrics::ELAPSED, 100.0)];
    sessions[2].header.environment.tool.version = "0.0.1".to_owned();
    let all = series(&sessions, &SeriesOptions::default());
    let mut counts: Vec<usize> = all.iter().map(|series| series.points.len()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 1, 4]);
}

/// Of a phase's figures those that are described have no series, and the first is the main.
#[test]
fn one_figure_of_a_phase_is_the_main_one() {
    let mut session = session(0, 100.0);
    let figures = &mut session.trials[0].phases[0].measurements;
    figures.push(Measurement::new(metrics::LATENCY_P99, 5.0, 1));
    figures.push(Measurement::new(metrics::LATENCY_MAX, 9.0, 1));
    let all = series(&[session], &SeriesOptions::default());
    let names: Vec<_> = all
        .iter()
        .map(|s| (s.key.metric.name.as_ref(), s.is_main))
        .collect();
    assert_eq!(
        names,
        [("rate_bytes_per_s", true), ("latency_ns_p99", false)]
    );
}

#[test]
fn every_state_has_its_word() {
    let words: std::collections::BTreeSet<_> = State::ALL.iter().map(|s| s.as_str()).collect();
    assert_eq!(words.len(), State::ALL.len());
}
