//! Memory objects: allocation, mapping into GPUs, and where the program's `mmap` finds them.

use super::{Args, gpu};
use crate::allocs::Kind;
use crate::bo::BoId;
use crate::heap::PAGE;
use crate::process::{Driver, State};
use crate::{Errno, user};
use rj_exec::Region;
use rj_vm::{Host, TraceLevel};

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
    /// A buffer object of the driver.
    Bo(BoId),
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
            let bo = state.bo_alloc(driver, g, size, flags)?;
            (Backing::Bo(bo), bo.off)
        }
        USERPTR => {
            if !user.is_multiple_of(PAGE) || user == 0 {
                return Err(Errno::EINVAL);
            }
            state.pinnable(driver, size)?;
            state.user_bytes += size;
            (Backing::User(user), user)
        }
        DOORBELL if size == DOORBELLS => (Backing::Doorbells, 3 << 62 | id << 46),
        MMIO if size == PAGE => (Backing::Registers, id << 46),
        _ => return Err(Errno::EINVAL),
    };
    let handle = add(driver, state, Object { gpu: g, va, size, flags, backing, mapped: Vec::new() });
    a.set64(16, handle);
    a.set64(24, offset);
    Ok(())
}

/// Gives an object a handle.
pub fn add(driver: &Driver, state: &mut State, object: Object) -> u64 {
    state.next_handle += 1;
    let handle = u64::from(driver.gpus[object.gpu].gpu_id()) << 32 | state.next_handle;
    trace(driver, "allocated", &object);
    driver.shared.allocs.made(handle, object.va, object.size, kind(&object));
    state.objects.insert(handle, object);
    handle
}

fn trace(driver: &Driver, what: &str, object: &Object) {
    if driver.shared.traces(TraceLevel::All) {
        let (va, size, memory, gpu) = (object.va, object.size, kind(object).memory, object.gpu);
        driver.shared.trace(TraceLevel::All, &format!("memory {what}: {va:#x} size={size} gpu={gpu} {memory}"));
    }
}

/// The object in a person's words.
fn kind(object: &Object) -> Kind {
    let memory = match object.backing {
        Backing::Bo(_) if object.flags & VRAM != 0 => "device memory",
        Backing::Bo(_) => "host memory",
        Backing::User(_) => "the program's own memory",
        Backing::Doorbells => "doorbells",
        Backing::Registers => "registers",
    };
    Kind { memory, writable: object.flags & WRITABLE != 0, executable: object.flags & EXECUTABLE != 0 }
}

/// FREE_MEMORY_OF_GPU. What is still mapped is busy; the event page stays for good.
pub fn free(driver: &Driver, state: &mut State, handle: u64) -> Result<(), Errno> {
    let object = state.objects.get(&handle).ok_or(Errno::EINVAL)?;
    if state.event_page == Some(handle) {
        return Err(Errno::EPERM);
    }
    if !object.mapped.is_empty() {
        return Err(Errno(libc::EBUSY));
    }
    let Some(object) = state.objects.remove(&handle) else { return Err(Errno::EINVAL) };
    driver.shared.allocs.freed(handle, object.va);
    trace(driver, "freed", &object);
    match object.backing {
        Backing::Bo(bo) => state.bo_put(driver, bo),
        Backing::User(_) => state.user_bytes -= object.size,
        _ => {}
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
                Backing::Bo(bo) => state.bo_host(bo)?,
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
            let space = driver.machine.space(g);
            if space.map(region).is_err() {
                // The C library gives memory back without our seeing it: shared ranges may be left over.
                state.svm.forget(driver, object.va, object.size);
                space.map(region).map_err(|_| Errno::EINVAL)?;
            }
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
    let Backing::Bo(bo) = o.backing else { return Err(Errno::EINVAL) };
    let host = state.bo_host(bo)?;
    // SAFETY: the object's memory is mapped there, and an event page is never freed.
    unsafe { std::ptr::write_bytes(host as *mut u8, 0xff, o.size.min(32_768) as usize) };
    Ok(())
}
