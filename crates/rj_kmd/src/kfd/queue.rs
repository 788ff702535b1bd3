//! Queue ioctls.

use super::memory::doorbell_offset;
use super::{Args, gpu};
use crate::process::{Driver, State};
use crate::{Errno, record, user};
use rj_vm::{Host, QueueDesc, QueueError, QueueId, QueueKind, QueueUpdate, TraceLevel};

fn errno(driver: &Driver, e: &QueueError) -> Errno {
    use rj_vm::Host;
    driver.shared.note(&format!("queue refused: {e}"));
    match e {
        QueueError::Threads(_) => Errno::ENOMEM,
        QueueError::Stopped => Errno(libc::EIO),
        _ => Errno::EINVAL,
    }
}

/// CREATE_QUEUE.
pub fn create(driver: &Driver, a: &mut Args) -> Result<(), Errno> {
    let g = gpu(driver, a.u32(36))?;
    let kind = match a.u32(40) {
        0 => QueueKind::Pm4,
        1 | 3 | 4 => QueueKind::Sdma,
        2 => QueueKind::Aql,
        _ => return Err(Errno::EINVAL),
    };
    let (slot, doorbell, exceptions) = {
        let mut state = driver.state();
        let page = state.doorbells(g)?.1;
        let slot = (1..1024).find(|s| !state.slots.contains(&(g, *s))).ok_or(Errno::ENOMEM)?;
        state.slots.insert((g, slot));
        (slot, page + 8 * slot as usize, state.exceptions)
    };
    // SAFETY: inside the doorbell page, which stays mapped; 8-byte aligned.
    unsafe { std::sync::atomic::AtomicU64::from_ptr(doorbell as *mut u64) }
        .store(0, std::sync::atomic::Ordering::SeqCst);
    let desc = QueueDesc {
        gpu: g,
        kind,
        ring: a.u64(0),
        ring_bytes: u64::from(a.u32(32)),
        read_ptr: a.u64(16),
        write_ptr: a.u64(8),
        doorbell,
        ctx_save: a.u64(72),
        exceptions,
        priority: a.u32(48).min(15),
        percentage: a.u32(44) & 0xff,
    };
    let made = driver.machine.create_queue(desc);
    let mut state = driver.state();
    match made {
        Ok(QueueId(id)) => {
            state.queues.insert(id, (g, slot));
            drop(state);
            driver.shared.counts().queues += 1;
            driver
                .shared
                .trace(TraceLevel::All, &format!("queue created: {id} {kind:?} gpu={g} bytes={}", desc.ring_bytes));
            a.set32(52, id);
            a.set64(24, doorbell_offset(driver.gpus[g].gpu_id()) | (u64::from(slot) * 8));
            record::changed();
            Ok(())
        }
        Err(e) => {
            state.slots.remove(&(g, slot));
            drop(state);
            Err(errno(driver, &e))
        }
    }
}

/// DESTROY_QUEUE: returns when nothing touches the queue's memory any more.
pub fn destroy(driver: &Driver, a: &Args) -> Result<(), Errno> {
    let id = a.u32(0);
    known(&driver.state(), id)?;
    driver.machine.destroy_queue(QueueId(id)).map_err(|e| errno(driver, &e))?;
    driver.shared.trace(TraceLevel::All, &format!("queue destroyed: {id}"));
    let mut state = driver.state();
    if let Some(slot) = state.queues.remove(&id) {
        state.slots.remove(&slot);
        state.gws.retain(|_, owner| *owner != id);
    }
    Ok(())
}

/// UPDATE_QUEUE. A ring address of 0 keeps the ring.
pub fn update(driver: &Driver, a: &Args) -> Result<(), Errno> {
    let (ring, bytes) = (a.u64(0), u64::from(a.u32(12)));
    let update = QueueUpdate {
        ring: (ring != 0 && bytes != 0).then_some((ring, bytes)),
        priority: a.u32(20).min(15),
        percentage: a.u32(16) & 0xff,
    };
    driver.machine.update_queue(QueueId(a.u32(8)), update).map_err(|e| errno(driver, &e))
}

/// SET_CU_MASK: checked, and without effect: which CUs run a group cannot be told apart.
pub fn cu_mask(state: &State, a: &Args) -> Result<(), Errno> {
    let bits = a.u32(4);
    if bits == 0 || !bits.is_multiple_of(32) {
        return Err(Errno::EINVAL);
    }
    user::read(a.u64(8), &mut vec![0; (bits.min(1024) / 8) as usize])?;
    known(state, a.u32(0))
}

/// ALLOC_QUEUE_GWS: one queue of a GPU has the global wave sync, or gives it back.
pub fn gws(state: &mut State, a: &mut Args) -> Result<(), Errno> {
    let (id, take) = (a.u32(0), a.u32(4) != 0);
    let g = state.queues.get(&id).ok_or(Errno::EINVAL)?.0;
    match (take, state.gws.get(&g).copied()) {
        (true, Some(_)) => return Err(Errno(libc::EBUSY)),
        (true, None) => {
            state.gws.insert(g, id);
        }
        (false, Some(owner)) if owner == id => {
            state.gws.remove(&g);
        }
        (false, _) => return Err(Errno::EINVAL),
    }
    a.set32(8, 0);
    Ok(())
}

fn known(state: &State, id: u32) -> Result<(), Errno> {
    state.queues.contains_key(&id).then_some(()).ok_or(Errno::EINVAL)
}
