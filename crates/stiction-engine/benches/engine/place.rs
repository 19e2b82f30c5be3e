//! Where operations go: files and devices that are made for the rows that need them,
//! and go with this.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use stiction_core::{Action, Create, Data, Job, Region, Seed, SyncKind};
use stiction_engine::{Progress, StopFlag, Target, run};
use testkit::{ScratchLoop, Zram};

use crate::rows::Place;

/// The places that some rows need.
pub(crate) struct Places {
    /// Devices, held until all is done.
    devices: Vec<Box<dyn std::any::Any>>,
    folder: tempfile::TempDir,
    /// Paths, or why there is none.
    paths: BTreeMap<Place, Result<PathBuf, String>>,
}

impl Places {
    /// Makes what `wanted` names, below `folder`.
    pub(crate) fn make(folder: &Path, wanted: impl Iterator<Item = Place>) -> Result<Self, String> {
        let folder = tempfile::tempdir_in(folder).map_err(|error| error.to_string())?;
        let mut places = Self {
            folder,
            devices: Vec::new(),
            paths: BTreeMap::new(),
        };
        for place in wanted {
            if !places.paths.contains_key(&place) {
                let path = places.make_one(place)?;
                places.paths.insert(place, path);
            }
        }
        Ok(places)
    }

    fn make_one(&mut self, place: Place) -> Result<Result<PathBuf, String>, String> {
        let length_bytes = place.length_bytes();
        let needs_root = || Err("making devices needs root".to_owned());
        Ok(match place {
            Place::Nothing => Ok(PathBuf::new()),
            Place::SmallCached | Place::LargeCached | Place::Written | Place::Disk => {
                let path = self.folder.path().join(format!("{place:?}.data"));
                write_file(&path, length_bytes)?;
                Ok(path)
            }
            Place::Loop | Place::Zram if !testkit::skip::is_root() => needs_root(),
            Place::Loop => {
                let device = ScratchLoop::in_memory(length_bytes, |file| {
                    write_file(file, length_bytes).expect("a file in memory");
                });
                let path = device.path().to_owned();
                self.devices.push(Box::new(device));
                Ok(path)
            }
            Place::Zram => Zram::new(length_bytes).map(|zram| {
                let path = zram.path().to_owned();
                self.devices.push(Box::new(zram));
                path
            }),
        })
    }

    /// Its path, or why there is none.
    pub(crate) fn path(&self, place: Place) -> Result<&Path, String> {
        self.paths[&place].as_deref().map_err(Clone::clone)
    }

    /// The folder of the files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Place {
    /// How much of it is used, bytes.
    pub(crate) fn length_bytes(self) -> u64 {
        match self {
            Self::Nothing | Self::SmallCached => 8 << 20,
            Self::Written => 64 << 20,
            Self::LargeCached | Self::Disk | Self::Loop | Self::Zram => 256 << 20,
        }
    }

    /// Brings into the page cache what is to be found there.
    pub(crate) fn warm(self, path: &Path) -> Result<(), String> {
        if !matches!(self, Self::SmallCached | Self::LargeCached | Self::Written) {
            return Ok(());
        }
        let failed = |error| format!("{}: {error}", path.display());
        let mut file = File::open(path).map_err(failed)?;
        let mut block = vec![0; 1 << 20];
        while file.read(&mut block).map_err(failed)? > 0 {}
        Ok(())
    }
}

/// A file of random data, on the disk.
fn write_file(path: &Path, length_bytes: u64) -> Result<(), String> {
    let job = Job {
        name: "lay down".to_owned(),
        action: Action::Write,
        block_size_bytes: 1 << 20,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes,
        }],
        create: Create::Truncate,
        data: Data::Unique,
        once: true,
        sync_at_end: Some(SyncKind::Fsync),
        seed: Seed(1),
        ..Job::default()
    };
    let targets = [Target::File(path.to_owned())];
    let outcome = run(&job, &targets, &StopFlag::new(), &Progress::new(1))
        .map_err(|error| error.to_string())?;
    match &outcome.workers[0].failure {
        None => Ok(()),
        Some(failure) => Err(failure.to_string()),
    }
}
