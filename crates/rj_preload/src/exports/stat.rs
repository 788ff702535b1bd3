//! `stat`, `statx` and `access` in all their variants: a device's file says that it is a character device.

use super::export;
use crate::claims::{Claim, claim};
use crate::next::next;
use crate::{sys, tree};
use libc::{AT_FDCWD, c_char, c_int, c_uint, stat as Stat, statx as Statx};

/// Makes the stat of a device's file that of the device.
unsafe fn patch(result: c_int, st: *mut Stat) -> c_int {
    if result == 0
        && let Some(tree) = tree::ready()
    {
        // SAFETY: libc filled it.
        let st = unsafe { &mut *st };
        if let Some(d) = tree.device(st.st_dev, st.st_ino) {
            st.st_mode = libc::S_IFCHR | 0o666;
            st.st_rdev = libc::makedev(d.major, d.minor);
        }
    }
    result
}

unsafe fn patch_x(result: c_int, st: *mut Statx) -> c_int {
    if result == 0
        && let Some(tree) = tree::ready()
    {
        // SAFETY: libc filled it.
        let st = unsafe { &mut *st };
        if let Some(d) = tree.device(libc::makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino) {
            st.stx_mode = (libc::S_IFCHR | 0o666) as u16;
            (st.stx_rdev_major, st.stx_rdev_minor) = (d.major, d.minor);
        }
    }
    result
}

/// Notes a claimed path that does not exist.
fn noted(c: Option<&Claim>, result: c_int) -> c_int {
    if result < 0
        && let Some(c) = c
        && sys::errno() == libc::ENOENT
    {
        c.missing();
    }
    result
}

/// Redirects (dirfd, path), calls, notes.
macro_rules! redirected {
    ($dirfd:expr, $path:ident, |$d:ident, $p:ident| $call:expr) => {{
        // SAFETY: the program's C string.
        #[allow(unused_unsafe)]
        let c = unsafe { claim($dirfd, $path) };
        let ($d, $p) = match &c {
            Some(c) => (AT_FDCWD, c.real.as_ptr()),
            None => ($dirfd, $path),
        };
        let _ = $d;
        noted(c.as_ref(), $call)
    }};
}

type Path = *const c_char;

export! {
    fn stat(path: Path, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe { redirected!(AT_FDCWD, path, |d, p| patch(next!(stat: fn(Path, *mut Stat) -> c_int, (p, st) else -1), st)) }
    }
    fn stat64(path: Path, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe { redirected!(AT_FDCWD, path, |d, p| patch(next!(stat64: fn(Path, *mut Stat) -> c_int, (p, st) else -1), st)) }
    }
    fn lstat(path: Path, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe { redirected!(AT_FDCWD, path, |d, p| patch(next!(lstat: fn(Path, *mut Stat) -> c_int, (p, st) else -1), st)) }
    }
    fn lstat64(path: Path, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe { redirected!(AT_FDCWD, path, |d, p| patch(next!(lstat64: fn(Path, *mut Stat) -> c_int, (p, st) else -1), st)) }
    }
    fn fstat(fd: c_int, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe { patch(next!(fstat: fn(c_int, *mut Stat) -> c_int, (fd, st) else -1), st) }
    }
    fn fstat64(fd: c_int, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe { patch(next!(fstat64: fn(c_int, *mut Stat) -> c_int, (fd, st) else -1), st) }
    }
    fn fstatat(dirfd: c_int, path: Path, st: *mut Stat, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(dirfd, path, |d, p| {
                patch(next!(fstatat: fn(c_int, Path, *mut Stat, c_int) -> c_int, (d, p, st, flags) else -1), st)
            })
        }
    }
    fn fstatat64(dirfd: c_int, path: Path, st: *mut Stat, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(dirfd, path, |d, p| {
                patch(next!(fstatat64: fn(c_int, Path, *mut Stat, c_int) -> c_int, (d, p, st, flags) else -1), st)
            })
        }
    }
    fn __xstat(version: c_int, path: Path, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(AT_FDCWD, path, |d, p| {
                patch(next!(__xstat: fn(c_int, Path, *mut Stat) -> c_int, (version, p, st) else -1), st)
            })
        }
    }
    fn __xstat64(version: c_int, path: Path, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(AT_FDCWD, path, |d, p| {
                patch(next!(__xstat64: fn(c_int, Path, *mut Stat) -> c_int, (version, p, st) else -1), st)
            })
        }
    }
    fn __lxstat(version: c_int, path: Path, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(AT_FDCWD, path, |d, p| {
                patch(next!(__lxstat: fn(c_int, Path, *mut Stat) -> c_int, (version, p, st) else -1), st)
            })
        }
    }
    fn __lxstat64(version: c_int, path: Path, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(AT_FDCWD, path, |d, p| {
                patch(next!(__lxstat64: fn(c_int, Path, *mut Stat) -> c_int, (version, p, st) else -1), st)
            })
        }
    }
    fn __fxstat(version: c_int, fd: c_int, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe { patch(next!(__fxstat: fn(c_int, c_int, *mut Stat) -> c_int, (version, fd, st) else -1), st) }
    }
    fn __fxstat64(version: c_int, fd: c_int, st: *mut Stat) -> c_int {
        // SAFETY: libc's contract.
        unsafe { patch(next!(__fxstat64: fn(c_int, c_int, *mut Stat) -> c_int, (version, fd, st) else -1), st) }
    }
    fn __fxstatat(version: c_int, dirfd: c_int, path: Path, st: *mut Stat, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(dirfd, path, |d, p| {
                type F = *mut Stat;
                patch(next!(__fxstatat: fn(c_int, c_int, Path, F, c_int) -> c_int, (version, d, p, st, flags) else -1), st)
            })
        }
    }
    fn __fxstatat64(version: c_int, dirfd: c_int, path: Path, st: *mut Stat, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(dirfd, path, |d, p| {
                type F = *mut Stat;
                patch(next!(__fxstatat64: fn(c_int, c_int, Path, F, c_int) -> c_int, (version, d, p, st, flags) else -1), st)
            })
        }
    }
    fn statx(dirfd: c_int, path: Path, flags: c_int, mask: c_uint, st: *mut Statx) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(dirfd, path, |d, p| {
                type F = *mut Statx;
                patch_x(next!(statx: fn(c_int, Path, c_int, c_uint, F) -> c_int, (d, p, flags, mask, st) else -1), st)
            })
        }
    }
    fn access(path: Path, mode: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe { redirected!(AT_FDCWD, path, |d, p| next!(access: fn(Path, c_int) -> c_int, (p, mode) else -1)) }
    }
    fn euidaccess(path: Path, mode: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe { redirected!(AT_FDCWD, path, |d, p| next!(euidaccess: fn(Path, c_int) -> c_int, (p, mode) else -1)) }
    }
    fn eaccess(path: Path, mode: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe { redirected!(AT_FDCWD, path, |d, p| next!(eaccess: fn(Path, c_int) -> c_int, (p, mode) else -1)) }
    }
    fn faccessat(dirfd: c_int, path: Path, mode: c_int, flags: c_int) -> c_int {
        // SAFETY: libc's contract.
        unsafe {
            redirected!(dirfd, path, |d, p| {
                next!(faccessat: fn(c_int, Path, c_int, c_int) -> c_int, (d, p, mode, flags) else -1)
            })
        }
    }
}
