//! mirage: run ROCm programs on an emulated AMD GPU.
#![forbid(unsafe_code)]
fn main() {}
