//! Generates I/O and counts it: backends, workers, offset and data patterns, clocks.
