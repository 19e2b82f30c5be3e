//! Series over time, as text, Markdown and JSON.

use stiction_analysis::history::{
    Course, CourseOptions, SeriesOptions, around, clock_doubts, course, series,
};
use stiction_core::{Annotation, AnnotationKind, Session};
use stiction_report::{
    Detail, HistoryList, Style, WIDTH, history, history_markdown, history_of_one, json,
};
use testkit::sessions::nights;

const MIB: f64 = 1_048_576.0;

/// Fifteen nights at 100 MiB/s and ten at 80, of which the first had another kernel.
fn stepped() -> Vec<Session> {
    let levels = [[100.0 * MIB; 15].as_slice(), &[80.0 * MIB; 10]].concat();
    let mut sessions = nights(&levels);
    for session in &mut sessions[15..] {
        let kernel = session.header.environment.kernel.as_mut().unwrap();
        kernel.release = "6.19.0".to_owned();
    }
    sessions
}

fn courses(sessions: &[Session], notes: &[Annotation]) -> Vec<Course> {
    let all = series(sessions, &SeriesOptions::default());
    let judge = |one| course(one, notes, &CourseOptions::default());
    all.into_iter().map(judge).collect()
}

fn listed(courses: &[Course], doubts: &[String]) -> String {
    let list = HistoryList {
        courses,
        sessions: 25,
        doubts,
        all: false,
    };
    history(&list, Style::Plain)
}

fn detail(sessions: &[Session], notes: &[Annotation]) -> String {
    let courses = courses(sessions, notes);
    let course = &courses[0];
    let changes = course.changes.iter();
    let around: Vec<_> = changes
        .map(|change| around(&course.series, change.at, sessions))
        .collect();
    let detail = Detail {
        course,
        around: &around,
        doubts: &[],
    };
    history_of_one(&detail, Style::Plain)
}

/// Everything follows from the rates: of 79.2 to 101 MiB/s, 79.2 is 0 and 101 is 9, so that
/// 100.3 is 9 * 21.1 / 21.8 = 8.7. The median of the 150 differences of logarithms is that
/// of -20.2 %.
#[test]
fn a_list_shows_the_course_and_where_it_changed() {
    let courses = courses(&stepped(), &[]);
    let text = listed(&courses, &[]);
    let lines: Vec<&str> = text.lines().collect();
    let id = courses[0].series.key.id();
    let entry = lines.iter().position(|line| line.contains(&id)).unwrap();
    assert_eq!(
        lines[entry],
        format!("X {id}  tiobench write rate, 4 threads{:>38}", "80.5 MiB/s")
    );
    let at = courses[0].series.points[15].session().tail();
    assert_eq!(
        lines[entry + 1],
        format!("           989988998999899|0001000001            changed -20.2 % at {at}")
    );
    assert_eq!(*lines.last().unwrap(), "1 changed for the worse");
}

