//! Rare vector operations: clamped 24-bit sums, sums of differences, cube maps, 8-bit floats, reduction of angles.

use super::ops;
use super::short::sad;
use crate::float8::{f32_to_fnuz, fnuz_to_f32};

#[inline(always)]
fn i24(x: u32) -> i64 {
    i64::from(x.cast_signed() << 8 >> 8)
}
#[inline(always)]
fn f(x: u32) -> f32 {
    f32::from_bits(x)
}

ops! {
    /// a b + c of 24-bit factors, saturated, signed.
    tri MadSatI32I24(a, b, c) L::map3(a, b, c, |a, b, c| {
        let r = i24(a) * i24(b) + i64::from(c.cast_signed());
        (r.clamp(i32::MIN.into(), i32::MAX.into()) as i32).cast_unsigned()
    });
    /// a b + c of 24-bit factors, saturated, unsigned.
    tri MadSatU32U24(a, b, c) L::map3(a, b, c, |a, b, c| {
        (u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff) + u64::from(c)).min(u32::MAX.into()) as u32
    });
    /// Saturating sum of absolute differences of bytes.
    tri SadSatU8(a, b, c) L::map3(a, b, c, |a, b, c| c.saturating_add(sad(a, b, false)));
    /// The same; bytes of b that are 0 do not count.
    tri MsadSatU8(a, b, c) L::map3(a, b, c, |a, b, c| c.saturating_add(sad(a, b, true)));
    /// The same in the upper half.
    tri SadHiSatU8(a, b, c) L::map3(a, b, c, |a, b, c| c.saturating_add(sad(a, b, false) << 16));
    /// Saturating sum of absolute differences of halves.
    tri SadSatU16(a, b, c) L::map3(a, b, c, |a, b, c| {
        c.saturating_add((a & 0xffff).abs_diff(b & 0xffff)).saturating_add((a >> 16).abs_diff(b >> 16))
    });
    /// Saturating sum of an absolute difference.
    tri SadSatU32(a, b, c) L::map3(a, b, c, |a, b, c| c.saturating_add(a.abs_diff(b)));
    /// The face of a cube that a direction meets.
    tri CubeidF32(a, b, c) L::map3(a, b, c, |a, b, c| cube(a, b, c).0.to_bits());
    /// The s coordinate there.
    tri CubescF32(a, b, c) L::map3(a, b, c, |a, b, c| cube(a, b, c).1.to_bits());
    /// The t coordinate there.
    tri CubetcF32(a, b, c) L::map3(a, b, c, |a, b, c| cube(a, b, c).2.to_bits());
    /// Twice the major axis.
    tri CubemaF32(a, b, c) L::map3(a, b, c, |a, b, c| (2.0 * cube(a, b, c).3).to_bits());
    /// Two masked sums of absolute differences (`v_mqsad_u32_u8`, bytes from offset 0 and 1), added to c.
    wide MqsadLow[64, 32, 64, 64](a, b, c) L::map3d(a, b, c, |a, b, c| mqsad(a, b as u32, c, 0));
    /// The same from offset 2 and 3.
    wide MqsadHigh[64, 32, 64, 64](a, b, c) L::map3d(a, b, c, |a, b, c| mqsad(a, b as u32, c, 16));
    /// Segment b of 2 / pi, for the reduction of a large angle a.
    wide TrigPreopF64[64, 32, 0, 64](a, b, c) { let _ = c; L::map2d(a, b, |a, b| trig_preop(a, b as u32)) };
    /// FNUZ E4M3 to f32.
    un CvtF32Fp8(a) L::map1(a, |a| quiet(fnuz_to_f32::<4>(a as u8)));
    /// FNUZ E5M2 to f32.
    un CvtF32Bf8(a) L::map1(a, |a| quiet(fnuz_to_f32::<5>(a as u8)));
    /// Byte 1.
    un SecondByte(a) L::and(L::shr(a, L::splat(8)), L::splat(0xff));
    /// Two f32 to FNUZ E4M3, to nearest even; too large is NaN.
    bin CvtPkFp8F32(a, b) L::map2(a, b, |a, b| fp8::<4>(a, None) | fp8::<4>(b, None) << 8);
    /// Two f32 to FNUZ E5M2.
    bin CvtPkBf8F32(a, b) L::map2(a, b, |a, b| fp8::<5>(a, None) | fp8::<5>(b, None) << 8);
    /// f32 to FNUZ E4M3, rounded by random bits b.
    bin CvtSrFp8F32(a, b) L::map2(a, b, |a, b| fp8::<4>(a, Some(b)));
    /// f32 to FNUZ E5M2, rounded by random bits b.
    bin CvtSrBf8F32(a, b) L::map2(a, b, |a, b| fp8::<5>(a, Some(b)));
}

