//! `open` and `fopen` in all their variants.

use super::export;
use crate::claims::{Claim, claim};
use crate::next::{Next, next};
use crate::tree::Device;
use crate::{state, sys};
use libc::{AT_FDCWD, FILE, c_char, c_int, mode_t};
use std::ptr::null_mut;

static OPEN: Next = Next::new(c"open64");
static OPENAT: Next = Next::new(c"openat64");

pub fn warm_up() {
    OPEN.get();
    OPENAT.get();
}

type Openat = unsafe extern "C" fn(c_int, *const c_char, c_int, ...) -> c_int;
type Open = unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int;

unsafe fn open_any(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the program's C string; the next function has `open`'s type.
    unsafe {
        if let Some(c) = claim(AT_FDCWD, path) {
            return claimed(&c, flags);
        }
        let p = OPEN.get();
        if p.is_null() {
            return raw(AT_FDCWD, path, flags, mode);
        }
        std::mem::transmute::<*mut libc::c_void, Open>(p)(path, flags, mode)
    }
}

unsafe fn openat_any(dirfd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: as in `open_any`.
    unsafe {
        if let Some(c) = claim(dirfd, path) {
            return claimed(&c, flags);
        }
        let p = OPENAT.get();
        if p.is_null() {
            return raw(dirfd, path, flags, mode);
        }
        std::mem::transmute::<*mut libc::c_void, Openat>(p)(dirfd, path, flags, mode)
    }
}

unsafe fn raw(dirfd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let args = [dirfd as usize, path as usize, flags as usize, mode as usize, 0, 0];
    // SAFETY: the caller's C string.
    unsafe { sys::c_call(libc::SYS_openat, args) as c_int }
}

const WRITES: c_int = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;

fn claimed(c: &Claim, flags: c_int) -> c_int {
    if flags & libc::O_PATH == 0 {
        if let Some(device) = c.device() {
            return open_device(c, device, flags);
        }
        if flags & WRITES != 0 {
            return refuse_writing(c);
        }
    }
    // SAFETY: a C string.
    let fd = unsafe { raw(AT_FDCWD, c.real.as_ptr(), flags, 0) };
    if fd < 0 && sys::errno() == libc::ENOENT {
        c.missing();
    }
    fd
}

/// The driver's files are not writable; sysfs says EACCES to root as well.
fn refuse_writing(c: &Claim) -> c_int {
    if crate::claims::stat_real(&c.real).is_none() {
        c.missing();
        return sys::fail(libc::ENOENT);
    }
    sys::fail(libc::EACCES)
}

fn open_device(c: &Claim, device: Device, flags: c_int) -> c_int {
    if flags & libc::O_DIRECTORY != 0 {
        return sys::fail(libc::ENOTDIR);
    }
    if flags & (libc::O_CREAT | libc::O_EXCL) == libc::O_CREAT | libc::O_EXCL {
        return sys::fail(libc::EEXIST);
    }
    let opened = state::open(c.tree).and_then(|state| {
        let file = if device.major == rj_kmd::sysfs::KFD_MAJOR {
            state.process.open_kfd()
        } else {
            state.process.open_render(device.minor)
        }?;
        Ok((state, file))
    });
    let (state, file) = match opened {
        Ok(both) => both,
        Err(e) => return sys::fail(e.0),
    };
    // SAFETY: a C string.
    let fd = unsafe { raw(AT_FDCWD, c.real.as_ptr(), libc::O_PATH | flags & libc::O_CLOEXEC, 0) };
    if fd < 0 {
        let e = sys::errno();
        state.process.close(file);
        return sys::fail(e);
    }
    state.fds.add(fd, file, &state.process);
    fd
}

unsafe fn fopen_any(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the program's C strings.
    unsafe {
        let Some(c) = claim(AT_FDCWD, path) else {
            return next!(fopen64: fn(*const c_char, *const c_char) -> *mut FILE, (path, mode) else null_mut());
        };
        if !reads_only(mode) {
            refuse_writing(&c);
            return null_mut();
        }
        let f = next!(fopen64: fn(*const c_char, *const c_char) -> *mut FILE, (c.real.as_ptr(), mode) else null_mut());
        if f.is_null() && sys::errno() == libc::ENOENT {
            c.missing();
        }
        f
    }
}

unsafe fn freopen_any(path: *const c_char, mode: *const c_char, file: *mut FILE) -> *mut FILE {
    type Path = *const c_char;
    // SAFETY: the program's arguments.
    unsafe {
        let c = claim(AT_FDCWD, path);
        if let Some(c) = &c
            && !reads_only(mode)
        {
            refuse_writing(c);
            return null_mut();
        }
        let path = c.as_ref().map_or(path, |c| c.real.as_ptr());
        next!(freopen64: fn(Path, Path, *mut FILE) -> *mut FILE, (path, mode, file) else null_mut())
    }
}

unsafe fn reads_only(mode: *const c_char) -> bool {
    // SAFETY: fopen's mode is a C string.
    let mode = unsafe { std::ffi::CStr::from_ptr(mode) }.to_bytes();
    mode.first() == Some(&b'r') && !mode.contains(&b'+')
}

export! {
    fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { open_any(path, flags, mode) }
    }
    fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { open_any(path, flags | libc::O_LARGEFILE, mode) }
    }
    fn __open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { open_any(path, flags, mode) }
    }
    fn __open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { open_any(path, flags | libc::O_LARGEFILE, mode) }
    }
    fn __open_2(path: *const c_char, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe { open_any(path, flags, 0) }
    }
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe { open_any(path, flags | libc::O_LARGEFILE, 0) }
    }
    fn openat(dirfd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { openat_any(dirfd, path, flags, mode) }
    }
    fn openat64(dirfd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { openat_any(dirfd, path, flags | libc::O_LARGEFILE, mode) }
    }
    fn __openat_2(dirfd: c_int, path: *const c_char, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe { openat_any(dirfd, path, flags, 0) }
    }
    fn __openat64_2(dirfd: c_int, path: *const c_char, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe { openat_any(dirfd, path, flags | libc::O_LARGEFILE, 0) }
    }
    fn creat(path: *const c_char, mode: mode_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { open_any(path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, mode) }
    }
    fn creat64(path: *const c_char, mode: mode_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { open_any(path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC | libc::O_LARGEFILE, mode) }
    }
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
        // SAFETY: libc's contract.
        unsafe { fopen_any(path, mode) }
    }
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
        // SAFETY: libc's contract.
        unsafe { fopen_any(path, mode) }
    }
    fn freopen(path: *const c_char, mode: *const c_char, file: *mut FILE) -> *mut FILE {
        // SAFETY: libc's contract.
        unsafe { freopen_any(path, mode, file) }
    }
    fn freopen64(path: *const c_char, mode: *const c_char, file: *mut FILE) -> *mut FILE {
        // SAFETY: libc's contract.
        unsafe { freopen_any(path, mode, file) }
    }
}
