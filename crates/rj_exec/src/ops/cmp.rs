//! Comparisons: 32-bit integers, f32, 64-bit integers, f64.

use super::ops;
use crate::lanes::Cmp;

#[inline(always)]
fn s(x: u64) -> i64 {
    x.cast_signed()
}

ops! {
    /// Never.
    test CmpFalse(a, b) { let _ = (a, b); 0 };
    /// Always.
    test CmpTrue(a, b) { let _ = (a, b); u16::MAX };
    /// a lt b, signed.
    test CmpLtI32(a, b) L::lt_i(a, b);
    /// a eq b, signed.
    test CmpEqI32(a, b) L::eq(a, b);
    /// a le b, signed.
    test CmpLeI32(a, b) !L::lt_i(b, a);
    /// a gt b, signed.
    test CmpGtI32(a, b) L::lt_i(b, a);
    /// a ne b, signed.
    test CmpNeI32(a, b) !L::eq(a, b);
    /// a ge b, signed.
    test CmpGeI32(a, b) !L::lt_i(a, b);
    /// a lt b, unsigned.
    test CmpLtU32(a, b) L::lt_u(a, b);
    /// a eq b, unsigned.
    test CmpEqU32(a, b) L::eq(a, b);
    /// a le b, unsigned.
    test CmpLeU32(a, b) !L::lt_u(b, a);
    /// a gt b, unsigned.
    test CmpGtU32(a, b) L::lt_u(b, a);
    /// a ne b, unsigned.
    test CmpNeU32(a, b) !L::eq(a, b);
    /// a ge b, unsigned.
    test CmpGeU32(a, b) !L::lt_u(a, b);
    /// lt.
    test CmpLtF32(a, b) L::cmpf(a, b, Cmp::Lt);
    /// eq.
    test CmpEqF32(a, b) L::cmpf(a, b, Cmp::Eq);
    /// le.
    test CmpLeF32(a, b) L::cmpf(a, b, Cmp::Le);
    /// gt.
    test CmpGtF32(a, b) L::cmpf(a, b, Cmp::Gt);
    /// lg.
    test CmpLgF32(a, b) L::cmpf(a, b, Cmp::Lg);
    /// ge.
    test CmpGeF32(a, b) L::cmpf(a, b, Cmp::Ge);
    /// o.
    test CmpOF32(a, b) L::cmpf(a, b, Cmp::O);
    /// not o.
    test CmpUF32(a, b) !L::cmpf(a, b, Cmp::O);
    /// not ge.
    test CmpNgeF32(a, b) !L::cmpf(a, b, Cmp::Ge);
    /// not lg.
    test CmpNlgF32(a, b) !L::cmpf(a, b, Cmp::Lg);
    /// not gt.
    test CmpNgtF32(a, b) !L::cmpf(a, b, Cmp::Gt);
    /// not le.
    test CmpNleF32(a, b) !L::cmpf(a, b, Cmp::Le);
    /// not eq.
    test CmpNeqF32(a, b) !L::cmpf(a, b, Cmp::Eq);
    /// not lt.
    test CmpNltF32(a, b) !L::cmpf(a, b, Cmp::Lt);
    /// lt.
    test64 CmpLtF64[64, 64](a, b) L::cmpd(a, b, Cmp::Lt);
    /// eq.
    test64 CmpEqF64[64, 64](a, b) L::cmpd(a, b, Cmp::Eq);
    /// le.
    test64 CmpLeF64[64, 64](a, b) L::cmpd(a, b, Cmp::Le);
    /// gt.
    test64 CmpGtF64[64, 64](a, b) L::cmpd(a, b, Cmp::Gt);
    /// lg.
    test64 CmpLgF64[64, 64](a, b) L::cmpd(a, b, Cmp::Lg);
    /// ge.
    test64 CmpGeF64[64, 64](a, b) L::cmpd(a, b, Cmp::Ge);
    /// o.
    test64 CmpOF64[64, 64](a, b) L::cmpd(a, b, Cmp::O);
    /// not o.
    test64 CmpUF64[64, 64](a, b) !L::cmpd(a, b, Cmp::O);
    /// not ge.
    test64 CmpNgeF64[64, 64](a, b) !L::cmpd(a, b, Cmp::Ge);
    /// not lg.
    test64 CmpNlgF64[64, 64](a, b) !L::cmpd(a, b, Cmp::Lg);
    /// not gt.
    test64 CmpNgtF64[64, 64](a, b) !L::cmpd(a, b, Cmp::Gt);
    /// not le.
    test64 CmpNleF64[64, 64](a, b) !L::cmpd(a, b, Cmp::Le);
    /// not eq.
    test64 CmpNeqF64[64, 64](a, b) !L::cmpd(a, b, Cmp::Eq);
    /// not lt.
    test64 CmpNltF64[64, 64](a, b) !L::cmpd(a, b, Cmp::Lt);
    /// a < b.
    test64 CmpLtI64[64, 64](a, b) L::test2d(a, b, |a, b| s(a) < s(b));
    /// a == b.
    test64 CmpEqI64[64, 64](a, b) L::test2d(a, b, |a, b| s(a) == s(b));
    /// a <= b.
    test64 CmpLeI64[64, 64](a, b) L::test2d(a, b, |a, b| s(a) <= s(b));
    /// a > b.
    test64 CmpGtI64[64, 64](a, b) L::test2d(a, b, |a, b| s(a) > s(b));
    /// a != b.
    test64 CmpNeI64[64, 64](a, b) L::test2d(a, b, |a, b| s(a) != s(b));
    /// a >= b.
    test64 CmpGeI64[64, 64](a, b) L::test2d(a, b, |a, b| s(a) >= s(b));
    /// a < b.
    test64 CmpLtU64[64, 64](a, b) L::test2d(a, b, |a, b| a < b);
    /// a == b.
    test64 CmpEqU64[64, 64](a, b) L::test2d(a, b, |a, b| a == b);
    /// a <= b.
    test64 CmpLeU64[64, 64](a, b) L::test2d(a, b, |a, b| a <= b);
    /// a > b.
    test64 CmpGtU64[64, 64](a, b) L::test2d(a, b, |a, b| a > b);
    /// a != b.
    test64 CmpNeU64[64, 64](a, b) L::test2d(a, b, |a, b| a != b);
    /// a >= b.
    test64 CmpGeU64[64, 64](a, b) L::test2d(a, b, |a, b| a >= b);
    /// The class of a is in the mask b.
    test CmpClassF32(a, b) L::test2(a, b, |a, b| class32(a) & b != 0);
    /// The class of a is in the mask b.
    test64 CmpClassF64[64, 32](a, b) L::test2d(a, b, |a, b| class64(a) & (b as u32) != 0);
}

