//! Running one kernel with no queue and no driver: `mirage kernel run` and the instruction tests.
//!
//! Buffers live at GPU addresses of their own with unmapped space between them, so that an access past a buffer's
//! end is a fault. It must not know ELF: the caller loads the code object.

use crate::api::{Gpu, GpuConfig};
use crate::launch::Launch;
use crate::scratch::Slots;
use crate::workers::Workers;
use rj_code::KernelDescriptor;
use rj_exec::{AddressSpace, CodeCache, Dispatch, Fault, Region, Scratch};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Distance between the starts of mapped things, at least; the rest stays unmapped.
const SPACING: u64 = 1 << 32;
/// Where the first buffer lies.
const BUFFERS: u64 = 0x1000_0000_0000;
/// Where the packet and the kernel arguments lie.
const LAUNCH: u64 = 0x0f00_0000_0000;
/// Where private memory lies.
const SCRATCH: u64 = 0x0e00_0000_0000;
/// Bytes of private memory at most, all slots together.
const SCRATCH_MOST: u64 = 1 << 30;

/// A kernel launch described by its caller.
#[derive(Clone, Debug)]
pub struct OfflineRun {
    /// The GPU's limits.
    pub gpu: GpuConfig,
    /// The loaded code object's bytes (segments at their places, relocated).
    pub image: Vec<u8>,
    /// GPU address of the image's first byte, 4096-aligned.
    pub image_va: u64,
    /// GPU address of the kernel descriptor, inside the image.
    pub descriptor_va: u64,
    /// Kernel name for reports.
    pub name: String,
    /// Grid dimensions, 1 to 3.
    pub dims: u8,
    /// Work-items per dimension.
    pub grid: [u32; 3],
    /// Work-items of a group per dimension.
    pub block: [u32; 3],
    /// Kernel arguments.
    pub kernarg: Vec<u8>,
    /// Buffers, mapped readable and writable.
    pub buffers: Vec<Vec<u8>>,
    /// Places in `kernarg` that receive a buffer's address: byte offset, buffer index, byte offset in the buffer.
    pub references: Vec<(usize, usize, u64)>,
    /// LDS bytes a group (static and dynamic).
    pub lds: u32,
    /// Private bytes a work-item.
    pub private: u32,
    /// Host threads; 0 for as many as there are CPUs.
    pub threads: usize,
}

/// What a finished kernel left.
#[derive(Clone, Debug)]
pub struct OfflineResult {
    /// The buffers, in order.
    pub buffers: Vec<Vec<u8>>,
    /// Wave instructions executed.
    pub instructions: u64,
    /// Work-groups run.
    pub groups: u64,
    /// Time from the first group to the last.
    pub elapsed: Duration,
    /// What the engine had to say, once each.
    pub notes: Vec<String>,
}

/// Why a kernel did not run to its end.
#[derive(Debug)]
pub enum OfflineError {
    /// The launch makes no sense; says why.
    Refused(String),
    /// A wave stopped.
    Fault(Box<Fault>),
}

impl fmt::Display for OfflineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OfflineError::Refused(why) => write!(f, "{why}"),
            OfflineError::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl std::error::Error for OfflineError {}

struct OfflineHost {
    started: Instant,
    notes: Mutex<BTreeSet<String>>,
}

impl rj_exec::Host for OfflineHost {
    fn interrupt(&self, event: u32) {
        self.note(&format!("the kernel raised event {event}: there is no driver to receive it"));
    }

    fn clock(&self) -> u64 {
        // 100 MHz; starts above 0.
        1 + (self.started.elapsed().as_nanos() / 10) as u64
    }

    fn note(&self, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert(text.into());
    }
}

/// Memory of the launch, 8-byte aligned, reachable by GPU addresses.
struct Store {
    words: Vec<AtomicU64>,
    len: usize,
}

impl Store {
    fn new(bytes: &[u8]) -> Store {
        let mut words: Vec<AtomicU64> = Vec::with_capacity(bytes.len().div_ceil(8));
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(AtomicU64::new(u64::from_le_bytes(word)));
        }
        Store { words, len: bytes.len() }
    }

    fn region(&self, va: u64, write: bool, exec: bool, alloc: u64) -> Region {
        let host = self.words.as_ptr() as usize;
        Region { va, len: self.len as u64, host, read: true, write, exec, alloc }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out: Vec<u8> = self.words.iter().flat_map(|w| w.load(SeqCst).to_le_bytes()).collect();
        out.truncate(self.len);
        out
    }
}

