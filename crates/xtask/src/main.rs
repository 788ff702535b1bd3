//! Generation, tests, benchmarks.
fn main() {}
