//! What the GPU computes, and the same on the CPU. Every input is made so that both must agree to the last bit.

use crate::device::Device;

const WORDS: u32 = 1 << 20;
const GROUP: u32 = 256;

/// Kernel arguments, each at a multiple of its size.
#[derive(Default)]
struct Arguments(Vec<u8>);

impl Arguments {
    fn pointer(mut self, address: u64) -> Arguments {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self.0.extend(address.to_le_bytes());
        self
    }
    fn word(mut self, x: u32) -> Arguments {
        self.0.extend(x.to_le_bytes());
        self
    }
    fn float(self, x: f32) -> Arguments {
        self.word(x.to_bits())
    }
}

/// A word for each index with no visible order.
fn mix(i: u32) -> u32 {
    let x = (i ^ i >> 16).wrapping_mul(0x7feb_352d);
    let x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
}

/// Compares bit by bit: the line of the report, or where it went wrong.
fn checked(what: &str, got: impl Iterator<Item = u32>, expected: impl Iterator<Item = u32>) -> Result<String, String> {
    let mut n = 0u32;
    for (i, (g, e)) in got.zip(expected).enumerate() {
        if g != e {
            return Err(format!("{what}: word {i} is {g:#010x} on the GPU and {e:#010x} on the CPU"));
        }
        n += 1;
    }
    if n == 0 {
        return Err(format!("{what}: nothing was compared"));
    }
    Ok(format!("{what}: same as on the CPU"))
}

/// c = a + b.
pub fn vector_add(d: &Device) -> Result<String, String> {
    let a = |i: u32| (mix(i) >> 8) as f32 / 1024.0;
    let b = |i: u32| (mix(!i) >> 8) as f32 / 65536.0;
    let (x, y) = (d.words((0..WORDS).map(|i| a(i).to_bits()))?, d.words((0..WORDS).map(|i| b(i).to_bits()))?);
    let sum = d.memory(4 * WORDS as usize)?;
    let arguments = Arguments::default().pointer(x.address()).pointer(y.address()).pointer(sum.address());
    d.run("vector_add", WORDS / GROUP, GROUP as u16, &arguments.0)?;
    let got = sum.read(0, 4 * WORDS as usize);
    checked("vector add of 1,048,576 floats", words(&got), (0..WORDS).map(|i| (a(i) + b(i)).to_bits()))
}

/// A sum through LDS and atomics.
pub fn reduce(d: &Device) -> Result<String, String> {
    let input = d.words((0..WORDS).map(mix))?;
    let total = d.memory(8)?;
    let arguments = Arguments::default().pointer(input.address()).pointer(total.address());
    d.run("reduce", WORDS / GROUP, GROUP as u16, &arguments.0)?;
    let expected = [(0..WORDS).fold(0, |s: u32, i| s.wrapping_add(mix(i))), WORDS / GROUP];
    let got = total.read(0, 8);
    checked("sum of 1,048,576 integers (LDS, barriers, atomics)", words(&got), expected.into_iter())
}

/// Eighths from -2 to 2 as f16 bits: products and sums of them are exact.
fn half(x: f32) -> u16 {
    let bits = x.to_bits();
    if x == 0.0 {
        return 0;
    }
    let exponent = (bits >> 23 & 0xff) - 112;
    (bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 0x3ff) as u16
}

