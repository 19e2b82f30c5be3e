//! curve on real files.

use std::path::Path;
use std::time::Duration;

use stiction_core::{
    Action, BackendKind, Direction, LoopKind, Phase, PhaseKind, PhaseOutcome, Seed, TrialOutcome,
    metrics,
};
use stiction_engine::StopFlag;
use stiction_suite::curve::MAXIMUM;
use stiction_suite::{Curve, CurveOptions, EngineWanted, Place, SuiteError, Workload as _};
use testkit::{FaultFs, Faults};

use crate::stage::{Played, assert_empty, environment, perform, play_and, value};

const MIB: u64 = 1 << 20;

/// Seconds and a little file.
fn options() -> CurveOptions {
    CurveOptions {
        points: Some(2),
        seconds: Some(1),
        depth_max: 8,
        size_bytes: Some(4 * MIB),
        ..CurveOptions::default()
    }
}

/// Plans it with rates of a tenth of a second, and runs it.
fn plot(options: CurveOptions, directory: &Path) -> Played {
    let workload = Curve { options };
    let machine = environment(&[directory]);
    let mut plan = workload.plan(Seed(42), &machine).unwrap();
    plan.parameters["point_ns"] = 100_000_000.into();
    plan.parameters["ramp_ns"] = 10_000_000.into();
    plan.parameters["interval_ns"] = 10_000_000.into();
    let places = [Place::Directory(directory.to_owned())];
    perform(&workload, &plan, &places, &machine, &StopFlag::new())
}

fn rates(played: &Played) -> Vec<&Phase> {
    let phases = played.only().iter();
    phases
        .filter(|phase| phase.name.starts_with("rate_"))
        .collect()
}

#[test]
fn a_closed_loop_then_open_ones_until_one_breaks_and_nothing_is_left() {
    let folder = testkit::scratch_folder();
    // Nothing is as fast as that, so the first rate breaks, and three halves of it.
    let options = CurveOptions {
        limit: Some("p50=1ns".parse().unwrap()),
        ..options()
    };
    let played = plot(options, folder.path());
    let phases = played.only();
    assert_eq!(phases[0].name, "lay_down");
    assert_eq!(phases[0].kind, PhaseKind::LayDown);
    assert_eq!(value(&phases[0], &metrics::BYTES) as u64, 4 * MIB);
    assert_eq!(phases[1].name, MAXIMUM);
    assert_eq!(phases[1].job.as_ref().unwrap().pace, None);
    assert_eq!(phases.len(), 2 + 4);
    for phase in rates(&played) {
        assert_eq!(phase.outcome, PhaseOutcome::Completed, "{phase:#?}");
        let job = phase.job.as_ref().unwrap();
        assert_eq!(job.pace.unwrap().kind, LoopKind::Open);
        // The first 10 ms are warm-up.
        let left_out_s = phase.elapsed_ns as f64 / 1e9 - value(phase, &metrics::ELAPSED);
        assert!((left_out_s - 0.01).abs() < 1e-9, "{left_out_s}");
        assert!(value(phase, &metrics::ASKED_OPERATIONS) > 0.0);
        assert!(value(phase, &metrics::LATENESS_MEAN) >= 0.0);
        let late = phase.recordings.iter();
        assert!(late.clone().any(|one| one.direction == Direction::Lateness));
        assert!(phase.notes.iter().any(|note| note.starts_with("engine: ")));
        assert!(phase.notes.iter().any(|note| note.contains("open loop")));
    }
    let at = |phase: &Phase| phase.name.clone();
    assert_ne!(at(rates(&played)[0]), at(rates(&played)[1]));
    assert_empty(folder.path());
}

