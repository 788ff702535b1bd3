//! A work-group in flight: its waves, its LDS, and how they take turns.

use crate::code::CodeCache;
use crate::dispatch::Dispatch;
use crate::fault::Fault;
use crate::mem::AddressSpace;
use std::sync::Arc;

/// What device code asks of the outside.
pub trait Host: Sync {
    /// `s_sendmsg MSG_INTERRUPT`: raise the event of this id.
    fn interrupt(&self, event: u32);
    /// The 100 MHz clock that signal times and GET_CLOCK_COUNTERS also use.
    fn clock(&self) -> u64;
    /// Something worth one line on the program's stderr, once per text.
    fn note(&self, text: &str);
}

/// Where a group runs.
pub struct Env<'a> {
    /// The GPU's memory.
    pub space: &'a AddressSpace,
    /// Its lowered code.
    pub code: &'a CodeCache,
    /// The outside.
    pub host: &'a dyn Host,
}

/// What became of a turn.
#[derive(Debug)]
pub enum Progress {
    /// All waves have ended.
    Done,
    /// Every wave sleeps, or used its budget: let other groups run, then call again.
    Waiting,
    /// A wave stopped; the group must not run again.
    Fault(Box<Fault>),
}

/// Memory that a thread's groups reuse.
#[derive(Debug, Default)]
pub struct Pool {}

/// A work-group.
#[derive(Debug)]
pub struct Group {
    /// Wave instructions executed so far.
    pub instructions: u64,
}

impl Group {
    /// Makes the group's waves ready to start. `slots` holds a scratch slot per wave if the dispatch uses private
    /// memory, else it is empty.
    pub fn new(pool: &mut Pool, dispatch: &Arc<Dispatch>, id: [u32; 3], slots: &[u32]) -> Group {
        let _ = (pool, dispatch, id, slots);
        Group { instructions: 0 }
    }

    /// Runs the waves in turn until all have ended, all wait, or one faults.
    pub fn run(&mut self, env: &Env<'_>) -> Progress {
        let _ = env;
        Progress::Waiting
    }

    /// Gives the memory back for the thread's next group.
    pub fn recycle(self, pool: &mut Pool) {
        let _ = pool;
    }
}
