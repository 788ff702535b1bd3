//! What all kinds of queues have in common: a step of a state machine that never blocks, and how a step ends badly.

use crate::api::QueueUpdate;
use crate::core::Core;
use crate::dispatch::{Failure, Refusal};
use crate::launch::Launch;
use rj_exec::mem::Denied;
use rj_exec::{Fault, Pool};
use std::sync::Arc;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something: step again soon.
    Moved,
    /// Nothing to do until the program writes a packet.
    Idle,
    /// Waits for a kernel of this queue.
    Running,
    /// Waits for a value in memory that no event announces.
    Polling,
}

/// Why a queue stops.
pub enum Stop {
    /// The queue's own engine met memory that it may not touch; says what for.
    Denied(Denied, &'static str),
    /// An entry point that is mapped but not executable.
    Fetch(u64),
    /// A packet that cannot be executed.
    Refused(Refusal),
    /// A wave stopped.
    Fault(Box<Fault>),
    /// A kernel ran on and on, and the watchdog stopped it.
    Expired(Arc<Launch>),
    /// The runtime has no private memory for a kernel, and has told the program so.
    NoScratch {
        /// The kernel object.
        object: u64,
        /// Bytes a work-item.
        bytes: u32,
    },
    /// A kernel was cancelled.
    GivenUp,
}

impl Stop {
    /// A packet that cannot be executed.
    pub fn refused(failure: Failure, why: String) -> Stop {
        Stop::Refused(Refusal { failure, why })
    }
}

/// Adds what the memory was for.
pub trait For<T> {
    /// See the trait.
    fn what(self, what: &'static str) -> Result<T, Stop>;
}

impl<T> For<T> for Result<T, Denied> {
    fn what(self, what: &'static str) -> Result<T, Stop> {
        self.map_err(|denied| Stop::Denied(denied, what))
    }
}

/// A queue that the command processor serves.
pub trait Queue: Send {
    /// Does a bounded amount of work.
    fn step(&mut self, core: &Core, pool: &mut Pool) -> Step;
    /// UPDATE_QUEUE.
    fn update(&mut self, update: QueueUpdate);
    /// Cancels its kernels; it takes no packet any more.
    fn stop(&mut self, core: &Core);
    /// Nothing of it runs any more. Called after [`Queue::stop`].
    fn quiet(&mut self, core: &Core) -> bool;
}
