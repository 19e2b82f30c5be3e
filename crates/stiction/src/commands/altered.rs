//! Settings of the machine, from words to what can be made.

use stiction_core::{Conditions, Setting, parse_size_bytes};
use stiction_host::{Alterations, GlobalGrant, SCRATCH_BYTES};

use crate::arguments::MachineArguments;
use crate::failure::Failure;

/// `scheduler=none`, as it is typed.
///
/// # Errors
/// Without a factor or an equals sign.
pub(super) fn setting(text: &str) -> Result<Setting, Failure> {
    match text.split_once('=') {
        Some((factor, level)) if !factor.is_empty() => Ok(Setting::new(factor, level)),
        _ => Err(
            Failure::new(format!("`{text}` is no setting: give FACTOR=LEVEL"))
                .advise("Such as scheduler=none, filesystem=xfs or mount_options=noatime."),
        ),
    }
}

/// What the settings come to, on the machine and through the workload; `in_file` is the
/// size of scratch space that a file names.
///
/// # Errors
/// When there is no such setting, or it was not permitted.
pub(super) fn alterations(
    settings: &[Setting],
    machine: &MachineArguments,
    in_file: Option<&str>,
) -> Result<(Alterations, Conditions), Failure> {
    let (conditions, settings) = Conditions::read(settings).map_err(Failure::new)?;
    let size = machine.scratch_size.as_deref().or(in_file);
    let size_bytes = size.map_or(Ok(SCRATCH_BYTES), parse_size_bytes)?;
    let grant = GlobalGrant::from_option(machine.global_settings);
    let alterations = Alterations::read(&settings, size_bytes, grant).map_err(Failure::new)?;
    Ok((alterations, conditions))
}
