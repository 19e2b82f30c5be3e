//! Whether the clock that orders the points can be believed.

use std::collections::BTreeMap;

use stiction_core::Session;

/// Signs that the clock went back between or within sessions, a sentence each.
///
/// A session that ended before it began is one. A boot that is there before and after
/// another boot of the same machine is one too: no boot comes back. Both leave the order
/// of points in doubt.
#[must_use]
pub fn clock_doubts(sessions: &[Session]) -> Vec<String> {
    let mut by_time: Vec<&Session> = sessions.iter().collect();
    by_time.sort_by_key(|session| session.header.started);
    let mut doubts = Vec::new();
    // Of each machine, the boots in the order in which they were first met.
    let mut boots: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for session in by_time {
        let header = &session.header;
        if let Some(end) = &session.end
            && end.at < header.started
        {
            doubts.push(format!(
                "the clock went back while {} ran: it began at {} and ended at {}",
                header.id, header.started, end.at
            ));
        }
        let environment = &header.environment;
        let kernel = environment.kernel.as_ref();
        let Some(boot) = kernel.and_then(|kernel| kernel.boot.as_ref()) else {
            continue;
        };
        let model = environment.cpu.as_ref().map(|cpu| cpu.model.as_str());
        let machine = format!("{:?} {:?}", environment.host_name, model);
        let seen = boots.entry(machine).or_default();
        if seen.last() == Some(&boot.as_str()) {
            continue;
        }
        if seen.contains(&boot.as_str()) {
            doubts.push(format!(
                "{} is of a boot that another one followed: the clock was set, or two \
                 machines look alike (--keep-host-name tells them apart)",
                header.id
            ));
        }
        seen.push(boot.as_str());
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Digest, Kernel, SessionEnd, SessionOutcome};
    use testkit::sessions::sample;

    fn session(number: u64, boot: &str) -> Session {
        let mut session = sample(number);
        session.header.environment.kernel = Some(Kernel {
            boot: Some(Digest::of(boot.as_bytes())),
            ..Kernel::default()
        });
        session.header.environment.cpu = None;
        session.end = None;
        session
    }

    #[test]
    fn boots_one_after_the_other_are_in_order() {
        let sessions = [session(1, "a"), session(2, "a"), session(3, "b")];
        assert!(clock_doubts(&sessions).is_empty());
    }

    #[test]
    fn a_boot_that_comes_back_is_a_sign() {
        let sessions = [session(1, "a"), session(2, "b"), session(3, "a")];
        let doubts = clock_doubts(&sessions);
        assert_eq!(doubts.len(), 1);
        assert!(
            doubts[0].contains(sessions[2].header.id.as_str()),
            "{doubts:?}"
        );
    }

    #[test]
    fn an_end_before_the_beginning_is_a_sign() {
        let mut session = session(1, "a");
        session.end = Some(SessionEnd {
            outcome: SessionOutcome::Completed,
            at: session.header.started - jiff::SignedDuration::from_secs(3600),
            message: None,
        });
        let doubts = clock_doubts(&[session]);
        assert_eq!(doubts.len(), 1);
        assert!(doubts[0].contains("went back"), "{doubts:?}");
    }
}
