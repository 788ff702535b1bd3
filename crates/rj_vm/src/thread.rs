//! The engine's own threads inside a stranger's process: named `rj-…`, small stacks, no signal but the synchronous
//! ones, never joined. Also what to do when such a thread touches host memory that is gone.
//!
//! A host fault (SIGSEGV, SIGBUS) on an engine thread cannot be unwound. The handler hands the address to a thread
//! that waits for it and parks the faulting thread for ever; all queues of the process stop anyway.

use rj_exec::Dispatch;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// Stack of an engine thread, bytes.
const STACK: usize = 256 << 10;

/// Where a host fault is announced, and to whom. One per machine; lives as long as the process.
#[derive(Debug, Default)]
pub struct Watch {
    /// 0 nothing, 1 being written, 2 posted, 3 over.
    state: AtomicU32,
    address: AtomicUsize,
    write: AtomicBool,
    slot: AtomicUsize,
}

/// What an engine thread is doing, for reports.
struct Slot {
    watch: Option<&'static Watch>,
    current: Mutex<Option<Arc<Dispatch>>>,
}

/// A host fault of an engine thread.
#[derive(Debug)]
pub struct HostFault {
    /// The host address.
    pub address: usize,
    /// It was a store, as far as the processor tells.
    pub write: bool,
    /// The kernel that ran on the thread.
    pub dispatch: Option<Arc<Dispatch>>,
}

thread_local! {
    static SLOT: Cell<*const Slot> = const { Cell::new(ptr::null()) };
}

/// Starts a detached engine thread. With a `watch`, its host faults are announced there.
pub fn spawn(
    name: &str,
    watch: Option<&'static Watch>,
    body: impl FnOnce() + Send + 'static,
) -> std::io::Result<std::thread::Thread> {
    let mask = Mask::block();
    let spawned = std::thread::Builder::new().name(name.into()).stack_size(STACK).spawn(move || {
        let slot: &'static Slot = Box::leak(Box::new(Slot { watch, current: Mutex::new(None) }));
        SLOT.set(slot);
        body();
    });
    drop(mask);
    spawned.map(|handle| handle.thread().clone())
}

/// Signals blocked while a thread is made, so that it starts with them blocked.
struct Mask(libc::sigset_t);

impl Mask {
    fn block() -> Mask {
        // SAFETY: plain libc calls on local sets; the synchronous signals stay deliverable.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut old: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT] {
                libc::sigdelset(&mut all, signal);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
            Mask(old)
        }
    }
}

impl Drop for Mask {
    fn drop(&mut self) {
        // SAFETY: restores the set that `block` saved on this thread.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, ptr::null_mut()) };
    }
}

/// Says what this thread runs until dropped.
pub struct Current;

impl Current {
    /// This thread runs a group of `dispatch`.
    pub fn enter(dispatch: &Arc<Dispatch>) -> Current {
        set_current(Some(dispatch.clone()));
        Current
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        set_current(None);
    }
}

/// What this thread runs.
pub fn current() -> Option<Arc<Dispatch>> {
    // SAFETY: a slot is leaked, hence valid for ever.
    let slot = unsafe { SLOT.get().as_ref() }?;
    slot.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn set_current(dispatch: Option<Arc<Dispatch>>) {
    let slot = SLOT.get();
    if !slot.is_null() {
        // SAFETY: a slot is leaked, hence valid for ever.
        let slot = unsafe { &*slot };
        *slot.current.lock().unwrap_or_else(PoisonError::into_inner) = dispatch;
    }
}

/// For the process's SIGSEGV and SIGBUS handler: if this is an engine thread whose machine watches for host faults,
/// announces the fault and never returns; else returns at once. Async-signal-safe.
pub fn host_fault(address: usize, write: bool) {
    let slot = SLOT.get();
    if slot.is_null() {
        return;
    }
    // SAFETY: a slot is leaked, hence valid for ever.
    let Some(watch) = (unsafe { &*slot }).watch else { return };
    if watch.state.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
        watch.address.store(address, SeqCst);
        watch.write.store(write, SeqCst);
        watch.slot.store(slot as usize, SeqCst);
        watch.state.store(2, SeqCst);
        futex(&watch.state, libc::FUTEX_WAKE, i32::MAX as u32);
    }
    let never = AtomicU32::new(0);
    loop {
        futex(&never, libc::FUTEX_WAIT, 0);
    }
}

impl Watch {
    /// Waits for the first host fault; None once [`Watch::end`] was called.
    pub fn wait(&self) -> Option<HostFault> {
        loop {
            match self.state.load(SeqCst) {
                2 => break,
                3 => return None,
                now => futex(&self.state, libc::FUTEX_WAIT, now),
            }
        }
        let slot = self.slot.load(SeqCst) as *const Slot;
        // SAFETY: posted by `host_fault`; a slot is leaked, hence valid for ever.
        let dispatch = unsafe { &*slot }.current.try_lock().ok().and_then(|current| current.clone());
        Some(HostFault { address: self.address.load(SeqCst), write: self.write.load(SeqCst), dispatch })
    }

    /// Ends the waiting thread.
    pub fn end(&self) {
        if self.state.compare_exchange(0, 3, SeqCst, SeqCst).is_ok() {
            futex(&self.state, libc::FUTEX_WAKE, i32::MAX as u32);
        }
    }
}

fn futex(word: &AtomicU32, op: libc::c_int, value: u32) {
    // SAFETY: the word is valid; no timeout, no second word.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            op | libc::FUTEX_PRIVATE_FLAG,
            value,
            ptr::null::<libc::timespec>(),
            ptr::null::<u32>(),
            0,
        )
    };
}
