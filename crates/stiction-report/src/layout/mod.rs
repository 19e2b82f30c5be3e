//! Where files lie on their device: each, together, and in the layouts of bmap and
//! filefrag.

mod classic;

use stiction_core::{FileMap, Layout, Unit, format_bytes, format_count};

use crate::figure::{measured, significant};
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::stack::without_home;
use crate::text::counted;

pub use classic::{bmap, filefrag};

/// What stands for a figure that the filesystem cannot tell.
const NOT_MEASURED: &str = "not measured";

/// Each file, and what all come to together.
#[must_use]
pub fn layout(maps: &[FileMap], style: Style) -> String {
    let mut page = Page::new(style);
    page.line(Span::new(Role::Strong, "stiction layout"));
    page.blank();
    page.table(0, &table(maps));
    page.blank();
    page.paragraph("", Span::new(Role::Faint, LEGEND));
    page.paragraph("", Span::new(Role::Strong, answer(maps)));
    page.finish()
}

const LEGEND: &str = "extents: runs that lie together on the device; mean: bytes of one; \
                      seeks: bytes passed over for a byte read, in the order of the file; \
                      holes, unwritten: shares of the file that nothing is allocated for, and \
                      that were allocated and never written; no place: not allocated yet, or \
                      within the inode.";

fn table(maps: &[FileMap]) -> Table {
    let mut table = Table::new(vec![
        Column::left("file", 22),
        Column::right("size", 9),
        Column::right("extents", 12),
        Column::right("mean", 9),
        Column::right("seeks", 7),
        Column::right("holes", 6),
        Column::right("unwritten", 9),
        Column::right("no place", 8),
    ]);
    for map in maps {
        let mut cells: Vec<Span> = vec![
            without_home(&map.path).into(),
            format_bytes(map.size_bytes).into(),
        ];
        match Layout::of(std::slice::from_ref(map)) {
            Some(layout) => cells.extend([
                format_count(layout.extents as f64).into(),
                mean_run(&layout).into(),
                seeks(&layout).into(),
                share(map.hole_bytes, map.size_bytes).into(),
                share(layout.unwritten_bytes, map.size_bytes).into(),
                share(layout.unplaced_bytes, map.size_bytes).into(),
            ]),
            None => cells.extend([
                Span::new(Role::Doubt, NOT_MEASURED),
                Span::default(),
                Span::default(),
                share(map.hole_bytes, map.size_bytes).into(),
            ]),
        }
        table.row(cells);
    }
    table
}

/// A share in percent; empty for none.
fn share(part_bytes: u64, whole_bytes: u64) -> String {
    match (part_bytes, whole_bytes) {
        (0, _) | (_, 0) => String::new(),
        // Blocks may reach beyond the end of the file.
        (part, whole) => format!(
            "{} %",
            significant((100.0 * part as f64 / whole as f64).min(100.0), 2)
        ),
    }
}

fn mean_run(layout: &Layout) -> String {
    let mean = layout.run_bytes_mean();
    mean.map_or_else(String::new, |bytes| measured(Unit::Bytes, bytes))
}

fn seeks(layout: &Layout) -> String {
    let seeks = layout.seek_bytes_per_byte();
    seeks.map_or_else(String::new, |per_byte| significant(per_byte, 3))
}

/// The layout in one line: `8 extents of 4.00 KiB, interleaved 1.00, 0.75 bytes of seeks
/// a byte`.
pub(crate) fn layout_text(layout: &Layout) -> String {
    let mut text = counted(layout.extents as usize, "extent");
    if let Some(mean) = layout.run_bytes_mean() {
        text.push_str(&format!(" of {}", measured(Unit::Bytes, mean)));
    }
    if layout.files > 1 {
        text.push_str(&format!(" in {}", counted(layout.files as usize, "file")));
    }
    if let Some(ratio) = layout.interleave_ratio() {
        text.push_str(&format!(", interleaved {}", significant(ratio, 3)));
    }
    if let Some(seeks) = layout.seek_bytes_per_byte() {
        text.push_str(&format!(
            ", {} bytes of seeks a byte",
            significant(seeks, 3)
        ));
    }
    for (bytes, what) in [
        (layout.hole_bytes, "holes"),
        (layout.unwritten_bytes, "never written"),
        (layout.unplaced_bytes, "without a place"),
    ] {
        if bytes > 0 {
            text.push_str(&format!(", {} {what}", format_bytes(bytes)));
        }
    }
    text
}

fn answer(maps: &[FileMap]) -> String {
    let known: Vec<FileMap> = maps
        .iter()
        .filter(|map| map.extents.is_some())
        .cloned()
        .collect();
    let unknown = maps.len() - known.len();
    let Some(layout) = Layout::of(&known) else {
        return format!("{NOT_MEASURED}: the filesystem has no map of extents");
    };
    let mut text = layout_text(&layout);
    if unknown > 0 {
        let files = counted(unknown, "file");
        text.push_str(&format!(
            "; {files} {NOT_MEASURED}, without a map of extents"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::Extent;

    fn map(path: &str, extents: &[(u64, u64, u64, u32)]) -> FileMap {
        let extents = extents
            .iter()
            .map(|&(logical, physical, length, flags)| Extent {
                file_offset_bytes: logical * 4096,
                device_offset_bytes: physical * 4096,
                length_bytes: length * 4096,
                flags,
            });
        FileMap {
            path: path.to_owned(),
            device: 1,
            filesystem_magic: 0xef53,
            size_bytes: 8 * 4096,
            block_size_bytes: 4096,
            hole_bytes: 0,
            extents: Some(extents.collect()),
        }
    }

    #[test]
    fn files_woven_into_each_other_say_so() {
        let a = map("a", &[(0, 0, 4, 0), (4, 8, 4, Extent::LAST)]);
        let b = map(
            "b",
            &[(0, 4, 4, 0), (4, 12, 4, Extent::UNWRITTEN | Extent::LAST)],
        );
        let text = layout(&[a, b], Style::Plain);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_has_no_map_is_not_in_one_piece() {
        let mut without = map("c", &[]);
        without.extents = None;
        without.hole_bytes = 4096;
        let text = layout(std::slice::from_ref(&without), Style::Plain);
        assert!(
            text.contains("not measured") && text.contains("12 %"),
            "{text}"
        );
        assert!(text.ends_with("not measured: the filesystem has no map of extents\n"));
        let both = layout(&[map("a", &[(0, 0, 8, 0)]), without], Style::Plain);
        assert!(both.contains("1 extent of 32 KiB"), "{both}");
        assert!(both.contains("1 file not measured"), "{both}");
    }
}
