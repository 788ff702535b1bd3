//! A GPU's memory: one sparse file, handed out in page-aligned ranges, lowest first.

use crate::{Errno, hostfd, raw};
use std::collections::BTreeMap;
use std::os::fd::RawFd;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Ranges of this size and more start at multiples of it, so that the host may use large pages.
const LARGE: u64 = 2 << 20;

/// The memory of one GPU (device memory and system memory that the driver allocates).
#[derive(Debug)]
pub struct Heap {
    fd: RawFd,
    base: usize,
    /// Free ranges: start to length, never adjacent.
    free: BTreeMap<u64, u64>,
}

impl Heap {
    /// A heap of `len` bytes. It takes memory only where it is touched.
    pub fn new(len: u64) -> Result<Heap, Errno> {
        let fd = hostfd::keep(raw::memfd(c"rocjitsu-heap", len)?)?;
        let base = raw::map_shared(fd, len).inspect_err(|_| hostfd::drop_kept(fd))?;
        Ok(Heap { fd, base, free: BTreeMap::from([(0, len)]) })
    }

    /// The file, for mappings of the program.
    pub fn fd(&self) -> RawFd {
        self.fd
    }

    /// Where the engine sees offset `off`.
    pub fn host(&self, off: u64) -> usize {
        self.base + off as usize
    }

    /// A range of `len` bytes (a multiple of a page) that reads as zeros.
    pub fn alloc(&mut self, len: u64) -> Option<u64> {
        let align = if len >= LARGE { LARGE } else { PAGE };
        let (start, have, at) = self.free.iter().find_map(|(&start, &have)| {
            let at = start.next_multiple_of(align);
            (at - start).checked_add(len).is_some_and(|n| n <= have).then_some((start, have, at))
        })?;
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        let rest = start + have - (at + len);
        if rest > 0 {
            self.free.insert(at + len, rest);
        }
        Some(at)
    }

    /// Gives a range back, pages and all.
    pub fn release(&mut self, off: u64, len: u64) {
        // A failure leaves old bytes in place; the range then must not be handed out again.
        if raw::punch(self.fd, off, len).is_err() {
            return;
        }
        let (mut start, mut end) = (off, off + len);
        if let Some((&s, &n)) = self.free.range(..off).next_back()
            && s + n == off
        {
            self.free.remove(&s);
            start = s;
        }
        if let Some(&n) = self.free.get(&end) {
            self.free.remove(&end);
            end += n;
        }
        self.free.insert(start, end - start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_reused_and_free_ones_merge() {
        let mut h = Heap::new(64 << 20).unwrap();
        let a = h.alloc(PAGE).unwrap();
        let b = h.alloc(4 << 20).unwrap();
        let c = h.alloc(PAGE).unwrap();
        assert_eq!((a, b % LARGE), (0, 0));
        assert!(h.alloc(64 << 20).is_none());
        h.release(a, PAGE);
        h.release(c, PAGE);
        h.release(b, 4 << 20);
        assert_eq!(h.free, BTreeMap::from([(0, 64 << 20)]));
        assert_eq!(h.alloc(64 << 20), Some(0));
    }
}
