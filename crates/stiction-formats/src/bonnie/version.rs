//! Versions of Bonnie++, and what is known to be wrong with the figures of each.

/// A version: `1.03e` is 1, 3, `e`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32, u8);

impl Version {
    /// The version that `text` names; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        let digits = minor.bytes().take_while(u8::is_ascii_digit).count();
        let (minor, letter) = minor.split_at(digits);
        let letter = match letter.as_bytes() {
            [] => 0,
            [letter, ..] if letter.is_ascii_alphabetic() => *letter,
            _ => return None,
        };
        Some(Self(major.parse().ok()?, minor.parse().ok()?, letter))
    }

    /// Time below which it hides a result, hundredths of a second: half a second, and
    /// a whole one up to 1.00e.
    pub(super) fn too_short_cs(self) -> u32 {
        if self <= Self(1, 0, b'e') { 100 } else { 50 }
    }

    /// Whether the wait of 5 s before the seeks is in their time: before 1.02c, and in
    /// 1.90 to 1.93a.
    pub(super) fn seeks_have_the_wait(self) -> bool {
        self < Self(1, 2, b'c') || (self >= Self(1, 90, 0) && self < Self(1, 93, b'b'))
    }

    /// Whether the CPU time of the process is counted again for each seeker.
    pub(super) fn adds_up_seekers(self) -> bool {
        self >= Self(1, 90, 0)
    }

    /// Whether its text report has numbers that are no rates where those of files go.
    pub(super) fn text_spoils_file_rates(self) -> bool {
        self >= Self(1, 98, 0)
    }

    /// Seekers when nothing else is asked for.
    pub(super) fn seekers(self) -> u64 {
        if self >= Self(1, 90, 0) { 5 } else { 3 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_in_their_order() {
        let of = |text| Version::parse(text).unwrap();
        let rising = [
            "1.00", "1.00e", "1.00f", "1.02b", "1.02c", "1.03e", "1.93b", "1.96", "2.00a",
        ];
        assert!(rising.windows(2).all(|pair| of(pair[0]) < of(pair[1])));
        assert_eq!(
            (of("1.00e").too_short_cs(), of("1.03e").too_short_cs()),
            (100, 50)
        );
        let wait = rising.map(|text| of(text).seeks_have_the_wait());
        assert_eq!(
            wait,
            [true, true, true, true, false, false, false, false, false]
        );
        assert_eq!((of("1.03e").seekers(), of("1.96").seekers()), (3, 5));
        assert!(!of("1.97").text_spoils_file_rates() && of("2.00").text_spoils_file_rates());
        assert_eq!(Version::parse("stiction"), None);
        assert_eq!(Version::parse("1.x"), None);
    }
}
