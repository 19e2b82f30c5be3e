//! Signals: the first Ctrl-C asks, the second insists; a file that may not grow is
//! an error and no death.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use stiction_engine::StopFlag;

/// Lets a write beyond the limit of the file size (`ulimit -f`) fail with EFBIG, where
/// the signal that comes with it would kill: of the files that a measurement writes,
/// and of the journal and the database that every command may write.
///
/// # Errors
/// When the handler cannot be installed.
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    // What matters is that there is a handler; that it was called, EFBIG tells.
    let called = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, called)?;
    Ok(())
}

/// Raises `stop` at the first SIGINT, SIGTERM or SIGHUP: workers end within a few
/// operations, what has finished is kept, and everything made is removed.
///
/// A second signal ends the process at once; `stiction clean` then removes what
/// is left.
///
/// # Errors
/// When the handlers cannot be installed.
pub(crate) fn raise_on_signal(stop: StopFlag) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                if stop.is_raised() {
                    // The default action, so that the parent sees the true cause of death.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
                stop.raise();
            }
        })?;
    Ok(())
}
