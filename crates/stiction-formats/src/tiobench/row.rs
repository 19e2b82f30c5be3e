//! Rows of tiobench's reports from 0.3.3 on, and of the tables made of them.

use super::head::Head;
use crate::number::{decimal, integer};

/// A printed figure. It has no value when it overflowed its column or lost the
/// digits that mattered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) text: String,
    pub(super) value: Option<f64>,
}

impl Figure {
    /// A number, or `######`.
    pub(super) fn parse(word: &str) -> Option<Self> {
        let value = decimal(word);
        let is_overflow = word.contains('#') && word.bytes().all(|b| b"#.".contains(&b));
        (value.is_some() || is_overflow).then(|| Self {
            text: word.to_owned(),
            value,
        })
    }

    /// A share of CPU: `34.27%`, `105.%`, `1.2e-%`, `#####%`.
    pub(super) fn parse_share(word: &str) -> Option<Self> {
        let number = word.strip_suffix('%')?;
        let number = number.trim_matches(['(', ')']);
        let is_cut_exponent = number.split_once('e').is_some_and(|(mantissa, exponent)| {
            decimal(mantissa).is_some()
                && exponent
                    .bytes()
                    .all(|byte| byte == b'-' || byte.is_ascii_digit())
        });
        if is_cut_exponent {
            return Some(Self {
                text: word.to_owned(),
                value: None,
            });
        }
        let figure = Self::parse(number)?;
        Some(Self {
            text: word.to_owned(),
            ..figure
        })
    }

    /// Whether digits after the point were cut off: `105.`.
    pub(super) fn ends_in_point(&self) -> bool {
        self.text.trim_end_matches('%').ends_with('.')
    }
}

/// A row as it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Printed {
    /// Identifier or kernel.
    pub(super) name: Option<String>,
    pub(super) size_mib: Option<u64>,
    pub(super) block: Option<u64>,
    pub(super) threads: Option<u64>,
    pub(super) rate: Figure,
    pub(super) cpu: Figure,
    pub(super) mean_ms: Figure,
    pub(super) max: Figure,
    /// What the maximum is printed in, ns.
    pub(super) max_unit_ns: f64,
    pub(super) over_2s: Option<Figure>,
    pub(super) over_10s: Option<Figure>,
    pub(super) efficiency: Option<Figure>,
}

/// Why words are not a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoRow {
    /// They do not look like one.
    Prose,
    /// They begin like one; the next line may end it.
    Unfinished,
    /// They look like one and cannot be read.
    Broken(String),
}

/// Reads a row under `head`; without one the columns are told by their number.
pub(super) fn parse(words: &[&str], head: Option<&Head>) -> Result<Printed, NoRow> {
    let (words, max_unit_ns) = without_units(words);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let cpu_at = (1..words.len())
        .find(|&at| {
            Figure::parse_share(words[at]).is_some() && Figure::parse(words[at - 1]).is_some()
        })
        .ok_or(NoRow::Prose)?;
    let (before, after) = (&words[..cpu_at - 1], &words[cpu_at + 1..]);
    let figures: Vec<Figure> = after.iter().map_while(|word| Figure::parse(word)).collect();
    let expected = head.map_or(5, Head::columns_after);
    if figures.len() < after.len() {
        return Err(match figures.len() {
            0 | 1 => NoRow::Prose,
            _ => NoRow::Broken(format!("`{}` is no figure", after[figures.len()])),
        });
    }
    if figures.len() < expected {
        return Err(NoRow::Unfinished);
    }
    if figures.len() > expected {
        return Err(NoRow::Broken(format!(
            "{} figures stand behind CPU%, where {expected} belong",
            figures.len()
        )));
    }
    let (name, [size_mib, block, threads]) = names(before, head)?;
    let mut figures = figures.into_iter();
    let mut next = |wanted: bool| if wanted { figures.next() } else { None };
    let (Some(mean_ms), Some(max)) = (next(true), next(true)) else {
        return Err(NoRow::Unfinished);
    };
    let wants = |of: fn(&Head) -> bool| head.is_none_or(of);
    Ok(Printed {
        name,
        size_mib,
        block,
        threads,
        rate: Figure::parse(words[cpu_at - 1]).ok_or(NoRow::Prose)?,
        cpu: Figure::parse_share(words[cpu_at]).ok_or(NoRow::Prose)?,
        mean_ms,
        max,
        max_unit_ns,
        over_2s: next(wants(|head| head.over_2s)),
        over_10s: next(wants(|head| head.over_10s)),
        efficiency: next(wants(|head| head.efficiency)),
    })
}

