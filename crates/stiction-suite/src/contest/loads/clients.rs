//! Clients that each work with files of their own, as dbench's do: they make, write, look
//! at, read, rename, sync and remove small files.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use stiction_engine::StopFlag;

use super::{Gauge, Setting};
use crate::contest::part::{PartResult, failed};

/// Files that a client has at once.
const FILES: u64 = 16;
/// Writes to each file, and the size of one: dbench's files are mostly some tens of KiB.
const WRITES: usize = 8;
const WRITE_BYTES: usize = 4096;
/// One file in so many is synced, as dbench's flushes are rare.
const FILES_OF_SYNC: u64 = 8;

/// Runs the clients, each a thread. A call on a file is a step; a unit is once through
/// the files for all clients.
pub(super) fn run(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let scripts = AtomicU64::new(0);
    let clients = u64::from(setting.clients.max(1));
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for client in 0..clients {
            let own = setting.directory.join(format!("client{client}"));
            let scripts = &scripts;
            let work = move || -> PartResult<()> {
                fs::create_dir(&own).map_err(|error| failed("make", &own, &error))?;
                while !stop.is_raised() {
                    let steps = script(&own, gauge, stop)
                        .map_err(|error| failed("work in", &own, &error))?;
                    let whole = scripts.fetch_add(1, Ordering::Relaxed) + 1;
                    if whole.is_multiple_of(clients) && !stop.is_raised() {
                        gauge.pass(steps * clients);
                    }
                }
                Ok(())
            };
            let thread = std::thread::Builder::new().spawn_scoped(scope, work);
            match thread {
                Ok(thread) => running.push(thread),
                Err(error) => {
                    stop.raise();
                    return Err(format!("cannot start a client: {error}"));
                }
            }
        }
        for thread in running {
            let result = thread.join();
            let result = result.unwrap_or_else(|_| Err("a client panicked".to_owned()));
            if result.is_err() {
                stop.raise();
                return result;
            }
        }
        Ok(())
    })
}

/// Once through the files of a client; the steps of it.
fn script(own: &Path, gauge: &Gauge, stop: &StopFlag) -> io::Result<u64> {
    let mut steps = 0;
    let mut done = |count: u64| {
        gauge.step(count);
        steps += count;
    };
    let block = [7; WRITE_BYTES];
    for file in 0..FILES {
        if stop.is_raised() {
            break;
        }
        let (made, renamed) = (
            own.join(format!("f{file}.tmp")),
            own.join(format!("f{file}")),
        );
        let mut written = File::create(&made)?;
        for _ in 0..WRITES {
            written.write_all(&block)?;
        }
        done(1 + WRITES as u64);
        if file % FILES_OF_SYNC == 0 {
            written.sync_data()?;
            done(1);
        }
        fs::metadata(&made)?;
        fs::read(&made)?;
        fs::rename(&made, &renamed)?;
        done(3);
    }
    for entry in fs::read_dir(own)? {
        fs::remove_file(entry?.path())?;
        done(1);
    }
    Ok(steps)
}
