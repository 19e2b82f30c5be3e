//! Any text at all: nothing panics, and what is read can be read again.

use proptest::prelude::*;
use stiction_formats::fio::lint::lint;
use stiction_formats::fio::options;
use stiction_formats::fio::{CommandLine, from_toml, parse, resolve, to_toml};

use crate::data_files::job_files;
use crate::{MACHINE, around};

/// Bits that values are made of.
const BITS: &[&str] = &[
    "0",
    "1",
    "-1",
    "4k",
    "8k",
    "64KiB",
    "50",
    "100",
    "101",
    "%",
    ":",
    "/",
    ",",
    "-",
    "(",
    ")",
    "*",
    "+",
    "^",
    "\\",
    "\"",
    "0x",
    "zipf",
    "zoned",
    "pareto",
    "normal",
    "randread",
    "iops",
    "18446744073709551615",
    "9223372036854775807",
    "1e400",
    "nan",
    "$ncpus",
    "${",
    "${DEVICE}",
    "ms",
    "s",
    "d",
    " ",
    "read",
    "é",
    "wait_before",
    "0-3",
    ".",
    "pattern",
    "io_uring",
];

fn check(text: &str) {
    if let Ok(file) = parse("t.fio", text, &around()) {
        match resolve(&file) {
            Ok(resolved) => {
                assert_eq!(lint(&resolved, MACHINE).jobs.len(), resolved.jobs.len());
                let text = to_toml(&resolved);
                let back = from_toml("own.toml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                for (job, back) in resolved.jobs.iter().zip(&back) {
                    assert!(job.job.effective_depth() >= 1 && job.job.clones >= 1);
                    assert_eq!(job.job, *back, "{text}");
                }
            }
            Err(errors) => assert!(!errors.is_empty()),
        }
    }
}

/// An option of the table with a value of bits.
fn setting() -> impl Strategy<Value = String> {
    (
        prop::sample::select(options::all().map(|option| option.name).collect::<Vec<_>>()),
        prop::collection::vec(prop::sample::select(BITS), 0..8),
    )
        .prop_map(|(name, bits)| format!("{name}={}", bits.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC*") {
        check(&text);
    }

    #[test]
    fn any_lines(lines in prop::collection::vec("[ \\t]*(\\[|include |[a-z_]{1,9}=|;|#|\\$\\{)?\\PC{0,12}", 0..20)) {
        check(&lines.join("\n"));
    }

    #[test]
    fn any_values(settings in prop::collection::vec(setting(), 1..12)) {
        check(&format!("[x]\n{}\n", settings.join("\n")));
        let arguments: Vec<String> = std::iter::once("--name=x".to_owned())
            .chain(settings.iter().map(|setting| format!("--{setting}")))
            .collect();
        drop(CommandLine::parse(&arguments, &around()));
    }

    #[test]
    fn any_own_text(text in "\\PC*", name in "\\PC{0,8}") {
        drop(from_toml("own.toml", &text));
        drop(from_toml("own.toml", &format!("[[job]]\nname = {name}")));
    }

    #[test]
    fn damaged_files(which in 0usize..25, at in 0usize..400, with in "\\PC{0,3}", cut in 0usize..10) {
        let (_, text) = &job_files()[which];
        let mut characters: Vec<char> = text.chars().collect();
        let at = at % characters.len();
        let end = (at + cut).min(characters.len());
        characters.splice(at..end, with.chars());
        check(&characters.into_iter().collect::<String>());
    }
}
