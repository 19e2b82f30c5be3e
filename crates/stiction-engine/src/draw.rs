//! Random numbers for the timed loop: a nanosecond each.

use stiction_core::Seed;

/// wyrand (Wang Yi, wyhash, public domain).
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    state: u64,
}

impl Draw {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { state: seed.0 }
    }

    /// 64 random bits.
    #[inline(always)]
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.state) * u128::from(self.state ^ 0xe703_7ed1_a0b4_28db);
        (product as u64) ^ ((product >> 64) as u64)
    }

    /// A number below `end`, each as likely as the others by one part in 2^64 / `end`:
    /// the upper half of a product (Lemire, "Fast random integer generation in an
    /// interval", 2019).
    #[inline(always)]
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.split_below(end).0
    }

    /// As [`below`](Self::below), and the lower half of the product, which says where
    /// between that number and the next the draw fell.
    #[inline(always)]
    pub(crate) fn split_below(&mut self, end: u64) -> (u64, u64) {
        let product = u128::from(self.bits()) * u128::from(end);
        ((product >> 64) as u64, product as u64)
    }

    /// A number between 0 and 1, neither included.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }
}
