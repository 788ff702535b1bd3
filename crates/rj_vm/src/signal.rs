//! amd_signal_t as the GPU side uses it: completing, setting, reading. Host and device change values at the same
//! time, so every access is atomic. Layout: kind 0, value 8, mailbox 16, event id 24, start 32, end 40 (amd_hsa_signal.h).

use crate::api::Host;
use rj_exec::Snapshot;
use rj_exec::mem::Denied;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};

/// The signal's value.
pub fn value(map: &Snapshot, signal: u64) -> Result<i64, Denied> {
    Ok(map.atomic_u64(signal + 8, false)?.load(Acquire).cast_signed())
}

/// Completes: times, then value − 1, then mailbox and event. Signal 0 means none.
pub fn complete(map: &Snapshot, host: &dyn Host, signal: u64, start: u64, end: u64) -> Result<(), Denied> {
    if signal == 0 {
        return Ok(());
    }
    map.atomic_u64(signal + 32, true)?.store(start, Release);
    map.atomic_u64(signal + 40, true)?.store(end, Release);
    // Read before the value changes: afterwards the program may free the signal.
    let event = mailbox(map, signal)?;
    map.atomic_u64(signal + 8, true)?.fetch_sub(1, SeqCst);
    raise(map, host, event)
}

/// Sets the value, then mailbox and event. Signal 0 means none.
pub fn set(map: &Snapshot, host: &dyn Host, signal: u64, value: u64) -> Result<(), Denied> {
    if signal == 0 {
        return Ok(());
    }
    let event = mailbox(map, signal)?;
    map.atomic_u64(signal + 8, true)?.store(value, SeqCst);
    raise(map, host, event)
}

fn mailbox(map: &Snapshot, signal: u64) -> Result<Option<(u64, u32)>, Denied> {
    let mailbox = map.atomic_u64(signal + 16, false)?.load(Acquire);
    let event = map.atomic_u32(signal + 24, false)?.load(Acquire);
    Ok((mailbox != 0).then_some((mailbox, event)))
}

fn raise(map: &Snapshot, host: &dyn Host, event: Option<(u64, u32)>) -> Result<(), Denied> {
    if let Some((mailbox, id)) = event {
        map.atomic_u64(mailbox, true)?.store(u64::from(id), Release);
        host.raise_event(id);
    }
    Ok(())
}
