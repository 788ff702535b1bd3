//! Private memory: slots of a queue's scratch memory, one per wave, and what the amd_queue_t says about them
//! (engine-abi: slots are handed out lowest first so that the memory touched stays small).

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The slots of one piece of scratch memory.
#[derive(Debug)]
pub struct Slots {
    free: Mutex<Free>,
    total: u32,
}

#[derive(Debug)]
struct Free {
    /// Slots below `fresh` that were given back.
    back: BTreeSet<u32>,
    /// Lowest slot never handed out.
    fresh: u32,
}

impl Slots {
    /// `total` free slots.
    pub fn new(total: u32) -> Slots {
        Slots { free: Mutex::new(Free { back: BTreeSet::new(), fresh: 0 }), total }
    }

    /// Slots altogether.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// The `n` lowest free slots, or None if fewer are free.
    pub fn take(&self, n: u32) -> Option<Vec<u32>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let available = free.back.len() as u64 + u64::from(self.total - free.fresh);
        if available < u64::from(n) {
            return None;
        }
        let take = |_| match free.back.pop_first() {
            Some(slot) => slot,
            None => {
                free.fresh += 1;
                free.fresh - 1
            }
        };
        Some((0..n).map(take).collect())
    }

    /// Gives slots back.
    pub fn give(&self, slots: &[u32]) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.back.extend(slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_handed_out_lowest_first_and_never_beyond_the_total() {
        let s = Slots::new(4);
        assert_eq!(s.take(3), Some(vec![0, 1, 2]));
        assert_eq!(s.take(2), None);
        s.give(&[1]);
        assert_eq!(s.take(2), Some(vec![1, 3]));
        assert_eq!(s.take(1), None);
    }
}
