//! PM4: the command stream of PM4 queues and of the indirect buffers that AQL vendor packets carry.
//!
//! Packets that only order or flush caches do nothing here beyond dropping lowered code. What is not listed is
//! refused by name. Encodings: the kernel's `soc15d.h` / `nvd.h`, ROCr's amd_gpu_pm4.h.

use crate::api::Gpu;
use crate::core::Core;
use crate::dispatch::Failure;
use crate::queue::{For, Stop};
use rj_exec::Snapshot;
use std::collections::HashMap;
use std::sync::atomic::Ordering::{Acquire, Release};

/// Indirect buffers within indirect buffers, at most.
const DEPTH: usize = 4;

/// What running a stream came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// It is used up.
    Done,
    /// A WAIT_REG_MEM does not hold yet.
    Waiting,
}

/// A piece of command stream.
#[derive(Clone, Copy, Debug)]
struct Frame {
    base: u64,
    /// Next dword, counted from `base`; a ring's count never wraps.
    at: u64,
    end: u64,
    /// Dwords of the ring, or 0.
    ring: u64,
}

impl Frame {
    fn dword(&self, map: &Snapshot, ahead: u64) -> Result<u32, Stop> {
        let mut i = self.at + ahead;
        if self.ring != 0 {
            i %= self.ring;
        }
        let word = map.atomic_u32(self.base + 4 * i, false).what("PM4 command stream")?;
        Ok(word.load(Acquire))
    }
}

/// A PM4 stream in execution.
#[derive(Debug, Default)]
pub struct Pm4 {
    frames: Vec<Frame>,
    registers: HashMap<u32, u32>,
}

impl Pm4 {
    /// The indirect buffer at `address`.
    pub fn buffer(address: u64, dwords: u32) -> Pm4 {
        let frame = Frame { base: address, at: 0, end: u64::from(dwords), ring: 0 };
        Pm4 { frames: vec![frame], registers: HashMap::new() }
    }

    /// A ring of `ring` dwords, starting at dword count `at`.
    pub fn ring(base: u64, ring: u64, at: u64) -> Pm4 {
        Pm4 { frames: vec![Frame { base, at, end: at, ring }], registers: HashMap::new() }
    }

    /// Moves the end of a ring's stream; gives the read count.
    pub fn extend(&mut self, end: u64) -> u64 {
        match self.frames.first_mut() {
            Some(frame) => {
                frame.end = frame.end.max(end);
                frame.at
            }
            None => end,
        }
    }

    /// The read count of the outermost stream.
    pub fn at(&self) -> u64 {
        self.frames.first().map_or(0, |f| f.at)
    }

    /// Runs up to `packets` packets.
    pub fn run(&mut self, core: &Core, gpu: &Gpu, map: &Snapshot, packets: usize) -> Result<Ran, Stop> {
        for _ in 0..packets {
            while self.frames.len() > 1 && self.frames.last().is_some_and(|f| f.at >= f.end) {
                self.frames.pop();
            }
            let Some(frame) = self.frames.last().copied() else { return Ok(Ran::Done) };
            if frame.at >= frame.end {
                return Ok(Ran::Done);
            }
            let header = frame.dword(map, 0)?;
            let body = match header >> 30 {
                2 => 0,
                3 if header >> 16 & 0x3fff == 0x3fff => 0,
                3 => u64::from(header >> 16 & 0x3fff) + 1,
                kind => return Err(refuse(core, &format!("PM4 type {kind} packet {header:#010x}"))),
            };
            if frame.at + 1 + body > frame.end {
                if frame.ring != 0 {
                    return Ok(Ran::Done);
                }
                return Err(refuse(core, &format!("PM4 packet {header:#010x} that its buffer cuts off")));
            }
            let mut skip = 1 + body;
            let mut inner = None;
            if header >> 30 == 3 {
                let words = (0..body).map(|i| frame.dword(map, 1 + i)).collect::<Result<Vec<u32>, Stop>>()?;
                match self.packet(core, gpu, map, header >> 8 & 0xff, &words)? {
                    Effect::Next => {}
                    Effect::Skip(dwords) => skip += dwords,
                    Effect::Wait => return Ok(Ran::Waiting),
                    Effect::Enter(frame) => inner = Some(frame),
                }
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.at += skip;
            }
            if let Some(inner) = inner {
                if self.frames.len() >= DEPTH {
                    return Err(refuse(core, "PM4 indirect buffers nested too deeply"));
                }
                self.frames.push(inner);
            }
        }
        let more = self.frames.iter().any(|f| f.at < f.end);
        Ok(if more { Ran::Waiting } else { Ran::Done })
    }

