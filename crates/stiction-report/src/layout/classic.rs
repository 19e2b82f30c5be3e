//! Maps of files as bmap of ext3-tools and filefrag of e2fsprogs print them.

use std::fmt::Write as _;

use stiction_core::{Extent, FileMap};

/// As `bmap` of ext3-tools: the block size and number of blocks, then a line for each run
/// of blocks, `first-last: first-last on the device (blocks)`.
#[must_use]
pub fn bmap(maps: &[FileMap]) -> String {
    let mut text = String::new();
    for map in maps {
        if maps.len() > 1 {
            let _ = writeln!(text, "{}:", map.path);
        }
        let block = map.block_size_bytes.max(1);
        let blocks = map.size_bytes.div_ceil(block);
        let _ = writeln!(text, "blksize: {block}, {blocks} blocks");
        let Some(extents) = &map.extents else {
            text.push_str("not measured: the filesystem has no map of extents\n");
            continue;
        };
        for run in runs(extents) {
            let (first, place) = (
                run.file_offset_bytes / block,
                run.device_offset_bytes / block,
            );
            let length = run.length_bytes.div_ceil(block);
            let last = length.saturating_sub(1);
            let _ = writeln!(
                text,
                "{first}-{}: {place}-{} ({length})",
                first + last,
                place + last
            );
        }
    }
    text
}

/// Extents with a place, neighbours both in the file and on the device joined.
fn runs(extents: &[Extent]) -> Vec<Extent> {
    let mut runs: Vec<Extent> = Vec::new();
    for extent in extents.iter().filter(|extent| extent.is_placed()) {
        match runs.last_mut() {
            Some(last)
                if last.file_end_bytes() == extent.file_offset_bytes
                    && last.device_end_bytes() == extent.device_offset_bytes =>
            {
                last.length_bytes = last.length_bytes.saturating_add(extent.length_bytes);
            }
            _ => runs.push(*extent),
        }
    }
    runs
}

/// Width of a block's number in a file, and on the device.
const FILE_WIDTH: usize = 8;
const DEVICE_WIDTH: usize = 10;

/// Names of the `FIEMAP_EXTENT_` flags, as filefrag of e2fsprogs 1.47 prints them.
const FLAGS: [(u32, &str); 11] = [
    (0x1, "last"),
    (0x2, "unknown_loc"),
    (0x4, "delalloc"),
    (0x8, "encoded"),
    (0x80, "encrypted"),
    (0x100, "not_aligned"),
    (0x200, "inline"),
    (0x400, "tail_packed"),
    (0x800, "unwritten"),
    (0x1000, "merged"),
    (0x2000, "shared"),
];

/// As `filefrag -v` of e2fsprogs 1.47.
#[must_use]
pub fn filefrag(maps: &[FileMap]) -> String {
    let mut text = String::new();
    let mut filesystem = None;
    for map in maps {
        if filesystem.replace((map.device, map.filesystem_magic))
            != Some((map.device, map.filesystem_magic))
        {
            let _ = writeln!(text, "Filesystem type is: {:x}", map.filesystem_magic);
        }
        filefrag_of(map, &mut text);
    }
    text
}

fn filefrag_of(map: &FileMap, text: &mut String) {
    let block = map.block_size_bytes.max(1);
    let blocks = map.size_bytes.div_ceil(block);
    let _ = writeln!(
        text,
        "File size of {} is {} ({blocks} block{} of {block} bytes)",
        map.path,
        map.size_bytes,
        if blocks == 1 { "" } else { "s" }
    );
    let Some(extents) = &map.extents else {
        let _ = writeln!(text, "{}: FIEMAP unsupported", map.path);
        return;
    };
    if !extents.is_empty() {
        let _ = writeln!(
            text,
            " ext: {:>file$} {:>device$} length: {:>expected$} flags:",
            "logical_offset:",
            "physical_offset:",
            "expected:",
            file = 2 * FILE_WIDTH + 3,
            device = 2 * DEVICE_WIDTH + 3,
            expected = DEVICE_WIDTH + 1
        );
    }
    let mut found = 0_u64;
    let mut before: Option<&Extent> = None;
    for (number, extent) in extents.iter().enumerate() {
        let expected = expected_bytes(before, extent);
        found += u64::from(expected.is_some() || found == 0);
        extent_line(number, extent, expected, map, text);
        before = Some(extent);
    }
    let _ = writeln!(
        text,
        "{}: {found} extent{} found",
        map.path,
        if found == 1 { "" } else { "s" }
    );
}

