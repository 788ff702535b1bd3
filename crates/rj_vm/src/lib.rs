//! The machine: command processor, SDMA engines, dispatcher, threads, faults. Knows no ioctl.

mod api;
mod aql;
pub mod bell;
mod core;
mod cp;
mod dispatch;
mod explain;
mod launch;
mod machine;
pub mod offline;
mod packet;
mod pm4;
mod pm4_queue;
mod queue;
mod rect;
mod ring;
mod scratch;
mod sdma;
mod signal;
mod symbols;
mod thread;
mod workers;

pub use api::{
    CodeFile, Counters, Gpu, GpuConfig, Host, MemoryFault, QueueDesc, QueueError, QueueId, QueueKind, QueueUpdate,
    TraceLevel,
};
pub use machine::Machine;
pub use thread::host_fault;
