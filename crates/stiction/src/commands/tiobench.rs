//! `stiction tiobench`.

use std::path::PathBuf;

use stiction_core::Session;
use stiction_report::Judged;
use stiction_report::tiobench::{
    ClassicOptions, Heads, Latencies, TiotestOptions, classic_0_3_3, classic_0_4, classic_old,
    modern, posted, tiotest_terse, tiotest_verbose,
};
use stiction_suite::{Place, Tiobench};

use super::meant::Meant;
use super::recorded::Recorded;
use super::{scratch, tiobench_options};
use crate::arguments::{Classic, Layout, TiobenchArguments};
use crate::failure::Failure;
use crate::live::Talk;

/// What the words mean.
///
/// # Errors
/// For a size that does not read, or a device that cannot be had.
pub(super) fn meant(typed: &TiobenchArguments) -> Result<Meant, Failure> {
    let workload = Tiobench {
        options: tiobench_options::meant(typed)?,
    };
    let classic = typed.classic.map(|how| {
        let report = ClassicReport {
            identifier: typed.identifier.clone(),
            as_was: how == Classic::AsWas,
            no_latency: typed.no_latency,
        };
        (report, tiobench_options::layout(typed))
    });
    let meant = Meant::new(
        workload,
        places(typed)?,
        &typed.recording,
        command(typed),
        move |session, style| match &classic {
            None => modern(&Judged::examine(session), style),
            Some((report, layout)) => report.print(session, *layout),
        },
    );
    Ok(Meant {
        talk: Talk {
            progress: typed.progress || typed.debug > 0,
        },
        dumps_plan: typed.dump,
        ..meant
    })
}

/// A stored session in a classic layout.
///
/// # Errors
/// When the session has none of tiobench's phases.
pub(super) fn classic_report(session: &Session, layout: Layout) -> Result<String, Failure> {
    let phases = ["write", "random_write", "read", "random_read"];
    let is_tiobench = session
        .trials
        .iter()
        .any(|t| phases.iter().any(|p| t.phase(p).is_some()));
    if !is_tiobench {
        return Err(
            Failure::new(format!("{} is not a tiobench session", session.header.id))
                .advise("Leave out --layout to see it in stiction's own."),
        );
    }
    Ok(ClassicReport::default().print(session, layout))
}

/// How a classic report is printed.
#[derive(Default)]
struct ClassicReport {
    identifier: Option<String>,
    as_was: bool,
    no_latency: bool,
}

impl ClassicReport {
    fn print(&self, session: &Session, layout: Layout) -> String {
        let options = ClassicOptions {
            identifier: self.identifier.clone(),
            latencies: if self.as_was {
                Latencies::SummedAsWas
            } else {
                Latencies::Averaged
            },
            heads: if layout == Layout::V033NoHeads {
                Heads::Missing
            } else {
                Heads::Printed
            },
        };
        match layout {
            Layout::V033 | Layout::V033NoHeads => classic_0_3_3(session, &options),
            Layout::V04 => classic_0_4(session, &options),
            Layout::Old => classic_old(session, &options),
            Layout::Posted => posted(&[session], &options),
            Layout::Verbose => tiotest_verbose(
                session,
                TiotestOptions {
                    latency: !self.no_latency,
                },
            ),
            Layout::Terse => tiotest_terse(session),
        }
    }
}

/// The directories named, by whichever option.
fn named(typed: &TiobenchArguments) -> impl Iterator<Item = &PathBuf> {
    typed.directories.iter().chain(&typed.targets)
}

/// The directories, or the devices that were handed over. A device is ours alone as
/// long as its place lives.
fn places(typed: &TiobenchArguments) -> Result<Vec<Place>, Failure> {
    if typed.scratch.is_empty() {
        if typed.raw {
            return Err(Failure::new("--raw overwrites whole devices")
                .advise("Hand each over by name and serial: --scratch /dev/sdx=SERIAL"));
        }
        let mut places: Vec<Place> = named(typed).cloned().map(Place::Directory).collect();
        if places.is_empty() {
            places.push(Place::Directory(".".into()));
        }
        return Ok(places);
    }
    let grants = scratch::named(&typed.scratch)?;
    if let Some(stray) = named(typed).find(|named| grants.iter().all(|g| g.path != **named)) {
        return Err(Failure::new(format!(
            "{} is not handed over by --scratch; directories and devices do not mix in one run",
            stray.display()
        )));
    }
    grants
        .into_iter()
        .map(|device| scratch::held(device, typed.wipe_signature.as_ref()))
        .collect()
}

/// The command as it is recorded: the options of tiobench, without paths and
/// serial numbers.
fn command(typed: &TiobenchArguments) -> Vec<String> {
    let recorded = match typed.classic {
        None => Recorded::new("tiobench"),
        Some(Classic::Corrected) => Recorded::new("tiobench").switch("--classic", true),
        Some(Classic::AsWas) => Recorded::new("tiobench").value("--classic", Some("as-was")),
    };
    recorded
        .switch("--quick", typed.quick)
        .list("--size", &typed.size)
        .list("--block", &typed.block)
        .list("--threads", &typed.threads)
        .list("--skip", &typed.skip)
        .value("--file-size", typed.file_size.as_ref())
        .value("--random", typed.random)
        .value("--random-per-thread", typed.random_per_thread)
        .value("--runs", typed.runs)
        .value("--timeout", typed.timeout.as_ref())
        .value("--offset-gap", typed.offset_gap.as_ref())
        .value("--identifier", typed.identifier.as_ref())
        .choice("--random-order", typed.random_order.as_ref())
        .switch("--raw", typed.raw || !typed.scratch.is_empty())
        .switch("--offset-first", typed.offset_first)
        .switch("--nofrag", typed.sequential_writing)
        .switch("--sync", typed.sync)
        .switch("--direct", typed.direct)
        .switch("--mmap", typed.mmap)
        .switch("--check-consistency", typed.check_consistency)
        .switch("--flush-caches", typed.flush_caches)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