/// C = A × Bᵀ on the matrix cores.
pub fn matrix_multiply(d: &Device) -> Result<String, String> {
    const N: u32 = 128;
    let element = |i: u32| (mix(i) % 33) as f32 / 8.0 - 2.0;
    let pairs = |from: u32| {
        let pair =
            move |i: u32| u32::from(half(element(from + 2 * i))) | u32::from(half(element(from + 2 * i + 1))) << 16;
        d.words((0..N * N / 2).map(pair))
    };
    let (a, b) = (pairs(0)?, pairs(N * N)?);
    let c = d.memory((4 * N * N) as usize)?;
    let arguments = Arguments::default().pointer(a.address()).pointer(b.address()).pointer(c.address()).word(N);
    d.run("matrix_multiply", N / 16 * (N / 16), 64, &arguments.0)?;
    let got = c.read(0, (4 * N * N) as usize);
    let expected = (0..N * N).map(|i| {
        let (row, col) = (i / N, i % N);
        let dot: f32 = (0..N).map(|k| element(row * N + k) * element(N * N + col * N + k)).sum();
        // A sum of nothing but zeros may have either sign.
        (dot + 0.0).to_bits()
    });
    let got: Vec<u32> = words(&got).map(|w| (f32::from_bits(w) + 0.0).to_bits()).collect();
    checked("128 x 128 matrix multiply of f16 (matrix cores)", got.into_iter(), expected)
}

/// Points of the picture, and of one character.
const SIZE: (u32, u32) = (640, 480);
const CELL: (u32, u32) = (8, 16);
/// Steps of a point at most.
const MOST: u32 = 256;
/// Left, top, and the way from point to point.
const VIEW: [f32; 4] = [-2.1, -1.2, 2.8 / 640.0, 2.4 / 480.0];

fn steps(i: u32) -> u32 {
    let [x0, y0, dx, dy] = VIEW;
    let (cx, cy) = (((i % SIZE.0) as f32).mul_add(dx, x0), ((i / SIZE.0) as f32).mul_add(dy, y0));
    let (mut x, mut y) = (0f32, 0f32);
    for n in 0..MOST {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return n;
        }
        y = (2.0 * x).mul_add(y, cy);
        x = xx - yy + cx;
    }
    MOST
}

/// The Mandelbrot set, drawn.
pub fn mandelbrot(d: &Device) -> Result<String, String> {
    let points = SIZE.0 * SIZE.1;
    let out = d.memory(4 * points as usize)?;
    let [x0, y0, dx, dy] = VIEW;
    let arguments = Arguments::default().pointer(out.address()).word(SIZE.0);
    let arguments = arguments.float(x0).float(y0).float(dx).float(dy).word(MOST);
    d.run("mandelbrot", points / 64, 64, &arguments.0)?;
    let got: Vec<u32> = words(&out.read(0, 4 * points as usize)).collect();
    let verdict = checked("Mandelbrot set, 640 x 480 points", got.iter().copied(), (0..points).map(steps))?;
    Ok(picture(&got) + &verdict)
}

/// One character for each cell: the darker, the sooner its points leave.
fn picture(steps: &[u32]) -> String {
    const SHADES: [char; 9] = [' ', '·', ':', '-', '=', '░', '▒', '▓', '█'];
    let mut text = String::from("\n");
    for row in 0..SIZE.1 / CELL.1 {
        for col in 0..SIZE.0 / CELL.0 {
            let cell = (0..CELL.0 * CELL.1).map(|i| {
                let at = (row * CELL.1 + i / CELL.0) * SIZE.0 + col * CELL.0 + i % CELL.0;
                (steps[at as usize] as f32 + 1.0).log2()
            });
            // The mean of the logarithms, 0 to 8.
            let mean = cell.sum::<f32>() / (CELL.0 * CELL.1) as f32;
            text.push(SHADES[(mean.round() as usize).min(8)]);
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_ieee() {
        let known = [(0.0, 0), (1.0, 0x3c00), (-2.0, 0xc000), (0.125, 0x3000), (1.875, 0x3f80)];
        for (x, bits) in known {
            assert_eq!(half(x), bits, "{x}");
        }
    }

    #[test]
    fn a_wrong_word_is_told() {
        assert!(checked("x", [1, 2].into_iter(), [1, 3].into_iter()).unwrap_err().contains("word 1"));
        assert!(checked("x", std::iter::empty(), std::iter::empty()).is_err());
    }

    #[test]
    fn arguments_lie_at_multiples_of_their_size() {
        assert_eq!(Arguments::default().word(1).pointer(2).0.len(), 16);
    }
}
