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
    map_shared_at(fd, len, 0)
}

/// The same, of a part of the file.
pub fn map_shared_at(fd: RawFd, len: u64, off: u64) -> Result<usize, Errno> {
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE);
    let len = usize::try_from(len).map_err(|_| Errno::ENOMEM)?;
    // SAFETY: no MAP_FIXED: the kernel picks a free place.
    let at = unsafe { mmap(0, len, prot, flags, fd, off)? };
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

/// Opens a path.
pub fn open(path: &std::ffi::CStr, flags: i32) -> Result<OwnedFd, Errno> {
    // SAFETY: the path is a C string; the result is a new fd or -1.
    let fd = check(unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0) })?;
    // SAFETY: a new fd that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// What a symbolic link says, if it fits.
pub fn read_link(path: &std::ffi::CStr) -> Result<String, Errno> {
    let mut b = [0u8; 512];
    // SAFETY: the path is a C string, `b` has the length given.
    let n =
        check(unsafe { libc::syscall(libc::SYS_readlinkat, libc::AT_FDCWD, path.as_ptr(), b.as_mut_ptr(), b.len()) })?;
    Ok(String::from_utf8_lossy(&b[..n]).into_owned())
}

/// The names in a directory.
pub fn names(path: &std::ffi::CStr) -> Result<Vec<String>, Errno> {
    use std::os::fd::AsRawFd;
    let dir = open(path, libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC)?;
    let (mut b, mut found) = ([0u8; 4096], Vec::new());
    loop {
        // SAFETY: `b` has the length given.
        let n = check(unsafe { libc::syscall(libc::SYS_getdents64, dir.as_raw_fd(), b.as_mut_ptr(), b.len()) })?;
        if n == 0 {
            return Ok(found);
        }
        // struct linux_dirent64: record length at 16, the name from 19 on, ended by a zero.
        let mut rest = &b[..n];
        while rest.len() > 19 {
            let len = usize::from(u16::from_le_bytes([rest[16], rest[17]])).clamp(20, rest.len());
            let name = rest[19..len].split(|c| *c == 0).next().unwrap_or_default();
            found.push(String::from_utf8_lossy(name).into_owned());
            rest = &rest[len..];
        }
    }
}

/// The number of a file within its file system.
pub fn inode(fd: RawFd) -> Result<u64, Errno> {
    let mut st = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `st` has room for a stat, which x86-64 Linux and libc lay out alike.
    check(unsafe { libc::syscall(libc::SYS_fstat, fd, st.as_mut_ptr()) })?;
    // SAFETY: filled in.
    Ok(unsafe { st.assume_init() }.st_ino)
}

/// Reads at the start of a file; how many bytes there were.
pub fn read_start(fd: RawFd, to: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: `to` is valid for its length.
    check(unsafe { libc::syscall(libc::SYS_pread64, fd, to.as_mut_ptr(), to.len(), 0) })
}

/// Writes at the start of a file.
pub fn write_start(fd: RawFd, from: &[u8]) -> Result<(), Errno> {
    // SAFETY: `from` is valid for its length.
    check(unsafe { libc::syscall(libc::SYS_pwrite64, fd, from.as_ptr(), from.len(), 0) }).map(|_| ())
}

/// A connected pair of stream sockets that never block.
pub fn sockets() -> Result<(OwnedFd, OwnedFd), Errno> {
    let mut pair = [-1i32; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: `pair` has room for two fds.
    check(unsafe { libc::syscall(libc::SYS_socketpair, libc::AF_UNIX, kind, 0, pair.as_mut_ptr()) })?;
    // SAFETY: new fds that nobody else has.
    Ok(unsafe { (OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1])) })
}

/// The other end of a socket is closed.
pub fn hung_up(fd: RawFd) -> bool {
    let mut p = libc::pollfd { fd, events: 0, revents: 0 };
    // SAFETY: one valid pollfd.
    let n = check(unsafe { libc::syscall(libc::SYS_poll, &raw mut p, 1, 0) });
    n == Ok(1) && p.revents & libc::POLLHUP != 0
}

/// Takes a mapping of our own away again.
pub fn unmap(at: usize, len: u64) {
    // SAFETY: the caller made this mapping with [`map_shared`] and nothing uses it any more.
    unsafe { libc::syscall(libc::SYS_munmap, at, len) };
}

