//! Folders and files in memory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use fuser::{Errno, FileType};
use stiction_core::Seed;

/// The top folder, as FUSE numbers it.
pub(super) const TOP: u64 = 1;
/// Data is kept in pieces of this size, so that holes cost nothing.
const PIECE_BYTES: usize = 64 << 10;
/// What a disk writes as a whole or not at all.
const SECTOR_BYTES: usize = 512;

/// A file or folder.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: FileType,
    pub(super) permissions: u16,
    pub(super) length: u64,
    pub(super) children: BTreeMap<OsString, u64>,
    pub(super) parent: u64,
    pieces: BTreeMap<u64, Box<[u8; PIECE_BYTES]>>,
    /// What was in the sectors that were written since the last sync, by number.
    unsynced: BTreeMap<u64, [u8; SECTOR_BYTES]>,
    /// Removed from its folder; stays until it is forgotten.
    unlinked: bool,
}

#[derive(Debug)]
pub(super) struct Tree {
    nodes: BTreeMap<u64, Node>,
    next: u64,
}

impl Default for Tree {
    fn default() -> Self {
        let top = Node::new(FileType::Directory, 0o755, TOP);
        Self {
            nodes: BTreeMap::from([(TOP, top)]),
            next: TOP + 1,
        }
    }
}

impl Node {
    fn new(kind: FileType, permissions: u16, parent: u64) -> Self {
        Self {
            kind,
            permissions,
            length: 0,
            children: BTreeMap::new(),
            parent,
            pieces: BTreeMap::new(),
            unsynced: BTreeMap::new(),
            unlinked: false,
        }
    }

    /// Bytes that its data takes.
    pub(super) fn held_bytes(&self) -> u64 {
        (self.pieces.len() * PIECE_BYTES) as u64
    }

    pub(super) fn read(&self, offset: u64, size: usize) -> Vec<u8> {
        let available = self.length.saturating_sub(offset).min(size as u64) as usize;
        let mut bytes = vec![0; available];
        for (index, within, range) in pieces_of(offset, available) {
            if let Some(piece) = self.pieces.get(&index) {
                let length = range.len();
                bytes[range].copy_from_slice(&piece[within..within + length]);
            }
        }
        bytes
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        self.remember(offset, data.len());
        self.put(offset, data);
        self.length = self.length.max(offset + data.len() as u64);
    }

    fn put(&mut self, offset: u64, data: &[u8]) {
        for (index, within, range) in pieces_of(offset, data.len()) {
            let piece = self
                .pieces
                .entry(index)
                .or_insert_with(|| Box::new([0; PIECE_BYTES]));
            piece[within..within + range.len()].copy_from_slice(&data[range]);
        }
    }

    /// Keeps what is durable of the sectors that are about to be written.
    fn remember(&mut self, offset: u64, length: usize) {
        let sector = SECTOR_BYTES as u64;
        for number in offset / sector..(offset + length as u64).div_ceil(sector) {
            if !self.unsynced.contains_key(&number) {
                let mut before = [0; SECTOR_BYTES];
                let there = self.read(number * sector, SECTOR_BYTES);
                before[..there.len()].copy_from_slice(&there);
                self.unsynced.insert(number, before);
            }
        }
    }

    /// All that was written is durable.
    pub(super) fn synced(&mut self) {
        self.unsynced.clear();
    }

    /// Of what was not durable, so many sectors in 100 came through by chance. The
    /// length stays, as if it had been durable.
    fn lose_power(&mut self, survive_percent: u64, seed: Seed) {
        for (number, before) in std::mem::take(&mut self.unsynced) {
            if seed.stream(number).0 % 100 >= survive_percent {
                self.put(number * SECTOR_BYTES as u64, &before);
            }
        }
    }

