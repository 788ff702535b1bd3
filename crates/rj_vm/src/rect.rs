//! The SDMA linear sub-window copy: a box of rows between two pitched surfaces.

use rj_isa::Target;

/// What is left of a sub-window copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rect {
    from: Surface,
    to: Surface,
    /// Row bytes, rows, slices.
    size: [u64; 3],
    row: u64,
    slice: u64,
}

/// One side: the window's first byte and the distances between rows and slices, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Surface {
    first: u64,
    pitch: u64,
    slice: u64,
}

impl Rect {
    /// Decodes the 13 dwords. Sizes and pitches are stored minus one, in elements; gfx12 has wider fields.
    pub fn parse(w: &[u32; 13], target: Target) -> Rect {
        let gfx12 = matches!(target, Target::Gfx1201 | Target::Gfx1250);
        let (xy, z, pitch_at, slice) = if gfx12 { (16, 14, 16, 32) } else { (14, 11, 13, 28) };
        let bits = |word: u32, at: u32, n: u32| u64::from(word) >> at & ((1 << n) - 1);
        let element = w[0] >> 29;
        let surface = |i: usize| {
            let base = u64::from(w[i]) | u64::from(w[i + 1]) << 32;
            let pitch = bits(w[i + 3], pitch_at, 32 - pitch_at) + 1;
            let slice = bits(w[i + 4], 0, slice) + 1;
            let (x, y) = (bits(w[i + 2], 0, xy), bits(w[i + 2], 16, xy));
            let first = base.wrapping_add((x + y * pitch + bits(w[i + 3], 0, z) * slice) << element);
            Surface { first, pitch: pitch << element, slice: slice << element }
        };
        let size = [(bits(w[11], 0, xy) + 1) << element, bits(w[11], 16, xy) + 1, bits(w[12], 0, z) + 1];
        Rect { from: surface(1), to: surface(6), size, row: 0, slice: 0 }
    }

    /// The next row: where from, where to, bytes.
    pub fn next_row(&mut self) -> Option<(u64, u64, u64)> {
        if self.slice == self.size[2] {
            return None;
        }
        let at = |s: &Surface| s.first.wrapping_add(self.row * s.pitch + self.slice * s.slice);
        let row = (at(&self.from), at(&self.to), self.size[0]);
        self.row += 1;
        if self.row == self.size[1] {
            (self.row, self.slice) = (0, self.slice + 1);
        }
        Some(row)
    }
}
