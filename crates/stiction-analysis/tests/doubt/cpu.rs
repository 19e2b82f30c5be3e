//! The CPU as the bound.

use super::{codes, detail, examined, subject};
use crate::scene::{recorded, steady};
use stiction_core::Action::Read;
use stiction_core::{CaveatCode, Heat, Subject, SystemCpu, Temperature};

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

/// The case of 2002: a test of the page cache that left 20 % of the CPUs idle.
#[test]
fn a_tester_that_waits_in_front_of_memory_slept() {
    let scene = |share, waits, preemptions| {
        steady(Read, 10)
            .moved(0.0)
            .cached(1.0, 1.0)
            .worker_cpu(share)
            .with(|scene| {
                scene.phase.workers[0].switches_voluntary = waits;
                scene.phase.workers[0].switches_involuntary = preemptions;
            })
    };
    let slept = scene(0.65, 40_000, 20);
    let said = detail(&slept, CaveatCode::TesterSlept);
    assert!(
        said.contains("it slept (4.00 k waits/s, 2 pre-emptions/s)"),
        "{said}"
    );
    let pushed = scene(0.65, 20, 40_000);
    let said = detail(&pushed, CaveatCode::TesterSlept);
    assert!(said.contains("others had its CPU"), "{said}");
    assert!(!codes(&scene(0.99, 40_000, 0)).contains(&CaveatCode::TesterSlept));
    let as_asked = scene(0.65, 40_000, 20).with(|scene| {
        let job = scene.phase.job.as_mut().unwrap();
        job.think = Some(stiction_core::ThinkTime {
            pause_ns: 1000,
            spin_ns: 0,
            every_operations: Some(1),
            counted: stiction_core::Counted::default(),
            every_ns: None,
            pace_waits: false,
        });
    });
    assert!(!codes(&as_asked).contains(&CaveatCode::TesterSlept));
    let from_disk = steady(Read, 10).moved(1.0).worker_cpu(0.1);
    assert!(!codes(&from_disk).contains(&CaveatCode::TesterSlept));
}

/// Ten operations of 10 ms a tenth of a second are just what one worker can do.
#[test]
fn latencies_that_exceed_the_time_are_inconsistent() {
    let scene = |latency_ns| {
        let tenths = vec![vec![latency_ns; 10]; 20];
        recorded(Read, 1 << 20, tenths).moved(1.0).direct(true)
    };
    assert!(!codes(&scene(10_000_000)).contains(&CaveatCode::Inconsistent));
    let said = detail(&scene(12_000_000), CaveatCode::Inconsistent);
    assert_eq!(
        said,
        "latencies add up to 2.40 s, which is more than the 2.00 s that 1 in flight had"
    );
}

#[test]
fn more_workers_than_cpus_can_use_all_of_them_up() {
    let scene = |workers: usize| {
        steady(Read, 10)
            .moved(1.0)
            .direct(true)
            .worker_cpu(0.5)
            .with(move |scene| {
                // Each worker has half of a CPU: four use up two.
                let mut worker = scene.phase.workers[0];
                worker.cpu_ns = scene.phase.elapsed_ns / 2;
                scene.phase.workers = vec![worker; workers];
                scene.environment.cpu.as_mut().unwrap().allowed = 2;
            })
    };
    assert_eq!(subject(&scene(4)), Subject::Cpu);
    assert_eq!(subject(&scene(3)), Subject::Disk);
    let quota = steady(Read, 10)
        .moved(1.0)
        .direct(true)
        .worker_cpu(0.49)
        .with(|scene| {
            scene.phase.workers[0].cpu_ns = scene.phase.elapsed_ns * 49 / 100;
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

/// Two workers, 3 s and 1 s of the 10 s that each had: 4 s of 20 s.
#[test]
fn workers_that_waited_for_a_cpu_are_no_measure_of_the_disk() {
    let scene = |second_ns| {
        steady(Read, 10).moved(1.0).direct(true).with(|scene| {
            let mut worker = scene.phase.workers[0];
            worker.run_delay_ns = Some(3_000_000_000);
            scene.phase.workers = vec![worker; 2];
            scene.phase.workers[1].run_delay_ns = second_ns;
        })
    };
    let said = detail(&scene(Some(1_000_000_000)), CaveatCode::ClientBound);
    assert!(
        said.ends_with("waited for a CPU for 20 % of the time"),
        "{said}"
    );
    // What one of them waited is not known.
    assert!(!codes(&scene(None)).contains(&CaveatCode::ClientBound));
    let calm = steady(Read, 10).moved(1.0).direct(true).with(|scene| {
        scene.phase.workers[0].run_delay_ns = Some(900_000_000);
    });
    assert!(!codes(&calm).contains(&CaveatCode::ClientBound));
}

#[test]
fn heat_that_slowed_something_down_is_a_doubt() {
    let temperature = |device: &str, after| Temperature {
        sensor: format!("{device} Composite"),
        devices: vec![device.to_owned()],
        before_millicelsius: 40_000,
        after_millicelsius: after,
        limit_millicelsius: Some(84_850),
    };
    let scene = |heat: Heat| {
        steady(Read, 10)
            .moved(1.0)
            .direct(true)
            .with(|scene| scene.phase.witnesses.heat = Some(heat.clone()))
    };
    let cpu = scene(Heat {
        core_throttles: Some(6),
        package_throttles: Some(0),
        throttled_ns: Some(250_000_000),
        ..Heat::default()
    });
    let said = detail(&cpu, CaveatCode::Throttled);
    assert_eq!(
        said,
        "heat slowed CPU cores down 6 times, for 250 ms in all"
    );
    let disk = scene(Heat {
        temperatures: vec![temperature("vda", 84_850), temperature("sdb", 99_000)],
        core_throttles: Some(0),
        ..Heat::default()
    });
    let said = detail(&disk, CaveatCode::Throttled);
    assert_eq!(
        said,
        "vda Composite was at 84.8 degrees Celsius, and 84.8 is its limit"
    );
    let warm = scene(Heat {
        temperatures: vec![temperature("vda", 84_849)],
        core_throttles: Some(0),
        package_throttles: Some(0),
        throttled_ns: Some(0),
    });
    assert!(!codes(&warm).contains(&CaveatCode::Throttled));
}