    fn packet(&mut self, core: &Core, gpu: &Gpu, map: &Snapshot, op: u32, w: &[u32]) -> Result<Effect, Stop> {
        let word = |i: usize| w.get(i).copied().unwrap_or(0);
        let wide = |i: usize| u64::from(word(i)) | u64::from(word(i + 1)) << 32;
        let need = |n: usize, name: &str| {
            if w.len() < n { Err(refuse(core, &format!("PM4 {name} of {} dwords", w.len() + 1))) } else { Ok(()) }
        };
        match op {
            NOP => {}
            PRED_EXEC => {
                // One logical command processor: it stands for XCC 0.
                if word(0) >> 24 & 1 == 0 {
                    return Ok(Effect::Skip(u64::from(word(0) & 0x3fff)));
                }
            }
            INDIRECT_BUFFER => {
                need(3, "INDIRECT_BUFFER")?;
                let end = u64::from(word(2) & 0xf_ffff);
                return Ok(Effect::Enter(Frame { base: wide(0) & !3, at: 0, end, ring: 0 }));
            }
            ACQUIRE_MEM => {
                need(6, "ACQUIRE_MEM")?;
                let code = if gpu.config.target.is_gfx9() { word(0) >> 29 & 1 } else { word(6) & 3 };
                if code != 0 {
                    let (size, base) = (wide(1) & 0xff_ffff_ffff, wide(3) & 0xff_ffff_ffff);
                    gpu.code.invalidate(base << 8, size << 8);
                }
            }
            RELEASE_MEM => self.release_mem(core, map, w)?,
            EVENT_WRITE => {
                if w.len() != 1 {
                    return Err(refuse(core, &format!("PM4 EVENT_WRITE {:#x} with an address", word(0) & 0x3f)));
                }
            }
            WRITE_DATA => {
                need(4, "WRITE_DATA")?;
                if !matches!(word(0) >> 8 & 0xf, 2 | 5) {
                    return Err(refuse(core, &format!("PM4 WRITE_DATA to destination {}", word(0) >> 8 & 0xf)));
                }
                let step = if word(0) >> 16 & 1 == 0 { 4 } else { 0 };
                for (i, &value) in w[3..].iter().enumerate() {
                    let at = (wide(1) & !3) + step * i as u64;
                    map.atomic_u32(at, true).what("PM4 WRITE_DATA")?.store(value, Release);
                }
            }
            WAIT_REG_MEM => {
                need(6, "WAIT_REG_MEM")?;
                if word(0) >> 4 & 3 != 1 {
                    return Err(refuse(core, "PM4 WAIT_REG_MEM on a register"));
                }
                let now = map.atomic_u32(wide(1) & !3, false).what("PM4 WAIT_REG_MEM")?.load(Acquire);
                if !holds(word(0) & 7, now & word(4), word(3)) {
                    return Ok(Effect::Wait);
                }
            }
            COPY_DATA => copy_data(core, map, w)?,
            SET_SH_REG | SET_UCONFIG_REG => {
                let first = word(0) & 0xffff | u32::from(op == SET_UCONFIG_REG) << 16;
                for (i, &value) in w.iter().skip(1).enumerate() {
                    self.registers.insert(first + i as u32, value);
                }
            }
            CLEAR_STATE | CONTEXT_CONTROL | PFP_SYNC_ME => {}
            _ => return Err(refuse(core, &name(op))),
        }
        Ok(Effect::Next)
    }

