//! Scalar operations: registers and constants are slots of the scalar file, so one handler serves every operand.
//!
//! `d`, `a`, `b` are byte offsets; `imm` holds a SOPK immediate or a branch target.

use crate::uop::*;
use crate::wave::{EXEC, VCC, Wave};

/// `pub unsafe fn` per operation; `scc` is the condition code to read and write.
macro_rules! s32 {
    ($($(#[$doc:meta])* $name:ident |$a:ident, $b:ident, $scc:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`Handler`].
        pub unsafe fn $name(u: *const Uop, w: *mut Wave) -> u32 {
            // SAFETY: the handler's contract.
            unsafe {
                let u = &*u;
                let ($a, $b) = (rd(w, u.a), rd(w, u.b));
                #[allow(unused_variables)]
                let $scc = &mut (*w).scc;
                let r: u32 = $e;
                wr(w, u.d, r);
                NEXT
            }
        }
    )*};
}
macro_rules! s64 {
    ($($(#[$doc:meta])* $name:ident |$a:ident, $b:ident, $scc:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`Handler`].
        pub unsafe fn $name(u: *const Uop, w: *mut Wave) -> u32 {
            // SAFETY: the handler's contract.
            unsafe {
                let u = &*u;
                let ($a, $b) = (rd64(w, u.a), rd64(w, u.b));
                #[allow(unused_variables)]
                let $scc = &mut (*w).scc;
                let r: u64 = $e;
                wr64(w, u.d, r);
                NEXT
            }
        }
    )*};
}
/// Conditions: SCC alone is written.
macro_rules! sc {
    ($($(#[$doc:meta])* $name:ident $rd:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`Handler`].
        pub unsafe fn $name(u: *const Uop, w: *mut Wave) -> u32 {
            // SAFETY: the handler's contract.
            unsafe {
                let u = &*u;
                let ($a, $b) = ($rd(w, u.a), $rd(w, u.b));
                (*w).scc = u32::from($e);
                NEXT
            }
        }
    )*};
}
/// `d` = old EXEC, EXEC = f(a, EXEC), SCC = EXEC != 0.
macro_rules! saveexec {
    ($($(#[$doc:meta])* $name:ident |$a:ident, $x:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`Handler`].
        pub unsafe fn $name(u: *const Uop, w: *mut Wave) -> u32 {
            // SAFETY: the handler's contract.
            unsafe {
                let u = &*u;
                let $a = rd64(w, u.a);
                let $x = (*w).exec();
                let r: u64 = $e;
                wr64(w, u.d, $x);
                (*w).set_exec(r);
                (*w).scc = u32::from(r != 0);
                NEXT
            }
        }
    )*};
}

#[inline(always)]
fn i(x: u32) -> i32 {
    x.cast_signed()
}
#[inline(always)]
fn set(scc: &mut u32, c: bool) {
    *scc = u32::from(c);
}
#[inline(always)]
fn nz(scc: &mut u32, r: u32) -> u32 {
    *scc = u32::from(r != 0);
    r
}
#[inline(always)]
fn nz64(scc: &mut u32, r: u64) -> u64 {
    *scc = u32::from(r != 0);
    r
}

s32! {
    /// Copy.
    s_mov_b32 |a, _b, scc| a;
    /// Copy if SCC.
    s_cmov_b32 |a, b, scc| if *scc != 0 { a } else { b };
    /// a + b, carry.
    s_add_u32 |a, b, scc| { let (r, c) = a.overflowing_add(b); set(scc, c); r };
    /// a - b, borrow.
    s_sub_u32 |a, b, scc| { let (r, c) = a.overflowing_sub(b); set(scc, c); r };
    /// a + b, signed overflow.
    s_add_i32 |a, b, scc| { let (r, c) = i(a).overflowing_add(i(b)); set(scc, c); r.cast_unsigned() };
    /// a - b, signed overflow.
    s_sub_i32 |a, b, scc| { let (r, c) = i(a).overflowing_sub(i(b)); set(scc, c); r.cast_unsigned() };
    /// a + b + SCC.
    s_addc_u32 |a, b, scc| {
        let r = u64::from(a) + u64::from(b) + u64::from(*scc);
        set(scc, r >> 32 != 0);
        r as u32
    };
    /// a - b - SCC.
    s_subb_u32 |a, b, scc| {
        let borrow = u64::from(b) + u64::from(*scc);
        set(scc, borrow > u64::from(a));
        (u64::from(a).wrapping_sub(borrow)) as u32
    };
    /// Signed minimum; SCC: a was it (a < b).
    s_min_i32 |a, b, scc| { set(scc, i(a) < i(b)); i(a).min(i(b)).cast_unsigned() };
    /// Unsigned minimum.
    s_min_u32 |a, b, scc| { set(scc, a < b); a.min(b) };
    /// Signed maximum; SCC: a >= b (semantics-notes: inclusive).
    s_max_i32 |a, b, scc| { set(scc, i(a) >= i(b)); i(a).max(i(b)).cast_unsigned() };
    /// Unsigned maximum.
    s_max_u32 |a, b, scc| { set(scc, a >= b); a.max(b) };
    /// SCC ? a : b.
    s_cselect_b32 |a, b, scc| if *scc != 0 { a } else { b };
    /// a & b.
    s_and_b32 |a, b, scc| nz(scc, a & b);
    /// a | b.
    s_or_b32 |a, b, scc| nz(scc, a | b);
    /// a ^ b.
    s_xor_b32 |a, b, scc| nz(scc, a ^ b);
    /// a & !b.
    s_andn2_b32 |a, b, scc| nz(scc, a & !b);
    /// a | !b.
    s_orn2_b32 |a, b, scc| nz(scc, a | !b);
    /// !(a & b).
    s_nand_b32 |a, b, scc| nz(scc, !(a & b));
    /// !(a | b).
    s_nor_b32 |a, b, scc| nz(scc, !(a | b));
    /// !(a ^ b).
    s_xnor_b32 |a, b, scc| nz(scc, !(a ^ b));
    /// a << b.
    s_lshl_b32 |a, b, scc| nz(scc, a << (b & 31));
    /// a >> b.
    s_lshr_b32 |a, b, scc| nz(scc, a >> (b & 31));
    /// a >> b, signed.
    s_ashr_i32 |a, b, scc| nz(scc, (i(a) >> (b & 31)).cast_unsigned());
    /// a ones at bit b.
    s_bfm_b32 |a, b, scc| ((1u32 << (a & 31)) - 1) << (b & 31);
    /// a b.
    s_mul_i32 |a, b, scc| a.wrapping_mul(b);
    /// High half of a b.
    s_mul_hi_u32 |a, b, scc| ((u64::from(a) * u64::from(b)) >> 32) as u32;
    /// High half of a b, signed.
    s_mul_hi_i32 |a, b, scc| ((i64::from(i(a)) * i64::from(i(b))) >> 32) as u32;
    /// Unsigned field: offset b 4:0, width b 22:16.
    s_bfe_u32 |a, b, scc| nz(scc, field(a, b));
    /// Signed field.
    s_bfe_i32 |a, b, scc| {
        let n = (b >> 16 & 0x7f).min(32);
        nz(scc, if n == 0 { 0 } else { (i(field(a, b) << (32 - n)) >> (32 - n)).cast_unsigned() })
    };
    /// |a - b|.
    s_absdiff_i32 |a, b, scc| nz(scc, i(a).wrapping_sub(i(b)).wrapping_abs().cast_unsigned());
    /// (a << 1) + b, carry.
    s_lshl1_add_u32 |a, b, scc| shl_add(a, b, 1, scc);
    /// (a << 2) + b.
    s_lshl2_add_u32 |a, b, scc| shl_add(a, b, 2, scc);
    /// (a << 3) + b.
    s_lshl3_add_u32 |a, b, scc| shl_add(a, b, 3, scc);
    /// (a << 4) + b.
    s_lshl4_add_u32 |a, b, scc| shl_add(a, b, 4, scc);
    /// Low halves.
    s_pack_ll_b32_b16 |a, b, scc| a & 0xffff | b << 16;
    /// Low of a, high of b.
    s_pack_lh_b32_b16 |a, b, scc| a & 0xffff | b & 0xffff_0000;
    /// High halves.
    s_pack_hh_b32_b16 |a, b, scc| a >> 16 | b & 0xffff_0000;
    /// High of a, low of b.
    s_pack_hl_b32_b16 |a, b, scc| a >> 16 | b << 16;
    /// !a.
    s_not_b32 |a, _b, scc| nz(scc, !a);
    /// Whole quad mode: 1s in each quad that has one.
    s_wqm_b32 |a, _b, scc| nz(scc, wqm(u64::from(a)) as u32);
    /// Bits reversed.
    s_brev_b32 |a, _b, scc| a.reverse_bits();
    /// Zeros.
    s_bcnt0_i32_b32 |a, _b, scc| nz(scc, a.count_zeros());
    /// Ones.
    s_bcnt1_i32_b32 |a, _b, scc| nz(scc, a.count_ones());
    /// First zero from bit 0, -1 if none.
    s_ff0_i32_b32 |a, _b, scc| if a == u32::MAX { u32::MAX } else { a.trailing_ones() };
    /// First one from bit 0, -1 if none.
    s_ff1_i32_b32 |a, _b, scc| if a == 0 { u32::MAX } else { a.trailing_zeros() };
    /// Leading zeros, -1 for 0.
    s_flbit_i32_b32 |a, _b, scc| if a == 0 { u32::MAX } else { a.leading_zeros() };
    /// Leading sign bits, -1 for 0 and -1.
    s_flbit_i32 |a, _b, scc| { let x = a ^ (i(a) >> 31).cast_unsigned(); if x == 0 { u32::MAX } else { x.leading_zeros() } };
    /// Sign-extended byte.
    s_sext_i32_i8 |a, _b, scc| i32::from(a as u8 as i8).cast_unsigned();
    /// Sign-extended half.
    s_sext_i32_i16 |a, _b, scc| i32::from(a as u16 as i16).cast_unsigned();
    /// Clears bit a of b (the old destination).
    s_bitset0_b32 |a, b, scc| b & !(1 << (a & 31));
    /// Sets it.
    s_bitset1_b32 |a, b, scc| b | 1 << (a & 31);
    /// |a|.
    s_abs_i32 |a, _b, scc| nz(scc, i(a).wrapping_abs().cast_unsigned());
    /// Quads of a with any bit.
    s_quadmask_b32 |a, _b, scc| nz(scc, quadmask(u64::from(a)) as u32);
}

s64! {
    /// Copy.
    s_mov_b64 |a, _b, scc| a;
    /// Copy if SCC.
    s_cmov_b64 |a, b, scc| if *scc != 0 { a } else { b };
    /// SCC ? a : b.
    s_cselect_b64 |a, b, scc| if *scc != 0 { a } else { b };
    /// a & b.
    s_and_b64 |a, b, scc| nz64(scc, a & b);
    /// a | b.
    s_or_b64 |a, b, scc| nz64(scc, a | b);
    /// a ^ b.
    s_xor_b64 |a, b, scc| nz64(scc, a ^ b);
    /// a & !b.
    s_andn2_b64 |a, b, scc| nz64(scc, a & !b);
    /// a | !b.
    s_orn2_b64 |a, b, scc| nz64(scc, a | !b);
    /// !(a & b).
    s_nand_b64 |a, b, scc| nz64(scc, !(a & b));
    /// !(a | b).
    s_nor_b64 |a, b, scc| nz64(scc, !(a | b));
    /// !(a ^ b).
    s_xnor_b64 |a, b, scc| nz64(scc, !(a ^ b));
    /// !a.
    s_not_b64 |a, _b, scc| nz64(scc, !a);
    /// Whole quad mode.
    s_wqm_b64 |a, _b, scc| nz64(scc, wqm(a));
    /// Bits reversed.
    s_brev_b64 |a, _b, scc| a.reverse_bits();
}

/// 64-bit source and result, 32-bit second source.
macro_rules! s64x32 {
    ($($(#[$doc:meta])* $name:ident |$a:ident, $b:ident, $scc:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`Handler`].
        pub unsafe fn $name(u: *const Uop, w: *mut Wave) -> u32 {
            // SAFETY: the handler's contract.
            unsafe {
                let u = &*u;
                let ($a, $b) = (rd64(w, u.a), rd(w, u.b));
                #[allow(unused_variables)]
                let $scc = &mut (*w).scc;
                let r: u64 = $e;
                wr64(w, u.d, r);
                NEXT
            }
        }
    )*};
}
s64x32! {
    /// a << b.
    s_lshl_b64 |a, b, scc| nz64(scc, a << (b & 63));
    /// a >> b.
    s_lshr_b64 |a, b, scc| nz64(scc, a >> (b & 63));
    /// a >> b, signed.
    s_ashr_i64 |a, b, scc| nz64(scc, (a.cast_signed() >> (b & 63)).cast_unsigned());
    /// Unsigned field: offset b 5:0, width b 22:16.
    s_bfe_u64 |a, b, scc| nz64(scc, field64(a, b));
    /// Signed field.
    s_bfe_i64 |a, b, scc| {
        let n = (b >> 16 & 0x7f).min(64);
        nz64(scc, if n == 0 { 0 } else { (field64(a, b) << (64 - n)).cast_signed().wrapping_shr(64 - n).cast_unsigned() })
    };
}

/// 64-bit source, 32-bit result.
macro_rules! s32of64 {
    ($($(#[$doc:meta])* $name:ident |$a:ident, $scc:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`Handler`].
        pub unsafe fn $name(u: *const Uop, w: *mut Wave) -> u32 {
            // SAFETY: the handler's contract.
            unsafe {
                let u = &*u;
                let $a = rd64(w, u.a);
                #[allow(unused_variables)]
                let $scc = &mut (*w).scc;
                let r: u32 = $e;
                wr(w, u.d, r);
                NEXT
            }
        }
    )*};
}
s32of64! {
    /// Zeros.
    s_bcnt0_i32_b64 |a, scc| nz(scc, a.count_zeros());
    /// Ones.
    s_bcnt1_i32_b64 |a, scc| nz(scc, a.count_ones());
    /// First zero from bit 0, -1 if none.
    s_ff0_i32_b64 |a, scc| if a == u64::MAX { u32::MAX } else { a.trailing_ones() };
    /// First one from bit 0, -1 if none.
    s_ff1_i32_b64 |a, scc| if a == 0 { u32::MAX } else { a.trailing_zeros() };
    /// Leading zeros, -1 for 0.
    s_flbit_i32_b64 |a, scc| if a == 0 { u32::MAX } else { a.leading_zeros() };
    /// Leading sign bits.
    s_flbit_i32_i64 |a, scc| { let x = a ^ (a.cast_signed() >> 63).cast_unsigned(); if x == 0 { u32::MAX } else { x.leading_zeros() } };
}

sc! {
    /// a == b.
    s_cmp_eq_i32 rd |a, b| a == b;
    /// a != b.
    s_cmp_lg_i32 rd |a, b| a != b;
    /// a > b.
    s_cmp_gt_i32 rd |a, b| i(a) > i(b);
    /// a >= b.
    s_cmp_ge_i32 rd |a, b| i(a) >= i(b);
    /// a < b.
    s_cmp_lt_i32 rd |a, b| i(a) < i(b);
    /// a <= b.
    s_cmp_le_i32 rd |a, b| i(a) <= i(b);
    /// a > b.
    s_cmp_gt_u32 rd |a, b| a > b;
    /// a >= b.
    s_cmp_ge_u32 rd |a, b| a >= b;
    /// a < b.
    s_cmp_lt_u32 rd |a, b| a < b;
    /// a <= b.
    s_cmp_le_u32 rd |a, b| a <= b;
    /// a == b.
    s_cmp_eq_u64 rd64 |a, b| a == b;
    /// a != b.
    s_cmp_lg_u64 rd64 |a, b| a != b;
    /// Bit b of a is 0.
    s_bitcmp0_b32 rd |a, b| a >> (b & 31) & 1 == 0;
    /// Bit b of a is 1.
    s_bitcmp1_b32 rd |a, b| a >> (b & 31) & 1 != 0;
    /// Bit b of a is 0.
    s_bitcmp0_b64 rd64 |a, b| a >> (b & 63) & 1 == 0;
    /// Bit b of a is 1.
    s_bitcmp1_b64 rd64 |a, b| a >> (b & 63) & 1 != 0;
}

saveexec! {
    /// a & EXEC.
    s_and_saveexec_b64 |a, x| a & x;
    /// a | EXEC.
    s_or_saveexec_b64 |a, x| a | x;
    /// a ^ EXEC.
    s_xor_saveexec_b64 |a, x| a ^ x;
    /// a & !EXEC.
    s_andn2_saveexec_b64 |a, x| a & !x;
    /// a | !EXEC.
    s_orn2_saveexec_b64 |a, x| a | !x;
    /// !(a & EXEC).
    s_nand_saveexec_b64 |a, x| !(a & x);
    /// !(a | EXEC).
    s_nor_saveexec_b64 |a, x| !(a | x);
    /// !(a ^ EXEC).
    s_xnor_saveexec_b64 |a, x| !(a ^ x);
    /// !a & EXEC.
    s_andn1_saveexec_b64 |a, x| !a & x;
    /// !a | EXEC.
    s_orn1_saveexec_b64 |a, x| !a | x;
}

/// `s_andn1_wrexec_b64`, `s_andn2_wrexec_b64` (imm 0 / 1): EXEC and `d` get the result.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_wrexec_b64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let (a, x) = (rd64(w, u.a), (*w).exec());
        let r = if u.imm == 0 { !a & x } else { a & !x };
        wr64(w, u.d, r);
        (*w).set_exec(r);
        (*w).scc = u32::from(r != 0);
        NEXT
    }
}

fn field(a: u32, b: u32) -> u32 {
    let (o, n) = (b & 31, (b >> 16 & 0x7f).min(32));
    if n == 0 { 0 } else { a >> o & (u32::MAX >> (32 - n)) }
}

fn field64(a: u64, b: u32) -> u64 {
    let (o, n) = (b & 63, (b >> 16 & 0x7f).min(64));
    if n == 0 { 0 } else { a >> o & (u64::MAX >> (64 - n)) }
}

fn shl_add(a: u32, b: u32, n: u32, scc: &mut u32) -> u32 {
    let r = (u64::from(a) << n) + u64::from(b);
    set(scc, r >> 32 != 0);
    r as u32
}

fn wqm(a: u64) -> u64 {
    let any = (a | a >> 1 | a >> 2 | a >> 3) & 0x1111_1111_1111_1111;
    any * 15
}

fn quadmask(a: u64) -> u64 {
    let any = (a | a >> 1 | a >> 2 | a >> 3) & 0x1111_1111_1111_1111;
    (0..16).fold(0, |m, q| m | (any >> (4 * q) & 1) << q)
}

/// Quads of a with any bit.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_quadmask_b64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let r = quadmask(rd64(w, u.a));
        wr64(w, u.d, r);
        (*w).scc = u32::from(r != 0);
        NEXT
    }
}

/// `s_bfm_b64`: a ones at bit b, both 32-bit.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_bfm_b64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let (a, b) = (rd(w, u.a), rd(w, u.b));
        wr64(w, u.d, ((1u64 << (a & 63)) - 1) << (b & 63));
        NEXT
    }
}

