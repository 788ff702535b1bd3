//! The ioctls of /dev/kfd, one file a family. An argument struct is copied in, changed by byte offset (Linux uapi
//! kfd_ioctl.h), and copied out, as the kernel does it: by number, at most the program's size, the rest zero.

mod event;
pub mod memory;
mod misc;
mod queue;
mod share;
pub mod svm;

use crate::process::Driver;
use crate::{Errno, user};

/// An argument struct.
#[derive(Clone, Debug)]
pub struct Args {
    bytes: [u8; 128],
}

impl Args {
    /// A dword of the struct.
    pub fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap_or_default())
    }
    /// A quadword of the struct.
    pub fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap_or_default())
    }
    /// Sets a dword.
    pub fn set32(&mut self, at: usize, x: u32) {
        self.bytes[at..at + 4].copy_from_slice(&x.to_le_bytes());
    }
    /// Sets a quadword.
    pub fn set64(&mut self, at: usize, x: u64) {
        self.bytes[at..at + 8].copy_from_slice(&x.to_le_bytes());
    }
}

/// Names and sizes of the arguments, by number from 1 on.
const TABLE: [(&str, usize); 0x26] = [
    ("GET_VERSION", 8),
    ("CREATE_QUEUE", 96),
    ("DESTROY_QUEUE", 8),
    ("SET_MEMORY_POLICY", 32),
    ("GET_CLOCK_COUNTERS", 40),
    ("GET_PROCESS_APERTURES", 400),
    ("UPDATE_QUEUE", 24),
    ("CREATE_EVENT", 32),
    ("DESTROY_EVENT", 8),
    ("SET_EVENT", 8),
    ("RESET_EVENT", 8),
    ("WAIT_EVENTS", 24),
    ("DBG_REGISTER", 8),
    ("DBG_UNREGISTER", 8),
    ("DBG_ADDRESS_WATCH", 16),
    ("DBG_WAVE_CONTROL", 16),
    ("SET_SCRATCH_BACKING_VA", 16),
    ("GET_TILE_CONFIG", 40),
    ("SET_TRAP_HANDLER", 24),
    ("GET_PROCESS_APERTURES_NEW", 16),
    ("ACQUIRE_VM", 8),
    ("ALLOC_MEMORY_OF_GPU", 40),
    ("FREE_MEMORY_OF_GPU", 8),
    ("MAP_MEMORY_TO_GPU", 24),
    ("UNMAP_MEMORY_FROM_GPU", 24),
    ("SET_CU_MASK", 16),
    ("GET_QUEUE_WAVE_STATE", 24),
    ("GET_DMABUF_INFO", 32),
    ("IMPORT_DMABUF", 24),
    ("ALLOC_QUEUE_GWS", 16),
    ("SMI_EVENTS", 8),
    ("SVM", 24),
    ("SET_XNACK_MODE", 4),
    ("CRIU_OP", 56),
    ("AVAILABLE_MEMORY", 16),
    ("EXPORT_DMABUF", 16),
    ("RUNTIME_ENABLE", 16),
    ("DBG_TRAP", 64),
];

/// _IOC_READ of a command: the driver writes the struct.
const OUT: u64 = 1 << 31;

/// What became of an ioctl.
pub enum Answer {
    /// As the driver answers it.
    Done(Result<i32, Errno>),
    /// The engine lacks it: its name, for the record.
    Lacks(String, Errno),
}

