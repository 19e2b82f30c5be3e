//! Facts that prose states above a table: `8 GB files  4K blocksize  32 threads`.

use crate::number;
use crate::page::Page;

/// Smaller sizes are no disk's blocks.
const BLOCK_SIZE_MIN_BYTES: u64 = 512;

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    /// Total size of the files, bytes.
    FileSize,
    /// Size of a block, bytes.
    BlockSize,
    /// Number of threads.
    Threads,
}

impl About {
    /// The factor of a cell that the fact is a level of.
    pub(crate) fn factor(self) -> &'static str {
        match self {
            Self::FileSize => "file_size_bytes",
            Self::BlockSize => "block_size_bytes",
            Self::Threads => "threads",
        }
    }
}

/// One fact, and the line that states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fact {
    /// Index of the line.
    pub(crate) index: usize,
    /// What it is about.
    pub(crate) about: About,
    /// Bytes or threads.
    pub(crate) value: u64,
}

/// Every fact of a page, in its order.
pub(crate) fn facts(page: &Page) -> Vec<Fact> {
    (0..page.len())
        .filter(|&index| page.is_open(index))
        .flat_map(|index| {
            facts_of(page.text(index))
                .into_iter()
                .map(move |(about, value)| Fact {
                    index,
                    about,
                    value,
                })
        })
        .collect()
}

/// The latest fact about something above line `index`.
pub(crate) fn above(facts: &[Fact], about: About, index: usize) -> Option<Fact> {
    let end = facts.partition_point(|fact| fact.index < index);
    facts[..end]
        .iter()
        .rfind(|fact| fact.about == about)
        .copied()
}

/// The parts of a line, set apart by two blanks or more, that state no fact: what
/// is left of `Quad P3 Xeon (4GB ram)  8 GB files  4K blocksize  32 threads`.
pub(crate) fn remainder(text: &str) -> Option<String> {
    let parts: Vec<&str> = text
        .split("  ")
        .map(str::trim)
        .filter(|part| !part.is_empty() && facts_of(part).is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The facts that a line states.
fn facts_of(text: &str) -> Vec<(About, u64)> {
    // A comma or a gap ends what a number can be named by.
    let parted = text
        .replace([',', ';', '(', ')'], " | ")
        .replace("  ", " | ");
    let spaced = parted.replace(['=', ':'], " ");
    let lower = spaced.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    (0..words.len())
        .filter_map(|at| fact_at(&words, at))
        .collect()
}

/// The fact whose number is word `at`, judged by the words around it.
fn fact_at(words: &[&str], at: usize) -> Option<(About, u64)> {
    let (digits, glued) = number::split_unit(words[at]);
    number::decimal(digits)?;
    let (unit, behind) = match (glued, words.get(at + 1)) {
        ("", Some(next)) if number::bytes("1", next).is_some() => (*next, at + 2),
        _ => (glued, at + 1),
    };
    let after = |nth: usize| words.get(behind + nth).copied().unwrap_or("");
    let before = |nth: usize| {
        at.checked_sub(nth)
            .and_then(|index| words.get(index))
            .copied()
            .unwrap_or("")
    };
    let in_bytes = number::bytes(digits, unit);
    let bytes_of_block = match unit {
        "" | "b" => number::integer(digits),
        _ => in_bytes,
    };
    let file_size = in_bytes.map(|bytes| (About::FileSize, bytes));
    let block_size = bytes_of_block
        .filter(|&bytes| bytes >= BLOCK_SIZE_MIN_BYTES)
        .map(|bytes| (About::BlockSize, bytes));
    let threads = number::integer(digits)
        .filter(|&count| unit.is_empty() && count > 0)
        .map(|count| (About::Threads, count));
    // What follows a number names it more surely than what precedes it.
    match (after(0), after(1)) {
        ("files" | "file", _) => return file_size,
        ("blocksize" | "blocks", _) | ("block", "size") => return block_size,
        ("byte" | "bytes", "blocks" | "block" | "blocksize") => return block_size,
        ("threads" | "thread", _) => return threads,
        _ => {}
    }
    match (before(2), before(1)) {
        ("file" | "files", "size") => file_size,
        (_, "blocksize") | ("block" | "blk", "size") => block_size,
        (_, "threads") => threads,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use About::{BlockSize, FileSize, Threads};

    #[test]
    fn facts_are_read_from_prose() {
        let seed = "Quad P3 Xeon (4GB ram)  8 GB files  4K blocksize  32 threads";
        let facts = [(FileSize, 8 << 30), (BlockSize, 4096), (Threads, 32)];
        assert_eq!(facts_of(seed), facts);
        assert_eq!(remainder(seed).as_deref(), Some("Quad P3 Xeon (4GB ram)"));
        assert_eq!(
            facts_of("threads = 8, block size: 16k, file size 252 MB"),
            [(Threads, 8), (BlockSize, 16384), (FileSize, 252 << 20)]
        );
        assert_eq!(facts_of("with 4096 byte blocks"), [(BlockSize, 4096)]);
        assert_eq!(facts_of("512 bytes blocksize"), [(BlockSize, 512)]);
    }

    #[test]
    fn other_numbers_are_no_facts() {
        for text in [
            "4GB ram",
            "2 block devices",
            "Sequential Reads",
            "2.5.59 3.42 17.36%",
            "1000 files",
            "threads went from bad to 3 worse",
        ] {
            assert_eq!(facts_of(text), [], "{text}");
        }
    }
}
