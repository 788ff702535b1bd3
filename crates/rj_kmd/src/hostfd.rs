//! File descriptors that the engine keeps in the program's process.
//!
//! They live at high numbers, close on exec, and are listed so that rj_preload can protect them from the program's
//! `close`, `closefrom` and `close_range`. The list is fixed in size and lock-free: it is read in odd places.

use crate::Errno;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

const SLOTS: usize = 256;
/// Fds are asked for at or above this, if RLIMIT_NOFILE permits.
const BASE: RawFd = 900;

// A slot holds fd + 1; 0 is free.
static KEPT: [AtomicI32; SLOTS] = [const { AtomicI32::new(0) }; SLOTS];

/// Moves `fd` to a high number, makes it close on exec and lists it. Closing the result must go through [`drop_kept`].
pub fn keep(fd: OwnedFd) -> Result<RawFd, Errno> {
    let mut limit = libc::rlimit { rlim_cur: 1024, rlim_max: 1024 };
    // SAFETY: `limit` is a valid rlimit to write to.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    let top = RawFd::try_from(limit.rlim_cur).unwrap_or(RawFd::MAX);
    let mut high = -1;
    for base in [BASE, top / 2, 3] {
        // SAFETY: `fcntl` with F_DUPFD_CLOEXEC touches no memory.
        high = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, base.min(top - 1)) };
        if high >= 0 {
            break;
        }
    }
    if high < 0 {
        return Err(Errno::last());
    }
    for slot in &KEPT {
        if slot.compare_exchange(0, high + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Ok(high);
        }
    }
    // SAFETY: `high` is ours and nobody else's.
    drop(unsafe { OwnedFd::from_raw_fd(high) });
    Err(Errno(libc::EMFILE))
}

/// Unlists and closes an fd that [`keep`] returned.
pub fn drop_kept(fd: RawFd) {
    for slot in &KEPT {
        if slot.compare_exchange(fd + 1, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            // SAFETY: it was listed, so it is ours and open.
            drop(unsafe { OwnedFd::from_raw_fd(fd) });
            return;
        }
    }
}

/// This fd belongs to the engine.
pub fn is_kept(fd: RawFd) -> bool {
    fd >= 0 && KEPT.iter().any(|s| s.load(Ordering::Acquire) == fd + 1)
}

/// The engine's lowest fd in `first..=last`, if any.
pub fn first_kept(first: u32, last: u32) -> Option<u32> {
    KEPT.iter()
        .filter_map(|s| u32::try_from(s.load(Ordering::Acquire) - 1).ok())
        .filter(|fd| (first..=last).contains(fd))
        .min()
}

/// Forgets the list without closing anything: for a fork's child, where the fds are the parent's copies.
pub fn forget_all() {
    for slot in &KEPT {
        slot.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_fd_is_high_listed_and_gone_after_drop() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let fd = keep(null.into()).unwrap();
        assert!(fd >= 100 && is_kept(fd) && !is_kept(0) && !is_kept(-1));
        assert_eq!(first_kept(fd as u32, u32::MAX), Some(fd as u32));
        drop_kept(fd);
        assert!(!is_kept(fd));
    }
}
