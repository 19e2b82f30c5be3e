//! Chance as an argument: every random choice of a session follows from one seed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The seed of a plan, printed with every result so that it can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// An independent seed for the use named by `stream`, such as a worker's number.
    ///
    /// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
    /// generators", OOPSLA 2014), which maps distinct inputs to distinct outputs:
    /// two streams of one seed never coincide.
    #[must_use]
    #[inline]
    pub fn stream(self, stream: u64) -> Self {
        let mut z = self
            .0
            .wrapping_add(stream.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(z ^ (z >> 31))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference SplitMix64 for seed 1234567, as published
    /// with the generator's C version.
    #[test]
    fn streams_are_splitmix64() {
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for (stream, want) in expected.into_iter().enumerate() {
            assert_eq!(Seed(1_234_567).stream(stream as u64).0, want);
        }
    }
}
