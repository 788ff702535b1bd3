//! LDS instructions beyond loads and stores: lane exchange, append and consume.

use super::place::{Place, lds};
use crate::uop::{NEXT, Uop, at};
use crate::wave::{M0, Wave};

unsafe fn active(w: *mut Wave) -> impl Iterator<Item = usize> {
    // SAFETY: the handler's contract.
    let exec = unsafe { (*w).exec() };
    (0..64usize).filter(move |l| exec >> l & 1 != 0)
}

/// `ds_swizzle_b32`: quad, bit-mask and rotate modes by the offset; an inactive source gives 0.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn swizzle(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let exec = (*w).exec();
        let off = u.imm as u32;
        let src: [u32; 64] = std::array::from_fn(|i| at(w, u.a).add(i).read());
        for i in active(w) {
            let from = if off & 0x8000 != 0 {
                if off & 0xe000 == 0xc000 {
                    // Rotate by bits 9:5 within groups that the mask 4:0 keeps; bit 10 is the direction.
                    let (mask, n) = (off as usize & 31, off as usize >> 5 & 31);
                    let j = if off >> 10 & 1 != 0 { i.wrapping_sub(n) } else { i + n };
                    i & mask | j & !mask & 31 | i & 32
                } else {
                    i & !3 | (off as usize >> (2 * (i & 3)) & 3)
                }
            } else {
                let (and, or, xor) = (off as usize & 31, off as usize >> 5 & 31, off as usize >> 10 & 31);
                (((i & and) | or) ^ xor) & 31 | i & 32
            };
            let x = if exec >> from & 1 != 0 { src[from] } else { 0 };
            at(w, u.d).add(i).write(x);
        }
        NEXT
    }
}

/// `ds_bpermute_b32`: lane (a + offset) / 4 mod 64 of `b`; an inactive source gives 0, or its value if imm bit 32 is set.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn bpermute(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let exec = if u.imm >> 32 & 1 != 0 { u64::MAX } else { (*w).exec() };
        let src: [u32; 64] = std::array::from_fn(|i| at(w, u.b).add(i).read());
        for i in active(w) {
            let from = (at(w, u.a).add(i).read().wrapping_add(u.imm as u32) >> 2 & ((*w).lanes - 1)) as usize;
            at(w, u.d).add(i).write(if exec >> from & 1 != 0 { src[from] } else { 0 });
        }
        NEXT
    }
}

/// `ds_permute_b32`: sends `b` to lane (a + offset) / 4 mod 64; a lane that nobody sends to gets 0.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn permute(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let mut out = [0u32; 64];
        for i in active(w) {
            let to = (at(w, u.a).add(i).read().wrapping_add(u.imm as u32) >> 2 & ((*w).lanes - 1)) as usize;
            out[to] = at(w, u.b).add(i).read();
        }
        for i in active(w) {
            at(w, u.d).add(i).write(out[i]);
        }
        NEXT
    }
}

/// `ds_append` (imm bit 32 clear) and `ds_consume`: the counter at offset + M0 15:0 moves by the number of active lanes;
/// all get its old value.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn append(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let n = (*w).exec().count_ones();
        let off = u64::from(u.imm as u32) + u64::from((*w).s[M0] & 0xffff);
        let mut old = 0;
        if let Place::At(p) = lds(w, off, 4) {
            let p = p.cast::<u32>();
            old = p.read_unaligned();
            p.write_unaligned(if u.imm >> 32 & 1 == 0 { old.wrapping_add(n) } else { old.wrapping_sub(n) });
        }
        for i in active(w) {
            at(w, u.d).add(i).write(old);
        }
        NEXT
    }
}

