//! The shapes of one-line and three-line times.

use stiction_core::{Measurement, metrics};

use super::{Figure, Timed};
use crate::number::{clock_s, decimal, integer, minutes_and_seconds_s};
use crate::page::Page;

/// The times on one line, with what stands before them as the label.
pub(super) fn one_line(text: &str) -> Option<Timed> {
    let words: Vec<&str> = text.split_whitespace().collect();
    zsh(&words)
        .or_else(|| gnu(&words))
        .or_else(|| tcsh(&words))
        .or_else(|| bash_joined(&words))
}

/// `0.06s user 106.75s system 53% cpu 3:20.94 total`.
fn zsh(words: &[&str]) -> Option<Timed> {
    let at = words
        .windows(8)
        .position(|w| (w[1], w[3], w[5], w[7]) == ("user", "system", "cpu", "total"))?;
    let of = &words[at..];
    let seconds = |word: &str| {
        let text = word.strip_suffix('s')?;
        Some(Figure::new(decimal(text)?, text))
    };
    Some(Timed {
        layout: "time-zsh",
        label: label(&words[..at]),
        command: None,
        elapsed_s: Figure::new(clock_s(of[6])?, of[6]),
        user_s: seconds(of[0])?,
        system_s: seconds(of[2])?,
        percent: Some(percent(of[4])?),
        counts: Vec::new(),
    })
}

/// `0.06user 106.75system 3:20.94elapsed 53%CPU (0avgtext+0avgdata 0maxresident)k`.
fn gnu(words: &[&str]) -> Option<Timed> {
    let at = words.iter().position(|word| {
        word.strip_suffix("user")
            .is_some_and(|seconds| decimal(seconds).is_some())
    })?;
    let of = words.get(at..at + 4)?;
    let seconds = |word: &str, unit| {
        let text = word.strip_suffix(unit)?;
        Some(Figure::new(decimal(text)?, text))
    };
    let elapsed = of[2].strip_suffix("elapsed")?;
    Some(Timed {
        layout: "time-gnu",
        label: label(&words[..at]),
        command: None,
        elapsed_s: Figure::new(clock_s(elapsed)?, elapsed),
        user_s: seconds(of[0], "user")?,
        system_s: seconds(of[1], "system")?,
        percent: Some(percent(of[3].strip_suffix("CPU")?)?),
        counts: gnu_counts(words),
    })
}

/// What GNU time counts besides times: `5338212maxresident)k` on its first line,
/// `(0major+1334727minor)pagefaults` on its second.
pub(super) fn gnu_counts(words: &[&str]) -> Vec<Measurement> {
    let count = |word: &str, unit: &str| {
        let digits = word.trim_start_matches('(').strip_suffix(unit)?;
        Some((integer(digits)? as f64, digits.to_owned()))
    };
    let imported = |metric, (value, text): (f64, String), unit: f64| {
        Measurement::imported(metric, value * unit, 1, text)
    };
    let mut counts = Vec::new();
    for word in words {
        if let Some(kib) = count(word, "maxresident)k") {
            counts.push(imported(metrics::RESIDENT_MAX, kib, 1024.0));
        }
        let faults = word.strip_suffix(")pagefaults");
        let Some((major, minor)) = faults.and_then(|faults| faults.split_once('+')) else {
            continue;
        };
        if let (Some(major), Some(minor)) = (count(major, "major"), count(minor, "minor")) {
            counts.push(imported(metrics::MAJOR_FAULTS, major, 1.0));
            counts.push(imported(metrics::MINOR_FAULTS, minor, 1.0));
        }
    }
    counts
}

/// `0.060u 106.750s 3:20.94 53.1% 0+0k 0+0io 0pf+0w`.
fn tcsh(words: &[&str]) -> Option<Timed> {
    let seconds = |word: &str, unit| {
        let text: &str = word.strip_suffix(unit)?;
        Some(Figure::new(decimal(text)?, text))
    };
    let at = words.windows(4).position(|w| {
        seconds(w[0], 'u').is_some() && seconds(w[1], 's').is_some() && w[2].contains(':')
    })?;
    let of = &words[at..];
    Some(Timed {
        layout: "time-tcsh",
        label: label(&words[..at]),
        command: None,
        elapsed_s: Figure::new(clock_s(of[2])?, of[2]),
        user_s: seconds(of[0], 'u')?,
        system_s: seconds(of[1], 's')?,
        percent: Some(percent(of[3])?),
        counts: Vec::new(),
    })
}

/// bash's three lines on one, as mail joins them.
fn bash_joined(words: &[&str]) -> Option<Timed> {
    match words {
        ["real", real, "user", user, "sys", system] => bash(real, user, system),
        _ => None,
    }
}

/// `real 10m42.697s`, `user ...`, `sys ...` on three lines, or `time -p` seconds.
pub(super) fn three_lines(page: &Page, index: usize) -> Option<(Timed, usize)> {
    let value = |nth: usize, name: &str| match page.words(index + nth)[..] {
        [word, value] if word == name && page.is_open(index + nth) => Some(value),
        _ => None,
    };
    let timed = bash(value(0, "real")?, value(1, "user")?, value(2, "sys")?)?;
    Some((timed, 3))
}

fn bash(real: &str, user: &str, system: &str) -> Option<Timed> {
    let seconds = |text: &str| {
        let value = minutes_and_seconds_s(text).or_else(|| decimal(text))?;
        Some(Figure::new(value, text))
    };
    Some(Timed {
        layout: "time-bash",
        label: None,
        command: None,
        elapsed_s: seconds(real)?,
        user_s: seconds(user)?,
        system_s: seconds(system)?,
        percent: None,
        counts: Vec::new(),
    })
}

/// A CPU share; GNU time prints `?%` when no time has passed.
pub(super) fn percent(word: &str) -> Option<Figure> {
    Some(Figure::new(decimal(word.strip_suffix('%')?)?, word))
}

/// What stands before the times, without the colon behind it.
fn label(words: &[&str]) -> Option<String> {
    let label = words.join(" ");
    let label = label.trim_end_matches(':').trim_end();
    (!label.is_empty()).then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> (f64, f64, f64, Option<f64>, Option<String>) {
        let timed = one_line(text).unwrap();
        (
            timed.user_s.value,
            timed.system_s.value,
            timed.elapsed_s.value,
            timed.percent.map(|percent| percent.value),
            timed.label,
        )
    }

    #[test]
    fn every_one_line_shape_is_read() {
        let times = (0.06, 106.75, 200.94, Some(53.0), None);
        assert_eq!(
            values("0.06s user 106.75s system 53% cpu 3:20.94 total"),
            times
        );
        assert_eq!(
            values("0.06user 106.75system 3:20.94elapsed 53%CPU (0avgtext+0avgdata 0maxresident)k"),
            times
        );
        assert_eq!(
            values("a b: 0.060u 106.750s 3:20.94 53.1% 0+0k 0+0io 0pf+0w"),
            (0.06, 106.75, 200.94, Some(53.1), Some("a b".to_owned()))
        );
        assert_eq!(
            values("real 3m20.940s user 0m0.060s sys 1m46.750s"),
            (0.06, 106.75, 200.94, None, None)
        );
    }

    #[test]
    fn sentences_are_no_times() {
        for text in [
            "the user and system cpu total",
            "0.06s user 106.75s system 53% cpu",
            "xs user ys system 5% cpu 1:00 total",
            "real user sys",
            "",
        ] {
            assert_eq!(one_line(text), None, "{text}");
        }
    }
}
