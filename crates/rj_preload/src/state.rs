//! What a process has once it opened a device, and which process that is.
//!
//! The pointer to it lies in a page that the kernel wipes in a fork's child: the child has none and starts afresh. A
//! vfork's child (and clone with CLONE_VM) shares the page but has another pid: it must leave everything alone.

use crate::{fds::Fds, sys, tree::Tree};
use rj_kmd::{Errno, Process};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::SystemTime;

/// A process that opened a device.
pub struct State {
    /// The process.
    pub pid: i32,
    /// The driver's view of it.
    pub process: Arc<Process>,
    /// Its fds of devices.
    pub fds: Fds,
    /// When.
    pub opened_at: SystemTime,
}

#[repr(C)]
struct Page {
    state: AtomicPtr<State>,
    opening: AtomicU32,
}

static PAGE: AtomicPtr<Page> = AtomicPtr::new(std::ptr::null_mut());

/// The state that this memory belongs to; the caller may be a vfork's child. One load if there never was any.
#[inline]
pub fn shared() -> Option<&'static State> {
    let page = PAGE.load(Ordering::Acquire);
    if page.is_null() {
        return None;
    }
    // SAFETY: the page is never unmapped, a state never freed.
    unsafe { (*page).state.load(Ordering::Acquire).as_ref() }
}

/// The state of the calling process; none in a vfork's child.
#[inline]
pub fn get() -> Option<&'static State> {
    shared().filter(|s| s.pid == sys::getpid())
}

/// The state, made now if need be.
pub fn open(tree: &Tree) -> Result<&'static State, Errno> {
    let page = page()?;
    loop {
        if let Some(state) = shared() {
            // A vfork's child cannot have a GPU of its own in its parent's memory.
            return if state.pid == sys::getpid() { Ok(state) } else { Err(Errno::ENODEV) };
        }
        if page.opening.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            let made = make(page, tree);
            page.opening.store(0, Ordering::Release);
            return made;
        }
        sys::yield_now();
    }
}

fn make(page: &'static Page, tree: &Tree) -> Result<&'static State, Errno> {
    if let Some(state) = shared() {
        return Ok(state);
    }
    // In a fork's child these are copies of its parent's.
    rj_kmd::hostfd::forget_all();
    let process = Process::open(&tree.config).map_err(|e| {
        sys::say(&format!("no GPU: {e}"));
        Errno::ENODEV
    })?;
    let fds = Fds::new().ok_or(Errno::ENOMEM)?;
    let pid = sys::getpid();
    let state = Box::new(State { pid, process, fds, opened_at: SystemTime::now() });
    let state: &'static State = Box::leak(state);
    page.state.store(std::ptr::from_ref(state).cast_mut(), Ordering::Release);
    process_trace(state, tree);
    rj_kmd::record::on_change(crate::record::write);
    crate::signals::install();
    crate::record::write();
    crate::images::program(state);
    Ok(state)
}

/// The trace lies beside the directory of records, in the exec's own; without one in the session's.
fn process_trace(state: &State, tree: &Tree) {
    let exec = crate::init::RECORD_DIR.get().and_then(|d| d.parent());
    if let Some(dir) = exec.or(crate::init::RUNTIME_DIR.get()) {
        state.process.start_trace(&tree.config, &dir.join("rj.log"));
    }
}

fn page() -> Result<&'static Page, Errno> {
    let mut p = PAGE.load(Ordering::Acquire);
    if p.is_null() {
        let fresh = sys::map_wiped_page().ok_or(Errno::ENOMEM)?.cast::<Page>();
        p = match PAGE.compare_exchange(std::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(other) => other,
        };
    }
    // SAFETY: a zeroed page that is never unmapped is a valid `Page`.
    Ok(unsafe { &*p })
}
