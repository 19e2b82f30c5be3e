//! When there are enough blocks: known precisely, decided, or out of time.

use std::time::Duration;

use serde_json::json;
use stiction_analysis::compare::decide::LEVEL;
use stiction_analysis::compare::{CompareOptions, Row};
use stiction_analysis::estimate::looks::{self, Look};
use stiction_core::{Level, MetricClass, Session, TrialOutcome, format_duration_ns};
use stiction_runner::blocks::{BlocksSoFar, Decide, Decision};

use super::{Sides, compared};

/// Blocks at the last planned look.
pub(super) const LOOKS_MOST: u32 = looks::PLANNED[looks::PLANNED.len() - 1];

/// What ends the blocks before there are as many as planned.
pub(super) struct StopRule {
    /// How many there are at most.
    pub(super) blocks: u32,
    pub(super) until_precise: bool,
    /// To how many percent; else to half the smallest effect of interest.
    pub(super) percent: Option<f64>,
    pub(super) looks: bool,
    pub(super) budget: Option<Duration>,
    /// What is compared.
    pub(super) sides: Sides,
}

impl StopRule {
    /// As the plan tells it.
    pub(super) fn parameters(&self) -> serde_json::Value {
        let mut stop = serde_json::Map::new();
        if self.until_precise {
            let percent = self.percent;
            stop.insert("until_precise_percent".to_owned(), json!(percent));
        }
        if self.looks {
            stop.insert("looks_after_blocks".to_owned(), json!(looks::PLANNED));
        }
        if let Some(budget) = self.budget {
            stop.insert("budget_s".to_owned(), json!(budget.as_secs_f64()));
        }
        stop.into()
    }

    /// Whether all runs of one configuration failed: more of them tell nothing.
    fn hopeless(&self, so_far: &BlocksSoFar<'_>) -> Option<String> {
        let failed_all = |level: &&Level| {
            let own = so_far.trials.iter();
            let mut own = own.filter(|trial| trial.cell.get(self.sides.factor) == Some(*level));
            own.all(|trial| matches!(trial.outcome, TrialOutcome::Failed { .. }))
        };
        let level = self.sides.levels.iter().find(failed_all)?;
        Some(format!(
            "after {}, since every run of {level} failed",
            blocks(so_far.done)
        ))
    }

    /// Whether another block would end too late, by the median of those so far.
    fn out_of_time(&self, so_far: &BlocksSoFar<'_>) -> Option<String> {
        let budget_ns = u64::try_from(self.budget?.as_nanos()).unwrap_or(u64::MAX);
        let mut took_ns = so_far.block_ns.to_vec();
        took_ns.sort_unstable();
        let usual_ns = took_ns.get(took_ns.len() / 2)?;
        let left_ns = budget_ns.saturating_sub(so_far.elapsed_ns);
        (*usual_ns > left_ns).then(|| {
            let told = |ns: u64| format_duration_ns(ns as f64).trim().to_owned();
            format!(
                "after {}: another takes about {}, and {} of the budget are left",
                blocks(so_far.done),
                told(*usual_ns),
                told(left_ns)
            )
        })
    }

    /// Whether all that is judged is precise, or decided.
    fn enough(&self, so_far: &BlocksSoFar<'_>) -> Option<String> {
        let planned = looks::planned(&looks::PLANNED, LEVEL);
        let look = planned.iter().find(|look| look.blocks == so_far.done);
        let is_looked_at = self.looks && look.is_some();
        if !(self.until_precise || is_looked_at) {
            return None;
        }
        let session = Session {
            header: so_far.header.clone(),
            trials: so_far.trials.to_vec(),
            end: None,
            resumptions: Vec::new(),
        };
        let matrix = compared(&session, &self.sides, &CompareOptions::default());
        let rows = matrix.rows().map(|(_, row)| row);
        let rows: Vec<&Row> = rows.filter(|row| decides(row)).collect();
        let is_judged = !rows.is_empty();
        if let Some(look) = look.filter(|_| self.looks) {
            let decided = is_judged && rows.iter().all(|row| is_decided(row, look));
            return decided.then(|| format!("at the look after {}", blocks(so_far.done)));
        }
        let precise = is_judged && rows.iter().all(|row| self.is_precise(row));
        precise.then(|| format!("after {}: precise enough", blocks(so_far.done)))
    }

    fn is_precise(&self, row: &Row) -> bool {
        let effect = row.effect_percent.unwrap_or(0.0) / 100.0;
        let wanted = match self.percent {
            Some(percent) => (percent / 100.0).ln_1p(),
            None => looks::half_width_wanted(effect),
        };
        looks::is_precise(&differences(row), wanted)
    }
}

impl Decide for StopRule {
    fn decide(&mut self, so_far: &BlocksSoFar<'_>) -> Decision {
        let reasons = [Self::hopeless, Self::enough, Self::out_of_time];
        let reason = reasons.iter().find_map(|reason| reason(self, so_far));
        reason.map_or(Decision::GoOn, Decision::Stop)
    }
}

/// Whether the end is held against this row: rates, and times of set work. Latencies and
/// CPU shares are often too noisy ever to be precise.
fn decides(row: &Row) -> bool {
    row.metric.class == MetricClass::Throughput && row.effect_percent.is_some()
}

fn is_decided(row: &Row, look: &Look) -> bool {
    let margin = (row.effect_percent.unwrap_or(0.0) / 100.0).ln_1p();
    let p = row.estimate.map_or(1.0, |estimate| estimate.p_adjusted);
    look.ending(&differences(row), margin, p).is_some()
}

/// ln(b / a) of each block, signed so that B's being better is positive.
fn differences(row: &Row) -> Vec<f64> {
    let blocks = row.blocks.iter();
    blocks
        .map(|block| block.difference(row.metric.better))
        .collect()
}

fn blocks(count: u32) -> String {
    match count {
        1 => "1 block".to_owned(),
        _ => format!("{count} blocks"),
    }
}
