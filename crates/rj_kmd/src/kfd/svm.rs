//! Shared virtual memory: ranges of the program's own memory that GPUs see at the same addresses (managed memory,
//! managed variables, context save areas). Attributes are kept as the kernel keeps them (kfd_svm.c, kfd_ioctl.h);
//! nothing migrates, so locations are remembered and have no effect.

use crate::heap::PAGE;
use crate::process::Driver;
use crate::{Errno, raw, user};
use rj_exec::Region;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// What regions of shared memory give as their allocation; no handle of an object is 1.
pub const ALLOC: u64 = 1;

// KFD_IOCTL_SVM_ATTR_*.
const PREFERRED_LOC: u32 = 0;
const PREFETCH_LOC: u32 = 1;
const ACCESS: u32 = 2;
const ACCESS_IN_PLACE: u32 = 3;
const NO_ACCESS: u32 = 4;
const SET_FLAGS: u32 = 5;
const CLR_FLAGS: u32 = 6;
const GRANULARITY: u32 = 7;
// KFD_IOCTL_SVM_LOCATION_*.
const SYSMEM: u32 = 0;
const UNDEFINED: u32 = u32::MAX;
// KFD_IOCTL_SVM_FLAG_*.
const HOST_ACCESS: u32 = 1;
const COHERENT: u32 = 2;
const GPU_READ_ONLY: u32 = 8;
const GPU_EXEC: u32 = 0x10;

/// One range's attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    end: u64,
    preferred: u32,
    prefetch: u32,
    granularity: u32,
    flags: u32,
    /// GPUs with access, a bit each; of those, GPUs that must not migrate it.
    access: u64,
    in_place: u64,
}

impl Range {
    fn new(end: u64) -> Range {
        let flags = HOST_ACCESS | COHERENT;
        Range { end, preferred: UNDEFINED, prefetch: UNDEFINED, granularity: 9, flags, access: 0, in_place: 0 }
    }

    fn set(&mut self, gpu: Option<usize>, kind: u32, value: u32) {
        let bit = gpu.map_or(0, |g| 1 << g);
        match kind {
            PREFERRED_LOC => self.preferred = value,
            PREFETCH_LOC => self.prefetch = value,
            ACCESS => (self.access, self.in_place) = (self.access | bit, self.in_place & !bit),
            ACCESS_IN_PLACE => (self.access, self.in_place) = (self.access | bit, self.in_place | bit),
            NO_ACCESS => (self.access, self.in_place) = (self.access & !bit, self.in_place & !bit),
            SET_FLAGS => self.flags |= value,
            CLR_FLAGS => self.flags &= !value,
            _ => self.granularity = value.min(0x3f),
        }
    }
}

/// The shared ranges of a process: start to attributes, disjoint.
#[derive(Debug, Default)]
pub struct Svm(BTreeMap<u64, Range>);

/// Bounds of all ranges there ever were, to see without a lock that an address is elsewhere.
#[derive(Debug)]
pub struct Bounds {
    low: AtomicU64,
    high: AtomicU64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { low: AtomicU64::new(u64::MAX), high: AtomicU64::new(0) }
    }
}

impl Bounds {
    /// Some shared memory may lie there.
    pub fn meet(&self, at: u64, len: u64) -> bool {
        at < self.high.load(SeqCst) && at.saturating_add(len) > self.low.load(SeqCst)
    }
}

impl Svm {
    /// A range begins at `at`, if any holds it.
    fn split(&mut self, at: u64) {
        if let Some((_, r)) = self.0.range_mut(..at).next_back()
            && r.end > at
        {
            let rest = *r;
            r.end = at;
            self.0.insert(at, rest);
        }
    }

    fn within(&self, at: u64, end: u64) -> impl Iterator<Item = (u64, &Range)> {
        let first = self.0.range(..=at).next_back().filter(|(_, r)| r.end > at);
        first
            .into_iter()
            .chain(self.0.range((Excluded(at), Unbounded)))
            .take_while(move |(s, _)| **s < end)
            .map(|(s, r)| (*s, r))
    }

    /// Fills what no range holds.
    fn fill(&mut self, at: u64, end: u64) {
        let mut next = at;
        let mut gaps = Vec::new();
        for (start, r) in self.within(at, end) {
            if start > next {
                gaps.push((next, start));
            }
            next = r.end;
        }
        if next < end {
            gaps.push((next, end));
        }
        self.0.extend(gaps.into_iter().map(|(start, end)| (start, Range::new(end))));
    }

    /// What GPU `g` sees of it.
    fn regions(&self, at: u64, end: u64, g: usize) -> Vec<Region> {
        let seen = self.within(at, end).filter(|(_, r)| r.access & 1 << g != 0);
        seen.map(|(start, r)| Region {
            va: start,
            len: r.end - start,
            host: start as usize,
            read: true,
            write: r.flags & GPU_READ_ONLY == 0,
            exec: r.flags & GPU_EXEC != 0,
            alloc: ALLOC,
        })
        .collect()
    }

    /// Shows each GPU what it has access to.
    fn show(&self, driver: &Driver, at: u64, end: u64) {
        for g in 0..driver.gpus.len() {
            let space = driver.machine.space(g);
            let wanted = self.regions(at, end, g);
            let map = space.snapshot();
            let first = map.regions().partition_point(|r| r.end() <= at);
            let now = map.regions()[first..].iter().take_while(|r| r.va < end);
            if !now.eq(&wanted) {
                space.replace(at, end - at, &wanted);
                driver.machine.code(g).invalidate(at, end - at);
            }
        }
    }

