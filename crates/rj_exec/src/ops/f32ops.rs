//! f32 arithmetic and conversions.
//!
//! Transcendentals: the hardware's exact results are not public; these are the correctly rounded (or libm's) results,
//! marked approximate in the fidelity report.

use super::ops;
use crate::lanes::{Cmp, Lanes, Round};

#[inline(always)]
fn f(x: u32) -> f32 {
    f32::from_bits(x)
}

/// Minimum as IEEE-754-2008 minNum: a NaN loses against a number, -0 is less than +0.
#[inline(always)]
pub(super) unsafe fn min_num<L: Lanes>(a: L::V, b: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let r = L::select(L::cmpf(a, b, Cmp::Lt), a, b);
        let r = L::select(L::cmpf(a, b, Cmp::Eq), L::or(a, b), r);
        pick_number::<L>(a, b, r)
    }
}

#[inline(always)]
pub(super) unsafe fn max_num<L: Lanes>(a: L::V, b: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let r = L::select(L::cmpf(a, b, Cmp::Gt), a, b);
        let r = L::select(L::cmpf(a, b, Cmp::Eq), L::and(a, b), r);
        pick_number::<L>(a, b, r)
    }
}

/// `r` where both are numbers, the number where one is a NaN, else a quiet NaN.
#[inline(always)]
unsafe fn pick_number<L: Lanes>(a: L::V, b: L::V, r: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let a_ok = L::cmpf(a, a, Cmp::O);
        let b_ok = L::cmpf(b, b, Cmp::O);
        let r = L::select(a_ok, r, b);
        let r = L::select(b_ok, r, a);
        L::select(a_ok | b_ok, r, L::or(r, L::splat(0x0040_0000)))
    }
}

/// Truncation to i32 as the hardware does it: saturating, NaN gives 0.
#[inline(always)]
unsafe fn to_i32<L: Lanes>(a: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let r = L::f2i_raw(a);
        let big = L::cmpf(a, L::splat(0x4f00_0000), Cmp::Ge);
        let r = L::select(big, L::splat(0x7fff_ffff), r);
        L::select(L::cmpf(a, a, Cmp::O), r, L::splat(0))
    }
}

fn u32_of(x: f32) -> u32 {
    x as u32
}

/// 1 / (2 pi) revolutions to radians, in f64 for range.
fn turns(x: u32) -> f64 {
    f64::from(f(x)) * std::f64::consts::TAU
}

