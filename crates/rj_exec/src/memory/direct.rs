//! Between memory and LDS without registers, blocks of registers, loads by lane number.

use super::place::{Place, common, lds, parts, place};
use super::space::*;
use super::sub::kind;
use super::vector::order;
use crate::uop::{FAULT, Handler, NEXT, Uop, at};
use crate::wave::{M0, Wave};

/// Kind (imm 47:44) of a transfer of whole bytes.
pub const BYTES: u64 = 15;

/// Memory to LDS, or LDS to memory (imm bit 53), imm 52:48 bytes a lane. The LDS address is the lane's of plane `d`, or,
/// if `d` is 0, M0 plus 4 (more than a dword: 16) times the lane; the offset counts there too. Sub-dword kinds write
/// a dword.
///
/// # Safety
/// As for [`Handler`].
unsafe fn transfer<const SPACE: u8>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        order(u, w);
        let c = &common::<SPACE>(u, w);
        let kind = u.imm >> 44 & 15;
        let n = (u.imm >> 48 & 31) as usize;
        let out = u.imm >> 53 & 1 != 0;
        let source = match kind {
            kind::U8 | kind::I8 => 1,
            kind::U16 | kind::I16 => 2,
            _ => n,
        };
        if out {
            (*w).stored = true;
        }
        let mut rest = (*w).exec();
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let base = if u.d == 0 {
                (*w).s[M0].wrapping_add(lane * if n > 4 { 16 } else { 4 })
            } else {
                at(w, u.d).add(lane as usize).read()
            };
            let local = lds(w, u64::from(base.wrapping_add(u.imm as u32)), n as u64);
            let mut words = [0u32; 4];
            let buf = words.as_mut_ptr().cast::<u8>();
            if out && let Place::At(p) = local {
                buf.copy_from_nonoverlapping(p, n);
            }
            match place::<SPACE>(u, w, c, lane, 0, source as u64, out) {
                Place::At(p) if out => p.copy_from_nonoverlapping(buf, source),
                Place::At(p) => buf.copy_from_nonoverlapping(p, source),
                Place::Nowhere => {}
                Place::Parts => {
                    if !parts::<SPACE>(u, w, c, lane, source, out, &mut words) {
                        return FAULT;
                    }
                }
                Place::Fault => return FAULT,
            }
            match kind {
                kind::I8 => words[0] = i32::from(words[0] as u8 as i8).cast_unsigned(),
                kind::I16 => words[0] = i32::from(words[0] as u16 as i16).cast_unsigned(),
                _ => {}
            }
            if !out && let Place::At(p) = local {
                p.copy_from_nonoverlapping(words.as_ptr().cast(), n);
            }
        }
        NEXT
    }
}

/// `*_load_block` and `*_store_block` (imm bit 48): dword k of the lane's memory and register `d` + k, for the bits k of
/// M0.
///
/// # Safety
/// As for [`Handler`].
unsafe fn block<const SPACE: u8>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract; the lowering checked that 32 registers follow.
    unsafe {
        let u = &*u;
        order(u, w);
        let c = &common::<SPACE>(u, w);
        let store = u.imm >> 48 & 1 != 0;
        if store {
            (*w).stored = true;
        }
        let mask = (*w).s[M0];
        let mut rest = (*w).exec();
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            for k in (0..32).filter(|k| mask >> k & 1 != 0) {
                let d = at(w, u.d).add(64 * k + lane as usize);
                match place::<SPACE>(u, w, c, lane, 4 * k as u64, 4, store) {
                    Place::At(p) if store => p.cast::<u32>().write_unaligned(d.read()),
                    Place::At(p) => d.write(p.cast::<u32>().read_unaligned()),
                    Place::Fault => return FAULT,
                    Place::Nowhere | Place::Parts => {}
                }
            }
        }
        NEXT
    }
}

/// Four times the lane number into plane `d`, whatever EXEC is.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn lane_offsets(u: *const Uop, w: *mut Wave) -> u32 {
    for i in 0..64 {
        // SAFETY: the handler's contract.
        unsafe { at(w, (*u).d).add(i).write(4 * i as u32) }
    }
    NEXT
}

/// The handler of a transfer.
pub fn pick(space: u8) -> Handler {
    match space {
        GLOBAL => transfer::<GLOBAL>,
        FLAT => transfer::<FLAT>,
        SCRATCH => transfer::<SCRATCH>,
        _ => transfer::<BUFFER>,
    }
}

/// The handler of a block of registers.
pub fn pick_block(space: u8) -> Handler {
    if space == SCRATCH { block::<SCRATCH> } else { block::<GLOBAL> }
}
