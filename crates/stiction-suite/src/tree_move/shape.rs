//! What a generated tree looks like.

use std::path::PathBuf;

use stiction_core::Seed;

use super::options::Generated;

/// Standard deviation of the logarithm of sizes: the median file is then about half of
/// the mean one, as in source trees.
const SIZE_DEVIATION: f64 = 1.2;
/// Directories in a directory.
const FAN_OUT: usize = 5;
/// What is written at a time; larger files repeat it.
pub(super) const PIECE_BYTES_MAX: u64 = 1 << 20;

/// Directories by their paths from the top, each after the one that it is in, the top
/// first; and files.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) directories: Vec<PathBuf>,
    pub(super) files: Vec<ShapeFile>,
}

/// A file of a tree.
#[derive(Debug)]
pub(super) struct ShapeFile {
    /// Number of its directory.
    pub(super) directory: usize,
    pub(super) name: String,
    pub(super) bytes: u64,
}

/// The tree for that seed.
pub(super) fn shape(generated: Generated, seed: Seed) -> Shape {
    let mut directories = vec![PathBuf::new()];
    for number in 1..=generated.directories as usize {
        let inside = &directories[(number - 1) / FAN_OUT];
        directories.push(inside.join(format!("d{number}")));
    }
    let sizes = sizes(generated, seed.stream(0));
    let places = seed.stream(1);
    let files = (0..).zip(sizes).map(|(number, bytes)| ShapeFile {
        directory: below(places.stream(number), directories.len()),
        name: format!("f{number}"),
        bytes,
    });
    Shape {
        files: files.collect(),
        directories,
    }
}

/// Log-normal sizes that add up to the whole.
fn sizes(generated: Generated, seed: Seed) -> Vec<u64> {
    let weights: Vec<f64> = (0..u64::from(generated.files))
        .map(|file| (SIZE_DEVIATION * normal(seed.stream(file))).exp())
        .collect();
    let sum: f64 = weights.iter().sum();
    let share = |weight: &f64| (generated.bytes as f64 * weight / sum) as u64;
    let mut sizes: Vec<u64> = weights.iter().map(share).collect();
    let rest = generated.bytes.saturating_sub(sizes.iter().sum());
    if let Some(last) = sizes.last_mut() {
        *last += rest;
    }
    sizes
}

/// A draw from the standard normal distribution: Box and Muller, "A note on the
/// generation of random normal deviates", 1958.
fn normal(seed: Seed) -> f64 {
    let uniform = |stream| ((seed.stream(stream).0 >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
    (-2.0 * uniform(0).ln()).sqrt() * (std::f64::consts::TAU * uniform(1)).cos()
}

/// A number below `count`.
fn below(seed: Seed, count: usize) -> usize {
    ((u128::from(seed.0) * count as u128) >> 64) as usize
}

/// Fills a file's piece with bytes that are in no other file.
pub(super) fn fill(piece: &mut [u8], seed: Seed) {
    for (word, bytes) in (0..).zip(piece.chunks_mut(8)) {
        let drawn = seed.stream(word).0.to_le_bytes();
        bytes.copy_from_slice(&drawn[..bytes.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_has_what_was_asked_for() {
        let generated = Generated::KERNEL_OF_2002;
        let shape = shape(generated, Seed(3));
        assert_eq!(shape.files.len(), 12_000);
        assert_eq!(shape.directories.len(), 751, "with the top");
        let bytes: u64 = shape.files.iter().map(|file| file.bytes).sum();
        assert_eq!(bytes, 150 << 20);
        let deepest = shape
            .directories
            .iter()
            .map(|d| d.components().count())
            .max();
        assert_eq!(
            deepest,
            Some(4),
            "5, 25, 125 and 595 of them in four levels"
        );
        for (number, directory) in shape.directories.iter().enumerate().skip(1) {
            let inside = directory.parent().unwrap();
            assert!(shape.directories[..number].iter().any(|d| d == inside));
        }
    }

    /// The median of a log-normal distribution is its mean over exp(sigma^2 / 2).
    #[test]
    fn sizes_are_log_normal() {
        let generated = Generated::KERNEL_OF_2002;
        let mut sizes = sizes(generated, Seed(3));
        sizes.sort_unstable();
        let mean = generated.bytes as f64 / f64::from(generated.files);
        let expected = mean / (SIZE_DEVIATION.powi(2) / 2.0).exp();
        let median = sizes[sizes.len() / 2] as f64;
        assert!((median / expected - 1.0).abs() < 0.1, "{median} {expected}");
    }
}
