//! The service `TASKSTATS` of generic netlink (`Documentation/accounting/taskstats.rst`):
//! what it is asked, and what it answers.

use std::fs::File;
use std::io::{self, Read as _, Write as _};

use stiction_core::{Delay, TaskDelays};

use crate::sys::netlink;

/// Numbers of `linux/genetlink.h`, `linux/netlink.h` and `linux/taskstats.h`.
const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const TASKSTATS_CMD_GET: u8 = 1;
const TASKSTATS_CMD_ATTR_TGID: u16 = 2;
const TASKSTATS_TYPE_STATS: u16 = 3;
const TASKSTATS_TYPE_AGGR_TGID: u16 = 5;

/// Bytes of the two headers before the attributes of a message.
const HEADERS_BYTES: usize = 20;

/// In this version of the structure the kernel had put new fields between old ones; the
/// next put them at the end again, where they can be passed over.
const MISPLACED_VERSION: u16 = 15;

/// An open socket to the service.
#[derive(Debug)]
pub(super) struct Taskstats {
    socket: File,
    family: u16,
}

impl Taskstats {
    /// Finds the service.
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = netlink::generic()?;
        let name = attribute(CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0");
        let answer = ask(&mut socket, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &name)?;
        let family = find(&answer, CTRL_ATTR_FAMILY_ID)
            .and_then(|id| Some(u16::from_ne_bytes(id.get(..2)?.try_into().ok()?)))
            .ok_or_else(|| unexpected("netlink names no family"))?;
        Ok(Self { socket, family })
    }

    /// What all threads of the process waited for so far, ended ones too. Of the delays
    /// that are not always counted, zeros where they are not.
    pub(super) fn of_process(&mut self, process: u32) -> io::Result<TaskDelays> {
        let asked = attribute(TASKSTATS_CMD_ATTR_TGID, &process.to_ne_bytes());
        let answer = ask(&mut self.socket, self.family, TASKSTATS_CMD_GET, &asked)?;
        let stats = find(&answer, TASKSTATS_TYPE_AGGR_TGID)
            .and_then(|inner| find(inner, TASKSTATS_TYPE_STATS))
            .ok_or_else(|| unexpected("taskstats sent no figures"))?;
        parse(stats)
    }
}

