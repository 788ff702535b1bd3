//! A GPU through /dev/kfd: memory, a queue of AQL packets, signals. Layouts: Linux uapi kfd_ioctl.h, HSA's hsa.h, and
//! amd_hsa_queue.h and amd_hsa_signal.h of ROCm. It knows no kernel.

use crate::driver::Direction::{Both, From, To};
use crate::driver::{Mapping, ioctl};
use crate::topology::Gpu;
use rj_code::{CodeObject, KernelDescriptor};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};

const VRAM: u32 = 1;
const GTT: u32 = 1 << 1;
/// The CPU sees it; the GPU may run and write it.
const ACCESS: u32 = 1 << 29 | 1 << 30 | 1 << 31;
const COHERENT: u32 = 1 << 26;

/// Packets of the ring.
const PACKETS: u64 = 64;
/// Places in the queue's page: read index, its offset in amd_queue_t, inactive signal; amd_queue_t.write_dispatch_id.
const WRITE: usize = 56;
const READ: usize = 128;
const READ_OFFSET: usize = 136;
const INACTIVE: usize = 192;
/// Where the two signals lie in the page of signals: value 8, mailbox 16, event 24.
const DONE: usize = 0;
const STOPPED: usize = 64;
/// Event types of CREATE_EVENT.
const SIGNAL: u32 = 0;
const MEMORY: u32 = 8;
/// Tries before a wait sleeps in the driver.
const SPINS: u32 = 2000;

/// A kernel in the GPU's memory.
#[derive(Clone, Copy, Debug)]
struct Kernel {
    object: u64,
    lds: u32,
    private: u32,
}

/// An open GPU with a queue.
pub struct Device {
    kfd: File,
    render: File,
    gpu: u32,
    ring: Mapping,
    queue: Mapping,
    signals: Mapping,
    doorbell: (Mapping, usize),
    /// Events: done, stopped, memory fault.
    events: [u32; 3],
    id: u32,
    kernels: HashMap<String, Kernel>,
}

impl Device {
    /// Opens it, makes a queue and loads a code object.
    pub fn open(gpu: &Gpu, code: &[u8]) -> Result<Device, String> {
        let open = |path: String| {
            let file = OpenOptions::new().read(true).write(true).open(&path);
            file.map_err(|e| format!("{path}: {e}"))
        };
        let (kfd, render) = (open("/dev/kfd".into())?, open(format!("/dev/dri/renderD{}", gpu.render))?);
        let mut version = [0; 8];
        ioctl(&kfd, From, 0x01, &mut version).map_err(|e| format!("GET_VERSION: {e}"))?;
        if get32(&version, 0) != 1 {
            return Err(format!("version {} of the driver's interface, not 1", get32(&version, 0)));
        }
        let mut apertures = vec![0u8; 56 * 16];
        let mut arg = [0; 16];
        set64(&mut arg, 0, apertures.as_mut_ptr() as u64);
        set32(&mut arg, 8, 16);
        ioctl(&kfd, Both, 0x14, &mut arg).map_err(|e| format!("GET_PROCESS_APERTURES_NEW: {e}"))?;
        let count = get32(&arg, 8).min(16) as usize;
        if !apertures.chunks(56).take(count).any(|a| get32(a, 48) == gpu.id) {
            return Err(format!("the driver has no GPU {:#x}", gpu.id));
        }
        let mut arg = [0; 8];
        set32(&mut arg, 0, std::os::fd::AsRawFd::as_raw_fd(&render).cast_unsigned());
        set32(&mut arg, 4, gpu.id);
        ioctl(&kfd, To, 0x15, &mut arg).map_err(|e| format!("ACQUIRE_VM: {e}"))?;

        let shared = |len| allocate(&kfd, &render, gpu.id, len, GTT | COHERENT | ACCESS);
        let (page, page_handle) = shared(32_768)?;
        let mut events = [0; 3];
        for (event, kind) in events.iter_mut().zip([SIGNAL, SIGNAL, MEMORY]) {
            let mut arg = [0; 32];
            // The first event brings the page of events.
            set64(&mut arg, 0, page_handle);
            set32(&mut arg, 12, kind);
            set32(&mut arg, 16, 1);
            ioctl(&kfd, Both, 0x08, &mut arg).map_err(|e| format!("CREATE_EVENT: {e}"))?;
            *event = get32(&arg, 24);
        }
        let (ring, queue, signals) = (shared(4096)?.0, shared(4096)?.0, shared(4096)?.0);
        for (at, event) in [(DONE, events[0]), (STOPPED, events[1])] {
            signals.atomic(at).store(1, SeqCst);
            signals.atomic(at + 16).store(page.address() + 8 * u64::from(event), SeqCst);
            signals.atomic32(at + 24).store(event, SeqCst);
        }
        // Empty slots have the type INVALID.
        (0..PACKETS).for_each(|i| ring.atomic32(64 * i as usize).store(1, SeqCst));
        queue.atomic32(READ_OFFSET).store(READ as u32, SeqCst);
        queue.atomic(INACTIVE).store(signals.address() + STOPPED as u64, SeqCst);
        let end_of_pipe = allocate(&kfd, &render, gpu.id, 4096, VRAM | ACCESS)?.0;
        let mut arg = [0; 96];
        set64(&mut arg, 0, ring.address());
        set64(&mut arg, 8, queue.address() + WRITE as u64);
        set64(&mut arg, 16, queue.address() + READ as u64);
        set32(&mut arg, 32, 64 * PACKETS as u32);
        set32(&mut arg, 36, gpu.id);
        // AQL, all of the GPU, normal priority.
        set32(&mut arg, 40, 2);
        set32(&mut arg, 44, 100);
        set32(&mut arg, 48, 7);
        set64(&mut arg, 56, end_of_pipe.address());
        set64(&mut arg, 64, 4096);
        ioctl(&kfd, Both, 0x02, &mut arg).map_err(|e| format!("CREATE_QUEUE: {e}"))?;
        let (id, offset) = (get32(&arg, 52), get64(&arg, 24));
        let doorbells = Mapping::reserve(8192).and_then(|m| m.fill(&kfd, offset & !8191));
        let doorbell = (doorbells.map_err(|e| format!("doorbells: {e}"))?, (offset & 8191) as usize);
        let kernels = HashMap::new();
        let mut device = Device { kfd, render, gpu: gpu.id, ring, queue, signals, doorbell, events, id, kernels };
        device.load(code)?;
        Ok(device)
    }

