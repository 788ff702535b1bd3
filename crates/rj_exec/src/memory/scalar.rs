//! Scalar loads and clocks.

use super::NONE;
use super::place::{Place, global};
use crate::uop::{FAULT, NEXT, Uop, rd, rd64, wr, wr64};
use crate::wave::Wave;

/// `s_load_dword*`: `b` dwords to `d` from base pair `a` plus scalar `c` (if not 0) plus offset imm (signed). The two low
/// address bits are ignored.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn s_load(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let mut va = rd64(w, u.a).wrapping_add(u.imm);
        if u.c != NONE {
            va = va.wrapping_add(u64::from(rd(w, u.c)));
        }
        let va = va & !3;
        if let Place::At(p) = global(w, va, u64::from(u.b) * 4, false, 0) {
            for k in 0..u.b {
                wr(w, u.d + 4 * k, p.cast::<u32>().add(k as usize).read_unaligned());
            }
            return NEXT;
        }
        // Loads of 8 and 16 dwords may reach past what is mapped only if they use it: dword by dword.
        (*w).fault = None;
        for k in 0..u.b {
            match global(w, va + 4 * u64::from(k), 4, false, 0) {
                Place::At(p) => wr(w, u.d + 4 * k, p.cast::<u32>().read_unaligned()),
                _ => return FAULT,
            }
        }
        NEXT
    }
}

/// `s_buffer_load_dword*`: base and size from the descriptor at `a`; past its end reads 0.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn s_buffer_load(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let base = rd64(w, u.a) & 0xffff_ffff_ffff;
        let stride = u64::from(rd(w, u.a + 4) >> 16 & 0x3fff);
        let size = u64::from(rd(w, u.a + 8)) * stride.max(1);
        let mut off = u.imm;
        if u.c != NONE {
            off = off.wrapping_add(u64::from(rd(w, u.c)));
        }
        let off = off & !3;
        for k in 0..u64::from(u.b) {
            let at = off.wrapping_add(4 * k);
            let x = if at + 4 <= size {
                match global(w, base + at, 4, false, 0) {
                    Place::At(p) => p.cast::<u32>().read_unaligned(),
                    _ => return FAULT,
                }
            } else {
                0
            };
            wr(w, u.d + 4 * k as u32, x);
        }
        NEXT
    }
}

/// `s_memtime`, `s_memrealtime`: the 100 MHz clock for both (the engine has no other).
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn s_time(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract; `host` is valid during a turn.
    unsafe {
        let now = (*w).host.map_or(0, |h| (*h).clock());
        wr64(w, (*u).d, now);
        NEXT
    }
}
