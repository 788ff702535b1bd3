//! SDMA queues: copies, fills, fences, polls, atomics, timestamps, traps (engine-abi §14; layouts: ROCr's
//! sdma_registers.h). Counts are bytes and never wrap; the doorbell repeats the write pointer.

use crate::api::{Gpu, QueueDesc, QueueUpdate};
use crate::core::{Core, Stats};
use crate::dispatch::Failure;
use crate::pm4::holds;
use crate::queue::{For, Queue, Step, Stop};
use crate::rect::Rect;
use crate::ring::Ring;
use rj_exec::mem::Denied;
use rj_exec::{Pool, Snapshot};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};

/// Bytes that one step moves at most, so that a long copy does not hold up other queues.
const QUANTUM: u64 = 2 << 20;
/// Packets that one step takes at most.
const BATCH: usize = 32;
/// Most dwords of a packet.
const LONGEST: usize = 13;

/// An SDMA queue.
pub struct SdmaQueue {
    ring: Ring,
    gpu: Arc<Gpu>,
    /// Bytes consumed.
    read: u64,
    /// The transfer in progress.
    work: Option<Work>,
    held: bool,
    dead: bool,
}

/// A transfer that takes several steps.
enum Work {
    /// Copy to one or two places.
    Copy { from: u64, to: [u64; 2], copies: usize, left: u64 },
    /// Fill with a dword.
    Fill { to: u64, value: u32, left: u64 },
    /// Copy of a sub-window, row by row.
    Rect(Rect),
}

/// What became of a packet.
enum Taken {
    /// It is done, and so long.
    Dwords(u64),
    /// It began a transfer, and is so long.
    Begun(u64, Work),
    /// A poll does not hold.
    Waits,
    /// Not all of it is written yet.
    Partial,
}

impl SdmaQueue {
    /// A queue that starts at its read pointer.
    pub fn new(desc: QueueDesc, gpu: Arc<Gpu>) -> Result<SdmaQueue, crate::QueueError> {
        let ring = Ring::new(desc, &gpu)?;
        let read = ring.read_count(&gpu.space.snapshot())?;
        Ok(SdmaQueue { ring, gpu, read, work: None, held: desc.percentage == 0, dead: false })
    }

    fn advance(&mut self, core: &Core, map: &Snapshot) -> Result<Step, Stop> {
        let mut budget = QUANTUM;
        let mut moved = false;
        for _ in 0..BATCH {
            if let Some(work) = &mut self.work {
                moved = true;
                let before = budget;
                let done = work.run(map, &mut budget)?;
                Stats::add(&core.stats.sdma_bytes, before - budget);
                if !done {
                    return Ok(Step::Moved);
                }
                self.work = None;
                self.ring.set_read_count(map, self.read).what("read pointer")?;
            }
            let written = self.ring.write_count(map).what("write pointer")?;
            let available = written.wrapping_sub(self.read);
            if available == 0 || available > self.ring.desc().ring_bytes {
                break;
            }
            match self.packet(core, map, available / 4)? {
                Taken::Waits if moved => return Ok(Step::Moved),
                Taken::Waits => return Ok(Step::Polling),
                Taken::Partial => break,
                Taken::Dwords(n) => {
                    self.read += 4 * n;
                    self.ring.set_read_count(map, self.read).what("read pointer")?;
                }
                Taken::Begun(n, work) => {
                    self.read += 4 * n;
                    self.work = Some(work);
                }
            }
            Stats::add(&core.stats.packets, 1);
            moved = true;
        }
        Ok(if moved { Step::Moved } else { Step::Idle })
    }

    fn dword(&self, map: &Snapshot, ahead: u64) -> Result<u32, Stop> {
        let at = (self.read + 4 * ahead) % self.ring.desc().ring_bytes;
        Ok(map.atomic_u32(self.ring.desc().ring + at, false).what("SDMA ring")?.load(Acquire))
    }

    fn packet(&self, core: &Core, map: &Snapshot, available: u64) -> Result<Taken, Stop> {
        let header = self.dword(map, 0)?;
        let (op, sub) = (header & 0xff, header >> 8 & 0xff);
        let length = match (op, sub) {
            (0, _) => 1 + u64::from(header >> 16 & 0x3fff),
            (1, 0) if header >> 27 & 1 != 0 => 9,
            (1, 0) => 7,
            (1, 4) => 13,
            (5, 0) => 4,
            (6, _) => 2,
            (8, 0) => 6,
            (10, _) => 8,
            (11, 0) => 5,
            (13, 2) => 3,
            (17, _) => 5,
            _ => return Err(refuse(core, format!("SDMA packet {op}/{sub} (header {header:#010x})"))),
        };
        if available < length {
            return Ok(Taken::Partial);
        }
        let mut w = [header; LONGEST];
        for (i, word) in w.iter_mut().enumerate().take(length as usize).skip(1) {
            *word = self.dword(map, i as u64)?;
        }
        let wide = |i: usize| u64::from(w[i]) | u64::from(w[i + 1]) << 32;
        match op {
            1 if sub == 0 => {
                let left = u64::from(w[1] & 0x3fff_ffff) + 1;
                let (to, copies) = if length == 9 { ([wide(5), wide(7)], 2) } else { ([wide(5), 0], 1) };
                return Ok(Taken::Begun(length, Work::Copy { from: wide(3), to, copies, left }));
            }
            1 => return Ok(Taken::Begun(length, Work::Rect(Rect::parse(&w, self.gpu.config.target)))),
            5 => map.atomic_u32(wide(1) & !3, true).what("SDMA fence")?.store(w[3], Release),
            6 => core.host.raise_event(w[1] & 0xfff_ffff),
            8 if header >> 31 == 1 => {
                let now = map.atomic_u32(wide(1) & !3, false).what("SDMA poll")?.load(Acquire);
                if !holds(header >> 28 & 7, now & w[4], w[3]) {
                    return Ok(Taken::Waits);
                }
            }
            // The HDP flush: a poll of no memory.
            8 if w[1..3] == [0, 0x8000_0000] || header >> 26 & 1 != 0 => {}
            8 => return Err(refuse(core, format!("SDMA poll of a register (header {header:#010x})"))),
            10 if header >> 25 == 47 => {
                map.atomic_u64(wide(1), true).what("SDMA atomic")?.fetch_add(wide(3), SeqCst);
            }
            10 => return Err(refuse(core, format!("SDMA atomic operation {}", header >> 25))),
            11 if header >> 30 == 2 => {
                let left = u64::from(w[4] & 0x3fff_ffff) + 4;
                return Ok(Taken::Begun(length, Work::Fill { to: wide(1), value: w[3], left }));
            }
            11 => return Err(refuse(core, format!("SDMA fill of element size {}", header >> 30))),
            13 => map.atomic_u64(wide(1), true).what("SDMA timestamp")?.store(core.host.clock(), Release),
            _ => {}
        }
        Ok(Taken::Dwords(length))
    }

