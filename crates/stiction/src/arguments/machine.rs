//! Arguments about settings of the machine.

use std::ffi::OsString;

/// What may be set on the machine for trials, and where it is tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Settings of the machine")]
pub(crate) struct MachineArguments {
    /// Settings of the whole machine (sysctl, huge pages) may be changed while trials
    /// run; everybody on it has them then
    #[arg(long)]
    pub(crate) global_settings: bool,
    /// Size of the scratch space that settings of a device or filesystem are tried on:
    /// a loop device over a file in the directory [default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) scratch_size: Option<String>,
    /// Try them on this whole device instead, and DESTROY what is on it; SERIAL is its
    /// serial number, which `lsblk -o NAME,SERIAL` shows
    #[arg(
        long = "scratch",
        value_name = "DEVICE=SERIAL",
        conflicts_with = "scratch_size"
    )]
    pub(crate) scratch_device: Option<OsString>,
    /// What the device holds and may be destroyed, as the refusal without this names it
    #[arg(long, value_name = "NAME")]
    pub(crate) wipe_signature: Option<String>,
}
