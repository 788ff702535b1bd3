//! An AQL queue: takes packets in order, starts kernels, holds packets back where barriers say so, completes and
//! retires. The rules are engine-abi's "AQL queues", "Signals and events" and "When things go wrong".

use crate::api::{Gpu, QueueDesc, QueueUpdate, TraceLevel};
use crate::core::{Core, Stats};
use crate::dispatch::{self, Failure};
use crate::explain;
use crate::launch::Launch;
use crate::packet::{self, DispatchPacket, Packet};
use crate::pm4::{Pm4, Ran};
use crate::queue::{For, Queue, Step, Stop};
use crate::ring::Ring;
use crate::scratch::{QueueScratch, Ready};
use crate::signal;
use rj_code::KernelDescriptor;
use rj_exec::{Dispatch, FaultKind, Pool, Snapshot};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Packets that one step takes at most.
const BATCH: usize = 16;
/// Kernels of a queue in flight at most.
const KERNELS: usize = 64;
/// A grid of at most so many waves starts on the command processor's own thread.
const SMALL: u64 = 8;

/// An AQL queue.
pub struct AqlQueue {
    ring: Ring,
    gpu: Arc<Gpu>,
    /// Index of the next packet to take.
    next: u64,
    flight: VecDeque<Flight>,
    scratch: QueueScratch,
    /// The indirect buffer of the packet at `next`, begun and waiting.
    buffer: Option<Pm4>,
    held: bool,
    dead: bool,
}

/// A packet that was taken and is not retired.
struct Flight {
    launch: Option<Arc<Launch>>,
    completion: u64,
    start: u64,
    scratch: bool,
    /// Work-groups that had ended when the watchdog last looked, and when.
    seen: (u64, Instant),
}

impl Flight {
    /// Stops the kernel if none of its groups ended for `limit` milliseconds.
    fn watch(&mut self, limit: u64) {
        let Some(launch) = &self.launch else { return };
        let finished = launch.finished();
        if finished != self.seen.0 {
            self.seen = (finished, Instant::now());
        } else if self.seen.1.elapsed().as_millis() >= u128::from(limit) && !launch.stopped() {
            launch.expire();
        }
    }
}

/// What became of the packet at the head.
enum Taken {
    /// It is in flight, or complete.
    Yes(Flight),
    /// It waits.
    Not(Step),
}

impl AqlQueue {
    /// A queue that starts at its read index.
    pub fn new(desc: QueueDesc, gpu: Arc<Gpu>) -> Result<AqlQueue, crate::QueueError> {
        let ring = Ring::new(desc, &gpu)?;
        let map = gpu.space.snapshot();
        let next = ring.read_count(&map)?;
        let scratch = QueueScratch::new(ring.amd_queue(&map)?, gpu.config);
        let held = desc.percentage == 0;
        Ok(AqlQueue { ring, gpu, next, flight: VecDeque::new(), scratch, buffer: None, held, dead: false })
    }

    fn advance(&mut self, core: &Core, pool: &mut Pool, map: &Snapshot) -> Result<Step, Stop> {
        let mut moved = self.reap(core, map)?;
        let mut rest = Step::Idle;
        for _ in 0..BATCH {
            match self.take(core, pool, map)? {
                Taken::Yes(flight) => {
                    moved = true;
                    self.next += 1;
                    Stats::add(&core.stats.packets, 1);
                    self.flight.push_back(flight);
                    self.reap(core, map)?;
                }
                Taken::Not(step) => {
                    rest = step;
                    break;
                }
            }
        }
        if moved {
            return Ok(Step::Moved);
        }
        let running = rest == Step::Idle && !self.flight.is_empty();
        Ok(if running { Step::Running } else { rest })
    }

