//! How much is watched, and what is shown of it.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;
use testkit::{LoopFilesystem, LoopKind};

use crate::counters::phase;
use crate::lab::{Lab, assert_fits, assert_says, squeezed, words};

const MIB: u64 = 1 << 20;

/// Work for each CPU until it is dropped: of requests that complete on a CPU that is idle
/// there are kernels that record nothing.
struct Awake(Arc<AtomicBool>);

impl Awake {
    fn all_cpus() -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            let ends = Arc::clone(&ends);
            thread::spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(ends)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Everything is recorded, shown, and printed in forms that other programs read.
#[test]
fn root_all_that_is_recorded_can_be_seen() {
    testkit::require_root!();
    let awake = Awake::all_cpus();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 128 * MIB);
    let lab = Lab::new();
    let report = lab.json(
        words([
            &"ioping",
            &"--witness=full",
            &"--count=30",
            &"--file-size=16M",
            &"--interval=1ms",
            &filesystem.path(),
        ]),
        0,
    );
    drop(awake);
    let requests = &phase(&report, "requests")["witnesses"];
    assert_eq!(requests["level"], "full");
    let trace = &requests["block_traces"][0];
    assert_eq!(trace["device"], filesystem.device().name());
    assert_eq!(trace["source"], "requests");
    let kinds = trace["kinds"].as_array().expect("kinds");
    let reads = kinds
        .iter()
        .find(|kind| kind["kind"] == "read")
        .expect("reads");
    let counted = requests["devices"][0]["reads"].as_u64();
    assert_eq!(reads["all"]["requests"].as_u64(), counted, "{requests:#}");
    assert!(counted >= Some(30), "{requests:#}");
    let costs = requests["costs"].as_array().expect("costs");
    let names: Vec<&str> = costs
        .iter()
        .filter_map(|cost| cost["witness"].as_str())
        .collect();
    assert!(
        names.contains(&"events") && names.contains(&"counters"),
        "{names:?}"
    );

    let shown = lab.output(words([&"show"]), 0);
    assert_fits(&shown);
    let name = filesystem.device().name();
    assert_says(
        &squeezed(&shown),
        &[
            &format!("requests {name}: "),
            "reads, p50",
            "4 KiB each",
            &format!("in hand {name}: "),
            "samples (997 Hz a CPU)",
            "before and after (",
        ],
    );

    let folded = lab.output(words([&"report", &"--layout=folded"]), 0);
    for line in folded.lines() {
        let (path, samples) = line.rsplit_once(' ').expect("a path and a number");
        assert!(
            path.contains(';') && samples.parse::<u64>().is_ok(),
            "{line}"
        );
    }
    assert!(!folded.is_empty());
    let drawn = lab.output(words([&"report", &"--layout=flame-graph"]), 0);
    assert!(drawn.starts_with("<?xml") && drawn.ends_with("</svg>\n"));
}

/// Sides that were watched differently are not of the same surroundings.
#[test]
fn levels_are_recorded_and_told_apart() {
    let folder = testkit::scratch_folder();
    let lab = Lab::new();
    for (level, label) in [("none", "bare"), ("light", "usual")] {
        let report = lab.json(
            words([
                &"ioping",
                &format!("--witness={level}"),
                &format!("--label={label}"),
                &"--count=3",
                &"--interval=1ms",
                &folder.path(),
            ]),
            0,
        );
        let witnesses = &phase(&report, "requests")["witnesses"];
        let has_counters = witnesses["system_cpu"] != Value::Null;
        assert_eq!(has_counters, level == "light", "{witnesses:#}");
    }
    let failed = lab.talk(words([&"report", &"--layout=folded"]), 2);
    assert_says(&squeezed(&failed), &["has no profile", "--witness full"]);
    let compared = lab
        .stiction(words([&"compare", &"bare", &"usual"]))
        .output();
    let compared = compared.expect("a comparison").stdout;
    let compared = squeezed(&String::from_utf8_lossy(&compared));
    assert_says(&compared, &["witness"]);
}
