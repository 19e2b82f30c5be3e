//! What holds for any two sessions.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn are_compared_without_a_panic(number in 0u64..100_000, other in 0u64..100_000) {
        let a = testkit::sessions::sample(number);
        let b = testkit::sessions::sample(other);
        let found = whole(&a, &b);
        for row in &found.rows {
            if let Some(verdict) = &row.verdict {
                let refused = matches!(
                    verdict,
                    Verdict::CannotTell { .. }
                        | Verdict::Failed { .. }
                        | Verdict::NotRun { .. }
                        | Verdict::NotComparable { .. }
                );
                prop_assert_eq!(refused, !verdict.reasons().is_empty());
                prop_assert!(refused, "two sessions are never interleaved");
            }
        }
    }

    #[test]
    fn are_the_same_as_themselves_or_cannot_tell(number in 0u64..100_000) {
        let session = testkit::sessions::sample(number);
        let found = whole(&session, &session);
        prop_assert!(found.environment.differs.is_empty() && found.unmatched.is_empty());
        let worse = found.rows.iter().any(|row| {
            matches!(row.verdict, Some(Verdict::Worse | Verdict::Better))
        });
        prop_assert!(!worse);
    }
}