/// All of the range is mapped, by whatever.
pub fn mapped(at: u64, len: u64) -> bool {
    // SAFETY: MS_ASYNC changes nothing; the kernel only walks its list of mappings.
    unsafe { libc::syscall(libc::SYS_msync, at, len, libc::MS_ASYNC) == 0 }
}

/// Opens a file to append to, made for its owner alone if it is not there.
pub fn append(path: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
    // SAFETY: the path is a C string; the result is a new fd or -1.
    let fd = check(unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0o600) })?;
    // SAFETY: a new fd that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Writes all of `text` to standard error.
pub fn stderr(text: &str) {
    write_all(2, text);
}

/// Writes all of `text`, as far as the file takes it.
pub fn write_all(fd: RawFd, text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: `rest` is valid for its length.
        match check(unsafe { libc::syscall(libc::SYS_write, fd, rest.as_ptr(), rest.len()) }) {
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

/// An eventfd that never blocks.
pub fn event() -> Result<OwnedFd, Errno> {
    // SAFETY: touches no memory; the result is a new fd or -1.
    let fd = check(unsafe { libc::syscall(libc::SYS_eventfd2, 0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: a new fd that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Makes an eventfd readable.
pub fn set_event(fd: RawFd) {
    let one = 1u64;
    // SAFETY: eight valid bytes.
    unsafe { libc::syscall(libc::SYS_write, fd, &raw const one, 8) };
}

/// Makes an eventfd unreadable.
pub fn clear_event(fd: RawFd) {
    let mut n = 0u64;
    // SAFETY: eight valid bytes.
    unsafe { libc::syscall(libc::SYS_read, fd, &raw mut n, 8) };
}

/// Waits until one of the fds can be read; false if the time was over first.
pub fn wait_readable(fds: [RawFd; 2], longest: std::time::Duration) -> bool {
    let mut p = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let t = libc::timespec {
        tv_sec: libc::time_t::try_from(longest.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(longest.subsec_nanos()),
    };
    // SAFETY: two valid pollfds, a valid time, no signal mask.
    let n = unsafe { libc::syscall(libc::SYS_ppoll, p.as_mut_ptr(), 2, &raw const t, std::ptr::null::<u8>(), 8) };
    n > 0
}

// linux/userfaultfd.h.
const UFFD_USER_MODE_ONLY: i32 = 1;
const UFFD_API: u64 = 0xaa;
/// Faults say that they are writes; shared memory can be write-protected.
const UFFD_FEATURES: u64 = 1 | 1 << 12;
const UFFDIO_API: u64 = 0xc018_aa3f;
const UFFDIO_REGISTER: u64 = 0xc020_aa00;
const UFFDIO_REGISTER_MODE_WP: u64 = 1 << 1;
const UFFDIO_WRITEPROTECT: u64 = 0xc018_aa06;

/// A userfaultfd that can watch stores to shared memory (Linux 5.19).
pub fn userfaults() -> Result<OwnedFd, Errno> {
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | UFFD_USER_MODE_ONLY;
    // SAFETY: touches no memory; the result is a new fd or -1.
    let fd = check(unsafe { libc::syscall(libc::SYS_userfaultfd, flags) })?;
    // SAFETY: a new fd that nobody else has.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
    use std::os::fd::AsRawFd;
    uffd(fd.as_raw_fd(), UFFDIO_API, &mut [UFFD_API, UFFD_FEATURES, 0])?;
    Ok(fd)
}

/// Lets a userfaultfd write-protect a mapping.
pub fn watch_writes(fd: RawFd, at: usize, len: usize) -> Result<(), Errno> {
    uffd(fd, UFFDIO_REGISTER, &mut [at as u64, len as u64, UFFDIO_REGISTER_MODE_WP, 0])
}

/// Write-protects a watched mapping, or lets go of it and of the threads that wait to write.
pub fn protect(fd: RawFd, at: usize, len: usize, on: bool) -> Result<(), Errno> {
    uffd(fd, UFFDIO_WRITEPROTECT, &mut [at as u64, len as u64, u64::from(on)])
}

fn uffd(fd: RawFd, command: u64, argument: &mut [u64]) -> Result<(), Errno> {
    // SAFETY: each command's struct has the length that its caller gives.
    check(unsafe { libc::syscall(libc::SYS_ioctl, fd, command, argument.as_mut_ptr()) }).map(|_| ())
}
