//! This machine: facts, observers, and every change made to it, each with its undo.