ops! {
    /// Copies.
    un Mov(a) a;
    /// |a|.
    un AbsF32(a) L::and(a, L::splat(0x7fff_ffff));
    /// -a.
    un NegF32(a) L::xor(a, L::splat(0x8000_0000));
    /// -|a|.
    un NegAbsF32(a) L::or(a, L::splat(0x8000_0000));
    /// Output modifier: 2 a.
    un Mul2F32(a) L::mulf(a, L::splat(0x4000_0000));
    /// Output modifier: 4 a.
    un Mul4F32(a) L::mulf(a, L::splat(0x4080_0000));
    /// Output modifier: a / 2.
    un Div2F32(a) L::mulf(a, L::splat(0x3f00_0000));
    /// Output modifier: clamp to 0..1, NaN and -0 give +0 (DX10_CLAMP).
    un ClampF32(a) {
        let r = L::select(L::cmpf(a, L::splat(0), Cmp::Gt), a, L::splat(0));
        L::select(L::cmpf(r, L::splat(0x3f80_0000), Cmp::Gt), L::splat(0x3f80_0000), r)
    };
    /// a + b.
    bin AddF32(a, b) L::addf(a, b);
    /// a - b.
    bin SubF32(a, b) L::subf(a, b);
    /// a b.
    bin MulF32(a, b) L::mulf(a, b);
    /// a b, 0 times anything is +0.
    bin MulLegacyF32(a, b) {
        let zero = L::cmpf(a, L::splat(0), Cmp::Eq) | L::cmpf(b, L::splat(0), Cmp::Eq);
        L::select(zero, L::splat(0), L::mulf(a, b))
    };
    /// minNum.
    bin MinF32(a, b) min_num::<L>(a, b);
    /// maxNum.
    bin MaxF32(a, b) max_num::<L>(a, b);
    /// a b + c, rounded once.
    tri FmaF32(a, b, c) L::fmaf(a, b, c);
    /// a b + c, rounded twice.
    tri MadF32(a, b, c) L::addf(L::mulf(a, b), c);
    /// min(a, b, c).
    tri Min3F32(a, b, c) min_num::<L>(min_num::<L>(a, b), c);
    /// max(a, b, c).
    tri Max3F32(a, b, c) max_num::<L>(max_num::<L>(a, b), c);
    /// The middle one; a NaN operand gives the minimum of the three.
    tri Med3F32(a, b, c) {
        let all_ok = L::cmpf(a, b, Cmp::O) & L::cmpf(c, c, Cmp::O);
        let med = max_num::<L>(min_num::<L>(a, b), min_num::<L>(max_num::<L>(a, b), c));
        L::select(all_ok, med, min_num::<L>(min_num::<L>(a, b), c))
    };
    /// To an integral value, ties to even.
    un RndneF32(a) L::roundf(a, Round::Nearest);
    /// Downward.
    un FloorF32(a) L::roundf(a, Round::Floor);
    /// Upward.
    un CeilF32(a) L::roundf(a, Round::Ceil);
    /// Toward zero.
    un TruncF32(a) L::roundf(a, Round::Trunc);
    /// a - floor(a), below 1.
    un FractF32(a) {
        let r = L::subf(a, L::roundf(a, Round::Floor));
        L::select(L::cmpf(r, L::splat(0x3f80_0000), Cmp::Ge), L::splat(0x3f7f_ffff), r)
    };
    /// Square root (approximate: hardware within 1 ulp).
    un SqrtF32(a) L::sqrtf(a);
    /// Reciprocal (approximate: hardware within 1 ulp).
    un RcpF32(a) L::divf(L::splat(0x3f80_0000), a);
    /// Reciprocal square root (approximate).
    un RsqF32(a) L::map1(a, |a| {
        let x = f(a);
        if x.is_nan() { a | 0x0040_0000 } else if x < 0.0 { 0xffc0_0000 } else { ((1.0 / f64::from(x).sqrt()) as f32).to_bits() }
    });
    /// 2^a (approximate; denormal results flush as the hardware does not produce them).
    un ExpF32(a) L::map1(a, |a| {
        let x = f(a);
        if x.is_nan() { a | 0x0040_0000 } else if x < -126.0 { 0 } else { (f64::from(x).exp2() as f32).to_bits() }
    });
    /// log2 a (approximate; denormal operands read as zero).
    un LogF32(a) L::map1(a, |a| {
        let x = if f(a).is_subnormal() { 0.0 } else { f(a) };
        if x.is_nan() { a | 0x0040_0000 } else if x < 0.0 { 0xffc0_0000 } else { (f64::from(x).log2() as f32).to_bits() }
    });
    /// sin of a in revolutions (approximate).
    un SinF32(a) L::map1(a, |a| if f(a).is_finite() { (turns(a).sin() as f32).to_bits() } else if f(a).is_nan() { a | 0x0040_0000 } else { 0xffc0_0000 });
    /// cos of a in revolutions (approximate).
    un CosF32(a) L::map1(a, |a| if f(a).is_finite() { (turns(a).cos() as f32).to_bits() } else if f(a).is_nan() { a | 0x0040_0000 } else { 0xffc0_0000 });
    /// Exponent of a as an integer, 0 for 0, infinity and NaN.
    un FrexpExpI32F32(a) L::map1(a, |a| frexp_exp(a).cast_unsigned());
    /// Significand of a in 0.5..1.
    un FrexpMantF32(a) L::map1(a, frexp_mant);
    /// a 2^b, b an integer.
    bin LdexpF32(a, b) L::map2(a, b, |a, b| ldexp(a, b.cast_signed()));
    /// i32 to f32.
    un CvtF32I32(a) L::i2f(a);
    /// u32 to f32.
    un CvtF32U32(a) L::map1(a, |a| (a as f32).to_bits());
    /// f32 to i32, truncated, saturated.
    un CvtI32F32(a) to_i32::<L>(a);
    /// f32 to u32, truncated, saturated.
    un CvtU32F32(a) L::map1(a, |a| u32_of(f(a)));
    /// f32 to i32, rounded half up.
    un CvtRpiI32F32(a) to_i32::<L>(L::roundf(L::addf(a, L::splat(0x3f00_0000)), Round::Floor));
    /// f32 to i32, rounded down.
    un CvtFlrI32F32(a) to_i32::<L>(L::roundf(a, Round::Floor));
    /// Byte 0 of a to f32.
    un CvtF32Ubyte0(a) L::i2f(L::and(a, L::splat(0xff)));
    /// Byte 1.
    un CvtF32Ubyte1(a) L::i2f(L::and(L::shr(a, L::splat(8)), L::splat(0xff)));
    /// Byte 2.
    un CvtF32Ubyte2(a) L::i2f(L::and(L::shr(a, L::splat(16)), L::splat(0xff)));
    /// Byte 3.
    un CvtF32Ubyte3(a) L::i2f(L::shr(a, L::splat(24)));
    /// The last step of a division: quotient `a`, denominator `b`, numerator `c`.
    tri DivFixupF32(a, b, c) L::map3(a, b, c, div_fixup);
}

