//! From arguments to the question of a search, with nothing left open.

use std::path::{Path, PathBuf};

use stiction_analysis::Effects;
use stiction_analysis::bisect::END_BLOCKS;
use stiction_core::{
    BISECT_FORMAT_VERSION, Better, BisectQuestion, Metric, Seek, SoughtMetric, metrics,
    parse_duration_ns,
};
use stiction_runner::bisect::Repository;
use stiction_suite::MetricSource;

use crate::arguments::{BisectFind, BisectQuestionArguments};
use crate::failure::Failure;

/// The question that was typed.
///
/// # Errors
/// When an end or the benchmark is missing, or a metric or a number makes no sense.
pub(super) fn question(
    typed: &BisectQuestionArguments,
    repository: &Repository,
    default_work: PathBuf,
) -> Result<BisectQuestion, Failure> {
    let [good, bad] = &typed.ends[..] else {
        return Err(Failure::new("there is no search to go on with")
            .advise("Name the ends and the benchmark: bisect auto GOOD BAD --run CMD"));
    };
    let run = typed.run.clone().ok_or_else(|| {
        Failure::new("there is no benchmark").advise("Give it with --run, as for a shell.")
    })?;
    let (good, bad) = (repository.commit(good)?, repository.commit(bad)?);
    let (patterns, metrics) = sought(&typed.metrics, typed.mei)?;
    Ok(BisectQuestion {
        format_version: BISECT_FORMAT_VERSION,
        tree: repository.path().to_owned(),
        work: work(typed.work.as_deref(), default_work)?,
        chain: repository.chain(&good, &bad)?,
        good,
        bad,
        build: typed.build.clone(),
        keeps_build_files: typed.keep_build_files,
        run,
        patterns,
        metrics,
        seek: match typed.find {
            BisectFind::Worse => Seek::Worse,
            BisectFind::Better => Seek::Better,
        },
        end_blocks: typed.blocks.unwrap_or(END_BLOCKS),
        limit_s: typed.limit.as_deref().map(limit_s).transpose()?,
    })
}

fn work(named: Option<&Path>, default: PathBuf) -> Result<PathBuf, Failure> {
    let Some(named) = named else {
        return Ok(default);
    };
    std::path::absolute(named)
        .map_err(|error| Failure::new(format!("{}: {error}", named.display())))
}

fn limit_s(text: &str) -> Result<u64, Failure> {
    let ns = parse_duration_ns(text)
        .map_err(|error| Failure::new(format!("--limit {text}: {error}")))?;
    Ok(ns.div_ceil(1_000_000_000))
}

/// How each metric is read, where it has to be, and what is sought in it.
fn sought(typed: &[String], mei: Option<f64>) -> Result<(Vec<String>, Vec<SoughtMetric>), Failure> {
    let mut patterns = Vec::new();
    let mut found: Vec<SoughtMetric> = Vec::new();
    let own = [metrics::ELAPSED.name.to_string()];
    let typed = if typed.is_empty() { &own[..] } else { typed };
    for text in typed {
        let metric = match text.contains('[') {
            true => {
                patterns.push(text.clone());
                text.parse::<MetricSource>()?.metric()
            }
            false => metrics::by_name(text).cloned().ok_or_else(|| {
                Failure::new(format!("stiction takes no metric {text} of a command"))
                    .advise("Say where its number stands: --metric 'NAME[UNIT,more|less]=/REGEX/'.")
            })?,
        };
        if found.iter().any(|other| other.name == metric.name) {
            return Err(Failure::new(format!("{} is asked for twice", metric.name)));
        }
        found.push(one(&metric, mei)?);
    }
    Ok((patterns, found))
}

fn one(metric: &Metric, mei: Option<f64>) -> Result<SoughtMetric, Failure> {
    let name = &metric.name;
    if metric.better == Better::Neither {
        return Err(Failure::new(format!("{name} is neither better nor worse")));
    }
    let smallest_effect = match mei {
        Some(percent) if percent > 0.0 && percent <= 1000.0 => percent / 100.0,
        Some(percent) => {
            return Err(Failure::new(format!(
                "--mei {percent}: give a percentage above 0"
            )));
        }
        None => Effects::default().of(metric.class).ok_or_else(|| {
            Failure::new(format!("{name} is described, and not judged by itself"))
                .advise("Say what change of it counts: --mei PERCENT")
        })?,
    };
    Ok(SoughtMetric {
        name: name.to_string(),
        better: metric.better,
        smallest_effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(typed: &[&str]) -> Result<Vec<String>, String> {
        let typed: Vec<String> = typed.iter().map(|&text| text.to_owned()).collect();
        match sought(&typed, None) {
            Ok((_, found)) => Ok(found.into_iter().map(|metric| metric.name).collect()),
            Err(failure) => Err(failure.to_string()),
        }
    }

    #[test]
    fn metrics_are_stictions_own_or_say_where_they_stand() {
        assert_eq!(names(&[]).unwrap(), ["elapsed_s"]);
        let typed = ["tps[/s,more]=/tps = ([0-9.]+)/", "elapsed_s"];
        assert_eq!(names(&typed).unwrap(), ["tps", "elapsed_s"]);
        assert!(names(&["tps"]).unwrap_err().contains("tps"));
        assert!(
            names(&["elapsed_s", "elapsed_s"])
                .unwrap_err()
                .contains("twice")
        );
    }

    #[test]
    fn the_smallest_effect_is_the_metrics_own_or_what_was_typed() {
        let effect = |mei| sought(&[], mei).map(|(_, found)| found[0].smallest_effect);
        assert_eq!(effect(None).unwrap(), 0.03);
        assert_eq!(effect(Some(1.0)).unwrap(), 0.01);
        for wrong in [0.0, -3.0, f64::NAN] {
            assert!(effect(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
