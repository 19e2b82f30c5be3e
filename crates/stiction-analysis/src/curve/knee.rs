//! The knee of a curve of latency over throughput.
//!
//! It is where the *power* is greatest, throughput over mean time in the system
//! (L. Kleinrock, "Power and Deterministic Rules of Thumb for Probabilistic Problems in
//! Computer Communications", ICC 1979): below it more load costs little latency, above
//! it latency grows by a greater share than throughput does. It needs no scale or
//! tuning, unlike a change of curvature, and for one exponential server it lies at half
//! of the capacity, where a job finds on average one other in the system.

/// Where the knee is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Knee {
    /// Between the rates that were measured, at so many operations per second.
    At(f64),
    /// At the least rate that was measured or below, operations per second.
    Below(f64),
    /// At the greatest rate that was kept or beyond, operations per second.
    Beyond(f64),
}

impl Knee {
    /// The rate, as far as it is known, operations per second.
    #[must_use]
    pub fn per_s(self) -> f64 {
        match self {
            Self::At(per_s) | Self::Below(per_s) | Self::Beyond(per_s) => per_s,
        }
    }
}

/// The knee of `points`: throughputs, operations per second, and mean latencies, ns, in
/// rising order of throughput. `None` of fewer than three.
///
/// Between the point of the greatest power and its neighbours the peak of the parabola
/// through all three is taken; for one exponential server that is exact.
#[must_use]
pub fn knee(points: &[(f64, f64)]) -> Option<Knee> {
    let power = |&(per_s, mean_ns): &(f64, f64)| per_s / mean_ns;
    let well = |point: &&(f64, f64)| point.0 > 0.0 && point.1 > 0.0;
    let points: Vec<(f64, f64)> = points.iter().filter(well).copied().collect();
    let best =
        (0..points.len()).max_by(|&a, &b| power(&points[a]).total_cmp(&power(&points[b])))?;
    if points.len() < 3 {
        return None;
    }
    if best == 0 {
        return Some(Knee::Below(points[0].0));
    }
    if best == points.len() - 1 {
        return Some(Knee::Beyond(points[best].0));
    }
    let around = [best - 1, best, best + 1].map(|index| (points[index].0, power(&points[index])));
    let peak = vertex(around).clamp(around[0].0, around[2].0);
    Some(Knee::At(peak))
}

/// Where the parabola through three points has its vertex; the middle one when they lie
/// on a line.
fn vertex([(x0, y0), (x1, y1), (x2, y2)]: [(f64, f64); 3]) -> f64 {
    let left = (x1 - x0) * (y1 - y2);
    let right = (x1 - x2) * (y1 - y0);
    let bend = left - right;
    if bend == 0.0 {
        return x1;
    }
    x1 - ((x1 - x0) * left - (x1 - x2) * right) / (2.0 * bend)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points at these loads of a queue whose mean time in the system, in service times,
    /// is known; a service takes 1 ms, so the capacity of one server is 1000 a second.
    fn points(loads: &[f64], servers: f64, time: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let point = |&load: &f64| (1000.0 * servers * load, 1e6 * time(load));
        loads.iter().map(point).collect()
    }

    const TENTHS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

    /// M/M/1: T = 1 / (1 - load), so the power is load (1 - load): 0.5, wherever the
    /// points lie.
    #[test]
    fn one_exponential_server_has_its_knee_at_half_load() {
        for loads in [&TENTHS[..], &[0.13, 0.41, 0.87], &[0.3, 0.55, 0.6, 0.95]] {
            let Some(Knee::At(per_s)) = knee(&points(loads, 1.0, |load| 1.0 / (1.0 - load))) else {
                panic!("no knee at {loads:?}");
            };
            assert!((per_s - 500.0).abs() < 1e-6, "{per_s}");
        }
    }

    /// M/D/1: T = (2 - load) / 2 (1 - load); the power has its greatest value where
    /// load = 2 - sqrt(2).
    #[test]
    fn a_server_without_chance_has_it_later() {
        let time = |load: f64| (2.0 - load) / (2.0 * (1.0 - load));
        let Some(Knee::At(per_s)) = knee(&points(&TENTHS, 1.0, time)) else {
            panic!("no knee");
        };
        let exact = 1000.0 * (2.0 - std::f64::consts::SQRT_2);
        assert!((per_s - exact).abs() < 5.0, "{per_s} for {exact}");
    }

    /// M/M/2: T = 1 / (1 - load^2), so the power peaks at load = 1 / sqrt(3).
    #[test]
    fn two_servers_have_it_later_too() {
        let time = |load: f64| 1.0 / (1.0 - load * load);
        let Some(Knee::At(per_s)) = knee(&points(&TENTHS, 2.0, time)) else {
            panic!("no knee");
        };
        let exact = 2000.0 / 3f64.sqrt();
        assert!((per_s - exact).abs() < 10.0, "{per_s} for {exact}");
    }

    #[test]
    fn a_knee_that_was_not_reached_is_said_to_lie_beyond() {
        let time = |load: f64| 1.0 / (1.0 - load);
        let low = points(&[0.1, 0.2, 0.4], 1.0, time);
        assert_eq!(knee(&low), Some(Knee::Beyond(400.0)));
        let high = points(&[0.6, 0.8, 0.9], 1.0, time);
        assert_eq!(knee(&high), Some(Knee::Below(600.0)));
        assert_eq!(knee(&low[..2]), None);
        assert_eq!(knee(&[]), None);
    }
}
