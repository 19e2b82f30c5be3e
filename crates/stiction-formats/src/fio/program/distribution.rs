//! Which blocks are preferred: fio's `random_distribution`.

use stiction_core::{PPM_WHOLE, Skew, SkewShape, Zone as Part};

use super::super::job::{Distribution, Zone};
use super::super::units::Amount;
use super::Desk;

const OPTION: &str = "random_distribution";

/// The skew of the directions that occur; `None` for none.
pub(super) fn skew(desk: &mut Desk<'_>, region_bytes: u64) -> Option<Skew> {
    let job = desk.job();
    let action = job.pattern.action;
    let each = &job.chance.distribution;
    let mut used = [
        (action.reads(), &each.read),
        (action.writes(), &each.write),
        (action.trims(), &each.trim),
    ]
    .into_iter()
    .filter_map(|(occurs, one)| occurs.then_some(one));
    let first = used.next()?;
    if used.any(|other| other != first) {
        desk.refuse(OPTION, "all directions of a job are spread alike");
        return None;
    }
    match first {
        Distribution::Even => None,
        Distribution::Zipf { theta, centre } => {
            let exponent_ppm = ppm(*theta);
            centred(desk, SkewShape::Zipf { exponent_ppm }, *centre, 0.0)
        }
        Distribution::Pareto { power, centre } => {
            let hot_ppm = ppm(*power);
            if hot_ppm >= PPM_WHOLE / 2 {
                desk.refuse(OPTION, "a share of a half or more is no preference");
                return None;
            }
            centred(desk, SkewShape::SelfSimilar { hot_ppm }, *centre, 0.0)
        }
        Distribution::Normal {
            deviation_percent,
            centre,
        } => {
            let deviation_ppm = ppm(deviation_percent / 100.0);
            if deviation_ppm == 0 {
                desk.refuse(OPTION, "a deviation of 0 leaves one block");
                return None;
            }
            centred(desk, SkewShape::Normal { deviation_ppm }, *centre, 0.5)
        }
        Distribution::Zoned(zones) => zoned(desk, zones, region_bytes),
    }
}

/// Where the hottest block lies: fio scatters the blocks by a hash unless it is told a
/// place for it.
fn centred(desk: &mut Desk<'_>, shape: SkewShape, centre: Option<f64>, ours: f64) -> Option<Skew> {
    if centre.is_some_and(|centre| (centre - ours).abs() > 1e-9) {
        let reason = format!("the hottest place can only be {ours} of the region");
        desk.refuse(OPTION, reason);
        return None;
    }
    Some(Skew {
        shape,
        scattered: centre.is_none(),
    })
}

fn zoned(desk: &mut Desk<'_>, zones: &[Zone], region_bytes: u64) -> Option<Skew> {
    let share = |zone: &Zone| match zone.size {
        Amount::Percent(percent) => f64::from(percent) / 100.0,
        Amount::Bytes(bytes) => bytes.0 as f64 / region_bytes.max(1) as f64,
    };
    let covered: f64 = zones.iter().map(share).sum();
    if (covered - 1.0).abs() > 1e-6 {
        let reason = format!(
            "the zones come to {:.0} % of the region of {region_bytes} bytes; they must come to all of it",
            covered * 100.0
        );
        desk.refuse(OPTION, reason);
        return None;
    }
    let operations = whole(zones.iter().map(|zone| zone.access_percent / 100.0));
    let regions = whole(zones.iter().map(share));
    let parts = operations.into_iter().zip(regions);
    Some(Skew {
        shape: SkewShape::Zoned(
            parts
                .map(|(operations_ppm, region_ppm)| Part {
                    operations_ppm,
                    region_ppm,
                })
                .collect(),
        ),
        scattered: false,
    })
}

/// Shares of 1 as parts per million that come to a whole: what rounding leaves goes to
/// the last.
fn whole(shares: impl Iterator<Item = f64>) -> Vec<u32> {
    let mut parts: Vec<u32> = shares.map(ppm).collect();
    let before: u32 = parts.iter().rev().skip(1).sum();
    if let Some(last) = parts.last_mut() {
        *last = PPM_WHOLE.saturating_sub(before);
    }
    parts
}

fn ppm(share: f64) -> u32 {
    (share * f64::from(PPM_WHOLE)).round() as u32
}
