//! The benchmarks people know, each a program of phases over the engine.
