//! Numbers in buffers: read from text, shown as text.

use std::fmt::Write;

/// A type of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Number {
    pub fn parse(name: &str) -> Option<Number> {
        Some(match name {
            "i8" => Number::I8,
            "i16" => Number::I16,
            "i32" => Number::I32,
            "i64" => Number::I64,
            "u8" => Number::U8,
            "u16" => Number::U16,
            "u32" => Number::U32,
            "u64" => Number::U64,
            "f16" => Number::F16,
            "f32" => Number::F32,
            "f64" => Number::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Number::I8 | Number::U8 => 1,
            Number::I16 | Number::U16 | Number::F16 => 2,
            Number::I32 | Number::U32 | Number::F32 => 4,
            Number::I64 | Number::U64 | Number::F64 => 8,
        }
    }

    fn show(self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match self {
            Number::I8 => (bits as i8).to_string(),
            Number::I16 => (bits as i16).to_string(),
            Number::I32 => (bits as i32).to_string(),
            Number::I64 => (bits as i64).to_string(),
            Number::F16 => from_f16(bits as u16).to_string(),
            Number::F32 => f32::from_bits(bits as u32).to_string(),
            Number::F64 => f64::from_bits(bits).to_string(),
            Number::U8 | Number::U16 | Number::U32 | Number::U64 => bits.to_string(),
        }
    }
}

/// Numbers separated by commas, as bytes.
pub(crate) fn numbers(kind: Number, list: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for text in list.split(',') {
        let word = match kind {
            Number::F16 | Number::F32 | Number::F64 => float(kind, text),
            _ => integer(kind, text),
        };
        let word = word.ok_or_else(|| format!("'{text}' is no number of {} bytes", kind.size()))?;
        out.extend_from_slice(&word.to_le_bytes()[..kind.size()]);
    }
    Ok(out)
}

fn float(kind: Number, text: &str) -> Option<u64> {
    let wide: f64 = text.parse().ok()?;
    Some(match kind {
        Number::F64 => wide.to_bits(),
        // Straight from the text: through f64 it would be rounded twice.
        Number::F32 => u64::from(text.parse::<f32>().ok()?.to_bits()),
        _ => u64::from(to_f16(wide)),
    })
}

fn integer(kind: Number, text: &str) -> Option<u64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'))?,
    };
    let bits = 8 * kind.size() as u32;
    let signed = matches!(kind, Number::I8 | Number::I16 | Number::I32 | Number::I64);
    let most = match (signed, negative) {
        (true, true) => 1u64 << (bits - 1),
        (true, false) => (1u64 << (bits - 1)) - 1,
        (false, true) => 0,
        (false, false) => u64::MAX >> (64 - bits),
    };
    (magnitude <= most).then(|| if negative { magnitude.wrapping_neg() } else { magnitude })
}

/// Nearest half-precision number, ties to even.
fn to_f16(x: f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let a = x.abs();
    if a.is_nan() {
        return 0x7e00;
    }
    if a >= 65520.0 {
        return sign | 0x7c00;
    }
    // The spacing of halves around `a` is a power of two; below 2^-14 it stays 2^-24.
    let exponent = (a.to_bits() >> 52) as i32 - 1023;
    let spacing = 2f64.powi(exponent.max(-14) - 10);
    let steps = (a / spacing).round_ties_even() as u32;
    let half = if exponent < -14 { steps } else { ((exponent + 15) as u32) * 1024 + steps - 1024 };
    sign | half as u16
}

fn from_f16(h: u16) -> f64 {
    let (exponent, fraction) = (i32::from(h >> 10 & 31), f64::from(h & 0x3ff));
    let magnitude = match exponent {
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        0 => fraction * 2f64.powi(-24),
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    if h & 0x8000 != 0 { -magnitude } else { magnitude }
}

/// How buffers are shown: as dwords in hexadecimal, or as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Hex,
    As(Number),
}

impl Format {
    pub fn parse(name: &str) -> Option<Format> {
        if name == "hex" { Some(Format::Hex) } else { Number::parse(name).map(Format::As) }
    }

    /// Each element's text; a rest that is no whole element comes as bytes in hexadecimal.
    pub fn elements(self, bytes: &[u8]) -> Vec<String> {
        let size = match self {
            Format::Hex => 4,
            Format::As(n) => n.size(),
        };
        let whole = bytes.chunks_exact(size);
        let rest = whole.remainder();
        let mut out: Vec<String> = whole
            .map(|c| match self {
                Format::Hex => format!("{:08x}", u32::from_le_bytes([c[0], c[1], c[2], c[3]])),
                Format::As(n) => n.show(c),
            })
            .collect();
        out.extend(rest.iter().map(|b| format!("{b:02x}")));
        out
    }

    /// Lines of eight elements, each after the index of its first one.
    pub fn lines(self, bytes: &[u8]) -> String {
        let elements = self.elements(bytes);
        let width = elements.len().saturating_sub(1).to_string().len();
        let mut text = String::new();
        for (i, line) in elements.chunks(8).enumerate() {
            let _ = writeln!(text, "{:width$}: {}", i * 8, line.join(" "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_nearest_even() {
        let cases = [(1.0, 0x3c00), (-2.0, 0xc000), (65504.0, 0x7bff), (65519.9, 0x7bff), (65520.0, 0x7c00)];
        let small = [(5.960464477539063e-8, 1), (2.98e-8, 0), (6.1e-5, 0x03ff), (1.00048828125, 0x3c00), (0.0, 0)];
        for (x, h) in cases.into_iter().chain(small) {
            assert_eq!(to_f16(x), h, "{x}");
        }
        for h in (0..=0x7c00).chain(0x8000..=0xfc00) {
            assert_eq!(to_f16(from_f16(h)), h);
        }
    }

    #[test]
    fn buffers_are_shown_with_indices_and_an_odd_rest() {
        let bytes = numbers(Number::F32, "1,2.5,-3").unwrap();
        assert_eq!(Format::As(Number::F32).lines(&bytes), "0: 1 2.5 -3\n");
        assert_eq!(Format::Hex.lines(&[1, 0, 0, 0, 9]), "0: 00000001 09\n");
        let many = vec![0; 40];
        assert_eq!(Format::Hex.lines(&many).lines().last(), Some("8: 00000000 00000000"));
    }
}
