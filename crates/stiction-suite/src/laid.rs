//! Where the files lie that a phase wrote below some directories.

use std::path::PathBuf;

use stiction_core::{FileMap, Layout, Phase, WitnessLevel};
use stiction_host::{HostError, file_map};

use crate::tree_move;

/// More files than this are sampled: each costs an open and a question.
const FILES_MAX: usize = 1000;

/// Enters the layout of all regular files below `roots` into the phase's witnesses. Of
/// many files every n-th is looked at, and a note says so. What is still to be written
/// back may have no place yet.
pub(crate) fn record_layout(roots: &[PathBuf], phase: &mut Phase) {
    if phase.witnesses.level == WitnessLevel::None {
        return;
    }
    let mut files = Vec::new();
    for root in roots.iter().filter(|root| root.exists()) {
        match tree_move::amount(root) {
            Ok(amount) => files.extend(amount.files),
            Err(error) => return miss(phase, &error),
        }
    }
    if files.is_empty() {
        return;
    }
    let every = files.len().div_ceil(FILES_MAX);
    let looked_at = files.iter().step_by(every);
    let maps: Result<Vec<FileMap>, HostError> =
        looked_at.map(|path| file_map(path, false)).collect();
    match maps {
        Ok(maps) => {
            if maps.len() < files.len() {
                phase.notes.push(format!(
                    "the layout is that of {} of {} files",
                    maps.len(),
                    files.len()
                ));
            }
            phase.witnesses.layout = Layout::of(&maps);
            phase.witnesses.extents = phase.witnesses.layout.map(|layout| layout.extents);
        }
        Err(error) => miss(phase, &error),
    }
}

fn miss(phase: &mut Phase, error: &dyn std::fmt::Display) {
    phase
        .witnesses
        .missing
        .push(format!("extents after: {error}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    use stiction_core::PhaseKind;

    fn recorded(roots: &[PathBuf]) -> Phase {
        let mut phase = Phase::new("create", PhaseKind::Measure);
        record_layout(roots, &mut phase);
        phase
    }

    #[test]
    fn files_of_all_directories_are_looked_at_and_of_many_a_sample() {
        let folder = testkit::scratch_folder();
        let roots = [folder.path().join("a"), folder.path().join("b")];
        for root in &roots {
            std::fs::create_dir_all(root.join("inner")).unwrap();
            for number in 0..3 {
                std::fs::write(root.join("inner").join(number.to_string()), b"x").unwrap();
            }
        }
        let phase = recorded(&roots);
        let layout = phase.witnesses.layout.unwrap();
        assert_eq!((layout.files, layout.file_bytes), (6, 6));
        assert!(phase.notes.is_empty());

        for number in 0..2 * FILES_MAX {
            std::fs::write(roots[0].join(number.to_string()), b"").unwrap();
        }
        let phase = recorded(&roots);
        // Of 2006 files every third.
        assert_eq!(phase.witnesses.layout.unwrap().files, 669);
        assert_eq!(phase.notes, ["the layout is that of 669 of 2006 files"]);
    }

    #[test]
    fn nothing_made_is_no_layout() {
        let folder = testkit::scratch_folder();
        let phase = recorded(&[folder.path().to_owned(), folder.path().join("gone")]);
        assert_eq!(
            phase.witnesses,
            Phase::new("x", PhaseKind::Measure).witnesses
        );
    }
}
