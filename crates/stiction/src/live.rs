//! The live view: one line on stderr while a run goes on, nothing where stderr is
//! no terminal.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use stiction_core::{Job, PlannedTrial, format_bytes, format_count, format_duration_ns};
use stiction_engine::Progress;
use stiction_runner::{RunEvent, RunEvents};

use crate::console::harmless;

/// How often the line is drawn anew. Rare enough to cost the measured CPUs nothing.
const TICK: Duration = Duration::from_millis(250);

/// What the user wants to see beside the line itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Talk {
    /// The phases by name, even where stderr is no terminal.
    pub(crate) progress: bool,
}

/// A consumer of a run's events.
pub(crate) struct Live {
    bar: ProgressBar,
    talk: Talk,
    /// Which trial of how many, where there is more than one.
    trial: String,
    /// Where trials are in blocks: how many blocks there are, and when the first began.
    blocks: Option<(u32, Instant)>,
}

impl Live {
    /// A view that draws nothing before the first phase.
    pub(crate) fn new(talk: Talk) -> Self {
        // indicatif itself stays silent where stderr is no terminal.
        let target = ProgressDrawTarget::stderr_with_hz(4);
        Self {
            bar: ProgressBar::with_draw_target(None, target),
            talk,
            trial: String::new(),
            blocks: None,
        }
    }

    /// `block 3/10, about 4 min left, configuration=A: `
    fn block(&self, trial: &PlannedTrial) -> String {
        let (Some((blocks, begun)), Some(block)) = (self.blocks, trial.block) else {
            return String::new();
        };
        let left = time_left(begun.elapsed(), block, blocks);
        let left = left.map_or_else(String::new, |left| format!(", {left}"));
        format!("block {}/{blocks}{left}, {}: ", block + 1, trial.cell)
    }

    fn phase_started(&self, name: &str, job: Option<&Job>, progress: Arc<Progress>) {
        let name = name.replace('_', " ");
        if self.bar.is_hidden() {
            if self.talk.progress {
                say(&format!("{}{name}", self.trial));
            }
            return;
        }
        let (started, whole) = (Instant::now(), job.and_then(amount));
        let state = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            // Writing into the line's own memory does not fail.
            let _ = write!(out, "{}", line(&progress, started.elapsed(), whole));
        };
        let style = ProgressStyle::with_template("{spinner} {prefix}{msg} {state}");
        if let Ok(style) = style {
            self.bar
                .set_style(style.with_key("state", state).tick_chars("-\\|/ "));
        }
        self.bar.set_prefix(self.trial.clone());
        self.bar.set_message(name);
        self.bar.enable_steady_tick(TICK);
    }
}

/// How much a job is going to do.
#[derive(Clone, Copy)]
enum Amount {
    Time(Duration),
    Bytes(u64),
}

/// What ends the job, as far as it can be known beforehand.
fn amount(job: &Job) -> Option<Amount> {
    if let Some(ns) = job.duration_ns {
        return Some(Amount::Time(Duration::from_nanos(ns)));
    }
    let once = |worker| {
        if job.once {
            job.blocks(worker)
        } else {
            u64::MAX
        }
    };
    let operations = |worker| {
        job.operations_per_worker
            .unwrap_or(u64::MAX)
            .min(once(worker))
    };
    let total = (0..job.workers())
        .map(operations)
        .try_fold(0, u64::checked_add)?;
    total.checked_mul(job.block_size_bytes).map(Amount::Bytes)
}

/// How long the blocks to come take at most, by those that are done: `about 4.2 min left`.
fn time_left(elapsed: Duration, done: u32, blocks: u32) -> Option<String> {
    let each = elapsed.checked_div(done)?;
    let left_ns = (each * blocks.saturating_sub(done)).as_nanos() as f64;
    Some(format!("about {} left", format_duration_ns(left_ns).trim()))
}

/// `43 %  1.20 GiB  312 MiB/s  80.0 k/s`
fn line(progress: &Progress, elapsed: Duration, whole: Option<Amount>) -> String {
    let (bytes, seconds) = (progress.bytes(), elapsed.as_secs_f64().max(1e-3));
    let share = match whole {
        Some(Amount::Time(time)) => seconds / time.as_secs_f64().max(1e-3),
        Some(Amount::Bytes(all)) => bytes as f64 / all.max(1) as f64,
        None => 0.0,
    };
    let mut text = String::new();
    if whole.is_some() {
        let _ = write!(text, "{:3.0} %  ", 100.0 * share.min(1.0));
    }
    let rate = format_bytes((bytes as f64 / seconds) as u64);
    let operations = format_count((progress.operations() as f64 / seconds).round());
    let _ = write!(text, "{}  {rate}/s  {operations}/s", format_bytes(bytes));
    text
}

impl RunEvents for Live {
    fn take(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::SessionStarted { header, .. } => {
                let trials = header.plan.iter().flat_map(|plan| &plan.trials);
                let last = trials.filter_map(|trial| trial.block).max();
                self.blocks = last.map(|last| (last + 1, Instant::now()));
            }
            RunEvent::TrialStarted { trial, .. } if self.blocks.is_some() => {
                self.trial = self.block(trial);
            }
            RunEvent::TrialStarted { number, of, trial } if of > 1 => {
                self.trial = format!("{number}/{of} {}: ", trial.cell);
            }
            RunEvent::PhaseStarted {
                name,
                job,
                progress,
            } => self.phase_started(name, job, progress),
            RunEvent::PhaseFinished { .. } => self.bar.disable_steady_tick(),
            // Never left out: what could not be removed or kept is told nowhere else.
            RunEvent::Note { text } => self.bar.suspend(|| say(text)),
            RunEvent::SessionFinished { .. } => self.bar.finish_and_clear(),
            _ => {}
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// One line on stderr.
fn say(text: &str) {
    use std::io::Write as _;
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(std::io::stderr(), "{}", harmless(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_blocks_done() {
        let elapsed = Duration::from_secs(30);
        assert_eq!(time_left(elapsed, 0, 10), None);
        assert_eq!(time_left(elapsed, 3, 10).unwrap(), "about 70.0 s left");
        assert_eq!(time_left(elapsed, 10, 10).unwrap(), "about 0 ns left");
    }

    #[test]
    fn the_line_tells_share_amount_and_rate() {
        let progress = Progress::new(1);
        let text = line(
            &progress,
            Duration::from_secs(5),
            Some(Amount::Time(Duration::from_secs(20))),
        );
        assert_eq!(text, " 25 %  0 B  0 B/s  0/s");
    }
}
