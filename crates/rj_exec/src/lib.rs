//! Executing waves: lowered code, micro-ops over SIMD lanes, guest memory. Knows no queue and no driver.
//!
//! A caller (rj_vm) makes a [`Dispatch`], then for each work-group a [`Group`], and calls [`Group::run`] until it is
//! done. A group lives on one host thread at a time.

pub mod code;
pub mod cross;
pub mod dispatch;
pub mod fault;
pub mod float8;
pub mod group;
pub mod gws;
pub mod half;
pub mod hwreg;
mod init;
pub mod lanes;
pub mod lower;
pub mod matrix;
pub mod mem;
pub mod memory;
pub mod ops;
pub mod salu;
pub mod shapes;
pub mod uop;
pub mod wave;

pub use code::CodeCache;
pub use dispatch::{Dispatch, Scratch};
pub use fault::{Fault, FaultKind};
pub use group::{Env, Group, Host, Pool, Progress};
pub use gws::Gws;
pub use mem::{AddressSpace, Region, Snapshot};
