//! f64 arithmetic, 64-bit integers, and conversions between widths.

use super::ops;
use crate::lanes::{Cmp, Lanes};

#[inline(always)]
fn d(x: u64) -> f64 {
    f64::from_bits(x)
}
#[inline(always)]
fn lo(x: u64) -> u32 {
    x as u32
}
const SIGN: u64 = 1 << 63;
const QUIET: u64 = 1 << 51;

#[inline(always)]
unsafe fn pick<L: Lanes>(a: L::D, b: L::D, r: L::D) -> L::D {
    // SAFETY: the caller's.
    unsafe {
        let (a_ok, b_ok) = (L::cmpd(a, a, Cmp::O), L::cmpd(b, b, Cmp::O));
        let r = L::select64(a_ok, r, b);
        let r = L::select64(b_ok, r, a);
        L::select64(a_ok | b_ok, r, L::map1d(r, |x| x | QUIET))
    }
}

fn quiet_or(a: u64, r: f64) -> u64 {
    if d(a).is_nan() {
        a | QUIET
    } else if r.is_nan() {
        0xfff8_0000_0000_0000
    } else {
        r.to_bits()
    }
}

ops! {
    /// |a|.
    wide AbsF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| a & !SIGN) };
    /// -a.
    wide NegF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| a ^ SIGN) };
    /// -|a|.
    wide NegAbsF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| a | SIGN) };
    /// 2 a.
    wide Mul2F64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::muld(a, L::splat64(2f64.to_bits())) };
    /// 4 a.
    wide Mul4F64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::muld(a, L::splat64(4f64.to_bits())) };
    /// a / 2.
    wide Div2F64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::muld(a, L::splat64(0.5f64.to_bits())) };
    /// Clamp to 0..1; NaN gives +0.
    wide ClampF64[64, 0, 0, 64](a, b, c) {
        let _ = (b, c);
        let one = L::splat64(1f64.to_bits());
        let r = L::select64(L::cmpd(a, L::splat64(0), Cmp::Gt), a, L::splat64(0));
        L::select64(L::cmpd(r, one, Cmp::Gt), one, r)
    };
    /// A copy of 64 bits.
    wide Mov64[64, 0, 0, 64](a, b, c) { let _ = (b, c); a };
    /// a + b.
    wide AddF64[64, 64, 0, 64](a, b, c) { let _ = c; L::addd(a, b) };
    /// a b.
    wide MulF64[64, 64, 0, 64](a, b, c) { let _ = c; L::muld(a, b) };
    /// a b + c, rounded once.
    wide FmaF64[64, 64, 64, 64](a, b, c) L::fmad(a, b, c);
    /// minNum.
    wide MinF64[64, 64, 0, 64](a, b, c) {
        let _ = c;
        let r = L::select64(L::cmpd(a, b, Cmp::Lt), a, b);
        let r = L::select64(L::cmpd(a, b, Cmp::Eq), L::map2d(a, b, |a, b| a | b), r);
        pick::<L>(a, b, r)
    };
    /// maxNum.
    wide MaxF64[64, 64, 0, 64](a, b, c) {
        let _ = c;
        let r = L::select64(L::cmpd(a, b, Cmp::Gt), a, b);
        let r = L::select64(L::cmpd(a, b, Cmp::Eq), L::map2d(a, b, |a, b| a & b), r);
        pick::<L>(a, b, r)
    };
    /// Ties to even.
    wide RndneF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| quiet_or(a, d(a).round_ties_even())) };
    /// Downward.
    wide FloorF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| quiet_or(a, d(a).floor())) };
    /// Upward.
    wide CeilF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| quiet_or(a, d(a).ceil())) };
    /// Toward zero.
    wide TruncF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| quiet_or(a, d(a).trunc())) };
    /// a - floor(a), below 1.
    wide FractF64[64, 0, 0, 64](a, b, c) {
        let _ = (b, c);
        L::map1d(a, |a| {
            let r = d(a) - d(a).floor();
            if r >= 1.0 { 0x3fef_ffff_ffff_ffff } else { quiet_or(a, r) }
        })
    };
    /// Square root (approximate: hardware has some 2^29 ulp; callers refine).
    wide SqrtF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| quiet_or(a, d(a).sqrt())) };
    /// Reciprocal (approximate, as above).
    wide RcpF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| quiet_or(a, 1.0 / d(a))) };
    /// Reciprocal square root (approximate, as above).
    wide RsqF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| quiet_or(a, 1.0 / d(a).sqrt())) };
    /// Exponent as an integer.
    wide FrexpExpI32F64[64, 0, 0, 32](a, b, c) { let _ = (b, c); L::map1d(a, |a| u64::from(frexp_exp(a).cast_unsigned())) };
    /// Significand in 0.5..1.
    wide FrexpMantF64[64, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, frexp_mant) };
    /// a 2^b.
    wide LdexpF64[64, 32, 0, 64](a, b, c) { let _ = c; L::map2d(a, b, |a, b| ldexp(a, lo(b).cast_signed())) };
    /// i32 to f64.
    wide CvtF64I32[32, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| f64::from(lo(a).cast_signed()).to_bits()) };
    /// u32 to f64.
    wide CvtF64U32[32, 0, 0, 64](a, b, c) { let _ = (b, c); L::map1d(a, |a| f64::from(lo(a)).to_bits()) };
    /// f32 to f64.
    wide CvtF64F32[32, 0, 0, 64](a, b, c) { let _ = (b, c); L::f2d(L::unzip(a).0) };
    /// f64 to f32.
    wide CvtF32F64[64, 0, 0, 32](a, b, c) { let _ = (b, c); L::zip(L::d2f(a), L::splat(0)) };
    /// f64 to i32, truncated, saturated.
    wide CvtI32F64[64, 0, 0, 32](a, b, c) { let _ = (b, c); L::map1d(a, |a| u64::from((d(a) as i32).cast_unsigned())) };
    /// f64 to u32, truncated, saturated.
    wide CvtU32F64[64, 0, 0, 32](a, b, c) { let _ = (b, c); L::map1d(a, |a| u64::from(d(a) as u32)) };
    /// a b + c: 32 x 32 + 64 bits, unsigned.
    wide MadU64U32[32, 32, 64, 64](a, b, c) L::add64(L::mul_lo_wide(a, b), c);
    /// a b + c: 32 x 32 + 64 bits, signed.
    wide MadI64I32[32, 32, 64, 64](a, b, c) L::add64(L::mul_lo_wide_i(a, b), c);
    /// b << a.
    wide LshlrevB64[32, 64, 0, 64](a, b, c) { let _ = c; L::shl64(b, low6::<L>(a)) };
    /// b >> a.
    wide LshrrevB64[32, 64, 0, 64](a, b, c) { let _ = c; L::shr64(b, low6::<L>(a)) };
    /// b >> a, signed.
    wide AshrrevI64[32, 64, 0, 64](a, b, c) { let _ = c; L::map2d(a, b, |a, b| (b.cast_signed() >> (a & 63)).cast_unsigned()) };
    /// (a << b) + c, 0 shifted for counts above 4: for counts in a plane, else `shapes::shift_add_h`.
    wide LshlAddU64[64, 32, 64, 64](a, b, c) L::map3d(a, b, c, |a, b, c| (if lo(b) & 7 > 4 { 0 } else { a << (b & 7) }).wrapping_add(c));
    /// The last step of a division: quotient a, denominator b, numerator c.
    wide DivFixupF64[64, 64, 64, 64](a, b, c) L::map3d(a, b, c, div_fixup);
}

