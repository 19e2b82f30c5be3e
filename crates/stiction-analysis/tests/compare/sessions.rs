//! Sessions for comparisons, made from a few figures.

use stiction_core::{
    Cell, Environment, Measurement, Metric, Phase, PhaseKind, Plan, Provenance,
    RECORD_FORMAT_VERSION, Seed, Session, SessionHeader, SessionId, Trial, metrics,
};

/// A measured session of the workload `tiobench` without trials.
pub(crate) fn measured(number: u64) -> Session {
    let started: jiff::Timestamp = "2002-11-30T10:59:12Z".parse().expect("a time");
    Session {
        header: SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, number),
            started,
            label: None,
            command: Vec::new(),
            provenance: Provenance::Measured,
            plan: Some(Plan {
                workload: "tiobench".to_owned(),
                parameters: serde_json::json!({"seed": number, "threads": [8]}),
                seed: Seed(number),
                preparation: stiction_core::Preparation::default(),
                trials: Vec::new(),
            }),
            environment: Environment::default(),
            caveats: Vec::new(),
            invocation: None,
        },
        trials: Vec::new(),
        end: None,
        resumptions: Vec::new(),
    }
}

/// An imported session of `layout` without trials.
pub(crate) fn imported(number: u64, layout: &str) -> Session {
    let mut session = measured(number);
    session.header.plan = None;
    session.header.provenance = Provenance::Imported {
        file: "mail.txt".to_owned(),
        layout: layout.to_owned(),
    };
    session
}

/// A trial with one phase `read` of that rate.
pub(crate) fn read_at(cell: Cell, rate: f64) -> Trial {
    with(cell, "read", vec![Measurement::new(metrics::RATE, rate, 1)])
}

/// A trial with one phase.
pub(crate) fn with(cell: Cell, phase: &str, measurements: Vec<Measurement>) -> Trial {
    let phase = Phase {
        measurements,
        ..Phase::new(phase, PhaseKind::Measure)
    };
    Trial {
        phases: vec![phase],
        ..Trial::new(cell, 0)
    }
}

/// A figure as it was printed.
pub(crate) fn printed(metric: Metric, text: &str) -> Measurement {
    let digits = text.trim_end_matches('%');
    let value = digits.parse().expect("a number");
    Measurement::imported(metric, value, 1, text)
}

/// One cell of 8 threads.
pub(crate) fn cell() -> Cell {
    Cell::new().with("threads", 8u32)
}
