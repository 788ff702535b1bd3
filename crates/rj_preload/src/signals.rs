//! SIGSEGV and SIGBUS from the GPU's first use on: a fault of an engine thread becomes a GPU memory fault, any other
//! goes to the program's own handler as if the kernel had called it.
//!
//! The kernel's action carries the program's mask and stack choice, so that only the handler's address is ours.
//! Everything here may run in a signal handler: no lock that is held for long, no allocation.

use crate::sys;
use libc::{SA_RESETHAND, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGBUS, SIGSEGV, c_int, c_void, siginfo_t, ucontext_t};
use std::arch::naked_asm;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};

const SA_RESTORER: usize = 0x0400_0000;

/// An action as the kernel has it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Kernel {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

/// An action of the program.
#[derive(Clone, Copy)]
pub struct Action {
    /// SIG_DFL, SIG_IGN or a function.
    pub handler: usize,
    /// `SA_…`.
    pub flags: c_int,
    /// Signals 1 to 64.
    pub mask: u64,
}

struct Shadow {
    handler: AtomicUsize,
    flags: AtomicUsize,
    mask: AtomicU64,
}

static SHADOWS: [Shadow; 2] =
    [const { Shadow { handler: AtomicUsize::new(0), flags: AtomicUsize::new(0), mask: AtomicU64::new(0) } }; 2];
static INSTALLED: AtomicBool = AtomicBool::new(false);

impl Shadow {
    fn of(signal: c_int) -> Option<&'static Shadow> {
        match signal {
            SIGSEGV => Some(&SHADOWS[0]),
            SIGBUS => Some(&SHADOWS[1]),
            _ => None,
        }
    }

    fn get(&self) -> Action {
        let (handler, flags, mask) = (self.handler.load(SeqCst), self.flags.load(SeqCst), self.mask.load(SeqCst));
        Action { handler, flags: flags as c_int, mask }
    }

    fn set(&self, a: Action) {
        self.mask.store(a.mask, SeqCst);
        self.flags.store(a.flags as u32 as usize, SeqCst);
        self.handler.store(a.handler, SeqCst);
    }
}

/// Takes the two signals over, once.
pub fn install() {
    if INSTALLED.swap(true, SeqCst) {
        return;
    }
    for signal in [SIGSEGV, SIGBUS] {
        let mut old = MaybeUninit::<Kernel>::zeroed();
        // SAFETY: room for the kernel's answer; zero is a valid action.
        let old = unsafe {
            sys::call(libc::SYS_rt_sigaction, [signal as usize, 0, old.as_mut_ptr() as usize, 8, 0, 0]);
            old.assume_init()
        };
        let a = Action { handler: old.handler, flags: (old.flags & !SA_RESTORER) as c_int, mask: old.mask };
        if let Some(shadow) = Shadow::of(signal) {
            shadow.set(a);
        }
        tell_kernel(signal, a);
    }
}

/// The program's `sigaction` on a signal that is ours: the old action, or none if the call is to be passed on.
pub fn change(signal: c_int, new: Option<Action>) -> Option<Action> {
    let shadow = Shadow::of(signal).filter(|_| INSTALLED.load(SeqCst))?;
    let old = shadow.get();
    if let Some(new) = new {
        shadow.set(new);
        tell_kernel(signal, new);
    }
    Some(old)
}

fn tell_kernel(signal: c_int, program: Action) {
    let flags = (program.flags | SA_SIGINFO) & !SA_RESETHAND;
    let ours = Kernel {
        handler: handler as *const () as usize,
        flags: flags as u32 as usize | SA_RESTORER,
        restorer: restorer as *const () as usize,
        mask: program.mask,
    };
    // SAFETY: a valid action.
    unsafe { sys::call(libc::SYS_rt_sigaction, [signal as usize, &raw const ours as usize, 0, 8, 0, 0]) };
}

/// rt_sigreturn, as libc's own: debuggers and unwinders know these bytes.
#[unsafe(naked)]
unsafe extern "C" fn restorer() {
    naked_asm!("mov rax, 15", "syscall")
}

unsafe extern "C" fn handler(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes both.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code > 0 {
        // Page fault error code, bit 1: a write.
        // SAFETY: the kernel's context.
        let error = unsafe { (&(*context.cast::<ucontext_t>()).uc_mcontext.gregs)[libc::REG_ERR as usize] };
        rj_vm::host_fault(address, error & 2 != 0);
    }
    let Some(shadow) = Shadow::of(signal) else { return };
    let action = shadow.get();
    match action.handler {
        SIG_IGN if code <= 0 => {}
        // The kernel does not let a fault be ignored either.
        SIG_DFL | SIG_IGN => die(signal, code),
        f => {
            if action.flags & SA_RESETHAND != 0 {
                shadow.handler.store(SIG_DFL, SeqCst);
            }
            // SAFETY: the program's handler, called as its flags say.
            unsafe {
                if action.flags & SA_SIGINFO != 0 {
                    let f = std::mem::transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(f);
                    f(signal, info, context);
                } else {
                    std::mem::transmute::<usize, extern "C" fn(c_int)>(f)(signal);
                }
            }
        }
    }
}

/// The default action: a fault happens again on return; a signal that was sent is sent again.
fn die(signal: c_int, code: c_int) {
    let default = Kernel { handler: SIG_DFL, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: a valid action; integers.
    unsafe {
        sys::call(libc::SYS_rt_sigaction, [signal as usize, &raw const default as usize, 0, 8, 0, 0]);
        if code <= 0 {
            let (pid, tid) = (sys::getpid() as usize, sys::gettid() as usize);
            sys::call(libc::SYS_tgkill, [pid, tid, signal as usize, 0, 0, 0]);
        }
    }
}
