//! Figures in sentences.

use stiction_core::{format_bytes, format_count};

/// A share as a percentage, with a digit after the point only below 10 %:
/// `0 %`, `0.3 %`, `97 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 9.95 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// A rate in bytes: `103 MiB/s`.
pub(super) fn byte_rate(bytes_per_s: f64) -> String {
    format!("{}/s", format_bytes(bytes_per_s.round().max(0.0) as u64))
}

/// A rate in operations: `100 operations/s`.
pub(super) fn operation_rate(operations_per_s: f64) -> String {
    format!("{} operations/s", format_count(operations_per_s).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_people_write_them() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.003), "0.3 %");
        assert_eq!(percent(0.9996), "100 %");
        assert_eq!(byte_rate(10.2 * 1_048_576.0), "10.2 MiB/s");
        assert_eq!(byte_rate(10.0 * 1_048_576.0), "10 MiB/s");
        assert_eq!(operation_rate(100.3), "100 operations/s");
    }
}
