//! Guest memory: which GPU virtual addresses exist, what they permit, and where their bytes are on the host.
//!
//! The map is a sorted, immutable snapshot that is swapped whole on map and unmap, so that a running wave never
//! takes a lock. This module holds the raw accesses; it must not know why a region exists.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A contiguous range of GPU virtual addresses backed by host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First GPU virtual address.
    pub va: u64,
    /// Length in bytes.
    pub len: u64,
    /// Host address of the byte at `va`. It stays readable (and writable if `write`) while the region is mapped, or
    /// a host fault there is turned into a GPU memory fault.
    pub host: usize,
    /// Loads are allowed.
    pub read: bool,
    /// Stores and atomics are allowed.
    pub write: bool,
    /// Instruction fetch is allowed.
    pub exec: bool,
    /// The allocation that this region belongs to, for reports.
    pub alloc: u64,
}

impl Region {
    /// One past the last address.
    pub fn end(&self) -> u64 {
        self.va + self.len
    }
}

/// Why an address range cannot be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// The range is empty or wraps around.
    Bad,
    /// It overlaps the region that starts at this address.
    Overlap(u64),
}

/// An access that the map does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denied {
    /// First address that is not accessible.
    pub va: u64,
    /// It was a store.
    pub write: bool,
    /// The address is mapped, but not for this.
    pub mapped: bool,
}

/// The map at one moment.
#[derive(Default, Debug)]
pub struct Snapshot {
    regions: Vec<Region>,
}

impl Snapshot {
    /// The region that holds `va`.
    #[inline]
    pub fn find(&self, va: u64) -> Option<&Region> {
        let i = self.regions.partition_point(|r| r.va <= va);
        let r = &self.regions[i.checked_sub(1)?];
        (va - r.va < r.len).then_some(r)
    }

    /// All regions, by address.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Host pointer to `len` bytes at `va`, all in one region that permits the access.
    #[inline]
    pub fn host(&self, va: u64, len: u64, write: bool) -> Result<*mut u8, Denied> {
        match self.find(va) {
            Some(r) if (if write { r.write } else { r.read }) => {
                if r.end() - va >= len {
                    Ok((r.host + (va - r.va) as usize) as *mut u8)
                } else {
                    Err(Denied { va: r.end(), write, mapped: false })
                }
            }
            Some(_) => Err(Denied { va, write, mapped: true }),
            None => Err(Denied { va, write, mapped: false }),
        }
    }

    /// Copies guest bytes out, across regions if need be.
    pub fn read(&self, va: u64, out: &mut [u8]) -> Result<(), Denied> {
        self.pieces(va, out.len() as u64, false, |host, at, len| {
            // SAFETY: `host` is valid for `len` bytes by the region's promise, `out` by its slice.
            unsafe { std::ptr::copy(host.cast_const(), out[at..].as_mut_ptr(), len) }
        })
    }

    /// Copies bytes into guest memory, across regions if need be.
    pub fn write(&self, va: u64, data: &[u8]) -> Result<(), Denied> {
        self.pieces(va, data.len() as u64, true, |host, at, len| {
            // SAFETY: as in `read`.
            unsafe { std::ptr::copy(data[at..].as_ptr(), host, len) }
        })
    }

    /// Calls `f(host, offset, len)` for each region's share of the range; nothing is called if any part is denied.
    pub fn pieces(
        &self,
        va: u64,
        len: u64,
        write: bool,
        mut f: impl FnMut(*mut u8, usize, usize),
    ) -> Result<(), Denied> {
        for dry in [true, false] {
            let mut at = 0;
            while at < len {
                let here = va.wrapping_add(at);
                let r = match self.find(here) {
                    Some(r) if (if write { r.write } else { r.read }) => r,
                    other => return Err(Denied { va: here, write, mapped: other.is_some() }),
                };
                let n = (len - at).min(r.end() - here);
                if !dry {
                    f((r.host + (here - r.va) as usize) as *mut u8, at as usize, n as usize);
                }
                at += n;
            }
        }
        Ok(())
    }

    /// A dword of guest memory as an atomic, 4-byte aligned.
    pub fn atomic_u32(&self, va: u64, write: bool) -> Result<&AtomicU32, Denied> {
        if !va.is_multiple_of(4) {
            return Err(Denied { va, write, mapped: true });
        }
        let p = self.host(va, 4, write)?;
        // SAFETY: valid and aligned by the checks above; shared memory is only touched through atomics or copies.
        Ok(unsafe { AtomicU32::from_ptr(p.cast()) })
    }

    /// A quadword of guest memory as an atomic, 8-byte aligned.
    pub fn atomic_u64(&self, va: u64, write: bool) -> Result<&AtomicU64, Denied> {
        if !va.is_multiple_of(8) {
            return Err(Denied { va, write, mapped: true });
        }
        let p = self.host(va, 8, write)?;
        // SAFETY: as for `atomic_u32`.
        Ok(unsafe { AtomicU64::from_ptr(p.cast()) })
    }
}