/// `ds_read_addtid_b32` / `ds_write_addtid_b32` (imm bit 32): at offset + M0 15:0 + 4 lane.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn addtid(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let base = u64::from(u.imm as u32) + u64::from((*w).s[M0] & 0xffff);
        for i in active(w) {
            let d = at(w, u.d).add(i);
            match lds(w, base + 4 * i as u64, 4) {
                Place::At(p) if u.imm >> 32 & 1 != 0 => p.cast::<u32>().write_unaligned(d.read()),
                Place::At(p) => d.write(p.cast::<u32>().read_unaligned()),
                _ if u.imm >> 32 & 1 == 0 => d.write(0),
                _ => {}
            }
        }
        NEXT
    }
}

/// `ds_wrxchg2*`: exchanges at two addresses, data planes `d` and
/// `b` of `c` dwords. imm 31:0 is the plane that the old values go to,
/// 47:32 and 63:48 are the offsets in dwords.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn exchange2(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let n = u.c as usize;
        let out = u.imm as u32;
        for i in active(w) {
            let base = at(w, u.a).add(i).read();
            let mut old = [0u32; 4];
            let mut new = [0u32; 4];
            for k in 0..n {
                new[k] = at(w, u.d).add(64 * k + i).read();
                new[n + k] = at(w, u.b).add(64 * k + i).read();
            }
            for which in 0..2 {
                // Offsets reach 255 * 8 * 64: they are kept in units of 4 bytes.
                let off = (u.imm >> (32 + 16 * which) & 0xffff) as u32 * 4;
                if let Place::At(p) = lds(w, u64::from(base.wrapping_add(off)), 4 * n as u64) {
                    for k in 0..n {
                        let p = p.cast::<u32>().add(k);
                        old[which * n + k] = p.read_unaligned();
                        p.write_unaligned(new[which * n + k]);
                    }
                }
            }
            for (k, x) in old.iter().enumerate().take(2 * n) {
                at(w, out).add(64 * k + i).write(*x);
            }
        }
        NEXT
    }
}

/// `ds_condxchg32_rtn_b64`: each dword whose data has bit 31 set is exchanged with the other 31 bits. Data `b`.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn condxchg(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        for i in active(w) {
            let off = at(w, u.a).add(i).read().wrapping_add(u.imm as u32);
            let mut old = [0u32; 2];
            if let Place::At(p) = lds(w, u64::from(off), 8) {
                for (k, old) in old.iter_mut().enumerate() {
                    let x = at(w, u.b).add(64 * k + i).read();
                    let p = p.cast::<u32>().add(k);
                    *old = p.read_unaligned();
                    if x >> 31 != 0 {
                        p.write_unaligned(x & 0x7fff_ffff);
                    }
                }
            }
            for (k, x) in old.into_iter().enumerate() {
                at(w, u.d).add(64 * k + i).write(x);
            }
        }
        NEXT
    }
}

/// `ds_read_*_tr_*` of gfx950: 16 lanes read `c` elements of `b` bits each, rows of a matrix of 16 columns, and get a
/// column each: element j of lane i is element i mod c of lane 16 j / c + i / c. Approximate: after the public
/// descriptions of compilers, not measured.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn read_transposed(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let (bits, count) = (u.b as usize, u.c as usize);
        let words = bits * count / 32;
        let mut rows = [0u128; 64];
        for i in active(w) {
            let off = at(w, u.a).add(i).read().wrapping_add(u.imm as u32);
            if let Place::At(p) = lds(w, u64::from(off), 4 * words as u64) {
                for k in 0..words {
                    rows[i] |= u128::from(p.cast::<u32>().add(k).read_unaligned()) << (32 * k);
                }
            }
        }
        let mask = (1u128 << bits) - 1;
        for i in active(w) {
            let (group, column) = (i & !15, i & 15);
            let mut x = 0u128;
            for j in 0..count {
                let row = rows[group + j * 16 / count + column / count];
                x |= (row >> (column % count * bits) & mask) << (j * bits);
            }
            for k in 0..words {
                at(w, u.d).add(64 * k + i).write((x >> (32 * k)) as u32);
            }
        }
        NEXT
    }
}
