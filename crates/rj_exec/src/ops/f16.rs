//! f16 arithmetic and conversions. A 16-bit source is the low half of its lane (the upper half does not matter); a
//! 16-bit result is zero-extended.
//!
//! Sums, products and quotients of f16 are computed in f32, which has more than twice as many bits and two: rounding
//! that again to f16 is as good as rounding once. Fused operations go through f64 and a round to odd.

use super::f32ops::{max_num, min_num};
use super::ops;
use crate::half::{f16_to_f32, f32_to_f16};
use crate::lanes::{Cmp, Lanes, Round};

/// The value of the low half.
#[inline(always)]
pub(crate) fn value(a: u32) -> f64 {
    f64::from(f16_to_f32(a as u16))
}

/// To f16, rounded once: first to an odd f32 (truncated, the last bit tells that something was lost).
#[inline(always)]
pub(crate) fn round(x: f64) -> u32 {
    let f = x as f32;
    let near = f64::from(f);
    if near == x || x.is_nan() {
        return u32::from(f32_to_f16(f));
    }
    let cut = if near.abs() > x.abs() { f.to_bits() - 1 } else { f.to_bits() };
    u32::from(f32_to_f16(f32::from_bits(cut | 1)))
}

#[inline(always)]
fn map(a: u32, f: impl Fn(f64) -> f64) -> u32 {
    let x = value(a);
    if x.is_nan() {
        return a & 0xffff | 0x200;
    }
    let r = f(x);
    if r.is_nan() { 0xfe00 } else { round(r) }
}

/// f64 to f16, rounded once.
#[inline(always)]
unsafe fn d2h<L: Lanes>(d: L::D) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let odd = L::map1d(d, |x| {
            let lost = x & 0x1fff_ffff;
            x & !0x1fff_ffff | u64::from(lost != 0) << 29
        });
        L::f2h(L::d2f(odd))
    }
}

/// a b + c as f64. Rounding there first does no harm: the product has 22 bits and c has 11, so bits below the 53rd and
/// a bit at the middle between two f16 are never both set.
#[inline(always)]
unsafe fn fma<L: Lanes>(a: L::V, b: L::V, c: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { d2h::<L>(L::fmad(L::f2d(L::h2f(a)), L::f2d(L::h2f(b)), L::f2d(L::h2f(c)))) }
}

/// a b + c with the product rounded to f16.
#[inline(always)]
unsafe fn mad<L: Lanes>(a: L::V, b: L::V, c: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let p = L::h2f(L::f2h(L::mulf(L::h2f(a), L::h2f(b))));
        L::f2h(L::addf(p, L::h2f(c)))
    }
}

/// Toward zero; what is too large becomes the greatest number.
fn rtz(a: u32) -> u32 {
    let x = f32::from_bits(a);
    let h = f32_to_f16(x);
    let up = f16_to_f32(h).abs() > x.abs();
    u32::from(if up { h - 1 } else { h })
}

fn norm(x: f32, scale: f32, least: f32) -> u32 {
    // NaN gives 0, as the integer conversion does.
    (((x.clamp(least, 1.0) * scale).round_ties_even() as i32) & 0xffff).cast_unsigned()
}

