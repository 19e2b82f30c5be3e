//! Where a trial works when its configuration changes the machine for it.

use std::path::Path;

use stiction_core::{Applied, Caveat, Seed};
use stiction_host::{Alterations, Altered, HostError, UndoJournal};
use stiction_suite::{Place, TrialReport};

use crate::trial::{failed, skipped};

/// What was made for a trial, and where it works then.
pub(crate) struct Ground {
    altered: Option<Altered>,
    places: Vec<Place>,
}

impl Ground {
    /// Makes what `alterations` say, with scratch space in the directory among `places`;
    /// the trial works there in its stead. Chance follows from `seed`.
    ///
    /// # Errors
    /// How the trial ends without it.
    pub(crate) fn make(
        alterations: Option<&Alterations>,
        places: &[Place],
        seed: Seed,
        undo: &UndoJournal,
    ) -> Result<Self, TrialReport> {
        let Some(alterations) = alterations else {
            return Ok(Self {
                altered: None,
                places: places.to_vec(),
            });
        };
        let directory = places.iter().find_map(directory).unwrap_or(Path::new("."));
        let altered = alterations.make(directory, seed, undo).map_err(|error| {
            let reason = error.skip_reason();
            reason.map_or_else(|| failed(error.to_string()), skipped)
        })?;
        let moved = |place: &Place| match (place, altered.directory()) {
            (Place::Directory(_), Some(scratch)) => Place::Directory(scratch.to_owned()),
            (place, _) => place.clone(),
        };
        Ok(Self {
            places: places.iter().map(moved).collect(),
            altered: Some(altered),
        })
    }

    /// Where the trial works.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Whether its directory was made for this trial, and goes with it.
    pub(crate) fn is_made_for_trial(&self) -> bool {
        let altered = self.altered.as_ref();
        altered.is_some_and(|altered| altered.directory().is_some())
    }

    /// Gives free blocks of what was made back to the device under it; how many bytes.
    pub(crate) fn trim(&self) -> Option<Result<u64, HostError>> {
        self.altered.as_ref()?.trim()
    }

    /// What was asked for, and found.
    pub(crate) fn applied(&self) -> &[Applied] {
        self.altered.as_ref().map_or(&[], Altered::applied)
    }

    /// The doubts that follow for the trial.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = Caveat> {
        self.applied().iter().filter_map(Applied::doubt)
    }

    /// Undoes all of it, or says in words what could not be undone.
    pub(crate) fn undo(self) -> Option<String> {
        let error = self.altered?.undo().err()?;
        Some(format!("{error}; `stiction restore` tries again"))
    }
}

/// What is wrong with the places of a configuration that needs scratch space.
pub(crate) fn problem(alterations: &Alterations, places: &[Place]) -> Option<String> {
    alterations.scratch_bytes()?;
    let directories = places.iter().filter_map(directory).count();
    if directories == 1 && directories == places.len() {
        return None;
    }
    Some(
        "scratch space stands in one directory of yours, and this benchmark works in several \
         places or on a device or file: give it one directory"
            .to_owned(),
    )
}

fn directory(place: &Place) -> Option<&Path> {
    match place {
        Place::Directory(path) => Some(path),
        Place::Device(_) | Place::File(_) => None,
    }
}
