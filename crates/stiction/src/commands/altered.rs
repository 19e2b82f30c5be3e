//! Settings of the machine, from words to what can be made.

use stiction_core::{Conditions, Setting, parse_size_bytes};
use stiction_host::{
    Alterations, GlobalGrant, GrantedDevice, HeldDevice, SCRATCH_BYTES, ScratchGrant,
};

use crate::arguments::{MachineArguments, ScratchDevice};
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

/// The device that settings are tried on, if one was handed over: the one that is typed, or
/// else the one that a file names.
///
/// # Errors
/// When it is in use, its serial is another, or something is on it.
pub(super) fn granted(
    machine: &MachineArguments,
    in_file: Option<ScratchDevice>,
) -> Result<Option<GrantedDevice>, Failure> {
    let typed = machine.scratch_device.as_ref();
    let typed = typed.map(ScratchDevice::parse).transpose();
    let Some(device) = typed.map_err(Failure::new)?.or(in_file) else {
        return match machine.wipe_signature {
            Some(_) => Err(
                Failure::new("--wipe-signature is about a device, and none is named")
                    .advise("Hand it over by name and serial: --scratch /dev/sdx=SERIAL"),
            ),
            None => Ok(None),
        };
    };
    let grant = ScratchGrant {
        serial: device.serial,
        wipe_signature: machine.wipe_signature.clone(),
    };
    let held = HeldDevice::acquire(&device.path, &grant)?;
    Ok(Some(GrantedDevice::new(held)))
}

/// What the settings come to, on the machine and through the workload; `in_file` is the
/// size of scratch space that a file names, `device` the one that is in its place.
///
/// # Errors
/// When there is no such setting, or it was not permitted.
pub(super) fn alterations(
    settings: &[Setting],
    machine: &MachineArguments,
    in_file: Option<&str>,
    device: Option<&GrantedDevice>,
) -> Result<(Alterations, Conditions), Failure> {
    let (conditions, settings) = Conditions::read(settings).map_err(Failure::new)?;
    let size = machine.scratch_size.as_deref().or(in_file);
    let size_bytes = size.map_or(Ok(SCRATCH_BYTES), parse_size_bytes)?;
    let grant = GlobalGrant::from_option(machine.global_settings);
    let read = Alterations::read(&settings, size_bytes, grant);
    let read = read.and_then(|read| match device {
        Some(device) => read.on_granted(device),
        None => Ok(read),
    });
    Ok((read.map_err(Failure::new)?, conditions))
}