    fn load(&mut self, code: &[u8]) -> Result<(), String> {
        let object = CodeObject::parse(code).map_err(|e| format!("the demo's code object: {e:?}"))?;
        let len = object.segments.iter().map(|s| s.address + s.size).max().unwrap_or(0);
        let memory = self.memory(len as usize)?;
        let image = object.load(memory.address()).map_err(|e| format!("the demo's code object: {e:?}"))?;
        memory.write(0, &image.bytes);
        for k in &object.kernels {
            let d: &KernelDescriptor = &k.descriptor;
            let kernel = Kernel {
                object: memory.address() + k.descriptor_address,
                lds: d.group_segment_fixed_size,
                private: d.private_segment_fixed_size,
            };
            self.kernels.insert(k.name.clone(), kernel);
        }
        Ok(())
    }

    /// Device memory of zeros.
    pub fn memory(&self, len: usize) -> Result<Mapping, String> {
        Ok(allocate(&self.kfd, &self.render, self.gpu, len, VRAM | ACCESS)?.0)
    }

    /// Device memory with these words.
    pub fn words(&self, words: impl Iterator<Item = u32>) -> Result<Mapping, String> {
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let memory = self.memory(bytes.len())?;
        memory.write(0, &bytes);
        Ok(memory)
    }

    /// Runs a kernel to its end on `groups` work-groups of `size` work-items.
    pub fn run(&self, name: &str, groups: u32, size: u16, arguments: &[u8]) -> Result<(), String> {
        let kernel = self.kernels.get(name).ok_or_else(|| format!("no kernel {name}"))?;
        if kernel.private != 0 {
            return Err(format!("{name} needs private memory, which the demo's queue has not"));
        }
        let kernarg = self.memory(arguments.len().max(4096))?;
        kernarg.write(0, arguments);
        let mut packet = [0u8; 64];
        packet[4..6].copy_from_slice(&size.to_le_bytes());
        packet[6..10].copy_from_slice(&[1, 0, 1, 0]);
        set32(&mut packet, 12, groups * u32::from(size));
        set32(&mut packet, 16, 1);
        set32(&mut packet, 20, 1);
        set32(&mut packet, 28, kernel.lds);
        set64(&mut packet, 32, kernel.object);
        set64(&mut packet, 40, kernarg.address());
        set64(&mut packet, 56, self.signals.address() + DONE as u64);
        self.signals.atomic(DONE + 8).store(1, SeqCst);
        // One packet is under way at a time, so there is always room.
        let index = self.queue.atomic(WRITE).fetch_add(1, SeqCst);
        let slot = (index % PACKETS * 64) as usize;
        self.ring.write(slot + 4, &packet[4..]);
        // Kernel dispatch, acquire and release of the whole system; one dimension. The header goes last.
        self.ring.atomic32(slot).store(1 << 16 | 2 << 11 | 2 << 9 | 1 << 8 | 2, Release);
        self.doorbell.0.atomic(self.doorbell.1).store(index, Release);
        self.wait().map_err(|e| format!("{name}: {e}"))
    }

