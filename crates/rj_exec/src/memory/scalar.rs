//! Scalar loads and clocks.

use super::NONE;
use super::place::{Place, global};
use super::vector::sub as kinds;
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
        let (base, size) = buffer(w, u.a);
        let mut off = u.imm;
        if u.c != NONE {
            off = off.wrapping_add(u64::from(rd(w, u.c)));
        }
        let off = off & !3;
        for k in 0..u64::from(u.b) {
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

/// A byte or half, extended as `memory::vector::sub` says (`b`); the address is not cut to dwords (gfx12 on).
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
        let more = if u.c != NONE { u64::from(rd(w, u.c)) } else { 0 };
        sub(w, u.d, u.b, rd64(w, u.a).wrapping_add(u.imm).wrapping_add(more))
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
        let more = if u.c != NONE { u64::from(rd(w, u.c)) } else { 0 };
        let off = u.imm.wrapping_add(more);
        let len = if u64::from(u.b) >= kinds::U16 { 2 } else { 1 };
        if off >= size || size - off < len {
            wr(w, u.d, 0);
            return NEXT;
        }
        sub(w, u.d, u.b, base + off)
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
