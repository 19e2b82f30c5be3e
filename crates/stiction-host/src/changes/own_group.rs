//! A control group in which there is nobody but us, so that its pressure is ours.

use crate::cgroup::{ControlGroups, is_top};
use crate::undo::UndoJournal;
use crate::{ControlGroup, HostError, Roots};

/// Moves this process into a new group of the version 2 hierarchy when it stands at the
/// top of it, where the kernel counts for the whole machine. It needs no controller.
///
/// `None` where that is not needed or does not help: the process is in a group below the
/// top already, there is no such hierarchy, or its groups count no pressure.
///
/// # Errors
/// When the kernel refuses the group: pressure stays that of the machine.
pub fn enter_own_group(undo: &UndoJournal) -> Result<Option<ControlGroup>, HostError> {
    let roots = Roots::live();
    let groups = ControlGroups::read(&roots).version_two();
    let own = groups.and_then(|groups| groups.folders.into_iter().next());
    let Some(own) = own.filter(|own| is_top(&roots, own) && roots.has(own.join("cgroup.pressure")))
    else {
        return Ok(None);
    };
    let name = format!("stiction-{}-alone", std::process::id());
    let group = ControlGroup::create(&own, &name, undo)?;
    group.enter()?;
    Ok(Some(group))
}
