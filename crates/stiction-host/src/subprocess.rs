//! A program of others, run in a process group of its own, with what it says kept.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use crate::{HostError, ProcessGroup, ProcessUsage};

/// Most that a program may say on one of its outputs, bytes: it is kept in memory.
pub const SAID_BYTES_MAX: usize = 64 << 20;

/// A program under way. On drop it is killed with all that it started.
#[derive(Debug)]
pub struct Subprocess {
    group: ProcessGroup,
    /// Its standard input, where it was asked for: open as long as we are there.
    _input: Option<ChildStdin>,
    begun: Instant,
    output: Pipe<ChildStdout>,
    talk: Pipe<ChildStderr>,
}

/// What a program came to.
#[derive(Debug)]
pub struct EndedProcess {
    /// How it ended.
    pub status: ExitStatus,
    /// From before it was started until it was seen to have ended.
    pub elapsed: Duration,
    /// What it used.
    pub usage: ProcessUsage,
    /// What it wrote to standard output.
    pub output: Vec<u8>,
    /// What it wrote to standard error.
    pub talk: Vec<u8>,
}

impl Subprocess {
    /// Starts `command` in a process group of its own; what it says is kept in memory,
    /// where it disturbs no disk.
    ///
    /// # Errors
    /// When there is no such program, or it cannot be started.
    pub fn start(command: &mut Command) -> Result<Self, HostError> {
        let program = command.get_program().to_owned();
        let refused = |error| HostError::refused("start", Path::new(&program), error);
        command
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let begun = Instant::now();
        let mut child = command.spawn().map_err(|error| {
            // The kernel gives one errno for a missing program and a missing directory.
            match command.get_current_dir() {
                Some(directory) if !directory.is_dir() => {
                    HostError::refused("run anything in", directory, error)
                }
                _ => refused(error),
            }
        })?;
        let group = ProcessGroup::watch(&child)?;
        Ok(Self {
            group,
            _input: child.stdin.take(),
            begun,
            output: Pipe::of(child.stdout.take()).map_err(refused)?,
            talk: Pipe::of(child.stderr.take()).map_err(refused)?,
        })
    }

    /// Whether it has ended, after waiting up to `patience`. It is waited for here
    /// alone, and what it says is taken here: a program that says much stands still
    /// meanwhile.
    ///
    /// # Errors
    /// When the kernel cannot wait, or the program says more than [`SAID_BYTES_MAX`].
    pub fn has_ended_within(&mut self, patience: Duration) -> Result<bool, HostError> {
        let end = Instant::now() + patience;
        loop {
            if self.wait(end.saturating_duration_since(Instant::now()))? {
                return Ok(true);
            }
            self.take_words()?;
            if Instant::now() >= end {
                return Ok(false);
            }
        }
    }

    /// Waits until it has ended, which is told, or says something.
    fn wait(&self, patience: Duration) -> Result<bool, HostError> {
        let wait = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        let mut watched = vec![PollFd::new(&self.group, PollFlags::IN)];
        watched.extend(
            self.output
                .open()
                .map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)),
        );
        watched.extend(
            self.talk
                .open()
                .map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)),
        );
        match poll(&mut watched, Some(&wait)) {
            Ok(_) => Ok(!watched[0].revents().is_empty()),
            Err(Errno::INTR) => Ok(false),
            Err(errno) => Err(said_refused(errno)),
        }
    }

    fn take_words(&mut self) -> Result<(), HostError> {
        self.output.take("standard output")?;
        self.talk.take("standard error")
    }

    /// Waits for its end, kills what is left of its group, and tells what it came to.
    ///
    /// # Errors
    /// When it was taken away by somebody else, or says too much.
    pub fn finish(mut self) -> Result<EndedProcess, HostError> {
        while !self.has_ended_within(Duration::from_secs(60))? {}
        let elapsed = self.begun.elapsed();
        // What it had said before its end is in the pipes; what others say that it left
        // behind is not waited for.
        self.take_words()?;
        let (status, usage) = self.group.reap()?;
        Ok(EndedProcess {
            status,
            elapsed,
            usage,
            output: self.output.kept,
            talk: self.talk.kept,
        })
    }
}

