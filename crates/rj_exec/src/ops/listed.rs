//! The property test: every listed operation gives the same bits on the scalar, AVX2 and AVX-512 instances.

use crate::lanes::Backend;
use crate::shapes::*;
use crate::uop::{Handler, NEXT, Uop};
use crate::wave::{Block, EXEC, VCC, s_off, v_off};

/// An operation and its handler for each backend.
#[derive(Debug)]
pub struct Listed {
    /// Its type's name.
    pub name: &'static str,
    pick: fn(Backend) -> Handler,
}

macro_rules! lister {
    ($($f:ident $bound:ident |$b:ident| $pick:expr;)*) => {$(
        /// Lists an operation of that shape.
        pub fn $f<O: $bound>(name: &'static str) -> Listed {
            Listed { name, pick: |$b| $pick }
        }
    )*};
}
lister! {
    un Un |b| un_h::<O, false>(b);
    bin Bin |b| bin_h::<O, false, false>(b);
    tri Tri |b| tri_h::<O, false, false, false>(b);
    test Test |b| test_h::<O, false, false, false>(b);
    carry Carry |b| carry_h::<O>(b);
    wide Wide |b| wide_h::<O, 64, 64, 64>(b);
    test64 Test64 |b| test64_h::<O, 64, 64, false>(b);
}

/// xorshift64*, good enough and the same everywhere.
pub struct Rng(pub u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// A dword that is a special value half of the time.
    pub fn dword(&mut self) -> u32 {
        const SPECIAL: [u32; 32] = [
            0,
            1,
            2,
            31,
            32,
            63,
            64,
            0x8000_0000,
            0x7fff_ffff,
            0xffff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x7f80_0001,
            0xffc1_2345,
            0x0000_0001,
            0x807f_ffff,
            0x0080_0000,
            0x4f00_0000,
            0xcf00_0000,
            0x4f80_0000,
            0x3f00_0000,
            0x4020_0000,
            0x7ff0_0000,
            0x7ff8_0000,
            0x3ff0_0000,
            0x41e0_0000,
            0xc1e0_0000,
            0x3c00_3c00,
            0x7c00_fc01,
        ];
        let r = self.next();
        if r >> 63 == 0 { SPECIAL[(r >> 32) as usize % 32] } else { self.next() as u32 }
    }
    /// All 64 bits.
    pub fn quad(&mut self) -> u64 {
        self.next()
    }
}

fn filled(seed: u64, exec: u64) -> Block {
    let mut rng = Rng(seed);
    let mut b = Block::new();
    for p in 0..8 {
        for x in b.plane(p) {
            *x = rng.dword();
        }
    }
    let w = b.wave();
    w.set64(EXEC, exec);
    let vcc = rng.quad();
    w.set64(VCC, vcc);
    w.set64(20, 0);
    b
}

fn outcome(op: &Listed, backend: Backend, seed: u64, exec: u64) -> (Vec<u32>, u64) {
    let mut b = filled(seed, exec);
    // Comparisons write their mask to d: give them a scalar; the others plane 6.
    let probe = (op.pick)(backend);
    let is_test = op.name.starts_with("Cmp");
    let u = Uop {
        h: probe,
        d: if is_test { s_off(20) } else { v_off(6) },
        a: v_off(0),
        b: v_off(2),
        c: if op.name.starts_with("Carry") { s_off(VCC) } else { v_off(4) },
        imm: if op.name.starts_with("Carry") { u64::from(s_off(20)) } else { 0 },
    };
    // SAFETY: offsets lie in the block; the backend is available.
    let r = unsafe { (u.h)(&u, b.ptr()) };
    assert_eq!(r, NEXT);
    let mask = b.wave().get64(20);
    let low = *b.plane(6);
    (low.iter().chain(b.plane(7).iter()).copied().collect(), mask)
}

/// Which of two NaN operands' payloads comes out is left open: compilers commute additions and products.
fn both_nan(name: &str, a: &[u32], b: &[u32], lane: usize) -> bool {
    let n32 = |x: u32| f32::from_bits(x).is_nan();
    let n64 = |x: &[u32]| f64::from_bits(u64::from(x[lane % 64 + 64]) << 32 | u64::from(x[lane % 64])).is_nan();
    let n16 = |x: u32| x & 0x7fff > 0x7c00;
    (name.ends_with("F16") && n16(a[lane]) && n16(b[lane]))
        || (name.ends_with("F32") && n32(a[lane]) && n32(b[lane]))
        || (name.ends_with("F64") && n64(a) && n64(b))
}

#[test]
fn every_instance_gives_the_same_bits() {
    let all: Vec<Listed> = super::all_ops();
    assert!(all.len() > 50);
    for op in &all {
        for round in 1..60u64 {
            let seed = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let exec = match round % 4 {
                0 => u64::MAX,
                1 => 0,
                _ => seed.rotate_left(17),
            };
            let want = outcome(op, Backend::Scalar, seed, exec);
            for b in Backend::available() {
                let got = outcome(op, b, seed, exec);
                for lane in 0..128 {
                    if both_nan(op.name, &got.0, &want.0, lane) {
                        continue;
                    }
                    assert_eq!(
                        got.0[lane],
                        want.0[lane],
                        "{} on {b:?}, round {round}, dword {} of lane {} (high dwords {:#x} {:#x})",
                        op.name,
                        lane / 64,
                        lane % 64,
                        got.0[lane % 64 + 64],
                        want.0[lane % 64 + 64]
                    );
                }
                assert_eq!(got.1, want.1, "{} on {b:?}, round {round}: mask", op.name);
            }
        }
    }
}
