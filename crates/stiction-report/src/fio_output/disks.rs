//! What the devices under the targets moved while jobs ran: fio's `disk_util`.

use stiction_core::{DeviceTraffic, Phase, QueueTraffic, Session};

use super::entry::is_measured;

/// What one device moved, and over how long that was.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub(super) traffic: DeviceTraffic,
    over_ns: u64,
}

impl Disk {
    /// The share of the time in which it had something to do, percent.
    pub(super) fn busy_percent(&self) -> Option<f64> {
        let busy_ns = self.traffic.busy_ns.filter(|_| self.over_ns > 0)?;
        Some((100.0 * busy_ns as f64 / self.over_ns as f64).min(100.0))
    }

    fn add(&mut self, traffic: &DeviceTraffic, over_ns: u64) {
        let sum = &mut self.traffic;
        sum.reads += traffic.reads;
        sum.writes += traffic.writes;
        sum.read_bytes += traffic.read_bytes;
        sum.written_bytes += traffic.written_bytes;
        sum.busy_ns = sum.busy_ns.zip(traffic.busy_ns).map(|(a, b)| a + b);
        sum.queue = sum.queue.zip(traffic.queue).map(|(a, b)| both(a, b));
        self.over_ns += over_ns;
    }
}

/// What a queue did in two stretches.
fn both(a: QueueTraffic, b: QueueTraffic) -> QueueTraffic {
    QueueTraffic {
        read_merges: a.read_merges + b.read_merges,
        write_merges: a.write_merges + b.write_merges,
        read_ns: a.read_ns + b.read_ns,
        write_ns: a.write_ns + b.write_ns,
        queued_ns: a.queued_ns + b.queued_ns,
    }
}

/// Each device once.
pub(super) fn disks(session: &Session) -> Vec<Disk> {
    let mut disks: Vec<Disk> = Vec::new();
    for (traffic, over_ns) in traffic(session) {
        let same = |disk: &&mut Disk| disk.traffic.device == traffic.device;
        match disks.iter_mut().find(same) {
            Some(disk) => disk.add(traffic, over_ns),
            None => disks.push(Disk {
                traffic: traffic.clone(),
                over_ns,
            }),
        }
    }
    disks
}

/// What devices moved in each stretch that jobs ran in, and how long that was, ns. Jobs
/// that ran at the same time stand under the same witnesses: of those the longest speaks
/// for all.
fn traffic(session: &Session) -> Vec<(&DeviceTraffic, u64)> {
    let mut stretches: Vec<&Phase> = Vec::new();
    for trial in &session.trials {
        for phase in trial.phases.iter().filter(|phase| is_measured(phase)) {
            let overlaps = |other: &&mut &Phase| {
                phase.start_ns < other.start_ns + other.elapsed_ns
                    && other.start_ns < phase.start_ns + phase.elapsed_ns
            };
            match stretches.iter_mut().find(overlaps) {
                Some(known) if phase.elapsed_ns > known.elapsed_ns => *known = phase,
                Some(_) => {}
                None => stretches.push(phase),
            }
        }
    }
    let devices = stretches.iter().flat_map(|phase| {
        let devices = phase.witnesses.devices.iter();
        devices.map(|device| (device, phase.elapsed_ns))
    });
    devices.collect()
}
