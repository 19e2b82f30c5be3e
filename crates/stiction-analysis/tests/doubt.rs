//! The examination, rule by rule: each test provokes one.

#[path = "doubt/scene.rs"]
mod scene;

use proptest as _;
use scene::{DEVICE, GIB, MIB, Scene, disk, layer, limit, on, recorded, steady};
use stiction_analysis::doubt::{Finding, examine};
use stiction_core::Action::{Read, Write};
use stiction_core::{
    BackendKind, CaveatCode, Data, IoLimit, LayerKind, PhaseOutcome, Residency, SkipCode,
    SkipReason, Subject, SystemCpu, Unit,
};

fn examined(scene: &Scene) -> Finding {
    examine(&scene.phase, &scene.environment)
}

fn subject(scene: &Scene) -> Subject {
    examined(scene).subject
}

fn codes(scene: &Scene) -> Vec<CaveatCode> {
    examined(scene)
        .caveats
        .iter()
        .map(|caveat| caveat.code)
        .collect()
}

fn detail(scene: &Scene, code: CaveatCode) -> String {
    let found = examined(scene).caveats;
    let caveat = found.iter().find(|caveat| caveat.code == code);
    caveat
        .unwrap_or_else(|| panic!("no {code} in {found:?}"))
        .detail
        .clone()
}

mod disk_and_cache {
    use super::*;

