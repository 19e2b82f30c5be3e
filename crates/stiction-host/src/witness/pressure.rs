//! Pressure stall information (`Documentation/accounting/psi.rst`).

/// Total of the `some` line, ns: time in which at least one task waited.
///
/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=123` (in microseconds).
pub(super) fn some_total_ns(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line
        .split_ascii_whitespace()
        .find_map(|field| field.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()?.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::some_total_ns;

    /// The form that the kernel's documentation gives.
    #[test]
    fn the_total_is_in_microseconds() {
        let text = "some avg10=0.22 avg60=0.17 avg300=1.11 total=58761459\n\
                    full avg10=0.00 avg60=0.13 avg300=0.96 total=57156513";
        assert_eq!(some_total_ns(text), Some(58_761_459_000));
        assert_eq!(some_total_ns("full avg10=0.00 total=5"), None);
        assert_eq!(some_total_ns("some avg10=0.22 total="), None);
    }
}