/// One bit of ten: sNaN, qNaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf.
pub(crate) fn class(sign: bool, exp_max: bool, exp_zero: bool, mant: u64, quiet: bool) -> u32 {
    let mirrored = |n: u32| if sign { 1 << n } else { 1 << (11 - n) };
    match (exp_max, exp_zero) {
        (true, _) if mant != 0 => {
            if quiet {
                2
            } else {
                1
            }
        }
        (true, _) => mirrored(2),
        (_, true) if mant == 0 => mirrored(5),
        (_, true) => mirrored(4),
        _ => mirrored(3),
    }
}

fn class32(a: u32) -> u32 {
    let e = a >> 23 & 0xff;
    class(a >> 31 != 0, e == 0xff, e == 0, u64::from(a & 0x7f_ffff), a >> 22 & 1 != 0)
}

fn class64(a: u64) -> u32 {
    let e = a >> 52 & 0x7ff;
    class(a >> 63 != 0, e == 0x7ff, e == 0, a & 0xf_ffff_ffff_ffff, a >> 51 & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_bit() {
        let of = |x: f32| class32(x.to_bits());
        assert_eq!(class32(0x7f80_0001), 1);
        assert_eq!(class32(0x7fc0_0000), 2);
        assert_eq!(of(f32::NEG_INFINITY), 1 << 2);
        assert_eq!(of(-1.0), 1 << 3);
        assert_eq!(of(-1e-40), 1 << 4);
        assert_eq!(of(-0.0), 1 << 5);
        assert_eq!(of(0.0), 1 << 6);
        assert_eq!(of(1e-40), 1 << 7);
        assert_eq!(of(1.0), 1 << 8);
        assert_eq!(of(f32::INFINITY), 1 << 9);
        assert_eq!(class64(1), 1 << 7);
    }
}
