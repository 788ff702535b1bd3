//! KFD events: what ROCr sleeps on (engine-abi §10; Linux kfd_events.c).

use crate::Errno;
use rj_vm::MemoryFault;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// KFD_IOC_EVENT_SIGNAL.
pub const SIGNAL: u32 = 0;
/// KFD_IOC_EVENT_HW_EXCEPTION.
pub const HW_EXCEPTION: u32 = 3;
/// KFD_IOC_EVENT_MEMORY.
pub const MEMORY: u32 = 8;
/// KFD_SIGNAL_EVENT_LIMIT.
pub const LIMIT: u32 = 4096;

#[derive(Clone, Debug)]
struct Event {
    /// Tells it from a later event of the same id.
    serial: u64,
    kind: u32,
    auto_reset: bool,
    signaled: bool,
    age: u64,
    waiters: u32,
    fault: Option<MemoryFault>,
}

/// What a waiter asks of one event.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// Its id.
    pub id: u32,
    /// The age that the caller saw last; 0: it does not care.
    pub last_age: u64,
}

/// What became of one event of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Got {
    /// Not activated.
    Nothing,
    /// A signal event, and its age now.
    Age(u64),
    /// A memory event.
    Fault(Option<MemoryFault>),
    /// Another event.
    Other,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// What was waited for happened.
    Complete,
    /// Time is up.
    Timeout,
    /// An event was destroyed meanwhile.
    Gone,
}

/// A process's events.
#[derive(Debug, Default)]
pub struct Events {
    all: Mutex<HashMap<u32, Event>>,
    made: AtomicU64,
    changed: Condvar,
}

