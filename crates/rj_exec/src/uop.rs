//! Micro-ops: a handler, byte offsets of its operands in the wave's block, an immediate. 32 bytes.

use crate::wave::Wave;

/// Executes a micro-op. Returns [`NEXT`] to go on with the next one, anything else ends the block.
///
/// # Safety
/// The micro-op's offsets must lie in the wave's block; a vector handler needs its CPU features.
pub type Handler = unsafe fn(*const Uop, *mut Wave) -> u32;

/// Go on with the next micro-op.
pub const NEXT: u32 = 0;
/// The block has ended; the wave goes on at its `pc`.
pub const JUMP: u32 = 1;
/// The wave has ended.
pub const END: u32 = 2;
/// The wave waits at the group's barrier and goes on at its `pc`.
pub const BARRIER: u32 = 3;
/// Let others run, then go on at `pc`.
pub const SLEEP: u32 = 4;
/// The wave's `fault` says why.
pub const FAULT: u32 = 5;
/// `s_sendmsg` interrupt with event id `arg`; go on at `pc`.
pub const MESSAGE: u32 = 6;
/// Plus n: the n micro-ops behind this one are done, too. Above all other answers.
pub const RUN: u32 = 1 << 16;

/// A micro-op.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Uop {
    /// What to do.
    pub h: Handler,
    /// Destination offset.
    pub d: u32,
    /// First source offset.
    pub a: u32,
    /// Second source offset.
    pub b: u32,
    /// Third source offset.
    pub c: u32,
    /// Whatever else the handler wants.
    pub imm: u64,
}

const _: () = assert!(size_of::<Uop>() == 32);

impl Uop {
    /// `d`, `a`, `b` and `c` with two loads: a handler that does little else waits for the load ports.
    ///
    /// # Safety
    /// `u` must point to a micro-op.
    #[inline(always)]
    pub unsafe fn offsets(u: *const Uop) -> [u32; 4] {
        // SAFETY: the caller's; the fields lie side by side (`repr(C)`), 8-byte aligned behind a pointer.
        let [da, bc] = unsafe { (&raw const (*u).d).cast::<[u64; 2]>().read_volatile() };
        [da as u32, (da >> 32) as u32, bc as u32, (bc >> 32) as u32]
    }
}

/// The dwords at a byte offset of the block.
///
/// # Safety
/// `off` must lie in the block.
#[inline(always)]
pub unsafe fn at(w: *mut Wave, off: u32) -> *mut u32 {
    // SAFETY: the caller's.
    unsafe { w.cast::<u8>().add(off as usize).cast() }
}

/// Reads a scalar.
///
/// # Safety
/// As [`at`].
#[inline(always)]
pub unsafe fn rd(w: *mut Wave, off: u32) -> u32 {
    // SAFETY: the caller's.
    unsafe { at(w, off).read() }
}

/// Writes a scalar.
///
/// # Safety
/// As [`at`].
#[inline(always)]
pub unsafe fn wr(w: *mut Wave, off: u32, x: u32) {
    // SAFETY: the caller's.
    unsafe { at(w, off).write(x) }
}

/// Reads a scalar pair (pairs may be only 4-byte aligned).
///
/// # Safety
/// As [`at`].
#[inline(always)]
pub unsafe fn rd64(w: *mut Wave, off: u32) -> u64 {
    // SAFETY: the caller's.
    unsafe { at(w, off).cast::<u64>().read_unaligned() }
}

/// Writes a scalar pair.
///
/// # Safety
/// As [`at`].
#[inline(always)]
pub unsafe fn wr64(w: *mut Wave, off: u32, x: u64) {
    // SAFETY: the caller's.
    unsafe { at(w, off).cast::<u64>().write_unaligned(x) }
}
