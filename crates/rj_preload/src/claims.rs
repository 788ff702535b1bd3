//! From a path as the program gives it to the real path that answers it.

use crate::tree::{self, Device, Tree};
use crate::{normal, sys};
use libc::{c_char, c_int};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A path that the driver answers.
pub struct Claim {
    /// The tree.
    pub tree: &'static Tree,
    /// Path of the real file.
    pub real: CString,
}

impl Claim {
    /// The claimed path, as the program knows it.
    pub fn name(&self) -> &[u8] {
        self.tree.claimed(self.real.to_bytes()).unwrap_or_default()
    }

    /// The device that the path names, if it names one.
    pub fn device(&self) -> Option<Device> {
        if !self.name().starts_with(b"/dev/") {
            return None;
        }
        let st = stat_real(&self.real)?;
        self.tree.device(st.st_dev, st.st_ino)
    }

    /// Notes that the program looked for something that the driver does not have. Device nodes are not noted: we have
    /// all that the machine has, and libdrm asks for the card of each render node's minor to tell the kinds apart.
    pub fn missing(&self) {
        let Ok(name) = std::str::from_utf8(self.name()) else { return };
        if name.starts_with("/dev/dri/") {
            return;
        }
        let mut all = MISSING.lock().unwrap_or_else(|e| e.into_inner());
        if all.len() < 256 {
            all.insert(name.to_owned());
        }
    }
}

static MISSING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
/// The working directory is (or was) in the tree.
pub static INSIDE: AtomicBool = AtomicBool::new(false);

/// Claimed paths that do not exist, at most 256 of them.
pub fn missing_paths() -> BTreeSet<String> {
    MISSING.lock().unwrap_or_else(|e| e.into_inner()).clone()
}

/// The claim on `path`, relative to `dirfd` (AT_FDCWD: the working directory), if it is ours.
///
/// # Safety
/// `path` is null or a C string.
#[inline]
pub unsafe fn claim(dirfd: c_int, path: *const c_char) -> Option<Claim> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller's C string.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    if path.first() == Some(&b'/') {
        if !normal::candidate(path) {
            return None;
        }
        return absolute(tree::get()?, path);
    }
    // Relative paths matter only from a directory of the tree.
    let tree = tree::ready()?;
    if path.is_empty() || (dirfd == libc::AT_FDCWD && !INSIDE.load(Ordering::Relaxed)) {
        return None;
    }
    relative(tree, dirfd, path)
}

#[cold]
fn absolute(tree: &'static Tree, path: &[u8]) -> Option<Claim> {
    let real = CString::new(tree.redirect(path)?).ok()?;
    Some(Claim { tree, real })
}

#[cold]
fn relative(tree: &'static Tree, dirfd: c_int, path: &[u8]) -> Option<Claim> {
    let link = if dirfd == libc::AT_FDCWD { c"/proc/self/cwd".into() } else { fd_link(dirfd) };
    let mut buf = [0u8; 4096];
    let base = read_link(&link, &mut buf)?;
    tree.claimed(base)?;
    let real = CString::new([base, b"/", path].concat()).ok()?;
    Some(Claim { tree, real })
}

/// `/proc/self/fd/N`.
pub fn fd_link(fd: c_int) -> CString {
    CString::new(format!("/proc/self/fd/{fd}")).unwrap_or_default()
}

/// `readlink(2)`.
pub fn read_link<'a>(path: &CStr, buf: &'a mut [u8]) -> Option<&'a [u8]> {
    let args = [libc::AT_FDCWD as usize, path.as_ptr() as usize, buf.as_mut_ptr() as usize, buf.len(), 0, 0];
    // SAFETY: a C string and a buffer of that length.
    let n = unsafe { sys::call(libc::SYS_readlinkat, args) };
    buf.get(..usize::try_from(n).ok()?)
}

/// `stat(2)` of a real path.
pub fn stat_real(path: &CStr) -> Option<libc::stat> {
    let mut st = std::mem::MaybeUninit::<libc::stat>::uninit();
    let args = [libc::AT_FDCWD as usize, path.as_ptr() as usize, st.as_mut_ptr() as usize, 0, 0, 0];
    // SAFETY: a C string and room for the result, which is filled on success.
    unsafe { (sys::call(libc::SYS_newfstatat, args) == 0).then(|| st.assume_init()) }
}

/// `fstat(2)`.
pub fn stat_fd(fd: c_int) -> Option<libc::stat> {
    let mut st = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: room for the result, which is filled on success.
    unsafe {
        (sys::call(libc::SYS_fstat, [fd as usize, st.as_mut_ptr() as usize, 0, 0, 0, 0]) == 0).then(|| st.assume_init())
    }
}