/// Our end of an output of the program, and what came out of it.
#[derive(Debug)]
struct Pipe<P> {
    /// `None` when the other end is closed.
    end: Option<P>,
    kept: Vec<u8>,
}

impl<P: AsFd + Read> Pipe<P> {
    fn of(end: Option<P>) -> io::Result<Self> {
        if let Some(end) = &end {
            fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            end,
            kept: Vec::new(),
        })
    }

    fn open(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        self.end.as_ref().map(AsFd::as_fd)
    }

    /// Takes what is there, without waiting for more.
    fn take(&mut self, name: &str) -> Result<(), HostError> {
        let mut piece = [0; 64 << 10];
        while let Some(end) = &mut self.end {
            match end.read(&mut piece) {
                Ok(0) => self.end = None,
                Ok(bytes) => self.kept.extend_from_slice(&piece[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(said_refused(error)),
            }
            if self.kept.len() > SAID_BYTES_MAX {
                return Err(HostError::Unavailable {
                    what: "room for what the program says",
                    reason: format!(
                        "it says more than {} MiB on {name}; send it elsewhere (> /dev/null)",
                        SAID_BYTES_MAX >> 20
                    ),
                });
            }
        }
        Ok(())
    }
}

fn said_refused(error: impl Into<io::Error>) -> HostError {
    HostError::refused("read", Path::new("what the program says"), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    #[test]
    fn both_outputs_the_code_and_the_use_are_kept() {
        let mut command = shell("echo out; echo err >&2; exit 7");
        let ended = Subprocess::start(&mut command).unwrap().finish().unwrap();
        assert_eq!(ended.status.code(), Some(7));
        assert_eq!(
            (&ended.output[..], &ended.talk[..]),
            (&b"out\n"[..], &b"err\n"[..])
        );
        // A shell that prints two lines has less than a test with its threads.
        assert_eq!(ended.usage.resident_bytes_max, None);
    }

    /// More than a pipe holds, on both at once.
    #[test]
    fn a_program_that_says_much_is_not_held_up() {
        let script = "head -c 3000000 /dev/zero >&2 & head -c 5000000 /dev/zero; wait";
        let ended = Subprocess::start(&mut shell(script)).unwrap().finish();
        let ended = ended.unwrap();
        assert_eq!(
            (ended.output.len(), ended.talk.len()),
            (5_000_000, 3_000_000)
        );
    }

    /// Its child has left the group and holds the pipe.
    #[test]
    fn what_a_program_leaves_behind_is_not_waited_for() {
        let mut command = shell("setsid sleep 5 & echo $!");
        let ended = Subprocess::start(&mut command).unwrap().finish().unwrap();
        let left = String::from_utf8(ended.output).unwrap();
        assert!(Path::new("/proc").join(left.trim()).exists(), "{left}");
    }

    #[test]
    fn memory_beyond_our_own_is_the_programs() {
        // dd holds one block of 200 MiB.
        let script = "dd if=/dev/zero of=/dev/null bs=200M count=1";
        let ended = Subprocess::start(&mut shell(script)).unwrap().finish();
        let bytes = ended.unwrap().usage.resident_bytes_max.unwrap();
        assert!((200 << 20..250 << 20).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Subprocess::start(&mut Command::new("/no/such/program")).unwrap_err();
        assert!(error.to_string().contains("/no/such/program"), "{error}");
    }

    #[test]
    fn a_directory_that_is_not_there_is_named_and_not_the_program() {
        let error = Subprocess::start(shell("true").current_dir("/no/such/place")).unwrap_err();
        assert!(error.to_string().contains("in /no/such/place"), "{error}");
    }

    #[test]
    fn a_program_that_says_too_much_is_ended() {
        let program = Subprocess::start(&mut shell("yes")).unwrap();
        let error = program.finish().unwrap_err();
        assert!(error.to_string().contains("standard output"), "{error}");
    }
}
