//! librocjitsu.so: the library that is preloaded into a program so that it finds an emulated AMD GPU.
//!
//! It claims /dev/kfd, /dev/dri and the driver's part of /sys, hands their calls to rj_kmd and passes everything else
//! through. It runs inside strangers' processes: a program that never touches the GPU gets no thread, no fd, no signal
//! handler; nothing here allocates with the program's malloc on a path that malloc itself may take; no output unless
//! something is wrong. Without `$ROCJITSU_RUNTIME_DIR/config_path` it claims nothing.

// An exported function has libc's contract with its caller: pointers are what the C standard or POSIX says they are.
#![allow(clippy::missing_safety_doc)]

#[cfg(not(test))]
mod alloc;
#[cfg(not(test))]
mod claims;
#[cfg(not(test))]
mod exports;
#[cfg(not(test))]
mod fds;
#[cfg(not(test))]
mod images;
#[cfg(not(test))]
mod init;
#[cfg(not(test))]
mod next;
mod normal;
#[cfg(not(test))]
#[cfg(not(test))]
mod record;
#[cfg(not(test))]
mod signals;
#[cfg(not(test))]
mod state;
#[cfg(not(test))]
mod sys;
#[cfg(not(test))]
mod tree;
