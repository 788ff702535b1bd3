//! Sharing: DMA-bufs made and taken by KFD handles, and the SMI event fd.

use super::memory::{Backing, Object, add};
use super::{Args, gpu};
use crate::bo::METADATA;
use crate::process::{Driver, State};
use crate::{Errno, hostfd, raw, user};
use std::os::fd::{IntoRawFd, RawFd};

fn fd_of(a: &Args, at: usize) -> RawFd {
    a.u32(at).cast_signed()
}

/// EXPORT_DMABUF.
pub fn export(state: &mut State, a: &mut Args) -> Result<(), Errno> {
    let object = state.objects.get(&a.u64(0)).ok_or(Errno::EINVAL)?;
    let Backing::Bo(bo) = object.backing else { return Err(Errno::EINVAL) };
    let fd = state.bo_export(bo)?;
    a.set32(12, fd.cast_unsigned());
    Ok(())
}

/// IMPORT_DMABUF: a handle of its own for the object, at an address of its own.
pub fn import(driver: &Driver, state: &mut State, a: &mut Args) -> Result<(), Errno> {
    gpu(driver, a.u32(16))?;
    let va = a.u64(0);
    let bo = state.bo_import(driver, fd_of(a, 20))?;
    let (size, flags) = state.bos.get(&bo).map(|b| (b.size, b.flags)).ok_or(Errno::EINVAL)?;
    if !va.is_multiple_of(4096) || va.checked_add(size).is_none() {
        state.bo_put(driver, bo);
        return Err(Errno::EINVAL);
    }
    // Whoever imports may write and run what the exporter may.
    let object = Object { gpu: bo.gpu, va, size, flags, backing: Backing::Bo(bo), mapped: Vec::new() };
    a.set64(8, add(driver, state, object));
    Ok(())
}

/// GET_DMABUF_INFO: size, GPU, allocation flags and the metadata, whose length is at 16 of the stored bytes.
pub fn info(driver: &Driver, state: &mut State, a: &mut Args) -> Result<(), Errno> {
    let id = state.bo_import(driver, fd_of(a, 28))?;
    let found = state.bos.get(&id).map(|b| (b.size, b.flags, b.metadata.as_deref().copied()));
    state.bo_put(driver, id);
    let (size, flags, metadata) = found.ok_or(Errno::EINVAL)?;
    let metadata = metadata.unwrap_or([0; METADATA]);
    let len = u32::from_le_bytes(metadata[16..20].try_into().unwrap_or_default()).min(256);
    let (to, room) = (a.u64(8), a.u32(16));
    if to != 0 && len > 0 {
        if room < len {
            return Err(Errno::EINVAL);
        }
        user::write(to, &metadata[20..20 + len as usize])?;
    }
    a.set64(0, size);
    a.set32(16, len);
    a.set32(20, driver.gpus[id.gpu].gpu_id());
    a.set32(24, flags);
    Ok(())
}

/// SMI_EVENTS: an fd that takes event masks and on which no event ever arrives: nothing here throttles, resets or
/// migrates.
pub fn smi(driver: &Driver, state: &mut State, a: &mut Args) -> Result<(), Errno> {
    gpu(driver, a.u32(0))?;
    state.smi.retain(|fd| {
        let over = raw::hung_up(*fd);
        if over {
            hostfd::drop_kept(*fd);
        }
        !over
    });
    let (theirs, ours) = raw::sockets()?;
    state.smi.push(hostfd::keep(ours)?);
    a.set32(4, theirs.into_raw_fd().cast_unsigned());
    Ok(())
}
