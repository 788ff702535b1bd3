//! Linux error numbers as values. A driver function returns them; rj_preload stores them in `errno`.

/// A Linux error number, positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// No such file or directory.
    pub const ENOENT: Errno = Errno(libc::ENOENT);
    /// Bad file descriptor: what KFD says to a process that did not open the file.
    pub const EBADF: Errno = Errno(libc::EBADF);
    /// No such function of the device.
    pub const ENOTTY: Errno = Errno(libc::ENOTTY);
    /// Bad argument.
    pub const EINVAL: Errno = Errno(libc::EINVAL);
    /// Bad address.
    pub const EFAULT: Errno = Errno(libc::EFAULT);
    /// No memory.
    pub const ENOMEM: Errno = Errno(libc::ENOMEM);
    /// No such device.
    pub const ENODEV: Errno = Errno(libc::ENODEV);
    /// Not permitted.
    pub const EPERM: Errno = Errno(libc::EPERM);

    /// The calling thread's `errno`, for after a failed libc call.
    pub fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

impl std::error::Error for Errno {}
