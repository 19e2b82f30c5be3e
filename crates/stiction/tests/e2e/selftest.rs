//! `stiction selftest`: what it measures, and how it ends.

use crate::lab::{Lab, assert_fits, assert_says};

#[test]
fn properties_are_chosen_by_their_names_and_shown_case_by_case() {
    let lab = Lab::new();
    let asked = ["selftest", "stats", "--only", "STEADY", "--cases"];
    let text = lab.output(asked, 0);
    assert_fits(&text);
    assert_says(
        &text,
        &[
            "steady state declared too early",
            "25 rounds, noise 5%",
            "All 1 inside their bounds",
        ],
    );
    assert!(!text.contains("false alarms"), "{text}");
    assert_eq!(text, lab.output(asked, 0), "the seed is fixed");
}

#[test]
fn another_seed_gives_other_sessions() {
    let lab = Lab::new();
    let measured = |seed: &str| {
        let asked = ["selftest", "stats", "--only", "steady", "--seed", seed];
        lab.json(asked, 0)["properties"][0]["cases"].clone()
    };
    assert_ne!(measured("1"), measured("2"));
}

#[test]
fn a_property_that_is_not_there_is_refused() {
    let said = Lab::new().talk(["selftest", "stats", "--only", "luck"], 2);
    assert_says(&said, &["no property has `luck` in its name"]);
}
