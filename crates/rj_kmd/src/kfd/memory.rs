//! Memory objects: allocation, mapping into GPUs, and where the program's `mmap` finds them.

use super::{Args, gpu};
use crate::heap::PAGE;
use crate::process::{Driver, State};
use crate::{Errno, user};
use rj_exec::Region;

const VRAM: u32 = 1;
const GTT: u32 = 1 << 1;
const USERPTR: u32 = 1 << 2;
const DOORBELL: u32 = 1 << 3;
const MMIO: u32 = 1 << 4;
const WRITABLE: u32 = 1 << 31;
const EXECUTABLE: u32 = 1 << 30;

/// Bytes of a process's doorbell page.
pub const DOORBELLS: u64 = 8192;
/// mmap offset of the event page on the kfd fd (type 2).
pub const EVENTS_OFFSET: u64 = 2 << 62;
/// mmap offset of a GPU's doorbells on the kfd fd (type 3).
pub fn doorbell_offset(gpu_id: u32) -> u64 {
    3 << 62 | u64::from(gpu_id) << 46
}

/// Where an object's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// The GPU's heap, from this offset.
    Heap(u64),
    /// The program's own memory.
    User(u64),
    /// The GPU's doorbell page.
    Doorbells,
    /// The GPU's remapped register page.
    Registers,
}

/// A memory object.
#[derive(Clone, Debug)]
pub struct Object {
    /// GPU that it was allocated on.
    pub gpu: usize,
    /// GPU address.
    pub va: u64,
    /// Bytes, a multiple of a page.
    pub size: u64,
    /// KFD_IOC_ALLOC_MEM_FLAGS.
    pub flags: u32,
    /// Its bytes.
    pub backing: Backing,
    /// GPUs that it is mapped into.
    pub mapped: Vec<usize>,
}

/// ALLOC_MEMORY_OF_GPU.
pub fn alloc(driver: &Driver, state: &mut State, a: &mut Args) -> Result<(), Errno> {
    let (va, size, flags) = (a.u64(0), a.u64(8), a.u32(36));
    let g = gpu(driver, a.u32(32))?;
    let user = a.u64(24);
    if size == 0 || va % PAGE != 0 || va.checked_add(size).is_none_or(|e| e > 1 << 57) {
        return Err(Errno::EINVAL);
    }
    let size = size.next_multiple_of(PAGE);
    let id = u64::from(driver.gpus[g].gpu_id());
    let (backing, offset) = match flags & 0x1f {
        VRAM | GTT => {
            let vram = flags & VRAM != 0;
            let (used, limit) = if vram {
                (state.usage[g].vram, driver.gpus[g].gpu.vram.bytes)
            } else {
                (state.usage[g].gtt, driver.gtt_bytes)
            };
            if used.checked_add(size).is_none_or(|n| n > limit) {
                return Err(Errno::ENOMEM);
            }
            let off = state.heap(driver, g)?.alloc(size).ok_or(Errno::ENOMEM)?;
            if vram {
                state.usage[g].vram += size
            } else {
                state.usage[g].gtt += size
            }
            (Backing::Heap(off), off)
        }
        USERPTR => {
            if !user.is_multiple_of(PAGE) || user == 0 {
                return Err(Errno::EINVAL);
            }
            (Backing::User(user), user)
        }
        DOORBELL if size == DOORBELLS => (Backing::Doorbells, 3 << 62 | id << 46),
        MMIO if size == PAGE => (Backing::Registers, id << 46),
        _ => return Err(Errno::EINVAL),
    };
    state.next_handle += 1;
    let handle = id << 32 | state.next_handle;
    state.objects.insert(handle, Object { gpu: g, va, size, flags, backing, mapped: Vec::new() });
    a.set64(16, handle);
    a.set64(24, offset);
    Ok(())
}

/// FREE_MEMORY_OF_GPU: also unmaps, as KFD does for what is still mapped.
pub fn free(driver: &Driver, state: &mut State, handle: u64) -> Result<(), Errno> {
    let object = state.objects.remove(&handle).ok_or(Errno::EINVAL)?;
    for &g in &object.mapped {
        driver.unmap(g, object.va, object.size);
    }
    if let Backing::Heap(off) = object.backing {
        let g = object.gpu;
        let usage = &mut state.usage[g];
        let used = if object.flags & VRAM != 0 { &mut usage.vram } else { &mut usage.gtt };
        *used = used.saturating_sub(object.size);
        state.heap(driver, g)?.release(off, object.size);
    }
    Ok(())
}

/// MAP_MEMORY_TO_GPU and its opposite, for a list of GPUs; `n_success` says how far it came.
pub fn map(driver: &Driver, state: &mut State, a: &mut Args, map: bool) -> Result<(), Errno> {
    let (handle, ids, n, done) = (a.u64(0), a.u64(8), a.u32(16), a.u32(20));
    if n == 0 || n > 1024 || done > n {
        return Err(Errno::EINVAL);
    }
    let mut list = vec![0u8; 4 * n as usize];
    user::read(ids, &mut list)?;
    let object = state.objects.get(&handle).cloned().ok_or(Errno::EINVAL)?;
    for (i, id) in list.chunks(4).enumerate().skip(done as usize) {
        let id = u32::from_le_bytes(id.try_into().unwrap_or_default());
        let g = gpu(driver, id)?;
        let is = object.mapped.contains(&g) || state.objects.get(&handle).is_some_and(|o| o.mapped.contains(&g));
        if map && !is {
            let host = match object.backing {
                Backing::Heap(off) => state.heap(driver, object.gpu)?.host(off),
                Backing::User(p) => p as usize,
                Backing::Doorbells => state.doorbells(object.gpu)?.1,
                Backing::Registers => state.registers(object.gpu)?.1,
            };
            let region = Region {
                va: object.va,
                len: object.size,
                host,
                read: true,
                write: object.flags & WRITABLE != 0,
                exec: object.flags & EXECUTABLE != 0,
                alloc: handle,
            };
            driver.machine.space(g).map(region).map_err(|_| Errno::EINVAL)?;
            if let Some(o) = state.objects.get_mut(&handle) {
                o.mapped.push(g);
            }
        } else if !map && is {
            driver.unmap(g, object.va, object.size);
            if let Some(o) = state.objects.get_mut(&handle) {
                o.mapped.retain(|x| *x != g);
            }
        }
        a.set32(20, i as u32 + 1);
    }
    Ok(())
}

/// AVAILABLE_MEMORY: device memory, in multiples of 2 MiB.
pub fn available(driver: &Driver, state: &mut State, a: &mut Args) -> Result<(), Errno> {
    let g = gpu(driver, a.u32(8))?;
    let free = driver.gpus[g].gpu.vram.bytes.saturating_sub(state.usage[g].vram);
    a.set64(0, free & !((2 << 20) - 1));
    Ok(())
}

/// Fills the event page's slots with all ones (engine-abi §10).
pub fn fill_slots(state: &State, handle: u64) -> Result<(), Errno> {
    let o = state.objects.get(&handle).ok_or(Errno::EINVAL)?;
    let Backing::Heap(off) = o.backing else { return Err(Errno::EINVAL) };
    let heap = state.heaps[o.gpu].as_ref().ok_or(Errno::EINVAL)?;
    // SAFETY: the object's range of the heap is mapped at this address for as long as the process lives.
    unsafe { std::ptr::write_bytes(heap.host(off) as *mut u8, 0xff, o.size.min(32_768) as usize) };
    Ok(())
}