    /// Completes what has ended, retires from the front. True if anything happened.
    fn reap(&mut self, core: &Core, map: &Snapshot) -> Result<bool, Stop> {
        let mut moved = false;
        let limit = core.watchdog_ms.load(Relaxed);
        for i in 0..self.flight.len() {
            let flight = &mut self.flight[i];
            if limit != 0 {
                flight.watch(limit);
            }
            if let Some(launch) = flight.launch.take_if(|l| l.ended()) {
                moved = true;
                let start = flight.start;
                let (completion, scratch) = (flight.completion, flight.scratch);
                core.workers.remove(&launch);
                account(core, &launch);
                if let Some(fault) = launch.take_fault() {
                    return Err(Stop::Fault(fault));
                }
                if launch.expired() {
                    return Err(Stop::Expired(launch));
                }
                if launch.finished() < launch.total() {
                    return Err(Stop::GivenUp);
                }
                Stats::add(&core.stats.dispatches, 1);
                if core.host.traces(TraceLevel::All) {
                    core.host
                        .trace(TraceLevel::All, &explain::ended(map, &launch, core.host.clock().saturating_sub(start)));
                }
                signal::complete(map, &*core.host, completion, start, core.host.clock()).what("completion signal")?;
                if scratch && !self.flight.iter().any(|f| f.launch.is_some() && f.scratch) {
                    self.scratch.ended(map, &*core.host)?;
                }
            }
        }
        while self.flight.front().is_some_and(|f| f.launch.is_none()) {
            self.flight.pop_front();
            let index = self.next - self.flight.len() as u64 - 1;
            self.ring.retire(map, index).what("ring or read index")?;
            moved = true;
        }
        Ok(moved)
    }

    /// Looks at the packet at `next`.
    fn take(&mut self, core: &Core, pool: &mut Pool, map: &Snapshot) -> Result<Taken, Stop> {
        if !self.scratch.resumed(map)? {
            return Ok(Taken::Not(Step::Polling));
        }
        if self.flight.len() as u64 >= self.ring.packets() {
            return Ok(Taken::Not(Step::Running));
        }
        let oldest = self.next - self.flight.len() as u64;
        if let Some(last) = self.ring.overrun(map, oldest).what("write index")? {
            let why = format!(
                "queue overflow: the doorbell rang for packet {last}, but packet {oldest} has not ended and the ring holds {}",
                self.ring.packets()
            );
            return Err(Stop::refused(Failure::Packet, why));
        }
        let Some((header, bytes)) = self.ring.packet(map, self.next).what("ring")? else {
            return Ok(Taken::Not(Step::Idle));
        };
        if header.barrier() && !self.flight.is_empty() {
            return Ok(Taken::Not(Step::Running));
        }
        let start = core.host.clock();
        let completion = packet::completion(&bytes);
        let zero = |signal: u64| -> Result<bool, Stop> {
            Ok(signal == 0 || signal::value(map, signal).what("dependency signal")? == 0)
        };
        let holds = match packet::parse(header, &bytes) {
            Packet::Dispatch(p) => return self.dispatch(core, pool, map, &p, completion),
            Packet::And(signals) => signals.into_iter().map(zero).collect::<Result<Vec<bool>, _>>()?.iter().all(|&z| z),
            Packet::Or(signals) => {
                // Handle 0 is satisfied, but a packet of five zeros and one signal waits for that signal.
                let named: Vec<u64> = signals.into_iter().filter(|&s| s != 0).collect();
                let zeros = named.iter().map(|&s| zero(s)).collect::<Result<Vec<bool>, _>>()?;
                named.is_empty() || zeros.contains(&true)
            }
            Packet::Value { signal, value, mask, condition } => {
                let now = if signal == 0 { 0 } else { signal::value(map, signal).what("barrier-value signal")? };
                let now = now & mask;
                signal == 0
                    || match condition {
                        0 => now == value,
                        1 => now != value,
                        2 => now < value,
                        3 => now >= value,
                        _ => {
                            let why = format!("barrier-value packet with condition {condition}");
                            core.host.unsupported(&why);
                            return Err(Stop::refused(Failure::VendorPacket, why));
                        }
                    }
            }
            Packet::Pm4 { address, dwords } => {
                let gpu = self.gpu.clone();
                let buffer = self.buffer.get_or_insert_with(|| Pm4::buffer(address, dwords));
                let done = buffer.run(core, &gpu, map, 64)? == Ran::Done;
                if done {
                    self.buffer = None;
                }
                done
            }
            Packet::UnknownVendor(format) => {
                let why = format!("AQL vendor packet format {format}");
                core.host.unsupported(&why);
                return Err(Stop::refused(Failure::VendorPacket, why));
            }
            Packet::Unknown(kind) => {
                let why = format!("AQL packet type {kind}");
                core.host.unsupported(&why);
                return Err(Stop::refused(Failure::Packet, why));
            }
        };
        if !holds {
            return Ok(Taken::Not(Step::Polling));
        }
        signal::complete(map, &*core.host, completion, start, core.host.clock()).what("completion signal")?;
        Ok(Taken::Yes(Flight { launch: None, completion, start, scratch: false, seen: (0, Instant::now()) }))
    }