    #[test]
    fn a_device_that_moved_what_was_asked_is_the_disk() {
        let scene = steady(Read, 10).moved(1.0).cached(0.0, 1.0);
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Disk);
        assert_eq!(
            finding.reasons,
            ["vda read 1000 MiB of 1000 MiB asked (100 %)"]
        );
        assert_eq!(finding.caveats, []);
    }

    #[test]
    fn a_virtual_machine_says_what_cannot_be_seen() {
        let scene = steady(Read, 10).moved(1.0).cached(0.0, 1.0).with(|scene| {
            scene.environment.virtualisation.hypervisor = Some("kvm".to_owned());
        });
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Disk);
        assert!(finding.reasons[1].contains("kvm"), "{:?}", finding.reasons);
    }

    #[test]
    fn a_cached_read_is_the_cache_with_both_figures() {
        let scene = steady(Read, 10).moved(0.0).cached(1.0, 1.0);
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Cache);
        assert_eq!(
            finding.reasons,
            [
                "vda read 0 B of 1000 MiB asked (0 %)",
                "100 % of the file was in memory before"
            ]
        );
        assert_eq!(codes(&scene), [CaveatCode::ServedFromCache]);
    }

    #[test]
    fn half_from_memory_is_the_cache() {
        let scene = steady(Read, 10).moved(0.5).cached(0.5, 1.0);
        assert_eq!(subject(&scene), Subject::Cache);
        let just_enough = steady(Read, 10).moved(0.91).cached(0.05, 1.0);
        assert_eq!(subject(&just_enough), Subject::Disk);
    }

    #[test]
    fn a_second_pass_over_a_cold_file_is_the_cache() {
        let scene = steady(Read, 10).moved(0.1).with(|scene| {
            let tenth = scene.bytes() / 10;
            scene.job_mut().regions[0].length_bytes = tenth;
            let residency = Residency {
                cached_bytes: 0,
                dirty_bytes: 0,
                file_bytes: tenth,
            };
            scene.phase.witnesses.residency_before = Some(residency);
        });
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Cache);
        assert!(
            finding.reasons[1].contains("10.0 times over"),
            "{:?}",
            finding.reasons
        );
    }

    #[test]
    fn without_counters_a_cached_file_still_tells() {
        let scene = steady(Read, 10).cached(1.0, 1.0);
        assert_eq!(subject(&scene), Subject::Cache);
        assert!(codes(&scene).contains(&CaveatCode::WitnessMissing));
    }

    #[test]
    fn without_any_witness_nothing_is_known() {
        let scene = steady(Read, 10);
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Unknown);
        assert_eq!(finding.reasons, ["no counter of the device could be read"]);
        assert_eq!(codes(&scene), [CaveatCode::WitnessMissing]);
    }

    #[test]
    fn a_device_that_does_not_count_is_no_witness() {
        let scene = steady(Read, 10).moved(0.0).with(|scene| {
            let queue = &mut scene.environment.targets[0].layers[0].queue;
            queue.insert("iostats".to_owned(), "0".to_owned());
        });
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Unknown);
        assert!(
            finding.reasons[0].contains("iostats is 0"),
            "{:?}",
            finding.reasons
        );
    }

    #[test]
    fn filesystems_and_devices_in_memory_are_cache() {
        let tmpfs = steady(Write, 10).target(on("tmpfs", vec![]));
        let finding = examined(&tmpfs);
        assert_eq!(finding.subject, Subject::Cache);
        assert_eq!(finding.reasons, ["tmpfs keeps its files in memory"]);
        assert_eq!(
            finding.caveats,
            [],
            "nothing is missing: there is no device"
        );

        let zram = layer("zram0", LayerKind::Zram, DEVICE);
        let zram = steady(Read, 10).moved(1.0).target(on("ext4", vec![zram]));
        assert_eq!(subject(&zram), Subject::Cache);

        let mut over = layer("loop0", LayerKind::Loop, (7, 0));
        over.backing = Some(Box::new(on("tmpfs", vec![])));
        over.loop_direct_io = Some(true);
        let over = steady(Read, 10).moved(1.0).target(on("ext4", vec![over]));
        assert_eq!(subject(&over), Subject::Cache);
    }

    #[test]
    fn a_buffered_loop_device_hides_the_disk_from_reads_and_not_from_syncs() {
        let mut buffered = layer("loop0", LayerKind::Loop, (7, 0));
        buffered.loop_direct_io = Some(false);
        buffered.backing = Some(Box::new(on("ext4", vec![disk("vda")])));
        let stack = on("ext4", vec![buffered]);
        let read = steady(Read, 10)
            .moved(1.0)
            .cached(0.0, 1.0)
            .target(stack.clone());
        assert_eq!(subject(&read), Subject::Unknown);
        let write = steady(Write, 10).moved(1.0).synced().target(stack);
        assert_eq!(subject(&write), Subject::Disk);
    }

    #[test]
    fn a_write_that_nothing_waited_for_is_the_cache() {
        let scene = steady(Write, 10).moved(0.2).with(|scene| {
            scene.phase.witnesses.residency_after = Some(Residency {
                cached_bytes: 1000 * MIB,
                dirty_bytes: 800 * MIB,
                file_bytes: 1000 * MIB,
            });
        });
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Cache);
        assert!(
            finding
                .reasons
                .contains(&"nothing in the phase waited for the device".to_owned())
        );
        let said = detail(&scene, CaveatCode::NotFlushed);
        assert_eq!(
            said,
            "800 MiB of 1000 MiB was still in memory when the phase ended"
        );
    }

    #[test]
    fn a_synced_write_is_the_disk() {
        let scene = steady(Write, 10).moved(1.02).synced();
        assert_eq!(subject(&scene), Subject::Disk);
        assert_eq!(codes(&scene), []);
    }

    #[test]
    fn the_null_backend_measures_the_engine() {
        let scene = steady(Read, 10).with(|scene| scene.job_mut().backend = BackendKind::Null);
        assert_eq!(subject(&scene), Subject::Cpu);
    }
}

mod contradictions {
    use super::*;

    fn contradicts(scene: &Scene) {
        let finding = examined(scene);
        assert_eq!(finding.subject, Subject::Unknown, "{:?}", finding.reasons);
        assert!(finding.reasons.len() >= 2 || finding.reasons[0].contains("contradict"));
    }

    #[test]
    fn cached_all_the_while_and_yet_read() {
        contradicts(&steady(Read, 10).moved(1.0).cached(1.0, 1.0));
        // Pages that were thrown out in between explain it.
        let dropped = steady(Read, 10).moved(1.0).cached(1.0, 0.2);
        assert_eq!(subject(&dropped), Subject::Disk);
    }

    #[test]
    fn cold_and_not_read() {
        contradicts(&steady(Read, 10).moved(0.1).cached(0.0, 1.0));
        contradicts(&steady(Read, 10).moved(0.0).direct(true));
    }

    #[test]
    fn synced_and_not_written() {
        contradicts(&steady(Write, 10).moved(0.1).synced());
        contradicts(&steady(Write, 10).moved(0.0).direct(true));
    }

