//! Counters of CPU time: of the process, its workers and the machine.

use stiction_core::{
    Heat, Phase, PressureSeen, SystemCpu, TaskDelays, Unit, WorkerSummary, metrics,
};

use super::super::counter::Group;
use super::List;

pub(super) fn add(list: &mut List, phase: &Phase) {
    processors(list, phase);
    let witnesses = &phase.witnesses;
    if let Some(system) = &witnesses.system_cpu {
        machine(list, system);
    }
    if let Some(delays) = &witnesses.delays {
        waits(list, delays);
    }
    if let Some(pressure) = &witnesses.pressure {
        pressures(list, pressure);
    }
    if let Some(heat) = &witnesses.heat {
        warmth(list, heat);
    }
}

/// The process and its workers; of a command, what the kernel told of it when it ended.
fn processors(list: &mut List, phase: &Phase) {
    let group = Group::Cpu;
    let witnesses = &phase.witnesses;
    if let Some(cpu) = witnesses.process_cpu {
        list.time("CPU time of the process", group, cpu.total_ns);
    } else {
        let spent = [metrics::CPU_USER, metrics::CPU_SYSTEM];
        let spent: Option<f64> = spent.iter().map(|metric| phase.value(metric)).sum();
        if let Some(seconds) = spent {
            let name = "CPU time of the process";
            list.amount(name, group, Unit::Nanoseconds, 1e9 * seconds);
        }
    }
    if let Some(share) = witnesses.busiest_worker_cpu_fraction {
        let name = "busiest worker's CPU";
        list.level(name, group, Unit::Percent, Some(100.0 * share));
    }
    let workers = &phase.workers;
    let sum = |of: fn(&WorkerSummary) -> u64| workers.iter().map(of).sum::<u64>();
    let of_command = |metric| phase.value(metric).map_or(0, |value| value as u64);
    let counts = [
        (
            "switches to wait",
            sum(|worker| worker.switches_voluntary),
            of_command(&metrics::SWITCHES_VOLUNTARY),
        ),
        (
            "CPU taken away",
            sum(|worker| worker.switches_involuntary),
            of_command(&metrics::SWITCHES_INVOLUNTARY),
        ),
        (
            "page faults without I/O",
            sum(|worker| worker.faults_minor),
            of_command(&metrics::MINOR_FAULTS),
        ),
        (
            "page faults with I/O",
            sum(|worker| worker.faults_major),
            of_command(&metrics::MAJOR_FAULTS),
        ),
    ];
    for (name, of_workers, of_command) in counts {
        list.count(name, group, of_workers.max(of_command));
    }
    if let Some(pressure_ns) = witnesses.io_pressure_ns {
        let elapsed_ns = list.elapsed_ns;
        let name = "time in which somebody waited for I/O";
        list.share(name, group, pressure_ns as f64, elapsed_ns);
    }
}

fn machine(list: &mut List, system: &SystemCpu) {
    let group = Group::Cpu;
    list.time("CPU time of the machine", group, system.busy_ns());
    list.time("CPU time of interrupts", group, system.interrupt_ns);
    let whole = (system.busy_ns() + system.idle_ns + system.io_wait_ns) as f64;
    list.share("CPU idle", group, system.idle_ns as f64, whole);
    let waiting = system.io_wait_ns as f64;
    list.share("CPU idle with I/O awaited", group, waiting, whole);
    list.share("CPU stolen", group, system.steal_ns as f64, whole);
}

/// What threads waited for, one by one.
fn waits(list: &mut List, delays: &TaskDelays) {
    let kinds = [
        ("waiting for a CPU", Group::Cpu, Some(delays.cpu)),
        ("waiting for a block device", Group::Device, delays.block_io),
        ("waiting for swap", Group::Reclaim, delays.swap_in),
        ("waiting to free memory", Group::Reclaim, delays.reclaim),
        (
            "waiting for a page just dropped",
            Group::Reclaim,
            delays.thrashing,
        ),
        (
            "waiting for pages to be moved",
            Group::Reclaim,
            delays.compaction,
        ),
    ];
    for (name, group, delay) in kinds {
        if let Some(delay) = delay {
            list.time(name, group, delay.ns);
        }
    }
}

fn pressures(list: &mut List, pressure: &PressureSeen) {
    let waited = &pressure.waited;
    let kinds = [
        ("some task waited for a CPU", Group::Cpu, waited.cpu_some_ns),
        ("some task waited for I/O", Group::Device, waited.io_some_ns),
        ("all tasks waited for I/O", Group::Device, waited.io_full_ns),
        (
            "some task waited for memory",
            Group::Reclaim,
            waited.memory_some_ns,
        ),
    ];
    let elapsed_ns = list.elapsed_ns;
    for (name, group, time_ns) in kinds {
        if let Some(time_ns) = time_ns {
            list.share(name, group, time_ns as f64, elapsed_ns);
        }
    }
}

fn warmth(list: &mut List, heat: &Heat) {
    if let Some(throttled_ns) = heat.throttled_ns {
        list.time("slowed down by heat", Group::Cpu, throttled_ns);
    }
}
