//! `mmap` and its relatives. malloc calls these, before any constructor ran: until a device is open they are one load
//! and the system call.

use super::export;
use crate::{state, sys};
use libc::{MAP_FAILED, c_int, c_void, off_t, size_t};
use state::State;

/// What is in this range goes. A vfork's child changes its parent's memory, too.
fn replaced(state: &State, at: *mut c_void, len: size_t) {
    if len > 0 {
        state.process.munmap_notify(at.cast(), len);
    }
}

#[derive(Clone, Copy)]
struct Call {
    addr: *mut c_void,
    len: size_t,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    off: off_t,
}

impl Call {
    fn raw(&self) -> *mut c_void {
        let (prot, flags, fd) = (self.prot as usize, self.flags as usize, self.fd as usize);
        // SAFETY: the program's own call.
        unsafe { sys::c_call(libc::SYS_mmap, [self.addr as usize, self.len, prot, flags, fd, self.off as usize]) as _ }
    }

    #[cold]
    fn with(&self, state: &State) -> *mut c_void {
        let fixed = self.flags & libc::MAP_FIXED != 0;
        if self.fd >= 0 && self.flags & libc::MAP_ANONYMOUS == 0 && state.fds.file(self.fd).is_some() {
            if state.pid != sys::getpid() {
                sys::fail(libc::EBADF);
                return MAP_FAILED;
            }
            if let Some(file) = state.fds.verified(self.fd, &state.process) {
                if fixed {
                    replaced(state, self.addr, self.len);
                }
                let (addr, off) = (self.addr.cast(), self.off as u64);
                return match state.process.mmap(file, addr, self.len, self.prot, self.flags, off) {
                    Ok(p) => p.cast(),
                    Err(e) => {
                        sys::fail(e.0);
                        MAP_FAILED
                    }
                };
            }
        }
        let p = self.raw();
        if fixed && p != MAP_FAILED {
            replaced(state, p, self.len);
        }
        p
    }
}

#[inline]
fn map(call: Call) -> *mut c_void {
    match state::shared() {
        None => call.raw(),
        Some(state) => call.with(state),
    }
}

export! {
    fn mmap(addr: *mut c_void, len: size_t, prot: c_int, flags: c_int, fd: c_int, off: off_t) -> *mut c_void {
        map(Call { addr, len, prot, flags, fd, off })
    }
    fn mmap64(addr: *mut c_void, len: size_t, prot: c_int, flags: c_int, fd: c_int, off: off_t) -> *mut c_void {
        map(Call { addr, len, prot, flags, fd, off })
    }
    fn munmap(addr: *mut c_void, len: size_t) -> c_int {
        // First: afterwards another thread may already have got the addresses for something else.
        if let Some(state) = state::shared() {
            replaced(state, addr, len);
        }
        // SAFETY: the program's own call.
        unsafe { sys::c_call(libc::SYS_munmap, [addr as usize, len, 0, 0, 0, 0]) as c_int }
    }
    fn mremap(old: *mut c_void, len: size_t, new_len: size_t, flags: c_int, new: *mut c_void) -> *mut c_void {
        let args = [old as usize, len, new_len, flags as usize, new as usize, 0];
        // SAFETY: the program's own call.
        let p = unsafe { sys::c_call(libc::SYS_mremap, args) } as *mut c_void;
        if p != MAP_FAILED && let Some(state) = state::shared() {
            replaced(state, old, len);
            replaced(state, p, new_len);
        }
        p
    }
}
