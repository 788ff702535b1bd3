//! System calls that must not reach the program's (or our own interposed) libc symbols.

use crate::Errno;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

fn check(r: libc::c_long) -> Result<usize, Errno> {
    if r == -1 { Err(Errno::last()) } else { Ok(r.cast_unsigned() as usize) }
}

/// A memfd of `len` bytes, all holes.
pub fn memfd(name: &std::ffi::CStr, len: u64) -> Result<OwnedFd, Errno> {
    // SAFETY: the name is a C string; the result is a new fd or -1.
    let fd = check(unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), libc::MFD_CLOEXEC) })?;
    // SAFETY: a new fd that nobody else has.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
    use std::os::fd::AsRawFd;
    // SAFETY: touches no memory.
    check(unsafe { libc::syscall(libc::SYS_ftruncate, fd.as_raw_fd(), len) })?;
    Ok(fd)
}

/// `mmap(2)`.
///
/// # Safety
/// With MAP_FIXED whatever was mapped there must be the caller's to replace.
pub unsafe fn mmap(addr: usize, len: usize, prot: i32, flags: i32, fd: RawFd, off: u64) -> Result<usize, Errno> {
    // SAFETY: the caller's.
    check(unsafe { libc::syscall(libc::SYS_mmap, addr, len, prot, flags, fd, off) })
}

/// A shared mapping of our own, which a fork's child does not inherit.
pub fn map_shared(fd: RawFd, len: u64) -> Result<usize, Errno> {
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE);
    let len = usize::try_from(len).map_err(|_| Errno::ENOMEM)?;
    // SAFETY: no MAP_FIXED: the kernel picks a free place.
    let at = unsafe { mmap(0, len, prot, flags, fd, 0)? };
    // SAFETY: the range was just mapped.
    unsafe { libc::syscall(libc::SYS_madvise, at, len, libc::MADV_DONTFORK) };
    Ok(at)
}

/// Gives the pages of a range back; it reads as zeros afterwards.
pub fn punch(fd: RawFd, off: u64, len: u64) -> Result<(), Errno> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: touches no memory of the process.
    check(unsafe { libc::syscall(libc::SYS_fallocate, fd, mode, off, len) }).map(|_| ())
}

/// Writes all of `text` to standard error.
pub fn stderr(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: `rest` is valid for its length.
        match check(unsafe { libc::syscall(libc::SYS_write, 2, rest.as_ptr(), rest.len()) }) {
            Ok(n) if n > 0 => rest = &rest[n.min(rest.len())..],
            Err(Errno(libc::EINTR)) => {}
            _ => return,
        }
    }
}

/// Nanoseconds of a clock.
pub fn clock_ns(clock: i32) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid to write.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_nsec.cast_unsigned()
}

/// The GPU's 100 MHz clock, never 0.
pub fn gpu_clock() -> u64 {
    (clock_ns(libc::CLOCK_MONOTONIC_RAW) / 10).max(1)
}
