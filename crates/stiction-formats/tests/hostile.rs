//! Any text at all: nothing panics, nothing that says something goes unmentioned.

use proptest::prelude::*;
use stiction_formats::{Imported, decode, read};

const TABLES: [&str; 8] = [
    include_str!("data/contest-ext2-ext3.txt"),
    include_str!("data/contest-log-ext2.txt"),
    include_str!("data/contest-log-ext3-quoted-wrapped.txt"),
    include_str!("data/contest-log-ext3.txt"),
    include_str!("data/four-disks-time-lines.txt"),
    include_str!("data/osdl-percent-from-baseline.txt"),
    include_str!("data/tiobench-ext3-32-threads.txt"),
    include_str!("data/tree-move-and-bonnie.txt"),
];

/// Layouts that the posted tables do not have.
const OTHERS: &str = "\
Unit information
================
File size = megabytes (2^20 bytes, 1,048,576 bytes)
Sequential Reads
================
foo    1024   4096    2         32.39 34.27%     0.237   340597.62   0.04287  0.01765      95

Size is MB, BlkSz is Bytes, Read, Write, and Seeks are MB/secd . -T
         File   Block  Num  Seq Read    Rand Read   Seq Write  Rand Write
  Dir    Size   Size   Thr Rate (CPU%) Rate (CPU%) Rate (CPU%) Rate (CPU%)
   .     2000   4096    1  58.87 54.9% 5.615 5.03% 44.40 44.2% 4.534 8.41%
   .     2000   4096    2  58.87 54.9% 5.615 5.03% 44.40 44.2% 4.534 8.41%
Run #2: ./tiotest -t 2 -f 16 -r 1000 -b 4096 -d . -T
write:32.00000,0.50000,0.01000,0.20000,0.03000,16.04200,0.00000,0.00000
total:0.01400,16.04200,0.00000,0.00000
Tiotest results for 2 concurrent io threads:
| Write          32 MBs |    0.2 s | 206.951 MB/s |   0.0 %  |  99.1 % |
Tiotest latency results:
| Write        |        0.030 ms |       16.042 ms |  0.00000 |   0.00000 |
Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
testbox        300M 97466  37 +++++ +++ +++++ +++ 136631  46 +++++ +++ +++++ +++
no_load:
Kernel          [runs]  Time    CPU%    Loads   LCPU%   Ratio
2.6.0-test4          1  80      93.8    0.0     0.0     1.00
0.06user 106.75system 3:20.94elapsed 53%CPU (0avgtext+0avgdata 0maxresident)k
0inputs+0outputs (0major+0minor)pagefaults 0swaps
\tUser time (seconds): 2554.50
\tSystem time (seconds): 630.74
\tElapsed (wall clock) time (h:mm:ss or m:ss): 19:12.89
";

/// What holds for every text.
fn check(text: &str) -> Imported {
    let imported = read(text);
    let lines = text.split('\n').count();
    assert!(imported.unread.iter().all(|unread| {
        (1..=lines).contains(&unread.line) && !unread.text.is_empty() && !unread.reason.is_empty()
    }));
    assert!(
        imported
            .unread
            .is_sorted_by(|one, other| one.line < other.line),
        "each line is listed once, in order"
    );
    // Rules, frames and quote marks are neither read nor listed, and two lines may be
    // one that mail broke. Every other line is accounted for.
    let speaking = text
        .split('\n')
        .filter(|line| line.contains(|c: char| c.is_lowercase() || c.is_numeric()))
        .count();
    let accounted = imported.lines_read + imported.unread.len();
    let may_be_joined = text.contains('=');
    assert!(
        may_be_joined || accounted >= speaking,
        "{accounted} of {speaking} lines"
    );
    for session in &imported.sessions {
        assert!(!session.trials.is_empty() && !session.layout.is_empty());
        for phase in session.trials.iter().flat_map(|trial| &trial.phases) {
            assert!(phase.notes[0].starts_with("line "));
            assert!(phase.measurements.iter().all(|m| m.value.is_finite()));
            assert!(!phase.measurements.is_empty() || !phase.caveats.is_empty());
        }
    }
    imported
}

#[test]
fn every_layout_is_read_to_its_last_line() {
    assert_eq!(check(OTHERS).unread, []);
    for table in TABLES {
        assert_eq!(check(table).unread, []);
    }
    let all = check(&TABLES.concat());
    assert_eq!(all.unread, []);
    assert_eq!(all.sessions.len(), 1);
}

#[test]
fn nothing_is_made_of_nothing() {
    for text in ["", "\n", "\r\n\r\n", "hello\n", "\u{feff}", "=\n=\n"] {
        assert_eq!(check(text).sessions, []);
    }
}

/// Ten thousand lines with every layout among them.
#[test]
fn long_texts_are_read_whole() {
    let text = OTHERS.repeat(300);
    assert_eq!(check(&text).unread, []);
}

/// A text with pieces of it deleted, doubled, moved or overwritten.
fn mutated() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0usize..90, 0u8..6), 1..12);
    let base = prop::sample::select(
        TABLES
            .iter()
            .copied()
            .chain([OTHERS])
            .collect::<Vec<&'static str>>(),
    );
    (base, edits, "[ -~\n\t%#>=.:()0-9]{0,20}").prop_map(|(base, edits, noise)| {
        let mut bytes = base.as_bytes().to_vec();
        for (at, length, edit) in edits {
            if bytes.is_empty() {
                break;
            }
            let start = at.index(bytes.len());
            let end = (start + length).min(bytes.len());
            let piece: Vec<u8> = bytes[start..end].to_vec();
            match edit {
                0 => drop(bytes.drain(start..end)),
                1 => drop(bytes.splice(start..start, piece)),
                2 => bytes[start..end].reverse(),
                3 => drop(bytes.splice(start..end, noise.bytes())),
                4 => bytes[start] = b'\n',
                _ => bytes[start] = 0xe9,
            }
        }
        decode(&bytes).into_owned()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,400}") {
        check(&text);
    }

    #[test]
    fn any_lines_of_words_and_figures_are_read_without_a_panic(
        text in "((Sequential|Random|Reads|Writes|Kernel|Rate|Time|CPU|real|user|sys|total|[0-9]{1,17}|[0-9]{0,3}\\.[0-9]{0,3}%?|#{3,6}%?|>|\\||:|=|-{3,9}|\n| ){1,3} ?){0,80}"
    ) {
        check(&text);
    }

    #[test]
    fn spoilt_tables_are_read_without_a_panic(text in mutated()) {
        check(&text);
    }

    #[test]
    fn any_bytes_are_text(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&decode(&bytes));
    }
}
