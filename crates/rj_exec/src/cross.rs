//! Moving data between lanes and inside dwords: DPP, SDWA selection, readlane and friends.

use crate::uop::{NEXT, Uop, at, rd, wr};
use crate::wave::Wave;

/// `d` = byte or half `imm & 7` of `a`, sign-extended if bit 8 of imm.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn sdwa_select(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let (d, a) = (at(w, u.d), at(w, u.a));
        let sext = u.imm >> 8 & 1 != 0;
        for i in 0..64 {
            let x = a.add(i).read();
            let r = match u.imm & 7 {
                n @ 0..=3 => {
                    let b = (x >> (8 * n)) as u8;
                    if sext { i32::from(b.cast_signed()).cast_unsigned() } else { u32::from(b) }
                }
                n @ 4..=5 => {
                    let h = (x >> (16 * (n - 4))) as u16;
                    if sext { i32::from(h.cast_signed()).cast_unsigned() } else { u32::from(h) }
                }
                _ => x,
            };
            d.add(i).write(r);
        }
        NEXT
    }
}

/// Stores the low bits of `a` to byte or half `imm & 7` of `d`; the rest (imm bits 9:8) is 0, sign, or kept.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn sdwa_store(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let (d, a) = (at(w, u.d), at(w, u.a));
        let exec = (*w).exec();
        let (shift, bits) = match u.imm & 7 {
            n @ 0..=3 => (8 * n as u32, 8),
            n @ 4..=5 => (16 * (n as u32 - 4), 16),
            _ => (0, 32),
        };
        let mask = (u32::MAX >> (32 - bits)) << shift;
        for i in 0..64 {
            if exec >> i & 1 == 0 {
                continue;
            }
            let x = a.add(i).read() << shift & mask;
            let old = d.add(i).read();
            let r = match u.imm >> 8 & 3 {
                0 => x,
                1 => {
                    let top = shift + bits;
                    if top < 32 && x >> (top - 1) & 1 != 0 { x | u32::MAX << top } else { x }
                }
                _ => x | old & !mask,
            };
            d.add(i).write(r);
        }
        NEXT
    }
}

/// The lane that DPP control `ctrl` reads for lane `i`, if there is one (CDNA3 ISA, DPP_CTRL).
fn dpp_source(ctrl: u32, i: usize) -> Option<usize> {
    let (row, at) = (i & !15, i & 15);
    let n = (ctrl & 15) as usize;
    match ctrl {
        0..=0xff => Some(i & !3 | (ctrl >> (2 * (i & 3)) & 3) as usize),
        0x101..=0x10f => (at + n < 16).then(|| row + at + n),
        0x111..=0x11f => at.checked_sub(n).map(|x| row + x),
        0x121..=0x12f => Some(row + (at + 16 - n) % 16),
        0x130 => (i < 63).then_some(i + 1),
        0x134 => Some((i + 1) % 64),
        0x138 => i.checked_sub(1),
        0x13c => Some((i + 63) % 64),
        0x140 => Some(row + 15 - at),
        0x141 => Some(i & !7 | (7 - (i & 7))),
        0x142 => row.checked_sub(1),
        0x143 => (i >= 32).then_some(31),
        0x150..=0x15f => Some(row + n),
        0x160..=0x16f => Some(row + (at ^ n)),
        _ => None,
    }
}

/// `d` = `a` permuted; EXEC loses the lanes that must not be written. imm: control 15:0, row mask 19:16, bank mask
/// 23:20, bound control 24, fetch inactive 25, EXEC is already masked 26 (the upper half of a 64-bit source).
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn dpp16(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let (d, a) = (at(w, u.d), at(w, u.a));
        let ctrl = u.imm as u32 & 0xffff;
        let (rows, banks) = (u.imm >> 16 & 15, u.imm >> 20 & 15);
        let (bound, fi) = (u.imm >> 24 & 1 != 0, u.imm >> 25 & 1 != 0);
        if u.imm >> 26 & 1 == 0 {
            (*w).saved_exec = (*w).exec();
        }
        let exec = (*w).saved_exec;
        let mut write = exec;
        let mut out = [0u32; 64];
        for (i, o) in out.iter_mut().enumerate() {
            if rows >> (i / 16) & 1 == 0 || banks >> (i % 16 / 4) & 1 == 0 {
                write &= !(1 << i);
                continue;
            }
            match dpp_source(ctrl, i) {
                Some(j) if fi || exec >> j & 1 != 0 => *o = a.add(j).read(),
                _ if bound => *o = 0,
                _ => write &= !(1 << i),
            }
        }
        d.cast::<[u32; 64]>().write(out);
        (*w).set_exec(write);
        NEXT
    }
}

/// EXEC as it was before the first `dpp16` of the instruction.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn dpp_end(_u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let x = (*w).saved_exec;
        (*w).set_exec(x);
        NEXT
    }
}

/// `d` = scalar `a` in all 64 lanes.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn splat(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        at(w, u.d).cast::<[u32; 64]>().write([rd(w, u.a); 64]);
        NEXT
    }
}

/// `v_readfirstlane_b32`: the first active lane, lane 0 if there is none.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn readfirstlane(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let exec = (*w).exec();
        let i = if exec == 0 { 0 } else { exec.trailing_zeros() as usize };
        wr(w, u.d, at(w, u.a).add(i).read());
        NEXT
    }
}

/// `v_readlane_b32`: lane `b` (a scalar) of `a`.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn readlane(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let i = rd(w, u.b) & ((*w).lanes - 1);
        wr(w, u.d, at(w, u.a).add(i as usize).read());
        NEXT
    }
}

/// `v_writelane_b32`: scalar `a` to lane `b` of `d`, whatever EXEC is.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn writelane(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let i = rd(w, u.b) & ((*w).lanes - 1);
        at(w, u.d).add(i as usize).write(rd(w, u.a));
        NEXT
    }
}

/// `v_mbcnt_lo/hi_u32_b32` (imm 0 / 1): bits of mask `a` below this lane, plus `b`. Both planes.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn mbcnt(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let exec = (*w).exec();
        for i in 0..64u32 {
            if exec >> i & 1 == 0 {
                continue;
            }
            let below = if u.imm == 0 {
                if i >= 32 { u32::MAX } else { (1 << i) - 1 }
            } else if i <= 32 {
                0
            } else {
                (1 << (i - 32)) - 1
            };
            let k = i as usize;
            let n = (at(w, u.a).add(k).read() & below).count_ones();
            let b = at(w, u.b).add(k).read();
            at(w, u.d).add(k).write(n.wrapping_add(b));
        }
        NEXT
    }
}

#[cfg(test)]
mod tests {
    use super::dpp_source;

    #[test]
    fn dpp_controls_read_the_lanes_the_manual_says() {
        assert_eq!(dpp_source(0b00_01_10_11, 4), Some(7));
        assert_eq!(dpp_source(0x101, 14), Some(15));
        assert_eq!(dpp_source(0x101, 15), None);
        assert_eq!(dpp_source(0x111, 16), None);
        assert_eq!(dpp_source(0x111, 17), Some(16));
        assert_eq!(dpp_source(0x121, 16), Some(31));
        assert_eq!(dpp_source(0x142, 15), None);
        assert_eq!(dpp_source(0x142, 20), Some(15));
        assert_eq!(dpp_source(0x143, 31), None);
        assert_eq!(dpp_source(0x143, 40), Some(31));
        assert_eq!(dpp_source(0x153, 20), Some(19));
    }
}
