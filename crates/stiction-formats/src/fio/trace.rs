//! fio's traces, versions 2 and 3 (fio's manual, "Trace file format").
//!
//! ```text
//! fio version 2 iolog          fio version 3 iolog
//! NAME add|open|close          MICROSECONDS NAME add|open|close
//! NAME ACTION OFFSET LENGTH    MICROSECONDS NAME ACTION OFFSET LENGTH
//! NAME wait MICROSECONDS
//! ```
//!
//! The manual gives no unit for the times of version 3; fio 3.33 writes and reads
//! microseconds. It waits a thousand times as long as its manual says for the `wait` of
//! version 2; here it is microseconds, as the manual has it.

use std::collections::HashMap;
use std::sync::Arc;

use stiction_core::{TraceCall, TraceStep};

use super::error::{FioError, Place};

/// The most steps that a trace may have: they are held in memory, 24 bytes each.
pub const TRACE_STEPS_MAX: usize = 1 << 26;

/// The longest operation, as each thread that plays has a buffer for it.
const LENGTH_BYTES_MAX: u64 = 1 << 30;

/// A trace as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The files, by their names in it; steps count these from 0.
    pub files: Vec<String>,
    /// What is done, in its order, with its own times.
    pub steps: Vec<TraceStep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

/// Reads a trace line by line.
#[derive(Clone, Debug)]
pub struct TraceReader {
    name: Arc<str>,
    version: Option<Version>,
    lines: usize,
    trace: Trace,
    numbers: HashMap<String, u16>,
    /// The moment that has been reached, ns.
    now_ns: u64,
    /// Whether the next step has a moment of its own.
    is_timed: bool,
}

/// What is wrong with a line, and what to do about it.
type Wrong = (String, &'static str);

impl TraceReader {
    /// A reader of the trace in the file of this name, for messages.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            version: None,
            lines: 0,
            trace: Trace::default(),
            numbers: HashMap::new(),
            now_ns: 0,
            is_timed: false,
        }
    }

    /// Reads the next line.
    ///
    /// # Errors
    /// [`FioError::Syntax`], when it is no line of a trace.
    pub fn line(&mut self, text: &str) -> Result<(), FioError> {
        let number = self.lines;
        self.lines += 1;
        let read = match self.version {
            None => self.heading(text),
            Some(version) => self.action(version, text),
        };
        read.map_err(|(what, advice)| FioError::Syntax {
            place: Place::at(Some(Arc::clone(&self.name)), number, 0),
            what,
            advice: advice.to_owned(),
        })
    }

    /// The trace, when all lines are read.
    ///
    /// # Errors
    /// When there was no line.
    pub fn finish(self) -> Result<Trace, FioError> {
        if self.version.is_some() {
            return Ok(self.trace);
        }
        Err(FioError::Syntax {
            place: Place::at(Some(self.name), 0, 0),
            what: "the trace is empty".to_owned(),
            advice: "name one that `fio --write_iolog` wrote".to_owned(),
        })
    }

    fn heading(&mut self, text: &str) -> Result<(), Wrong> {
        self.version = Some(match text.trim_end() {
            "fio version 2 iolog" => Version::Two,
            "fio version 3 iolog" => Version::Three,
            _ => {
                return Err((
                    "this is no trace of fio in version 2 or 3".to_owned(),
                    "its first line is `fio version 3 iolog`",
                ));
            }
        });
        Ok(())
    }

    fn action(&mut self, version: Version, text: &str) -> Result<(), Wrong> {
        let mut words = text.split_ascii_whitespace().peekable();
        if words.peek().is_none() {
            return Ok(());
        }
        if version == Version::Three {
            let at_us = number(words.next(), "time")?;
            // Lines that were written by several threads may be a little out of order.
            self.now_ns = self.now_ns.max(at_us.saturating_mul(1000));
            self.is_timed = true;
        }
        let name = words.next().unwrap_or_default();
        let action = words.next();
        match action {
            Some("add") => self.add(name)?,
            Some("open" | "close") => {
                self.file(name)?;
            }
            Some("wait") if version == Version::Two => {
                let wait_us = number(words.next(), "time")?;
                self.now_ns = self.now_ns.saturating_add(wait_us.saturating_mul(1000));
                self.is_timed = true;
                // The manual shows no length here, and fio wants one.
                words.next();
            }
            Some(action) => {
                let file = self.file(name)?;
                let call = call(action)?;
                let offset = number(words.next(), "offset")?;
                let length = number(words.next(), "length")?;
                self.step(call, file, offset, length)?;
            }
            None => {
                return Err((
                    format!("`{}` ends too early", text.trim_end()),
                    "a line has a file and an action; in version 3 a time before them",
                ));
            }
        }
        match words.next() {
            None => Ok(()),
            Some(more) => Err((
                format!("`{more}` stands behind the end of the line's action"),
                "remove it; names of files have no spaces",
            )),
        }
    }

    fn add(&mut self, name: &str) -> Result<(), Wrong> {
        if self.numbers.contains_key(name) {
            return Ok(());
        }
        let number = u16::try_from(self.trace.files.len()).map_err(|_| {
            (
                "this is its 65537th file".to_owned(),
                "divide the trace: 65536 files are possible",
            )
        })?;
        self.trace.files.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        Ok(())
    }

    fn file(&self, name: &str) -> Result<u16, Wrong> {
        self.numbers.get(name).copied().ok_or_else(|| {
            (
                format!("the file `{name}` was not added before"),
                "a line with the action `add` comes first",
            )
        })
    }

    fn step(&mut self, call: TraceCall, file: u16, offset: u64, length: u64) -> Result<(), Wrong> {
        let step = TraceStep {
            at_ns: self.now_ns,
            offset_bytes: offset,
            length_bytes: u32::try_from(length).unwrap_or(u32::MAX),
            file,
            call,
            is_timed: self.is_timed,
        };
        // In version 2 the time is known after a wait; what follows comes when it can.
        if self.version == Some(Version::Two) {
            self.is_timed = false;
        }
        if !step.is_data() {
            self.trace.steps.push(TraceStep {
                offset_bytes: 0,
                length_bytes: 0,
                ..step
            });
        } else if length == 0 || length > LENGTH_BYTES_MAX {
            return Err((
                format!("an operation of {length} bytes"),
                "1 to 1073741824 bytes are possible",
            ));
        } else if offset
            .checked_add(length)
            .is_none_or(|end| end > i64::MAX as u64)
        {
            return Err((
                format!("no file reaches to byte {offset}"),
                "correct the offset",
            ));
        } else {
            self.trace.steps.push(step);
        }
        if self.trace.steps.len() > TRACE_STEPS_MAX {
            return Err((
                format!("the trace has more than {TRACE_STEPS_MAX} operations"),
                "divide it",
            ));
        }
        Ok(())
    }
}