    #[test]
    fn overwriting_one_place_between_syncs_is_no_contradiction() {
        let scene = steady(Write, 10).moved(0.1).synced().with(|scene| {
            let tenth = scene.bytes() / 10;
            scene.job_mut().regions[0].length_bytes = tenth;
        });
        assert_eq!(subject(&scene), Subject::Cache);
    }

    #[test]
    fn faster_than_its_link() {
        let mut slow = disk("sda");
        slow.link = Some("USB 480 Mbps".to_owned());
        slow.link_bytes_per_s = Some(60_000_000);
        contradicts(
            &steady(Read, 10)
                .moved(1.0)
                .cached(0.0, 1.0)
                .target(on("ext4", vec![slow])),
        );
    }
}

mod limiters {
    use super::*;

    fn at(bytes_per_s: u64) -> IoLimit {
        IoLimit {
            read_bytes_per_s: Some(bytes_per_s),
            ..limit("blkio.throttle of /sys/fs/cgroup/blkio/x")
        }
    }

    #[test]
    fn a_rate_within_a_twentieth_of_the_limit_is_the_limiters() {
        // The scene moves 100 MiB/s.
        for (limit_mib, is_limiter) in [
            (94, false),
            (96, true),
            (100, true),
            (105, true),
            (106, false),
        ] {
            let scene = steady(Read, 10)
                .moved(1.0)
                .cached(0.0, 1.0)
                .limit(at(limit_mib * MIB));
            let is = subject(&scene) == Subject::Limiter;
            assert_eq!(is, is_limiter, "{limit_mib} MiB/s");
        }
    }

    #[test]
    fn the_ceiling_and_who_set_it_are_told() {
        let scene = steady(Read, 10)
            .moved(1.0)
            .cached(0.0, 1.0)
            .limit(at(102 * MIB));
        let finding = examined(&scene);
        let ceiling = finding.ceiling.unwrap();
        assert_eq!(
            (ceiling.value, ceiling.unit),
            ((102 * MIB) as f64, Unit::BytesPerSecond)
        );
        assert_eq!(
            finding.reasons,
            ["100 MiB/s, and the limit is 102 MiB/s (blkio.throttle of /sys/fs/cgroup/blkio/x)"]
        );
        assert!(codes(&scene).contains(&CaveatCode::Limiter));
    }

    #[test]
    fn a_limit_on_operations_is_matched_by_the_devices_requests_too() {
        let limited = |operations| IoLimit {
            read_operations_per_s: Some(operations),
            ..limit("io.max of /sys/fs/cgroup/x")
        };
        // 100 operations a second by the job's count; the device splits each in two.
        let scene = steady(Read, 10).moved(1.0).cached(0.0, 1.0);
        let split = scene
            .clone()
            .with(|scene| scene.phase.witnesses.devices[0].reads *= 2);
        assert_eq!(
            subject(&scene.clone().limit(limited(100))),
            Subject::Limiter
        );
        assert_eq!(subject(&scene.limit(limited(200))), Subject::Disk);
        assert_eq!(subject(&split.limit(limited(200))), Subject::Limiter);
    }

    #[test]
    fn a_limit_on_writes_or_on_another_device_does_not_limit_reads() {
        let elsewhere = IoLimit {
            device_number: (8, 16),
            ..at(100 * MIB)
        };
        let writes = IoLimit {
            write_bytes_per_s: Some(100 * MIB),
            ..limit("x")
        };
        let scene = steady(Read, 10)
            .moved(1.0)
            .cached(0.0, 1.0)
            .limit(elsewhere)
            .limit(writes);
        assert_eq!(subject(&scene), Subject::Disk);
    }

    #[test]
    fn a_cached_read_at_the_height_of_a_limit_is_still_the_cache() {
        let scene = steady(Read, 10)
            .moved(0.0)
            .cached(1.0, 1.0)
            .limit(at(100 * MIB));
        assert_eq!(subject(&scene), Subject::Cache);
    }

    #[test]
    fn a_burst_at_the_start_does_not_hide_the_limit() {
        // 2 s at 10 operations a tenth, the first tenth with 40: 15 % over on the whole.
        let mut tenths = vec![vec![10_000_000; 10]; 20];
        tenths[0] = vec![100_000; 40];
        let scene = recorded(Read, MIB, tenths)
            .moved(1.0)
            .direct(true)
            .limit(at(100 * MIB));
        assert_eq!(subject(&scene), Subject::Limiter);
    }