    fn dispatch(
        &mut self,
        core: &Core,
        pool: &mut Pool,
        map: &Snapshot,
        p: &DispatchPacket,
        completion: u64,
    ) -> Result<Taken, Stop> {
        if self.flight.iter().filter(|f| f.launch.is_some()).count() >= KERNELS {
            return Ok(Taken::Not(Step::Running));
        }
        let mut d = self.describe(map, p)?;
        dispatch::check(&d, &self.gpu.config).map_err(|mut refusal| {
            if let Some(name) = explain::kernel(map, d.object) {
                refusal.why += &format!("\n  kernel {name}");
            }
            Stop::Refused(refusal)
        })?;
        let mut slots = None;
        if d.private_size > 0 {
            match self.scratch.prepare(core, map, self.ring.gpu(), &d, self.flight.is_empty())? {
                Ready::Yes(scratch, s) => {
                    d.scratch = scratch;
                    slots = Some(s);
                }
                Ready::Draining => return Ok(Taken::Not(Step::Running)),
                Ready::Asked => return Ok(Taken::Not(Step::Polling)),
            }
        }
        let scratch = slots.is_some();
        let bell = core.bell.clone();
        let start = core.host.clock();
        let launch = Launch::new(d, self.gpu.clone(), slots, Box::new(move || bell.wake()));
        if core.host.traces(TraceLevel::Launch) {
            core.host.trace(TraceLevel::Launch, &explain::launched(map, &launch.dispatch));
        }
        let waves = launch.total().saturating_mul(u64::from(launch.dispatch.waves_per_group()));
        let mut begun = Vec::new();
        if waves <= SMALL && !core.workers.busy() {
            begun.extend(core.workers.run_here(&launch, pool));
        }
        if !launch.ended() {
            core.workers
                .submit(&launch, begun)
                .map_err(|e| Stop::refused(Failure::Packet, format!("no thread can be started: {e}")))?;
        }
        Ok(Taken::Yes(Flight { launch: Some(launch), completion, start, scratch, seen: (0, Instant::now()) }))
    }

    /// Reads the kernel descriptor and gathers what the waves need.
    fn describe(&self, map: &Snapshot, p: &DispatchPacket) -> Result<Dispatch, Stop> {
        let bad = |why: String| Stop::refused(Failure::KernelObject, why);
        let object = p.object;
        if object == 0 {
            return Err(bad("the kernel object is null: the packet names no kernel".into()));
        }
        if !object.is_multiple_of(64) {
            return Err(bad(format!("the kernel object {object:#x} is no kernel descriptor's address")));
        }
        let mut bytes = [0; KernelDescriptor::SIZE];
        map.read(object, &mut bytes).map_err(|_| bad(format!("the kernel object {object:#x} is not mapped")))?;
        let descriptor = KernelDescriptor::parse(&bytes);
        let entry = object.wrapping_add_signed(descriptor.entry_offset);
        match map.find(entry) {
            None => return Err(bad(format!("the entry {entry:#x} of kernel object {object:#x} is not mapped"))),
            Some(r) if !r.exec => return Err(Stop::Fetch(entry)),
            Some(_) if !entry.is_multiple_of(256) => {
                return Err(bad(format!("the entry {entry:#x} of kernel object {object:#x} is not 256-aligned")));
            }
            Some(_) => {}
        }
        let used = |i: usize| i < usize::from(p.dims);
        Ok(Dispatch {
            target: self.gpu.config.target,
            name: format!("{object:#x}"),
            object,
            descriptor,
            dims: p.dims,
            grid: std::array::from_fn(|i| if used(i) { p.grid[i] } else { 1 }),
            group: std::array::from_fn(|i| if used(i) { u32::from(p.group[i]) } else { 1 }),
            kernarg: p.kernarg,
            packet: self.ring.address(self.next),
            queue: self.scratch.amd_queue(),
            dispatch_id: self.next,
            private_size: p.private,
            lds_size: p.lds,
            scratch: Default::default(),
            xccs: self.gpu.config.xccs,
        })
    }

