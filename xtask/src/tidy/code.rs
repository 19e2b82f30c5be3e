//! Rules about Rust code: what is finished, what prints, what is unsafe, and what
//! a library may ask of the world around it.

use super::Finding;
use super::source::Source;

/// The crates that are pure: they reach neither files nor clocks.
const PURE: &[&str] = &["core", "formats", "analysis", "report"];

/// The first line of a source file says what the file holds.
pub(super) fn says_what_it_holds(source: &Source) -> Vec<Finding> {
    let is_source = source.is_rust() && source.path.contains("src/");
    if is_source && !source.text.starts_with("//! ") {
        return vec![Finding::new(
            1,
            "the file does not begin by saying what it holds (//!)",
        )];
    }
    Vec::new()
}

/// Nothing half done: no marks for later, no holes, no tests switched off.
pub(super) fn unfinished(source: &Source) -> Vec<Finding> {
    const MARKS: &[&str] = &["FIXME", "XXX", "TODO", "HACK"];
    const HOLES: &[&str] = &["todo!", "unimplemented!", "#[ignore"];
    let marked = source.comments().flat_map(|(number, comment)| {
        MARKS
            .iter()
            .filter(move |mark| has_word(comment, mark))
            .map(move |mark| Finding::new(number, format!("{mark}: finish it or leave it out")))
    });
    let holes = source.code().flat_map(|(number, code)| {
        HOLES
            .iter()
            .filter(move |hole| code.contains(**hole))
            .map(move |hole| Finding::new(number, format!("{hole}: finish it or leave it out")))
    });
    marked.chain(holes).collect()
}

/// A test waits for an event, never for a length of time.
pub(super) fn sleeping_test(source: &Source) -> Vec<Finding> {
    source
        .test_code()
        .filter(|(_, code)| code.contains("sleep("))
        .map(|(number, _)| Finding::new(number, "a test sleeps: wait for the event itself"))
        .collect()
}

/// In the product a panic says which promise was broken; in tests it is the report.
/// (Clippy's `unwrap_used` cannot tell the functions beside a test from the product.)
pub(super) fn unwrap(source: &Source) -> Vec<Finding> {
    source
        .product_code()
        .filter(|(_, code)| code.contains(".unwrap()"))
        .map(|(number, _)| {
            Finding::new(
                number,
                "unwrap: return the error, or say in expect why there is none",
            )
        })
        .collect()
}

/// Only programs print. Clippy denies printing everywhere; this watches who lifts that.
pub(super) fn printing(source: &Source) -> Vec<Finding> {
    const PROGRAMS: &[&str] = &["crates/stiction/", "xtask/", "/benches/", "crates/testkit/"];
    if PROGRAMS.iter().any(|program| source.path.contains(program)) {
        return Vec::new();
    }
    source
        .product_code()
        .filter(|(_, code)| code.contains("clippy::print_"))
        .map(|(number, _)| Finding::new(number, "a library lifts the lint against printing"))
        .collect()
}

/// `unsafe` stands in `stiction_host::sys`, and in files of the engine, of its benches
/// and of the testkit that open by allowing it.
pub(super) fn unsafe_outside(source: &Source) -> Vec<Finding> {
    const FOLDERS: &[&str] = &[
        "crates/stiction-engine/src/",
        "crates/stiction-engine/benches/",
        "crates/testkit/src/",
    ];
    const OPENING: &str = "#![allow(unsafe_code)]";
    let opens = source
        .code()
        .take_while(|(_, code)| code.trim().is_empty() || code.trim_start().starts_with("#!["))
        .any(|(_, code)| code.trim() == OPENING);
    let may = source.path.starts_with("crates/stiction-host/src/sys")
        || (opens && FOLDERS.iter().any(|folder| source.path.starts_with(folder)));
    if may {
        return Vec::new();
    }
    source
        .code()
        .filter(|(_, code)| has_word(code, "unsafe") || code.contains("allow(unsafe_code"))
        .map(|(number, _)| {
            Finding::new(
                number,
                "unsafe outside stiction_host::sys, and outside a file of the engine or the \
                 testkit that opens with #![allow(unsafe_code)]",
            )
        })
        .collect()
}

