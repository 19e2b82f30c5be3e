//! The answers to the kernel's requests.

use std::ffi::OsStr;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use super::memory::Node;
use super::{State, lock};

/// Names and attributes change only through the kernel, which keeps its copy.
const TTL: Duration = Duration::from_secs(1);
/// What statfs reports as the size when no space is set.
const UNLIMITED_BYTES: u64 = 1 << 40;
const BLOCK_BYTES: u32 = 4096;
const OPENED: FopenFlags =
    FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);

pub(super) struct Serving {
    state: Arc<Mutex<State>>,
    user: u32,
    group: u32,
}

impl Serving {
    pub(super) fn new(state: Arc<Mutex<State>>) -> Self {
        Self {
            state,
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
        }
    }

    fn attributes(&self, number: u64, node: &Node) -> FileAttr {
        FileAttr {
            ino: INodeNo(number),
            size: node.length,
            blocks: node.held_bytes() / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: node.kind,
            perm: node.permissions,
            nlink: 1,
            uid: self.user,
            gid: self.group,
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        }
    }

    fn add(
        &self,
        parent: INodeNo,
        name: &OsStr,
        kind: FileType,
        mode: u32,
    ) -> Result<FileAttr, Errno> {
        let tree = &mut lock(&self.state).tree;
        let number = tree.add(parent.0, name, kind, (mode & 0o7777) as u16)?;
        Ok(self.attributes(number, tree.node(number)?))
    }

    /// Waits as long as the faults and the disk say, outside the lock, and gives the bytes
    /// that may be moved. `count` counts the operation.
    fn admit(
        &self,
        number: u64,
        (offset, wanted): (u64, u32),
        count: impl Fn(&mut State),
    ) -> Result<u32, Errno> {
        let (pause, done, answer) = {
            let mut state = lock(&self.state);
            count(&mut state);
            let faults = state.faults;
            let turn = state.counts.reads + state.counts.writes;
            let is_due = |every: u64| every > 0 && turn.is_multiple_of(every);
            let mut pause = faults.delay;
            if let Some((every, stall)) = faults.stall_every
                && is_due(every)
            {
                pause += stall;
            }
            let answer = match faults.error_every {
                Some((every, errno)) if is_due(every) => {
                    state.counts.errors += 1;
                    Err(Errno::from_i32(errno))
                }
                _ => Ok(faults.short_bytes.map_or(wanted, |most| most.min(wanted))),
            };
            let done = state.work(number, offset, wanted.into());
            (pause, done, answer)
        };
        sleep(pause);
        if let Some(done) = done {
            sleep(done.saturating_duration_since(Instant::now()));
            if let Some(head) = lock(&self.state).heads.get_mut(&number) {
                head.answered(done, Instant::now());
            }
        }
        answer
    }

    fn sync(&self, number: u64) -> Result<(), Errno> {
        let mut state = lock(&self.state);
        state.counts.syncs += 1;
        match state.faults.sync_error {
            Some(errno) => Err(Errno::from_i32(errno)),
            None if state.faults.sync_ignored => Ok(()),
            None => {
                state.tree.node_mut(number)?.synced();
                Ok(())
            }
        }
    }
}

/// Sleeps to the nanosecond rather than the 50 us that the kernel takes for its own use.
fn sleep(pause: Duration) {
    if pause.is_zero() {
        return;
    }
    // Where that is not granted, it sleeps a little longer.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    std::thread::sleep(pause);
}

fn acknowledge(result: Result<(), Errno>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for Serving {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let tree = &lock(&self.state).tree;
        let found = tree
            .child(parent.0, name)
            .and_then(|number| Ok(self.attributes(number, tree.node(number)?)));
        match found {
            Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn forget(&self, _: &Request, number: INodeNo, _: u64) {
        lock(&self.state).tree.forget(number.0);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match lock(&self.state).tree.node(number.0) {
            Ok(node) => reply.attr(&TTL, &self.attributes(number.0, node)),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match lock(&self.state).tree.node_mut(number.0) {
            Ok(node) => {
                if let Some(mode) = mode {
                    node.permissions = (mode & 0o7777) as u16;
                }
                if let Some(size) = size {
                    node.resize(size);
                }
                reply.attr(&TTL, &self.attributes(number.0, node));
            }
            Err(error) => reply.error(error),
        }
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        match self.add(parent, name, FileType::Directory, mode) {
            Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        match self.add(parent, name, FileType::RegularFile, mode) {
            Ok(attributes) => {
                let name = name.to_string_lossy().into_owned();
                lock(&self.state).names.insert(attributes.ino.0, name);
                reply.created(&TTL, &attributes, Generation(0), FileHandle(0), OPENED);
            }
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let tree = &mut lock(&self.state).tree;
        acknowledge(tree.remove(parent.0, name, FileType::RegularFile), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let tree = &mut lock(&self.state).tree;
        acknowledge(tree.remove(parent.0, name, FileType::Directory), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let tree = &mut lock(&self.state).tree;
        acknowledge(tree.rename(parent.0, name, new_parent.0, new_name), reply);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), OPENED);
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self
            .admit(number.0, (offset, size), |state| {
                state.counts.reads += 1;
                state.note(number.0, false, offset, size.into());
            })
            .and_then(|size| {
                let tree = &lock(&self.state).tree;
                Ok(tree.node(number.0)?.read(offset, size as usize))
            });
        match read {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = self
            .admit(number.0, (offset, data.len() as u32), |state| {
                state.counts.writes += 1;
                state.note(number.0, true, offset, data.len() as u64);
            })
            .and_then(|size| {
                let state = &mut *lock(&self.state);
                let space = state.faults.space_bytes;
                state
                    .tree
                    .write(number.0, offset, &data[..size as usize], space)?;
                Ok(size)
            });
        match written {
            Ok(size) => reply.written(size),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        acknowledge(self.sync(number.0), reply);
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let tree = &lock(&self.state).tree;
        let Ok(folder) = tree.node(number.0) else {
            return reply.error(Errno::ENOENT);
        };
        let itself = [
            (number.0, FileType::Directory, OsStr::new(".")),
            (folder.parent, FileType::Directory, OsStr::new("..")),
        ];
        let children = folder.children.iter().map(|(name, number)| {
            let kind = tree
                .node(*number)
                .map_or(FileType::RegularFile, |node| node.kind);
            (*number, kind, name.as_os_str())
        });
        for (place, (number, kind, name)) in (1..)
            .zip(itself.into_iter().chain(children))
            .skip(offset as usize)
        {
            if reply.add(INodeNo(number), place, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let state = lock(&self.state);
        let size = state.faults.space_bytes.unwrap_or(UNLIMITED_BYTES);
        let free = size.saturating_sub(state.tree.held_bytes()) / u64::from(BLOCK_BYTES);
        let blocks = size / u64::from(BLOCK_BYTES);
        reply.statfs(blocks, free, free, 0, 0, BLOCK_BYTES, 255, BLOCK_BYTES);
    }

    fn access(&self, _: &Request, _: INodeNo, _: fuser::AccessFlags, reply: ReplyEmpty) {
        reply.ok();
    }
}
