//! What written data are like, for layers that compress or deduplicate.

use serde::{Deserialize, Serialize};

use crate::{Data, Job};

/// How easy [`Data::Unique`] is made for layers that compress or deduplicate. The
/// default: not at all.
///
/// Both shares are of pieces of 4 KiB, the smallest unit in which such layers work;
/// a block that is not a multiple has a last, shorter piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DataShape {
    /// Share of each piece that is zeros, after random bytes, 0 to 100 %: what is left
    /// of it when compressed is the rest.
    pub compress_percent: u8,
    /// Share of a worker's pieces that repeat one that it wrote before, 0 to 100 %.
    pub dedupe_percent: u8,
    /// Whether each write has bytes of its own. Otherwise each buffer is filled once,
    /// before the start, and written again and again.
    pub refill: bool,
}

impl Default for DataShape {
    fn default() -> Self {
        Self {
            compress_percent: 0,
            dedupe_percent: 0,
            refill: true,
        }
    }
}

impl Job {
    /// What the data are, if a layer that compresses or deduplicates moves less than
    /// was written: such as "zeros", or "to 50 % compressible"; `None` when it can do
    /// nothing about them.
    #[must_use]
    pub fn reducible_data(&self) -> Option<String> {
        let shape = self.shape;
        let said = match self.data {
            Data::Zeros => vec!["zeros".to_owned()],
            Data::Pattern => vec![format!("a pattern of {} bytes", self.pattern.len())],
            Data::Stamped => Vec::new(),
            Data::Unique => [
                (shape.compress_percent > 0)
                    .then(|| format!("to {} % compressible", shape.compress_percent)),
                (shape.dedupe_percent > 0)
                    .then(|| format!("to {} % repeated", shape.dedupe_percent)),
                (!shape.refill).then(|| "the same in each buffer's writes".to_owned()),
            ]
            .into_iter()
            .flatten()
            .collect(),
        };
        (!said.is_empty()).then(|| said.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_reduced_is_named() {
        let with = |data, compress_percent, dedupe_percent, refill| {
            let shape = DataShape {
                compress_percent,
                dedupe_percent,
                refill,
            };
            Job {
                data,
                shape,
                pattern: vec![1, 2],
                ..Job::default()
            }
            .reducible_data()
        };
        assert_eq!(with(Data::Unique, 0, 0, true), None);
        assert_eq!(with(Data::Stamped, 0, 0, true), None);
        let said = |job: Option<String>| job.unwrap();
        assert_eq!(said(with(Data::Zeros, 0, 0, true)), "zeros");
        assert_eq!(
            said(with(Data::Pattern, 0, 0, true)),
            "a pattern of 2 bytes"
        );
        assert_eq!(
            said(with(Data::Unique, 30, 20, false)),
            "to 30 % compressible and to 20 % repeated and the same in each buffer's writes"
        );
    }
}
