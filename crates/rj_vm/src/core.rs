//! What queues, threads and the machine's interface share: GPUs, the driver, worker threads, counters, the stop
//! after a memory fault.

use crate::api::{Counters, Gpu, Host, MemoryFault};
use crate::bell::Bell;
use crate::thread::Watch;
use crate::workers::Workers;
use rj_exec::mem::Denied;
use rj_exec::{AddressSpace, Fault, FaultKind};
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
pub struct DeviceHost(pub Arc<dyn Host>);

impl rj_exec::Host for DeviceHost {
    fn interrupt(&self, event: u32) {
        self.0.raise_event(event);
    }

    fn clock(&self) -> u64 {
        self.0.clock()
    }

    fn note(&self, text: &str) {
        self.0.note(text);
    }
}

impl Core {
    /// Everything idle.
    pub fn new(gpus: Vec<Arc<Gpu>>, host: Arc<dyn Host>, threads: usize, bell: Arc<dyn Bell>) -> Core {
        let watch: &'static Watch = Box::leak(Box::default());
        Core {
            workers: Workers::new(threads, Arc::new(DeviceHost(host.clone())), Some(watch)),
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
        let near = neighbours(&self.gpus[gpu].space, denied.va);
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

/// Says what lies around an address.
fn neighbours(space: &AddressSpace, va: u64) -> String {
    let map = space.snapshot();
    if let Some(r) = map.find(va) {
        let access = |on: bool, c: char| if on { c } else { '-' };
        let rwx: String = [access(r.read, 'r'), access(r.write, 'w'), access(r.exec, 'x')].into_iter().collect();
        return format!("it lies in the mapping {:#x}-{:#x} ({rwx}, allocation {:#x})", r.va, r.end(), r.alloc);
    }
    let i = map.regions().partition_point(|r| r.va <= va);
    let below = i.checked_sub(1).map(|i| &map.regions()[i]);
    let above = map.regions().get(i);
    match (below, above) {
        (Some(b), Some(a)) if va - b.end() > a.va - va => ahead(a.va, a.end(), a.va - va),
        (Some(b), _) => {
            let past = va - b.end();
            format!(
                "nearest: the mapping {:#x}-{:#x} ends {past} bytes below (allocation {:#x})",
                b.va,
                b.end(),
                b.alloc
            )
        }
        (None, Some(a)) => ahead(a.va, a.end(), a.va - va),
        (None, None) => "nothing is mapped on this GPU".into(),
    }
}

fn ahead(va: u64, end: u64, bytes: u64) -> String {
    format!("nearest: the mapping {va:#x}-{end:#x} begins {bytes} bytes above")
}
