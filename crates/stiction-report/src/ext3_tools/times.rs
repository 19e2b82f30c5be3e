//! Times as the shells print them, for one phase or for each worker and all of them.
//!
//! The programs of ext3-tools print no time; they were run under the shell's `time`.
//! `stiction import` reads all of these layouts.

use std::fmt::Write as _;

use stiction_core::{Phase, PhaseKind, Session, WorkerSummary, metrics};

/// Whose `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLayout {
    /// `0.06s user 106.75s system 53% cpu 3:20.94 total`
    Zsh,
    /// `real`, `user` and `sys` on three lines: `10m42.697s`.
    Bash,
    /// `0.06user 106.75system 3:20.94elapsed 53%CPU`, the times of GNU time's line.
    Gnu,
}

/// Times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Times {
    pub(crate) elapsed_s: f64,
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
}

impl Times {
    /// Of a phase, all workers together.
    pub(crate) fn of_phase(phase: &Phase) -> Option<Self> {
        Some(Self {
            elapsed_s: phase.value(&metrics::ELAPSED)?,
            user_s: phase.value(&metrics::CPU_USER)?,
            system_s: phase.value(&metrics::CPU_SYSTEM)?,
        })
    }

    /// Of one worker, from the start of all to its end.
    pub(crate) fn of_worker(worker: &WorkerSummary) -> Self {
        Self {
            elapsed_s: worker.last_ns as f64 / 1e9,
            user_s: worker.cpu_ns.saturating_sub(worker.cpu_system_ns) as f64 / 1e9,
            system_s: worker.cpu_system_ns as f64 / 1e9,
        }
    }

    /// 100 x (user + system) / elapsed, cut to a whole number as all of them do; 0 when
    /// no time has passed.
    fn percent(self) -> u64 {
        if self.elapsed_s <= 0.0 {
            return 0;
        }
        (100.0 * (self.user_s + self.system_s) / self.elapsed_s) as u64
    }
}

/// The times in that layout, with a line's end; three lines for bash, which prints an
/// empty one before.
pub(crate) fn time_text(layout: TimeLayout, times: Times) -> String {
    let Times {
        elapsed_s,
        user_s,
        system_s,
    } = times;
    match layout {
        TimeLayout::Zsh => format!(
            "{user_s:.2}s user {system_s:.2}s system {}% cpu {} total\n",
            times.percent(),
            clock(elapsed_s, false)
        ),
        TimeLayout::Gnu => format!(
            "{user_s:.2}user {system_s:.2}system {}elapsed {}%CPU\n",
            clock(elapsed_s, true),
            times.percent()
        ),
        TimeLayout::Bash => format!(
            "\nreal\t{}\nuser\t{}\nsys\t{}\n",
            minutes(elapsed_s),
            minutes(user_s),
            minutes(system_s)
        ),
    }
}

/// `3:20.94`, `1:06:40`; below a minute `20.94`, or `0:20.94` where minutes are always
/// printed. GNU time leaves hundredths out from an hour on.
fn clock(seconds: f64, always_minutes: bool) -> String {
    let hundredths = (seconds * 100.0).round() as u64;
    let (whole, part) = (hundredths / 100, hundredths % 100);
    let (hours, minutes, left) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) if !always_minutes => format!("{left}.{part:02}"),
        (0, minutes) => format!("{minutes}:{left:02}.{part:02}"),
        (hours, minutes) if always_minutes => format!("{hours}:{minutes:02}:{left:02}"),
        (hours, minutes) => format!("{hours}:{minutes:02}:{left:02}.{part:02}"),
    }
}

/// bash's `10m42.697s`.
fn minutes(seconds: f64) -> String {
    let thousandths = (seconds * 1000.0).round() as u64;
    let (whole, part) = (thousandths / 1000, thousandths % 1000);
    format!("{}m{}.{part:03}s", whole / 60, whole % 60)
}

