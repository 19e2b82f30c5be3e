//! `stiction layout`.

use stiction_core::FileMap;
use stiction_host::{HostError, file_map};
use stiction_report::{json, layout};

use crate::arguments::{FileLayoutArguments, FileLayoutView};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Looks and prints.
pub(super) fn run(typed: &FileLayoutArguments, console: &Console) -> Result<Exit, Failure> {
    let files = typed.files.iter();
    let maps: Result<Vec<FileMap>, HostError> =
        files.map(|path| file_map(path, !typed.as_is)).collect();
    let maps = maps?;
    let text = match typed.view {
        _ if console.json => json::layout(&maps),
        FileLayoutView::Summary => layout::layout(&maps, console.style()),
        FileLayoutView::Filefrag => layout::filefrag(&maps),
        FileLayoutView::Bmap => layout::bmap(&maps),
    };
    console.data(&text)?;
    Ok(if maps.iter().all(|map| map.extents.is_none()) {
        Exit::CannotTell
    } else {
        Exit::Done
    })
}