fn call(action: &str) -> Result<TraceCall, Wrong> {
    Ok(match action {
        "read" => TraceCall::Read,
        "write" => TraceCall::Write,
        "trim" => TraceCall::Trim,
        "sync" => TraceCall::Fsync,
        "datasync" => TraceCall::Fdatasync,
        "wait" => {
            return Err((
                "`wait` is of version 2".to_owned(),
                "in version 3 each line has its time",
            ));
        }
        other => {
            return Err((
                format!("`{other}` is no action"),
                "write add, open, close, read, write, trim, sync or datasync",
            ));
        }
    })
}

fn number(word: Option<&str>, what: &str) -> Result<u64, Wrong> {
    let word = word.ok_or_else(|| {
        (
            format!("the {what} is missing"),
            "compare the line with fio's manual, \"Trace file format\"",
        )
    })?;
    word.parse().map_err(|_| {
        (
            format!("`{word}` is no {what}"),
            "write a whole number of bytes or microseconds",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Trace, String> {
        let mut reader = TraceReader::new("t.log");
        for line in text.lines() {
            reader.line(line).map_err(|error| error.to_string())?;
        }
        reader.finish().map_err(|error| error.to_string())
    }

    fn step(at_us: u64, is_timed: bool, call: TraceCall, place: (u16, u64, u32)) -> TraceStep {
        TraceStep {
            at_ns: at_us * 1000,
            offset_bytes: place.1,
            length_bytes: place.2,
            file: place.0,
            call,
            is_timed,
        }
    }

    /// The first lines are those that fio 3.33 wrote of a mixed job with fsync.
    #[test]
    fn version_three_has_a_time_on_each_line() {
        let trace = read(
            "fio version 3 iolog\n27 t.0.0 add\n126 t.0.0 open\n130 t.0.0 read 12288 4096\n\
             4227 t.0.0 write 192512 4096\n175542 t.0.0 sync 4096 0\n175600 /b add\n\
             175601 /b datasync 0 0\n175500 /b trim 8 16\n254860 t.0.0 close\n",
        )
        .unwrap();
        assert_eq!(trace.files, ["t.0.0", "/b"]);
        use TraceCall::{Fdatasync, Fsync, Read, Trim, Write};
        assert_eq!(
            trace.steps,
            [
                step(130, true, Read, (0, 12288, 4096)),
                step(4227, true, Write, (0, 192_512, 4096)),
                step(175_542, true, Fsync, (0, 0, 0)),
                step(175_601, true, Fdatasync, (1, 0, 0)),
                step(175_601, true, Trim, (1, 8, 16)),
            ]
        );
    }

    /// Waits are relative to the wait before; only what follows one has a moment.
    #[test]
    fn version_two_has_moments_after_waits() {
        let trace = read(
            "fio version 2 iolog\na add\na open\na write 0 512\na wait 200 0\na read 0 512\n\
             a read 512 512\na wait 300\na write 512 512\na close\n",
        )
        .unwrap();
        use TraceCall::{Read, Write};
        assert_eq!(
            trace.steps,
            [
                step(0, false, Write, (0, 0, 512)),
                step(200, true, Read, (0, 0, 512)),
                step(200, false, Read, (0, 512, 512)),
                step(500, true, Write, (0, 512, 512)),
            ]
        );
    }

    #[test]
    fn what_is_no_trace_is_an_error_with_its_line() {
        let three = |lines: &str| read(&format!("fio version 3 iolog\n{lines}")).unwrap_err();
        for (error, words) in [
            (read("").unwrap_err(), "t.log:1:1: the trace is empty"),
            (
                read("0,0,4096\n").unwrap_err(),
                "t.log:1:1: this is no trace",
            ),
            (
                three("0 a read 0 1\n"),
                "t.log:2:1: the file `a` was not added",
            ),
            (
                three("0 a add\n0 a raed 0 1\n"),
                "t.log:3:1: `raed` is no action",
            ),
            (
                three("0 a add\n0 a read 0\n"),
                "t.log:3:1: the length is missing",
            ),
            (three("0 a add\n0 a read 0 0\n"), "an operation of 0 bytes"),
            (three("0 a add\n0 a read -1 9\n"), "`-1` is no offset"),
            (three("0 a add\n0 a wait 9 0\n"), "`wait` is of version 2"),
            (three("0 a add x\n"), "`x` stands behind"),
            (three("0 a\n"), "ends too early"),
        ] {
            assert!(error.contains(words), "{error}");
        }
    }
}