    pub(super) fn resize(&mut self, length: u64) {
        if length < self.length {
            let within = (length % PIECE_BYTES as u64) as usize;
            let last = length / PIECE_BYTES as u64;
            let mut beyond = self.pieces.split_off(&last);
            if let Some(mut piece) = beyond.remove(&last).filter(|_| within > 0) {
                piece[within..].fill(0);
                self.pieces.insert(last, piece);
            }
        }
        self.length = length;
        let sectors = length.div_ceil(SECTOR_BYTES as u64);
        self.unsynced.split_off(&sectors);
    }
}

/// The pieces that a range of a file touches: number of the piece, offset in it,
/// and where that part lies in the range.
fn pieces_of(
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = offset + done as u64;
        let within = (at % PIECE_BYTES as u64) as usize;
        let part = (PIECE_BYTES - within).min(length - done);
        let range = done..done + part;
        done += part;
        Some((at / PIECE_BYTES as u64, within, range))
    })
}

impl Tree {
    pub(super) fn node(&self, number: u64) -> Result<&Node, Errno> {
        self.nodes.get(&number).ok_or(Errno::ENOENT)
    }

    pub(super) fn node_mut(&mut self, number: u64) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&number).ok_or(Errno::ENOENT)
    }

    pub(super) fn child(&self, parent: u64, name: &OsStr) -> Result<u64, Errno> {
        let children = &self.node(parent)?.children;
        children.get(name).copied().ok_or(Errno::ENOENT)
    }

    pub(super) fn add(
        &mut self,
        parent: u64,
        name: &OsStr,
        kind: FileType,
        permissions: u16,
    ) -> Result<u64, Errno> {
        if self.child(parent, name).is_ok() {
            return Err(Errno::EEXIST);
        }
        let number = self.next;
        self.node_mut(parent)?
            .children
            .insert(name.to_owned(), number);
        self.nodes
            .insert(number, Node::new(kind, permissions, parent));
        self.next += 1;
        Ok(number)
    }

    pub(super) fn remove(
        &mut self,
        parent: u64,
        name: &OsStr,
        kind: FileType,
    ) -> Result<(), Errno> {
        let number = self.child(parent, name)?;
        let node = self.node_mut(number)?;
        match (node.kind, kind) {
            (FileType::Directory, FileType::Directory) if !node.children.is_empty() => {
                return Err(Errno::ENOTEMPTY);
            }
            (FileType::Directory, FileType::RegularFile) => return Err(Errno::EISDIR),
            (FileType::RegularFile, FileType::Directory) => return Err(Errno::ENOTDIR),
            _ => {}
        }
        node.unlinked = true;
        self.node_mut(parent)?.children.remove(name);
        Ok(())
    }

    pub(super) fn rename(
        &mut self,
        parent: u64,
        name: &OsStr,
        new_parent: u64,
        new_name: &OsStr,
    ) -> Result<(), Errno> {
        let number = self.child(parent, name)?;
        if let Ok(replaced) = self.child(new_parent, new_name) {
            let kind = self.node(replaced)?.kind;
            self.remove(new_parent, new_name, kind)?;
        }
        self.node_mut(parent)?.children.remove(name);
        self.node_mut(new_parent)?
            .children
            .insert(new_name.to_owned(), number);
        self.node_mut(number)?.parent = new_parent;
        Ok(())
    }

    /// The kernel no longer knows the node.
    pub(super) fn forget(&mut self, number: u64) {
        if self.nodes.get(&number).is_some_and(|node| node.unlinked) {
            self.nodes.remove(&number);
        }
    }

    /// Of what was written and not synced, so many sectors in 100 came through.
    pub(super) fn lose_power(&mut self, survive_percent: u64, seed: Seed) {
        for (number, node) in &mut self.nodes {
            node.lose_power(survive_percent, seed.stream(*number));
        }
    }

    /// Bytes that the data of all files takes.
    pub(super) fn held_bytes(&self) -> u64 {
        self.nodes
            .values()
            .filter(|node| !node.unlinked)
            .map(Node::held_bytes)
            .sum()
    }

    /// Writes what fits in `space_bytes` over all files.
    pub(super) fn write(
        &mut self,
        number: u64,
        offset: u64,
        data: &[u8],
        space_bytes: Option<u64>,
    ) -> Result<(), Errno> {
        let node = self.node(number)?;
        let new_pieces = pieces_of(offset, data.len())
            .filter(|(index, ..)| !node.pieces.contains_key(index))
            .count();
        let new_bytes = (new_pieces * PIECE_BYTES) as u64;
        let full = |space| new_bytes > 0 && self.held_bytes() + new_bytes > space;
        if space_bytes.is_some_and(full) {
            return Err(Errno::ENOSPC);
        }
        self.node_mut(number)?.write(offset, data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Node {
        Node::new(FileType::RegularFile, 0o600, TOP)
    }

    #[test]
    fn what_was_written_reads_back_and_holes_are_zeros() {
        let mut node = file();
        let offset = PIECE_BYTES as u64 * 3 - 2;
        node.write(offset, b"abcdef");
        assert_eq!(node.length, offset + 6);
        assert_eq!(node.read(offset - 1, 100), b"\0abcdef");
        assert_eq!(node.read(0, 3), [0; 3]);
        assert_eq!(node.read(offset + 6, 3), b"");
        assert_eq!(node.held_bytes(), 2 * PIECE_BYTES as u64);
    }

    #[test]
    fn what_was_not_synced_is_lost_with_the_power() {
        let mut node = file();
        node.write(0, &[1; 2048]);
        node.synced();
        node.write(1000, &[2; 600]);
        node.write(4096, &[3; 100]);
        node.lose_power(0, Seed(1));
        assert_eq!(node.read(0, 2048), [1; 2048]);
        assert_eq!(node.read(2048, 9999), [0; 4196 - 2048]);
    }

    #[test]
    fn sectors_come_through_whole_or_not_at_all() {
        let mut node = file();
        node.write(0, &[1; 100 * SECTOR_BYTES]);
        node.synced();
        node.write(0, &[2; 100 * SECTOR_BYTES]);
        node.lose_power(50, Seed(1));
        let bytes = node.read(0, usize::MAX >> 1);
        let sectors = bytes.chunks(SECTOR_BYTES);
        assert!(
            sectors
                .clone()
                .all(|one| one.iter().all(|&byte| byte == one[0]))
        );
        let through = sectors.filter(|one| one[0] == 2).count();
        // Fewer than 20 or more than 80 of 100 would come once in 10^9 times.
        assert!((20..80).contains(&through), "{through} of 100");
        node.lose_power(0, Seed(2));
        assert_eq!(
            node.read(0, usize::MAX >> 1),
            bytes,
            "what is durable stays"
        );
    }

    #[test]
    fn what_is_cut_off_does_not_come_back() {
        let mut node = file();
        node.write(0, &[7; PIECE_BYTES * 2]);
        node.resize(10);
        node.resize(20);
        assert_eq!(node.read(0, 100), [[7; 10], [0; 10]].concat());
        node.resize(0);
        assert_eq!(node.held_bytes(), 0);
    }

    #[test]
    fn a_full_tree_refuses_new_pieces_and_takes_overwrites() {
        let mut tree = Tree::default();
        let name = OsStr::new("a");
        let a = tree.add(TOP, name, FileType::RegularFile, 0o600).unwrap();
        let space = Some(PIECE_BYTES as u64);
        tree.write(a, 0, b"x", space).unwrap();
        tree.write(a, 100, b"x", space).unwrap();
        let error = tree.write(a, PIECE_BYTES as u64, b"x", space).unwrap_err();
        assert_eq!(error.code(), libc::ENOSPC);
        tree.remove(TOP, name, FileType::RegularFile).unwrap();
        assert_eq!(tree.held_bytes(), 0);
    }
}
