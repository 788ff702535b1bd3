//! mirage: run ROCm programs on an emulated AMD GPU.
//!
//! The binary links the backends that its features name; they register themselves.
#![forbid(unsafe_code)]

#[cfg(feature = "noop")]
use mirage_noop as _;
#[cfg(feature = "rocjitsu")]
use mirage_rocjitsu as _;

fn main() -> std::process::ExitCode {
    mirage_ctl::main(std::env::args_os().collect())
}
