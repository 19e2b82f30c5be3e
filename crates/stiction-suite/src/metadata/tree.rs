//! The shape of a tree: which directories there are, and which files are in which.

use std::ffi::OsString;
use std::path::PathBuf;

use super::options::MetadataParameters;

/// More directories than this are a mistake.
pub(super) const DIRECTORIES_MAX: u64 = 1_000_000;

/// A full tree, its directories numbered level by level from the first, which is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Levels below the first directory.
    pub(super) depth: u32,
    /// Directories in each that is not of the last level.
    pub(super) branch: u32,
    /// Whether files are in the last level alone.
    pub(super) leaves: bool,
}

impl Shape {
    pub(super) fn of(parameters: &MetadataParameters) -> Self {
        Self {
            depth: parameters.depth,
            branch: parameters.branch,
            leaves: parameters.leaves,
        }
    }

    /// Directories of a level; saturating.
    fn of_level(self, level: u32) -> u64 {
        u64::from(self.branch).saturating_pow(level)
    }

    /// Directories of the tree, the first included; saturating.
    pub(super) fn directories(self) -> u64 {
        let levels = (0..=self.depth).take(DIRECTORIES_MAX as usize);
        levels.fold(0, |sum: u64, level| {
            sum.saturating_add(self.of_level(level))
        })
    }

    /// The first directory that has files; those behind it have some too.
    fn first_with_files(self) -> u64 {
        if self.leaves {
            self.directories() - self.of_level(self.depth)
        } else {
            0
        }
    }

    /// Path of directory `number` from the first one, which has none.
    pub(super) fn path(self, number: u64) -> PathBuf {
        let branch = u64::from(self.branch.max(1));
        let mut names = Vec::new();
        let mut at = number;
        while at > 0 {
            names.push(format!("d{at}"));
            at = (at - 1) / branch;
        }
        names.iter().rev().collect()
    }

    /// Each directory that has any of `files` files, and the numbers of its files: as
    /// many in each as in the others, to one.
    pub(super) fn files_by_directory(
        self,
        files: u64,
    ) -> impl Iterator<Item = (u64, std::ops::Range<u64>)> {
        let first = self.first_with_files();
        let directories = self.directories() - first;
        let until = move |number: u64| {
            (u128::from(files) * u128::from(number) / u128::from(directories)) as u64
        };
        (0..directories)
            .map(move |number| (first + number, until(number)..until(number + 1)))
            .filter(|(_, numbers)| !numbers.is_empty())
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A file as it was made.
    File,
    /// The same after it was renamed.
    Renamed,
    /// Its second name.
    Link,
}

/// The name of file `number` of worker `owner`.
pub(super) fn name(named: Named, owner: u32, number: u64) -> OsString {
    let letter = match named {
        Named::File => 'f',
        Named::Renamed => 'r',
        Named::Link => 'l',
    };
    format!("{letter}.{owner}.{number}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINARY: Shape = Shape {
        depth: 2,
        branch: 2,
        leaves: false,
    };

    /// mdtest's `-z 2 -b 2`: one, two and four directories.
    #[test]
    fn a_tree_of_two_levels_has_seven_directories() {
        assert_eq!(BINARY.directories(), 7);
        assert_eq!(BINARY.path(0), PathBuf::new());
        assert_eq!(BINARY.path(2), PathBuf::from("d2"));
        assert_eq!(BINARY.path(6), PathBuf::from("d2/d6"));
        assert_eq!(BINARY.path(3), PathBuf::from("d1/d3"));
        let flat = Shape { depth: 0, ..BINARY };
        assert_eq!(flat.directories(), 1);
    }

    #[test]
    fn files_are_spread_evenly_over_all_or_the_lowest_directories() {
        let counts = |shape: Shape, files| -> Vec<(u64, u64)> {
            let each = shape.files_by_directory(files);
            each.map(|(directory, numbers)| (directory, numbers.end - numbers.start))
                .collect()
        };
        assert_eq!(
            counts(BINARY, 14),
            [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2)]
        );
        let leaves = Shape {
            leaves: true,
            ..BINARY
        };
        assert_eq!(counts(leaves, 8), [(3, 2), (4, 2), (5, 2), (6, 2)]);
        assert_eq!(counts(leaves, 2), [(4, 1), (6, 1)]);
        assert_eq!(counts(BINARY, 0), []);
    }
}
