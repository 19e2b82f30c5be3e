//! What a device moved, from its own counters, and what a report says that was moved.

use std::path::Path;

use serde_json::Value;

/// Bytes that a block device has read and written since it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
}

impl Counters {
    /// Reads them from `/sys/block/NAME/stat`, whose third and seventh fields count
    /// sectors of 512 bytes whatever the device's own are
    /// (Documentation/block/stat.rst of the kernel).
    pub(crate) fn of(name: &str) -> Self {
        const SECTOR_BYTES: u64 = 512;
        let path = Path::new("/sys/block").join(name).join("stat");
        let text = std::fs::read_to_string(path).expect("counters of the device");
        let fields: Vec<u64> = text
            .split_whitespace()
            .map(|field| field.parse().expect("a number"))
            .collect();
        Self {
            read_bytes: fields[2] * SECTOR_BYTES,
            written_bytes: fields[6] * SECTOR_BYTES,
        }
    }

    /// What was moved since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            read_bytes: self.read_bytes - before.read_bytes,
            written_bytes: self.written_bytes - before.written_bytes,
        }
    }
}

/// The phases of all trials of a report.
pub(crate) fn phases(report: &Value) -> Vec<&Value> {
    let trials = report["results"].as_array().expect("results");
    trials
        .iter()
        .flat_map(|trial| trial["phases"].as_array().expect("phases"))
        .collect()
}

/// The phase of this name in a report of one trial.
pub(crate) fn phase<'a>(report: &'a Value, name: &str) -> &'a Value {
    let all = phases(report);
    all.into_iter()
        .find(|phase| phase["name"] == name)
        .unwrap_or_else(|| panic!("no phase {name} in {report:#}"))
}

/// Bytes of the user's data that the named phases moved.
pub(crate) fn asked_bytes(report: &Value, names: &[&str]) -> u64 {
    let bytes = |name: &&str| {
        let value = &phase(report, name)["figures"]["bytes"]["value"];
        value.as_f64().expect("bytes") as u64
    };
    names.iter().map(bytes).sum()
}

/// What the witnesses of all phases say that the device moved.
pub(crate) fn witnessed(report: &Value) -> Counters {
    let sum = |key: &str| {
        let devices = phases(report)
            .into_iter()
            .flat_map(|phase| phase["witnesses"]["devices"].as_array().expect("devices"));
        devices
            .map(|device| device[key].as_u64().expect("a count of bytes"))
            .sum()
    };
    Counters {
        read_bytes: sum("read_bytes"),
        written_bytes: sum("written_bytes"),
    }
}

/// Two counts of bytes differ by 1 % at most.
#[track_caller]
pub(crate) fn assert_agree(what: &str, moved: u64, asked: u64) {
    let difference = moved as f64 / asked as f64 - 1.0;
    assert!(
        difference.abs() <= 0.01,
        "{what}: {asked} bytes were asked for and the device moved {moved}: {:.2} % apart",
        100.0 * difference
    );
}