/// Libraries are given what they need: they read no environment variable, home or
/// current directory, and the pure ones neither a file nor a clock.
pub(super) fn ambient(source: &Source) -> Vec<Finding> {
    const SURROUNDINGS: &[&str] = &[
        "env::var",
        "env::args",
        "env::current_dir",
        "env::set_current_dir",
        "env::home_dir",
        "env::temp_dir",
        // It reads TZ.
        "TimeZone::system",
    ];
    const WORLD: &[&str] = &[
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
        "Instant::now",
        "SystemTime::now",
        "Timestamp::now",
        "Zoned::now",
    ];
    let Some(library) = library(&source.path) else {
        return Vec::new();
    };
    let pure = PURE.contains(&library);
    source
        .product_code()
        .filter_map(|(number, code)| {
            let asked = |of: &&&str| code.contains(**of);
            if let Some(asked) = SURROUNDINGS.iter().find(asked) {
                let message = format!("{asked}: a library is given this by its caller");
                return Some(Finding::new(number, message));
            }
            let asked = WORLD.iter().find(asked).filter(|_| pure)?;
            let message = format!("{asked}: stiction-{library} is pure");
            Some(Finding::new(number, message))
        })
        .collect()
}

/// The layer `x` of a source file of `crates/stiction-x`.
fn library(path: &str) -> Option<&str> {
    let (layer, inside) = path.strip_prefix("crates/stiction-")?.split_once('/')?;
    inside.starts_with("src/").then_some(layer)
}

/// A test that asks for root is named so that it runs last and alone.
pub(super) fn root_tests(source: &Source) -> Vec<Finding> {
    let testkit = source.path.starts_with("crates/testkit/src/");
    if testkit || is_root_module(&source.path) {
        return Vec::new();
    }
    let mut marked = false;
    // Functions beside the tests may ask on their behalf.
    let mut may_ask = false;
    let mut findings = Vec::new();
    for (number, code) in source.code() {
        let code = code.trim_start();
        if code.starts_with("mod root_") {
            // All that follows is in it, by custom.
            break;
        }
        marked |= code.starts_with("#[test]");
        if let Some((_, name)) = code.split_once("fn ") {
            may_ask = !marked || name.starts_with("root_");
            marked = false;
        }
        if code.contains("require_root!") && !may_ask {
            let message = "needs root: put it in a module or function called root_...";
            findings.push(Finding::new(number, message));
        }
    }
    findings
}

