//! Raw system calls and `errno`. Nothing here touches a libc symbol that this library exports.

use libc::{c_int, c_long};
use std::arch::asm;
use std::ffi::CStr;

/// A system call; the result is the kernel's (negative error number on failure).
///
/// # Safety
/// As the system call: pointers must be what it expects.
#[inline]
pub unsafe fn call(nr: c_long, a: [usize; 6]) -> isize {
    let ret: isize;
    // SAFETY: the caller vouches for the arguments; the kernel clobbers rcx and r11 alone.
    unsafe {
        asm!("syscall", inlateout("rax") nr as isize => ret,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    ret
}

/// Like [`call`], with the result as C has it: −1 and `errno`.
///
/// # Safety
/// As [`call`].
#[inline]
pub unsafe fn c_call(nr: c_long, a: [usize; 6]) -> isize {
    // SAFETY: passed on to the caller.
    let r = unsafe { call(nr, a) };
    if (-4095..0).contains(&r) {
        set_errno(-r as c_int);
        return -1;
    }
    r
}

/// Sets the calling thread's `errno`.
#[inline]
pub fn set_errno(e: c_int) {
    // SAFETY: libc gives every thread an errno.
    unsafe { *libc::__errno_location() = e }
}

/// The calling thread's `errno`.
#[inline]
pub fn errno() -> c_int {
    // SAFETY: as in `set_errno`.
    unsafe { *libc::__errno_location() }
}

/// `errno = e; return -1`.
#[inline]
pub fn fail(e: c_int) -> c_int {
    set_errno(e);
    -1
}

/// Process id, from the kernel: right after fork, vfork and clone.
#[inline]
pub fn getpid() -> i32 {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_getpid, [0; 6]) as i32 }
}

/// Thread id.
#[inline]
pub fn gettid() -> i32 {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_gettid, [0; 6]) as i32 }
}

/// Lets other threads run.
#[inline]
pub fn yield_now() {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_sched_yield, [0; 6]) };
}

/// Anonymous private memory, or none.
pub fn map_anon(len: usize) -> Option<*mut u8> {
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping disturbs nothing.
    let r = unsafe { call(libc::SYS_mmap, [0, len, prot as usize, flags as usize, usize::MAX, 0]) };
    (r > 0).then_some(r as *mut u8)
}

/// One page that the kernel clears in a fork's child (but not in a vfork's, which shares it). Never freed.
pub fn map_wiped_page() -> Option<*mut u8> {
    let page = map_anon(4096)?;
    // SAFETY: the page is ours.
    unsafe { call(libc::SYS_madvise, [page as usize, 4096, libc::MADV_WIPEONFORK as usize, 0, 0, 0]) };
    Some(page)
}

/// A file's bytes, empty if it cannot be read.
pub fn read_file(path: &CStr) -> Vec<u8> {
    let args = [libc::AT_FDCWD as usize, path.as_ptr() as usize, libc::O_CLOEXEC as usize, 0, 0, 0];
    // SAFETY: a C string.
    let fd = unsafe { call(libc::SYS_openat, args) };
    let mut all = Vec::new();
    let mut buf = [0u8; 4096];
    if fd < 0 {
        return all;
    }
    loop {
        // SAFETY: a buffer of that length.
        let n = unsafe { call(libc::SYS_read, [fd as usize, buf.as_mut_ptr() as usize, buf.len(), 0, 0, 0]) };
        match usize::try_from(n) {
            Ok(n) if n > 0 => all.extend_from_slice(&buf[..n]),
            _ => break,
        }
    }
    // SAFETY: our own fd.
    unsafe { call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) };
    all
}

/// Writes one line to the program's stderr: `rocjitsu: …`.
pub fn say(text: &str) {
    let line = format!("rocjitsu: {text}\n");
    // SAFETY: the buffer is valid for its length.
    unsafe { call(libc::SYS_write, [2, line.as_ptr() as usize, line.len(), 0, 0, 0]) };
}
