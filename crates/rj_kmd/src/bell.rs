//! The command processor's bell: stores to doorbells wake it through userfaultfd's write protection of the program's
//! doorbell mappings. Where the kernel or a sandbox refuses that, there is no such bell and doorbells are polled.
//!
//! While it is armed the first store to a doorbell page waits until the command processor is awake, some microseconds.

use crate::{Errno, hostfd, raw};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Wakes by call and by doorbell. Lives as long as the process.
#[derive(Debug)]
pub struct Bell {
    /// An eventfd that ends a sleep.
    event: RawFd,
    /// The userfaultfd.
    faults: RawFd,
    watched: Mutex<Watched>,
    /// A wake that no sleep has used up.
    woken: AtomicBool,
    asleep: AtomicBool,
}

#[derive(Debug, Default)]
struct Watched {
    /// Mappings of doorbells: address and bytes.
    ranges: Vec<(usize, usize)>,
    /// Some mapping cannot be watched: arming would miss its stores.
    blind: bool,
    armed: bool,
}

impl Bell {
    /// A bell, if userfaultfd can write-protect shared memory here.
    pub fn new() -> Result<Bell, Errno> {
        let event = hostfd::keep(raw::event()?)?;
        let faults = raw::userfaults().and_then(hostfd::keep).inspect_err(|_| hostfd::drop_kept(event))?;
        let (woken, asleep) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Bell { event, faults, watched: Mutex::default(), woken, asleep })
    }

    /// The program has mapped doorbells here.
    pub fn watch(&self, at: usize, len: usize) {
        let mut watched = self.watched();
        match raw::watch_writes(self.faults, at, len) {
            Ok(()) => watched.ranges.push((at, len)),
            Err(_) => watched.blind = true,
        }
        drop(watched);
        // If it sleeps armed, it does not notice stores to this mapping yet.
        rj_vm::bell::Bell::wake(self);
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl rj_vm::bell::Bell for Bell {
    fn arm(&self) -> bool {
        let mut watched = self.watched();
        // A mapping that is gone has no stores to miss.
        watched.ranges.retain(|&(at, len)| raw::protect(self.faults, at, len, true) != Err(Errno(libc::ENOENT)));
        watched.armed = true;
        !watched.blind && !watched.ranges.is_empty()
    }

    fn disarm(&self) {
        let mut watched = self.watched();
        if std::mem::take(&mut watched.armed) {
            for &(at, len) in &watched.ranges {
                // Fails only for mappings that are gone, with those who waited there.
                let _ = raw::protect(self.faults, at, len, false);
            }
        }
    }

    fn sleep(&self, longest: Duration) -> bool {
        self.asleep.store(true, SeqCst);
        let ended = self.woken.load(SeqCst) || raw::wait_readable([self.event, self.faults], longest);
        self.asleep.store(false, SeqCst);
        if ended {
            // In this order: a wake in between is not lost, at worst it ends the next sleep, too.
            self.woken.store(false, SeqCst);
            raw::clear_event(self.event);
        }
        ended
    }

    fn wake(&self) {
        self.woken.store(true, SeqCst);
        if self.asleep.load(SeqCst) {
            raw::set_event(self.event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rj_vm::bell::Bell as _;
    use std::sync::atomic::AtomicU64;

    /// Some kernels and sandboxes have no userfaultfd: there the machine polls, and there is nothing to test.
    fn bell() -> Option<(Bell, &'static AtomicU64)> {
        let bell = Bell::new().ok()?;
        let fd = hostfd::keep(raw::memfd(c"bell-test", 8192).unwrap()).unwrap();
        let at = raw::map_shared(fd, 8192).unwrap();
        bell.watch(at, 8192);
        // SAFETY: just mapped, never unmapped.
        Some((bell, unsafe { AtomicU64::from_ptr(at as *mut u64) }))
    }

    #[test]
    fn a_store_to_an_armed_doorbell_ends_the_sleep_and_arrives() {
        let Some((bell, doorbell)) = bell() else { return };
        // The wake that came with the mapping.
        assert!(bell.sleep(Duration::from_secs(3600)));
        std::thread::scope(|s| {
            for value in 1..100 {
                assert!(bell.arm());
                let ringer = s.spawn(move || doorbell.store(value, SeqCst));
                assert!(bell.sleep(Duration::from_secs(3600)));
                bell.disarm();
                ringer.join().unwrap();
                assert_eq!(doorbell.load(SeqCst), value);
            }
            // Disarmed, a store goes through and ends nothing.
            doorbell.store(0, SeqCst);
            assert!(!bell.sleep(Duration::from_millis(1)));
        });
    }

    #[test]
    fn calls_wake_it_from_any_thread() {
        let Some((bell, _)) = bell() else { return };
        std::thread::scope(|s| {
            for _ in 0..100 {
                s.spawn(|| bell.wake());
                assert!(bell.sleep(Duration::from_secs(3600)));
            }
        });
    }
}
