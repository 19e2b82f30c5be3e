//! Processes in a ring of pipes, each of which reads what the one before it wrote and
//! hands it on: switches between processes, and little else.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::pipe::{PipeFlags, pipe_with};
use stiction_engine::StopFlag;
use stiction_host::ProcessGroup;

use super::{Gauge, Setting};
use crate::contest::part::{PART, PartResult, failed};

/// What is handed on.
const CHUNK_BYTES: usize = 1 << 10;
/// Trips around the ring that make one unit.
pub(super) const UNIT_TRIPS: u64 = 1000;
/// Processes for each chunk that is under way.
const PROCESSES_OF_CHUNK: u32 = 4;

/// Runs the ring. This thread is one of its processes.
pub(super) fn run(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let (mut first, mut before) = {
        let (read, write) = pipe()?;
        (File::from(write), read)
    };
    let mut links = Vec::new();
    for _ in 1..setting.processes {
        let (read, write) = pipe()?;
        let child = Command::new(&setting.helper)
            .args([PART, "link"])
            .process_group(0)
            .stdin(Stdio::from(before))
            .stdout(Stdio::from(write))
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed("start a process of the ring by", &setting.helper, &error))?;
        gauge.helper(child.id());
        links.push(ProcessGroup::watch(&child).map_err(|error| error.to_string())?);
        before = read;
    }
    let mut last = File::from(before);
    let broken = |error: io::Error| format!("the ring of processes is broken: {error}");
    let chunks = (setting.processes / PROCESSES_OF_CHUNK).max(1);
    let mut chunk = vec![0; CHUNK_BYTES];
    for _ in 0..chunks {
        first.write_all(&chunk).map_err(broken)?;
    }
    let mut arrived = 0u64;
    while !stop.is_raised() {
        last.read_exact(&mut chunk).map_err(broken)?;
        first.write_all(&chunk).map_err(broken)?;
        arrived += 1;
        // All chunks arrive once in a trip.
        if arrived.is_multiple_of(u64::from(chunks)) {
            gauge.step(1);
            if (arrived / u64::from(chunks)).is_multiple_of(UNIT_TRIPS) {
                gauge.pass(UNIT_TRIPS);
            }
        }
    }
    // Each process ends when the one before it has, and hands on what is left first.
    drop(first);
    io::copy(&mut last, &mut io::sink()).map_err(broken)?;
    for link in links {
        link.reap().map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn pipe() -> PartResult<(OwnedFd, OwnedFd)> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|errno| format!("cannot make a pipe: {errno}"))
}

/// One process of the ring. It ends when its input does.
pub(in crate::contest) fn link() -> PartResult<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    loop {
        match input.read_exact(&mut chunk) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(format!("cannot read from the ring: {error}")),
        }
        output
            .write_all(&chunk)
            .and_then(|()| output.flush())
            .map_err(|error| format!("cannot write to the ring: {error}"))?;
    }
}
