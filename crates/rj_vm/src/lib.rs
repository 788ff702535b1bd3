//! The machine: command processor, SDMA engines, dispatcher, threads, faults. Knows no ioctl.

mod api;
mod dispatch;
mod launch;
mod machine;
pub mod offline;
mod scratch;
mod thread;
mod workers;

pub use api::{Counters, Gpu, GpuConfig, Host, MemoryFault, QueueDesc, QueueError, QueueId, QueueKind, QueueUpdate};
pub use machine::Machine;
pub use thread::host_fault;
