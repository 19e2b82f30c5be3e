//! Puts a worker's thread where the job wants it, and says where it was.
//!
//! All of it belongs to the thread, and ends with it. It is done before the worker
//! makes anything, so that its memory comes from where it is to come from.

mod kernel;

use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use stiction_core::{CpuPolicy, IoPriority, Job, MemoryPolicy, Placement};

use self::kernel::{
    NODES_MAX, allowed_nodes, io_priority, memory_policy, nodes, set_io_priority, set_memory_policy,
};
use crate::EngineError;

/// Levels of I/O priority, from 0.
const IO_LEVELS: u8 = 8;

/// What is wrong with a placement, wherever it is to be had.
pub(crate) fn problem(placement: &Placement) -> Option<String> {
    let cpus_max = CpuSet::MAX_CPU as u32;
    if let Some(cpu) = placement.cpus.iter().find(|&&cpu| cpu >= cpus_max) {
        return Some(format!("CPU {cpu} is beyond {}", cpus_max - 1));
    }
    if let Some(nice) = placement.nice.filter(|nice| !(-20..20).contains(nice)) {
        return Some(format!("its niceness is {nice}; -20 to 19 are possible"));
    }
    if let Some(IoPriority::RealTime(level) | IoPriority::BestEffort(level)) = placement.io_priority
        && level >= IO_LEVELS
    {
        return Some(format!(
            "its level of I/O priority is {level}; 0 to 7 are possible"
        ));
    }
    let named = nodes(&placement.memory);
    let must_name = !matches!(
        placement.memory,
        MemoryPolicy::Inherit | MemoryPolicy::Local
    );
    if must_name && named.is_empty() {
        return Some("its memory is to come from no node at all".to_owned());
    }
    let beyond = named.iter().find(|&&node| node >= NODES_MAX)?;
    Some(format!("node {beyond} is beyond {}", NODES_MAX - 1))
}

/// The CPUs that worker `worker` may run on; empty for any.
pub(crate) fn cpus_of(job: &Job, worker: u32) -> &[u32] {
    let Placement {
        cpus, cpu_policy, ..
    } = &job.placement;
    match cpu_policy {
        CpuPolicy::Split if !cpus.is_empty() => {
            let turn = worker as usize % cpus.len();
            &cpus[turn..=turn]
        }
        CpuPolicy::Shared | CpuPolicy::Split => cpus,
    }
}

/// Puts the calling thread where worker `worker` of `job` is to run.
///
/// # Errors
/// [`EngineError::Placement`] with the first thing that cannot be had.
pub(crate) fn place(job: &Job, worker: u32) -> Result<(), EngineError> {
    let placement = &job.placement;
    let cpus = cpus_of(job, worker);
    if !cpus.is_empty() {
        pin(cpus)?;
    }
    if placement.memory != MemoryPolicy::Inherit {
        set_memory(&placement.memory)?;
    }
    if let Some(priority) = placement.io_priority {
        prioritise(priority)?;
    }
    if let Some(nice) = placement.nice {
        // For Linux, the process of these calls is the thread.
        setpriority_process(None, nice).map_err(|errno| EngineError::Placement {
            what: format!("niceness {nice}"),
            cause: errno.to_string(),
            advice: "ask for one above the present, or run it privileged".to_owned(),
        })?;
    }
    Ok(())
}

fn pin(cpus: &[u32]) -> Result<(), EngineError> {
    let before = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let mut wanted = CpuSet::new();
    cpus.iter().for_each(|&cpu| wanted.set(cpu as usize));
    let refused = |cause: String| EngineError::Placement {
        what: format!("CPU {}", listed(cpus.iter().copied())),
        cause,
        advice: format!("choose among {}", listed(in_set(&before))),
    };
    sched_setaffinity(None, &wanted).map_err(|errno| refused(errno.to_string()))?;
    // The kernel leaves out silently what is not there or not allowed.
    let got = sched_getaffinity(None).map_err(|errno| refused(errno.to_string()))?;
    match cpus.iter().find(|&&cpu| !got.is_set(cpu as usize)) {
        None => Ok(()),
        Some(cpu) => Err(refused(format!("there is no CPU {cpu} for this process"))),
    }
}

fn set_memory(policy: &MemoryPolicy) -> Result<(), EngineError> {
    let there = allowed_nodes();
    let refused = |cause: String| EngineError::Placement {
        what: described_policy(policy),
        cause,
        advice: match &there {
            Ok(nodes) if nodes.len() == 1 => format!(
                "there is one node, {}, and nothing to choose",
                listed(nodes.iter().copied())
            ),
            Ok(nodes) => format!("choose among {}", listed(nodes.iter().copied())),
            Err(error) => format!("leave the memory as it is ({error})"),
        },
    };
    if let Ok(there) = &there
        && let Some(node) = nodes(policy).iter().find(|node| !there.contains(node))
    {
        return Err(refused(format!("there is no node {node} for this process")));
    }
    set_memory_policy(policy).map_err(|error| refused(error.to_string()))
}

