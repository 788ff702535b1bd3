//! One process's view of the driver: its open files, and where each call on them goes.

use crate::bell::Bell;
use crate::bo::{Bo, BoId};
use crate::drm::ioctl::Answer;
use crate::gem::{self, Gem};
use crate::heap::{Heap, PAGE};
use crate::host::Shared;
use crate::kfd::memory::{DOORBELLS, Object};
use crate::kfd::svm::{Bounds, Svm};
use crate::trace::Trace;
use crate::{Config, ConfigError, Counts, Errno, GpuInstance, MemUsage, drm, hostfd, kfd, raw, sysfs};
use rj_hw::Gpu;
use rj_vm::{GpuConfig, Host, Machine, TraceLevel};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// An open file description of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

#[derive(Clone, Copy, Debug)]
enum Device {
    Kfd,
    Render(u32),
}

/// A page or two that programs map through the kfd fd: the file and where the engine sees it.
type Pages = (RawFd, usize);

/// What changes.
#[derive(Default)]
pub struct State {
    next: u32,
    files: BTreeMap<FileId, Device>,
    /// Memory objects by handle.
    pub objects: HashMap<u64, Object>,
    /// The last handle's low half.
    pub next_handle: u64,
    /// Buffer objects.
    pub bos: BTreeMap<BoId, Bo>,
    /// Buffer objects without handles, which a DMA-buf fd may keep.
    pub dead: Vec<BoId>,
    /// Where the next object of another process goes, past all heaps.
    pub next_foreign: u64,
    /// GEM handles and their mappings.
    pub gem: Gem,
    /// Ranges of the program's memory that GPUs share.
    pub svm: Svm,
    /// The queue that has the GPU's global wave sync, per GPU.
    pub gws: HashMap<usize, u32>,
    /// The engine's ends of SMI event fds.
    pub smi: Vec<RawFd>,
    /// A heap per GPU, made at its first allocation.
    pub heaps: Vec<Option<Heap>>,
    doorbells: Vec<Option<Pages>>,
    registers: Vec<Option<Pages>>,
    events: Option<Pages>,
    /// Memory in use per GPU.
    pub usage: Vec<MemUsage>,
    /// The program's own memory in objects, bytes.
    pub user_bytes: u64,
    /// Queues: GPU and doorbell slot.
    pub queues: HashMap<u32, (usize, u32)>,
    /// Doorbell slots taken.
    pub slots: HashSet<(usize, u32)>,
    /// RUNTIME_ENABLE was called.
    pub exceptions: bool,
    /// The handle of the event page.
    pub event_page: Option<u64>,
}

fn pages(slot: &mut Option<Pages>, name: &std::ffi::CStr, len: u64) -> Result<Pages, Errno> {
    if let Some(p) = slot {
        return Ok(*p);
    }
    let fd = hostfd::keep(raw::memfd(name, len)?)?;
    let at = raw::map_shared(fd, len).inspect_err(|_| hostfd::drop_kept(fd))?;
    *slot = Some((fd, at));
    Ok((fd, at))
}

impl State {
    /// The heap of a GPU.
    pub fn heap(&mut self, driver: &Driver, g: usize) -> Result<&mut Heap, Errno> {
        let slot = &mut self.heaps[g];
        if slot.is_none() {
            *slot = Some(Heap::new(driver.gpus[g].gpu.vram.bytes + driver.gtt_bytes)?);
        }
        slot.as_mut().ok_or(Errno::ENOMEM)
    }

    /// The doorbell pages of a GPU.
    pub fn doorbells(&mut self, g: usize) -> Result<Pages, Errno> {
        pages(&mut self.doorbells[g], c"rocjitsu-doorbells", DOORBELLS)
    }

    /// The register page of a GPU: writes to it flush caches that the engine has not.
    pub fn registers(&mut self, g: usize) -> Result<Pages, Errno> {
        pages(&mut self.registers[g], c"rocjitsu-registers", PAGE)
    }

    fn events(&mut self) -> Result<Pages, Errno> {
        let fresh = self.events.is_none();
        let p = pages(&mut self.events, c"rocjitsu-events", 32_768)?;
        if fresh {
            // SAFETY: just mapped, 32 KiB.
            unsafe { std::ptr::write_bytes(p.1 as *mut u8, 0xff, 32_768) };
        }
        Ok(p)
    }
}

