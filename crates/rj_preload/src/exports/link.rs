//! Links, canonical paths and the working directory: answers name claimed paths, never the tree behind them.

use super::export;
use crate::claims::{self, claim};
use crate::next::next;
use crate::{init, sys, tree};
use libc::{AT_FDCWD, c_char, c_int, size_t, ssize_t};
use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

type Path = *const c_char;

unsafe fn readlink_any(dirfd: c_int, path: Path, buf: *mut c_char, len: size_t) -> ssize_t {
    // SAFETY: the program's C string.
    let c = unsafe { claim(dirfd, path) };
    let (dirfd, path) = c.as_ref().map_or((dirfd, path), |c| (AT_FDCWD, c.real.as_ptr()));
    let Some(tree) = tree::ready() else {
        // SAFETY: as given.
        return unsafe {
            next!(readlinkat: fn(c_int, Path, *mut c_char, size_t) -> ssize_t, (dirfd, path, buf, len) else -1)
        };
    };
    // The real answer may be longer than the claimed one, so it goes through a buffer of our own.
    let mut whole = [0u8; 4096];
    let args = [dirfd as usize, path as usize, whole.as_mut_ptr() as usize, whole.len(), 0, 0];
    // SAFETY: a C string and a buffer of that length.
    let n = unsafe { sys::c_call(libc::SYS_readlinkat, args) };
    let Ok(n) = usize::try_from(n) else {
        if sys::errno() == libc::ENOENT
            && let Some(c) = &c
        {
            c.missing();
        }
        return -1;
    };
    let text = tree.claimed(&whole[..n]).unwrap_or(&whole[..n]);
    let n = text.len().min(len);
    // SAFETY: the program's buffer has `len` bytes.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buf.cast(), n) };
    n as ssize_t
}

/// Takes the tree's root off the front of a C string, in place.
pub unsafe fn strip(text: *mut c_char) {
    let Some(tree) = tree::ready() else { return };
    // SAFETY: the caller's C string, writable.
    unsafe {
        let bytes = CStr::from_ptr(text).to_bytes();
        if let Some(rest) = tree.claimed(bytes) {
            let n = rest.len();
            std::ptr::copy(rest.as_ptr(), text.cast::<u8>(), n + 1);
        }
    }
}

unsafe fn realpath_any(path: Path, resolved: *mut c_char) -> *mut c_char {
    // SAFETY: the program's arguments.
    unsafe {
        let c = claim(AT_FDCWD, path);
        let path = c.as_ref().map_or(path, |c| c.real.as_ptr());
        let p = next!(realpath: fn(Path, *mut c_char) -> *mut c_char, (path, resolved) else null_mut());
        if !p.is_null() {
            strip(p);
        } else if sys::errno() == libc::ENOENT
            && let Some(c) = c
        {
            c.missing();
        }
        p
    }
}

unsafe fn getcwd_any(got: *mut c_char) -> *mut c_char {
    if !got.is_null() {
        // SAFETY: libc returned a C string.
        let bytes = unsafe { CStr::from_ptr(got) }.to_bytes();
        // A directory of the tree may be inherited from the parent.
        if init::RUNTIME_DIR.get().is_some_and(|dir| bytes.starts_with(dir.as_os_str().as_bytes()))
            && let Some(tree) = tree::get()
            && tree.claimed(bytes).is_some()
        {
            claims::INSIDE.store(true, Ordering::Relaxed);
        }
        // SAFETY: as above.
        unsafe { strip(got) };
    }
    got
}

export! {
    fn readlink(path: Path, buf: *mut c_char, len: size_t) -> ssize_t {
        // SAFETY: libc's contract.
        unsafe { readlink_any(AT_FDCWD, path, buf, len) }
    }
    fn readlinkat(dirfd: c_int, path: Path, buf: *mut c_char, len: size_t) -> ssize_t {
        // SAFETY: libc's contract.
        unsafe { readlink_any(dirfd, path, buf, len) }
    }
    fn __readlink_chk(path: Path, buf: *mut c_char, len: size_t, have: size_t) -> ssize_t {
        // SAFETY: libc's contract.
        unsafe { readlink_any(AT_FDCWD, path, buf, len.min(have)) }
    }
    fn __readlinkat_chk(dirfd: c_int, path: Path, buf: *mut c_char, len: size_t, have: size_t) -> ssize_t {
        // SAFETY: libc's contract.
        unsafe { readlink_any(dirfd, path, buf, len.min(have)) }
    }
    fn realpath(path: Path, resolved: *mut c_char) -> *mut c_char {
        // SAFETY: libc's contract.
        unsafe { realpath_any(path, resolved) }
    }
    fn __realpath_chk(path: Path, resolved: *mut c_char, _have: size_t) -> *mut c_char {
        // SAFETY: libc's contract.
        unsafe { realpath_any(path, resolved) }
    }
    fn canonicalize_file_name(path: Path) -> *mut c_char {
        // SAFETY: libc's contract.
        unsafe { realpath_any(path, null_mut()) }
    }
    fn chdir(path: Path) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            let Some(c) = claim(AT_FDCWD, path) else {
                return next!(chdir: fn(Path) -> c_int, (path) else -1);
            };
            let r = next!(chdir: fn(Path) -> c_int, (c.real.as_ptr()) else -1);
            if r == 0 {
                claims::INSIDE.store(true, Ordering::Relaxed);
            }
            r
        }
    }
    fn fchdir(fd: c_int) -> c_int {
        if tree::ready().is_some() {
            claims::INSIDE.store(true, Ordering::Relaxed);
        }
        // SAFETY: an integer.
        unsafe { next!(fchdir: fn(c_int) -> c_int, (fd) else -1) }
    }
    fn getcwd(buf: *mut c_char, len: size_t) -> *mut c_char {
        // SAFETY: libc's contract.
        unsafe { getcwd_any(next!(getcwd: fn(*mut c_char, size_t) -> *mut c_char, (buf, len) else null_mut())) }
    }
    fn __getcwd_chk(buf: *mut c_char, len: size_t, have: size_t) -> *mut c_char {
        // SAFETY: libc's contract.
        unsafe {
            let len = len.min(have);
            getcwd_any(next!(getcwd: fn(*mut c_char, size_t) -> *mut c_char, (buf, len) else null_mut()))
        }
    }
    fn get_current_dir_name() -> *mut c_char {
        // SAFETY: no arguments.
        unsafe { getcwd_any(next!(get_current_dir_name: fn() -> *mut c_char, () else null_mut())) }
    }
}