fn prioritise(priority: IoPriority) -> Result<(), EngineError> {
    set_io_priority(priority).map_err(|error| EngineError::Placement {
        what: described_priority(priority),
        cause: error.to_string(),
        advice: "ask for a best-effort priority, or run it privileged".to_owned(),
    })
}

/// Where the calling thread is, of what the job asks for; `None` when it asks for
/// nothing. The kernel is asked, so that what others changed meanwhile is seen.
pub(crate) fn observed(job: &Job) -> Option<String> {
    let asked = &job.placement;
    let mut said = Vec::new();
    if !asked.cpus.is_empty() {
        said.push(match sched_getaffinity(None) {
            Ok(set) => format!("CPU {}", listed(in_set(&set))),
            Err(errno) => format!("unknown CPUs ({errno})"),
        });
    }
    if asked.memory != MemoryPolicy::Inherit {
        said.push(memory_policy().map_or_else(
            |error| format!("unknown memory ({error})"),
            |policy| described_policy(&policy),
        ));
    }
    if asked.io_priority.is_some() {
        said.push(io_priority().map_or_else(
            || "no I/O priority of its own".to_owned(),
            described_priority,
        ));
    }
    if asked.nice.is_some() {
        said.push(match getpriority_process(None) {
            Ok(nice) => format!("niceness {nice}"),
            Err(errno) => format!("unknown niceness ({errno})"),
        });
    }
    (!said.is_empty()).then(|| said.join(", "))
}

