//! Addresses at which the program mapped a device, so that their unmapping can be told to the driver. Every munmap
//! of a program with a GPU looks here: two loads if it is elsewhere.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The set of mapped addresses.
pub struct Ranges {
    low: AtomicUsize,
    high: AtomicUsize,
    // Start → end, disjoint.
    set: Mutex<BTreeMap<usize, usize>>,
}

impl Default for Ranges {
    fn default() -> Ranges {
        Ranges { low: AtomicUsize::new(usize::MAX), high: AtomicUsize::new(0), set: Mutex::default() }
    }
}

impl Ranges {
    /// A device was mapped here.
    pub fn add(&self, at: usize, len: usize) {
        let end = at.saturating_add(len.next_multiple_of(4096));
        let mut set = self.lock();
        cut(&mut set, at, end);
        set.insert(at, end);
        self.low.fetch_min(at, Ordering::Release);
        self.high.fetch_max(end, Ordering::Release);
    }

    /// Something else is here now; returns the parts that were a device's.
    pub fn remove(&self, at: usize, len: usize) -> Vec<(usize, usize)> {
        let end = at.saturating_add(len);
        if end <= self.low.load(Ordering::Acquire) || at >= self.high.load(Ordering::Acquire) {
            return Vec::new();
        }
        cut(&mut self.lock(), at, end.next_multiple_of(4096))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, usize>> {
        self.set.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Takes `at..end` out of the set; returns what was in it as (address, length).
fn cut(set: &mut BTreeMap<usize, usize>, at: usize, end: usize) -> Vec<(usize, usize)> {
    let touched: Vec<(usize, usize)> =
        set.range(..end).rev().take_while(|&(_, &e)| e > at).map(|(&s, &e)| (s, e)).collect();
    let mut gone = Vec::new();
    for (s, e) in touched {
        set.remove(&s);
        if s < at {
            set.insert(s, at);
        }
        if e > end {
            set.insert(end, e);
        }
        gone.push((s.max(at), e.min(end) - s.max(at)));
    }
    gone
}
