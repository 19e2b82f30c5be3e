//! Ctrl-C and its kin: the first asks, the second insists.

use std::io;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use stiction_engine::StopFlag;

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
