//! 16-bit integers, packed conversions, dot products and sums of differences. A 16-bit source is the low half of its
//! lane (the upper half does not matter); a 16-bit result is zero-extended.

use super::ops;
use crate::lanes::Lanes;

#[inline(always)]
fn u(x: u32) -> u32 {
    x & 0xffff
}
#[inline(always)]
fn s(x: u32) -> i32 {
    i32::from((x as u16).cast_signed())
}
/// An i16 result.
#[inline(always)]
fn w(x: i32) -> u32 {
    x.cast_unsigned() & 0xffff
}
#[inline(always)]
fn sat(x: i32) -> u32 {
    w(x.clamp(-32768, 32767))
}
#[inline(always)]
unsafe fn low<L: Lanes>(a: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { L::and(a, L::splat(0xffff)) }
}
#[inline(always)]
unsafe fn sext<L: Lanes>(a: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { L::sar(L::shl(a, L::splat(16)), L::splat(16)) }
}
#[inline(always)]
unsafe fn count<L: Lanes>(a: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { L::and(a, L::splat(15)) }
}

ops! {
    /// The low half of a and the upper half of b.
    bin InsertLow(a, b) L::or(low::<L>(a), L::and(b, L::splat(0xffff_0000)));
    /// The low half of b and a in the upper half.
    bin InsertHigh(a, b) L::or(low::<L>(b), L::shl(a, L::splat(16)));
    /// The low halves of a and b, b upper.
    bin Pack(a, b) L::or(low::<L>(a), L::shl(b, L::splat(16)));
    /// The upper half.
    un High(a) L::shr(a, L::splat(16));
    /// The low half, sign-extended.
    un SextLow(a) sext::<L>(a);
    /// The low half, zero-extended.
    un ZextLow(a) low::<L>(a);
    /// a + b.
    bin AddU16(a, b) low::<L>(L::add(a, b));
    /// a - b.
    bin SubU16(a, b) low::<L>(L::sub(a, b));
    /// Low half of a b.
    bin MulLoU16(a, b) low::<L>(L::mul(a, b));
    /// a + b, saturated, unsigned.
    bin AddSatU16(a, b) L::min_u(L::add(low::<L>(a), low::<L>(b)), L::splat(0xffff));
    /// a - b, saturated, unsigned.
    bin SubSatU16(a, b) L::max_i(L::sub(low::<L>(a), low::<L>(b)), L::splat(0));
    /// a b, saturated, unsigned.
    bin MulSatU16(a, b) L::min_u(L::mul(low::<L>(a), low::<L>(b)), L::splat(0xffff));
    /// a + b, saturated, signed.
    bin AddSatI16(a, b) L::map2(a, b, |a, b| sat(s(a) + s(b)));
    /// a - b, saturated, signed.
    bin SubSatI16(a, b) L::map2(a, b, |a, b| sat(s(a) - s(b)));
    /// b << a.
    bin LshlrevB16(a, b) low::<L>(L::shl(b, count::<L>(a)));
    /// b >> a.
    bin LshrrevB16(a, b) L::shr(low::<L>(b), count::<L>(a));
    /// b >> a, signed.
    bin AshrrevI16(a, b) low::<L>(L::sar(sext::<L>(b), count::<L>(a)));
    /// a b + c.
    tri MadU16(a, b, c) low::<L>(L::add(L::mul(a, b), c));
    /// a b + c, saturated, unsigned.
    tri MadSatU16(a, b, c) L::min_u(L::add(L::mul(low::<L>(a), low::<L>(b)), low::<L>(c)), L::splat(0xffff));
    /// a b + c, saturated, signed.
    tri MadSatI16(a, b, c) L::map3(a, b, c, |a, b, c| sat(s(a) * s(b) + s(c)));
    /// a b + c, c and the result of 32 bits, unsigned.
    tri MadU32U16(a, b, c) L::add(L::mul(low::<L>(a), low::<L>(b)), c);
    /// a b + c, c and the result of 32 bits, signed.
    tri MadI32I16(a, b, c) L::add(L::mul(sext::<L>(a), sext::<L>(b)), c);
    /// The same, saturated.
    tri MadSatU32U16(a, b, c) L::map3(a, b, c, |a, b, c| (u(a) * u(b)).saturating_add(c));
    /// The same, saturated.
    tri MadSatI32I16(a, b, c) L::map3(a, b, c, |a, b, c| (s(a) * s(b)).saturating_add(c.cast_signed()).cast_unsigned());
    /// min(a, b, c).
    tri Min3U16(a, b, c) low::<L>(L::min_u(L::min_u(low::<L>(a), low::<L>(b)), low::<L>(c)));
    /// max(a, b, c).
    tri Max3U16(a, b, c) low::<L>(L::max_u(L::max_u(low::<L>(a), low::<L>(b)), low::<L>(c)));
    /// The middle one.
    tri Med3U16(a, b, c) {
        let (a, b, c) = (low::<L>(a), low::<L>(b), low::<L>(c));
        low::<L>(L::max_u(L::min_u(a, b), L::min_u(L::max_u(a, b), c)))
    };
    /// Minimum.
    bin MinU16(a, b) low::<L>(L::min_u(low::<L>(a), low::<L>(b)));
    /// Maximum.
    bin MaxU16(a, b) low::<L>(L::max_u(low::<L>(a), low::<L>(b)));
    /// min(a, b, c).
    tri Min3I16(a, b, c) low::<L>(L::min_i(L::min_i(sext::<L>(a), sext::<L>(b)), sext::<L>(c)));
    /// max(a, b, c).
    tri Max3I16(a, b, c) low::<L>(L::max_i(L::max_i(sext::<L>(a), sext::<L>(b)), sext::<L>(c)));
    /// The middle one.
    tri Med3I16(a, b, c) {
        let (a, b, c) = (sext::<L>(a), sext::<L>(b), sext::<L>(c));
        low::<L>(L::max_i(L::min_i(a, b), L::min_i(L::max_i(a, b), c)))
    };
    /// Minimum.
    bin MinI16(a, b) low::<L>(L::min_i(sext::<L>(a), sext::<L>(b)));
    /// Maximum.
    bin MaxI16(a, b) low::<L>(L::max_i(sext::<L>(a), sext::<L>(b)));
    /// a < b.
    test CmpLtI16(a, b) L::lt_i(sext::<L>(a), sext::<L>(b));
    /// a == b.
    test CmpEqI16(a, b) L::eq(low::<L>(a), low::<L>(b));
    /// a <= b.
    test CmpLeI16(a, b) !L::lt_i(sext::<L>(b), sext::<L>(a));
    /// a > b.
    test CmpGtI16(a, b) L::lt_i(sext::<L>(b), sext::<L>(a));
    /// a != b.
    test CmpNeI16(a, b) !L::eq(low::<L>(a), low::<L>(b));
    /// a >= b.
    test CmpGeI16(a, b) !L::lt_i(sext::<L>(a), sext::<L>(b));
    /// a < b.
    test CmpLtU16(a, b) L::lt_u(low::<L>(a), low::<L>(b));
    /// a == b.
    test CmpEqU16(a, b) L::eq(low::<L>(a), low::<L>(b));
    /// a <= b.
    test CmpLeU16(a, b) !L::lt_u(low::<L>(b), low::<L>(a));
    /// a > b.
    test CmpGtU16(a, b) L::lt_u(low::<L>(b), low::<L>(a));
    /// a != b.
    test CmpNeU16(a, b) !L::eq(low::<L>(a), low::<L>(b));
    /// a >= b.
    test CmpGeU16(a, b) !L::lt_u(low::<L>(a), low::<L>(b));
    /// Two u32 to u16, saturated, packed.
    bin CvtPkU16U32(a, b) L::map2(a, b, |a, b| a.min(0xffff) | b.min(0xffff) << 16);
    /// Two i32 to i16, saturated, packed.
    bin CvtPkI16I32(a, b) L::map2(a, b, |a, b| sat(a.cast_signed()) | sat(b.cast_signed()) << 16);
    /// f32 a to u8 (cut, saturated), put in byte b of c.
    tri CvtPkU8F32(a, b, c) L::map3(a, b, c, |a, b, c| {
        let n = 8 * (b & 3);
        c & !(0xff << n) | u32::from(f32::from_bits(a) as u8) << n
    });
    /// The low four bits of a as a signed number of sixteenths.
    un CvtOffF32I4(a) L::map1(a, |a| (((a.cast_signed() << 28 >> 28) as f32) / 16.0).to_bits());
    /// Two i16 to u8, saturated.
    un SatPkU8I16(a) L::map1(a, |a| {
        let f = |x: u32| s(x).clamp(0, 255).cast_unsigned();
        f(a) | f(a >> 16) << 8
    });
    /// Per byte the mean of a and b; bit 0 of c says whether it rounds up.
    tri LerpU8(a, b, c) L::map3(a, b, c, |a, b, c| {
        (0..4).fold(0, |r, n| {
            let f = |x: u32| x >> (8 * n) & 0xff;
            r | ((f(a) + f(b) + (f(c) & 1)) >> 1) << (8 * n)
        })
    });
    /// Dot product of two pairs of i16, plus c.
    tri Dot2I32I16(a, b, c) L::map3(a, b, c, |a, b, c| dot(a, b, 16, true, c.cast_signed().into()) as u32);
    /// Dot product of two pairs of u16, plus c.
    tri Dot2U32U16(a, b, c) L::map3(a, b, c, |a, b, c| dot(a, b, 16, false, c.into()) as u32);
    /// Dot product of four i8, plus c.
    tri Dot4I32I8(a, b, c) L::map3(a, b, c, |a, b, c| dot(a, b, 8, true, c.cast_signed().into()) as u32);
    /// Dot product of four u8, plus c.
    tri Dot4U32U8(a, b, c) L::map3(a, b, c, |a, b, c| dot(a, b, 8, false, c.into()) as u32);
    /// Dot product of eight i4, plus c.
    tri Dot8I32I4(a, b, c) L::map3(a, b, c, |a, b, c| dot(a, b, 4, true, c.cast_signed().into()) as u32);
    /// Dot product of eight u4, plus c.
    tri Dot8U32U4(a, b, c) L::map3(a, b, c, |a, b, c| dot(a, b, 4, false, c.into()) as u32);
    /// The same, saturated.
    tri Dot2SatI32I16(a, b, c) L::map3(a, b, c, |a, b, c| sat_i(dot(a, b, 16, true, c.cast_signed().into())));
    /// The same, saturated.
    tri Dot2SatU32U16(a, b, c) L::map3(a, b, c, |a, b, c| sat_u(dot(a, b, 16, false, c.into())));
    /// The same, saturated.
    tri Dot4SatI32I8(a, b, c) L::map3(a, b, c, |a, b, c| sat_i(dot(a, b, 8, true, c.cast_signed().into())));
    /// The same, saturated.
    tri Dot4SatU32U8(a, b, c) L::map3(a, b, c, |a, b, c| sat_u(dot(a, b, 8, false, c.into())));
    /// The same, saturated.
    tri Dot8SatI32I4(a, b, c) L::map3(a, b, c, |a, b, c| sat_i(dot(a, b, 4, true, c.cast_signed().into())));
    /// The same, saturated.
    tri Dot8SatU32U4(a, b, c) L::map3(a, b, c, |a, b, c| sat_u(dot(a, b, 4, false, c.into())));
    /// Four sums of absolute differences of 4 bytes of a, at byte offsets 0 to 3, and b; added to the u16 of c.
    wide QsadPkU16U8[64, 32, 64, 64](a, b, c) L::map3d(a, b, c, |a, b, c| qsad(a, b as u32, c, false));
    /// The same; bytes of b that are 0 do not count.
    wide MqsadPkU16U8[64, 32, 64, 64](a, b, c) L::map3d(a, b, c, |a, b, c| qsad(a, b as u32, c, true));
}

