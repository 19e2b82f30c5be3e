//! Names and sizes of the files that the file phases make.

use std::ffi::OsString;

use stiction_core::Seed;

use super::parameters::{FileWork, Naming};

/// Letters that follow the number, at most.
const LETTERS_MAX: u64 = 12;
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The name of file `number`: a number that rises and random letters, the other way
/// round in the set of random names. So those are made in rising order too: what is
/// random is their order by name.
pub(super) fn file_name(naming: Naming, random_set: bool, number: u64, seed: Seed) -> OsString {
    let digits = match naming {
        Naming::Decimal => format!("{number:07}"),
        Naming::Hexadecimal => format!("{number:010x}"),
    };
    let mut draw = seed.stream(number).0;
    let mut letters = String::new();
    for _ in 0..draw % (LETTERS_MAX + 1) {
        draw = Seed(draw).stream(0).0;
        let at = (u128::from(draw) * LETTERS.len() as u128) >> 64;
        letters.push(char::from(LETTERS[at as usize]));
    }
    if random_set {
        format!("{letters}{digits}").into()
    } else {
        format!("{digits}{letters}").into()
    }
}

/// The name of directory `number`.
pub(super) fn directory_name(number: u64) -> OsString {
    format!("{number:05}").into()
}

/// The directory that file `number` of its worker goes into.
pub(super) fn directory_of(work: &FileWork, number: u64) -> u64 {
    number / work.files_per_directory.max(1)
}

/// The size of file `number`, drawn evenly from `bytes_min` to `bytes_max`.
pub(super) fn file_size(bytes_min: u64, bytes_max: u64, number: u64, seed: Seed) -> u64 {
    let span = u128::from(bytes_max - bytes_min) + 1;
    bytes_min + ((u128::from(seed.stream(number).0) * span) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_stands_in_front_or_behind() {
        for number in [0, 1, 255, 16_383] {
            let name = |naming, random| {
                let name = file_name(naming, random, number, Seed(7));
                name.into_string().unwrap()
            };
            let hex = format!("{number:010x}");
            assert!(name(Naming::Hexadecimal, false).starts_with(&hex));
            assert!(name(Naming::Hexadecimal, true).ends_with(&hex));
            assert!(name(Naming::Decimal, false).starts_with(&format!("{number:07}")));
            assert!((10..=22).contains(&name(Naming::Hexadecimal, false).len()));
        }
    }

    #[test]
    fn letters_are_of_every_length() {
        let lengths: std::collections::BTreeSet<usize> = (0..1000)
            .map(|number| file_name(Naming::Hexadecimal, false, number, Seed(1)).len() - 10)
            .collect();
        assert_eq!(lengths, (0..=12).collect());
    }

    #[test]
    fn sizes_stay_between_their_bounds() {
        let sizes: std::collections::BTreeSet<u64> = (0..1000)
            .map(|number| file_size(3, 5, number, Seed(9)))
            .collect();
        assert_eq!(sizes, [3, 4, 5].into());
        assert_eq!(file_size(0, u64::MAX, 0, Seed(1)), Seed(1).stream(0).0);
    }
}
