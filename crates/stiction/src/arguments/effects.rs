//! `--mei`: the smallest effects of interest, as typed.

use stiction_analysis::Effects;

/// What the words before `=` mean.
const CLASSES: &str = "throughput, latency, tail, extreme, cpu or cpu-points";

/// Reads `throughput=2%,latency=5%`, or `2%` alone for throughput. What is not named keeps
/// its default.
pub(super) fn effects(text: &str) -> Result<Effects, String> {
    let mut effects = Effects::default();
    for part in text.split(',').map(str::trim) {
        let (class, value) = match part.split_once('=') {
            Some((class, value)) => (class.trim(), value.trim()),
            None => ("throughput", part),
        };
        let share = || share(value);
        match class {
            "throughput" => effects.throughput = share()?,
            "latency" => effects.latency_mean = share()?,
            "tail" => effects.latency_tail = share()?,
            "extreme" => effects.latency_extreme = Some(share()?),
            "cpu" => effects.cpu = share()?,
            "cpu-points" => effects.cpu_points = above_zero(value, value)?,
            other => return Err(format!("`{other}` is none of {CLASSES}")),
        }
    }
    Ok(effects)
}

/// `2%` or `2` as 0.02.
fn share(value: &str) -> Result<f64, String> {
    let number = value.strip_suffix('%').unwrap_or(value).trim();
    let percent = above_zero(number, value)?;
    if percent > 100.0 {
        return Err(format!("`{value}` is above 100 %"));
    }
    Ok(percent / 100.0)
}

fn above_zero(number: &str, typed: &str) -> Result<f64, String> {
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        Ok(_) => Err(format!("`{typed}` is not above 0")),
        Err(_) => Err(format!("`{typed}` is no percentage, such as 2%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_set_apart_and_the_rest_keeps_its_default() {
        let found = effects("throughput=2%, tail=12.5,cpu-points=2").unwrap();
        let default = Effects::default();
        assert_eq!((found.throughput, found.latency_tail), (0.02, 0.125));
        assert_eq!(found.cpu_points, 2.0);
        assert_eq!(
            (found.latency_mean, found.cpu, found.latency_extreme),
            (default.latency_mean, default.cpu, None)
        );
        assert_eq!(effects("1%").unwrap().throughput, 0.01);
        assert_eq!(effects("extreme=20%").unwrap().latency_extreme, Some(0.2));
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for (typed, message) in [
            ("0%", "`0%` is not above 0"),
            ("throughput=-3%", "`-3%` is not above 0"),
            ("throughput=nan", "`nan` is not above 0"),
            (
                "speed=3%",
                "`speed` is none of throughput, latency, tail, extreme, cpu or cpu-points",
            ),
            ("tail=fast", "`fast` is no percentage, such as 2%"),
            ("200%", "`200%` is above 100 %"),
        ] {
            assert_eq!(effects(typed).unwrap_err(), message);
        }
    }
}
