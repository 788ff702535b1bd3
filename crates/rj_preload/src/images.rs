//! Code for another GPU: a runtime drops a fat binary without code for its GPU in silence, before the driver sees
//! anything, and the program's launches fail. So the loaded images are looked at and the user is told.
//!
//! The program itself is looked at when it opens the GPU, libraries at the end of a process that ran no kernel.

use crate::{state::State, sys};
use rj_code::TargetId;
use rj_vm::TraceLevel;
use std::ffi::{CStr, OsStr};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Looks at the program's own file.
pub fn program(state: &State) {
    tell(state, Path::new("/proc/self/exe"));
}

/// Looks at the libraries that are loaded now.
pub fn libraries(state: &State) {
    for path in loaded() {
        tell(state, &path);
    }
}

fn tell(state: &State, path: &Path) {
    let Some(gpu) = state.process.gpu() else { return };
    let Some(file) = Mapped::open(path) else { return };
    let odd: Vec<Vec<TargetId>> =
        rj_code::built_for(file.bytes()).into_iter().filter(|b| !b.iter().any(|t| t.fits(gpu.target))).collect();
    let mut built: Vec<String> = odd.iter().flatten().map(TargetId::to_string).collect();
    built.sort();
    built.dedup();
    if built.is_empty() {
        return;
    }
    let name = std::fs::read_link(path).unwrap_or_else(|_| path.into());
    let target = gpu.target.name();
    let fitting: Vec<&str> = rj_hw::all()
        .iter()
        .filter(|g| odd.iter().all(|b| b.iter().any(|t| t.fits(g.target))))
        .map(|g| g.key.as_str())
        .collect();
    let profile = match fitting.as_slice() {
        [] => "no profile fits it".to_string(),
        some => format!("or run it with a profile that fits: {}", some.join(", ")),
    };
    for line in [
        format!("{}: GPU code for {} only, the emulated GPU is {target}", name.display(), built.join(", ")),
        format!("  the runtime drops such code; build it with --offload-arch={target}, {profile}"),
    ] {
        sys::say(&line);
    }
    state.process.trace(TraceLevel::Fault, &format!("code object arch mismatch: {} != {target}", built.join(",")));
}

/// Paths of the loaded libraries.
fn loaded() -> Vec<PathBuf> {
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the loader passes a valid entry, `loaded` its own Vec.
        let (name, found) = unsafe { ((*info).dlpi_name, &mut *found.cast::<Vec<PathBuf>>()) };
        if !name.is_null() {
            // SAFETY: the loader's names are C strings.
            let name = unsafe { CStr::from_ptr(name) }.to_bytes();
            // The program itself has an empty name.
            if !name.is_empty() {
                found.push(Path::new(OsStr::from_bytes(name)).into());
            }
        }
        0
    }
    let mut found: Vec<PathBuf> = Vec::new();
    // SAFETY: the callback matches, and `found` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), std::ptr::from_mut(&mut found).cast()) };
    found
}

/// A file, mapped: of a large library only the headers are read.
struct Mapped {
    at: *const u8,
    len: usize,
}

impl Mapped {
    fn open(path: &Path) -> Option<Mapped> {
        let file = std::fs::File::open(path).ok()?;
        let len = usize::try_from(file.metadata().ok()?.len()).ok().filter(|&n| n > 0)?;
        let (prot, flags) = (libc::PROT_READ as usize, libc::MAP_PRIVATE as usize);
        // SAFETY: a mapping of our own, at a free place.
        let at = unsafe { sys::call(libc::SYS_mmap, [0, len, prot, flags, file.as_raw_fd() as usize, 0]) };
        (at > 0).then(|| Mapped { at: at as *const u8, len })
    }

    /// A file that shrinks meanwhile would end the process: loaded images do not.
    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped for `len` bytes until dropped.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: our own mapping; `bytes` does not outlive it.
        unsafe { sys::call(libc::SYS_munmap, [self.at as usize, self.len, 0, 0, 0, 0]) };
    }
}
