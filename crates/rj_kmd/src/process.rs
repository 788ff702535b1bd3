//! One process's view of the driver: its open files, and where each call on them goes.

use crate::drm::ioctl::Answer;
use crate::{Config, ConfigError, Counts, Errno, GpuInstance, MemUsage, drm};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// An open file description of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

#[derive(Clone, Copy, Debug)]
enum Device {
    Kfd,
    Render(u32),
}

#[derive(Default)]
struct State {
    next: u32,
    files: BTreeMap<FileId, Device>,
    counts: Counts,
}

/// The driver as one process sees it: made at its first open of a device, never torn down before it ends.
pub struct Process {
    gpus: Vec<GpuInstance>,
    state: Mutex<State>,
}

impl Process {
    /// Makes the process's driver state. No thread is started before a queue needs it.
    pub fn open(cfg: &Config) -> Result<Arc<Process>, ConfigError> {
        Ok(Arc::new(Process { gpus: GpuInstance::all_of(cfg)?, state: Mutex::default() }))
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
        self.state().files.remove(&file);
    }

    /// `ioctl(2)` on a device file. `arg` is the program's pointer, unchecked.
    pub fn ioctl(&self, file: FileId, cmd: u64, arg: *mut u8) -> Result<i32, Errno> {
        let device = self.state().files.get(&file).copied().ok_or(Errno::EBADF)?;
        match device {
            Device::Kfd => self.unknown(format!("kfd ioctl {:#x}", cmd & 0xff), Errno::ENOTTY),
            Device::Render(minor) => self.drm_ioctl(minor, cmd, arg as u64),
        }
    }

    fn drm_ioctl(&self, minor: u32, cmd: u64, arg: u64) -> Result<i32, Errno> {
        let gpu = self.gpus.iter().find(|g| g.card_minor() == minor || g.render_minor() == minor);
        let gpu = gpu.ok_or(Errno::ENODEV)?;
        match drm::ioctl::ioctl(gpu, &MemUsage::default(), cmd, arg) {
            Answer::Done(result) => result,
            Answer::Unknown(name, errno) => self.unknown(name, errno),
            Answer::Other => self.unknown(format!("drm ioctl {:#x} on minor {minor}", cmd & 0xff), Errno::EINVAL),
        }
    }

    /// Records a request that we do not know and answers with `errno`.
    fn unknown(&self, name: String, errno: Errno) -> Result<i32, Errno> {
        *self.state().counts.unknown_requests.entry(name).or_insert(0) += 1;
        Err(errno)
    }

    /// `mmap(2)` on a device file.
    pub fn mmap(
        &self,
        _file: FileId,
        _addr: *mut u8,
        _len: usize,
        _prot: i32,
        _flags: i32,
        _off: u64,
    ) -> Result<*mut u8, Errno> {
        Err(Errno::EINVAL)
    }

    /// The program unmapped, or mapped something else over, addresses that a [`Process::mmap`] returned.
    pub fn munmap_notify(&self, _addr: *mut u8, _len: usize) {}

    /// What the process did so far.
    pub fn counts(&self) -> Counts {
        self.state().counts.clone()
    }

    fn add(&self, device: Device) -> FileId {
        let mut state = self.state();
        state.next += 1;
        let id = FileId(state.next);
        state.files.insert(id, device);
        id
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}