    fn fail(&mut self, core: &Core, stop: Stop) {
        self.dead = true;
        let gpu = self.ring.gpu();
        let (denied, text) = match stop {
            Stop::Denied(denied, what) => {
                let access = if denied.write { "write to" } else { "read from" };
                let why = if denied.mapped { "not permitted there" } else { "not mapped" };
                (denied, format!("memory fault: {what}: {access} {:#x}, {why}", denied.va))
            }
            Stop::Refused(refusal) => {
                // No channel of SDMA queues tells the runtime: end the wait for a completion that cannot come.
                (Denied { va: self.ring.desc().ring, write: false, mapped: true }, refusal.why)
            }
            _ => return,
        };
        core.memory_fault(gpu, denied, false, &format!("{text}\n  in an SDMA queue"));
    }
}

fn refuse(core: &Core, what: String) -> Stop {
    core.host.unsupported(&what);
    Stop::refused(Failure::Packet, format!("unsupported {what}"))
}

impl Queue for SdmaQueue {
    fn step(&mut self, core: &Core, _: &mut Pool) -> Step {
        if self.dead || self.held {
            return Step::Idle;
        }
        let map = self.gpu.space.snapshot();
        self.advance(core, &map).unwrap_or_else(|stop| {
            self.fail(core, stop);
            Step::Moved
        })
    }

    fn update(&mut self, update: QueueUpdate) {
        self.held = update.percentage == 0;
        self.ring.update(update);
    }

    fn stop(&mut self, _: &Core) {
        self.dead = true;
    }

    fn quiet(&mut self, _: &Core) -> bool {
        true
    }
}

impl Work {
    /// Moves at most `budget` bytes (a row at least); true if it is done.
    fn run(&mut self, map: &Snapshot, budget: &mut u64) -> Result<bool, Stop> {
        match self {
            Work::Copy { from, to, copies, left } => {
                let n = (*left).min(*budget);
                for to in &mut to[..*copies] {
                    copy(map, *from, *to, n)?;
                    *to += n;
                }
                *from += n;
                *left -= n;
                *budget -= n;
                Ok(*left == 0)
            }
            Work::Fill { to, value, left } => {
                let n = (*left).min(*budget) & !3;
                fill(map, *to, *value, n)?;
                *to += n;
                *left -= n;
                *budget -= n;
                Ok(*left < 4)
            }
            Work::Rect(rect) => {
                while *budget > 0 {
                    let Some((from, to, n)) = rect.next_row() else { return Ok(true) };
                    copy(map, from, to, n)?;
                    *budget = budget.saturating_sub(n);
                }
                Ok(false)
            }
        }
    }
}

/// Copies guest memory to guest memory.
fn copy(map: &Snapshot, from: u64, to: u64, len: u64) -> Result<(), Stop> {
    let mut done = Ok(());
    map.pieces(from, len, false, |source, at, n| {
        let target = map.pieces(to + at as u64, n as u64, true, |target, within, n| {
            // SAFETY: both sides are mapped for `n` bytes by the regions' promise; they may overlap.
            unsafe { std::ptr::copy(source.add(within).cast_const(), target, n) }
        });
        if let Err(denied) = target {
            done = done.and(Err(denied));
        }
    })
    .what("SDMA copy source")?;
    done.what("SDMA copy destination")
}

/// Fills guest memory with a dword.
fn fill(map: &Snapshot, to: u64, value: u32, len: u64) -> Result<(), Stop> {
    let bytes = value.to_le_bytes();
    map.pieces(to, len, true, |target, at, n| {
        if (target as usize).is_multiple_of(4) && at % 4 == 0 {
            // SAFETY: aligned and mapped for `n` bytes by the region's promise.
            let words = unsafe { std::slice::from_raw_parts_mut(target.cast::<std::mem::MaybeUninit<u32>>(), n / 4) };
            words.fill(std::mem::MaybeUninit::new(value));
            for i in n & !3..n {
                // SAFETY: as above.
                unsafe { target.add(i).write(bytes[i % 4]) }
            }
        } else {
            for i in 0..n {
                // SAFETY: as above.
                unsafe { target.add(i).write(bytes[(at + i) % 4]) }
            }
        }
    })
    .what("SDMA fill")
}
