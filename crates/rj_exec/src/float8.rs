//! The 8-bit floats of CDNA3 (FNUZ: no infinities, no negative zero, 0x80 is NaN), to f32 and back. `E`: exponent bits,
//! 4 or 5.

/// Exact.
pub fn fnuz_to_f32<const E: u32>(x: u8) -> f32 {
    let frac = 7 - E;
    let least = 1 - (1i32 << (E - 1));
    if x == 0x80 {
        return f32::NAN;
    }
    let e = i32::from(x >> frac & ((1 << E) - 1));
    let m = u32::from(x) & ((1 << frac) - 1) | u32::from(e != 0) << frac;
    // m times 2^(exponent - frac): both factors are exact and the product is normal or 0.
    let scale = f32::from_bits(((127 + least + (e - 1).max(0) - frac as i32).cast_unsigned()) << 23);
    let r = m as f32 * scale;
    if x & 0x80 != 0 { -r } else { r }
}

/// Rounded to nearest even, or by adding the top bits of `random` below the last place. What is too large becomes the
/// greatest number if `saturate`, else NaN; infinities and NaNs become NaN.
pub fn f32_to_fnuz<const E: u32>(x: f32, saturate: bool, random: Option<u32>) -> u8 {
    let frac = 7 - E;
    let bias = 1i32 << (E - 1);
    let bits = x.to_bits();
    if bits & 0x7f80_0000 == 0x7f80_0000 {
        return 0x80;
    }
    let field = (bits >> 23 & 0xff).cast_signed();
    let e = field.max(1) - 127;
    let m = bits & 0x7f_ffff | u32::from(field != 0) << 23;
    let drop = 23 - frac;
    let below = (1 - bias - e).clamp(0, 31);
    let q = match random {
        Some(r) => ((m >> below) + (r >> (32 - drop))) >> drop,
        None => {
            let m = u64::from(m);
            let shift = drop + below.cast_unsigned();
            let half = 1u64 << (shift - 1);
            ((m + half - 1 + (m >> shift & 1)) >> shift) as u32
        }
    };
    // A carry out of the significand goes into the exponent by itself.
    let code = q + ((e.max(1 - bias) + bias - 1).cast_unsigned() << frac);
    let code = if code > 0x7f {
        if !saturate {
            return 0x80;
        }
        0x7f
    } else {
        code as u8
    };
    if code == 0 || bits >> 31 == 0 { code } else { code | 0x80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<const E: u32>() {
        for x in 0..=u8::MAX {
            assert_eq!(f32_to_fnuz::<E>(fnuz_to_f32::<E>(x), false, None), x, "{x:#x}");
            assert_eq!(f32_to_fnuz::<E>(fnuz_to_f32::<E>(x), false, Some(u32::MAX >> 13)), x, "{x:#x}");
        }
    }

    #[test]
    fn every_value_survives_the_round_trip() {
        round_trip::<4>();
        round_trip::<5>();
    }

    #[test]
    fn known_values() {
        assert_eq!(fnuz_to_f32::<4>(0x40), 1.0);
        assert_eq!(fnuz_to_f32::<4>(0x7f), 240.0);
        assert_eq!(fnuz_to_f32::<4>(0x01), 2f32.powi(-10));
        assert_eq!(fnuz_to_f32::<5>(0x40), 1.0);
        assert_eq!(fnuz_to_f32::<5>(0x7f), 57344.0);
        assert_eq!(fnuz_to_f32::<5>(0x01), 2f32.powi(-17));
        assert!(fnuz_to_f32::<5>(0x80).is_nan());
    }

    #[test]
    fn rounding_carries_into_the_exponent_and_overflow_is_nan_or_saturates() {
        assert_eq!(f32_to_fnuz::<4>(1.9375, false, None), 0x48);
        assert_eq!(f32_to_fnuz::<4>(1.9375, false, Some(0x8000_0000)), 0x48);
        assert_eq!(f32_to_fnuz::<4>(1.9375, false, Some(0)), 0x47);
        assert_eq!(f32_to_fnuz::<4>(1000.0, false, None), 0x80);
        assert_eq!(f32_to_fnuz::<4>(-1000.0, true, None), 0xff);
        assert_eq!(f32_to_fnuz::<4>(f32::INFINITY, true, None), 0x80);
        assert_eq!(f32_to_fnuz::<4>(-0.0, false, None), 0);
        assert_eq!(f32_to_fnuz::<4>(-1e-30, false, None), 0);
    }
}