/// Reads that take 5 ms each, 4 of them at a time at best: 800 a second, and an open loop
/// at 1.6 times what the closed one reached falls behind.
#[test]
fn root_a_slow_target_is_found_out() {
    testkit::require_root!();
    let target = FaultFs::mount(Faults {
        delay: Duration::from_millis(5),
        ..Faults::default()
    })
    .unwrap();
    let options = CurveOptions {
        depth_max: 4,
        engine: EngineWanted::Psync,
        size_bytes: Some(MIB),
        ..options()
    };
    let played = plot(options, target.path());
    let maximum = value(played.phase(MAXIMUM), &metrics::OPERATION_RATE);
    // The 4 in flight when the warm-up ends are counted too.
    assert!(maximum <= 800.0 * 1.05, "{maximum}");
    for phase in rates(&played) {
        assert_eq!(phase.job.as_ref().unwrap().backend, BackendKind::Psync);
        assert!(value(phase, &metrics::LATENCY_MEAN) >= 5e6);
        assert!(value(phase, &metrics::OPERATION_RATE) <= 800.0 * 1.05);
    }
    let kept = |phase: &Phase| value(phase, &metrics::DONE_OVER_ASKED);
    let fell = rates(&played).iter().any(|phase| kept(phase) < 0.98);
    assert!(fell, "no rate broke");
}

#[test]
fn a_stop_ends_it_and_what_was_made_is_gone() {
    let folder = testkit::scratch_folder();
    let options = options();
    let played = play_and(&Curve { options }, folder.path(), MAXIMUM, StopFlag::raise);
    assert_eq!(*played.outcome(), TrialOutcome::Interrupted);
    assert_empty(folder.path());
}

#[test]
fn options_that_make_no_curve_are_refused() {
    let folder = testkit::scratch_folder();
    let machine = environment(&[folder.path()]);
    let refusal = |options: CurveOptions| {
        let planned = Curve { options }.plan(Seed(1), &machine);
        match planned.unwrap_err() {
            SuiteError::Option { option, .. } => option,
            other => panic!("{other}"),
        }
    };
    let base = options();
    for (options, name) in [
        (
            CurveOptions {
                points: Some(1),
                ..base.clone()
            },
            "points",
        ),
        (
            CurveOptions {
                seconds: Some(0),
                ..base.clone()
            },
            "seconds",
        ),
        (
            CurveOptions {
                depth_max: 0,
                ..base.clone()
            },
            "depth-max",
        ),
        (
            CurveOptions {
                runs: 0,
                ..base.clone()
            },
            "runs",
        ),
        (
            CurveOptions {
                block_size_bytes: 511,
                ..base.clone()
            },
            "bs",
        ),
        (
            CurveOptions {
                block_size_bytes: MIB,
                ..base.clone()
            },
            "bs",
        ),
        (
            CurveOptions {
                action: Action::Trim,
                ..base.clone()
            },
            "rw",
        ),
    ] {
        assert_eq!(refusal(options), name);
    }
    let plan = Curve {
        options: CurveOptions { runs: 3, ..base },
    }
    .plan(Seed(1), &machine)
    .unwrap();
    assert_eq!(plan.trials.len(), 3);
    assert_empty(folder.path());
}

#[test]
fn a_quick_one_has_fewer_points_for_less_time_and_what_is_asked_for_stands() {
    let folder = testkit::scratch_folder();
    let machine = environment(&[folder.path()]);
    let planned = |options| {
        let plan = Curve { options }.plan(Seed(1), &machine).unwrap();
        let number = |name: &str| plan.parameters[name].as_u64().unwrap();
        (
            number("points"),
            number("point_ns"),
            number("file_size_bytes") <= 256 * MIB,
        )
    };
    let quick = CurveOptions {
        quick: true,
        ..CurveOptions::default()
    };
    assert_eq!(planned(quick.clone()), (4, 1_000_000_000, true));
    let asked = CurveOptions {
        points: Some(6),
        ..quick
    };
    assert_eq!(planned(asked), (6, 1_000_000_000, true));
    assert_eq!(planned(CurveOptions::default()).0, 8);
}
