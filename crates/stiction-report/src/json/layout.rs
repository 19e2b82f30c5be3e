//! Where files lie, as JSON.

use serde::Serialize;
use stiction_core::{Extent, FileMap, Layout};

use super::document;

#[derive(Serialize)]
struct LayoutView<'a> {
    /// Of all files that could be measured together; null when none could.
    together: Option<Figures>,
    files: Vec<FileView<'a>>,
}

#[derive(Serialize)]
struct FileView<'a> {
    path: &'a str,
    size_bytes: u64,
    block_size_bytes: u64,
    hole_bytes: u64,
    /// Null where the filesystem has no map of extents.
    layout: Option<Figures>,
    /// The extents as the filesystem reports them; null as `layout`.
    map: Option<&'a [Extent]>,
}

#[derive(Serialize)]
struct Figures {
    #[serde(flatten)]
    layout: Layout,
    run_bytes_mean: Option<f64>,
    interleave_ratio: Option<f64>,
    seek_bytes_per_byte_ratio: Option<f64>,
}

impl From<Layout> for Figures {
    fn from(layout: Layout) -> Self {
        Self {
            layout,
            run_bytes_mean: layout.run_bytes_mean(),
            interleave_ratio: layout.interleave_ratio(),
            seek_bytes_per_byte_ratio: layout.seek_bytes_per_byte(),
        }
    }
}

/// Where each file lies, and what they come to. Schema `stiction-layout`.
#[must_use]
pub fn layout(maps: &[FileMap]) -> String {
    let known: Vec<FileMap> = maps
        .iter()
        .filter(|map| map.extents.is_some())
        .cloned()
        .collect();
    let files = maps.iter().map(|map| FileView {
        path: &map.path,
        size_bytes: map.size_bytes,
        block_size_bytes: map.block_size_bytes,
        hole_bytes: map.hole_bytes,
        layout: Layout::of(std::slice::from_ref(map)).map(Figures::from),
        map: map.extents.as_deref(),
    });
    document(
        "stiction-layout",
        LayoutView {
            together: Layout::of(&known).map(Figures::from),
            files: files.collect(),
        },
    )
}
