//! Numbers to judgements: comparisons, decompositions, verdicts. Pure.
