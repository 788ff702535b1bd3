//! What the machine asks of the driver: events, clocks, reports.

use crate::allocs::Allocs;
use crate::events::Events;
use crate::trace::Trace;
use crate::{Counts, loaded, raw, record};
use rj_vm::{CodeFile, Host, MemoryFault, TraceLevel};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Fault reports kept for the record.
const FAULTS: usize = 32;

/// Shared by the ioctls and the machine's threads.
#[derive(Debug, Default)]
pub struct Shared {
    /// The process's events.
    pub events: Events,
    /// What was allocated, for reports.
    pub allocs: Allocs,
    /// Address of the runtime's list of loaded code objects; 0 if it did not tell.
    pub r_debug: AtomicU64,
    /// The trace, if there is one.
    pub trace: OnceLock<Trace>,
    counts: Mutex<Counts>,
    said: Mutex<BTreeSet<String>>,
}

impl Shared {
    /// The counters, to add to or copy.
    pub fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Records a request that the driver does not know, and says so once.
    pub fn unknown(&self, name: &str) {
        *self.counts().unknown_requests.entry(name.to_string()).or_insert(0) += 1;
        self.note(&format!("not supported: {name}"));
        record::changed();
    }
}

/// Each line led by the engine's name.
fn say(text: &str) {
    let mut out = String::new();
    for line in text.lines() {
        out.push_str("rocjitsu: ");
        out.push_str(line);
        out.push('\n');
    }
    raw::stderr(&out);
}

impl Host for Shared {
    fn raise_event(&self, id: u32) {
        // An event that the program destroyed meanwhile is nobody's loss.
        let _ = self.events.set(id);
    }

    fn memory_fault(&self, fault: &MemoryFault) {
        record::changed();
        self.events.memory_fault(fault);
    }

    fn clock(&self) -> u64 {
        raw::gpu_clock()
    }

    fn report(&self, text: &str) {
        {
            let mut counts = self.counts();
            if counts.faults.len() < FAULTS {
                counts.faults.push(text.to_string());
            }
        }
        self.trace(TraceLevel::Fault, text);
        say(text);
        record::changed();
    }

    fn note(&self, text: &str) {
        if self.said.lock().unwrap_or_else(|e| e.into_inner()).insert(text.to_string()) {
            self.trace(TraceLevel::Fault, text);
            say(text);
        }
    }

    fn traces(&self, level: TraceLevel) -> bool {
        self.trace.get().is_some_and(|t| t.wants(level))
    }

    fn trace(&self, level: TraceLevel, text: &str) {
        if let Some(t) = self.trace.get() {
            t.write(level, text);
        }
    }

    fn code_file(&self, pc: u64) -> Option<CodeFile> {
        loaded::find(self.r_debug.load(Ordering::Relaxed), pc)
    }

    fn around(&self, va: u64) -> Option<String> {
        Some(self.allocs.around(va))
    }

    fn unsupported(&self, name: &str) {
        *self.counts().unsupported_instructions.entry(name.to_string()).or_insert(0) += 1;
        record::changed();
    }
}