fn frexp_exp(a: u32) -> i32 {
    let e = (a >> 23 & 0xff).cast_signed();
    match e {
        255 => 0,
        0 if a << 1 == 0 => 0,
        0 => 32 - (a << 9 >> 9).leading_zeros().cast_signed() - 149,
        _ => e - 126,
    }
}

fn frexp_mant(a: u32) -> u32 {
    let e = a >> 23 & 0xff;
    match e {
        255 => {
            if a << 9 != 0 {
                a | 0x0040_0000
            } else {
                a
            }
        }
        0 if a << 1 == 0 => a,
        0 => {
            let m = a & 0x007f_ffff;
            let n = m << (m.leading_zeros() - 8);
            a & 0x8000_0000 | 126 << 23 | n & 0x007f_ffff
        }
        _ => a & 0x807f_ffff | 126 << 23,
    }
}

/// Exact but for the final rounding: scaled in f64, where every f32 times 2^±600 is normal.
fn ldexp(a: u32, n: i32) -> u32 {
    let x = f(a);
    if x.is_nan() {
        return a | 0x0040_0000;
    }
    let n = n.clamp(-600, 600);
    let scale = f64::from_bits(((1023 + n).cast_unsigned() as u64) << 52);
    ((f64::from(x) * scale) as f32).to_bits()
}

/// `v_div_fixup_f32` (CDNA3 ISA, VOP3): special cases of a / b that the Newton steps cannot give.
fn div_fixup(q: u32, den: u32, num: u32) -> u32 {
    let sign = (den ^ num) & 0x8000_0000;
    let (qf, d, n) = (f(q), f(den), f(num));
    if n.is_nan() {
        num | 0x0040_0000
    } else if d.is_nan() {
        den | 0x0040_0000
    } else if (d == 0.0 && n == 0.0) || (d.is_infinite() && n.is_infinite()) {
        0xffc0_0000
    } else if d == 0.0 || n.is_infinite() {
        sign | 0x7f80_0000
    } else if d.is_infinite() || n == 0.0 {
        sign
    } else if qf.is_nan() {
        sign | 0x7f80_0000
    } else {
        // A quotient that under- or overflowed comes out of the last multiply as 0 or infinity of that sign.
        q & 0x7fff_ffff | sign
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ldexp_and_frexp_take_the_ends_of_the_range() {
        assert_eq!(ldexp(0x3f80_0000, -149), 1);
        assert_eq!(ldexp(1, 149), 0x3f80_0000);
        assert_eq!(ldexp(0x3f80_0000, 128), 0x7f80_0000);
        assert_eq!(frexp_exp(1), -148);
        assert_eq!(frexp_mant(1), 0x3f00_0000);
        assert_eq!(frexp_exp(0x3f80_0000), 1);
        assert_eq!(div_fixup(0x3f80_0000, 0, 0x3f80_0000), 0x7f80_0000);
        assert_eq!(div_fixup(0x3f80_0000, 0x8000_0000, 0x3f80_0000), 0xff80_0000);
    }
}
