//! Private memory: slots of a queue's scratch memory, one per wave, and what the amd_queue_t says about them
//! (engine-abi: slots are handed out lowest first so that the memory touched stays small).

use crate::api::{GpuConfig, Host};
use crate::core::Core;
use crate::dispatch::Failure;
use crate::explain;
use crate::queue::{For, Stop};
use crate::signal;
use rj_exec::{Dispatch, Scratch, Snapshot};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Acquire;
use std::sync::{Arc, Mutex, PoisonError};

/// amd_queue_t fields (amd_hsa_queue.h).
const TMPRING: u64 = 140;
const DESCRIPTOR: u64 = 144;
const LOCATION: u64 = 160;
const LANE_BYTES: u64 = 176;
const PROPERTIES: u64 = 180;
const INACTIVE: u64 = 192;
/// queue_properties: give scratch back after one dispatch.
const USE_ONCE: u32 = 1 << 4;
/// queue_inactive_signal values: more scratch for a wave64 or wave32 kernel, scratch used once.
const NEED_WAVE64: u64 = 1;
const NEED_WAVE32: u64 = 0x400;
const USED_ONCE: u64 = 512;
/// Requests in a row for the same packet before the queue gives up.
const REQUESTS: u32 = 4;

/// The slots of one piece of scratch memory.
#[derive(Debug)]
pub struct Slots {
    free: Mutex<Free>,
    total: u32,
}

#[derive(Debug)]
struct Free {
    /// Slots below `fresh` that were given back.
    back: BTreeSet<u32>,
    /// Lowest slot never handed out.
    fresh: u32,
}

impl Slots {
    /// `total` free slots.
    pub fn new(total: u32) -> Slots {
        Slots { free: Mutex::new(Free { back: BTreeSet::new(), fresh: 0 }), total }
    }

    /// The `n` lowest free slots, or None if fewer are free.
    pub fn take(&self, n: u32) -> Option<Vec<u32>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let available = free.back.len() as u64 + u64::from(self.total - free.fresh);
        if available < u64::from(n) {
            return None;
        }
        let take = |_| match free.back.pop_first() {
            Some(slot) => slot,
            None => {
                free.fresh += 1;
                free.fresh - 1
            }
        };
        Some((0..n).map(take).collect())
    }

    /// Gives slots back.
    pub fn give(&self, slots: &[u32]) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.back.extend(slots);
    }
}

/// A queue's scratch memory and the protocol by which the runtime provides it (engine-abi, "Scratch on demand").
pub struct QueueScratch {
    amd_queue: u64,
    config: GpuConfig,
    /// What the slots were made for: location, bytes a wave, slots.
    shape: (u64, u64, u32),
    slots: Arc<Slots>,
    wait: Wait,
    requests: u32,
    /// Who asked last: kernel object, bytes a work-item.
    asked: (u64, u32),
    /// It was said that this is more than any wave can have.
    told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    No,
    /// Until queue_inactive_signal is 0.
    Granted,
    /// Until the use-once bit is clear.
    Reclaimed,
}

/// Whether a dispatch's private memory is there.
pub enum Ready {
    /// Yes; a slot for each wave comes from these.
    Yes(Scratch, Arc<Slots>),
    /// Earlier packets must be retired first.
    Draining,
    /// The runtime was asked for it.
    Asked,
}

impl QueueScratch {
    /// Scratch of the queue whose amd_queue_t is at this address.
    pub fn new(amd_queue: u64, config: GpuConfig) -> QueueScratch {
        let slots = Arc::new(Slots::new(0));
        QueueScratch {
            amd_queue,
            config,
            shape: (0, 0, 0),
            slots,
            wait: Wait::No,
            requests: 0,
            asked: (0, 0),
            told: false,
        }
    }

    /// GPU address of the amd_queue_t.
    pub fn amd_queue(&self) -> u64 {
        self.amd_queue
    }

    fn word(&self, map: &Snapshot, at: u64) -> Result<u32, Stop> {
        Ok(map.atomic_u32(self.amd_queue + at, false).what("amd_queue_t")?.load(Acquire))
    }

    fn quad(&self, map: &Snapshot, at: u64) -> Result<u64, Stop> {
        Ok(map.atomic_u64(self.amd_queue + at, false).what("amd_queue_t")?.load(Acquire))
    }

    /// The queue does not wait for the runtime.
    pub fn resumed(&mut self, map: &Snapshot) -> Result<bool, Stop> {
        match self.wait {
            Wait::No => return Ok(true),
            Wait::Granted => match signal::value(map, self.quad(map, INACTIVE)?).what("queue_inactive_signal")? {
                0 => {}
                -1 => return Err(self.none()),
                _ => return Ok(false),
            },
            Wait::Reclaimed if self.word(map, PROPERTIES)? & USE_ONCE != 0 => return Ok(false),
            Wait::Reclaimed => {}
        }
        self.wait = Wait::No;
        Ok(true)
    }

