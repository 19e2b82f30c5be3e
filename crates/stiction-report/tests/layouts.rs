//! The layouts of a comparison: the one of two kernels that `build/matrix.rs` spells out.

mod build;
#[path = "build/matrix.rs"]
mod kernels;

use stiction_core::{Level, Metric, metrics};
use stiction_report::{
    JunitRules, Shown, Style, comparison, csv, json, junit, mail, mail_faults, markdown, osdl,
};

const SHORT: Shown = Shown {
    all: false,
    why: false,
};

#[test]
fn the_terminal_has_verdicts_first_and_the_worst_of_them_first() {
    let matrix = kernels::matrix();
    insta::assert_snapshot!("terminal", comparison(&matrix, SHORT, Style::Plain));
    let all = Shown { all: true, ..SHORT };
    insta::assert_snapshot!("terminal_all", comparison(&matrix, all, Style::Plain));
}

#[test]
fn a_mail_can_be_sent() {
    let text = mail(&kernels::matrix(), SHORT);
    assert_eq!(mail_faults(&text), []);
    insta::assert_snapshot!("mail", text);
}

#[test]
fn markdown_has_its_tables_in_fences() {
    insta::assert_snapshot!("markdown", markdown(&kernels::matrix(), SHORT));
}

/// The reader of the posts of 2003 finds in it what was put in: two decimals of each.
#[test]
fn the_table_of_2003_reads_back() {
    let text = osdl(&kernels::matrix());
    insta::assert_snapshot!("osdl", text);
    let read = stiction_formats::read(&text);
    let trials = &read.sessions[0].trials;
    let found = |place: usize, metric: &Metric| trials[place].phases[0].value(metric);
    assert_eq!(trials.len(), 3);
    assert_eq!(found(0, &metrics::CHANGE_AVERAGE), Some(0.0));
    assert_eq!(found(2, &metrics::CHANGE_LOWEST), Some(-67.1));
    assert_eq!(found(2, &metrics::CHANGE_HIGHEST), Some(-0.3));
    assert_eq!(found(2, &metrics::CHANGE_AVERAGE), Some(-24.88));
    assert_eq!(
        trials[2].cell.get("kernel"),
        Some(&Level::Text("6.10-rc2".to_owned()))
    );
}

#[test]
fn documents() {
    let matrix = kernels::matrix();
    insta::assert_snapshot!("junit", junit(&matrix, JunitRules::default()));
    insta::assert_snapshot!("csv", csv(&matrix));
    insta::assert_snapshot!("json", json::comparison(&matrix));
}
