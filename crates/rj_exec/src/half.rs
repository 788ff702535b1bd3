//! f16 and bf16 to f32 and back, rounded to nearest even.

/// f16 to f32: exact; a NaN keeps its payload and becomes quiet.
pub fn f16_to_f32(h: u16) -> f32 {
    let s = u32::from(h & 0x8000) << 16;
    let (e, m) = (u32::from(h >> 10 & 0x1f), u32::from(h & 0x3ff));
    f32::from_bits(match e {
        0 if m == 0 => s,
        0 => {
            let n = m.leading_zeros() - 21;
            s | (113 - n) << 23 | (m << n & 0x3ff) << 13
        }
        31 => s | 0x7f80_0000 | m << 13 | if m != 0 { 0x0040_0000 } else { 0 },
        _ => s | (e + 112) << 23 | m << 13,
    })
}

/// f32 to f16, to nearest even; overflow gives infinity.
pub fn f32_to_f16(x: f32) -> u16 {
    let b = x.to_bits();
    let s = (b >> 16 & 0x8000) as u16;
    let a = b & 0x7fff_ffff;
    if a > 0x7f80_0000 {
        return s | 0x7e00 | (a >> 13 & 0x3ff) as u16;
    }
    if a >= 0x477f_f000 {
        return s | 0x7c00;
    }
    if a < 0x3880_0000 {
        // Below the smallest normal f16: multiples of 2^-24. Adding 0.5 in f32 rounds there, to even.
        let r = f32::from_bits(a) + 0.5;
        return s | (r.to_bits() - 0x3f00_0000) as u16;
    }
    let r = a + 0xfff + (a >> 13 & 1);
    s | ((r - 0x3800_0000) >> 13) as u16
}

/// bf16 to f32: exact.
pub fn bf16_to_f32(h: u16) -> f32 {
    f32::from_bits(u32::from(h) << 16)
}

/// f32 to bf16, to nearest even.
pub fn f32_to_bf16(x: f32) -> u16 {
    let b = x.to_bits();
    if x.is_nan() {
        return (b >> 16) as u16 | 0x40;
    }
    ((b + 0x7fff + (b >> 16 & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_survives_the_round_trip() {
        for h in 0..=u16::MAX {
            let x = f16_to_f32(h);
            if x.is_nan() {
                assert_eq!(f32_to_f16(x), h | 0x200);
            } else {
                assert_eq!(f32_to_f16(x), h, "{h:#x}");
            }
        }
    }

    #[test]
    fn halves_round_to_even() {
        assert_eq!(f32_to_f16(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(f32_to_f16(1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!(f32_to_f16(65519.0), 0x7bff);
        assert_eq!(f32_to_f16(65520.0), 0x7c00);
        assert_eq!(f32_to_f16(2f32.powi(-25)), 0);
        assert_eq!(f32_to_f16(1.5 * 2f32.powi(-25)), 1);
        assert_eq!(f32_to_bf16(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(f32_to_bf16(f32::from_bits(0x3f81_8000)), 0x3f82);
    }
}
