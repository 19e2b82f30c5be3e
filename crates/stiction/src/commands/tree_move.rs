//! `stiction tree-move`.

use stiction_report::Judged;
use stiction_report::ext3_tools::{TimeLayout as Layout, tree_move, tree_move_times};
use stiction_suite::tree_move::{EntryOrder, Generated};
use stiction_suite::{Place, TreeMove, TreeMoveOptions};

use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::optional_bytes;
use super::time_read;
use crate::arguments::{EntryOrder as Typed, TreeMoveArguments};
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size that does not read.
pub(super) fn meant(typed: &TreeMoveArguments) -> Result<Meant, Failure> {
    let named = [&typed.from, &typed.to].into_iter().chain(&typed.tree);
    let layout =
        time_read::time_layout(typed.time, false).or(typed.classic.then_some(Layout::Bash));
    Ok(Meant::new(
        TreeMove {
            options: options(typed)?,
        },
        named.cloned().map(Place::Directory).collect(),
        &typed.recording,
        command(typed),
        move |session, style| match layout {
            None => tree_move(&Judged::examine(session), style),
            Some(layout) => tree_move_times(session, layout),
        },
    ))
}

fn options(typed: &TreeMoveArguments) -> Result<TreeMoveOptions, Failure> {
    Ok(TreeMoveOptions {
        classic: typed.classic,
        copies_tree: typed.tree.is_some(),
        generated: generated(typed)?,
        rounds: typed.rounds,
        order: match typed.order {
            Typed::Directory => EntryOrder::Directory,
            Typed::Name => EntryOrder::Name,
            Typed::Inode => EntryOrder::Inode,
        },
        same_filesystem: typed.same_filesystem,
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    })
}

/// The tree that was asked for; what was not said follows from what was.
fn generated(typed: &TreeMoveArguments) -> Result<Option<Generated>, Failure> {
    let bytes = optional_bytes(typed.size.as_ref(), 1 << 20)?;
    if typed.files.is_none() && typed.directories.is_none() && bytes.is_none() {
        return Ok(None);
    }
    let usual = Generated::KERNEL_OF_2002;
    let files = typed.files.unwrap_or(usual.files);
    Ok(Some(Generated {
        files,
        directories: typed
            .directories
            .unwrap_or(files / (usual.files / usual.directories)),
        bytes: bytes.unwrap_or(usual.bytes / u64::from(usual.files) * u64::from(files)),
    }))
}

fn command(typed: &TreeMoveArguments) -> Vec<String> {
    let order = match typed.order {
        Typed::Directory => None,
        Typed::Name => Some("name"),
        Typed::Inode => Some("inode"),
    };
    Recorded::new("tree-move")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .value("--files", typed.files)
        .value("--directories", typed.directories)
        .value("--size", typed.size.as_ref())
        .value("--rounds", typed.rounds)
        .value("--runs", typed.runs)
        .value("--order", order)
        .switch("--same-filesystem", typed.same_filesystem)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