#[test]
fn one_series_shows_its_levels_and_what_else_differed() {
    let sessions = stepped();
    let text = detail(&sessions, &[]);
    for words in [
        "tiobench write rate, 4 threads",
        "kernel.release: 6.18.1 -> 6.19.0",
        "worse, at 20021215-105913-f000",
        "the last before it is 20021214-105913-e000",
        "p .001 against points in random order",
        "15  100 MiB/s",
        "10 79.9 MiB/s",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    // Every plotted point is a star: 25, in 8 lines.
    assert_eq!(text.matches('*').count(), 25, "{text}");
    assert!(text.lines().last().unwrap().contains("changed -20.2 %"));
}

#[test]
fn a_note_is_shown_where_it_cuts() {
    let sessions = stepped();
    let note = Annotation {
        series: None,
        session: sessions[15].header.id.clone(),
        at: sessions[15].header.started,
        kind: AnnotationKind::Machine,
        why: "another disk".to_owned(),
    };
    let text = detail(&sessions, std::slice::from_ref(&note));
    let told = format!("machine at {}: another disk", note.session);
    assert!(text.contains(&told), "{text}");
    assert!(text.lines().last().unwrap().contains("steady"), "{text}");
    let list = listed(&courses(&sessions, &[note]), &[]);
    assert!(list.contains("989988998999899:"), "{list}");
}

#[test]
fn doubts_about_the_clock_come_first() {
    let mut sessions = stepped();
    let first = sessions[0].header.environment.kernel.clone();
    sessions[20].header.environment.kernel = first;
    let doubts = clock_doubts(&sessions);
    let text = listed(&courses(&sessions, &[]), &doubts);
    assert!(
        text.starts_with("! 20021220-105913-m000 is of a boot"),
        "{text}"
    );
}

/// A new store has a point or two of everything: a point is no course yet.
#[test]
fn single_points_are_counted_and_not_listed() {
    let one = listed(&courses(&stepped()[..1], &[]), &[]);
    assert_eq!(
        one,
        "1 more with too few points (--all lists every series)\n1 with too few points\n"
    );
    let two = listed(&courses(&stepped()[..2], &[]), &[]);
    assert!(two.contains("2 points"), "{two}");
}

/// All words of the answer are there, however many there are.
#[test]
fn the_answer_is_never_cut() {
    let levels = |level: f64| [[100.0 * MIB; 15].as_slice(), &[level * MIB]].concat();
    let all: Vec<Course> = [80.0, 120.0, 100.0]
        .iter()
        .flat_map(|&level| courses(&nights(&levels(level)), &[]))
        .chain(courses(&stepped(), &[]))
        .chain(courses(&stepped()[..1], &[]))
        .collect();
    let text = listed(&all, &[]);
    let answer = text.lines().rev().take(2).collect::<Vec<_>>();
    assert_eq!(
        format!("{} {}", answer[1], answer[0]),
        "1 changed for the worse, 1 flagged for the worse, 1 flagged for the better, 1 steady, \
         1 with too few points"
    );
}

#[test]
fn nothing_is_said_as_nothing() {
    assert_eq!(listed(&[], &[]), "No series in 25 sessions\n");
}

#[test]
fn lines_fit_whatever_the_names() {
    let mut sessions = stepped();
    for session in &mut sessions {
        let trial = &mut session.trials[0];
        trial.cell = trial.cell.clone().with("directory", "x".repeat(200));
        trial.phases[0].name = "a_phase_of_a_very_long_name_".repeat(4);
    }
    let courses = courses(&sessions, &[]);
    for text in [listed(&courses, &[]), detail(&sessions, &[])] {
        for line in text.lines() {
            assert!(line.len() <= WIDTH && line.is_ascii(), "{line}");
        }
    }
}

#[test]
fn markdown_is_one_table_with_as_many_cells_in_each_row() {
    let courses = courses(&stepped(), &[]);
    let list = HistoryList {
        courses: &courses,
        sessions: 25,
        doubts: &[],
        all: true,
    };
    let text = history_markdown(&list);
    assert!(text.starts_with("**1 changed for the worse**\n"), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!(row.matches('|').count(), 7, "{row}");
    }
}

#[test]
fn json_has_every_point_and_change() {
    let sessions = stepped();
    let courses = courses(&sessions, &[]);
    let around = vec![around(&courses[0].series, 15, &sessions)];
    let text = json::history(&[(&courses[0], &around)], 25, &[]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], "stiction-history");
    let one = &value["series"][0];
    assert_eq!(one["state"], "changed");
    assert_eq!(one["points"].as_array().unwrap().len(), 25);
    assert_eq!(one["stretches"][0]["points_count"], 15);
    let change = &one["changes"][0];
    assert_eq!(change["session"], sessions[15].header.id.as_str());
    assert_eq!(change["around"]["differs"][0]["after"], "6.19.0");
    let size = change["change_percent"].as_f64().unwrap();
    assert!((size + 20.0).abs() < 1.0, "{size}");
}
