//! What queues, threads and the machine's interface share: GPUs, the driver, worker threads, counters, the stop
//! after a memory fault.

use crate::api::{Counters, Gpu, Host, MemoryFault};
use crate::bell::Bell;
use crate::explain;
use crate::thread::{self, Watch};
use crate::workers::Workers;
use rj_exec::mem::Denied;
use rj_exec::{Fault, FaultKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// Shared by all threads of a machine.
pub struct Core {
    /// The GPUs.
    pub gpus: Vec<Arc<Gpu>>,
    /// The driver.
    pub host: Arc<dyn Host>,
    /// Threads that run work-groups.
    pub workers: Workers,
    /// Counters.
    pub stats: Stats,
    /// Where host faults of engine threads are announced.
    pub watch: &'static Watch,
    /// Where the command processor sleeps.
    pub bell: Arc<dyn Bell>,
    /// How long a kernel may go without any of its work-groups ending, milliseconds; 0: for ever.
    pub watchdog_ms: AtomicU64,
    stopped: AtomicBool,
}

/// Counters as they grow.
#[derive(Debug, Default)]
pub struct Stats {
    /// Kernels that ran to their end.
    pub dispatches: AtomicU64,
    /// Work-groups that ran to their end.
    pub groups: AtomicU64,
    /// Wave instructions.
    pub instructions: AtomicU64,
    /// Time with a kernel in flight.
    pub kernel_ns: AtomicU64,
    /// Bytes moved by SDMA.
    pub sdma_bytes: AtomicU64,
    /// Packets taken.
    pub packets: AtomicU64,
    /// Faults and queue errors.
    pub faults: AtomicU64,
}

impl Stats {
    /// Adds to a counter.
    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, SeqCst);
    }

    /// The counters now.
    pub fn snapshot(&self) -> Counters {
        let get = |c: &AtomicU64| c.load(SeqCst);
        Counters {
            dispatches: get(&self.dispatches),
            groups: get(&self.groups),
            instructions: get(&self.instructions),
            kernel_ns: get(&self.kernel_ns),
            sdma_bytes: get(&self.sdma_bytes),
            packets: get(&self.packets),
            faults: get(&self.faults),
        }
    }
}

/// Passes what device code asks on to the driver.
pub struct DeviceHost(pub Arc<dyn Host>, pub Vec<Arc<Gpu>>);

impl rj_exec::Host for DeviceHost {
    fn interrupt(&self, event: u32) {
        self.0.raise_event(event);
    }

    fn clock(&self) -> u64 {
        self.0.clock()
    }

    fn note(&self, text: &str) {
        // Code knows nothing of itself; the thread knows which kernel it runs.
        let kernel = thread::current().and_then(|d| {
            let names = self.1.iter().find_map(|g| explain::kernel(&g.space.snapshot(), d.object));
            Some(format!("\n  kernel {}", names?))
        });
        self.0.note(&format!("{text}{}", kernel.unwrap_or_default()));
    }
}

impl Core {
    /// Everything idle.
    pub fn new(gpus: Vec<Arc<Gpu>>, host: Arc<dyn Host>, threads: usize, bell: Arc<dyn Bell>) -> Core {
        let watch: &'static Watch = Box::leak(Box::default());
        Core {
            workers: Workers::new(threads, Arc::new(DeviceHost(host.clone(), gpus.clone())), Some(watch)),
            watchdog_ms: AtomicU64::new(0),
            gpus,
            host,
            stats: Stats::default(),
            watch,
            bell,
            stopped: AtomicBool::new(false),
        }
    }

    /// A memory fault stopped all queues.
    pub fn stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }

    /// Reports a memory fault, sets the process's memory events, stops all queues.
    pub fn memory_fault(&self, gpu: usize, denied: Denied, fetch: bool, text: &str) {
        let config = &self.gpus[gpu].config;
        let near = explain::around(self, gpu, denied.va);
        Stats::add(&self.stats.faults, 1);
        self.host.report(&format!("GPU {gpu} ({}): {text}\n  {near}", config.target.name()));
        self.stopped.store(true, SeqCst);
        self.host.memory_fault(&MemoryFault {
            gpu,
            gpu_id: config.gpu_id,
            va: denied.va,
            write: denied.write,
            mapped: denied.mapped,
            fetch,
        });
        self.bell.wake();
    }

    /// A memory fault of a wave; None if the fault is of another kind.
    pub fn wave_memory_fault(&self, gpu: usize, fault: &Fault) -> Option<()> {
        let FaultKind::Memory { address, write, mapped, fetch } = fault.kind else { return None };
        self.memory_fault(gpu, Denied { va: address, write, mapped }, fetch, &fault.to_string());
        Some(())
    }
}
