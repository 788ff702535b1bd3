//! Lowered code, cached by the region that holds it.

use crate::mem::AddressSpace;
use rj_isa::Target;

/// Decoded and lowered code of one GPU's address space. Shared by all threads.
#[derive(Debug)]
pub struct CodeCache {
    target: Target,
}

impl CodeCache {
    /// An empty cache.
    pub fn new(target: Target) -> CodeCache {
        CodeCache { target }
    }

    /// The target whose instructions it decodes.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Drops what was lowered from the range (instruction-cache invalidate, unmap). Waves that run keep what they have.
    pub fn invalidate(&self, va: u64, len: u64) {
        let _ = (va, len);
    }

    /// Drops what lies in regions that are no longer mapped as they were.
    pub fn revalidate(&self, space: &AddressSpace) {
        let _ = space;
    }
}