    /// The figures of a 100 operations/s cgroup throttle as measured: p50 77 us, p99
    /// 102 ms, in slices of 100 ms.
    fn throttled() -> Vec<Vec<u64>> {
        let mut slice = vec![77_000; 9];
        slice.push(99_000_000);
        vec![slice; 100]
    }

    #[test]
    fn a_limiter_that_nobody_told_of_is_seen_by_its_pattern() {
        let scene = recorded(Read, 4096, throttled()).moved(1.0).direct(true);
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Limiter, "{:?}", finding.reasons);
        let ceiling = finding.ceiling.unwrap();
        assert_eq!(ceiling.unit, Unit::OperationsPerSecond);
        assert!((ceiling.value - 100.0).abs() <= 5.0, "{}", ceiling.value);
    }

    #[test]
    fn readahead_and_paced_writers_are_no_token_buckets() {
        let buffered = recorded(Read, 4096, throttled())
            .moved(1.0)
            .cached(0.0, 1.0);
        assert_eq!(subject(&buffered), Subject::Disk);
    }

    #[test]
    fn stalls_of_a_device_are_no_token_bucket() {
        // As above, but the waits are of all lengths from 10 to 180 ms, and the rate
        // goes up and down with them.
        let tenths = (0u64..100)
            .map(|tenth| {
                let wait = 10_000_000 + tenth * 37 % 100 * 1_700_000;
                let mut slice = vec![77_000; (5 + tenth % 11) as usize];
                slice.push(wait);
                slice
            })
            .collect();
        let scene = recorded(Read, 4096, tenths).moved(1.0).direct(true);
        assert_eq!(subject(&scene), Subject::Disk);
    }

    #[test]
    fn a_link_that_is_full_is_the_limiter() {
        // SATA at 6 Gb/s carries 600 MB/s; 560 MB/s is what drives reach on it.
        let sata = |rate: u64| {
            let mut disk = disk("vda");
            disk.link = Some("SATA 6.0 Gbps".to_owned());
            disk.link_bytes_per_s = Some(600_000_000);
            let tenths = vec![vec![1_000_000; 10]; 100];
            recorded(Read, rate / 100, tenths)
                .moved(1.0)
                .direct(true)
                .target(on("xfs", vec![disk]))
        };
        assert_eq!(subject(&sata(560_000_000)), Subject::Limiter);
        assert_eq!(subject(&sata(500_000_000)), Subject::Disk);
        let finding = examined(&sata(560_000_000));
        assert!(
            finding.reasons[0].contains("SATA 6.0 Gbps"),
            "{:?}",
            finding.reasons
        );
    }

    #[test]
    fn a_round_and_flat_rate_is_a_doubt_and_no_claim() {
        // 3000 operations a second, each tenth the same.
        let scene = recorded(Read, 4096, vec![vec![330_000; 300]; 100])
            .moved(1.0)
            .direct(true);
        assert_eq!(subject(&scene), Subject::Disk);
        assert!(detail(&scene, CaveatCode::Limiter).contains("3.00 k operations/s"));
        let odd = recorded(Read, 4096, vec![vec![330_000; 277]; 100])
            .moved(1.0)
            .direct(true);
        assert!(!codes(&odd).contains(&CaveatCode::Limiter));
    }
}

mod cpu {
    use super::*;

