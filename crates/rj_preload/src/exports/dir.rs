//! Directories: `opendir`, `scandir`, `glob`, and the type that `readdir` gives a device's entry.

use super::export;
use super::link::strip;
use crate::claims::claim;
use crate::next::next;
use crate::{sys, tree};
use libc::{AT_FDCWD, DIR, c_char, c_int, c_void, dirent64};
use std::ptr::null_mut;

type Path = *const c_char;
type Filter = *const c_void;
type List = *mut *mut *mut dirent64;

/// Entries of the tree that stand for devices look like regular files to the kernel.
unsafe fn entry(e: *mut dirent64) -> *mut dirent64 {
    if let Some(tree) = tree::ready()
        // SAFETY: libc's entry, or null.
        && let Some(e) = unsafe { e.as_mut() }
        && e.d_type == libc::DT_REG
        && tree.is_device_inode(e.d_ino)
    {
        e.d_type = libc::DT_CHR;
    }
    e
}

unsafe fn scan(dirfd: c_int, path: Path, list: List, filter: Filter, order: Filter) -> c_int {
    // SAFETY: the program's arguments; `scandirat` with AT_FDCWD is `scandir`.
    unsafe {
        let c = claim(dirfd, path);
        let (d, p) = c.as_ref().map_or((dirfd, path), |c| (AT_FDCWD, c.real.as_ptr()));
        next!(scandirat: fn(c_int, Path, List, Filter, Filter) -> c_int, (d, p, list, filter, order) else -1)
    }
}

unsafe fn glob_any(pattern: Path, flags: c_int, error: Filter, result: *mut libc::glob_t) -> c_int {
    type Result = *mut libc::glob_t;
    // SAFETY: the program's arguments; on success `gl_pathv` holds `gl_pathc` strings of libc's.
    unsafe {
        let c = claim(AT_FDCWD, pattern);
        let p = c.as_ref().map_or(pattern, |c| c.real.as_ptr());
        let r = next!(glob: fn(Path, c_int, Filter, Result) -> c_int, (p, flags, error, result) else -1);
        if c.is_some() && r == 0 {
            let skip = if flags & libc::GLOB_DOOFFS != 0 { (*result).gl_offs } else { 0 };
            for i in 0..(*result).gl_pathc {
                strip(*(*result).gl_pathv.add(skip + i));
            }
        }
        r
    }
}

export! {
    fn opendir(path: Path) -> *mut DIR {
        // SAFETY: libc's contract.
        unsafe {
            let c = claim(AT_FDCWD, path);
            let p = c.as_ref().map_or(path, |c| c.real.as_ptr());
            let dir = next!(opendir: fn(Path) -> *mut DIR, (p) else null_mut());
            if dir.is_null() && sys::errno() == libc::ENOENT && let Some(c) = c {
                c.missing();
            }
            dir
        }
    }
    fn readdir(dir: *mut DIR) -> *mut dirent64 {
        // SAFETY: libc's contract; dirent and dirent64 are the same on x86-64.
        unsafe { entry(next!(readdir64: fn(*mut DIR) -> *mut dirent64, (dir) else null_mut())) }
    }
    fn readdir64(dir: *mut DIR) -> *mut dirent64 {
        // SAFETY: libc's contract.
        unsafe { entry(next!(readdir64: fn(*mut DIR) -> *mut dirent64, (dir) else null_mut())) }
    }
    fn scandir(path: Path, list: List, filter: Filter, order: Filter) -> c_int {
        // SAFETY: libc's contract.
        unsafe { scan(AT_FDCWD, path, list, filter, order) }
    }
    fn scandir64(path: Path, list: List, filter: Filter, order: Filter) -> c_int {
        // SAFETY: libc's contract.
        unsafe { scan(AT_FDCWD, path, list, filter, order) }
    }
    fn scandirat(dirfd: c_int, path: Path, list: List, filter: Filter, order: Filter) -> c_int {
        // SAFETY: libc's contract.
        unsafe { scan(dirfd, path, list, filter, order) }
    }
    fn scandirat64(dirfd: c_int, path: Path, list: List, filter: Filter, order: Filter) -> c_int {
        // SAFETY: libc's contract.
        unsafe { scan(dirfd, path, list, filter, order) }
    }
    fn glob(pattern: Path, flags: c_int, error: Filter, result: *mut libc::glob_t) -> c_int {
        // SAFETY: libc's contract.
        unsafe { glob_any(pattern, flags, error, result) }
    }
    fn glob64(pattern: Path, flags: c_int, error: Filter, result: *mut libc::glob_t) -> c_int {
        // SAFETY: libc's contract; glob_t and glob64_t are the same on x86-64.
        unsafe { glob_any(pattern, flags, error, result) }
    }
}