ops! {
    /// a + b.
    bin AddF16(a, b) L::f2h(L::addf(L::h2f(a), L::h2f(b)));
    /// a - b.
    bin SubF16(a, b) L::f2h(L::subf(L::h2f(a), L::h2f(b)));
    /// a b.
    bin MulF16(a, b) L::f2h(L::mulf(L::h2f(a), L::h2f(b)));
    /// minNum.
    bin MinF16(a, b) L::f2h(min_num::<L>(L::h2f(a), L::h2f(b)));
    /// maxNum.
    bin MaxF16(a, b) L::f2h(max_num::<L>(L::h2f(a), L::h2f(b)));
    /// a b + c, rounded once.
    tri FmaF16(a, b, c) fma::<L>(a, b, c);
    /// a b + c, rounded twice.
    tri MadF16(a, b, c) mad::<L>(a, b, c);
    /// min(a, b, c).
    tri Min3F16(a, b, c) L::f2h(min_num::<L>(min_num::<L>(L::h2f(a), L::h2f(b)), L::h2f(c)));
    /// max(a, b, c).
    tri Max3F16(a, b, c) L::f2h(max_num::<L>(max_num::<L>(L::h2f(a), L::h2f(b)), L::h2f(c)));
    /// The middle one; a NaN operand gives the minimum of the three.
    tri Med3F16(a, b, c) {
        let (a, b, c) = (L::h2f(a), L::h2f(b), L::h2f(c));
        let ok = L::cmpf(a, b, Cmp::O) & L::cmpf(c, c, Cmp::O);
        let med = max_num::<L>(min_num::<L>(a, b), min_num::<L>(max_num::<L>(a, b), c));
        L::f2h(L::select(ok, med, min_num::<L>(min_num::<L>(a, b), c)))
    };
    /// |a|.
    un AbsF16(a) L::and(a, L::splat(0x7fff));
    /// -a.
    un NegF16(a) L::xor(L::and(a, L::splat(0xffff)), L::splat(0x8000));
    /// -|a|.
    un NegAbsF16(a) L::or(L::and(a, L::splat(0xffff)), L::splat(0x8000));
    /// Output modifier: 2 a.
    un Mul2F16(a) L::f2h(L::mulf(L::h2f(a), L::splat(0x4000_0000)));
    /// Output modifier: 4 a.
    un Mul4F16(a) L::f2h(L::mulf(L::h2f(a), L::splat(0x4080_0000)));
    /// Output modifier: a / 2.
    un Div2F16(a) L::f2h(L::mulf(L::h2f(a), L::splat(0x3f00_0000)));
    /// Output modifier: clamp to 0..1, NaN and -0 give +0.
    un ClampF16(a) {
        let a = L::h2f(a);
        let r = L::select(L::cmpf(a, L::splat(0), Cmp::Gt), a, L::splat(0));
        L::f2h(L::select(L::cmpf(r, L::splat(0x3f80_0000), Cmp::Gt), L::splat(0x3f80_0000), r))
    };
    /// To an integral value, ties to even.
    un RndneF16(a) L::f2h(L::roundf(L::h2f(a), Round::Nearest));
    /// Downward.
    un FloorF16(a) L::f2h(L::roundf(L::h2f(a), Round::Floor));
    /// Upward.
    un CeilF16(a) L::f2h(L::roundf(L::h2f(a), Round::Ceil));
    /// Toward zero.
    un TruncF16(a) L::f2h(L::roundf(L::h2f(a), Round::Trunc));
    /// a - floor(a), below 1.
    un FractF16(a) L::map1(a, |a| {
        let r = map(a, |x| x - x.floor());
        if r == 0x3c00 { 0x3bff } else { r }
    });
    /// Square root, correctly rounded (approximate: hardware within 0.51 ulp).
    un SqrtF16(a) L::map1(a, |a| map(a, f64::sqrt));
    /// Reciprocal, correctly rounded (approximate: hardware within 0.51 ulp).
    un RcpF16(a) L::map1(a, |a| map(a, |x| 1.0 / x));
    /// Reciprocal square root, correctly rounded (approximate: hardware within 0.51 ulp).
    un RsqF16(a) L::map1(a, |a| map(a, |x| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() }));
    /// 2^a (approximate).
    un ExpF16(a) L::map1(a, |a| map(a, f64::exp2));
    /// log2 a (approximate).
    un LogF16(a) L::map1(a, |a| map(a, f64::log2));
    /// sin of a in revolutions (approximate).
    un SinF16(a) L::map1(a, |a| map(a, |x| (x * std::f64::consts::TAU).sin()));
    /// cos of a in revolutions (approximate).
    un CosF16(a) L::map1(a, |a| map(a, |x| (x * std::f64::consts::TAU).cos()));
    /// Exponent of a as an i16, 0 for 0, infinity and NaN.
    un FrexpExpI16F16(a) L::map1(a, |a| frexp(a).1.cast_unsigned() & 0xffff);
    /// Significand of a in 0.5..1.
    un FrexpMantF16(a) L::map1(a, |a| frexp(a).0);
    /// a 2^b, b an i16.
    bin LdexpF16(a, b) L::map2(a, b, |a, b| {
        let n = i32::from((b as u16).cast_signed()).clamp(-100, 100);
        map(a, |x| x * 2f64.powi(n))
    });
    /// u16 to f16.
    un CvtF16U16(a) L::f2h(L::i2f(L::and(a, L::splat(0xffff))));
    /// i16 to f16.
    un CvtF16I16(a) L::f2h(L::i2f(L::sar(L::shl(a, L::splat(16)), L::splat(16))));
    /// f16 to u16, truncated, saturated.
    un CvtU16F16(a) L::map1(a, |a| u32::from(f16_to_f32(a as u16) as u16));
    /// f16 to i16, truncated, saturated.
    un CvtI16F16(a) L::map1(a, |a| u32::from((f16_to_f32(a as u16) as i16).cast_unsigned()));
    /// f32 to f16, to nearest even.
    un CvtF16F32(a) L::f2h(a);
    /// f16 to f32.
    un CvtF32F16(a) L::h2f(a);
    /// f16 to signed normalized (rounded to nearest even: approximate).
    un CvtNormI16F16(a) L::map1(a, |a| norm(f16_to_f32(a as u16), 32767.0, -1.0));
    /// f16 to unsigned normalized (rounded to nearest even: approximate).
    un CvtNormU16F16(a) L::map1(a, |a| norm(f16_to_f32(a as u16), 65535.0, 0.0));
    /// f32 to signed normalized (rounded to nearest even: approximate).
    un CvtNormI16F32(a) L::map1(a, |a| norm(f32::from_bits(a), 32767.0, -1.0));
    /// f32 to unsigned normalized (rounded to nearest even: approximate).
    un CvtNormU16F32(a) L::map1(a, |a| norm(f32::from_bits(a), 65535.0, 0.0));
    /// Two f32 to f16, toward zero, packed.
    bin CvtPkrtzF16F32(a, b) L::map2(a, b, |a, b| rtz(a) | rtz(b) << 16);
    /// The last step of a division: quotient a, denominator b, numerator c.
    tri DivFixupF16(a, b, c) L::map3(a, b, c, div_fixup);
    /// A denormal becomes +0.
    un FlushF16(a) L::map1(a, |a| if a & 0x7c00 == 0 { 0 } else { a & 0xffff });
    /// a b + c of f32 operands, rounded once to f16.
    tri FmaMixF16(a, b, c) L::map3(a, b, c, |a, b, c| fma_mix(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)));
    /// lt.
    test CmpLtF16(a, b) L::cmpf(L::h2f(a), L::h2f(b), Cmp::Lt);
    /// eq.
    test CmpEqF16(a, b) L::cmpf(L::h2f(a), L::h2f(b), Cmp::Eq);
    /// le.
    test CmpLeF16(a, b) L::cmpf(L::h2f(a), L::h2f(b), Cmp::Le);
    /// gt.
    test CmpGtF16(a, b) L::cmpf(L::h2f(a), L::h2f(b), Cmp::Gt);
    /// lg.
    test CmpLgF16(a, b) L::cmpf(L::h2f(a), L::h2f(b), Cmp::Lg);
    /// ge.
    test CmpGeF16(a, b) L::cmpf(L::h2f(a), L::h2f(b), Cmp::Ge);
    /// o.
    test CmpOF16(a, b) L::cmpf(L::h2f(a), L::h2f(b), Cmp::O);
    /// not o.
    test CmpUF16(a, b) !L::cmpf(L::h2f(a), L::h2f(b), Cmp::O);
    /// not ge.
    test CmpNgeF16(a, b) !L::cmpf(L::h2f(a), L::h2f(b), Cmp::Ge);
    /// not lg.
    test CmpNlgF16(a, b) !L::cmpf(L::h2f(a), L::h2f(b), Cmp::Lg);
    /// not gt.
    test CmpNgtF16(a, b) !L::cmpf(L::h2f(a), L::h2f(b), Cmp::Gt);
    /// not le.
    test CmpNleF16(a, b) !L::cmpf(L::h2f(a), L::h2f(b), Cmp::Le);
    /// not eq.
    test CmpNeqF16(a, b) !L::cmpf(L::h2f(a), L::h2f(b), Cmp::Eq);
    /// not lt.
    test CmpNltF16(a, b) !L::cmpf(L::h2f(a), L::h2f(b), Cmp::Lt);
    /// The class of a is in the mask b.
    test CmpClassF16(a, b) L::test2(a, b, |a, b| {
        let e = a >> 10 & 0x1f;
        super::cmp::class(a >> 15 & 1 != 0, e == 31, e == 0, u64::from(a & 0x3ff), a >> 9 & 1 != 0) & b != 0
    });
}

