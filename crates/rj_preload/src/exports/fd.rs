//! File descriptors: `ioctl` reaches the driver; `dup`, `fcntl` and `close` keep the table of device fds true and the
//! engine's own fds open.

use super::export;
use crate::next::Next;
use crate::{state, sys};
use libc::{c_int, c_uint, c_ulong, c_void};
use rj_kmd::hostfd;
use state::State;

static CLOSE: Next = Next::new(c"close");
static FCNTL: Next = Next::new(c"fcntl64");

pub fn warm_up() {
    CLOSE.get();
    FCNTL.get();
}

fn next_close(fd: c_int) -> c_int {
    let p = CLOSE.get();
    if p.is_null() {
        // SAFETY: an integer.
        return unsafe { sys::c_call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) as c_int };
    }
    // SAFETY: the next `close`.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> c_int>(p)(fd) }
}

fn close_any(fd: c_int) -> c_int {
    if let Some(state) = state::get() {
        if hostfd::is_kept(fd) {
            return sys::fail(libc::EBADF);
        }
        if state.fds.file(fd).is_some() {
            state.fds.remove(fd, &state.process);
        }
    }
    next_close(fd)
}

fn close_between(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let raw = |a: c_uint, b: c_uint| {
        // SAFETY: integers.
        unsafe { sys::c_call(libc::SYS_close_range, [a as usize, b as usize, flags as usize, 0, 0, 0]) as c_int }
    };
    let state = state::get().filter(|_| first <= last && flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0);
    let Some(state) = state else { return raw(first, last) };
    for fd in state.fds.between(first, last) {
        state.fds.remove(fd, &state.process);
    }
    let mut at = first;
    while let Some(kept) = hostfd::first_kept(at, last) {
        if kept > at && raw(at, kept - 1) < 0 {
            return -1;
        }
        match kept.checked_add(1) {
            Some(after) if after <= last => at = after,
            _ => return 0,
        }
    }
    raw(at, last)
}

/// After a successful dup.
fn duplicated(state: Option<&State>, old: c_int, new: c_int) -> c_int {
    if new >= 0
        && let Some(state) = state
        && let Some(file) = state.fds.file(old)
    {
        state.fds.add(new, file, &state.process);
    }
    new
}

fn dup_onto(old: c_int, new: c_int, flags: c_int, call: impl Fn() -> c_int) -> c_int {
    let state = state::get();
    let Some(s) = state.filter(|_| old != new && flags & !libc::O_CLOEXEC == 0) else { return call() };
    if hostfd::is_kept(new) {
        return sys::fail(libc::EBUSY);
    }
    let before = s.fds.file(new);
    if let Some(file) = before {
        // Looks first: a failed dup2 leaves `new` as it is.
        // SAFETY: integers.
        if unsafe { sys::call(libc::SYS_fcntl, [old as usize, libc::F_GETFD as usize, 0, 0, 0, 0]) } < 0 {
            return sys::fail(libc::EBADF);
        }
        let _ = file;
        s.fds.remove(new, &s.process);
    }
    duplicated(state, old, call())
}

fn dup2_any(old: c_int, new: c_int) -> c_int {
    // SAFETY: integers.
    dup_onto(old, new, 0, || unsafe { sys::c_call(libc::SYS_dup2, [old as usize, new as usize, 0, 0, 0, 0]) as c_int })
}

unsafe fn fcntl_any(fd: c_int, cmd: c_int, arg: *mut c_void) -> c_int {
    let call = || {
        let p = FCNTL.get();
        if p.is_null() {
            // SAFETY: the program's own call.
            return unsafe {
                sys::c_call(libc::SYS_fcntl, [fd as usize, cmd as usize, arg as usize, 0, 0, 0]) as c_int
            };
        }
        type Fcntl = unsafe extern "C" fn(c_int, c_int, ...) -> c_int;
        // SAFETY: the next `fcntl64`, with the program's arguments.
        unsafe { std::mem::transmute::<*mut c_void, Fcntl>(p)(fd, cmd, arg) }
    };
    match cmd {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => duplicated(state::get(), fd, call()),
        libc::F_GETFL if state::get().is_some_and(|s| s.fds.file(fd).is_some()) => libc::O_RDWR | 0o100000,
        _ => call(),
    }
}

unsafe fn ioctl_any(fd: c_int, cmd: c_ulong, arg: *mut c_void) -> c_int {
    if let Some(state) = state::shared()
        && state.fds.file(fd).is_some()
    {
        if state.pid != sys::getpid() {
            return sys::fail(libc::EBADF);
        }
        if let Some(file) = state.fds.verified(fd, &state.process) {
            // The kernel ignores the upper half: programs pass ints, sign-extended.
            let cmd = cmd & 0xffff_ffff;
            return match state.process.ioctl(file, cmd, arg.cast()) {
                Ok(r) => {
                    if is_queue_change(cmd) {
                        crate::record::write();
                    }
                    r
                }
                Err(e) => sys::fail(e.0),
            };
        }
    }
    // SAFETY: the program's own call.
    unsafe { sys::c_call(libc::SYS_ioctl, [fd as usize, cmd as usize, arg as usize, 0, 0, 0]) as c_int }
}

/// KFD's CREATE_QUEUE or DESTROY_QUEUE.
fn is_queue_change(cmd: u64) -> bool {
    cmd >> 8 & 0xff == u64::from(b'K') && matches!(cmd & 0xff, 2 | 3)
}

export! {
    fn ioctl(fd: c_int, cmd: c_ulong, arg: *mut c_void) -> c_int {
        // SAFETY: libc's contract.
        unsafe { ioctl_any(fd, cmd, arg) }
    }
    fn close(fd: c_int) -> c_int {
        close_any(fd)
    }
    fn __close(fd: c_int) -> c_int {
        close_any(fd)
    }
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
        close_between(first, last, flags)
    }
    fn closefrom(low: c_int) -> () {
        let errno = sys::errno();
        close_between(low.max(0) as c_uint, c_uint::MAX, 0);
        sys::set_errno(errno);
    }
    fn dup(fd: c_int) -> c_int {
        // SAFETY: an integer.
        duplicated(state::get(), fd, unsafe { sys::c_call(libc::SYS_dup, [fd as usize, 0, 0, 0, 0, 0]) as c_int })
    }
    fn dup2(old: c_int, new: c_int) -> c_int {
        dup2_any(old, new)
    }
    fn __dup2(old: c_int, new: c_int) -> c_int {
        dup2_any(old, new)
    }
    fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
        let args = [old as usize, new as usize, flags as usize, 0, 0, 0];
        // SAFETY: integers.
        dup_onto(old, new, flags, || unsafe { sys::c_call(libc::SYS_dup3, args) as c_int })
    }
    fn fcntl(fd: c_int, cmd: c_int, arg: *mut c_void) -> c_int {
        // SAFETY: libc's contract.
        unsafe { fcntl_any(fd, cmd, arg) }
    }
    fn fcntl64(fd: c_int, cmd: c_int, arg: *mut c_void) -> c_int {
        // SAFETY: libc's contract.
        unsafe { fcntl_any(fd, cmd, arg) }
    }
    fn __fcntl(fd: c_int, cmd: c_int, arg: *mut c_void) -> c_int {
        // SAFETY: libc's contract.
        unsafe { fcntl_any(fd, cmd, arg) }
    }
}