/// What the ioctls work on.
pub struct Driver {
    /// The machine's GPUs.
    pub gpus: Vec<GpuInstance>,
    /// What executes.
    pub machine: Arc<Machine>,
    /// Where shared ranges are or were.
    pub svm_bounds: Bounds,
    /// Sees stores to doorbells, where the host permits it.
    bell: Option<Arc<Bell>>,
    /// What the machine's threads share with the ioctls.
    pub shared: Arc<Shared>,
    /// System memory that the driver may allocate for GPUs, bytes.
    pub gtt_bytes: u64,
    /// The same and the program's own memory that GPUs see, together.
    pub pinnable_bytes: u64,
    state: Mutex<State>,
}

impl Driver {
    /// The changing part, locked.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes a range out of a GPU's address space, lowered code included.
    pub fn unmap(&self, g: usize, va: u64, size: u64) {
        self.machine.space(g).unmap(va, size);
        self.machine.code(g).invalidate(va, size);
    }
}

/// The driver as one process sees it: made at its first open of a device, never torn down before it ends.
pub struct Process {
    driver: Driver,
}

fn config_of(g: &GpuInstance) -> GpuConfig {
    let hw = g.gpu;
    GpuConfig {
        target: hw.target,
        gpu_id: g.gpu_id(),
        xccs: hw.shape.xcds,
        cus: hw.shape.cus,
        simds_per_cu: hw.shape.simds_per_cu,
        waves_per_simd: hw.shape.waves_per_simd,
        lds_bytes: hw.limits.lds_bytes,
        vgprs: hw.limits.vgprs,
    }
}