    #[test]
    fn a_saturated_worker_is_the_cpu() {
        let scene = steady(Read, 10).moved(1.0).direct(true).worker_cpu(0.97);
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Cpu);
        assert_eq!(
            finding.reasons,
            ["a worker kept its CPU busy for 97 % of the time"]
        );
        assert_eq!(codes(&scene), [CaveatCode::ClientBound]);
        let relaxed = steady(Read, 10).moved(1.0).direct(true).worker_cpu(0.94);
        assert_eq!(subject(&relaxed), Subject::Disk);
    }

    #[test]
    fn a_busy_cpu_before_the_cache_is_still_the_cache() {
        let scene = steady(Read, 10)
            .moved(0.0)
            .cached(1.0, 1.0)
            .worker_cpu(0.99);
        assert_eq!(subject(&scene), Subject::Cache);
        assert!(codes(&scene).contains(&CaveatCode::ClientBound));
    }

    #[test]
    fn more_workers_than_cpus_can_use_all_of_them_up() {
        let scene = |workers: usize| {
            steady(Read, 10)
                .moved(1.0)
                .direct(true)
                .worker_cpu(0.5)
                .with(move |scene| {
                    scene.phase.workers = vec![scene.phase.workers[0]; workers];
                    scene.environment.cpu.as_mut().unwrap().allowed = 2;
                    let elapsed = scene.phase.elapsed_ns as f64;
                    let process = scene.phase.witnesses.process_cpu.as_mut().unwrap();
                    process.total_ns = (elapsed * 1.96) as u64;
                })
        };
        assert_eq!(subject(&scene(4)), Subject::Cpu);
        let quota = steady(Read, 10)
            .moved(1.0)
            .direct(true)
            .worker_cpu(0.49)
            .with(|scene| {
                scene.environment.limits.cpu_percent = Some(50);
            });
        assert_eq!(subject(&quota), Subject::Cpu);
    }

    #[test]
    fn a_crowded_machine_and_a_thieving_hypervisor_are_doubts() {
        let scene = steady(Read, 10)
            .moved(1.0)
            .direct(true)
            .worker_cpu(0.12)
            .with(|scene| {
                scene.phase.witnesses.system_cpu = Some(SystemCpu {
                    user_ns: 6_000_000_000,
                    steal_ns: 4_000_000_000,
                    idle_ns: 10_000_000_000,
                    busiest_cpu_fraction: 0.99,
                    ..SystemCpu::default()
                });
            });
        assert_eq!(subject(&scene), Subject::Disk);
        assert!(detail(&scene, CaveatCode::ClientBound).contains("12 % of one"));
        assert!(detail(&scene, CaveatCode::CpuStolen).contains("40 %"));
    }
}

mod doubts {
    use super::*;

    #[test]
    fn holes_are_told_with_their_share() {
        let scene = steady(Read, 10).moved(0.5).cached(0.0, 1.0).with(|scene| {
            scene.phase.witnesses.unwritten_bytes = Some(500 * MIB);
        });
        assert_eq!(subject(&scene), Subject::Cache);
        assert!(detail(&scene, CaveatCode::HolesRead).starts_with("500 MiB (50 %)"));
    }

    #[test]
    fn traffic_that_the_job_does_not_explain() {
        let more = steady(Read, 10).moved(1.5).cached(0.0, 1.0);
        assert_eq!(subject(&more), Subject::Disk);
        assert!(detail(&more, CaveatCode::DeviceMovedMore).contains("1.46 GiB of 1000 MiB asked"));
        let meanwhile = steady(Read, 10).moved(1.0).cached(0.0, 1.0).with(|scene| {
            scene.phase.witnesses.devices[0].written_bytes = 200 * MIB;
        });
        assert!(detail(&meanwhile, CaveatCode::OtherIo).starts_with("vda wrote 200 MiB meanwhile"));
    }

    #[test]
    fn a_journal_beside_small_commits_is_explained() {
        // 1000 commits of 4 KiB, each with 40 KiB of journal.
        let scene = recorded(Write, 4096, vec![vec![1_000_000; 10]; 100])
            .synced()
            .with(|scene| {
                let mut syncs = scene.phase.recordings[0].clone();
                syncs.direction = stiction_core::Direction::Sync;
                scene.phase.recordings.push(syncs);
            });
        let scene = scene.moved(11.0);
        assert_eq!(subject(&scene), Subject::Disk);
        assert_eq!(codes(&scene), []);
    }

    #[test]
    fn direct_refused_and_direct_not_effective() {
        let refused = steady(Read, 10).moved(1.0).cached(0.0, 1.0).direct(false);
        assert!(codes(&refused).contains(&CaveatCode::DirectRefused));
        let grown = steady(Read, 10).moved(1.0).cached(0.0, 0.5).direct(true);
        assert_eq!(subject(&grown), Subject::Disk);
        assert!(detail(&grown, CaveatCode::DirectNotEffective).contains("500 MiB"));
        let served = steady(Read, 10).moved(0.0).cached(1.0, 1.0).direct(true);
        assert_eq!(subject(&served), Subject::Cache);
        assert!(codes(&served).contains(&CaveatCode::DirectNotEffective));
    }

