//! DMA-bufs: fds that stand for a memory object and can be passed to other processes.
//!
//! Such an fd is a memfd as long as the object whose *name* says where the bytes are: process, heap, offset. Its first
//! bytes hold the object's metadata. It is open for writing alone, so that mapping it fails rather than showing
//! memory that is not the object's.

use crate::{Errno, raw};
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

const PREFIX: &str = "rocjitsu-dmabuf";

/// Where a shared object's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The process that allocated it.
    pub pid: u32,
    /// That process's heap: its fd,
    pub fd: RawFd,
    /// and its inode, to be sure.
    pub inode: u64,
    /// Offset in the heap.
    pub off: u64,
    /// Bytes.
    pub size: u64,
    /// Index of the GPU.
    pub gpu: usize,
    /// KFD_IOC_ALLOC_MEM_FLAGS.
    pub flags: u32,
}

impl Name {
    fn text(&self) -> String {
        let Name { pid, fd, inode, off, size, gpu, flags } = self;
        format!("{PREFIX}:{pid}:{fd}:{inode}:{off}:{size}:{gpu}:{flags}")
    }

    fn parse(link: &str) -> Option<Name> {
        let text = link.strip_prefix("/memfd:")?.strip_suffix(" (deleted)")?;
        let mut part = text.split(':');
        if part.next()? != PREFIX {
            return None;
        }
        let mut next = || part.next()?.parse::<u64>().ok();
        let name = Name {
            pid: next()?.try_into().ok()?,
            fd: next()?.try_into().ok()?,
            inode: next()?,
            off: next()?,
            size: next()?,
            gpu: next()?.try_into().ok()?,
            flags: next()?.try_into().ok()?,
        };
        Some(name)
    }
}

fn own(fd: RawFd) -> CString {
    CString::new(format!("/proc/self/fd/{fd}")).unwrap_or_default()
}

/// A new fd for the object, for the program to have.
pub fn make(name: &Name) -> Result<OwnedFd, Errno> {
    let text = CString::new(name.text()).map_err(|_| Errno::EINVAL)?;
    let fd = raw::memfd(&text, name.size)?;
    again(fd.as_raw_fd())
}

/// Another fd of the same DMA-buf.
pub fn again(fd: RawFd) -> Result<OwnedFd, Errno> {
    raw::open(&own(fd), libc::O_WRONLY | libc::O_CLOEXEC)
}

/// What the fd stands for, if it is a DMA-buf.
pub fn name(fd: RawFd) -> Result<Name, Errno> {
    let link = raw::read_link(&own(fd)).map_err(|_| Errno::EBADF)?;
    Name::parse(&link).ok_or(Errno::EINVAL)
}

/// An fd of this process that stands for the object.
pub fn find(name: &Name) -> Option<RawFd> {
    let all = raw::names(c"/proc/self/fd").ok()?;
    let mut fds = all.iter().filter_map(|n| n.parse::<RawFd>().ok());
    fds.find(|fd| self::name(*fd).as_ref() == Ok(name))
}

/// Stores the object's metadata for all who have an fd of it.
pub fn put_metadata(fd: RawFd, bytes: &[u8]) -> Result<(), Errno> {
    raw::write_start(fd, bytes)
}

/// The metadata; zeros if there is none.
pub fn metadata(fd: RawFd, bytes: &mut [u8]) -> Result<(), Errno> {
    let readable = raw::open(&own(fd), libc::O_RDONLY | libc::O_CLOEXEC)?;
    raw::read_start(readable.as_raw_fd(), bytes).map(|_| ())
}

/// The heap of another process that an object lies in.
pub fn heap(name: &Name) -> Result<OwnedFd, Errno> {
    let path = CString::new(format!("/proc/{}/fd/{}", name.pid, name.fd)).map_err(|_| Errno::EINVAL)?;
    let fd = raw::open(&path, libc::O_RDWR | libc::O_CLOEXEC).map_err(|_| Errno::EINVAL)?;
    // The process may be gone and another have its number.
    if raw::inode(fd.as_raw_fd()) == Ok(name.inode) { Ok(fd) } else { Err(Errno::EINVAL) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_fd_says_what_it_stands_for_and_cannot_be_mapped() {
        let n = Name { pid: 7, fd: 901, inode: 12, off: 1 << 40, size: 8192, gpu: 3, flags: 0xd000_0001 };
        let made = make(&n).unwrap();
        let fd = made.as_raw_fd();
        assert_eq!(name(fd), Ok(n.clone()));
        assert_eq!(find(&n), Some(fd));
        put_metadata(fd, &[1, 2, 3]).unwrap();
        let mut m = [9; 4];
        metadata(fd, &mut m).unwrap();
        assert_eq!(m, [1, 2, 3, 0]);
        assert_eq!(raw::map_shared(fd, 4096), Err(Errno(libc::EACCES)));
        assert_eq!(name(0).err(), Some(Errno::EINVAL));
        assert_eq!(name(-1).err(), Some(Errno::EBADF));
        drop(made);
        assert_eq!(find(&n), None);
    }
}
