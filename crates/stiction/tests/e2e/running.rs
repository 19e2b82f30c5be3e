//! Processes that run while the test goes on, and waiting for what they do.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::lab::PATIENCE;

/// A process that was started; killed if the test ends before it.
pub(crate) struct Running {
    child: Child,
    ended: OwnedFd,
    output: File,
    talk: File,
}

/// How a process ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) talk: String,
}

impl Running {
    /// Starts it, with stdout and stderr going to files so that it never waits for
    /// a reader.
    pub(crate) fn start(mut command: Command) -> Self {
        let file = || tempfile::tempfile().expect("a temporary file");
        let (output, talk) = (file(), file());
        let child = command
            .stdout(output.try_clone().expect("a descriptor"))
            .stderr(talk.try_clone().expect("a descriptor"))
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        Self {
            ended: ended.expect("a descriptor of the process"),
            child,
            output,
            talk,
        }
    }

    /// Sends it a signal.
    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a process of ours");
    }

    /// Waits until `seen` is true. It is asked first now, then whenever something has
    /// changed in the directory.
    #[track_caller]
    pub(crate) fn until(&mut self, directory: &Path, mut seen: impl FnMut() -> bool) {
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        let changes = inotify::init(flags).expect("an inotify instance");
        let what = inotify::WatchFlags::CREATE
            | inotify::WatchFlags::MODIFY
            | inotify::WatchFlags::MOVED_TO;
        inotify::add_watch(&changes, directory, what).expect("a directory to watch");
        let deadline = Instant::now() + PATIENCE;
        while !seen() {
            let mut waited_for = [
                PollFd::new(&changes, PollFlags::IN),
                PollFd::new(&self.ended, PollFlags::IN),
            ];
            wait(&mut waited_for, deadline);
            let has_ended = !waited_for[1].revents().is_empty();
            let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
            let mut events = inotify::Reader::new(&changes, &mut buffer);
            // Read to the end; what happened is for `seen` to find.
            while events.next().is_ok() {}
            if has_ended && !seen() {
                panic!("it ended too early: {:#?}", self.wait());
            }
        }
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        self.wait()
    }

    #[track_caller]
    fn wait(&mut self) -> Ended {
        let mut waited_for = [PollFd::from_borrowed_fd(self.ended.as_fd(), PollFlags::IN)];
        wait(&mut waited_for, Instant::now() + PATIENCE);
        let status = self.child.wait().expect("a child of ours");
        Ended {
            status,
            output: text(&mut self.output),
            talk: text(&mut self.talk),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the first of several things.
#[track_caller]
fn wait(waited_for: &mut [PollFd<'_>], deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(left).expect("a short time");
    let ready = poll(waited_for, Some(&timeout)).expect("a poll");
    assert!(ready > 0, "nothing happened in {PATIENCE:?}");
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.read_to_end(&mut bytes))
        .expect("what the process has written");
    String::from_utf8_lossy(&bytes).into_owned()
}