    /// Reports why the queue stops, by the channels that the program listens to.
    fn fail(&mut self, core: &Core, map: &Snapshot, stop: Stop) {
        let gpu = self.ring.gpu();
        let (failure, text) = match stop {
            Stop::GivenUp => return self.stop(core),
            Stop::NoScratch { object, bytes } => {
                let name = explain::kernel(map, object).unwrap_or_else(|| format!("{object:#x}"));
                let target = self.gpu.config.target.name();
                Stats::add(&core.stats.faults, 1);
                core.host.report(&format!(
                    "GPU {gpu} ({target}): a kernel needs {bytes} bytes of private memory a work-item, the runtime gives none\n  \
                     kernel {name}\n  packet {} of an AQL queue; the queue stops",
                    self.next
                ));
                return self.stop(core);
            }
            Stop::Expired(launch) => explain::expired(core, map, gpu, &launch),
            Stop::Denied(denied, what) => {
                let text = format!("memory fault: the queue's {what} at {:#x} cannot be accessed", denied.va);
                core.memory_fault(gpu, denied, false, &text);
                return self.stop(core);
            }
            Stop::Fetch(va) => {
                let text = format!("memory fault: instruction fetch from {va:#x}, which is not executable");
                let denied = rj_exec::mem::Denied { va, write: false, mapped: true };
                core.memory_fault(gpu, denied, true, &text);
                return self.stop(core);
            }
            Stop::Refused(refusal) => (refusal.failure, refusal.why),
            Stop::Fault(mut fault) => {
                explain::fault(core, map, &mut fault);
                if let FaultKind::Illegal { unsupported: Some(name), .. } = &fault.kind {
                    core.host.unsupported(name);
                }
                if core.wave_memory_fault(gpu, &fault).is_some() {
                    return self.stop(core);
                }
                let failure = match fault.kind {
                    FaultKind::Abort => Failure::Abort,
                    FaultKind::Aperture { .. } => Failure::Aperture,
                    _ => Failure::Illegal,
                };
                (failure, fault.to_string())
            }
        };
        self.stop(core);
        Stats::add(&core.stats.faults, 1);
        let name = self.gpu.config.target.name();
        let at = format!("packet {} of an AQL queue", self.next);
        core.host.report(&format!("GPU {gpu} ({name}): {text}\n  {at}; the queue stops"));
        if let Err(denied) = self.ring.announce(core, map, failure, self.scratch.amd_queue()) {
            core.host.report(&format!("the queue's error cannot be announced: {:#x} is not mapped", denied.va));
        }
    }
}

impl Queue for AqlQueue {
    fn step(&mut self, core: &Core, pool: &mut Pool) -> Step {
        if self.dead {
            return Step::Idle;
        }
        let map = self.gpu.space.snapshot();
        if self.held {
            return match self.reap(core, &map) {
                Ok(_) if self.flight.is_empty() => Step::Idle,
                Ok(_) => Step::Running,
                Err(stop) => {
                    self.fail(core, &map, stop);
                    Step::Moved
                }
            };
        }
        self.advance(core, pool, &map).unwrap_or_else(|stop| {
            self.fail(core, &map, stop);
            Step::Moved
        })
    }

    fn update(&mut self, update: QueueUpdate) {
        self.held = update.percentage == 0;
        self.ring.update(update);
    }

    fn stop(&mut self, core: &Core) {
        self.dead = true;
        for launch in self.flight.iter().filter_map(|f| f.launch.as_ref()) {
            launch.stop();
        }
        core.workers.nudge();
    }

    fn quiet(&mut self, core: &Core) -> bool {
        self.flight.retain(|f| match &f.launch {
            Some(launch) if !launch.ended() => true,
            Some(launch) => {
                core.workers.remove(launch);
                account(core, launch);
                false
            }
            None => false,
        });
        self.flight.is_empty()
    }
}

fn account(core: &Core, launch: &Launch) {
    Stats::add(&core.stats.instructions, launch.instructions());
    Stats::add(&core.stats.groups, launch.finished());
}
