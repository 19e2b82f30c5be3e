//! Devices that the user hands over to be overwritten.

use std::ffi::OsString;

use stiction_engine::ScratchDevice as Granted;
use stiction_host::{HeldDevice, ScratchGrant};
use stiction_suite::Place;

use crate::arguments::ScratchDevice;
use crate::failure::Failure;

/// The devices named with their serials.
///
/// # Errors
/// For a text that is not `DEVICE=SERIAL`.
pub(super) fn named(texts: &[OsString]) -> Result<Vec<ScratchDevice>, Failure> {
    let parse = |text| ScratchDevice::parse(text).map_err(Failure::new);
    texts.iter().map(parse).collect()
}

/// The device as a place. It is ours alone as long as the place lives.
///
/// # Errors
/// When it is in use, its serial is another, or something is on it.
pub(super) fn held(
    device: ScratchDevice,
    wipe_signature: Option<&String>,
) -> Result<Place, Failure> {
    let ScratchDevice { path, serial } = device;
    let grant = ScratchGrant {
        serial,
        wipe_signature: wipe_signature.cloned(),
    };
    let held = HeldDevice::acquire(&path, &grant)?;
    let granted = Granted::from_held(held.descriptor(), held.length_bytes(), path);
    Ok(Place::Device(granted))
}
