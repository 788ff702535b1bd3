//! Copying to and from the program's memory by its pointers, as a kernel does: a bad pointer is EFAULT, not a crash.
//!
//! For the few bytes of an ioctl; data of kernels and copies goes through the engine's regions.

use crate::Errno;

/// Fills `to` from the program's address `from`.
pub fn read(from: u64, to: &mut [u8]) -> Result<(), Errno> {
    copy(libc::process_vm_readv, from, to.as_mut_ptr(), to.len())
}

/// Writes `from` to the program's address `to`.
pub fn write(to: u64, from: &[u8]) -> Result<(), Errno> {
    copy(libc::process_vm_writev, to, from.as_ptr().cast_mut(), from.len())
}

type Call = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> isize;

fn copy(call: Call, program: u64, ours: *mut u8, len: usize) -> Result<(), Errno> {
    if len == 0 {
        return Ok(());
    }
    let Ok(program) = usize::try_from(program) else { return Err(Errno::EFAULT) };
    let local = libc::iovec { iov_base: ours.cast(), iov_len: len };
    let remote = libc::iovec { iov_base: program as *mut libc::c_void, iov_len: len };
    // SAFETY: `ours` has `len` bytes; the kernel checks the other address and fails on a bad one.
    let n = unsafe { call(libc::getpid(), &local, 1, &remote, 1, 0) };
    if usize::try_from(n) == Ok(len) { Ok(()) } else { Err(Errno::EFAULT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_pointers_copy_and_bad_ones_are_refused() {
        let mut there = [1u8, 2, 3];
        let mut here = [0u8; 3];
        let at = there.as_mut_ptr() as u64;
        assert_eq!(read(at, &mut here), Ok(()));
        assert_eq!(here, [1, 2, 3]);
        assert_eq!(write(at, &[9, 8, 7]), Ok(()));
        assert_eq!(there, [9, 8, 7]);
        assert_eq!(read(8, &mut here), Err(Errno::EFAULT));
        assert_eq!(write(u64::MAX - 16, &here), Err(Errno::EFAULT));
        assert_eq!(read(0, &mut []), Ok(()));
    }
}