/// Where the extent would begin if the file lay in one piece, if it does not begin there;
/// the place behind the one before it is as good, whatever hole is between them.
fn expected_bytes(before: Option<&Extent>, extent: &Extent) -> Option<u64> {
    let (behind, as_far) = match before {
        Some(before) => {
            let distance = extent
                .file_offset_bytes
                .wrapping_sub(before.file_offset_bytes);
            let as_far = before.device_offset_bytes.wrapping_add(distance);
            (before.device_end_bytes(), as_far)
        }
        None => (0, extent.file_offset_bytes),
    };
    let place = extent.device_offset_bytes;
    (extent.file_offset_bytes != 0 && place != as_far && place != behind).then_some(as_far)
}

fn extent_line(
    number: usize,
    extent: &Extent,
    expected: Option<u64>,
    map: &FileMap,
    text: &mut String,
) {
    let block = map.block_size_bytes.max(1);
    let length = extent.length_bytes / block;
    let last = length.saturating_sub(1);
    let (first, place) = (
        extent.file_offset_bytes / block,
        extent.device_offset_bytes / block,
    );
    let ends_file = extent.file_end_bytes() >= map.size_bytes;
    let names = FLAGS.iter().filter(|(flag, _)| extent.flags & flag != 0);
    let mut flags: Vec<&str> = names.map(|&(_, name)| name).collect();
    if ends_file {
        flags.push("eof");
    }
    let expected = expected.map_or_else(
        || " ".repeat(DEVICE_WIDTH + 2),
        |bytes| format!("{:>DEVICE_WIDTH$}: ", bytes / block),
    );
    let line = format!(
        "{number:>4}: {first:>FILE_WIDTH$}..{:>FILE_WIDTH$}: {place:>DEVICE_WIDTH$}..{:>DEVICE_WIDTH$}: \
         {length:>6}: {expected}{}",
        first + last,
        place + last,
        flags.join(",")
    );
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(logical: u64, physical: u64, blocks: u64, flags: u32) -> Extent {
        Extent {
            file_offset_bytes: logical * 4096,
            device_offset_bytes: physical * 4096,
            length_bytes: blocks * 4096,
            flags,
        }
    }

    /// A file of four blocks apart and 20 000 bytes allocated at 200 000.
    fn example() -> FileMap {
        FileMap {
            path: "a".to_owned(),
            device: 1,
            filesystem_magic: 0xef53,
            size_bytes: 220_000,
            block_size_bytes: 4096,
            hole_bytes: 0,
            extents: Some(vec![
                extent(0, 40_080_082, 1, 0),
                extent(1, 40_080_085, 1, 0),
                extent(2, 40_080_087, 1, 0),
                extent(3, 40_080_090, 1, 0),
                extent(48, 5_046_786, 6, Extent::LAST | Extent::UNWRITTEN),
            ]),
        }
    }

    /// What filefrag 1.47.0 printed of such a file.
    #[test]
    fn filefrag_is_met_to_the_letter() {
        let theirs = concat!(
            "Filesystem type is: ef53\n",
            "File size of a is 220000 (54 blocks of 4096 bytes)\n",
            " ext:     logical_offset:        physical_offset: length:   expected: flags:\n",
            "   0:        0..       0:   40080082..  40080082:      1:            \n",
            "   1:        1..       1:   40080085..  40080085:      1:   40080083:\n",
            "   2:        2..       2:   40080087..  40080087:      1:   40080086:\n",
            "   3:        3..       3:   40080090..  40080090:      1:   40080088:\n",
            "   4:       48..      53:    5046786..   5046791:      6:   40080135: last,unwritten,eof\n",
            "a: 5 extents found\n",
        );
        let trimmed = |text: &str| -> Vec<String> {
            text.lines()
                .map(|line| line.trim_end().to_owned())
                .collect()
        };
        assert_eq!(trimmed(&filefrag(&[example()])), trimmed(theirs));
    }

    #[test]
    fn bmap_joins_what_lies_together() {
        let mut map = example();
        map.extents
            .as_mut()
            .unwrap()
            .insert(1, extent(1, 40_080_083, 2, 0));
        map.extents.as_mut().unwrap().truncate(2);
        assert_eq!(
            bmap(&[map]),
            "blksize: 4096, 54 blocks\n0-2: 40080082-40080084 (3)\n"
        );
    }
}