    fn release_mem(&self, core: &Core, map: &Snapshot, w: &[u32]) -> Result<(), Stop> {
        let word = |i: usize| w.get(i).copied().unwrap_or(0);
        if w.len() < 6 {
            return Err(refuse(core, &format!("PM4 RELEASE_MEM of {} dwords", w.len() + 1)));
        }
        let address = u64::from(word(2)) | u64::from(word(3)) << 32;
        let data = u64::from(word(4)) | u64::from(word(5)) << 32;
        let store64 = |value: u64| -> Result<(), Stop> {
            map.atomic_u64(address & !7, true).what("PM4 RELEASE_MEM")?.store(value, Release);
            Ok(())
        };
        match word(1) >> 29 {
            0 => {}
            1 => map.atomic_u32(address & !3, true).what("PM4 RELEASE_MEM")?.store(word(4), Release),
            2 => store64(data)?,
            3 => store64(core.host.clock())?,
            sel => return Err(refuse(core, &format!("PM4 RELEASE_MEM of data {sel}"))),
        }
        if word(1) >> 24 & 7 != 0 {
            core.host.raise_event(word(6) & 0xfff_ffff);
        }
        Ok(())
    }
}

enum Effect {
    Next,
    Skip(u64),
    Wait,
    Enter(Frame),
}

fn copy_data(core: &Core, map: &Snapshot, w: &[u32]) -> Result<(), Stop> {
    if w.len() < 5 {
        return Err(refuse(core, &format!("PM4 COPY_DATA of {} dwords", w.len() + 1)));
    }
    let wide = |i: usize| u64::from(w[i]) | u64::from(w[i + 1]) << 32;
    let double = w[0] >> 16 & 1 != 0;
    let value = match w[0] & 0xf {
        1 | 2 if double => map.atomic_u64(wide(1) & !7, false).what("PM4 COPY_DATA")?.load(Acquire),
        1 | 2 => u64::from(map.atomic_u32(wide(1) & !3, false).what("PM4 COPY_DATA")?.load(Acquire)),
        5 => wide(1),
        9 => core.host.clock(),
        source => return Err(refuse(core, &format!("PM4 COPY_DATA from source {source}"))),
    };
    match w[0] >> 8 & 0xf {
        1 | 2 | 5 if double => map.atomic_u64(wide(3) & !7, true).what("PM4 COPY_DATA")?.store(value, Release),
        1 | 2 | 5 => map.atomic_u32(wide(3) & !3, true).what("PM4 COPY_DATA")?.store(value as u32, Release),
        to => return Err(refuse(core, &format!("PM4 COPY_DATA to destination {to}"))),
    }
    Ok(())
}

/// The comparison of WAIT_REG_MEM and of SDMA polls: 0 always, then <, <=, ==, !=, >=, >.
pub fn holds(function: u32, now: u32, reference: u32) -> bool {
    match function {
        1 => now < reference,
        2 => now <= reference,
        3 => now == reference,
        4 => now != reference,
        5 => now >= reference,
        6 => now > reference,
        _ => true,
    }
}

fn refuse(core: &Core, what: &str) -> Stop {
    core.host.unsupported(what);
    Stop::refused(Failure::VendorPacket, format!("unsupported {what}"))
}

const NOP: u32 = 0x10;
const CLEAR_STATE: u32 = 0x12;
const PRED_EXEC: u32 = 0x23;
const CONTEXT_CONTROL: u32 = 0x28;
const WRITE_DATA: u32 = 0x37;
const WAIT_REG_MEM: u32 = 0x3c;
const INDIRECT_BUFFER: u32 = 0x3f;
const COPY_DATA: u32 = 0x40;
const PFP_SYNC_ME: u32 = 0x42;
const EVENT_WRITE: u32 = 0x46;
const RELEASE_MEM: u32 = 0x49;
const ACQUIRE_MEM: u32 = 0x58;
const SET_SH_REG: u32 = 0x76;
const SET_UCONFIG_REG: u32 = 0x79;

fn name(op: u32) -> String {
    let known = match op {
        0x15 => "DISPATCH_DIRECT",
        0x16 => "DISPATCH_INDIRECT",
        0x1d => "ATOMIC_GDS",
        0x1e => "ATOMIC_MEM",
        0x1f => "OCCLUSION_QUERY",
        0x22 => "COND_EXEC",
        0x33 => "INDIRECT_BUFFER_CONST",
        0x39 => "MEM_SEMAPHORE",
        0x50 => "DMA_DATA",
        0x69 => "SET_CONTEXT_REG",
        0x9b => "SET_SH_REG_INDEX",
        0xa2 => "MAP_QUEUES",
        _ => return format!("PM4 opcode {op:#04x}"),
    };
    format!("PM4 {known}")
}
