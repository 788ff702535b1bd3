//! The machine: command processor, SDMA engines, dispatcher, threads, faults. Knows no ioctl.

mod api;
mod machine;

pub use api::{Counters, Gpu, GpuConfig, Host, MemoryFault, QueueDesc, QueueError, QueueId, QueueKind, QueueUpdate};
pub use machine::Machine;