/// Significand in 0.5..1 and exponent.
fn frexp(a: u32) -> (u32, i32) {
    let x = value(a);
    if x.is_nan() {
        return (a & 0xffff | 0x200, 0);
    }
    if x == 0.0 || x.is_infinite() {
        return (a & 0xffff, 0);
    }
    let e = (x.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    (round(x * 2f64.powi(-e)), e)
}

/// The exact sum rounded to odd in f64, then to f16.
fn fma_mix(a: f32, b: f32, c: f32) -> u32 {
    let (p, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let s = p + c;
    if !s.is_finite() {
        return round(s);
    }
    // Knuth's two-sum: what the addition lost.
    let t = s - p;
    let lost = (p - (s - t)) + (c - t);
    if lost == 0.0 {
        return round(s);
    }
    let cut = if (lost > 0.0) == (s > 0.0) { s.to_bits() } else { s.to_bits() - 1 };
    round(f64::from_bits(cut | 1))
}

/// As for f32.
fn div_fixup(q: u32, den: u32, num: u32) -> u32 {
    let sign = (den ^ num) & 0x8000;
    let (d, n) = (value(den), value(num));
    if n.is_nan() {
        num & 0xffff | 0x200
    } else if d.is_nan() {
        den & 0xffff | 0x200
    } else if (d == 0.0 && n == 0.0) || (d.is_infinite() && n.is_infinite()) {
        0xfe00
    } else if d == 0.0 || n.is_infinite() {
        sign | 0x7c00
    } else if d.is_infinite() || n == 0.0 {
        sign
    } else {
        q & 0x7fff | sign
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h(x: f32) -> u32 {
        u32::from(f32_to_f16(x))
    }

    #[test]
    fn results_are_rounded_once() {
        // 1 + 2^-11 is half way between two f16; the least bit beyond decides, however small.
        let half = 1.0 + 2f64.powi(-11);
        assert_eq!(round(half), 0x3c00);
        assert_eq!(round(half + 2f64.powi(-52)), 0x3c01);
        assert_eq!(round(half - 2f64.powi(-52)), 0x3c00);
        assert_eq!(fma_mix(1.0, 1.0 + 2f32.powi(-11), 2f32.powi(-100)), 0x3c01);
        assert_eq!(fma_mix(1.0, 1.0 + 2f32.powi(-11), -(2f32.powi(-100))), 0x3c00);
        assert_eq!(fma_mix(-1.0, 1.0 + 2f32.powi(-11), -(2f32.powi(-100))), 0xbc01);
        assert_eq!(round(1e40), 0x7c00);
    }

    #[test]
    fn conversions_cut_saturate_and_take_the_ends() {
        assert_eq!(rtz(65519f32.to_bits()), 0x7bff);
        assert_eq!(rtz(1e9f32.to_bits()), 0x7bff);
        assert_eq!(rtz((-1e-9f32).to_bits()), 0x8000);
        assert_eq!(rtz(f32::INFINITY.to_bits()), 0x7c00);
        assert_eq!(norm(2.0, 32767.0, -1.0), 0x7fff);
        assert_eq!(norm(-2.0, 32767.0, -1.0), 0x8001);
        assert_eq!(norm(f32::NAN, 65535.0, 0.0), 0);
        assert_eq!(frexp(1), (h(0.5), -23));
        assert_eq!(frexp(h(1.0)), (h(0.5), 1));
        assert_eq!(map(0x8000, |x| 1.0 / x), 0xfc00);
    }
}
