//! The render node's memory objects: GEM handles, their mappings into the GPU, and PRIME.

use crate::allocs::Kind;
use crate::bo::{BoId, METADATA, VRAM};
use crate::drm::ioctl::Answer;
use crate::process::{Driver, State};
use crate::{Errno, FileId, user};
use rj_exec::Region;
use std::collections::BTreeMap;

/// KFD_IOC_ALLOC_MEM_FLAGS_GTT.
const GTT: u32 = 2;
/// AMDGPU_GEM_DOMAIN_GTT and _VRAM.
const DOMAIN_GTT: u64 = 2;
const DOMAIN_VRAM: u64 = 4;

/// The handles of all open render nodes.
#[derive(Debug, Default)]
pub struct Gem {
    handles: BTreeMap<(FileId, u32), BoId>,
    mappings: Vec<Mapping>,
}

#[derive(Clone, Copy, Debug)]
struct Mapping {
    file: FileId,
    handle: u32,
    gpu: usize,
    va: u64,
    size: u64,
}

/// What an ioctl works on.
struct Call<'a> {
    driver: &'a Driver,
    file: FileId,
    gpu: usize,
    arg: u64,
}

/// Numbers and names of the ioctls (drm.h, amdgpu_drm.h) that only compute programs with display or other engines use.
const REFUSED: [(u64, &str); 22] = [
    (0x01, "GET_UNIQUE"),
    (0x02, "GET_MAGIC"),
    (0x06, "GET_STATS"),
    (0x07, "SET_VERSION"),
    (0x0a, "GEM_FLINK"),
    (0x0b, "GEM_OPEN"),
    (0x0d, "SET_CLIENT_CAP"),
    (0x42, "AMDGPU_CTX"),
    (0x43, "AMDGPU_BO_LIST"),
    (0x44, "AMDGPU_CS"),
    (0x49, "AMDGPU_WAIT_CS"),
    (0x51, "AMDGPU_GEM_USERPTR"),
    (0x52, "AMDGPU_WAIT_FENCES"),
    (0x53, "AMDGPU_VM"),
    (0x54, "AMDGPU_FENCE_TO_HANDLE"),
    (0x55, "AMDGPU_SCHED"),
    (0x56, "AMDGPU_USERQ"),
    (0x57, "AMDGPU_USERQ_SIGNAL"),
    (0x58, "AMDGPU_USERQ_WAIT"),
    (0x59, "AMDGPU_GEM_LIST_HANDLES"),
    (0xbf, "SYNCOBJ_CREATE"),
    (0xc0, "SYNCOBJ_DESTROY"),
];

/// What tells a GPU's mappings from KFD's objects in the log of allocations.
fn log_key(gpu: usize) -> u64 {
    1 << 63 | gpu as u64
}

/// The name of an ioctl that the driver lacks.
pub fn name_of(cmd: u64) -> String {
    let nr = cmd & 0xff;
    match REFUSED.iter().find(|(n, _)| *n == nr) {
        Some((_, name)) => format!("drm ioctl {name}"),
        None => format!("drm ioctl {nr:#x}"),
    }
}

/// Answers the ioctl `cmd`, if it is about memory objects.
pub fn ioctl(driver: &Driver, file: FileId, gpu: usize, cmd: u64, arg: u64) -> Answer {
    let call = Call { driver, file, gpu, arg };
    let mut state = driver.state();
    Answer::Done(
        match cmd & 0xff {
            0x09 => call.close(&mut state),
            0x2d => call.to_fd(&mut state),
            0x2e => call.fd_to_handle(&mut state),
            0x40 => return call.create(&mut state),
            0x41 => call.offset(&state),
            0x46 => return call.metadata(&mut state),
            0x47 => call.wait_idle(&state),
            0x48 => return call.va(&mut state),
            0x50 => return call.op(&state),
            _ => return Answer::Other,
        }
        .map(|()| 0),
    )
}

/// The last fd of a render node was closed: its handles are gone.
pub fn close_file(driver: &Driver, state: &mut State, file: FileId) {
    let gone: Vec<u32> = state.gem.handles.range((file, 0)..=(file, u32::MAX)).map(|(k, _)| k.1).collect();
    for handle in gone {
        let _ = drop_handle(driver, state, file, handle);
    }
}

fn drop_handle(driver: &Driver, state: &mut State, file: FileId, handle: u32) -> Result<(), Errno> {
    let bo = state.gem.handles.remove(&(file, handle)).ok_or(Errno::EINVAL)?;
    state.gem.mappings.retain(|m| {
        let its = m.file == file && m.handle == handle;
        if its {
            driver.shared.allocs.freed(log_key(m.gpu), m.va);
            driver.unmap(m.gpu, m.va, m.size);
        }
        !its
    });
    state.bo_put(driver, bo);
    Ok(())
}

