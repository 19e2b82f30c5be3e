//! Arguments about what is measured and what is recorded of it.

use std::ffi::OsString;
use std::path::PathBuf;

use stiction_core::WitnessLevel;

use super::PreparationArguments;

/// Arguments that every measuring command has.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Recording")]
pub(crate) struct Recording {
    /// Call the session NAME, to compare it by
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Seed of every random choice [default: chosen and recorded]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// How much to watch: counters before and after (light), or each request on the
    /// devices and a profile of the CPUs too (full) [default: light]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) witness: Option<WitnessWord>,
    /// Record the drives' serial numbers
    #[arg(long)]
    pub(crate) keep_serial_numbers: bool,
    /// Record the host's name
    #[arg(long)]
    pub(crate) keep_host_name: bool,
    /// Fill the filesystem to its last byte if need be, not to 95 %
    #[arg(long)]
    pub(crate) may_fill: bool,
    #[command(flatten)]
    pub(crate) preparation: PreparationArguments,
}

/// How much stands beside each phase, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WitnessWord {
    /// Nothing; figures are not judged by what moved
    None,
    /// Counters, read before and after
    Light,
    /// Each request on the devices, a profile and stalls as well; needs root
    Full,
}

impl WitnessWord {
    /// What it means.
    pub(crate) fn level(self) -> WitnessLevel {
        match self {
            Self::None => WitnessLevel::None,
            Self::Light => WitnessLevel::Light,
            Self::Full => WitnessLevel::Full,
        }
    }
}

/// A block device that the user hands over to be overwritten, by name and serial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScratchDevice {
    /// The device node.
    pub(crate) path: PathBuf,
    /// Its serial, as the user typed it.
    pub(crate) serial: String,
}

impl ScratchDevice {
    /// Reads `DEVICE=SERIAL`; the device's path may hold `=`, a serial may not.
    pub(crate) fn parse(text: &OsString) -> Result<Self, String> {
        let whole = text.to_string_lossy();
        let Some((path, serial)) = whole.rsplit_once('=') else {
            return Err(format!(
                "`{whole}` is not DEVICE=SERIAL; `lsblk -o NAME,SERIAL` shows the serial to type"
            ));
        };
        if path.is_empty() || serial.is_empty() {
            return Err(format!(
                "`{whole}` lacks the {}",
                if path.is_empty() { "device" } else { "serial" }
            ));
        }
        Ok(Self {
            path: path.into(),
            serial: serial.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_names_device_and_serial() {
        let grant = ScratchDevice::parse(&"/dev/sdx=S4EWNX0R".into()).unwrap();
        assert_eq!(
            (grant.path, grant.serial.as_str()),
            (PathBuf::from("/dev/sdx"), "S4EWNX0R")
        );
        for text in ["/dev/sdx", "/dev/sdx=", "=S4EWNX0R"] {
            assert!(ScratchDevice::parse(&text.into()).is_err(), "{text}");
        }
    }
}
