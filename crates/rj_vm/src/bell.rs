//! How the command processor sleeps: what ends a sleep, and whether a store to a doorbell does. The default knows
//! only calls; the driver may supply one that sees doorbells. It must not know what is served.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The command processor's bed. Only that thread arms, disarms and sleeps; anyone wakes.
pub trait Bell: Send + Sync {
    /// From now on a store to any doorbell ends a sleep. False: such stores cannot be seen, so look again soon.
    /// Stores made before are not announced: look once more before sleeping.
    fn arm(&self) -> bool;
    /// Stores to doorbells are no longer noticed, and none is held up. Called by any thread, at any time.
    fn disarm(&self);
    /// Sleeps until woken, or until an armed doorbell is written, or this long. A wake before it ends it at once. True
    /// unless the time was over.
    fn sleep(&self, longest: Duration) -> bool;
    /// Ends the sleep, or the next one.
    fn wake(&self);
}

/// Sees no doorbell.
#[derive(Debug, Default)]
pub struct Deaf {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Bell for Deaf {
    fn arm(&self) -> bool {
        false
    }

    fn disarm(&self) {}

    fn sleep(&self, longest: Duration) -> bool {
        let woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = self.changed.wait_timeout_while(woken, longest, |woken| !*woken);
        std::mem::take(&mut *wait.unwrap_or_else(PoisonError::into_inner).0)
    }

    fn wake(&self) {
        *self.woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_ends_one_sleep_even_if_it_came_before() {
        let bell = Deaf::default();
        bell.wake();
        assert!(bell.sleep(Duration::from_secs(3600)));
        assert!(!bell.sleep(Duration::from_millis(1)));
    }
}