fn quiet(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

/// What MODE.FP16_OVFL would saturate is NaN: the bit is off after reset.
fn fp8<const E: u32>(x: u32, random: Option<u32>) -> u32 {
    u32::from(f32_to_fnuz::<E>(f(x), false, random))
}

/// Face, s, t, major axis (CDNA3 ISA, V_CUBE*).
fn cube(x: u32, y: u32, z: u32) -> (f32, f32, f32, f32) {
    let (x, y, z) = (f(x), f(y), f(z));
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z < 0.0 { (5.0, -x, -y, z) } else { (4.0, x, -y, z) }
    } else if y.abs() >= x.abs() {
        if y < 0.0 { (3.0, x, -z, y) } else { (2.0, x, z, y) }
    } else if x < 0.0 {
        (1.0, z, -y, x)
    } else {
        (0.0, -z, -y, x)
    }
}

fn mqsad(a: u64, b: u32, c: u64, from: u32) -> u64 {
    let one = |n: u32| u64::from(((c >> (32 * n)) as u32).wrapping_add(sad((a >> (from + 8 * n)) as u32, b, true)));
    one(0) | one(1) << 32
}

/// The first 1280 bits of 2 / pi behind the point.
const TWO_OVER_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
];

/// `v_trig_preop_f64` (CDNA3 ISA): 53 bits of 2 / pi from bit 53 b on (further for large exponents), at their place.
fn trig_preop(a: u64, b: u32) -> u64 {
    let exponent = (a >> 52 & 0x7ff) as u32;
    let mut shift = (b & 31) * 53;
    if exponent > 1077 {
        shift += exponent - 1077;
    }
    let word = |n: u32| TWO_OVER_PI.get(n as usize).copied().unwrap_or(0);
    // The manual's constant has 1201 bits.
    let cut = |n: u32| {
        let first = 64 * n;
        if first >= 1201 {
            0
        } else if first + 64 > 1201 {
            word(n) & u64::MAX << (first + 64 - 1201)
        } else {
            word(n)
        }
    };
    let (n, s) = (shift / 64, shift % 64);
    let both = u128::from(cut(n)) << 64 | u128::from(cut(n + 1));
    let bits = ((both << s) >> 75) as u64;
    let mut scale = -53 - shift.cast_signed();
    if exponent >= 1968 {
        scale += 128;
    }
    // Exact unless it is denormal, which no segment within 1201 bits is.
    let mut r = bits as f64;
    while scale < -500 {
        r *= 2f64.powi(-500);
        scale += 500;
    }
    (r * 2f64.powi(scale)).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_two_over_pi_add_up() {
        let one = 1f64.to_bits();
        let d = |x: u64| f64::from_bits(x);
        assert!((d(trig_preop(one, 0)) - std::f64::consts::FRAC_2_PI).abs() < 2f64.powi(-52));
        assert!(d(trig_preop(one, 0)) <= std::f64::consts::FRAC_2_PI);
        let rest = d(trig_preop(one, 1));
        assert!(rest > 0.0 && rest < 2f64.powi(-53), "{rest:e}");
        // 53 bits on, the same bits as one segment on.
        let far = f64::from_bits((1077 + 53) << 52).to_bits();
        assert_eq!(trig_preop(far, 0), trig_preop(one, 1));
        assert_eq!(trig_preop(one, 25), 0);
    }

    #[test]
    fn directions_meet_the_faces_of_a_cube() {
        let b = |x: f32| x.to_bits();
        assert_eq!(cube(b(1.0), b(0.5), b(0.25)), (0.0, -0.25, -0.5, 1.0));
        assert_eq!(cube(b(0.5), b(-1.0), b(0.25)), (3.0, 0.5, -0.25, -1.0));
        assert_eq!(cube(b(0.5), b(0.25), b(-1.0)), (5.0, -0.5, -0.25, -1.0));
    }
}
