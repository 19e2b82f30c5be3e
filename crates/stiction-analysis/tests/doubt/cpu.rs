//! The CPU as the bound.

use super::{codes, detail, examined, subject};
use crate::scene::steady;
use stiction_core::Action::Read;
use stiction_core::{CaveatCode, Subject, SystemCpu};

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
