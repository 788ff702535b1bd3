//! Lowered code, cached by the region that holds it. Blocks are lowered when first reached and never change; a table
//! with an entry for each dword of the region finds them without a lock.

use crate::fault::FaultKind;
use crate::lanes::Backend;
use crate::lower;
use crate::mem::{AddressSpace, Region, Snapshot};
use crate::uop::Uop;
use crate::wave::{CONSTS, STEMP};
use rj_isa::Target;
use std::collections::HashMap;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Slots for constants that code may intern; what finds no slot costs a micro-op at each use.
const SLOTS: usize = STEMP - CONSTS;

/// A basic block (or a piece of one) in lowered form.
#[derive(Debug)]
pub struct Block {
    /// Its micro-ops; the last one never returns [`crate::uop::NEXT`].
    pub uops: Box<[Uop]>,
    /// For each micro-op the offset of its instruction from `start`.
    pub at: Box<[u32]>,
    /// GPU address of its first instruction.
    pub start: u64,
    /// Instructions in it.
    pub count: u32,
    /// Constant slots that must be filled before it runs.
    pub consts: u32,
    /// What its trapping micro-ops raise.
    pub traps: Vec<FaultKind>,
}

/// Code of one region.
pub struct Code {
    /// Target that it is decoded for.
    pub target: Target,
    /// Backend that it is lowered for.
    pub backend: Backend,
    region: Region,
    table: Box<[AtomicPtr<Block>]>,
    consts: [AtomicU32; SLOTS],
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Boxed: other threads hold references while the list grows.
    #[allow(clippy::vec_box)]
    blocks: Vec<Box<Block>>,
    used: u32,
    slots: HashMap<Key, u32>,
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Word(u32),
    Pair(u64),
}

/// Interns constants while a block is lowered.
pub struct Consts<'a> {
    code: &'a Code,
    state: MutexGuard<'a, State>,
}

