//! Names of contest's loads, which changed with its versions and with mail.

/// Names as one word in small letters, and what each is called here: the names of
/// the last release, 0.61, and of the loads that only earlier ones had.
const NAMES: &[(&str, &str)] = &[
    ("cacherun", "cacherun"),
    ("cpuload", "process_load"),
    ("ctarload", "ctar_load"),
    ("dbenchload", "dbench_load"),
    ("iofullmem", "io_fullmem"),
    ("iohalfmem", "io_halfmem"),
    ("ioload", "io_load"),
    ("ioloadfull", "io_fullmem"),
    ("ioloadhalf", "io_halfmem"),
    ("ioother", "io_other"),
    ("listload", "list_load"),
    ("memload", "mem_load"),
    ("noload", "no_load"),
    ("processload", "process_load"),
    ("readload", "read_load"),
    ("xtarload", "xtar_load"),
];

/// Words that a load's name has at most: `io full mem`.
const WORDS_MAX: usize = 3;

/// The load of that name, however its words are joined: `io full mem`,
/// `io_fullmem`, `IO Load Full`.
pub(super) fn load(name: &str) -> Option<&'static str> {
    let letters: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let separators = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '\t');
    if !name.chars().all(separators) {
        return None;
    }
    NAMES
        .iter()
        .find(|(known, _)| *known == letters)
        .map(|(_, load)| *load)
}

/// The longest load's name that `words` end with, and how many words it has.
pub(super) fn load_at_end(words: &[&str]) -> Option<(&'static str, usize)> {
    (1..=WORDS_MAX.min(words.len())).rev().find_map(|count| {
        let name = words[words.len() - count..].join(" ");
        Some((load(&name)?, count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_one_load() {
        for (name, expected) in [
            ("io full mem", "io_fullmem"),
            ("io_fullmem", "io_fullmem"),
            ("IO Load Full", "io_fullmem"),
            ("Noload", "no_load"),
            ("no_load", "no_load"),
            ("process load", "process_load"),
        ] {
            assert_eq!(load(name), Some(expected), "{name}");
        }
        assert_eq!(load("unknown load"), None);
        assert_eq!(load("io, load"), None);
    }

    #[test]
    fn names_end_a_run_of_words() {
        let words = ["after", "307", "seconds", "io", "fullmem"];
        assert_eq!(load_at_end(&words), Some(("io_fullmem", 2)));
        assert_eq!(load_at_end(&["mem", "load"]), Some(("mem_load", 2)));
        assert_eq!(load_at_end(&["so", "what"]), None);
    }
}