    /// The runtime did not give what was asked for.
    fn none(&self) -> Stop {
        let (object, bytes) = self.asked;
        if self.told { Stop::GivenUp } else { Stop::NoScratch { object, bytes } }
    }

    /// Private memory for a dispatch; `alone` if no earlier packet of the queue is unretired.
    pub fn prepare(
        &mut self,
        core: &Core,
        map: &Snapshot,
        gpu: usize,
        d: &Dispatch,
        alone: bool,
    ) -> Result<Ready, Stop> {
        let needed = u64::from(d.private_size) * u64::from(d.wave_size());
        let have = u64::from(self.word(map, LANE_BYTES)?) * 64;
        if needed > have {
            // The runtime frees the old memory at once and finds the packet by scanning from the read index.
            if !alone {
                return Ok(Ready::Draining);
            }
            if self.requests >= REQUESTS {
                return Err(self.none());
            }
            self.requests += 1;
            self.asked = (d.object, d.private_size);
            let most = wave_bytes(u32::MAX, &self.config);
            self.told = needed > most;
            if self.told {
                // The runtime is asked all the same: it tells the program, which may end at once.
                let kernel = explain::kernel(map, d.object).unwrap_or_else(|| d.name.clone());
                let (name, lane) = (d.target.name(), most / u64::from(d.wave_size()));
                core.host.report(&format!(
                    "GPU {gpu} ({name}): a kernel needs {} bytes of private memory a work-item, more than the {lane} that \
                     the GPU can give\n  kernel {kernel}",
                    d.private_size
                ));
            }
            self.wait = Wait::Granted;
            let code = if d.wave_size() == 64 { NEED_WAVE64 } else { NEED_WAVE32 };
            signal::set(map, &*core.host, self.quad(map, INACTIVE)?, code).what("queue_inactive_signal")?;
            return Ok(Ready::Asked);
        }
        self.requests = 0;
        let tmpring = self.word(map, TMPRING)?;
        let (location, wave_bytes) = (self.quad(map, LOCATION)?, wave_bytes(tmpring, &self.config));
        if wave_bytes < needed {
            let why = format!("scratch of {wave_bytes} bytes a wave is less than the {needed} promised");
            return Err(Stop::refused(Failure::Packet, why));
        }
        let units = if self.config.target.is_gfx9() { self.config.xccs.max(1) } else { 1 };
        let total = (tmpring & 0xfff) * units;
        if total < d.waves_per_group() {
            let why = format!("a work-group of {} waves does not fit {total} scratch slots", d.waves_per_group());
            return Err(Stop::refused(Failure::Packet, why));
        }
        let shape = (location, wave_bytes, total);
        if shape != self.shape {
            if !alone {
                return Ok(Ready::Draining);
            }
            self.shape = shape;
            self.slots = Arc::new(Slots::new(total));
        }
        let mut descriptor = [0; 4];
        for (i, word) in descriptor.iter_mut().enumerate() {
            *word = self.word(map, DESCRIPTOR + 4 * i as u64)?;
        }
        Ok(Ready::Yes(Scratch { location, wave_bytes, descriptor }, self.slots.clone()))
    }

    /// A dispatch that used scratch has ended.
    pub fn ended(&mut self, map: &Snapshot, host: &dyn Host) -> Result<(), Stop> {
        if self.wait == Wait::No && self.word(map, PROPERTIES)? & USE_ONCE != 0 {
            self.wait = Wait::Reclaimed;
            signal::set(map, host, self.quad(map, INACTIVE)?, USED_ONCE).what("queue_inactive_signal")?;
        }
        Ok(())
    }
}

/// Bytes between slots: compute_tmpring_size's WAVESIZE (engine-abi, private memory).
fn wave_bytes(tmpring: u32, config: &GpuConfig) -> u64 {
    use rj_isa::Target;
    let (bits, unit) = match config.target {
        t if t.is_gfx9() => (13, 1024),
        Target::Gfx1100 | Target::Gfx1151 => (15, 256),
        _ => (18, 256),
    };
    u64::from(tmpring >> 12 & ((1 << bits) - 1)) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_handed_out_lowest_first_and_never_beyond_the_total() {
        let s = Slots::new(4);
        assert_eq!(s.take(3), Some(vec![0, 1, 2]));
        assert_eq!(s.take(2), None);
        s.give(&[1]);
        assert_eq!(s.take(2), Some(vec![1, 3]));
        assert_eq!(s.take(1), None);
    }
}
