//! The table of options: names are fio's, words are ours. Names and ranges were held
//! against `fio --cmdhelp` of Debian's 3.33 (a test does so again where fio is
//! installed); later releases' names are added. Names of engines' options that have
//! no meaning here are known, so that the refusal can say why.

mod course;
mod files;
mod measure;
mod outside;
mod work;

use super::{Feature, FioOption, Kind, Status};

/// A bare number counts seconds, in ns.
const SECOND: u64 = 1_000_000_000;
/// A bare number counts microseconds, in ns.
const MICROSECOND: u64 = 1_000;

const fn meant(
    name: &'static str,
    aliases: &'static [&'static str],
    kind: Kind,
    feature: Feature,
) -> FioOption {
    FioOption {
        name,
        aliases,
        kind,
        status: Status::Meant(feature),
    }
}

const fn accepted(
    name: &'static str,
    aliases: &'static [&'static str],
    kind: Kind,
    reason: &'static str,
) -> FioOption {
    FioOption {
        name,
        aliases,
        kind,
        status: Status::Accepted(reason),
    }
}

const fn refused(
    name: &'static str,
    aliases: &'static [&'static str],
    kind: Kind,
    reason: &'static str,
) -> FioOption {
    FioOption {
        name,
        aliases,
        kind,
        status: Status::Refused(reason),
    }
}

/// Every option known, by what it is about.
const TABLES: [&[FioOption]; 5] = [
    work::OPTIONS,
    course::OPTIONS,
    files::OPTIONS,
    measure::OPTIONS,
    outside::OPTIONS,
];

/// Every option known.
pub fn all() -> impl Iterator<Item = &'static FioOption> {
    TABLES.into_iter().flatten()
}
