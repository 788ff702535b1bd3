//! Loads and stores of bytes and halves.

use super::place::{Place, common, parts, place};
use super::space::*;
use super::vector::order;
use crate::uop::{FAULT, Handler, NEXT, Uop, at};
use crate::wave::Wave;

/// Kinds of sub-dword accesses (imm 47:44).
pub mod kind {
    /// Zero-extended byte.
    pub const U8: u64 = 0;
    /// Sign-extended byte.
    pub const I8: u64 = 1;
    /// Zero-extended half.
    pub const U16: u64 = 2;
    /// Sign-extended half.
    pub const I16: u64 = 3;
    /// Byte to the low half, zero-extended.
    pub const U8_D16: u64 = 4;
    /// Byte to the high half.
    pub const U8_D16_HI: u64 = 5;
    /// Byte to the low half, sign-extended.
    pub const I8_D16: u64 = 6;
    /// Byte to the high half.
    pub const I8_D16_HI: u64 = 7;
    /// Half to the low half.
    pub const U16_D16: u64 = 8;
    /// Half to the high half.
    pub const U16_D16_HI: u64 = 9;
}

/// A lane's bytes, or None on a fault.
#[inline(always)]
unsafe fn fetch<const SPACE: u8>(u: &Uop, w: *mut Wave, c: &super::place::Common, lane: u32, n: usize) -> Option<u32> {
    // SAFETY: the handler's contract.
    unsafe {
        Some(match place::<SPACE>(u, w, c, lane, 0, n as u64, false) {
            Place::At(p) if n == 2 => u32::from(p.cast::<u16>().read_unaligned()),
            Place::At(p) => u32::from(p.read()),
            Place::Nowhere => 0,
            Place::Parts => {
                let mut words = [0; 4];
                if !parts::<SPACE>(u, w, c, lane, n, false, &mut words) {
                    return None;
                }
                words[0]
            }
            Place::Fault => return None,
        })
    }
}

/// Loads a byte or half a lane; kind in imm 47:44; bit 48: the other half of a D16 result is kept (no SRAM ECC).
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn load_sub<const SPACE: u8>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let mut rest = (*w).exec();
        order(u, w);
        let c = &common::<SPACE>(u, w);
        let kind = u.imm >> 44 & 15;
        let keep = u.imm >> 48 & 1 != 0;
        let n = if matches!(kind, kind::U16 | kind::I16 | kind::U16_D16 | kind::U16_D16_HI) { 2 } else { 1 };
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let Some(x) = fetch::<SPACE>(u, w, c, lane, n) else { return FAULT };
            let d = at(w, u.d).add(lane as usize);
            let i8 = i32::from(x as u8 as i8).cast_unsigned();
            let i16 = i32::from(x as u16 as i16).cast_unsigned();
            let low = |v: u32| v & 0xffff | if keep { d.read() & 0xffff_0000 } else { 0 };
            let high = |v: u32| v << 16 | if keep { d.read() & 0xffff } else { 0 };
            d.write(match kind {
                kind::I8 => i8,
                kind::I16 => i16,
                kind::U8_D16 | kind::U16_D16 => low(x),
                kind::I8_D16 => low(i8),
                kind::U8_D16_HI | kind::U16_D16_HI => high(x),
                kind::I8_D16_HI => high(i8),
                _ => x,
            });
        }
        NEXT
    }
}

/// Stores a byte (imm 44 clear) or half of a lane's dword; imm 45: of its upper half.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn store_sub<const SPACE: u8>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let mut rest = (*w).exec();
        if SPACE != LDS {
            (*w).stored = true;
        }
        let c = &common::<SPACE>(u, w);
        let n = if u.imm >> 44 & 1 != 0 { 2 } else { 1 };
        let shift = if u.imm >> 45 & 1 != 0 { 16 } else { 0 };
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let x = at(w, u.d).add(lane as usize).read() >> shift;
            match place::<SPACE>(u, w, c, lane, 0, n as u64, true) {
                Place::At(p) if n == 2 => p.cast::<u16>().write_unaligned(x as u16),
                Place::At(p) => p.write(x as u8),
                Place::Nowhere => {}
                Place::Parts => {
                    if !parts::<SPACE>(u, w, c, lane, n, true, &mut [x, 0, 0, 0]) {
                        return FAULT;
                    }
                }
                Place::Fault => return FAULT,
            }
        }
        NEXT
    }
}

/// The handler of a space.
pub fn pick(space: u8, store: bool) -> Handler {
    match (space, store) {
        (GLOBAL, false) => load_sub::<GLOBAL>,
        (FLAT, false) => load_sub::<FLAT>,
        (SCRATCH, false) => load_sub::<SCRATCH>,
        (LDS, false) => load_sub::<LDS>,
        (_, false) => load_sub::<BUFFER>,
        (GLOBAL, true) => store_sub::<GLOBAL>,
        (FLAT, true) => store_sub::<FLAT>,
        (SCRATCH, true) => store_sub::<SCRATCH>,
        (LDS, true) => store_sub::<LDS>,
        (_, true) => store_sub::<BUFFER>,
    }
}
