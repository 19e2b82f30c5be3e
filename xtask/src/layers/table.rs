//! The layers, from the bottom up, and what each may use.

/// Where this table is, for messages.
pub(super) const PATH: &str = "xtask/src/layers/table.rs";

/// One crate of the workspace and the promise that its dependencies keep.
pub(super) struct Layer {
    pub(super) name: &'static str,
    /// Completes the sentence "must not depend on X: it ...".
    pub(super) promise: &'static str,
    /// The crates of this workspace that it may use.
    pub(super) ours: &'static [&'static str],
    /// The foreign crates that it may use, by what they bring.
    pub(super) foreign: &'static [&'static [&'static str]],
}

/// Data, text, time and errors: crates that reach neither files nor the kernel.
const PURE: &[&str] = &[
    "base64",
    "hdrhistogram",
    "jiff",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
];

/// Seeded chance. The seed is an argument; nothing here asks the system for one.
const CHANCE: &[&str] = &["rand", "rand_pcg"];

/// System calls.
const KERNEL: &[&str] = &["libc", "rustix"];

/// What only tests use, in any crate.
pub(super) const TEST_CRATES: &[&str] = &[
    "assert_cmd",
    "boon",
    "csv",
    "flate2",
    "insta",
    "libc",
    "proptest",
    "quick-xml",
    "rand",
    "rand_distr",
    "rand_pcg",
    "rustix",
    "serde_json",
    "signal-hook",
    "tempfile",
    "toml",
];

/// Every crate of the workspace, each after all that it uses.
pub(super) const LAYERS: &[Layer] = &[
    Layer {
        name: "stiction-core",
        promise: "is pure data, and knows no files, clocks, system calls or terminals",
        ours: &[],
        foreign: &[PURE],
    },
    Layer {
        name: "stiction-formats",
        promise: "turns text into core types and back, and knows no files, engine or store",
        ours: &["stiction-core"],
        foreign: &[PURE, &["schemars", "toml"]],
    },
    Layer {
        name: "stiction-engine",
        promise: "generates I/O and counts it, and knows no SQL, rendering or benchmark's name",
        ours: &["stiction-core"],
        foreign: &[PURE, CHANCE, KERNEL, &["libm"]],
    },
    Layer {
        name: "stiction-host",
        promise: "reads and changes this machine, and knows no workloads, SQL or rendering",
        ours: &["stiction-core"],
        foreign: &[PURE, KERNEL, &["flate2"]],
    },
    Layer {
        name: "stiction-suite",
        promise: "is benchmarks as programs of phases, and knows no SQL or rendering",
        ours: &["stiction-core", "stiction-engine", "stiction-host"],
        foreign: &[PURE, CHANCE, KERNEL, &["regex-lite", "tar"]],
    },
    Layer {
        name: "stiction-journal",
        promise: "keeps one file a session, and knows no engine, SQL or rendering",
        ours: &["stiction-core"],
        foreign: &[PURE],
    },
    Layer {
        name: "stiction-runner",
        promise: "turns a plan into a session, and knows no rendering or significance",
        ours: &[
            "stiction-core",
            "stiction-engine",
            "stiction-host",
            "stiction-suite",
            "stiction-journal",
        ],
        foreign: &[PURE, CHANCE, KERNEL],
    },
    Layer {
        name: "stiction-store",
        promise: "keeps sessions, and knows no engine or rendering",
        ours: &["stiction-core", "stiction-journal"],
        foreign: &[PURE, &["rusqlite"]],
    },
    Layer {
        name: "stiction-analysis",
        promise: "turns numbers into judgements, seeded and pure, and asks nothing of anybody",
        ours: &["stiction-core"],
        foreign: &[PURE, CHANCE, &["statrs"]],
    },
    Layer {
        name: "stiction-report",
        promise: "turns judgements into text, and knows no files, store or engine",
        ours: &["stiction-core", "stiction-formats", "stiction-analysis"],
        foreign: &[PURE],
    },
    Layer {
        name: "stiction",
        promise: "is the binary, which only the tests' own crates stay out of",
        ours: &[
            "stiction-core",
            "stiction-formats",
            "stiction-engine",
            "stiction-host",
            "stiction-suite",
            "stiction-journal",
            "stiction-runner",
            "stiction-store",
            "stiction-analysis",
            "stiction-report",
        ],
        foreign: &[
            PURE,
            KERNEL,
            &[
                "clap",
                "clap_complete",
                "clap_mangen",
                "etcetera",
                "indicatif",
                "signal-hook",
            ],
        ],
    },
    Layer {
        name: "testkit",
        promise: "serves tests of every layer; it borrows only the machine's changes and their undo",
        ours: &["stiction-core", "stiction-host"],
        foreign: &[PURE, KERNEL, &["fuser", "tempfile"]],
    },
    Layer {
        name: "xtask",
        promise: "checks the product, and has to build when the product does not",
        ours: &[],
        foreign: &[&["cargo_metadata", "serde_json"]],
    },
];