    #[test]
    fn zeros_on_a_compressing_filesystem_leave_it_open() {
        let scene = steady(Write, 10).moved(0.03).synced().with(|scene| {
            scene.job_mut().data = Data::Zeros;
            let mut stack = on("btrfs", vec![disk("vda")]);
            let options = &mut stack.filesystem.as_mut().unwrap().mount_options;
            *options = vec!["rw".to_owned(), "compress=zstd:3".to_owned()];
            scene.environment.targets = vec![stack];
        });
        let finding = examined(&scene);
        assert_eq!(finding.subject, Subject::Unknown);
        assert!(
            finding.reasons[1].contains("compress=zstd:3"),
            "{:?}",
            finding.reasons
        );
        assert!(codes(&scene).contains(&CaveatCode::Compressible));
    }

    #[test]
    fn small_samples_and_moving_rates() {
        let short = recorded(Read, MIB, vec![vec![10_000_000; 9]; 9])
            .moved(1.0)
            .cached(0.0, 1.0);
        let found = codes(&short);
        assert!(
            found.contains(&CaveatCode::TooShort) && found.contains(&CaveatCode::TooFewSamples)
        );

        let mut tenths = vec![vec![1_000_000; 100]; 50];
        tenths.extend(vec![vec![4_000_000; 25]; 50]);
        let burst = recorded(Write, MIB, tenths).moved(1.0).direct(true);
        let said = detail(&burst, CaveatCode::NotSteady);
        assert_eq!(
            said,
            "1000 MiB/s in the first third and 250 MiB/s in the last (-75 %)"
        );
    }

    #[test]
    fn a_percentile_of_too_few_operations() {
        let scene = steady(Read, 5).moved(1.0).cached(0.0, 1.0).with(|scene| {
            let p99 =
                stiction_core::Measurement::new(stiction_core::metrics::LATENCY_P99, 1e7, 500);
            scene.phase.measurements.push(p99);
        });
        let said = detail(&scene, CaveatCode::TooFewSamples);
        assert_eq!(
            said,
            "latency_ns_p99 rests on 500 operations and needs 1.00 k"
        );
    }

    #[test]
    fn what_was_stored_comes_first_and_is_not_said_twice() {
        let scene = steady(Read, 10)
            .moved(1.0)
            .cached(0.0, 1.0)
            .direct(false)
            .with(|scene| {
                let stored =
                    stiction_core::Caveat::new(CaveatCode::DirectRefused, "EINVAL from open");
                scene.phase.caveats.push(stored);
            });
        assert_eq!(
            detail(&scene, CaveatCode::DirectRefused),
            "EINVAL from open"
        );
        let refusals = codes(&scene)
            .iter()
            .filter(|&&c| c == CaveatCode::DirectRefused)
            .count();
        assert_eq!(refusals, 1);
    }

    #[test]
    fn phases_without_numbers_say_why() {
        let skipped = steady(Read, 1).with(|scene| {
            let reason = SkipReason::new(SkipCode::NoSpace, "1 GiB free of 2 GiB");
            scene.phase.outcome = PhaseOutcome::Skipped(reason);
        });
        let finding = examined(&skipped);
        assert_eq!(finding.subject, Subject::Unknown);
        assert_eq!(
            finding.reasons,
            ["the phase did not run: 1 GiB free of 2 GiB"]
        );
        let printed = steady(Read, 1).with(|scene| {
            scene.phase.job = None;
            scene.phase.recordings.clear();
        });
        assert_eq!(subject(&printed), Subject::Unknown);
    }
}

/// With several targets, the devices that were watched say which one it was.
#[test]
fn the_watched_device_chooses_the_target() {
    let mut scene = steady(Read, 10).moved(1.0).cached(0.0, 1.0);
    scene.environment.targets.insert(0, on("tmpfs", vec![]));
    assert_eq!(subject(&scene), Subject::Disk);
    scene.phase.witnesses.devices.clear();
    assert_eq!(
        subject(&scene),
        Subject::Unknown,
        "tmpfs or ext4 cannot be told"
    );
    scene.environment.targets[0].path = "/run/x".to_owned();
    let cell = stiction_core::Cell::new().with("directory", "/run/x");
    let finding =
        stiction_analysis::doubt::examine_in_cell(&scene.phase, &cell, &scene.environment);
    assert_eq!(finding.subject, Subject::Cache);
}

mod any_record {
    use super::*;
    use proptest::prelude::*;

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
}