/// Whether the file is a module called `root_...`: one directly in `tests` is a
/// program of its own, and a program's name is not in the names of its tests.
fn is_root_module(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    parts.next().is_some_and(|file| file.starts_with("root_")) && parts.next() != Some("tests")
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|w| w == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    const LIBRARY: &str = "crates/stiction-core/src/a.rs";

    fn found(rule: fn(&Source) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        rule(&Source::new(path, text))
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn a_file_that_does_not_say_what_it_holds_is_found() {
        assert_eq!(found(says_what_it_holds, LIBRARY, "fn a() {}\n"), [1]);
        assert_eq!(found(says_what_it_holds, LIBRARY, "//! Units.\n"), NONE);
        assert_eq!(
            found(says_what_it_holds, "crates/x/tests/a.rs", "fn a() {}\n"),
            NONE
        );
    }

    #[test]
    fn unfinished_work_is_found() {
        let text = "fn a() {\n    todo!()\n}\n// FIXME: later\n#[ignore = \"slow\"]\nfn b() {}\n";
        assert_eq!(found(unfinished, LIBRARY, text), [4, 2, 5]);
        assert_eq!(
            found(unfinished, LIBRARY, "const X: &str = \"FIXME todo!\";\n"),
            NONE
        );
    }

    #[test]
    fn a_test_that_sleeps_is_found() {
        let text = "fn a() {\n    thread::sleep(pause);\n}\n";
        let test = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert_eq!(found(sleeping_test, LIBRARY, text), NONE);
        assert_eq!(found(sleeping_test, LIBRARY, &test), [4]);
        assert_eq!(found(sleeping_test, "crates/x/tests/a.rs", text), [2]);
    }

    #[test]
    fn an_unwrap_outside_tests_is_found() {
        let text = "fn a() {\n    b()\n        .unwrap();\n    c().unwrap_or(0);\n}\n";
        assert_eq!(found(unwrap, LIBRARY, text), [3]);
        assert_eq!(found(unwrap, "crates/x/tests/a.rs", text), NONE);
        let test = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert_eq!(found(unwrap, LIBRARY, &test), NONE);
    }

    #[test]
    fn a_library_that_may_print_is_found() {
        let text = "#[allow(clippy::print_stdout)]\nfn a() {}\n";
        assert_eq!(found(printing, LIBRARY, text), [1]);
        assert_eq!(found(printing, "crates/stiction/src/main.rs", text), NONE);
    }

    #[test]
    fn unsafe_out_of_place_is_found() {
        let text = "//! A file.\nfn a() { unsafe { b() } }\n";
        let open = "//! A file.\n#![allow(unsafe_code)]\nfn a() { unsafe { b() } }\n";
        assert_eq!(found(unsafe_outside, LIBRARY, text), [2]);
        assert_eq!(found(unsafe_outside, LIBRARY, open), [2, 3]);
        assert_eq!(
            found(unsafe_outside, "crates/stiction-host/src/sys/blk.rs", text),
            NONE
        );
        let engine = "crates/stiction-engine/src/ring.rs";
        assert_eq!(found(unsafe_outside, engine, text), [2]);
        assert_eq!(found(unsafe_outside, engine, open), NONE);
        let late = "//! A file.\nfn a() {}\n#[allow(unsafe_code)]\nfn b() { unsafe { c() } }\n";
        assert_eq!(found(unsafe_outside, engine, late), [3, 4]);
        assert_eq!(
            found(
                unsafe_outside,
                LIBRARY,
                "// unsafe\n#![deny(unsafe_code)]\n"
            ),
            NONE
        );
    }

    #[test]
    fn a_library_that_asks_its_surroundings_is_found() {
        let text = "fn a() {\n    std::env::var_os(\"HOME\");\n    std::fs::read(p);\n}\n";
        assert_eq!(found(ambient, LIBRARY, text), [2, 3]);
        assert_eq!(found(ambient, "crates/stiction-host/src/a.rs", text), [2]);
        assert_eq!(found(ambient, "crates/stiction/src/main.rs", text), NONE);
        assert_eq!(
            found(ambient, "crates/stiction-core/tests/a.rs", text),
            NONE
        );
        let test = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert_eq!(found(ambient, LIBRARY, &test), NONE);
    }

    #[test]
    fn a_root_test_by_another_name_is_found() {
        let plain = "#[test]\nfn mounts() {\n    testkit::require_root!();\n}\n";
        assert_eq!(found(root_tests, "crates/x/tests/a.rs", plain), [3]);
        let second = format!("#[test]\nfn root_other() {{}}\n{plain}");
        assert_eq!(found(root_tests, "crates/x/tests/a.rs", &second), [5]);
        let beside = plain.replace("#[test]", "");
        assert_eq!(found(root_tests, "crates/x/tests/a.rs", &beside), NONE);
        let named = plain.replace("mounts", "root_mounts");
        assert_eq!(found(root_tests, "crates/x/tests/a.rs", &named), NONE);
        assert_eq!(
            found(root_tests, "crates/x/tests/all/root_a.rs", plain),
            NONE
        );
        assert_eq!(found(root_tests, "crates/x/tests/root_a.rs", plain), [3]);
    }
}