    /// The program's memory there is gone, or belongs to an object of the driver now.
    pub fn forget(&mut self, driver: &Driver, at: u64, len: u64) {
        let end = at.saturating_add(len).next_multiple_of(PAGE);
        if self.within(at, end).next().is_none() {
            return;
        }
        self.split(at);
        self.split(end);
        self.0.retain(|start, _| !(at..end).contains(start));
        self.show(driver, at, end);
    }
}

/// The SVM ioctl: set (0) or get (1) a list of attributes of a range. `room` is the argument's size.
pub fn svm(driver: &Driver, arg: u64, room: usize) -> Result<(), Errno> {
    let mut head = [0u8; 24];
    user::read(arg, &mut head)?;
    let q = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
    let d = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap_or_default());
    let (at, size, op, n) = (q(0), q(8), d(16), d(20) as usize);
    let end = at.checked_add(size).ok_or(Errno::EINVAL)?;
    if size == 0 || at % PAGE != 0 || size % PAGE != 0 || n > 4096 || room < 24 + 8 * n {
        return Err(Errno::EINVAL);
    }
    let mut list = vec![0u8; 8 * n];
    user::read(arg + 24, &mut list)?;
    let mut attributes: Vec<(u32, u32)> = list
        .chunks(8)
        .map(|c| {
            let d = |at: usize| u32::from_le_bytes(c[at..at + 4].try_into().unwrap_or_default());
            (d(0), d(4))
        })
        .collect();
    match op {
        0 => set(driver, at, end, &attributes),
        1 => {
            get(driver, at, end, &mut attributes)?;
            let back: Vec<u8> =
                attributes.iter().flat_map(|(k, v)| [k.to_le_bytes(), v.to_le_bytes()].concat()).collect();
            user::write(arg + 24, &back)
        }
        _ => Err(Errno::EINVAL),
    }
}

/// The GPU that an attribute names; None for system memory and no place.
fn named(driver: &Driver, kind: u32, value: u32) -> Result<Option<usize>, Errno> {
    match kind {
        PREFERRED_LOC | PREFETCH_LOC if value == SYSMEM || value == UNDEFINED => Ok(None),
        PREFERRED_LOC | PREFETCH_LOC | ACCESS | ACCESS_IN_PLACE | NO_ACCESS => super::gpu(driver, value).map(Some),
        SET_FLAGS | CLR_FLAGS | GRANULARITY => Ok(None),
        _ => Err(Errno::EINVAL),
    }
}

fn set(driver: &Driver, at: u64, end: u64, attributes: &[(u32, u32)]) -> Result<(), Errno> {
    let mut changes = Vec::with_capacity(attributes.len());
    for &(kind, value) in attributes {
        changes.push((named(driver, kind, value)?, kind, value));
    }
    if !raw::mapped(at, end - at) {
        return Err(Errno::EFAULT);
    }
    let mut state = driver.state();
    let taken = |g: usize| {
        let map = driver.machine.space(g).snapshot();
        let first = map.regions().partition_point(|r| r.end() <= at);
        map.regions()[first..].iter().take_while(|r| r.va < end).any(|r| r.alloc != ALLOC)
    };
    if (0..driver.gpus.len()).any(taken) {
        return Err(Errno(libc::EADDRINUSE));
    }
    driver.svm_bounds.low.fetch_min(at, SeqCst);
    driver.svm_bounds.high.fetch_max(end, SeqCst);
    let svm = &mut state.svm;
    svm.split(at);
    svm.split(end);
    svm.fill(at, end);
    for (_, range) in svm.0.range_mut(at..end) {
        for &(gpu, kind, value) in &changes {
            range.set(gpu, kind, value);
        }
    }
    svm.show(driver, at, end);
    Ok(())
}

/// What all of the range has in common.
fn get(driver: &Driver, at: u64, end: u64, attributes: &mut [(u32, u32)]) -> Result<(), Errno> {
    let state = driver.state();
    let mut ranges: Vec<Range> = Vec::new();
    let mut next = at;
    for (start, r) in state.svm.within(at, end) {
        if start > next {
            ranges.push(Range::new(start));
        }
        ranges.push(*r);
        next = r.end;
    }
    if next < end {
        ranges.push(Range::new(end));
    }
    let common = |of: fn(&Range) -> u32| {
        let first = of(&ranges[0]);
        if ranges.iter().all(|r| of(r) == first) { first } else { UNDEFINED }
    };
    for (kind, value) in attributes {
        match *kind {
            PREFERRED_LOC => *value = common(|r| r.preferred),
            PREFETCH_LOC => *value = common(|r| r.prefetch),
            ACCESS => {
                let bit = 1u64 << super::gpu(driver, *value)?;
                *kind = if ranges.iter().all(|r| r.in_place & bit != 0) {
                    ACCESS_IN_PLACE
                } else if ranges.iter().all(|r| r.access & bit != 0) {
                    ACCESS
                } else {
                    NO_ACCESS
                };
            }
            SET_FLAGS => *value = ranges.iter().fold(u32::MAX, |f, r| f & r.flags),
            CLR_FLAGS => *value = ranges.iter().fold(u32::MAX, |f, r| f & !r.flags),
            GRANULARITY => *value = ranges.iter().map(|r| r.granularity).min().unwrap_or(9),
            _ => return Err(Errno::EINVAL),
        }
    }
    Ok(())
}
