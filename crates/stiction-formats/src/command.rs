//! Command lines of tiobench and Bonnie that stand beside their results.

use crate::number;
use crate::page::Page;

/// Programs whose options say something about the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// The driver, `tiobench.pl` and its kin: sizes are totals over all threads.
    Tiobench,
    /// `tiotest`: sizes are per thread.
    Tiotest,
    /// Bonnie and Bonnie++.
    Bonnie,
}

/// A command line found in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// Index of its line.
    pub(crate) index: usize,
    /// What it calls.
    pub(crate) program: Program,
    /// As written, without prompt and `Run #2:`.
    pub(crate) text: String,
    /// Which of the driver's runs it is, from `Run #2:`, which the driver prints
    /// before it calls tiotest.
    pub(crate) run: Option<u64>,
    options: Vec<(String, String)>,
}

impl Command {
    /// The command on one line, if there is one.
    pub(crate) fn parse(index: usize, text: &str) -> Option<Self> {
        let (run, text) = match text.trim().strip_prefix("Run #") {
            Some(rest) => {
                let (run, rest) = rest.split_once(':')?;
                (number::integer(run), rest)
            }
            None => (None, text),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let (at, program) = words
            .iter()
            .enumerate()
            .find_map(|(at, word)| Some((at, program(word)?)))?;
        let has_option = words[at + 1..].iter().any(|word| is_option(word));
        let starts = words[..at].iter().all(|word| may_precede(word));
        if !has_option || !(starts || run.is_some()) {
            return None;
        }
        Some(Self {
            index,
            program,
            text: words[usize::from(is_prompt(words[0]))..].join(" "),
            run,
            options: options(program, &words[at + 1..]),
        })
    }

    /// Every command of a page.
    pub(crate) fn all(page: &Page) -> Vec<Self> {
        (0..page.len())
            .filter_map(|index| Self::parse(index, page.text(index)))
            .collect()
    }

    /// The nearest of `commands`, which stand in their order, above line `index`.
    pub(crate) fn above(commands: &[Self], program: Program, index: usize) -> Option<&Self> {
        let end = commands.partition_point(|command| command.index < index);
        commands[..end]
            .iter()
            .rfind(|command| command.program == program)
    }

    /// The whole numbers given for `option`, which may be repeated.
    fn numbers(&self, option: &str) -> Vec<u64> {
        self.options
            .iter()
            .filter(|(name, _)| name == option)
            .filter_map(|(_, value)| number::integer(value))
            .collect()
    }

    /// Block sizes asked for, bytes.
    pub(crate) fn block_sizes_bytes(&self) -> Vec<u64> {
        match self.program {
            Program::Tiobench => self.numbers("block"),
            Program::Tiotest => self.numbers("b"),
            Program::Bonnie => Vec::new(),
        }
    }

    /// Thread counts asked for.
    pub(crate) fn thread_counts(&self) -> Vec<u64> {
        match self.program {
            Program::Tiobench => self.numbers("threads"),
            Program::Tiotest => self.numbers("t"),
            Program::Bonnie => Vec::new(),
        }
    }

    /// Total sizes asked for, bytes; of tiotest, size per thread times threads.
    pub(crate) fn file_sizes_bytes(&self) -> Vec<u64> {
        let in_bytes = |mib: u64| mib.saturating_mul(1 << 20);
        match self.program {
            Program::Tiobench => self.numbers("size").into_iter().map(in_bytes).collect(),
            Program::Tiotest => {
                let threads = *self.thread_counts().last().unwrap_or(&4);
                let per_thread = *self.numbers("f").last().unwrap_or(&10);
                vec![in_bytes(per_thread.saturating_mul(threads))]
            }
            Program::Bonnie => self.numbers("s").into_iter().map(in_bytes).collect(),
        }
    }

    /// `--numruns` of the driver, which is 1 when it is not given.
    pub(crate) fn runs(&self) -> Option<u64> {
        (self.program == Program::Tiobench)
            .then(|| self.numbers("numruns").last().copied().unwrap_or(1))
            .filter(|&runs| runs > 0)
    }

    /// `--random` of the driver, total over all threads; 4000 when it is not given.
    pub(crate) fn random_operations(&self) -> Option<u64> {
        (self.program == Program::Tiobench)
            .then(|| self.numbers("random").last().copied().unwrap_or(4000))
    }
}

/// The program that a word names, with or without a path.
fn program(word: &str) -> Option<Program> {
    let name = word.rsplit('/').next().unwrap_or(word);
    if name.starts_with("tiobench") {
        Some(Program::Tiobench)
    } else if name == "tiotest" {
        Some(Program::Tiotest)
    } else if matches!(name, "Bonnie" | "bonnie" | "bonnie++") {
        Some(Program::Bonnie)
    } else {
        None
    }
}

fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len() && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn is_prompt(word: &str) -> bool {
    matches!(word, "$" | "#" | "%") || word.ends_with('$') || word.ends_with('#')
}

/// What may stand before the program of a command line: a prompt, `time` and its
/// options and output file, variables.
fn may_precede(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    is_prompt(word)
        || is_option(word)
        || matches!(name, "time" | "nice" | "sudo")
        || word.contains(['=', '.'])
}

/// The options behind a program's name. The driver's are long, with the value
/// behind a blank or `=`; the others' are one letter, with the value behind it or
/// behind a blank.
fn options(program: Program, words: &[&str]) -> Vec<(String, String)> {
    let mut options = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if !is_option(word) {
            continue;
        }
        let name = word.trim_start_matches('-');
        let (name, glued) = match program {
            Program::Tiobench => name.split_once('=').unwrap_or((name, "")),
            Program::Tiotest | Program::Bonnie => name.split_at(1),
        };
        let value = if glued.is_empty() {
            words
                .next_if(|next| !is_option(next))
                .map_or(String::new(), |next| (*next).to_owned())
        } else {
            glued.to_owned()
        };
        options.push((name.to_owned(), value));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_options_are_read() {
        let text = "/usr/bin/time -o tiobench.jfs.times ./tiobenchx.pl --size 2643 --block 4096 \
                    --block=131072 --numruns 5 --dir /mnt/sdc";
        let command = Command::parse(0, text).unwrap();
        assert_eq!(command.program, Program::Tiobench);
        assert_eq!(command.file_sizes_bytes(), [2643 << 20]);
        assert_eq!(command.block_sizes_bytes(), [4096, 131_072]);
        assert_eq!(command.runs(), Some(5));
        assert_eq!(command.random_operations(), Some(4000));
        assert_eq!(command.thread_counts(), Vec::<u64>::new());
        assert_eq!(command.text, text);
    }

    #[test]
    fn tiotest_gives_sizes_per_thread() {
        let command = Command::parse(3, "$ tiotest -t8 -f 200 -d /striped_zpool/").unwrap();
        assert_eq!(command.thread_counts(), [8]);
        assert_eq!(command.file_sizes_bytes(), [1600 << 20]);
        assert_eq!(command.text, "tiotest -t8 -f 200 -d /striped_zpool/");
        let progress = "Run #2: ./tiotest -t 4 -f 660 -r 1000 -b 131072 -d . -T";
        let command = Command::parse(0, progress).unwrap();
        assert_eq!(command.run, Some(2));
        assert_eq!(command.block_sizes_bytes(), [131_072]);
    }

    #[test]
    fn sentences_are_not_commands() {
        for text in [
            "I like tiobench -- it is short",
            "tiobench results",
            "you should run tiobench with -f maybe",
            "Bonnie",
        ] {
            assert_eq!(Command::parse(0, text), None, "{text}");
        }
        assert!(Command::parse(0, "Bonnie -s 1000").is_some());
    }
}
