//! The classic layouts of every program, for sessions that are kept.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::{BonnieLayout, ContestLayout, Layout};

/// A layout of one of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassicLayout {
    /// tiobench's and tiotest's.
    Tiobench(Layout),
    /// Bonnie's and Bonnie++'s.
    Bonnie(BonnieLayout),
    /// contest's.
    Contest(ContestLayout),
    /// Of a program with a single one.
    Program(ProgramLayout),
    /// Of the profile of any session.
    Profile(ProfileLayout),
}

/// Layouts of programs that had no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgramLayout {
    /// pg_test_fsync's table
    #[value(name = "pg_test_fsync")]
    PgTestFsync,
    /// ioping's lines and statistics
    Ioping,
    /// zsh's `time`, a line for each run
    Zsh,
    /// bash's `time`, three lines for each run
    Bash,
    /// GNU time's, a line for each run
    Gnu,
    /// The lines of the disk tests of 2002
    DiskTest,
}

/// Forms of the profile that any session may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileLayout {
    /// Call paths with their samples, of a session with --witness full
    Folded,
    /// The same as a picture, in SVG
    FlameGraph,
}

impl ValueEnum for ClassicLayout {
    fn value_variants<'a>() -> &'a [Self] {
        use BonnieLayout as B;
        use ContestLayout as C;
        use Layout as T;
        use ProgramLayout as P;
        &[
            Self::Tiobench(T::V033),
            Self::Tiobench(T::V033NoHeads),
            Self::Tiobench(T::V04),
            Self::Tiobench(T::Old),
            Self::Tiobench(T::Posted),
            Self::Tiobench(T::Verbose),
            Self::Tiobench(T::Terse),
            Self::Bonnie(B::Bonnie),
            Self::Bonnie(B::Bonnie64),
            Self::Bonnie(B::BonnieHtml),
            Self::Bonnie(B::Text103e),
            Self::Bonnie(B::Text196),
            Self::Bonnie(B::Text200a),
            Self::Bonnie(B::Csv103e),
            Self::Bonnie(B::Csv196),
            Self::Bonnie(B::Csv200a),
            Self::Bonnie(B::PlusPlusHtml),
            Self::Contest(C::V034),
            Self::Contest(C::V034Summary),
            Self::Contest(C::V05),
            Self::Contest(C::V061),
            Self::Program(P::PgTestFsync),
            Self::Program(P::Ioping),
            Self::Program(P::Zsh),
            Self::Program(P::Bash),
            Self::Program(P::Gnu),
            Self::Program(P::DiskTest),
            Self::Profile(ProfileLayout::Folded),
            Self::Profile(ProfileLayout::FlameGraph),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Tiobench(layout) => layout.to_possible_value(),
            Self::Bonnie(layout) => layout.to_possible_value(),
            Self::Contest(layout) => layout.to_possible_value(),
            Self::Program(layout) => layout.to_possible_value(),
            Self::Profile(layout) => layout.to_possible_value(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_there_under_a_name_of_its_own() {
        let mut names: Vec<String> = ClassicLayout::value_variants()
            .iter()
            .filter_map(|layout| Some(layout.to_possible_value()?.get_name().to_owned()))
            .collect();
        let all = Layout::value_variants().len()
            + BonnieLayout::value_variants().len()
            + ContestLayout::value_variants().len()
            + ProgramLayout::value_variants().len()
            + ProfileLayout::value_variants().len();
        assert_eq!(names.len(), all);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