/// `s_bitset0_b64`, `s_bitset1_b64` (imm): bit a of d.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_bitset_b64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let bit = 1u64 << (rd(w, u.a) & 63);
        let old = rd64(w, u.d);
        wr64(w, u.d, if u.imm == 0 { old & !bit } else { old | bit });
        NEXT
    }
}

/// `s_bitreplicate_b64_b32`: each bit of a twice.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_bitreplicate_b64_b32(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let a = u64::from(rd(w, u.a));
        wr64(w, u.d, (0..32).fold(0, |m, i| m | (a >> i & 1) * 3 << (2 * i)));
        NEXT
    }
}

/// Writes a constant that found no slot, or a program counter: `d` = imm (32 bits).
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_imm32(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        wr(w, (*u).d, (*u).imm as u32);
        NEXT
    }
}

/// `d` = imm (64 bits).
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_imm64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        wr64(w, (*u).d, (*u).imm);
        NEXT
    }
}

/// Materialises SCC (imm 0), VCCZ (1), EXECZ (2) as 0 or 1 in scalar `d`.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_flag(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let x = match (*u).imm {
            0 => (*w).scc,
            1 => u32::from((*w).get64(VCC) == 0),
            _ => u32::from((*w).exec() == 0),
        };
        wr(w, (*u).d, x);
        NEXT
    }
}