/// GPU address at which buffer `index` of these is mapped.
pub fn buffer_address(buffers: &[Vec<u8>], index: usize) -> u64 {
    let before = buffers.iter().take(index).map(|b| (b.len() as u64 / SPACING + 1) * SPACING);
    BUFFERS + before.sum::<u64>()
}

/// Runs the kernel on all its groups.
pub fn run_kernel(run: OfflineRun) -> Result<OfflineResult, OfflineError> {
    let refuse = |why: String| Err(OfflineError::Refused(why));
    let OfflineRun { gpu: config, image, image_va, descriptor_va, .. } = &run;
    let at = match descriptor_va.checked_sub(*image_va).and_then(|at| usize::try_from(at).ok()) {
        Some(at) if at + KernelDescriptor::SIZE <= image.len() => at,
        _ => return refuse(format!("the kernel descriptor at {descriptor_va:#x} lies outside the code object")),
    };
    let Ok(bytes) = <&[u8; KernelDescriptor::SIZE]>::try_from(&image[at..at + KernelDescriptor::SIZE]) else {
        return refuse("the kernel descriptor is cut off".into());
    };
    let descriptor = KernelDescriptor::parse(bytes);

    let mut kernarg = run.kernarg.clone();
    for &(offset, buffer, within) in &run.references {
        let Some(place) = kernarg.get_mut(offset..offset + 8) else {
            return refuse(format!("argument offset {offset} lies outside the {} argument bytes", run.kernarg.len()));
        };
        if buffer >= run.buffers.len() {
            return refuse(format!("there is no buffer {buffer}"));
        }
        place.copy_from_slice(&(buffer_address(&run.buffers, buffer) + within).to_le_bytes());
    }

    let mut dispatch = Dispatch {
        target: config.target,
        name: run.name.clone(),
        object: *descriptor_va,
        descriptor,
        dims: run.dims,
        grid: run.grid,
        group: run.block,
        kernarg: LAUNCH + 4096,
        packet: LAUNCH,
        queue: 0,
        dispatch_id: 0,
        private_size: run.private,
        lds_size: run.lds,
        scratch: Scratch::default(),
        xccs: config.xccs,
    };
    if let Err(why) = crate::dispatch::check(&dispatch, config) {
        return refuse(why.to_string());
    }

    let mut launch_page = vec![0; 4096 + kernarg.len().max(8)];
    launch_page[..64].copy_from_slice(&packet(&run));
    launch_page[4096..4096 + kernarg.len()].copy_from_slice(&kernarg);

    let space = AddressSpace::new();
    let map = |region: Region| match space.map(region) {
        Err(_) if region.len > 0 => {
            Err(OfflineError::Refused(format!("cannot map {:#x}, {} bytes", region.va, region.len)))
        }
        _ => Ok(()),
    };
    let image = Store::new(image);
    let launch_page = Store::new(&launch_page);
    let buffers: Vec<Store> = run.buffers.iter().map(|b| Store::new(b)).collect();
    map(image.region(*image_va, true, true, 0)).and_then(|()| map(launch_page.region(LAUNCH, true, false, 1)))?;
    for (i, buffer) in buffers.iter().enumerate() {
        map(buffer.region(buffer_address(&run.buffers, i), true, false, 2 + i as u64))?;
    }

    let threads = match run.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    let (scratch, slots) = private_memory(&dispatch, threads);
    if let Some(scratch) = &scratch {
        map(scratch.region(SCRATCH, true, false, 1))?;
        dispatch.scratch = Scratch {
            location: SCRATCH,
            wave_bytes: scratch_wave_bytes(&dispatch),
            descriptor: scratch_descriptor(scratch.len as u64),
        };
    }
    let host = Arc::new(OfflineHost { started: Instant::now(), notes: Mutex::default() });
    let gpu = Arc::new(Gpu {
        config: *config,
        space: Arc::new(space),
        code: CodeCache::new(config.target),
        gws: rj_exec::Gws::default(),
    });
    let launch = launch_and_wait(dispatch, gpu, slots, threads, &host)?;
    if let Some(fault) = launch.take_fault() {
        return Err(OfflineError::Fault(fault));
    }
    let notes = host.notes.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    Ok(OfflineResult {
        buffers: buffers.iter().map(Store::bytes).collect(),
        instructions: launch.instructions(),
        groups: launch.finished(),
        elapsed: host.started.elapsed(),
        notes,
    })
}