fn word(b: &[u8], at: usize) -> u32 {
    b.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn long(b: &[u8], at: usize) -> u64 {
    b.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

impl Call<'_> {
    fn read<const N: usize>(&self) -> Result<[u8; N], Errno> {
        let mut b = [0; N];
        user::read(self.arg, &mut b)?;
        Ok(b)
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno> {
        user::write(self.arg.wrapping_add(at), bytes)
    }

    fn bo(&self, state: &State, handle: u32) -> Result<BoId, Errno> {
        state.gem.handles.get(&(self.file, handle)).copied().ok_or(Errno::ENOENT)
    }

    /// A handle for an object whose reference the caller hands over.
    fn add(&self, state: &mut State, bo: BoId) -> u32 {
        let mut handle = 1;
        for (&(_, used), _) in state.gem.handles.range((self.file, 1)..=(self.file, u32::MAX)) {
            if used != handle {
                break;
            }
            handle += 1;
        }
        state.gem.handles.insert((self.file, handle), bo);
        handle
    }

    /// GEM_CLOSE.
    fn close(&self, state: &mut State) -> Result<(), Errno> {
        let b: [u8; 8] = self.read()?;
        drop_handle(self.driver, state, self.file, word(&b, 0))
    }

    /// PRIME_HANDLE_TO_FD.
    fn to_fd(&self, state: &mut State) -> Result<(), Errno> {
        let b: [u8; 12] = self.read()?;
        let fd = state.bo_export(self.bo(state, word(&b, 0))?)?;
        self.write(8, &fd.to_le_bytes())
    }

    /// PRIME_FD_TO_HANDLE: an object has one handle in a file.
    fn fd_to_handle(&self, state: &mut State) -> Result<(), Errno> {
        let b: [u8; 12] = self.read()?;
        let bo = state.bo_import(self.driver, word(&b, 8).cast_signed())?;
        let range = (self.file, 0)..=(self.file, u32::MAX);
        let known = state.gem.handles.range(range).find(|(_, id)| **id == bo).map(|(k, _)| k.1);
        let handle = match known {
            Some(handle) => {
                state.bo_put(self.driver, bo);
                handle
            }
            None => self.add(state, bo),
        };
        self.write(0, &handle.to_le_bytes())
    }

    /// GEM_CREATE in device or system memory.
    fn create(&self, state: &mut State) -> Answer {
        let b: [u8; 32] = match self.read() {
            Ok(b) => b,
            Err(e) => return Answer::Done(Err(e)),
        };
        let (size, domains) = (long(&b, 0), long(&b, 16));
        let flags = match domains {
            d if d & DOMAIN_VRAM != 0 && d & !7 == 0 => VRAM,
            1..=3 => GTT,
            d => return Answer::Unknown(format!("drm ioctl AMDGPU_GEM_CREATE in domains {d:#x}"), Errno::EINVAL),
        };
        let Some(size) = size.checked_next_multiple_of(4096).filter(|n| *n > 0) else {
            return Answer::Done(Err(Errno::EINVAL));
        };
        // GEM objects are readable, writable and executable as far as their mappings say so.
        let made = state.bo_alloc(self.driver, self.gpu, size, flags | 3 << 30);
        Answer::Done(made.and_then(|bo| {
            let handle = self.add(state, bo);
            self.write(0, &u64::from(handle).to_le_bytes()).map(|()| 0)
        }))
    }

    /// GEM_MMAP: the offset for mmap on this node.
    fn offset(&self, state: &State) -> Result<(), Errno> {
        let b: [u8; 8] = self.read()?;
        let bo = self.bo(state, word(&b, 0))?;
        if bo.gpu != self.gpu {
            return Err(Errno::EPERM);
        }
        self.write(0, &bo.off.to_le_bytes())
    }

    /// GEM_METADATA: set (1) and get (2).
    fn metadata(&self, state: &mut State) -> Answer {
        let mut run = || -> Result<Option<u32>, Errno> {
            let b: [u8; 8 + METADATA] = self.read()?;
            let bo = self.bo(state, word(&b, 0))?;
            match word(&b, 4) {
                1 => {
                    if word(&b, 24) > 256 {
                        return Err(Errno::EINVAL);
                    }
                    let mut data = [0; METADATA];
                    data.copy_from_slice(&b[8..]);
                    state.bo_set_metadata(bo, &data)?;
                }
                2 => {
                    let data = state.bos.get(&bo).and_then(|b| b.metadata.as_deref().copied());
                    self.write(8, &data.unwrap_or([0; METADATA]))?;
                }
                op => return Ok(Some(op)),
            }
            Ok(None)
        };
        match run() {
            Ok(Some(op)) => Answer::Unknown(format!("drm ioctl AMDGPU_GEM_METADATA operation {op}"), Errno::EINVAL),
            Ok(None) => Answer::Done(Ok(0)),
            Err(e) => Answer::Done(Err(e)),
        }
    }

    /// GEM_WAIT_IDLE: kernels of user queues do not make objects busy.
    fn wait_idle(&self, state: &State) -> Result<(), Errno> {
        let b: [u8; 16] = self.read()?;
        let bo = self.bo(state, word(&b, 0))?;
        let domain = self.domains(state, bo) as u32;
        self.write(0, &[0u32.to_le_bytes(), domain.to_le_bytes()].concat())
    }

    fn domains(&self, state: &State, bo: BoId) -> u64 {
        if state.bos.get(&bo).is_some_and(|b| b.flags & VRAM != 0) { DOMAIN_VRAM } else { DOMAIN_GTT }
    }

    /// GEM_VA: map (1), unmap (2), clear (3), replace (4).
    fn va(&self, state: &mut State) -> Answer {
        let b: [u8; 40] = match self.read() {
            Ok(b) => b,
            Err(e) => return Answer::Done(Err(e)),
        };
        let (handle, op, flags) = (word(&b, 0), word(&b, 8), word(&b, 12));
        let (va, off, size) = (long(&b, 16), long(&b, 24), long(&b, 32));
        if flags & 0x10 != 0 {
            return Answer::Unknown("drm ioctl AMDGPU_GEM_VA of PRT pages".into(), Errno::EINVAL);
        }
        let range = va % 4096 == 0 && off % 4096 == 0 && size % 4096 == 0 && va.checked_add(size).is_some();
        if !range || (size == 0 && op != 2) {
            return Answer::Done(Err(Errno::EINVAL));
        }
        let done = match op {
            1 | 4 => self.map(state, handle, flags, [va, off, size], op == 4),
            2 => self.unmap(state, handle, va),
            3 => {
                self.clear(state, va, size);
                Ok(())
            }
            _ => return Answer::Unknown(format!("drm ioctl AMDGPU_GEM_VA operation {op}"), Errno::EINVAL),
        };
        Answer::Done(done.map(|()| 0))
    }

    fn map(
        &self,
        state: &mut State,
        handle: u32,
        flags: u32,
        [va, off, size]: [u64; 3],
        replace: bool,
    ) -> Result<(), Errno> {
        let bo = self.bo(state, handle)?;
        let have = state.bos.get(&bo).map_or(0, |b| b.size);
        if off.checked_add(size).is_none_or(|end| end > have) {
            return Err(Errno::EINVAL);
        }
        let host = state.bo_host(bo)? + off as usize;
        if replace {
            self.clear(state, va, size);
        }
        let region = Region {
            va,
            len: size,
            host,
            read: flags & 2 != 0,
            write: flags & 4 != 0,
            exec: flags & 8 != 0,
            alloc: bo.off,
        };
        self.driver.machine.space(self.gpu).map(region).map_err(|_| Errno::EINVAL)?;
        let kind = Kind { memory: "mapped memory", writable: region.write, executable: region.exec };
        self.driver.shared.allocs.made(log_key(self.gpu), va, size, kind);
        state.gem.mappings.push(Mapping { file: self.file, handle, gpu: self.gpu, va, size });
        Ok(())
    }

    fn unmap(&self, state: &mut State, handle: u32, va: u64) -> Result<(), Errno> {
        self.bo(state, handle)?;
        let its = |m: &Mapping| m.file == self.file && m.handle == handle && m.gpu == self.gpu && m.va == va;
        let i = state.gem.mappings.iter().position(its).ok_or(Errno::ENOENT)?;
        let m = state.gem.mappings.swap_remove(i);
        self.driver.shared.allocs.freed(log_key(m.gpu), m.va);
        self.driver.unmap(m.gpu, m.va, m.size);
        Ok(())
    }

    /// Takes a range out of this GPU's mappings, cutting those that reach beyond it.
    fn clear(&self, state: &mut State, va: u64, size: u64) {
        let end = va + size;
        let mut left = Vec::new();
        for m in std::mem::take(&mut state.gem.mappings) {
            let m_end = m.va + m.size;
            if m.gpu != self.gpu || m_end <= va || m.va >= end {
                left.push(m);
                continue;
            }
            if m.va < va {
                left.push(Mapping { size: va - m.va, ..m });
            }
            if m_end > end {
                left.push(Mapping { va: end, size: m_end - end, ..m });
            }
        }
        state.gem.mappings = left;
        self.driver.unmap(self.gpu, va, size);
    }

    /// GEM_OP: 0 tells how the object was made, 1 asks for another place.
    fn op(&self, state: &State) -> Answer {
        let run = || -> Result<Option<u32>, Errno> {
            let b: [u8; 16] = self.read()?;
            let bo = self.bo(state, word(&b, 0))?;
            let size = state.bos.get(&bo).map_or(0, |b| b.size);
            match word(&b, 4) {
                0 => {
                    let made = [size, 4096, self.domains(state, bo), 0];
                    let bytes: Vec<u8> = made.iter().flat_map(|n| n.to_le_bytes()).collect();
                    user::write(long(&b, 8), &bytes)?;
                    Ok(None)
                }
                op => Ok(Some(op)),
            }
        };
        match run() {
            Ok(Some(op)) => Answer::Unknown(format!("drm ioctl AMDGPU_GEM_OP operation {op}"), Errno::EINVAL),
            Ok(None) => Answer::Done(Ok(0)),
            Err(e) => Answer::Done(Err(e)),
        }
    }
}
