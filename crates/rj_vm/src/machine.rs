//! The machine of one process: its GPUs, its queues, its threads.

use crate::api::{Counters, Gpu, GpuConfig, Host, QueueDesc, QueueError, QueueId, QueueUpdate};
use crate::bell::{Bell, Deaf};
use crate::core::Core;
use crate::cp::{self, Command, Done, Mailbox, Processor};
use crate::explain;
use crate::thread::{self, HostFault};
use rj_exec::mem::Denied;
use rj_exec::{AddressSpace, CodeCache};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The GPUs of one process. Threads start with the first queue and the first dispatch, never before.
/// Destroy its queues before dropping it: their doorbells are read until then.
pub struct Machine {
    core: Arc<Core>,
    mailbox: Arc<Mailbox>,
    queues: Mutex<Queues>,
    /// The command processor itself met a host fault: nothing it holds will be answered.
    stuck: Arc<AtomicBool>,
}

#[derive(Default)]
struct Queues {
    live: BTreeSet<u32>,
    last: u32,
    started: bool,
}

impl Machine {
    /// A machine with these GPUs whose kernels run on up to `threads` threads. It polls its doorbells.
    pub fn new(gpus: &[GpuConfig], host: Arc<dyn Host>, threads: usize) -> Arc<Machine> {
        Machine::with_bell(gpus, host, threads, Arc::new(Deaf::default()))
    }

    /// The same; its command processor sleeps by `bell`.
    pub fn with_bell(gpus: &[GpuConfig], host: Arc<dyn Host>, threads: usize, bell: Arc<dyn Bell>) -> Arc<Machine> {
        let gpus = gpus
            .iter()
            .map(|&config| {
                let (space, code) = (Arc::new(AddressSpace::new()), CodeCache::new(config.target));
                Arc::new(Gpu { config, space, code, gws: rj_exec::Gws::default() })
            })
            .collect();
        let core = Arc::new(Core::new(gpus, host, threads, bell));
        Arc::new(Machine { core, mailbox: Arc::default(), queues: Mutex::default(), stuck: Arc::default() })
    }

    /// Ends the process if no work-group of a running kernel ends for so long.
    pub fn set_watchdog(&self, limit: Duration) {
        self.core.watchdog_ms.store(limit.as_millis().try_into().unwrap_or(u64::MAX), SeqCst);
    }

    /// The GPUs.
    pub fn gpus(&self) -> &[Arc<Gpu>] {
        &self.core.gpus
    }

    /// The address space of GPU `gpu`. After an unmap call [`CodeCache::invalidate`] of [`Machine::code`].
    pub fn space(&self, gpu: usize) -> &Arc<AddressSpace> {
        &self.core.gpus[gpu].space
    }

    /// The lowered code of GPU `gpu`.
    pub fn code(&self, gpu: usize) -> &CodeCache {
        &self.core.gpus[gpu].code
    }

    /// Starts serving a queue.
    pub fn create_queue(&self, desc: QueueDesc) -> Result<QueueId, QueueError> {
        if self.core.stopped() {
            return Err(QueueError::Stopped);
        }
        let queue = cp::queue(&self.core, desc)?;
        let mut queues = self.queues();
        if !queues.started {
            self.start().map_err(|e| QueueError::Threads(e.to_string()))?;
            queues.started = true;
        }
        queues.last += 1;
        let id = queues.last;
        queues.live.insert(id);
        self.mailbox.put(Command::Create(id, queue));
        self.core.bell.wake();
        Ok(QueueId(id))
    }

    /// Changes a queue.
    pub fn update_queue(&self, id: QueueId, update: QueueUpdate) -> Result<(), QueueError> {
        if !self.queues().live.contains(&id.0) {
            return Err(QueueError::NoQueue);
        }
        self.mailbox.put(Command::Update(id.0, update));
        self.core.bell.wake();
        Ok(())
    }

    /// Stops serving a queue. Kernels of it that still run are cancelled; returns when nothing touches its memory.
    pub fn destroy_queue(&self, id: QueueId) -> Result<(), QueueError> {
        if !self.queues().live.remove(&id.0) {
            return Err(QueueError::NoQueue);
        }
        let done = Arc::new(Done::default());
        self.mailbox.put(Command::Destroy(id.0, done.clone()));
        self.core.bell.wake();
        done.wait(|| self.stuck.load(SeqCst));
        Ok(())
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        self.core.stats.snapshot()
    }

    /// A memory fault stopped all queues.
    pub fn stopped(&self) -> bool {
        self.core.stopped()
    }

    /// Forgets the machine in the child of a fork, where its threads do not exist and its locks may be held.
    pub fn abandon(self: Arc<Machine>) {
        std::mem::forget(self);
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> std::io::Result<()> {
        let (core, stuck) = (self.core.clone(), self.stuck.clone());
        thread::spawn("rj-fault", None, move || {
            if let Some(fault) = core.watch.wait() {
                stuck.store(true, SeqCst);
                // The command processor may be the thread that faulted: nobody would let go of the doorbells.
                core.bell.disarm();
                host_fault(&core, &fault);
            }
        })?;
        let processor = Processor::new(self.core.clone(), self.mailbox.clone());
        thread::spawn("rj-command", Some(self.core.watch), move || processor.run()).map(|_| ())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.mailbox.put(Command::Quit);
        self.core.bell.wake();
        self.core.watch.end();
    }
}

/// An engine thread touched host memory that is gone. If a GPU maps it, that is the program's memory fault.
fn host_fault(core: &Core, fault: &HostFault) {
    let kernel = match &fault.dispatch {
        Some(d) => {
            let name = core.gpus.iter().find_map(|g| explain::kernel(&g.space.snapshot(), d.object));
            format!("\n  kernel {}", name.as_ref().unwrap_or(&d.name))
        }
        None => "\n  in the command processor or an SDMA queue".into(),
    };
    for (gpu, g) in core.gpus.iter().enumerate() {
        let map = g.space.snapshot();
        let region = map.regions().iter().find(|r| fault.address.wrapping_sub(r.host) < r.len as usize);
        if let Some(r) = region {
            let va = r.va + (fault.address - r.host) as u64;
            let access = if fault.write { "write to" } else { "access of" };
            let text = format!("memory fault: {access} {va:#x}, whose host memory is gone{kernel}");
            return core.memory_fault(gpu, Denied { va, write: fault.write, mapped: false }, false, &text);
        }
    }
    core.host.report(&format!("internal error: an engine thread touched host address {:#x}{kernel}", fault.address));
    std::process::abort();
}