/// Where regions were found before: a small table that a thread keeps from group to group.
#[derive(Debug, Default)]
pub struct Tlb {
    entries: [Hot; 32],
    /// The map that the entries are of.
    of: Option<Arc<Snapshot>>,
}

/// A region that was found: addresses below `len` from `va` are at `host`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hot {
    /// First address.
    pub va: u64,
    /// Bytes; 0: no region.
    pub len: u64,
    /// Host address of `va`.
    pub host: usize,
    /// Loads are allowed.
    pub read: bool,
    /// Stores are allowed.
    pub write: bool,
}

impl Tlb {
    /// The entry for an address: neighbouring 2 MiB pieces have different ones.
    #[inline(always)]
    pub fn entry(&mut self, va: u64) -> &mut Hot {
        &mut self.entries[((va >> 21 ^ va >> 26) & 31) as usize]
    }

    /// Forgets what is not of this map; true if it is another than before.
    pub fn follow(&mut self, snap: &Arc<Snapshot>) -> bool {
        let other = !self.of.as_ref().is_some_and(|s| Arc::ptr_eq(s, snap));
        if other {
            self.entries = Default::default();
            self.of = Some(snap.clone());
        }
        other
    }
}

/// One GPU's address space in one process.
#[derive(Default, Debug)]
pub struct AddressSpace {
    current: Mutex<Arc<Snapshot>>,
    generation: AtomicU64,
}

impl AddressSpace {
    /// An empty one.
    pub fn new() -> AddressSpace {
        AddressSpace::default()
    }

    /// The map now. Holders must look at [`AddressSpace::generation`] to learn of changes.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.lock().clone()
    }

    /// Grows with each change of the map.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Adds a region.
    pub fn map(&self, region: Region) -> Result<(), MapError> {
        if region.len == 0 || region.va.checked_add(region.len).is_none() {
            return Err(MapError::Bad);
        }
        let mut current = self.lock();
        let i = current.regions.partition_point(|r| r.va <= region.va);
        let before = i.checked_sub(1).map(|i| current.regions[i]).filter(|r| r.end() > region.va);
        let after = current.regions.get(i).copied().filter(|r| r.va < region.end());
        if let Some(r) = before.or(after) {
            return Err(MapError::Overlap(r.va));
        }
        let mut regions = Vec::with_capacity(current.regions.len() + 1);
        regions.extend_from_slice(&current.regions[..i]);
        regions.push(region);
        regions.extend_from_slice(&current.regions[i..]);
        *current = Arc::new(Snapshot { regions });
        self.generation.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Removes whatever lies in the range, splitting regions at its ends.
    pub fn unmap(&self, va: u64, len: u64) {
        self.replace(va, len, &[]);
    }

    /// The same, and puts these regions in its place (inside the range, ascending, disjoint), all at one moment.
    pub fn replace(&self, va: u64, len: u64, with: &[Region]) {
        let end = va.saturating_add(len);
        let mut current = self.lock();
        let mut regions = Vec::with_capacity(current.regions.len() + 1 + with.len());
        for r in &current.regions {
            if r.end() <= va || r.va >= end {
                regions.push(*r);
                continue;
            }
            if r.va < va {
                regions.push(Region { len: va - r.va, ..*r });
            }
            if r.end() > end {
                let cut = end - r.va;
                regions.push(Region { va: end, len: r.len - cut, host: r.host + cut as usize, ..*r });
            }
        }
        let at = regions.partition_point(|r| r.va < va);
        regions.splice(at..at, with.iter().copied());
        *current = Arc::new(Snapshot { regions });
        self.generation.fetch_add(1, Ordering::Release);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arc<Snapshot>> {
        self.current.lock().unwrap_or_else(|e| e.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(va: u64, len: u64) -> Region {
        Region { va, len, host: va as usize, read: true, write: true, exec: false, alloc: 0 }
    }

    #[test]
    fn regions_are_found_split_and_refused_when_they_overlap() {
        let s = AddressSpace::new();
        s.map(region(0x1000, 0x3000)).unwrap();
        assert_eq!(s.map(region(0x3000, 0x2000)), Err(MapError::Overlap(0x1000)));
        s.unmap(0x2000, 0x1000);
        let now = s.snapshot();
        assert!(now.find(0x2000).is_none());
        assert_eq!(now.find(0x3fff).unwrap().host, 0x3000);
        assert_eq!(now.host(0x1ff8, 16, false), Err(Denied { va: 0x2000, write: false, mapped: false }));
        assert!(now.find(0xfff).is_none() && now.find(0x4000).is_none());
    }

    #[test]
    fn a_range_is_replaced_within_a_larger_region() {
        let s = AddressSpace::new();
        s.map(region(0x1000, 0x4000)).unwrap();
        s.replace(0x2000, 0x2000, &[Region { write: false, ..region(0x3000, 0x1000) }]);
        let now = s.snapshot();
        let all: Vec<_> = now.regions().iter().map(|r| (r.va, r.end(), r.write)).collect();
        assert_eq!(all, [(0x1000, 0x2000, true), (0x3000, 0x4000, false), (0x4000, 0x5000, true)]);
    }
}