/// The figures of `struct taskstats` of any version. Each version has kept the fields of
/// those before it where they were, one excepted, so how long the structure is tells
/// which fields there are.
fn parse(stats: &[u8]) -> io::Result<TaskDelays> {
    let version = stats
        .first_chunk::<2>()
        .map(|bytes| u16::from_ne_bytes(*bytes))
        .ok_or_else(|| unexpected("taskstats sent no version"))?;
    if version == MISPLACED_VERSION {
        return Err(unexpected(
            "version 15 of taskstats has its fields in other places",
        ));
    }
    let number = |offset: usize| {
        let bytes = stats.get(offset..offset + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    let delay = |offset: usize| {
        Some(Delay {
            count: number(offset)?,
            ns: number(offset + 8)?,
        })
    };
    Ok(TaskDelays {
        version,
        cpu: delay(16).ok_or_else(|| unexpected("the answer of taskstats is cut short"))?,
        block_io: delay(32),
        swap_in: delay(48),
        reclaim: delay(312),
        thrashing: delay(328),
        compaction: delay(352),
        copy_on_write: delay(400),
    })
}

/// Sends a request and returns the attributes of the answer.
fn ask(socket: &mut File, family: u16, command: u8, attributes: &[u8]) -> io::Result<Vec<u8>> {
    let length = HEADERS_BYTES + attributes.len();
    let mut message = Vec::with_capacity(length);
    message.extend((length as u32).to_ne_bytes());
    message.extend(family.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    // A number of the request and the sender's, which the kernel fills in.
    message.extend([0; 8]);
    message.extend([command, 1, 0, 0]);
    message.extend(attributes);
    socket.write_all(&message)?;

    let mut answer = vec![0; 8192];
    let received = socket.read(&mut answer)?;
    answer.truncate(received);
    attributes_of(&answer).map(<[u8]>::to_vec)
}

/// The attributes of an answer, or the error that it carries.
fn attributes_of(answer: &[u8]) -> io::Result<&[u8]> {
    let kind = answer.get(4..6).map(|kind| [kind[0], kind[1]]);
    if kind.map(u16::from_ne_bytes) == Some(NLMSG_ERROR) {
        let code = answer
            .get(16..)
            .and_then(<[u8]>::first_chunk::<4>)
            .map_or(0, |bytes| i32::from_ne_bytes(*bytes));
        return Err(io::Error::from_raw_os_error(-code));
    }
    let length = answer
        .first_chunk::<4>()
        .map_or(0, |bytes| u32::from_ne_bytes(*bytes) as usize);
    answer
        .get(HEADERS_BYTES..length)
        .ok_or_else(|| unexpected("netlink's answer is cut short"))
}

/// An attribute, filled up to a multiple of four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((4 + value.len() as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The value of the first attribute of that kind.
fn find(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let [l0, l1, k0, k1] = *attributes.first_chunk::<4>()?;
        let length = usize::from(u16::from_ne_bytes([l0, l1]));
        let value = attributes.get(4..length)?;
        if u16::from_ne_bytes([k0, k1]) == wanted {
            return Some(value);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

fn unexpected(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure whose every number is its own offset. The offsets asked for are those
    /// that offsetof(3) gives for `linux/taskstats.h` of version 13.
    fn numbered(version: u16, bytes: usize) -> Vec<u8> {
        let mut stats: Vec<u8> = (0..bytes as u64 / 8)
            .flat_map(|word| (word * 8).to_ne_bytes())
            .collect();
        stats[..2].copy_from_slice(&version.to_ne_bytes());
        stats
    }

    fn at(offset: u64) -> Option<Delay> {
        Some(Delay {
            count: offset,
            ns: offset + 8,
        })
    }

    #[test]
    fn fields_are_found_by_how_long_the_structure_is() {
        let thirteen = parse(&numbered(13, 416)).unwrap();
        let expected = TaskDelays {
            version: 13,
            cpu: at(16).unwrap(),
            block_io: at(32),
            swap_in: at(48),
            reclaim: at(312),
            thrashing: at(328),
            compaction: at(352),
            copy_on_write: at(400),
        };
        assert_eq!(thirteen, expected);
        // Version 8, of Linux 2.6.33, ends before the waits for pages that were dropped;
        // version 16 goes on behind what is known here.
        let eight = parse(&numbered(8, 328)).unwrap();
        assert_eq!((eight.reclaim, eight.thrashing), (at(312), None));
        let sixteen = parse(&numbered(16, 560)).unwrap();
        assert_eq!(
            sixteen,
            TaskDelays {
                version: 16,
                ..expected
            }
        );
        assert!(parse(&numbered(15, 560)).is_err());
        assert!(parse(&numbered(16, 24)).is_err());
        assert!(parse(&[]).is_err());
    }

    #[test]
    fn attributes_are_padded_and_found_by_kind() {
        let mut two = attribute(7, b"abc");
        assert_eq!(two.len(), 8);
        two.extend(attribute(9, b"defg"));
        assert_eq!(find(&two, 9), Some(&b"defg"[..]));
        assert_eq!(find(&two, 7), Some(&b"abc"[..]));
        assert_eq!(find(&two, 8), None);
        assert_eq!(find(&[0; 3], 0), None);
        // A length of 0 would never come to an end.
        assert_eq!(find(&[0; 8], 5), None);
    }

    #[test]
    fn a_refusal_carries_its_errno() {
        let mut answer = vec![0; 36];
        answer[..4].copy_from_slice(&36u32.to_ne_bytes());
        answer[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        answer[16..20].copy_from_slice(&(-libc::EPERM).to_ne_bytes());
        let error = attributes_of(&answer).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
        assert!(attributes_of(&answer[..8]).is_err() || attributes_of(&[]).is_err());
    }

    /// Two threads on one CPU wait for each other, and the waits of both are in the
    /// process's account after they have ended.
    #[test]
    fn root_waits_for_a_cpu_are_booked_on_the_process() {
        testkit::require_root!();
        let mut service = Taskstats::open().unwrap();
        let own = std::process::id();
        let before = service.of_process(own).unwrap();
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        let cpu = (0..rustix::thread::CpuSet::MAX_CPU)
            .find(|&cpu| allowed.is_set(cpu))
            .unwrap();
        let barrier = std::sync::Barrier::new(2);
        let spin = || {
            let mut one = rustix::thread::CpuSet::new();
            one.set(cpu);
            rustix::thread::sched_setaffinity(None, &one).unwrap();
            barrier.wait();
            let used_ns = || {
                let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
                time.tv_sec * 1_000_000_000 + time.tv_nsec
            };
            let mut sum = 0u64;
            while used_ns() < 20_000_000 {
                sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(1));
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(spin);
            scope.spawn(spin);
        });
        let after = service.of_process(own).unwrap();
        assert!(after.cpu.count > before.cpu.count);
        assert!(after.cpu.ns > before.cpu.ns);
    }
}
