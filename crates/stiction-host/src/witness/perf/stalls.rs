//! Waits of writers in `balance_dirty_pages`, by the name of the task.

use std::collections::HashMap;

use stiction_core::WritebackStall;

const NS_PER_MS: u64 = 1_000_000;
/// Names at most that are kept.
const TASKS: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Stalls {
    by_task: HashMap<(bool, String), WritebackStall>,
}

impl Stalls {
    /// A task is about to wait so long; where it need not, that is 0 or less.
    pub(super) fn paused(&mut self, task: &str, is_ours: bool, pause_ms: i64) {
        let pause_ns = match u64::try_from(pause_ms) {
            Ok(pause_ms) if pause_ms > 0 => pause_ms.saturating_mul(NS_PER_MS),
            _ => return,
        };
        let key = (is_ours, task.to_owned());
        let new = || WritebackStall {
            task: task.to_owned(),
            is_ours,
            count: 0,
            total_ns: 0,
            max_ns: 0,
        };
        let stall = self.by_task.entry(key).or_insert_with(new);
        stall.count += 1;
        stall.total_ns += pause_ns;
        stall.max_ns = stall.max_ns.max(pause_ns);
    }

    /// Longest first.
    pub(super) fn finish(self) -> Vec<WritebackStall> {
        let mut stalls: Vec<WritebackStall> = self.by_task.into_values().collect();
        stalls.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then(a.task.cmp(&b.task)));
        stalls.truncate(TASKS);
        stalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_a_name_add_up_and_none_is_none() {
        let mut stalls = Stalls::default();
        for (task, is_ours, pause_ms) in [
            ("worker", true, 8),
            ("worker", true, 20),
            ("worker", true, 0),
            ("cp", false, 40),
            ("cp", false, -4),
        ] {
            stalls.paused(task, is_ours, pause_ms);
        }
        let stalls = stalls.finish();
        assert_eq!(stalls.len(), 2);
        assert_eq!((stalls[0].task.as_str(), stalls[0].is_ours), ("cp", false));
        let ours = &stalls[1];
        assert_eq!(
            (ours.count, ours.total_ns, ours.max_ns),
            (2, 28_000_000, 20_000_000)
        );
    }
}