/// What [`observed`] says when the job has what it asks for.
pub(crate) fn asked(job: &Job, worker: u32) -> Option<String> {
    let placement = &job.placement;
    let cpus = cpus_of(job, worker);
    let said = [
        (!cpus.is_empty()).then(|| format!("CPU {}", listed(cpus.iter().copied()))),
        (placement.memory != MemoryPolicy::Inherit).then(|| described_policy(&placement.memory)),
        placement.io_priority.map(described_priority),
        placement.nice.map(|nice| format!("niceness {nice}")),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn described_priority(priority: IoPriority) -> String {
    match priority {
        IoPriority::RealTime(level) => format!("I/O priority real-time {level}"),
        IoPriority::BestEffort(level) => format!("I/O priority best-effort {level}"),
        IoPriority::Idle => "I/O priority idle".to_owned(),
    }
}

fn described_policy(policy: &MemoryPolicy) -> String {
    match policy {
        MemoryPolicy::Inherit => "memory as the process".to_owned(),
        MemoryPolicy::Local => "memory of the node it runs on".to_owned(),
        MemoryPolicy::Bind(nodes) => format!("memory of node {}", listed(nodes.iter().copied())),
        MemoryPolicy::Prefer(node) => format!("memory of node {node} if there is some"),
        MemoryPolicy::Interleave(nodes) => {
            format!("memory of node {} in turn", listed(nodes.iter().copied()))
        }
    }
}

fn in_set(set: &CpuSet) -> impl Iterator<Item = u32> {
    (0..CpuSet::MAX_CPU as u32).filter(|&cpu| set.is_set(cpu as usize))
}

/// Numbers in order, runs of them short: "0-3,8".
fn listed(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut numbers: Vec<u32> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let texts = runs.map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(placement: Placement) -> Job {
        Job {
            placement,
            ..Job::default()
        }
    }

    /// In a thread of its own, which takes its place with it.
    fn placed(placement: Placement, worker: u32) -> Result<Option<String>, EngineError> {
        let job = job(placement);
        let place = move || {
            place(&job, worker)?;
            assert_eq!(observed(&job), asked(&job, worker));
            Ok(observed(&job))
        };
        std::thread::spawn(place).join().unwrap()
    }

    #[test]
    fn runs_of_numbers_are_short() {
        assert_eq!(listed([]), "");
        assert_eq!(listed([5]), "5");
        assert_eq!(listed([3, 1, 0, 2, 9, 8, 3]), "0-3,8-9");
        assert_eq!(listed([1, 3]), "1,3");
    }

    #[test]
    fn workers_have_a_cpu_each_or_share_them_all() {
        let mut placement = Placement {
            cpus: vec![4, 7, 2],
            ..Placement::default()
        };
        assert_eq!(cpus_of(&job(placement.clone()), 1), [4, 7, 2]);
        placement.cpu_policy = CpuPolicy::Split;
        let job = job(placement);
        let of = |worker| cpus_of(&job, worker).to_vec();
        assert_eq!(
            (of(0), of(1), of(2), of(3)),
            (vec![4], vec![7], vec![2], vec![4])
        );
    }

    #[test]
    fn what_is_not_asked_for_is_left_alone() {
        assert_eq!(placed(Placement::default(), 0).unwrap(), None);
    }

    /// The kernel's files are the other witness.
    #[test]
    fn the_thread_is_where_it_is_to_be_and_no_other_is() {
        let process = std::fs::read_to_string("/proc/self/status").unwrap();
        let allowed = |status: &str| {
            let line = status
                .lines()
                .find(|line| line.starts_with("Cpus_allowed_list"));
            line.unwrap().split_whitespace().nth(1).unwrap().to_owned()
        };
        let cpu: u32 = allowed(&process)
            .split(['-', ','])
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let placement = Placement {
            cpus: vec![cpu],
            memory: MemoryPolicy::Bind(allowed_nodes().unwrap()),
            io_priority: Some(IoPriority::BestEffort(6)),
            nice: Some(7),
            ..Placement::default()
        };
        let job = job(placement);
        std::thread::spawn(move || {
            place(&job, 0).unwrap();
            assert_eq!(observed(&job), asked(&job, 0));
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            assert_eq!(allowed(&status), cpu.to_string());
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            // Field 19 is the niceness; the second, in parentheses, may have blanks.
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split(' ').collect();
            assert_eq!(fields[17], "7");
            let maps = std::fs::read_to_string("/proc/thread-self/numa_maps").unwrap();
            assert!(maps.lines().any(|line| line.contains(" bind:")), "{maps}");
        })
        .join()
        .unwrap();
        assert_eq!(
            allowed(&std::fs::read_to_string("/proc/self/status").unwrap()),
            allowed(&process)
        );
        assert_eq!(io_priority(), None, "the other threads are as they were");
    }

    #[test]
    fn root_every_policy_and_class_can_be_had() {
        testkit::require_root!();
        let node = allowed_nodes().unwrap()[0];
        let policies = [
            MemoryPolicy::Local,
            MemoryPolicy::Bind(vec![node]),
            MemoryPolicy::Prefer(node),
            MemoryPolicy::Interleave(vec![node]),
        ];
        for memory in policies {
            let placement = Placement {
                memory,
                ..Placement::default()
            };
            placed(placement, 0).unwrap();
        }
        for (priority, nice) in [
            (IoPriority::RealTime(3), -5),
            (IoPriority::BestEffort(0), 0),
            (IoPriority::Idle, 19),
        ] {
            let placement = Placement {
                io_priority: Some(priority),
                nice: Some(nice),
                ..Placement::default()
            };
            placed(placement, 0).unwrap();
        }
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let cpus = Placement {
            cpus: vec![0, 1023],
            ..Placement::default()
        };
        let error = placed(cpus, 0).unwrap_err().to_string();
        assert!(
            error.contains("CPU 0,1023") && error.contains("choose among 0"),
            "{error}"
        );
        let there = allowed_nodes().unwrap();
        let missing = (0..).find(|node| !there.contains(node)).unwrap();
        let nodes = Placement {
            memory: MemoryPolicy::Bind(vec![missing]),
            ..Placement::default()
        };
        let error = placed(nodes, 0).unwrap_err().to_string();
        let reason = format!("there is no node {missing}");
        assert!(error.contains(&reason), "{error}");
        if there.len() == 1 {
            assert!(error.contains("there is one node, 0"), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_anywhere_is_refused_before() {
        let default = Placement::default;
        let wrong = [
            Placement {
                cpus: vec![1024],
                ..default()
            },
            Placement {
                nice: Some(20),
                ..default()
            },
            Placement {
                nice: Some(-21),
                ..default()
            },
            Placement {
                io_priority: Some(IoPriority::BestEffort(8)),
                ..default()
            },
            Placement {
                memory: MemoryPolicy::Bind(Vec::new()),
                ..default()
            },
            Placement {
                memory: MemoryPolicy::Prefer(1024),
                ..default()
            },
        ];
        for placement in wrong {
            assert!(problem(&placement).is_some(), "{placement:?}");
        }
        let right = Placement {
            cpus: vec![1023],
            memory: MemoryPolicy::Interleave(vec![0, 1023]),
            io_priority: Some(IoPriority::RealTime(7)),
            nice: Some(-20),
            ..default()
        };
        assert_eq!(problem(&right), None);
        assert_eq!(problem(&default()), None);
    }
}
