//! A queue's ring and what lies around it: packets, read and write counts, doorbell, the exception header.

use crate::api::{Gpu, QueueDesc, QueueError, QueueUpdate};
use crate::core::Core;
use crate::dispatch::Failure;
use crate::packet::Header;
use crate::signal;
use rj_exec::Snapshot;
use rj_exec::mem::Denied;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::Acquire, Ordering::Release, Ordering::SeqCst};

/// Bytes of an AQL packet.
const PACKET: u64 = 64;
/// amd_queue_t: its own offset from the read index, from the read index (amd_hsa_queue.h: 136 − 128).
const OFFSET_FIELD: u64 = 8;
/// amd_queue_t.queue_inactive_signal.
const INACTIVE: u64 = 192;

/// Where a queue's packets are.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    desc: QueueDesc,
}

impl Ring {
    /// Checks that all of it is mapped.
    pub fn new(desc: QueueDesc, gpu: &Gpu) -> Result<Ring, QueueError> {
        if !desc.ring_bytes.is_power_of_two() || desc.ring_bytes < PACKET {
            return Err(QueueError::Bad("ring size"));
        }
        if desc.doorbell == 0 || !desc.doorbell.is_multiple_of(8) {
            return Err(QueueError::Bad("doorbell address"));
        }
        let map = gpu.space.snapshot();
        let mapped = |va: u64, len: u64, write: bool, what: &'static str| {
            map.pieces(va, len, write, |_, _, _| ()).map_err(|_| QueueError::Unmapped(what, va))
        };
        mapped(desc.ring, desc.ring_bytes, true, "ring")?;
        mapped(desc.read_ptr, 8, true, "read pointer")?;
        mapped(desc.write_ptr, 8, false, "write pointer")?;
        if !desc.ring.is_multiple_of(64) || !desc.read_ptr.is_multiple_of(8) || !desc.write_ptr.is_multiple_of(8) {
            return Err(QueueError::Bad("alignment"));
        }
        Ok(Ring { desc })
    }

    /// Index of its GPU.
    pub fn gpu(&self) -> usize {
        self.desc.gpu
    }

    /// The description.
    pub fn desc(&self) -> &QueueDesc {
        &self.desc
    }

    /// UPDATE_QUEUE.
    pub fn update(&mut self, update: QueueUpdate) {
        if let Some((ring, bytes)) = update.ring
            && bytes.is_power_of_two()
            && bytes >= PACKET
            && ring != 0
        {
            (self.desc.ring, self.desc.ring_bytes) = (ring, bytes);
        }
        self.desc.priority = update.priority;
        self.desc.percentage = update.percentage;
    }

    /// Packets that an AQL ring holds.
    pub fn packets(&self) -> u64 {
        self.desc.ring_bytes / PACKET
    }

    /// The read count.
    pub fn read_count(&self, map: &Snapshot) -> Result<u64, QueueError> {
        let read = map.atomic_u64(self.desc.read_ptr, false);
        read.map(|a| a.load(Acquire)).map_err(|_| QueueError::Unmapped("read pointer", self.desc.read_ptr))
    }

    /// Stores the read count.
    pub fn set_read_count(&self, map: &Snapshot, count: u64) -> Result<(), Denied> {
        map.atomic_u64(self.desc.read_ptr, true)?.store(count, Release);
        Ok(())
    }

    /// The write count in memory.
    pub fn write_count(&self, map: &Snapshot) -> Result<u64, Denied> {
        Ok(map.atomic_u64(self.desc.write_ptr, false)?.load(Acquire))
    }

    /// The doorbell's value.
    pub fn doorbell(&self) -> u64 {
        // SAFETY: the caller of create_queue promises that the doorbell stays mapped; it is 8-aligned (checked).
        unsafe { AtomicU64::from_ptr(self.desc.doorbell as *mut u64) }.load(Acquire)
    }

    /// The amd_queue_t around the read index.
    pub fn amd_queue(&self, map: &Snapshot) -> Result<u64, QueueError> {
        let unmapped = |_| QueueError::Unmapped("amd_queue_t", self.desc.read_ptr);
        let offset = map.atomic_u32(self.desc.read_ptr + OFFSET_FIELD, false).map_err(unmapped)?.load(Acquire);
        let base = self.desc.read_ptr.wrapping_sub(u64::from(offset));
        map.pieces(base, 256, true, |_, _, _| ()).map_err(|_| QueueError::Unmapped("amd_queue_t", base))?;
        Ok(base)
    }

    /// GPU address of packet `index`.
    pub fn address(&self, index: u64) -> u64 {
        self.desc.ring + index % self.packets() * PACKET
    }

    /// The packet at `index`, if the program has written one. The header is read first, with acquire order.
    pub fn packet(&self, map: &Snapshot, index: u64) -> Result<Option<(Header, [u8; 64])>, Denied> {
        let at = self.address(index);
        let header = Header(self.header(map, at, false)?.load(Acquire));
        if header.kind() == Header::INVALID {
            return Ok(None);
        }
        // A ring full of zeros is full of vendor packets: believe only in slots that were reserved or rung for.
        if self.write_count(map)? <= index && self.doorbell() < index.max(1) {
            return Ok(None);
        }
        let mut bytes = [0; PACKET as usize];
        map.read(at, &mut bytes)?;
        Ok(Some((header, bytes)))
    }

    /// The packet that the doorbell rang for, if it lies so far ahead of the oldest one that its slot was still in use.
    /// Doorbells may hold an index or a count; the write count must agree.
    pub fn overrun(&self, map: &Snapshot, oldest: u64) -> Result<Option<u64>, Denied> {
        let rung = self.doorbell();
        let over = |n: u64| n < 1 << 62 && n > oldest + self.packets();
        Ok(if over(rung) && over(self.write_count(map)?) { Some(rung) } else { None })
    }

    /// Gives the slot of packet `index` back to the program.
    pub fn retire(&self, map: &Snapshot, index: u64) -> Result<(), Denied> {
        self.header(map, self.address(index), true)?.store(Header::INVALID, Release);
        self.set_read_count(map, index + 1)
    }

    fn header<'a>(&self, map: &'a Snapshot, at: u64, write: bool) -> Result<&'a AtomicU16, Denied> {
        let host = map.host(at, 2, write)?;
        // SAFETY: two mapped bytes, 64-aligned in guest and (page offsets being equal) host; atomics only.
        Ok(unsafe { AtomicU16::from_ptr(host.cast()) })
    }

    /// Announces that the queue stopped: exception payload and event, or queue_inactive_signal.
    pub fn announce(&self, core: &Core, map: &Snapshot, failure: Failure, amd_queue: u64) -> Result<(), Denied> {
        let header = self.desc.ctx_save;
        if self.desc.exceptions && header != 0 {
            let payload = map.atomic_u64(header + 24, false)?.load(Acquire);
            let event = map.atomic_u32(header + 32, false)?.load(Acquire);
            if payload != 0 {
                map.atomic_u64(payload, true)?.fetch_or(failure.exception(), SeqCst);
                if event != 0 {
                    core.host.raise_event(event);
                }
                return Ok(());
            }
        }
        let inactive = map.atomic_u64(amd_queue + INACTIVE, false)?.load(Acquire);
        signal::set(map, &*core.host, inactive, failure.inactive())
    }
}