/// Sum of the products of the `bits`-bit elements, plus `c`.
#[inline(always)]
fn dot(a: u32, b: u32, bits: u32, signed: bool, c: i64) -> i64 {
    (0..32 / bits).fold(c, |r, n| {
        let f = |x: u32| {
            let top = x << (32 - bits - bits * n);
            if signed { i64::from(top.cast_signed() >> (32 - bits)) } else { i64::from(top >> (32 - bits)) }
        };
        r + f(a) * f(b)
    })
}
fn sat_i(x: i64) -> u32 {
    (x.clamp(i32::MIN.into(), i32::MAX.into()) as i32).cast_unsigned()
}
fn sat_u(x: i64) -> u32 {
    x.clamp(0, u32::MAX.into()) as u32
}

/// Sum of absolute differences of the four bytes.
pub(crate) fn sad(a: u32, b: u32, masked: bool) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    (0..4).filter(|&i| !masked || b[i] != 0).map(|i| u32::from(a[i].abs_diff(b[i]))).sum()
}

fn qsad(a: u64, b: u32, c: u64, masked: bool) -> u64 {
    (0..4).fold(0, |r, n| {
        let sum = sad((a >> (8 * n)) as u32, b, masked) + ((c >> (16 * n)) as u32 & 0xffff);
        r | u64::from(sum & 0xffff) << (16 * n)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_sums_of_differences() {
        assert_eq!(dot(0xff02_0304, 0x0101_0101, 8, true, 10), 10 - 1 + 2 + 3 + 4);
        assert_eq!(dot(0xff02_0304, 0x0101_0101, 8, false, 10), 10 + 255 + 2 + 3 + 4);
        assert_eq!(dot(0xffff_ffff, 0x1111_1111, 4, true, 0), -8);
        assert_eq!(sat_i(1 << 40), 0x7fff_ffff);
        assert_eq!(qsad(0x0807_0605_0403_0201, 0x0101_0101, 1 << 48, false), 0x0013_000e_000a_0006);
        assert_eq!(qsad(0x04, 0x0000_0001, 0, true), 0x0001_0001_0001_0003);
    }
}
