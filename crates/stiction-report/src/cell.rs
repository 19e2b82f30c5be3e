//! Where a trial stands in a matrix, in words.

use stiction_core::{Cell, Level, format_bytes};

/// `32 threads, 4 KiB blocks, 8 GiB in all, ext3`: the levels of the cell with
/// their units, the usual factors first.
pub(crate) fn cell_text(cell: &Cell) -> String {
    const FIRST: [&str; 3] = ["threads", "block_size_bytes", "file_size_bytes"];
    let first = FIRST
        .iter()
        .filter_map(|&factor| Some((factor, cell.get(factor)?)));
    let others = cell.iter().filter(|(factor, _)| !FIRST.contains(factor));
    let texts: Vec<String> = first
        .chain(others)
        .map(|(factor, level)| level_text(factor, level))
        .collect();
    texts.join(", ")
}

pub(crate) fn level_text(factor: &str, level: &Level) -> String {
    match (factor, level) {
        ("threads", Level::Integer(1)) => "1 thread".to_owned(),
        ("threads", level) => format!("{level} threads"),
        ("block_size_bytes", Level::Integer(bytes)) => {
            format!("{} blocks", format_bytes(bytes.unsigned_abs()))
        }
        ("file_size_bytes", Level::Integer(bytes)) => {
            format!("{} in all", format_bytes(bytes.unsigned_abs()))
        }
        // Their levels say which factor they are of.
        ("filesystem" | "directory", level) => level.to_string(),
        (factor, level) => format!("{} {level}", factor.replace('_', " ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_with_their_units() {
        let cell = Cell::new()
            .with("kernel", "2.5.59")
            .with("filesystem", "ext3")
            .with("threads", 32u32)
            .with("file_size_bytes", 8u64 << 30)
            .with("block_size_bytes", 4096u32)
            .with("load", "io_halfmem");
        assert_eq!(
            cell_text(&cell),
            "32 threads, 4 KiB blocks, 8 GiB in all, ext3, kernel 2.5.59, load io_halfmem"
        );
        assert_eq!(cell_text(&Cell::new().with("threads", 1u32)), "1 thread");
        assert_eq!(cell_text(&Cell::new()), "");
    }
}