/// Shift counts of 64-bit operations: six bits of the lower half.
#[inline(always)]
unsafe fn low6<L: Lanes>(n: L::D) -> L::D {
    // SAFETY: the caller's.
    unsafe { L::zip(L::and(L::unzip(n).0, L::splat(63)), L::splat(0)) }
}

fn frexp_exp(a: u64) -> i32 {
    match (a >> 52 & 0x7ff) as i32 {
        0x7ff => 0,
        0 if a << 1 == 0 => 0,
        0 => 64 - (a << 12 >> 12).leading_zeros().cast_signed() - 1074,
        e => e - 1022,
    }
}

fn frexp_mant(a: u64) -> u64 {
    match a >> 52 & 0x7ff {
        0x7ff => {
            if a << 12 != 0 {
                a | QUIET
            } else {
                a
            }
        }
        0 if a << 1 == 0 => a,
        0 => {
            let m = a & 0xf_ffff_ffff_ffff;
            let n = m << (m.leading_zeros() - 11);
            a & SIGN | 1022 << 52 | n & 0xf_ffff_ffff_ffff
        }
        _ => a & 0x800f_ffff_ffff_ffff | 1022 << 52,
    }
}

/// Rounded once: the scale is applied in two exact steps and one that rounds.
fn ldexp(a: u64, n: i32) -> u64 {
    let x = d(a);
    if x.is_nan() {
        return a | QUIET;
    }
    if x == 0.0 || x.is_infinite() {
        return a;
    }
    let pow = |n: i32| f64::from_bits(((1023 + n).cast_unsigned() as u64) << 52);
    // A significand in 0.5..1 times 2^e: only the last multiply can leave the normal range.
    let (m, e) = (d(frexp_mant(a)), frexp_exp(a).saturating_add(n));
    if e > 1100 {
        return (m * f64::MAX * 4.0).to_bits();
    }
    if e < -1200 {
        return a & SIGN;
    }
    let first = e.clamp(-1000, 1000);
    (m * pow(first) * pow(e - first)).to_bits()
}

/// `v_div_fixup_f64`: as for f32.
fn div_fixup(q: u64, den: u64, num: u64) -> u64 {
    let sign = (den ^ num) & SIGN;
    let (qf, b, n) = (d(q), d(den), d(num));
    if n.is_nan() {
        num | QUIET
    } else if b.is_nan() {
        den | QUIET
    } else if (b == 0.0 && n == 0.0) || (b.is_infinite() && n.is_infinite()) {
        0xfff8_0000_0000_0000
    } else if b == 0.0 || n.is_infinite() {
        sign | 0x7ff0_0000_0000_0000
    } else if b.is_infinite() || n == 0.0 {
        sign
    } else if qf.is_nan() {
        sign | 0x7ff0_0000_0000_0000
    } else {
        q & !SIGN | sign
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ldexp_rounds_once_at_the_denormal_end() {
        assert_eq!(ldexp(1f64.to_bits(), -1074), 1);
        assert_eq!(ldexp(1, 1074), 1f64.to_bits());
        assert_eq!(ldexp(1.5f64.to_bits(), -1074), 2);
        assert_eq!(d(ldexp((-1f64).to_bits(), 2000)), f64::NEG_INFINITY);
        assert_eq!(ldexp((-1f64).to_bits(), -2000), SIGN);
        assert_eq!(frexp_exp(1), -1073);
    }
}