impl Process {
    /// Makes the process's driver state. No thread is started before a queue needs it.
    pub fn open(cfg: &Config) -> Result<Arc<Process>, ConfigError> {
        let gpus = GpuInstance::all_of(cfg)?;
        let shared = Arc::new(Shared::default());
        let threads = cfg
            .cpu_thread_budget
            .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), |n| n as usize);
        let configs: Vec<GpuConfig> = gpus.iter().map(config_of).collect();
        let bell = Bell::new().ok().map(Arc::new);
        let machine = match &bell {
            Some(bell) => Machine::with_bell(&configs, shared.clone(), threads, bell.clone()),
            None => Machine::new(&configs, shared.clone(), threads),
        };
        if let Some(seconds) = cfg.watchdog {
            machine.set_watchdog(Duration::from_secs(seconds.into()));
        }
        let n = gpus.len();
        let state = State {
            heaps: (0..n).map(|_| None).collect(),
            doorbells: vec![None; n],
            registers: vec![None; n],
            usage: vec![MemUsage::default(); n],
            ..State::default()
        };
        let host = sysfs::Host::here();
        let driver = Driver {
            gpus,
            machine,
            svm_bounds: Bounds::default(),
            bell,
            shared,
            gtt_bytes: host.gtt_bytes(),
            pinnable_bytes: host.pinnable_bytes(),
            state: Mutex::new(state),
        };
        Ok(Arc::new(Process { driver }))
    }

    /// Writes a trace into this file from now on, if the configuration asks for one.
    pub fn start_trace(&self, cfg: &Config, file: &Path) {
        let Some(level) = cfg.trace_level else { return };
        match Trace::open(level.into(), file) {
            Ok(trace) => {
                let _ = self.driver.shared.trace.set(trace);
                for g in &self.driver.gpus {
                    let line = format!("vm online: agent {} {}", g.gpu.agent, g.gpu.target.name());
                    self.trace(TraceLevel::Fault, &line);
                }
            }
            Err(e) => self.driver.shared.note(&format!("no trace: {}: error {}", file.display(), e.0)),
        }
    }

    /// Adds lines to the trace.
    pub fn trace(&self, level: TraceLevel, text: &str) {
        self.driver.shared.trace(level, text);
    }

    /// The model of the GPUs.
    pub fn gpu(&self) -> Option<&'static Gpu> {
        self.driver.gpus.first().map(|g| g.gpu)
    }

    /// Opens /dev/kfd.
    pub fn open_kfd(&self) -> Result<FileId, Errno> {
        Ok(self.add(Device::Kfd))
    }

    /// Opens /dev/dri/renderD`minor` or /dev/dri/card`minor` (`minor` is the device number's: card0 is 0, renderD128
    /// is 128).
    pub fn open_render(&self, minor: u32) -> Result<FileId, Errno> {
        Ok(self.add(Device::Render(minor)))
    }

    /// The last fd of a file was closed.
    pub fn close(&self, file: FileId) {
        let mut state = self.driver.state();
        if let Some(Device::Render(_)) = state.files.remove(&file) {
            gem::close_file(&self.driver, &mut state, file);
        }
    }

    /// `ioctl(2)` on a device file. `arg` is the program's pointer, unchecked.
    pub fn ioctl(&self, file: FileId, cmd: u64, arg: *mut u8) -> Result<i32, Errno> {
        match self.device(file)? {
            Device::Kfd => match kfd::ioctl(&self.driver, cmd, arg as u64) {
                kfd::Answer::Done(r) => r,
                kfd::Answer::Lacks(name, errno) => self.unknown(&name, errno),
            },
            Device::Render(minor) => self.drm_ioctl(file, minor, cmd, arg as u64),
        }
    }

    fn device(&self, file: FileId) -> Result<Device, Errno> {
        self.driver.state().files.get(&file).copied().ok_or(Errno::EBADF)
    }

    fn gpu_of_minor(&self, minor: u32) -> Result<usize, Errno> {
        let found = self.driver.gpus.iter().position(|g| g.card_minor() == minor || g.render_minor() == minor);
        found.ok_or(Errno::ENODEV)
    }

    fn drm_ioctl(&self, file: FileId, minor: u32, cmd: u64, arg: u64) -> Result<i32, Errno> {
        let g = self.gpu_of_minor(minor)?;
        let usage = self.driver.state().usage[g];
        match drm::ioctl::ioctl(&self.driver.gpus[g], &usage, cmd, arg) {
            Answer::Done(result) => result,
            Answer::Unknown(name, errno) => self.unknown(&name, errno),
            Answer::Other => match gem::ioctl(&self.driver, file, g, cmd, arg) {
                Answer::Done(result) => result,
                Answer::Unknown(name, errno) => self.unknown(&name, errno),
                Answer::Other => self.unknown(&gem::name_of(cmd), Errno::EINVAL),
            },
        }
    }

    /// Records a request that we do not know and answers with `errno`.
    fn unknown(&self, name: &str, errno: Errno) -> Result<i32, Errno> {
        self.driver.shared.unknown(name);
        Err(errno)
    }

    /// `mmap(2)` on a device file.
    pub fn mmap(
        &self,
        file: FileId,
        addr: *mut u8,
        len: usize,
        prot: i32,
        flags: i32,
        off: u64,
    ) -> Result<*mut u8, Errno> {
        let device = self.device(file)?;
        let doorbells = matches!(device, Device::Kfd) && off >> 62 == 3;
        let (fd, off) = {
            let mut state = self.driver.state();
            let end = off.checked_add(len as u64).ok_or(Errno::EINVAL)?;
            match device {
                Device::Render(minor) => {
                    let g = self.gpu_of_minor(minor)?;
                    state.bo_file(g, off, len as u64)?
                }
                Device::Kfd => {
                    let id = off >> 46 & 0xffff;
                    let gpu = || {
                        let found = self.driver.gpus.iter().position(|g| u64::from(g.gpu_id()) == id);
                        found.ok_or(Errno::EINVAL)
                    };
                    let within = off & ((1 << 46) - 1);
                    let limit = end & ((1 << 46) - 1);
                    match off >> 62 {
                        3 if limit <= DOORBELLS => (state.doorbells(gpu()?)?.0, within),
                        2 if limit <= 32_768 => (state.events()?.0, within),
                        0 if limit <= PAGE => (state.registers(gpu()?)?.0, within),
                        _ => return Err(Errno::EINVAL),
                    }
                }
            }
        };
        // SAFETY: the program asked for exactly this mapping; MAP_FIXED is its own choice.
        let at = unsafe { raw::mmap(addr as usize, len, prot, flags, fd, off) }?;
        if doorbells && let Some(bell) = &self.driver.bell {
            bell.watch(at, len.next_multiple_of(PAGE as usize));
        }
        Ok(at as *mut u8)
    }

    /// The program unmaps, or mapped something else over, these addresses. Shared memory there ends; what the driver
    /// itself mapped does not matter, the engine sees it through mappings of its own.
    #[inline]
    pub fn munmap_notify(&self, addr: *mut u8, len: usize) {
        let (at, len) = (addr as u64, len as u64);
        if self.driver.svm_bounds.meet(at, len) && at.is_multiple_of(PAGE) {
            self.driver.state().svm.forget(&self.driver, at, len);
        }
    }

    /// What the process did so far.
    pub fn counts(&self) -> Counts {
        let mut counts = self.driver.shared.counts().clone();
        let c = self.driver.machine.counters();
        counts.dispatches = c.dispatches;
        counts.wave_instructions = c.instructions;
        counts.kernel_ns = c.kernel_ns;
        counts
    }

    fn add(&self, device: Device) -> FileId {
        let mut state = self.driver.state();
        state.next += 1;
        let id = FileId(state.next);
        state.files.insert(id, device);
        id
    }
}
