//! What the machine offers to the driver above it, and what it asks of that driver. No behaviour lives here.

use rj_exec::{AddressSpace, CodeCache};
use rj_isa::Target;
use std::sync::Arc;

/// One GPU's limits, as far as queues and waves notice them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuConfig {
    /// Whose instructions it executes.
    pub target: Target,
    /// KFD's id of the GPU, used in memory fault events.
    pub gpu_id: u32,
    /// XCCs (hwreg XCC_ID, scratch sizes).
    pub xccs: u32,
    /// Active compute units.
    pub cus: u32,
    /// SIMDs of a compute unit.
    pub simds_per_cu: u32,
    /// Waves a SIMD holds at most.
    pub waves_per_simd: u32,
    /// LDS bytes a work-group may have at most.
    pub lds_bytes: u32,
    /// VGPRs per lane a wave may have at most (architectural and accumulation where unified).
    pub vgprs: u32,
}

/// What a queue's packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// 64-byte HSA packets.
    Aql,
    /// PM4 command stream (compute).
    Pm4,
    /// SDMA packets.
    Sdma,
}

/// A queue as CREATE_QUEUE describes it. Addresses are GPU virtual addresses unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub struct QueueDesc {
    /// Index of the GPU among those given to [`crate::Machine::new`].
    pub gpu: usize,
    /// What its packets are.
    pub kind: QueueKind,
    /// Ring.
    pub ring: u64,
    /// Ring size, bytes: a power of two.
    pub ring_bytes: u64,
    /// Read pointer, 64 bits: packets (AQL), dwords (PM4) or bytes (SDMA). For AQL it lies in the amd_queue_t.
    pub read_ptr: u64,
    /// Write pointer, 64 bits, in the same unit.
    pub write_ptr: u64,
    /// Host address of the queue's 64-bit doorbell; it stays mapped until the queue is destroyed. The caller sets it
    /// to 0 first.
    pub doorbell: usize,
    /// Context save area; its header holds the exception payload's address and event id. 0 if there is none.
    pub ctx_save: u64,
    /// RUNTIME_ENABLE was called: errors go to the exception payload, else to queue_inactive_signal.
    pub exceptions: bool,
    /// KFD priority, 0 to 15.
    pub priority: u32,
    /// KFD percentage, 0 to 100; 0 holds the queue.
    pub percentage: u32,
}

/// A queue of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId(pub u32);

/// Why a queue cannot be made or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueError {
    /// No such queue.
    NoQueue,
    /// An address is not mapped on the queue's GPU; names which.
    Unmapped(&'static str, u64),
    /// A value that no queue can have; names which.
    Bad(&'static str),
    /// The threads cannot be started.
    Threads(String),
    /// The machine stopped after a memory fault.
    Stopped,
}

impl std::fmt::Display for QueueError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueueError::NoQueue => write!(f, "no such queue"),
            QueueError::Unmapped(what, va) => write!(f, "the queue's {what} at {va:#x} is not mapped on its GPU"),
            QueueError::Bad(what) => write!(f, "the queue's {what} is not valid"),
            QueueError::Threads(why) => write!(f, "cannot start a thread: {why}"),
            QueueError::Stopped => write!(f, "the GPU stopped after a memory fault"),
        }
    }
}

impl std::error::Error for QueueError {}

/// What UPDATE_QUEUE may change.
#[derive(Clone, Copy, Debug)]
pub struct QueueUpdate {
    /// New ring, if it moves: address and bytes.
    pub ring: Option<(u64, u64)>,
    /// KFD priority, 0 to 15.
    pub priority: u32,
    /// KFD percentage, 0 to 100; 0 holds the queue.
    pub percentage: u32,
}

/// A GPU memory fault, for the process's memory events (type 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFault {
    /// Index of the GPU.
    pub gpu: usize,
    /// KFD's id of the GPU.
    pub gpu_id: u32,
    /// The address; events carry its page.
    pub va: u64,
    /// It was a store or an atomic.
    pub write: bool,
    /// Mapped, but not for this access.
    pub mapped: bool,
    /// It was an instruction fetch.
    pub fetch: bool,
}

/// What happened since the machine was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Kernels that ran to their end.
    pub dispatches: u64,
    /// Work-groups that ran to their end.
    pub groups: u64,
    /// Wave instructions executed.
    pub instructions: u64,
    /// Nanoseconds during which at least one kernel ran.
    pub kernel_ns: u64,
    /// SDMA bytes copied or filled.
    pub sdma_bytes: u64,
    /// Packets taken from queues.
    pub packets: u64,
    /// Faults and queue errors.
    pub faults: u64,
}

/// How much of what happens goes into a trace; each level has all of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceLevel {
    /// What goes wrong.
    Fault,
    /// Kernel launches.
    Launch,
    /// Queues, memory, ends of kernels.
    All,
}

/// A loaded code object as its file, and an address in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// The ELF file.
    pub bytes: Vec<u8>,
    /// Relative to where it was loaded.
    pub address: u64,
}

/// The driver, as the machine sees it. Calls come from the machine's threads and must not block for long.
pub trait Host: Send + Sync {
    /// Sets the KFD event of this id, as an interrupt would.
    fn raise_event(&self, id: u32);
    /// Fills and sets every memory event of the process. The report was printed before.
    fn memory_fault(&self, fault: &MemoryFault);
    /// The 100 MHz clock of GET_CLOCK_COUNTERS; never 0.
    fn clock(&self) -> u64;
    /// Prints a report on the program's stderr, each line led by `rocjitsu: `, and records it.
    fn report(&self, text: &str);
    /// The same, once per text: for what is worth a line but stops nothing.
    fn note(&self, text: &str);
    /// Records the name of something refused (instruction, packet, register) for the process record.
    fn unsupported(&self, name: &str);
    /// Whether lines of this level are traced: else nothing need be said.
    fn traces(&self, _level: TraceLevel) -> bool {
        false
    }
    /// Adds lines to the trace.
    fn trace(&self, _level: TraceLevel, _text: &str) {}
    /// The file of the code object that is loaded at an address, for reports.
    fn code_file(&self, _pc: u64) -> Option<CodeFile> {
        None
    }
    /// What the program allocated at or around an address, for reports.
    fn around(&self, _va: u64) -> Option<String> {
        None
    }
}

/// A GPU's memory and lowered code.
#[derive(Debug)]
pub struct Gpu {
    /// Its limits.
    pub config: GpuConfig,
    /// What is mapped.
    pub space: Arc<AddressSpace>,
    /// Lowered code.
    pub code: CodeCache,
    /// Global wave sync.
    pub gws: rj_exec::Gws,
}
