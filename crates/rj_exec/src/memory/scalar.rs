//! Scalar loads and clocks.

use super::NONE;
use super::place::{Place, global};
use super::sub::kind as kinds;
use crate::uop::{FAULT, NEXT, Uop, rd, rd64, wr, wr64};
use crate::wave::Wave;

/// The scalar part of an offset: scalar `c` times the upper bits of `b` (if not 0).
unsafe fn more(u: &Uop, w: *mut Wave) -> u64 {
    if u.c == NONE {
        return 0;
    }
    // SAFETY: the caller's.
    unsafe { u64::from(rd(w, u.c)).wrapping_mul(u64::from(u.b >> 8).max(1)) }
}

/// `s_load_dword*`: `b` (7:0) dwords to `d` from base pair `a` plus scalar `c` (if any, times `b` 31:8 if not 0) plus
/// offset imm (signed). The two low address bits are ignored.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn s_load(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let va = rd64(w, u.a).wrapping_add(u.imm).wrapping_add(more(u, w)) & !3;
        let n = u.b & 0xff;
        if let Place::At(p) = global(w, va, u64::from(n) * 4, false, 0) {
            for k in 0..n {
                wr(w, u.d + 4 * k, p.cast::<u32>().add(k as usize).read_unaligned());
            }
            return NEXT;
        }
        // Loads of 8 and 16 dwords may reach past what is mapped only if they use it: dword by dword.
        (*w).fault = None;
        for k in 0..n {
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
        let (base, size) = buffer(w, u.a);
        let off = u.imm.wrapping_add(more(u, w)) & !3;
        for k in 0..u64::from(u.b & 0xff) {
            let at = off.wrapping_add(4 * k);
            let x = if at < size && size - at >= 4 {
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

/// A byte or half, extended as `memory::sub::kind` says (`b`); the address is not cut to dwords (gfx12 on).
unsafe fn sub(w: *mut Wave, d: u32, kind: u32, va: u64) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        let half = u64::from(kind) >= kinds::U16;
        let Place::At(p) = global(w, va, if half { 2 } else { 1 }, false, 0) else { return FAULT };
        let x = if half { u32::from(p.cast::<u16>().read_unaligned()) } else { u32::from(p.read()) };
        wr(w, d, extend(kind, x));
        NEXT
    }
}

fn extend(kind: u32, x: u32) -> u32 {
    match u64::from(kind) {
        kinds::I8 => i32::from(x as u8 as i8).cast_unsigned(),
        kinds::I16 => i32::from(x as u16 as i16).cast_unsigned(),
        _ => x,
    }
}

/// `s_load_u8` and its kin: as [`s_load`], kind in `b`.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn s_load_sub(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        sub(w, u.d, u.b & 0xff, rd64(w, u.a).wrapping_add(u.imm).wrapping_add(more(u, w)))
    }
}

/// `s_buffer_load_u8` and its kin: as [`s_buffer_load`], kind in `b`.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn s_buffer_load_sub(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let (base, size) = buffer(w, u.a);
        let off = u.imm.wrapping_add(more(u, w));
        let len = if u64::from(u.b & 0xff) >= kinds::U16 { 2 } else { 1 };
        if off >= size || size - off < len {
            wr(w, u.d, 0);
            return NEXT;
        }
        sub(w, u.d, u.b & 0xff, base + off)
    }
}

/// Base and bytes of the descriptor at scalar `a`.
unsafe fn buffer(w: *mut Wave, a: u32) -> (u64, u64) {
    // SAFETY: the caller's.
    unsafe {
        let base = rd64(w, a) & 0xffff_ffff_ffff;
        let stride = u64::from(rd(w, a + 4) >> 16 & 0x3fff);
        (base, u64::from(rd(w, a + 8)) * stride.max(1))
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