/// Answers the ioctl `cmd` with the program's argument at `arg`.
pub fn ioctl(driver: &Driver, cmd: u64, arg: u64) -> Answer {
    let nr = (cmd & 0xff) as usize;
    if (0x80..=0x84).contains(&nr) {
        // Old runtimes ask for what only AMD's out-of-tree driver had; every other kernel says just this.
        return Answer::Done(Err(Errno::ENOTTY));
    }
    let Some(&(name, size)) = nr.checked_sub(1).and_then(|i| TABLE.get(i)) else {
        return Answer::Lacks(format!("kfd ioctl {nr:#x}"), Errno::ENOTTY);
    };
    let theirs = (cmd >> 16 & 0x3fff) as usize;
    if name == "SVM" {
        // A list of attributes follows the struct.
        return Answer::Done(svm::svm(driver, arg, theirs).map(|()| 0));
    }
    let n = size.min(theirs).min(128);
    let mut args = Args { bytes: [0; 128] };
    if let Err(e) = user::read(arg, &mut args.bytes[..n]) {
        return Answer::Done(Err(e));
    }
    let state = || driver.state();
    let r = match name {
        "GET_VERSION" => misc::version(&mut args),
        "SET_MEMORY_POLICY" | "SET_SCRATCH_BACKING_VA" | "SET_TRAP_HANDLER" | "ACQUIRE_VM" => {
            // Runtimes give scratch a place once they have taken the GPU on.
            driver.shared.counts().gpu_used |= name == "SET_SCRATCH_BACKING_VA";
            misc::accept(driver, name, &args)
        }
        "GET_CLOCK_COUNTERS" => misc::clocks(driver, &mut args),
        "GET_PROCESS_APERTURES" => return Answer::Done(misc::apertures_old(driver, arg, theirs)),
        "GET_PROCESS_APERTURES_NEW" => misc::apertures(driver, &mut args),
        "GET_TILE_CONFIG" => misc::tiles(driver, &mut args),
        "SET_XNACK_MODE" => misc::xnack(&mut args),
        "AVAILABLE_MEMORY" => memory::available(driver, &mut state(), &mut args),
        "RUNTIME_ENABLE" => misc::runtime(driver, &mut state(), &mut args),
        "ALLOC_MEMORY_OF_GPU" => memory::alloc(driver, &mut state(), &mut args),
        "FREE_MEMORY_OF_GPU" => memory::free(driver, &mut state(), args.u64(0)),
        "MAP_MEMORY_TO_GPU" => memory::map(driver, &mut state(), &mut args, true),
        "UNMAP_MEMORY_FROM_GPU" => memory::map(driver, &mut state(), &mut args, false),
        "CREATE_QUEUE" => queue::create(driver, &mut args),
        "DESTROY_QUEUE" => queue::destroy(driver, &args),
        "UPDATE_QUEUE" => queue::update(driver, &args),
        "SET_CU_MASK" => queue::cu_mask(&state(), &args),
        "ALLOC_QUEUE_GWS" => queue::gws(&mut state(), &mut args),
        "GET_DMABUF_INFO" => share::info(driver, &mut state(), &mut args),
        "IMPORT_DMABUF" => share::import(driver, &mut state(), &mut args),
        "EXPORT_DMABUF" => share::export(&mut state(), &mut args),
        "SMI_EVENTS" => share::smi(driver, &mut state(), &mut args),
        "CREATE_EVENT" => event::create(driver, &mut args),
        "DESTROY_EVENT" => driver.shared.events.destroy(args.u32(0)),
        "SET_EVENT" => driver.shared.events.set(args.u32(0)),
        "RESET_EVENT" => driver.shared.events.reset(args.u32(0)),
        "WAIT_EVENTS" => event::wait(driver, &mut args),
        _ => return Answer::Lacks(format!("kfd ioctl {name}"), Errno::EINVAL),
    };
    if cmd & OUT == 0 {
        return Answer::Done(r.map(|()| 0));
    }
    // KFD copies the struct back also after an error.
    let copied = user::write(arg, &args.bytes[..n]);
    let rest = theirs.saturating_sub(size).min(4096);
    let cleared = user::write(arg.wrapping_add(size as u64), &vec![0; rest]);
    Answer::Done(r.and(copied).and(cleared).map(|()| 0))
}

/// The GPU of that id, as an index.
fn gpu(driver: &Driver, id: u32) -> Result<usize, Errno> {
    driver.gpus.iter().position(|g| g.gpu_id() == id).ok_or(Errno::EINVAL)
}
