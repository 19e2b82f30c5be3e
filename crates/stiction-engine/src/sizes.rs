//! How long the next operation is.

use stiction_core::SizeMix;

use crate::draw::Draw;

/// A source of lengths.
#[derive(Debug)]
pub(crate) enum Lengths {
    One(u32),
    /// `min`, `min + step`, and so on: so many lengths.
    Range {
        min: u32,
        step: u32,
        lengths: u64,
    },
    /// Lengths, and below which number a draw means each of them.
    Split(Box<[(u64, u32)]>),
}

impl Lengths {
    /// The lengths of `mix`, which was checked.
    pub(crate) fn new(mix: &SizeMix) -> Self {
        match mix {
            SizeMix::One(bytes) => Self::One(*bytes as u32),
            SizeMix::Range {
                min_bytes,
                max_bytes,
                step_bytes,
            } => Self::Range {
                min: *min_bytes as u32,
                step: *step_bytes as u32,
                lengths: (max_bytes - min_bytes) / step_bytes + 1,
            },
            SizeMix::Split(shares) => {
                let mut reached = 0;
                let split = shares.iter().map(|share| {
                    reached += u64::from(share.weight);
                    (reached, share.bytes as u32)
                });
                Self::Split(split.collect())
            }
        }
    }

    #[inline]
    pub(crate) fn next(&self, draw: &mut Draw) -> u32 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Range { min, step, lengths } => min + step * draw.below(*lengths) as u32,
            Self::Split(split) => {
                let all = split.last().map_or(1, |(end, _)| *end);
                let drawn = draw.below(all);
                let chosen = split.iter().find(|(end, _)| drawn < *end);
                chosen.map_or(0, |(_, bytes)| *bytes)
            }
        }
    }
}
