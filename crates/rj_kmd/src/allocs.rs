//! What was allocated where, and what lately was: for reports of memory faults. Nothing else may depend on it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Freed allocations that are remembered.
const FREED: usize = 4096;
/// An allocation farther away than this is no neighbour, bytes.
const FAR: u64 = 1 << 30;
/// An address below this is null with an offset.
const NULL: u64 = 1 << 16;

/// What an allocation is, for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// `device memory` and the like.
    pub memory: &'static str,
    /// Stores are allowed.
    pub writable: bool,
    /// Instruction fetch is allowed.
    pub executable: bool,
}

#[derive(Clone, Debug)]
struct Alloc {
    va: u64,
    size: u64,
    kind: Kind,
    made: Instant,
}

impl Alloc {
    fn end(&self) -> u64 {
        self.va.saturating_add(self.size)
    }

    fn holds(&self, va: u64) -> bool {
        va.wrapping_sub(self.va) < self.size
    }

    fn name(&self) -> String {
        let access = match (self.kind.writable, self.kind.executable) {
            (true, false) => "",
            (false, false) => "read-only ",
            (true, true) => "executable ",
            (false, true) => "read-only executable ",
        };
        let Kind { memory, .. } = self.kind;
        format!("{:#x}-{:#x} ({} bytes of {access}{memory}", self.va, self.end(), self.size)
    }
}

#[derive(Debug, Default)]
struct Log {
    live: BTreeMap<(u64, u64), Alloc>,
    freed: VecDeque<(Alloc, Instant)>,
}

/// The log. Keys tell objects at one address apart.
#[derive(Debug, Default)]
pub struct Allocs(Mutex<Log>);

impl Allocs {
    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An allocation began. One without an address (0) is of no interest.
    pub fn made(&self, key: u64, va: u64, size: u64, kind: Kind) {
        if va == 0 {
            return;
        }
        self.lock().live.insert((va, key), Alloc { va, size, kind, made: Instant::now() });
    }

    /// It ended.
    pub fn freed(&self, key: u64, va: u64) {
        let mut log = self.lock();
        if let Some(alloc) = log.live.remove(&(va, key)) {
            if log.freed.len() == FREED {
                log.freed.pop_front();
            }
            log.freed.push_back((alloc, Instant::now()));
        }
    }

    /// Says what lies at or around an address.
    pub fn around(&self, va: u64) -> String {
        let log = self.lock();
        if let Some(a) = log.live.range(..=(va, u64::MAX)).rev().map(|(_, a)| a).find(|a| a.holds(va)) {
            return format!("it lies {} bytes into {}, made {} ago)", va - a.va, a.name(), ago(a.made.elapsed()));
        }
        if let Some((a, freed)) = log.freed.iter().rev().find(|(a, _)| a.holds(va)) {
            let lived = ago(freed.duration_since(a.made));
            let since = ago(freed.elapsed());
            return format!(
                "it lies in freed memory: {} bytes into {}, lived {lived}, freed {since} ago)",
                va - a.va,
                a.name()
            );
        }
        let null = match va {
            0 => "it is a null pointer",
            1..NULL => "it is a null pointer with an offset",
            _ => "",
        };
        if !null.is_empty() {
            return null.into();
        }
        let below = log.live.range(..=(va, u64::MAX)).next_back().map(|(_, a)| (a, va - a.end()));
        let above = log.live.range((va, 0)..).next().map(|(_, a)| (a, a.va - va));
        let near = |n: &Option<(&Alloc, u64)>| n.map_or(u64::MAX, |(_, d)| d);
        let past = near(&below) <= near(&above);
        match if past { below } else { above }.filter(|(_, d)| *d <= FAR) {
            Some((a, distance)) => {
                let side = if past { "past the end" } else { "before the start" };
                format!("it lies {distance} bytes {side} of {}, made {} ago)", a.name(), ago(a.made.elapsed()))
            }
            None if log.live.is_empty() => "nothing is allocated".into(),
            None => "nothing is allocated within 1 GiB of it".into(),
        }
    }
}

/// A time span for a person.
fn ago(d: Duration) -> String {
    match d.as_millis() {
        0 => "less than 1 ms".into(),
        ms @ 1..10_000 => format!("{ms} ms"),
        _ => format!("{} s", d.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: Kind = Kind { memory: "device memory", writable: true, executable: false };

    fn plain(text: &str) -> &str {
        text.split(", made").next().unwrap_or(text)
    }

    #[test]
    fn an_address_is_told_by_its_neighbours() {
        let log = Allocs::default();
        assert_eq!(log.around(0x5_0000), "nothing is allocated");
        log.made(1, 0x10_0000, 0x1000, DEVICE);
        log.made(2, 0x20_0000, 0x2000, Kind { writable: false, ..DEVICE });
        assert_eq!(
            plain(&log.around(0x10_1000)),
            "it lies 0 bytes past the end of 0x100000-0x101000 (4096 bytes of device memory"
        );
        assert_eq!(
            plain(&log.around(0x1f_fff8)),
            "it lies 8 bytes before the start of 0x200000-0x202000 (8192 bytes of read-only device memory"
        );
        assert!(log.around(0x20_1fff).starts_with("it lies 8191 bytes into 0x200000-0x202000"));
        assert_eq!(log.around(0), "it is a null pointer");
        assert_eq!(log.around(64), "it is a null pointer with an offset");
        assert_eq!(log.around(1 << 40), "nothing is allocated within 1 GiB of it");
    }

    #[test]
    fn freed_memory_is_known_until_something_else_lives_there() {
        let log = Allocs::default();
        log.made(1, 0x10_0000, 0x1000, DEVICE);
        log.freed(1, 0x10_0000);
        let said = log.around(0x10_0010);
        assert!(said.starts_with("it lies in freed memory: 16 bytes into 0x100000-0x101000 (4096 bytes"), "{said}");
        assert!(said.contains(", lived less than 1 ms, freed less than 1 ms ago)"), "{said}");
        log.made(2, 0x10_0000, 0x1000, DEVICE);
        assert!(log.around(0x10_0010).starts_with("it lies 16 bytes into"));
        for i in 0..2 * FREED as u64 {
            log.made(i, (i + 1) << 20, 0x1000, DEVICE);
            log.freed(i, (i + 1) << 20);
        }
        assert_eq!(log.lock().freed.len(), FREED);
    }
}
