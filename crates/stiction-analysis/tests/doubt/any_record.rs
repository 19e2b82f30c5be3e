//! What holds for any record at all.

use super::examined;
use crate::scene::{GIB, Scene, disk, limit, on, recorded};
use proptest::prelude::*;
use stiction_core::Action::{Read, Write};
use stiction_core::{Data, IoLimit, Subject};

prop_compose! {
    fn scene()(
        action in prop_oneof![Just(Read), Just(Write)],
        block in prop_oneof![Just(1u64), Just(4096), Just(GIB), Just(u64::MAX / 64)],
        tenths in prop::collection::vec(prop::collection::vec(0u64..4_000_000_000_000, 0..4), 0..30),
        moved in prop::option::of(prop_oneof![Just(0.0), Just(1.0), 0.0f64..40.0]),
        cached in prop::option::of((0.0f64..2.0, 0.0f64..2.0)),
        direct in prop::option::of(any::<bool>()),
        synced in any::<bool>(),
        zeros in any::<bool>(),
        worker in prop::option::of(0.0f64..2.0),
        holes in prop::option::of(any::<u64>()),
        limited in prop::option::of(any::<u64>()),
        link in prop::option::of(any::<u64>()),
        kind in prop_oneof![Just("ext4"), Just("tmpfs"), Just("btrfs"), Just("zfs")],
        workers in 0usize..3,
    ) -> Scene {
        let mut scene = recorded(action, block, tenths);
        let mut device = disk("vda");
        device.link_bytes_per_s = link;
        scene = scene.target(on(kind, vec![device]));
        if let Some(share) = moved { scene = scene.moved(share); }
        if let Some((before, after)) = cached { scene = scene.cached(before, after); }
        if let Some(granted) = direct { scene = scene.direct(granted); }
        if synced { scene = scene.synced(); }
        if zeros { scene.job_mut().data = Data::Zeros; }
        if let Some(share) = worker { scene = scene.worker_cpu(share); }
        if let Some(bytes) = limited {
            scene = scene.limit(IoLimit { read_bytes_per_s: Some(bytes), ..limit("x") });
        }
        scene.phase.witnesses.unwritten_bytes = holes;
        scene.phase.workers.truncate(workers);
        scene
    }
}

proptest! {
    #[test]
    fn is_examined_without_a_panic_and_with_reasons(scene in scene()) {
        let finding = examined(&scene);
        prop_assert!(!finding.reasons.is_empty());
        prop_assert!(finding.reasons.iter().all(|reason| !reason.is_empty()));
        prop_assert_eq!(finding.ceiling.is_some(), finding.subject == Subject::Limiter);
        let mut codes: Vec<_> = finding.caveats.iter().map(|caveat| caveat.code).collect();
        codes.sort();
        codes.dedup();
        prop_assert_eq!(codes.len(), finding.caveats.len(), "a code twice");
    }

    /// A subject that blames nobody's memory and nobody's ceiling needs a device that moved.
    #[test]
    fn is_never_called_disk_without_a_device_that_moved_it(scene in scene()) {
        if examined(&scene).subject == Subject::Disk {
            let moved: u64 = scene.phase.witnesses.devices.iter()
                .map(|device| device.read_bytes + device.written_bytes).sum();
            prop_assert!(moved as f64 >= 0.9 * scene.bytes() as f64);
        }
    }
}