/// Does nothing (waits, hints, cache operations: memory is coherent here).
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn nop(_u: *const Uop, _w: *mut Wave) -> u32 {
    NEXT
}

/// Goes to imm.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn jump(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        (*w).pc = (*u).imm;
        JUMP
    }
}

/// Ends the block with code `d` (END, BARRIER, SLEEP) and goes on at imm.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn stop(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        (*w).pc = (*u).imm;
        (*u).d
    }
}

/// `s_setpc_b64`.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_setpc_b64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        (*w).pc = rd64(w, (*u).a) & !3;
        JUMP
    }
}

/// `s_swappc_b64`: imm is the return address.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_swappc_b64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        (*w).pc = rd64(w, u.a) & !3;
        wr64(w, u.d, u.imm);
        JUMP
    }
}

/// `s_call_b64`: target in imm, return address 4 bytes after the instruction at imm2 = a:b.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn s_call_b64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        wr64(w, u.d, u64::from(u.a) | u64::from(u.b) << 32);
        (*w).pc = u.imm;
        JUMP
    }
}

/// Branches: to imm if the condition holds, else on at the address in a:b (low, high).
macro_rules! branch {
    ($($(#[$doc:meta])* $name:ident |$w:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`Handler`].
        pub unsafe fn $name(u: *const Uop, w: *mut Wave) -> u32 {
            // SAFETY: the handler's contract.
            unsafe {
                let u = &*u;
                let $w = &*w;
                let go: bool = $e;
                (*w).pc = if go { u.imm } else { u64::from(u.a) | u64::from(u.b) << 32 };
                JUMP
            }
        }
    )*};
}
branch! {
    /// SCC is 0.
    s_cbranch_scc0 |w| w.scc == 0;
    /// SCC is 1.
    s_cbranch_scc1 |w| w.scc != 0;
    /// VCC is 0.
    s_cbranch_vccz |w| w.get64(VCC) == 0;
    /// VCC is not 0.
    s_cbranch_vccnz |w| w.get64(VCC) != 0;
    /// EXEC is 0.
    s_cbranch_execz |w| w.get64(EXEC) == 0;
    /// EXEC is not 0.
    s_cbranch_execnz |w| w.get64(EXEC) != 0;
}
