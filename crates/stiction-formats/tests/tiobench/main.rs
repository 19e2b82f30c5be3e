//! tiobench's reports in every layout, whole and as mail leaves them.

mod layouts;
mod mail;
mod old;

use stiction_core::{Metric, Phase, Trial, metrics};
use stiction_formats::{Imported, ImportedSession, read};

const MIB: f64 = 1_048_576.0;

/// The report of the 0.3.3 release for two thread counts.
const V0_3_3: &str = "\
Unit information
================
File size = megabytes
Blk Size  = bytes
Rate      = megabytes per second
CPU%      = percentage of CPU used during the test
Latency   = milliseconds
Lat%      = percent of requests that took longer than X seconds
CPU Eff   = Rate divided by CPU% - throughput per cpu load

Sequential Reads
                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU
Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff
---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----
2.5.62                        252   4096    1   40.00 20.00%     0.097      241.36   0.00000  0.00000   200
2.5.62                        252   4096   10    7.93 4.271%     4.146     2841.36   0.00000  0.00000   186

Random Writes
                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU
Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff
---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----
2.5.62                        252   4096    1    0.73 0.471%     0.010        0.16   0.00000  0.00000   155
2.5.62                        252   4096   10    0.93 34.27%     0.438     2841.36   0.02500  0.00000     3
";

fn session(text: &str) -> ImportedSession {
    let Imported {
        mut sessions,
        unread,
        ..
    } = read(text);
    assert_eq!(unread, [], "every line is read");
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

fn trial<'a>(session: &'a ImportedSession, cell: &str) -> &'a Trial {
    let found = session
        .trials
        .iter()
        .find(|trial| trial.cell.to_string() == cell);
    found.unwrap_or_else(|| panic!("{cell} in {:#?}", session.trials))
}

fn value(phase: &Phase, metric: &Metric) -> f64 {
    phase
        .value(metric)
        .unwrap_or_else(|| panic!("{} of {phase:?}", metric.name))
}

/// Rate in MB/s, mean latency in ms, CPU share, CPU Eff.
fn four(phase: &Phase) -> [f64; 4] {
    [
        value(phase, &metrics::RATE) / MIB,
        value(phase, &metrics::LATENCY_MEAN) / 1e6,
        value(phase, &metrics::CPU_PERCENT),
        value(phase, &metrics::CPU_EFFICIENCY) / MIB,
    ]
}

#[track_caller]
fn assert_close(got: &[f64], wanted: &[f64]) {
    let is_close = |(got, wanted): (&f64, &f64)| (got - wanted).abs() <= wanted.abs() * 1e-9;
    assert!(
        got.len() == wanted.len() && got.iter().zip(wanted).all(is_close),
        "{got:?} is not {wanted:?}"
    );
}