impl Events {
    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Event>> {
        self.all.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Makes an event; its id is also its slot in the event page.
    pub fn create(&self, kind: u32, auto_reset: bool) -> Result<u32, Errno> {
        let mut all = self.lock();
        let id = (1..LIMIT).find(|id| !all.contains_key(id)).ok_or(Errno(libc::ENOSPC))?;
        let serial = self.made.fetch_add(1, Ordering::Relaxed);
        all.insert(id, Event { serial, kind, auto_reset, signaled: false, age: 1, waiters: 0, fault: None });
        Ok(id)
    }

    /// Ends an event; its waiters fail.
    pub fn destroy(&self, id: u32) -> Result<(), Errno> {
        self.lock().remove(&id).ok_or(Errno::EINVAL)?;
        self.changed.notify_all();
        Ok(())
    }

    /// Sets an event, as the program or an interrupt does.
    pub fn set(&self, id: u32) -> Result<(), Errno> {
        let mut all = self.lock();
        let e = all.get_mut(&id).ok_or(Errno::EINVAL)?;
        signal(e);
        self.changed.notify_all();
        Ok(())
    }

    /// Clears an event.
    pub fn reset(&self, id: u32) -> Result<(), Errno> {
        self.lock().get_mut(&id).ok_or(Errno::EINVAL)?.signaled = false;
        Ok(())
    }

    /// Fills and sets every memory event.
    pub fn memory_fault(&self, fault: &MemoryFault) {
        let mut all = self.lock();
        for e in all.values_mut().filter(|e| e.kind == MEMORY) {
            e.fault = Some(*fault);
            signal(e);
        }
        self.changed.notify_all();
    }

    /// Waits for one (or all) of the events. `timeout` in milliseconds; all ones: for ever.
    pub fn wait(&self, wants: &[Want], all_of_them: bool, timeout: u32) -> Result<(End, Vec<Got>), Errno> {
        let mut all = self.lock();
        // An event that was set (or has another age) when the wait began counts as activated for good.
        let mut active = Vec::with_capacity(wants.len());
        for w in wants {
            let e = all.get_mut(&w.id).ok_or(Errno::EINVAL)?;
            // Other kinds have other data where signal events have the age.
            let older = e.kind == SIGNAL && w.last_age != 0 && w.last_age != e.age;
            let hit = e.signaled || older;
            if hit && e.auto_reset {
                e.signaled = false;
            }
            active.push((hit, e.age, e.serial));
        }
        let deadline = (timeout != u32::MAX).then(|| Instant::now() + Duration::from_millis(u64::from(timeout)));
        for w in wants {
            if let Some(e) = all.get_mut(&w.id) {
                e.waiters += 1;
            }
        }
        let end = loop {
            let mut gone = false;
            for (w, a) in wants.iter().zip(&mut active) {
                match all.get(&w.id) {
                    None => gone = true,
                    Some(e) if e.serial != a.2 => gone = true,
                    Some(e) if e.age != a.1 => *a = (true, e.age, a.2),
                    _ => {}
                }
            }
            if gone {
                break End::Gone;
            }
            let n = active.iter().filter(|a| a.0).count();
            if n == wants.len() || (n > 0 && !all_of_them) {
                break End::Complete;
            }
            match deadline {
                None => all = self.changed.wait(all).unwrap_or_else(|e| e.into_inner()),
                Some(d) => match d.checked_duration_since(Instant::now()) {
                    None => break End::Timeout,
                    Some(left) => {
                        all = self.changed.wait_timeout(all, left).unwrap_or_else(|e| e.into_inner()).0;
                    }
                },
            }
        };
        let mut got = Vec::with_capacity(wants.len());
        for (w, (hit, _, serial)) in wants.iter().zip(&active) {
            let Some(e) = all.get_mut(&w.id).filter(|e| e.serial == *serial) else {
                got.push(Got::Nothing);
                continue;
            };
            e.waiters -= 1;
            got.push(match e.kind {
                _ if !hit => Got::Nothing,
                SIGNAL => Got::Age(e.age),
                MEMORY => Got::Fault(e.fault),
                _ => Got::Other,
            });
        }
        Ok((end, got))
    }
}

/// An auto-reset event stays set only if nobody waits.
fn signal(e: &mut Event) {
    e.signaled = !e.auto_reset || e.waiters == 0;
    e.age += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn want(id: u32, last_age: u64) -> Want {
        Want { id, last_age }
    }

    #[test]
    fn an_auto_reset_event_is_consumed_by_one_wait() {
        let e = Events::default();
        let id = e.create(SIGNAL, true).unwrap();
        assert_eq!(id, 1);
        e.set(id).unwrap();
        assert_eq!(e.wait(&[want(id, 0)], false, 0).unwrap(), (End::Complete, vec![Got::Age(2)]));
        assert_eq!(e.wait(&[want(id, 0)], false, 0).unwrap().0, End::Timeout);
        // Another age than the caller's: something happened meanwhile.
        assert_eq!(e.wait(&[want(id, 1)], false, 0).unwrap().0, End::Complete);
        assert_eq!(e.wait(&[want(id, 2)], false, 0).unwrap().0, End::Timeout);
    }

    #[test]
    fn setting_wakes_every_waiter_and_destroying_ends_the_wait() {
        let e = Arc::new(Events::default());
        let id = e.create(SIGNAL, true).unwrap();
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let e = e.clone();
                std::thread::spawn(move || e.wait(&[want(id, 0)], true, u32::MAX).unwrap())
            })
            .collect();
        while e.lock()[&id].waiters < 3 {
            std::thread::yield_now();
        }
        e.set(id).unwrap();
        for t in threads {
            assert_eq!(t.join().unwrap(), (End::Complete, vec![Got::Age(2)]));
        }
        let waiter = {
            let e = e.clone();
            std::thread::spawn(move || e.wait(&[want(id, 0)], false, u32::MAX).unwrap().0)
        };
        while e.lock()[&id].waiters < 1 {
            std::thread::yield_now();
        }
        e.destroy(id).unwrap();
        assert_eq!(waiter.join().unwrap(), End::Gone);
        assert_eq!(e.wait(&[want(id, 0)], false, 0), Err(Errno::EINVAL));
    }
}
