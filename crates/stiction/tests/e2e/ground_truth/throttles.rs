//! A ceiling that the kernel holds: the rate is the ceiling, within 5 %.

use testkit::{ScratchLoop, Throttle, ThrottleLimits};

use super::{figure, fio};
use crate::counters::phase;
use crate::lab::Lab;

/// The kernel doles out in slices of 100 ms, of which there are 40, and gives a group that
/// was idle one in advance.
const TOLERANCE: f64 = 0.05;

#[test]
fn root_rates_under_a_throttle_are_the_throttles() {
    testkit::require_root!();
    let operations = ScratchLoop::new(64 << 20);
    let bytes = ScratchLoop::new(64 << 20);
    let cases = [
        (
            &operations,
            ThrottleLimits {
                read_operations_per_s: 100,
                ..ThrottleLimits::default()
            },
            "--rw=randread --bs=4k --ioengine=io_uring --iodepth=4",
            ("operations_per_s", 100.0),
        ),
        (
            &bytes,
            ThrottleLimits {
                read_bytes_per_s: 10_000_000,
                ..ThrottleLimits::default()
            },
            "--rw=read --bs=64k",
            ("rate_bytes_per_s", 1e7),
        ),
    ];
    for (device, limits, job, (metric, ceiling)) in cases {
        let lab = Lab::new();
        let throttle = match Throttle::new(device.device_number(), limits) {
            Ok(throttle) => throttle,
            Err(reason) => testkit::skip!("{reason}"),
        };
        let options = format!(
            "{job} --direct=1 --time_based --runtime=4 --filename={}",
            device.path().display()
        );
        let report = fio(&lab, &options, lab.store());
        drop(throttle);
        let rate = figure(phase(&report, "job"), metric);
        let told = format!("{job}: {rate} where {ceiling} are allowed");
        assert!((rate / ceiling - 1.0).abs() <= TOLERANCE, "{told}");
        assert_eq!(phase(&report, "job")["subject"], "limiter", "{told}");
    }
}