/// Puts a lone `%` to its number and takes units out of the row: a table of 2002
/// prints `2.34 ms 1.23 sec` in its first row. The unit behind the last figure is
/// that of the maximum.
fn without_units(words: &[&str]) -> (Vec<String>, f64) {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    let mut max_unit_ns = 1e6;
    for word in words {
        match (*word, kept.last_mut()) {
            ("%", Some(number)) if decimal(number).is_some() => number.push('%'),
            ("ms" | "MB/s" | "MB/sec", Some(number)) if decimal(number).is_some() => {}
            ("s" | "sec" | "seconds", Some(number)) if decimal(number).is_some() => {
                max_unit_ns = 1e9;
            }
            _ => kept.push((*word).to_owned()),
        }
    }
    (kept, max_unit_ns)
}

/// The name of a row and its size, block and threads, as far as the head has them.
fn names(
    before: &[&str],
    head: Option<&Head>,
) -> Result<(Option<String>, [Option<u64>; 3]), NoRow> {
    let are_integers = |words: &[&str]| words.iter().all(|word| integer(word).is_some());
    let columns = match head {
        Some(head) => head.columns_before(),
        None if before.len() >= 4 && are_integers(&before[before.len() - 3..]) => 3,
        None if before.last().is_some_and(|word| integer(word).is_none()) => 0,
        None => {
            return Err(NoRow::Broken(
                "no head says what stands before the rate".to_owned(),
            ));
        }
    };
    let Some(split) = before.len().checked_sub(columns) else {
        return Err(NoRow::Prose);
    };
    let (name, columns) = before.split_at(split);
    if let Some(word) = columns.iter().find(|word| integer(word).is_none()) {
        return Err(NoRow::Broken(format!(
            "`{word}` is no size, block or number of threads"
        )));
    }
    let mut columns = columns.iter().filter_map(|word| integer(word));
    let all = Head {
        size: true,
        block: true,
        threads: true,
        ..Head::default()
    };
    let head = head.unwrap_or(&all);
    let mut next = |wanted: bool| if wanted { columns.next() } else { None };
    let of_row = [next(head.size), next(head.block), next(head.threads)];
    let name = name.join(" ");
    Ok(((!name.is_empty()).then_some(name), of_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &str) -> Head {
        let mut head = Head::default();
        assert!(lines.lines().all(|line| head.add_line(line)));
        head
    }

    fn row(text: &str, head: Option<&Head>) -> Result<Printed, NoRow> {
        let words: Vec<&str> = text.split_whitespace().collect();
        parse(&words, head)
    }

    #[test]
    fn figures_that_lost_digits_have_no_value() {
        for (word, value) in [
            ("34.27%", Some(34.27)),
            ("105.%", Some(105.0)),
            ("1.2e-%", None),
            ("1.2e-5%", None),
            ("#####%", None),
        ] {
            assert_eq!(Figure::parse_share(word).unwrap().value, value, "{word}");
        }
        assert!(Figure::parse_share("105.%").unwrap().ends_in_point());
        assert_eq!(Figure::parse("######").unwrap().value, None);
        for word in ["#1", "e%", "%", "3.4", "x%"] {
            assert_eq!(Figure::parse_share(word), None, "{word}");
        }
    }

    #[test]
    fn a_row_of_0_3_3_needs_no_head() {
        let text = "2.5.62                        252   4096   10    7.93 4.271%    12.438     \
                    2841.36   0.00000  0.00000   186";
        let printed = row(text, None).unwrap();
        assert_eq!(printed.name.as_deref(), Some("2.5.62"));
        assert_eq!(
            (printed.size_mib, printed.block, printed.threads),
            (Some(252), Some(4096), Some(10))
        );
        assert_eq!(printed.rate.value, Some(7.93));
        assert_eq!(printed.cpu.value, Some(4.271));
        assert_eq!(printed.mean_ms.value, Some(12.438));
        assert_eq!(printed.max.value, Some(2841.36));
        assert_eq!(printed.efficiency.unwrap().value, Some(186.0));
    }

    #[test]
    fn a_row_without_its_tail_is_unfinished() {
        let text = "2.5.62 252 4096 10 7.93 4.271% 12.438 2841.36";
        assert_eq!(row(text, None), Err(NoRow::Unfinished));
        assert_eq!(row("it is 5 % faster", None), Err(NoRow::Prose));
        assert_eq!(row("uses 3 20% of it", None), Err(NoRow::Prose));
        assert!(matches!(
            row("10 7.93 4.271% 1 2 3 4 5", None),
            Err(NoRow::Broken(_))
        ));
    }

    #[test]
    fn a_compact_row_gives_its_maximum_in_seconds() {
        let head = head("Thr  MB/sec  CPU%  avg lat  max latency");
        let printed = row(
            "2.5.41-mm3 8 12.34 MB/sec 5.6% 2.34 ms 1.23 sec",
            Some(&head),
        )
        .unwrap();
        assert_eq!(printed.threads, Some(8));
        assert_eq!(printed.max.value, Some(1.23));
        assert_eq!(printed.max_unit_ns, 1e9);
    }
}
