//! 32-bit and sub-dword integer operations.

use super::ops;

#[inline(always)]
fn i(x: u32) -> i32 {
    x.cast_signed()
}
#[inline(always)]
fn i24(x: u32) -> i32 {
    x.cast_signed() << 8 >> 8
}

ops! {
    /// a + b.
    bin AddU32(a, b) L::add(a, b);
    /// a - b.
    bin SubU32(a, b) L::sub(a, b);
    /// b - a.
    bin SubrevU32(a, b) L::sub(b, a);
    /// a & b.
    bin AndB32(a, b) L::and(a, b);
    /// a | b.
    bin OrB32(a, b) L::or(a, b);
    /// a ^ b.
    bin XorB32(a, b) L::xor(a, b);
    /// !(a ^ b).
    bin XnorB32(a, b) L::xor(L::xor(a, b), L::splat(u32::MAX));
    /// !a.
    un NotB32(a) L::xor(a, L::splat(u32::MAX));
    /// b << a.
    bin LshlrevB32(a, b) L::shl(b, a);
    /// b >> a.
    bin LshrrevB32(a, b) L::shr(b, a);
    /// b >> a, signed.
    bin AshrrevI32(a, b) L::sar(b, a);
    /// Signed minimum.
    bin MinI32(a, b) L::min_i(a, b);
    /// Signed maximum.
    bin MaxI32(a, b) L::max_i(a, b);
    /// Unsigned minimum.
    bin MinU32(a, b) L::min_u(a, b);
    /// Unsigned maximum.
    bin MaxU32(a, b) L::max_u(a, b);
    /// Saturating a + b, unsigned.
    bin AddSatU32(a, b) L::map2(a, b, |a, b| a.saturating_add(b));
    /// Saturating a - b, unsigned.
    bin SubSatU32(a, b) L::map2(a, b, |a, b| a.saturating_sub(b));
    /// Saturating a + b, signed.
    bin AddSatI32(a, b) L::map2(a, b, |a, b| i(a).saturating_add(i(b)).cast_unsigned());
    /// Saturating a - b, signed.
    bin SubSatI32(a, b) L::map2(a, b, |a, b| i(a).saturating_sub(i(b)).cast_unsigned());
    /// Low half of a b.
    bin MulLoU32(a, b) L::mul(a, b);
    /// High half of a b.
    bin MulHiU32(a, b) L::mulhi_u(a, b);
    /// High half of a b, signed.
    bin MulHiI32(a, b) L::map2(a, b, |a, b| ((i64::from(i(a)) * i64::from(i(b))) >> 32) as u32);
    /// Low half of the product of the low 24 bits, signed.
    bin MulI32I24(a, b) L::map2(a, b, |a, b| i24(a).wrapping_mul(i24(b)).cast_unsigned());
    /// High half of the same.
    bin MulHiI32I24(a, b) L::map2(a, b, |a, b| ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as u32);
    /// Low half of the product of the low 24 bits.
    bin MulU32U24(a, b) L::mul(L::and(a, L::splat(0xff_ffff)), L::and(b, L::splat(0xff_ffff)));
    /// High half of the same.
    bin MulHiU32U24(a, b) L::mulhi_u(L::and(a, L::splat(0xff_ffff)), L::and(b, L::splat(0xff_ffff)));
    /// 24-bit signed product plus c.
    tri MadI32I24(a, b, c) L::map3(a, b, c, |a, b, c| i24(a).wrapping_mul(i24(b)).cast_unsigned().wrapping_add(c));
    /// 24-bit product plus c.
    tri MadU32U24(a, b, c) L::add(L::mul(L::and(a, L::splat(0xff_ffff)), L::and(b, L::splat(0xff_ffff))), c);
    /// a + b + c.
    tri Add3U32(a, b, c) L::add(L::add(a, b), c);
    /// (a << b) + c.
    tri LshlAddU32(a, b, c) L::add(L::shl(a, b), c);
    /// (a + b) << c.
    tri AddLshlU32(a, b, c) L::shl(L::add(a, b), c);
    /// (a << b) | c.
    tri LshlOrB32(a, b, c) L::or(L::shl(a, b), c);
    /// (a & b) | c.
    tri AndOrB32(a, b, c) L::or(L::and(a, b), c);
    /// a | b | c.
    tri Or3B32(a, b, c) L::or(L::or(a, b), c);
    /// (a ^ b) + c.
    tri XadU32(a, b, c) L::add(L::xor(a, b), c);
    /// a ^ b ^ c.
    tri Xor3B32(a, b, c) L::xor(L::xor(a, b), c);
    /// (a & b) | (!a & c).
    tri BfiB32(a, b, c) L::xor(c, L::and(a, L::xor(b, c)));
    /// Unsigned bit field of a: offset b, width c.
    tri BfeU32(a, b, c) L::map3(a, b, c, |a, b, c| (a >> (b & 31)) & ((1u32 << (c & 31)) - 1));
    /// Signed bit field of a: offset b, width c.
    tri BfeI32(a, b, c) L::map3(a, b, c, |a, b, c| {
        let (o, n) = (b & 31, c & 31);
        if n == 0 { 0 } else { (i(a >> o << (32 - n)) >> (32 - n)).cast_unsigned() }
    });
    /// a ones at bit b.
    bin BfmB32(a, b) L::map2(a, b, |a, b| ((1u32 << (a & 31)) - 1) << (b & 31));
    /// The dword at byte c of a:b.
    tri AlignbyteB32(a, b, c) L::map3(a, b, c, |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32);
    /// The dword at bit c of a:b.
    tri AlignbitB32(a, b, c) L::map3(a, b, c, |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32);
    /// Each byte of the selector c picks a byte of a:b, a sign or a constant.
    tri PermB32(a, b, c) L::map3(a, b, c, |a, b, c| perm(u64::from(a) << 32 | u64::from(b), c));
    /// min(a, b, c).
    tri Min3I32(a, b, c) L::min_i(L::min_i(a, b), c);
    /// max(a, b, c).
    tri Max3I32(a, b, c) L::max_i(L::max_i(a, b), c);
    /// The middle one.
    tri Med3I32(a, b, c) L::max_i(L::min_i(a, b), L::min_i(L::max_i(a, b), c));
    /// min(a, b, c), unsigned.
    tri Min3U32(a, b, c) L::min_u(L::min_u(a, b), c);
    /// max(a, b, c), unsigned.
    tri Max3U32(a, b, c) L::max_u(L::max_u(a, b), c);
    /// The middle one, unsigned.
    tri Med3U32(a, b, c) L::max_u(L::min_u(a, b), L::min_u(L::max_u(a, b), c));
    /// Bits reversed.
    un BfrevB32(a) L::map1(a, u32::reverse_bits);
    /// Leading zeros, -1 for 0.
    un FfbhU32(a) L::map1(a, |a| if a == 0 { u32::MAX } else { a.leading_zeros() });
    /// Trailing zeros, -1 for 0.
    un FfblB32(a) L::map1(a, |a| if a == 0 { u32::MAX } else { a.trailing_zeros() });
    /// Leading sign bits, -1 for 0 and -1.
    un FfbhI32(a) L::map1(a, |a| {
        let x = a ^ (i(a) >> 31).cast_unsigned();
        if x == 0 { u32::MAX } else { x.leading_zeros() }
    });
    /// popcount(a) + b.
    bin BcntU32B32(a, b) L::map2(a, b, |a, b| a.count_ones().wrapping_add(b));
    /// Sum of absolute differences of bytes, plus c.
    tri SadU8(a, b, c) L::map3(a, b, c, |a, b, c| sad8(a, b, false).wrapping_add(c));
    /// The same where the reference b is not 0.
    tri MsadU8(a, b, c) L::map3(a, b, c, |a, b, c| sad8(a, b, true).wrapping_add(c));
    /// (Sum of absolute differences of bytes << 16) + c.
    tri SadHiU8(a, b, c) L::map3(a, b, c, |a, b, c| (sad8(a, b, false) << 16).wrapping_add(c));
    /// Sum of absolute differences of halves, plus c.
    tri SadU16(a, b, c) L::map3(a, b, c, |a, b, c| {
        (a & 0xffff).abs_diff(b & 0xffff).wrapping_add((a >> 16).abs_diff(b >> 16)).wrapping_add(c)
    });
    /// |a - b| + c.
    tri SadU32(a, b, c) L::map3(a, b, c, |a, b, c| a.abs_diff(b).wrapping_add(c));
    /// a + b with carry out.
    carry CarryAdd(a, b, c) { let _ = c; let r = L::add(a, b); (r, L::lt_u(r, a)) };
    /// a - b with borrow out.
    carry CarrySub(a, b, c) { let _ = c; (L::sub(a, b), L::lt_u(a, b)) };
    /// b - a with borrow out.
    carry CarrySubrev(a, b, c) { let _ = c; (L::sub(b, a), L::lt_u(b, a)) };
    /// a + b + carry.
    carry CarryAddc(a, b, c) {
        let s = L::add(a, b);
        let r = L::add(s, L::select(c, L::splat(1), L::splat(0)));
        (r, L::lt_u(s, a) | L::lt_u(r, s))
    };
    /// a - b - borrow.
    carry CarrySubb(a, b, c) {
        let s = L::sub(a, b);
        let r = L::sub(s, L::select(c, L::splat(1), L::splat(0)));
        (r, L::lt_u(a, b) | L::lt_u(s, r))
    };
    /// b - a - borrow.
    carry CarrySubbrev(a, b, c) {
        let s = L::sub(b, a);
        let r = L::sub(s, L::select(c, L::splat(1), L::splat(0)));
        (r, L::lt_u(b, a) | L::lt_u(s, r))
    };
}

fn sad8(a: u32, b: u32, masked: bool) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    (0..4).filter(|&i| !masked || b[i] != 0).map(|i| u32::from(a[i].abs_diff(b[i]))).sum()
}

/// `v_perm_b32` selector rules (CDNA3 ISA): 0–7 bytes, 8–11 signs of bytes 1, 3, 5, 7, 12 zero, 13 and up 0xff.
fn perm(data: u64, sel: u32) -> u32 {
    let bytes = data.to_le_bytes();
    u32::from_le_bytes(sel.to_le_bytes().map(|s| match s {
        0..=7 => bytes[usize::from(s)],
        8..=11 => {
            if bytes[usize::from(s - 8) * 2 + 1] & 0x80 != 0 {
                0xff
            } else {
                0
            }
        }
        12 => 0,
        _ => 0xff,
    }))
}