fn launch_and_wait(
    dispatch: Dispatch,
    gpu: Arc<Gpu>,
    slots: Option<Arc<Slots>>,
    threads: usize,
    host: &Arc<OfflineHost>,
) -> Result<Arc<Launch>, OfflineError> {
    let done = Arc::new((Mutex::new(false), Condvar::new()));
    let wake = done.clone();
    let wake = Box::new(move || {
        *wake.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.1.notify_all();
    });
    let workers = Workers::new(threads, host.clone(), None);
    let launch = Launch::new(dispatch, gpu, slots, wake);
    workers.submit(&launch, Vec::new()).map_err(|e| OfflineError::Refused(format!("cannot start a thread: {e}")))?;
    let mut woken = done.0.lock().unwrap_or_else(PoisonError::into_inner);
    while !launch.ended() {
        while !*woken {
            woken = done.1.wait(woken).unwrap_or_else(PoisonError::into_inner);
        }
        *woken = false;
        // A stopped launch ends only once the other threads have dropped their groups.
        if launch.stopped() {
            workers.nudge();
        }
    }
    Ok(launch)
}

fn scratch_wave_bytes(d: &Dispatch) -> u64 {
    (u64::from(d.private_size) * u64::from(d.wave_size())).next_multiple_of(1024)
}

/// Enough slots for each thread to hold a few groups, within reason.
fn private_memory(d: &Dispatch, threads: usize) -> (Option<Store>, Option<Arc<Slots>>) {
    if d.private_size == 0 {
        return (None, None);
    }
    let group = scratch_wave_bytes(d) * u64::from(d.waves_per_group());
    let groups = (SCRATCH_MOST / group.max(1)).clamp(1, 64 * threads as u64);
    let slots = u32::try_from(groups * u64::from(d.waves_per_group())).unwrap_or(u32::MAX);
    let bytes = scratch_wave_bytes(d) * u64::from(slots);
    let words = (0..bytes / 8).map(|_| AtomicU64::new(0)).collect();
    (Some(Store { words, len: bytes as usize }), Some(Arc::new(Slots::new(slots))))
}

/// The buffer descriptor that gfx90a code finds in s[0:3]: swizzled by lane, element 4 bytes, 64 lanes
/// (engine-abi, private memory; bit places from LLVM's and ROCr's SQ_BUF_RSRC_WORD definitions for gfx9).
fn scratch_descriptor(bytes: u64) -> [u32; 4] {
    let word1 = (SCRATCH >> 32) as u32 & 0xffff | 1 << 31;
    // dst_sel xyzw = 4,5,6,7; num_format uint 4, data_format 32 4, element size 4 bytes 1, index stride 64 3, add tid.
    let word3 = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 4 << 12 | 4 << 15 | 1 << 19 | 3 << 21 | 1 << 23;
    [SCRATCH as u32, word1, u32::try_from(bytes).unwrap_or(u32::MAX), word3]
}

/// The AQL packet that the kernel's dispatch pointer shows.
fn packet(run: &OfflineRun) -> [u8; 64] {
    let mut p = [0; 64];
    p[0] = 2;
    p[2] = run.dims;
    for (i, (&group, &grid)) in run.block.iter().zip(&run.grid).enumerate() {
        p[4 + 2 * i..6 + 2 * i].copy_from_slice(&(group as u16).to_le_bytes());
        p[12 + 4 * i..16 + 4 * i].copy_from_slice(&grid.to_le_bytes());
    }
    p[24..28].copy_from_slice(&run.private.to_le_bytes());
    p[28..32].copy_from_slice(&run.lds.to_le_bytes());
    p[32..40].copy_from_slice(&run.descriptor_va.to_le_bytes());
    p[40..48].copy_from_slice(&(LAUNCH + 4096).to_le_bytes());
    p
}
