//! What arrived at the file system: the same files, places and sizes?

use std::collections::BTreeMap;

use testkit::Asked;

/// Of chance that is to be told from a difference: once in 10^6.
const CHANCE_LN: f64 = 14.0;

/// What was asked of one file in one direction.
#[derive(Debug, Default)]
struct Stream {
    /// Offset and length of each request, in the order of arrival.
    requests: Vec<(u64, u64)>,
}

/// How closely places and sizes are to agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Alike {
    /// The same requests in the same order.
    InOrder,
    /// The same requests, in any order.
    Requests,
    /// Sizes as by the same chance, and so much of the same region touched.
    Chance(f64),
    /// The same region, touched by whatever sizes.
    Region(f64),
}

/// Where two lists of requests differ by more than they may.
pub(crate) fn differences(fio: &[Asked], ours: &[Asked], alike: Alike) -> Vec<String> {
    let (fio, ours) = (streams(fio), streams(ours));
    let names = |streams: &BTreeMap<_, _>| streams.keys().cloned().collect::<Vec<_>>();
    if names(&fio) != names(&ours) {
        return vec![format!("asked: {:?}, ours {:?}", names(&fio), names(&ours))];
    }
    let pairs = fio.iter().zip(ours.values());
    pairs
        .filter_map(|(((file, way), fio), ours)| {
            let what = fio.difference(ours, alike)?;
            Some(format!("{file} {way}: {what}"))
        })
        .collect()
}

fn streams(asked: &[Asked]) -> BTreeMap<(String, &'static str), Stream> {
    let mut streams: BTreeMap<_, Stream> = BTreeMap::new();
    for one in asked {
        let way = if one.is_write { "written" } else { "read" };
        let stream = streams.entry((one.file.clone(), way)).or_default();
        stream.requests.push((one.offset_bytes, one.length_bytes));
    }
    streams
}

impl Stream {
    fn difference(&self, ours: &Self, alike: Alike) -> Option<String> {
        match alike {
            Alike::InOrder => first_difference(&self.requests, &ours.requests),
            Alike::Requests => first_difference(&self.sorted(), &ours.sorted()),
            Alike::Region(tolerance) => self.region_difference(ours, tolerance),
            Alike::Chance(tolerance) => self
                .sizes_differ(ours)
                .or_else(|| self.region_difference(ours, tolerance)),
        }
    }

    fn sorted(&self) -> Vec<(u64, u64)> {
        let mut requests = self.requests.clone();
        requests.sort_unstable();
        requests
    }

    /// Whether the region is another, or another part of it was touched.
    fn region_difference(&self, ours: &Self, tolerance: f64) -> Option<String> {
        let (fio, ours) = (self.touched(), ours.touched());
        let span = |touched: &[(u64, u64)]| touched.last().map_or(0, |last| last.1) as f64;
        let bytes = |touched: &[(u64, u64)]| -> f64 {
            touched
                .iter()
                .map(|(start, end)| (end - start) as f64)
                .sum()
        };
        let near = |one: f64, other: f64| (one - other).abs() <= tolerance * one.max(other);
        let first = |touched: &[(u64, u64)]| touched.first().map_or(0, |first| first.0) as f64;
        let start_is_near = (first(&fio) - first(&ours)).abs() <= tolerance * span(&fio);
        let alike = near(bytes(&fio), bytes(&ours)) && near(span(&fio), span(&ours));
        (!alike || !start_is_near).then(|| {
            let told = |touched: &[(u64, u64)]| {
                let (from, to) = (first(touched), span(touched));
                format!("{} bytes of {from} to {to}", bytes(touched))
            };
            format!("touched {}, ours {}", told(&fio), told(&ours))
        })
    }

    /// What was touched: starts and ends, ascending, none touching the next.
    fn touched(&self) -> Vec<(u64, u64)> {
        let mut touched: Vec<(u64, u64)> = Vec::new();
        for (offset, length) in self.sorted() {
            let end = offset + length;
            match touched.last_mut() {
                Some((_, last)) if offset <= *last => *last = end.max(*last),
                _ => touched.push((offset, end)),
            }
        }
        touched
    }

    /// Whether the sizes are of another mix: chi-square of two samples, against the
    /// bound of Laurent and Massart (2000), lemma 1: of `df` degrees of freedom, more than
    /// df + 2 sqrt(df x) + 2 x comes by chance once in e^x.
    fn sizes_differ(&self, ours: &Self) -> Option<String> {
        let mut counts: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        let class = |length: &u64| length.ilog2();
        for (_, length) in &self.requests {
            counts.entry(class(length)).or_default().0 += 1.0;
        }
        for (_, length) in &ours.requests {
            counts.entry(class(length)).or_default().1 += 1.0;
        }
        let (all, all_ours) = (self.requests.len() as f64, ours.requests.len() as f64);
        let chi_square: f64 = counts
            .values()
            .map(|(fio, ours)| {
                let scale = (all_ours / all).sqrt();
                (fio * scale - ours / scale).powi(2) / (fio + ours)
            })
            .sum();
        let freedom = counts.len() as f64 - 1.0;
        let bound = freedom + 2.0 * (freedom * CHANCE_LN).sqrt() + 2.0 * CHANCE_LN;
        (chi_square > bound).then(|| format!("sizes by powers of two: {counts:?}"))
    }
}

fn first_difference(fio: &[(u64, u64)], ours: &[(u64, u64)]) -> Option<String> {
    let differ = |pair: &(&(u64, u64), &(u64, u64))| pair.0 != pair.1;
    let found = fio
        .iter()
        .zip(ours)
        .enumerate()
        .find(|(_, pair)| differ(pair));
    match found {
        Some((number, (one, other))) => {
            Some(format!("request {number} is {one:?}, ours {other:?}"))
        }
        None if fio.len() != ours.len() => {
            Some(format!("{} requests, ours {}", fio.len(), ours.len()))
        }
        None => None,
    }
}

fn asked(requests: &[(u64, u64)]) -> Vec<Asked> {
    let each = requests.iter().map(|&(offset_bytes, length_bytes)| Asked {
        file: "f".to_owned(),
        is_write: false,
        offset_bytes,
        length_bytes,
    });
    each.collect()
}

/// The comparison itself finds what differs.
#[test]
fn other_places_sizes_and_orders_are_found() {
    let differ = |one: &[(u64, u64)], other: &[(u64, u64)], alike| {
        !differences(&asked(one), &asked(other), alike).is_empty()
    };
    let (up, down) = ([(0, 4), (4, 4)], [(4, 4), (0, 4)]);
    assert!(differ(&up, &down, Alike::InOrder));
    assert!(!differ(&up, &down, Alike::Requests));
    assert!(differ(&up, &[(0, 8)], Alike::Requests));
    assert!(!differ(&up, &[(0, 8)], Alike::Region(0.0)));
    assert!(differ(&up, &[(0, 4)], Alike::Region(0.05)));
    // Half of one size and half of another, and then three quarters.
    let mix = |large: u64| -> Vec<(u64, u64)> {
        let sizes = (0..400).map(|number| if number % 4 < large { 8192 } else { 4096 });
        sizes.map(|size| (0, size)).collect()
    };
    assert!(!differ(&mix(2), &mix(2), Alike::Chance(0.0)));
    assert!(differ(&mix(2), &mix(3), Alike::Chance(0.0)));
}
