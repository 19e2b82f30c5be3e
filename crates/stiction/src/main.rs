//! The stiction binary.
fn main() {}
