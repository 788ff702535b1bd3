//! Event ioctls.

use super::{Args, memory};
use crate::events::{End, Got, HW_EXCEPTION, MEMORY, SIGNAL, Want};
use crate::process::Driver;
use crate::{Errno, user};

/// Bytes of `struct kfd_event_data`: 32 of data, the extension's pointer, the id.
const DATA: usize = 48;
/// Events of one wait at most.
const MOST: u32 = 65_536;

/// CREATE_EVENT. The first signal event brings the event page: a memory object's handle, or none (old libhsakmt: it
/// then maps a page of the driver's).
pub fn create(driver: &Driver, a: &mut Args) -> Result<(), Errno> {
    let kind = a.u32(12);
    if ![SIGNAL, HW_EXCEPTION, MEMORY, 1, 2, 4, 5, 6, 7].contains(&kind) {
        return Err(Errno::EINVAL);
    }
    let page = a.u64(0);
    {
        let mut state = driver.state();
        if page != 0 && state.event_page.is_none() {
            memory::fill_slots(&state, page)?;
            state.event_page = Some(page);
        }
    }
    let id = driver.shared.events.create(kind, a.u32(16) != 0)?;
    if page == 0 {
        a.set64(0, memory::EVENTS_OFFSET);
    }
    a.set32(8, id);
    a.set32(24, id);
    a.set32(28, id);
    Ok(())
}

/// WAIT_EVENTS.
pub fn wait(driver: &Driver, a: &mut Args) -> Result<(), Errno> {
    let (ptr, n, all, timeout) = (a.u64(0), a.u32(8), a.u32(12) != 0, a.u32(16));
    if n == 0 || n > MOST {
        return Err(Errno::EINVAL);
    }
    let mut data = vec![0u8; n as usize * DATA];
    user::read(ptr, &mut data)?;
    let word = |d: &[u8], at: usize| u32::from_le_bytes(d[at..at + 4].try_into().unwrap_or_default());
    let wants: Vec<Want> = data
        .chunks(DATA)
        .map(|d| Want { id: word(d, 40), last_age: u64::from(word(d, 0)) | u64::from(word(d, 4)) << 32 })
        .collect();
    let (end, got) = driver.shared.events.wait(&wants, all, timeout)?;
    for (d, g) in data.chunks_mut(DATA).zip(&got) {
        match g {
            Got::Age(age) => d[..8].copy_from_slice(&age.to_le_bytes()),
            Got::Fault(Some(f)) => {
                d[..32].fill(0);
                d[0] = u8::from(!f.mapped);
                d[4] = u8::from(f.mapped && f.write);
                d[8] = u8::from(f.mapped && f.fetch);
                d[16..24].copy_from_slice(&(f.va & !0xfff).to_le_bytes());
                d[24..28].copy_from_slice(&f.gpu_id.to_le_bytes());
            }
            _ => {}
        }
    }
    user::write(ptr, &data)?;
    a.set32(
        20,
        match end {
            End::Complete => 0,
            End::Timeout => 1,
            End::Gone => 2,
        },
    );
    if end == End::Gone { Err(Errno(libc::EIO)) } else { Ok(()) }
}
