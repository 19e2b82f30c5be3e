//! The report of a kept session: each workload's own, and the layouts of old programs.

use stiction_core::Session;
use stiction_report::ext3_tools::{
    TimeLayout, disk_test, ladder, pagecache, parallel, time_read, times, tree_move,
    tree_move_times, write_and_fsync,
};
use stiction_report::ioping::{ioping, ioping_text};
use stiction_report::sync_methods::{pg_test_fsync, sync_methods};
use stiction_report::{Judged, Style, is_fio_run};

use super::{bonnie, contest, tiobench};
use crate::arguments::{ClassicLayout, ProfileLayout, ProgramLayout};
use crate::failure::Failure;

/// The report that the workload's command prints; every figure where it has none of its
/// own.
pub(super) fn own(session: &Session, style: Style) -> String {
    let judged = Judged::examine(session);
    if is_fio_run(session) {
        return stiction_report::fio_run(&judged, style);
    }
    let own: fn(&Judged<'_>, Style) -> String = match workload(session) {
        "quick" => stiction_report::quick,
        "curve" => stiction_report::curve,
        "tiobench" => stiction_report::tiobench::modern,
        "bonnie" => stiction_report::bonnie::modern,
        "contest" => stiction_report::contest::contest,
        "write-and-fsync" => write_and_fsync,
        "time-read" => time_read,
        "tree-move" => tree_move,
        "parallel" => parallel,
        "pagecache" => pagecache,
        "ladder" => ladder,
        "metadata" => stiction_report::metadata,
        "sync-methods" => sync_methods,
        "ioping" => ioping,
        _ => stiction_report::show,
    };
    own(&judged, style)
}

/// What ran, if anything did here.
fn workload(session: &Session) -> &str {
    let plan = session.header.plan.as_ref();
    plan.map_or("", |plan| plan.workload.as_str())
}

/// The session in a classic layout.
///
/// # Errors
/// When it is no session of a workload that has this layout.
pub(super) fn classic(session: &Session, layout: ClassicLayout) -> Result<String, Failure> {
    match layout {
        ClassicLayout::Tiobench(layout) => tiobench::classic_report(session, layout),
        ClassicLayout::Bonnie(layout) => bonnie::classic_report(session, layout),
        ClassicLayout::Contest(layout) => contest::classic_report(session, layout),
        ClassicLayout::Program(layout) => of_program(session, layout),
        ClassicLayout::Profile(ProfileLayout::Folded) => profile(session, stiction_report::folded),
        ClassicLayout::Profile(ProfileLayout::FlameGraph) => {
            profile(session, stiction_report::flame_graph)
        }
    }
}

fn of_program(session: &Session, layout: ProgramLayout) -> Result<String, Failure> {
    use ProgramLayout as P;
    let workload = workload(session);
    let time = match layout {
        P::Zsh => TimeLayout::Zsh,
        P::Bash => TimeLayout::Bash,
        _ => TimeLayout::Gnu,
    };
    Ok(match (layout, workload) {
        (P::PgTestFsync, "sync-methods") => pg_test_fsync(session),
        (P::Ioping, "ioping") => ioping_text(session),
        (P::DiskTest, "parallel" | "pagecache") => disk_test(session),
        (P::Zsh | P::Bash | P::Gnu, "write-and-fsync" | "time-read") => times(session, time),
        (P::Zsh | P::Bash | P::Gnu, "tree-move") => tree_move_times(session, time),
        _ => {
            let of = match layout {
                P::PgTestFsync => "sync-methods",
                P::Ioping => "ioping",
                P::DiskTest => "parallel or pagecache",
                P::Zsh | P::Bash | P::Gnu => "write-and-fsync, time-read or tree-move",
            };
            let message = format!("{} is not a session of {of}", session.header.id);
            return Err(
                Failure::new(message).advise("Leave out --layout to see it in stiction's own.")
            );
        }
    })
}

/// The session's profile in a form of its own.
fn profile(session: &Session, form: fn(&Session) -> Option<String>) -> Result<String, Failure> {
    form(session).ok_or_else(|| {
        Failure::new(format!("{} has no profile", session.header.id))
            .advise("`--witness full` records one, as root.")
    })
}
