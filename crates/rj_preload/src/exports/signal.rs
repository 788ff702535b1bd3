//! `sigaction` and `signal`: the program keeps its own view of SIGSEGV and SIGBUS while the engine handles them.

use super::export;
use crate::next::next;
use crate::signals::{self, Action};
use libc::{SA_NODEFER, SA_RESETHAND, SA_RESTART, c_int, sighandler_t};

type Sigaction = libc::sigaction;

unsafe fn sigaction_any(signal: c_int, new: *const Sigaction, old: *mut Sigaction) -> c_int {
    // SAFETY: the program's arguments, null or valid. Only the first 64 signals of a mask exist.
    unsafe {
        let wanted = new.as_ref().map(|a| Action {
            handler: a.sa_sigaction,
            flags: a.sa_flags,
            mask: (&raw const a.sa_mask).cast::<u64>().read(),
        });
        let Some(before) = signals::change(signal, wanted) else {
            return next!(sigaction: fn(c_int, *const Sigaction, *mut Sigaction) -> c_int, (signal, new, old) else -1);
        };
        if let Some(old) = old.as_mut() {
            *old = std::mem::zeroed();
            old.sa_sigaction = before.handler;
            old.sa_flags = before.flags;
            (&raw mut old.sa_mask).cast::<u64>().write(before.mask);
        }
        0
    }
}

fn simple(signal: c_int, handler: sighandler_t, flags: c_int) -> Option<sighandler_t> {
    let mask = if flags & SA_NODEFER != 0 { 0 } else { 1u64.checked_shl((signal - 1) as u32).unwrap_or(0) };
    signals::change(signal, Some(Action { handler, flags, mask })).map(|old| old.handler)
}

macro_rules! simple {
    ($name:ident($signal:ident, $handler:ident), $flags:expr) => {
        match simple($signal, $handler, $flags) {
            Some(old) => old,
            None => next!($name: fn(c_int, sighandler_t) -> sighandler_t, ($signal, $handler) else libc::SIG_ERR),
        }
    };
}

export! {
    fn sigaction(signal: c_int, new: *const Sigaction, old: *mut Sigaction) -> c_int {
        // SAFETY: libc's contract.
        unsafe { sigaction_any(signal, new, old) }
    }
    fn __sigaction(signal: c_int, new: *const Sigaction, old: *mut Sigaction) -> c_int {
        // SAFETY: libc's contract.
        unsafe { sigaction_any(signal, new, old) }
    }
    fn signal(number: c_int, handler: sighandler_t) -> sighandler_t {
        simple!(signal(number, handler), SA_RESTART)
    }
    fn bsd_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
        simple!(bsd_signal(number, handler), SA_RESTART)
    }
    fn ssignal(number: c_int, handler: sighandler_t) -> sighandler_t {
        simple!(ssignal(number, handler), SA_RESTART)
    }
    fn sysv_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
        simple!(sysv_signal(number, handler), SA_RESETHAND | SA_NODEFER)
    }
    fn __sysv_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
        simple!(__sysv_signal(number, handler), SA_RESETHAND | SA_NODEFER)
    }
}