impl Consts<'_> {
    /// The slot (index in the scalar file) of a 32-bit constant.
    pub fn get32(&mut self, x: u32) -> Option<usize> {
        self.slot(Key::Word(x), &[x])
    }

    /// The first of two slots of a 64-bit constant.
    pub fn get64(&mut self, x: u64) -> Option<usize> {
        self.slot(Key::Pair(x), &[x as u32, (x >> 32) as u32])
    }

    fn slot(&mut self, key: Key, words: &[u32]) -> Option<usize> {
        if let Some(&s) = self.state.slots.get(&key) {
            return Some(CONSTS + s as usize);
        }
        let s = self.state.used;
        if s as usize + words.len() > SLOTS {
            return None;
        }
        for (i, w) in words.iter().enumerate() {
            self.code.consts[s as usize + i].store(*w, Ordering::Relaxed);
        }
        self.state.used += words.len() as u32;
        self.state.slots.insert(key, s);
        Some(CONSTS + s as usize)
    }

    /// Puts all of them into a scalar file.
    #[cfg(test)]
    pub(crate) fn fill(&self, s: &mut [u32]) {
        self.code.fill(s, 0, self.state.used);
    }

    /// Slots in use so far.
    pub fn used(&self) -> u32 {
        self.state.used
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Code({} at {:#x}+{:#x})", self.target.name(), self.region.va, self.region.len)
    }
}

impl Code {
    fn new(target: Target, backend: Backend, region: Region) -> Code {
        let n = (region.len / 4) as usize;
        Code {
            target,
            backend,
            region,
            table: (0..n).map(|_| AtomicPtr::new(null_mut())).collect(),
            consts: [const { AtomicU32::new(0) }; SLOTS],
            state: Mutex::default(),
        }
    }

    /// Lowers without code: for questions about single instructions.
    pub(crate) fn probe<R>(target: Target, region: Region, f: impl FnOnce(&mut Consts<'_>) -> R) -> R {
        let code = Code::new(target, Backend::Scalar, region);
        let state = code.state.lock().unwrap_or_else(|e| e.into_inner());
        f(&mut Consts { code: &code, state })
    }

    /// Whether the address lies in this region.
    #[inline]
    pub fn holds(&self, pc: u64) -> bool {
        pc.wrapping_sub(self.region.va) < self.region.len
    }

    /// One past the region's last byte.
    pub fn end(&self) -> u64 {
        self.region.end()
    }

    /// The block that starts at `pc`, which must lie in the region.
    #[inline]
    pub fn block(&self, pc: u64, snap: &Snapshot) -> &Block {
        let entry = &self.table[((pc - self.region.va) / 4) as usize];
        let p = entry.load(Ordering::Acquire);
        if p.is_null() {
            return self.lower(pc, snap);
        }
        // SAFETY: blocks live as long as the code: they are only ever added to `state.blocks`.
        unsafe { &*p }
    }

    #[cold]
    fn lower(&self, pc: u64, snap: &Snapshot) -> &Block {
        let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let entry = &self.table[((pc - self.region.va) / 4) as usize];
        let p = entry.load(Ordering::Acquire);
        if !p.is_null() {
            // SAFETY: as in `block`.
            return unsafe { &*p };
        }
        let mut consts = Consts { code: self, state };
        let block = Box::new(lower::block(self, snap, &mut consts, pc));
        let p: *const Block = &*block;
        consts.state.blocks.push(block);
        entry.store(p.cast_mut(), Ordering::Release);
        // SAFETY: the box was moved into `state.blocks`, its contents stay where they are.
        unsafe { &*p }
    }

    /// Copies the constants from slot `from` on into a wave's scalar file.
    pub fn fill(&self, s: &mut [u32], from: u32, to: u32) {
        for i in from as usize..to as usize {
            s[CONSTS + i] = self.consts[i].load(Ordering::Relaxed);
        }
    }
}

fn next_stamp() -> u64 {
    STAMPS.fetch_add(1, Ordering::Relaxed)
}

/// Decoded and lowered code of one GPU's address space. Shared by all threads.
#[derive(Debug)]
pub struct CodeCache {
    target: Target,
    backend: Backend,
    regions: Mutex<Vec<Arc<Code>>>,
    /// See [`CodeCache::stamp`].
    stamp: AtomicU64,
}

/// Stamps of all caches.
static STAMPS: AtomicU64 = AtomicU64::new(1);

impl CodeCache {
    /// An empty cache.
    pub fn new(target: Target) -> CodeCache {
        CodeCache::with_backend(target, crate::wave::backend())
    }

    /// An empty cache that lowers for that backend, which the CPU must have.
    pub fn with_backend(target: Target, backend: Backend) -> CodeCache {
        CodeCache { target, backend, regions: Mutex::default(), stamp: AtomicU64::new(next_stamp()) }
    }

    /// A number that no other cache has or had, and that changes with each invalidation: what was found under it may
    /// be used again without asking.
    pub fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::Acquire)
    }

    /// The target whose instructions it decodes.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The code that holds `pc`, if that is mapped and executable.
    pub fn find(&self, pc: u64, snap: &Snapshot) -> Result<Arc<Code>, FaultKind> {
        let denied = |mapped| FaultKind::Memory { address: pc, write: false, mapped, fetch: true };
        let region = *snap.find(pc).ok_or(denied(false))?;
        if !region.exec {
            return Err(denied(true));
        }
        let mut regions = self.lock();
        if let Some(code) = regions.iter().find(|c| c.region == region) {
            return Ok(code.clone());
        }
        regions.retain(|c| c.region.end() <= region.va || c.region.va >= region.end());
        let code = Arc::new(Code::new(self.target, self.backend, region));
        regions.push(code.clone());
        Ok(code)
    }

    /// Drops what was lowered from the range (instruction-cache invalidate, unmap). Waves that run keep what they have.
    pub fn invalidate(&self, va: u64, len: u64) {
        let end = va.saturating_add(len);
        self.lock().retain(|c| c.region.end() <= va || c.region.va >= end);
        self.stamp.store(next_stamp(), Ordering::Release);
    }

    /// Drops what lies in regions that are no longer mapped as they were.
    pub fn revalidate(&self, space: &AddressSpace) {
        let snap = space.snapshot();
        self.lock().retain(|c| snap.find(c.region.va).is_some_and(|r| *r == c.region));
        self.stamp.store(next_stamp(), Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Code>>> {
        self.regions.lock().unwrap_or_else(|e| e.into_inner())
    }
}
