//! ioctl, mmap and memory shared with the GPU: all of the demo that is `unsafe`. It knows no structure of the driver's.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Which way an ioctl's argument goes (asm-generic/ioctl.h).
#[derive(Clone, Copy, Debug)]
pub enum Direction {
    /// To the driver.
    To = 1,
    /// From the driver.
    From = 2,
    /// Both.
    Both = 3,
}

/// ioctl `nr` of /dev/kfd (type 'K') with an argument of `N` bytes.
pub fn ioctl<const N: usize>(kfd: &File, direction: Direction, nr: u8, arg: &mut [u8; N]) -> io::Result<()> {
    let request = (direction as u64) << 30 | (N as u64) << 16 | u64::from(b'K') << 8 | u64::from(nr);
    loop {
        // SAFETY: the request's size is the argument's; pointers inside it are the caller's live buffers.
        let result = unsafe { libc::ioctl(kfd.as_raw_fd(), request, arg.as_mut_ptr()) };
        if result >= 0 {
            return Ok(());
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
}

/// Memory that the GPU may read and write at any time. Unmapped never: the GPU may use it as long as the process lives.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    base: usize,
    len: usize,
}

impl Mapping {
    /// Reserves addresses and nothing behind them.
    pub fn reserve(len: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at a place that the kernel chooses.
        let p = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        Mapping::from(p, len)
    }

    /// Puts a file's bytes at the reserved addresses.
    pub fn fill(self, file: &File, offset: u64) -> io::Result<Mapping> {
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        let fd = file.as_raw_fd();
        // SAFETY: replaces the reservation that `self` is and nobody else knows.
        let p = unsafe { libc::mmap(self.base as *mut _, self.len, prot, flags, fd, offset.cast_signed()) };
        Mapping::from(p, self.len)
    }

    fn from(p: *mut libc::c_void, len: usize) -> io::Result<Mapping> {
        if p == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Mapping { base: p as usize, len }) }
    }

    /// Address of the first byte, the GPU's and the CPU's.
    pub fn address(&self) -> u64 {
        self.base as u64
    }

    fn at(&self, at: usize, len: usize, align: usize) -> usize {
        assert!(at.checked_add(len).is_some_and(|end| end <= self.len) && at.is_multiple_of(align));
        self.base + at
    }

    /// Copies bytes in.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        let to = self.at(at, bytes.len(), 1) as *mut u8;
        // SAFETY: inside the mapping; no Rust reference to it exists besides those to atomics.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// Copies bytes out.
    pub fn read(&self, at: usize, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let from = self.at(at, len, 1) as *const u8;
        // SAFETY: as for `write`; a GPU that still writes gives stale bytes, not undefined ones, as from a device.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), len) };
        bytes
    }

    /// A quadword that both sides change.
    pub fn atomic(&self, at: usize) -> &AtomicU64 {
        // SAFETY: inside the mapping, aligned, and mapped for good.
        unsafe { AtomicU64::from_ptr(self.at(at, 8, 8) as *mut u64) }
    }

    /// A dword that both sides change.
    pub fn atomic32(&self, at: usize) -> &AtomicU32 {
        // SAFETY: as for `atomic`.
        unsafe { AtomicU32::from_ptr(self.at(at, 4, 4) as *mut u32) }
    }
}
