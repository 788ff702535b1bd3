//! What a process did with its GPUs, as numbers and names; rj_preload writes it to `gpu/<pid>.json`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

static HOOK: OnceLock<fn()> = OnceLock::new();

/// Sets what writes the record out. The first caller wins.
pub fn on_change(write: fn()) {
    let _ = HOOK.set(write);
}

/// Something that must not be lost if the process dies now: a fault, an unsupported instruction, an unknown request.
/// Call it with no lock held; [`crate::Process::counts`] is called from it.
pub fn changed() {
    if let Some(write) = HOOK.get() {
        write();
    }
}

/// A snapshot of the counters of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// A runtime took a GPU for its own: it gave scratch memory a place. One that does not know the GPU opens the
    /// driver, too, and stops before.
    pub gpu_used: bool,
    /// Queues created.
    pub queues: u64,
    /// Kernels that ran to their end.
    pub dispatches: u64,
    /// Wave instructions executed.
    pub wave_instructions: u64,
    /// Nanoseconds during which at least one kernel ran.
    pub kernel_ns: u64,
    /// Reports of faults and queue errors, one text each, oldest first (bounded).
    pub faults: Vec<String>,
    /// Instructions that the engine does not execute, by name, and how often they were met.
    pub unsupported_instructions: BTreeMap<String, u64>,
    /// Requests that the driver does not know (ioctls, their sub-functions, packets), by name, and how often.
    pub unknown_requests: BTreeMap<String, u64>,
}