/// The times of every measured phase of a session. Where there are several of them,
/// each says which it is; where there are several workers, each has its own and all
/// together come last.
#[must_use]
pub fn times(session: &Session, layout: TimeLayout) -> String {
    let measured: Vec<(String, &Phase)> = session
        .trials
        .iter()
        .flat_map(|trial| trial.phases.iter().map(move |phase| (trial, phase)))
        .filter(|(_, phase)| phase.kind == PhaseKind::Measure && phase.has_numbers())
        .map(|(trial, phase)| (format!("{} {}", phase.name, trial.repetition + 1), phase))
        .collect();
    let single = measured.len() == 1;
    let mut text = String::new();
    for (name, phase) in measured {
        let name = if single { String::new() } else { name };
        write_times(&mut text, layout, &name, phase);
    }
    text
}

fn write_times(text: &mut String, layout: TimeLayout, name: &str, phase: &Phase) {
    let workers = &phase.workers;
    let mut say = |what: String, times: Times| {
        let label = [name, &what].join(" ");
        let label = label.trim();
        match (label, layout) {
            ("", _) => {}
            (label, TimeLayout::Bash) => {
                let _ = write!(text, "{label}:");
            }
            (label, _) => {
                let _ = write!(text, "{label}: ");
            }
        }
        text.push_str(&time_text(layout, times));
    };
    if workers.len() > 1 {
        for (number, worker) in workers.iter().enumerate() {
            say(format!("worker {number}"), Times::of_worker(worker));
        }
    }
    if let Some(times) = Times::of_phase(phase) {
        let what = if workers.len() > 1 { "all workers" } else { "" };
        say(what.to_owned(), times);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEED: Times = Times {
        elapsed_s: 200.94,
        user_s: 0.06,
        system_s: 106.75,
    };

    /// The line of July 2002, and the same run as the others would have said it.
    #[test]
    fn the_published_line_comes_out() {
        assert_eq!(
            time_text(TimeLayout::Zsh, SEED),
            "0.06s user 106.75s system 53% cpu 3:20.94 total\n"
        );
        assert_eq!(
            time_text(TimeLayout::Gnu, SEED),
            "0.06user 106.75system 3:20.94elapsed 53%CPU\n"
        );
        assert_eq!(
            time_text(TimeLayout::Bash, SEED),
            "\nreal\t3m20.940s\nuser\t0m0.060s\nsys\t1m46.750s\n"
        );
        let cut = Times {
            elapsed_s: 173.21,
            user_s: 0.0,
            system_s: 6.84,
        };
        assert!(time_text(TimeLayout::Zsh, cut).contains(" 3% cpu 2:53.21 "));
    }

    #[test]
    fn clocks_carry_and_leave_out() {
        for (seconds, short, long) in [
            (0.0, "0.00", "0:00.00"),
            (59.994, "59.99", "0:59.99"),
            (59.996, "1:00.00", "1:00.00"),
            (4000.0, "1:06:40.00", "1:06:40"),
        ] {
            assert_eq!(clock(seconds, false), short);
            assert_eq!(clock(seconds, true), long);
        }
        assert_eq!(minutes(642.697), "10m42.697s");
        assert_eq!(minutes(59.9996), "1m0.000s");
    }

    /// Elapsed, user and system seconds as they are read back.
    fn read_back(text: &str) -> [f64; 3] {
        let imported = stiction_formats::read(text);
        let phase = &imported.sessions[0].trials[0].phases[0];
        assert_eq!(phase.caveats, [], "{text}");
        [metrics::ELAPSED, metrics::CPU_USER, metrics::CPU_SYSTEM]
            .map(|metric| phase.value(&metric).unwrap())
    }

    proptest! {
        /// Half a digit is what a layout may lose.
        #[test]
        fn what_is_printed_reads_back(
            elapsed_s in 0.2f64..3500.0, user_share in 0.0f64..2.0, system_share in 0.0f64..2.0
        ) {
            let times = Times {
                elapsed_s,
                user_s: elapsed_s * user_share,
                system_s: elapsed_s * system_share,
            };
            for (layout, half) in [
                (TimeLayout::Zsh, 0.005),
                (TimeLayout::Gnu, 0.005),
                (TimeLayout::Bash, 0.0005),
            ] {
                let text = time_text(layout, times);
                let read = read_back(&text);
                for (printed, real) in read.into_iter().zip([elapsed_s, times.user_s, times.system_s]) {
                    prop_assert!((printed - real).abs() <= half + 1e-9, "{text}: {real}");
                }
            }
        }
    }
}