    /// Waits until the packet under way is done, or the queue stopped.
    fn wait(&self) -> Result<(), String> {
        let mut tries = 0u32;
        loop {
            if self.signals.atomic(DONE + 8).load(Acquire) == 0 {
                return Ok(());
            }
            let stopped = self.signals.atomic(STOPPED + 8).load(Acquire);
            if stopped != 0 {
                return Err(format!("the queue stopped with status {stopped:#x}"));
            }
            tries += 1;
            if tries < SPINS {
                std::hint::spin_loop();
                continue;
            }
            let mut data = [0u8; 48 * 3];
            for (d, event) in data.chunks_mut(48).zip(self.events) {
                set32(d, 40, event);
            }
            let mut arg = [0; 24];
            set64(&mut arg, 0, data.as_mut_ptr() as u64);
            // Any of the three; a second at most, then the signals are looked at anew.
            set32(&mut arg, 8, 3);
            set32(&mut arg, 12, 0);
            set32(&mut arg, 16, 1000);
            ioctl(&self.kfd, Both, 0x0c, &mut arg).map_err(|e| format!("WAIT_EVENTS: {e}"))?;
            let fault = &data[96..];
            if get32(fault, 24) == self.gpu {
                return Err(format!("memory fault at {:#x}", get64(fault, 16)));
            }
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let mut arg = [0; 8];
        set32(&mut arg, 0, self.id);
        // The driver takes everything back at the process's end, whatever this says.
        let _ = ioctl(&self.kfd, Both, 0x03, &mut arg);
    }
}

/// Memory at the same address for CPU and GPU, and its handle.
fn allocate(kfd: &File, render: &File, gpu: u32, len: usize, flags: u32) -> Result<(Mapping, u64), String> {
    let len = len.next_multiple_of(4096);
    let place = Mapping::reserve(len).map_err(|e| format!("{len} bytes of addresses: {e}"))?;
    let mut arg = [0; 40];
    set64(&mut arg, 0, place.address());
    set64(&mut arg, 8, len as u64);
    set32(&mut arg, 32, gpu);
    set32(&mut arg, 36, flags);
    ioctl(kfd, Both, 0x16, &mut arg).map_err(|e| format!("ALLOC_MEMORY_OF_GPU of {len} bytes: {e}"))?;
    let (handle, offset) = (get64(&arg, 16), get64(&arg, 24));
    let memory = place.fill(render, offset).map_err(|e| format!("mapping {len} bytes of the GPU's memory: {e}"))?;
    let mut arg = [0; 24];
    let ids = [gpu];
    set64(&mut arg, 0, handle);
    set64(&mut arg, 8, ids.as_ptr() as u64);
    set32(&mut arg, 16, 1);
    ioctl(kfd, Both, 0x18, &mut arg).map_err(|e| format!("MAP_MEMORY_TO_GPU: {e}"))?;
    Ok((memory, handle))
}

fn set32(b: &mut [u8], at: usize, x: u32) {
    b[at..at + 4].copy_from_slice(&x.to_le_bytes());
}

fn set64(b: &mut [u8], at: usize, x: u64) {
    b[at..at + 8].copy_from_slice(&x.to_le_bytes());
}

fn get32(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn get64(b: &[u8], at: usize) -> u64 {
    u64::from(get32(b, at)) | u64::from(get32(b, at + 4)) << 32
}
