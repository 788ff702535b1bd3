//! Every shape against an exact product of small integers, placed in registers by the published layout rules.

use super::{Bf16 as B16, Controls, F16 as H16, Fused, Kind, Tree};
use crate::half::{f32_to_bf16, f32_to_f16};
use crate::lanes::Backend;
use crate::ops::listed::Rng;
use crate::uop::{NEXT, Uop};
use crate::wave::{Block, s_off, v_off};
use rj_isa::{Op, Target};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ty {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    Fp8,
    Bf8,
}
use Ty::*;

impl Ty {
    fn bits(self) -> usize {
        match self {
            F16 | Bf16 => 16,
            F32 => 32,
            F64 => 64,
            _ => 8,
        }
    }
    fn encode(self, x: i32) -> u64 {
        match self {
            F16 => u64::from(f32_to_f16(x as f32)),
            Bf16 => u64::from(f32_to_bf16(x as f32)),
            F32 => u64::from((x as f32).to_bits()),
            F64 => f64::from(x).to_bits(),
            I8 => u64::from(x as u8),
            Fp8 => u64::from(crate::float8::f32_to_fnuz::<4>(x as f32, false, None)),
            Bf8 => u64::from(crate::float8::f32_to_fnuz::<5>(x as f32, false, None)),
        }
    }
}

/// Puts a value of `bits` bits at storage location `n` of a lane.
fn put(w: &mut Block, first: usize, lane: usize, n: usize, bits: usize, x: u64) {
    if bits == 64 {
        w.plane(first + 2 * n)[lane] = x as u32;
        w.plane(first + 2 * n + 1)[lane] = (x >> 32) as u32;
        return;
    }
    let per = 32 / bits;
    let shift = n % per * bits;
    let mask = (u32::MAX >> (32 - bits)) << shift;
    let p = &mut w.plane(first + n / per)[lane];
    *p = *p & !mask | (x as u32) << shift & mask;
}

/// Where row `i`, column `j` of block `b` of C and D is: the manual's tables, case by case.
fn out(m: usize, blocks: usize, wide: bool, b: usize, i: usize, j: usize) -> (usize, usize) {
    match (m, blocks, wide) {
        (32, _, _) => (16 * b + i / 8 * 4 + i % 4, (i / 4 % 2) * 32 + j),
        (16, _, false) => (4 * b + i % 4, i / 4 * 16 + j),
        (4, 16, false) => (i, 4 * b + j),
        (16, 1, true) => (i / 4, i % 4 * 16 + j),
        (4, 4, true) => (0, i * 16 + b * 4 + j),
        other => panic!("{other:?}"),
    }
}

const A: usize = 0;
const B: usize = 16;
const C: usize = 32;
const D: usize = 64;
const IDX: usize = 100;

#[derive(Clone, Copy, Debug)]
struct Case {
    target: Target,
    op: Op,
    m: usize,
    k: usize,
    blocks: usize,
    a: Ty,
    b: Ty,
    sparse: bool,
}

fn run(t: Case, backend: Backend, ctl: Controls, seed: u64) {
    let h = crate::lower::matrix::handler(t.target, backend, t.op).unwrap_or_else(|| panic!("{t:?}"));
    let mut rng = Rng(seed);
    let mut small = move || (rng.quad() >> 40) as i32 % 8 - 3;
    let mut w = Block::new();
    let (m, k, blocks) = (t.m, t.k, t.blocks);
    let lanes_k = 64 / (m * blocks);
    let mut a = vec![vec![vec![0; k]; m]; blocks];
    let mut b = vec![vec![vec![0; m]; k]; blocks];
    let mut c = vec![vec![vec![0; m]; m]; blocks];
    let wide = t.a == F64;
    let (kb, ka) = (k / lanes_k, if t.sparse { k / 2 / lanes_k } else { k / lanes_k });
    for n in 0..blocks {
        for i in 0..m {
            for g in 0..lanes_k {
                let lane = i + m * (n + blocks * g);
                for e in 0..ka {
                    let x = small();
                    put(&mut w, A, lane, e, t.a.bits(), t.a.encode(x));
                    if t.sparse {
                        // Positions 0 and 2 or 1 and 3 of each four.
                        let pos = (i + e / 2) % 2 + 2 * (e % 2);
                        a[n][i][g * kb + e / 2 * 4 + pos] = x;
                        let set = if ctl.cbsz == 0 { ctl.abid as usize % (16 / ka) } else { 0 };
                        let p = &mut w.plane(IDX)[lane];
                        *p |= (pos as u32) << (2 * (e + set * ka));
                    } else {
                        a[n][i][g * kb + e] = x;
                    }
                }
            }
        }
        for j in 0..m {
            for kk in 0..k {
                let x = small();
                b[n][kk][j] = x;
                put(&mut w, B, j + m * (n + blocks * (kk / kb)), kk % kb, t.b.bits(), t.b.encode(x));
            }
        }
        for i in 0..m {
            for j in 0..m {
                let x = if ctl.constant { 7 } else { small() };
                c[n][i][j] = x;
                let (reg, lane) = out(m, blocks, wide, n, i, j);
                let bits = if t.a == I8 {
                    u64::from(x.cast_unsigned())
                } else if wide {
                    F64.encode(x)
                } else {
                    F32.encode(x)
                };
                put(&mut w, if t.sparse { D } else { C }, lane, reg, if wide { 64 } else { 32 }, bits);
            }
        }
    }
    let seven = if t.a == I8 {
        7
    } else if wide {
        F64.encode(7)
    } else {
        F32.encode(7)
    };
    w.wave().set64(300, seven);
    let src_c = if t.sparse {
        v_off(IDX)
    } else if ctl.constant {
        s_off(300)
    } else {
        v_off(C)
    };
    let u = Uop { h, d: v_off(D), a: v_off(A), b: v_off(B), c: src_c, imm: ctl.pack() };
    // EXEC is 0: the matrix core does not look at it.
    // SAFETY: offsets are in the block, the backend is available.
    assert_eq!(unsafe { (u.h)(&u, w.ptr()) }, NEXT);
    let sign = |bit: u32| if ctl.neg >> bit & 1 != 0 { -1 } else { 1 };
    for n in 0..blocks {
        let from =
            if t.sparse || ctl.cbsz == 0 { n } else { n / (1 << ctl.cbsz) * (1 << ctl.cbsz) + ctl.abid as usize };
        for i in 0..m {
            for j in 0..m {
                let mut want = c[n][i][j] * sign(2);
                for kk in 0..k {
                    let lane = j + m * (n + blocks * (kk / kb));
                    let lane = match ctl.blgp {
                        0 => lane,
                        1 => lane & 31,
                        2 => lane | 32,
                        3 => (lane + 16) & 63,
                        p => lane & 15 | (p as usize - 4) << 4,
                    };
                    let (bj, rest) = (lane % m, lane / m);
                    let x = b[rest % blocks][rest / blocks * kb + kk % kb][bj];
                    want += a[from][i][kk] * x * sign(0) * sign(1);
                }
                let (reg, lane) = out(m, blocks, wide, n, i, j);
                let got = if wide {
                    f64::from_bits(
                        u64::from(w.plane(D + 2 * reg)[lane]) | u64::from(w.plane(D + 2 * reg + 1)[lane]) << 32,
                    )
                } else if t.a == I8 {
                    f64::from(w.plane(D + reg)[lane].cast_signed())
                } else {
                    f64::from(f32::from_bits(w.plane(D + reg)[lane]))
                };
                assert_eq!(got, f64::from(want), "{t:?} {ctl:?} {backend:?} block {n} row {i} column {j}");
            }
        }
    }
}

fn cases() -> Vec<Case> {
    let mut v = Vec::new();
    for target in [Target::Gfx90a, Target::Gfx942] {
        for op in Op::all_of(target) {
            let name = op.name();
            let Some((sparse, rest)) = name
                .strip_prefix("V_MFMA_")
                .map(|r| (false, r))
                .or_else(|| name.strip_prefix("V_SMFMAC_").map(|r| (true, r)))
            else {
                continue;
            };
            // F32_32X32X1F32, F32_16X16X32_BF8_FP8, I32_16X16X4I8 …
            let rest = rest.split_once('_').map_or("", |x| x.1);
            let dims: Vec<&str> = rest.splitn(3, 'X').collect();
            let digits = dims[2].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            let (m, k) = (dims[0].parse().unwrap_or(0), dims[2][..digits].parse().unwrap_or(0));
            let ty = dims[2][digits..].trim_start_matches('_').trim_end_matches("_1K");
            let (a, b) = match ty {
                "F16" => (F16, F16),
                "BF16" => (Bf16, Bf16),
                "F32" | "XF32" => (F32, F32),
                "F64" => (F64, F64),
                "I8" => (I8, I8),
                "FP8_FP8" => (Fp8, Fp8),
                "FP8_BF8" => (Fp8, Bf8),
                "BF8_FP8" => (Bf8, Fp8),
                "BF8_BF8" => (Bf8, Bf8),
                other => panic!("type {other} of {name}"),
            };
            // The registers of A (two dwords, but one where the type says) fix how many blocks there are.
            let one = a == F32 && ty != "XF32" || ty == "BF16" && !sparse && !name.ends_with("1K");
            let old_i8 = a == I8 && !sparse && matches!((m, k), (32, 4 | 8) | (16, 4 | 16) | (4, 4));
            let dwords = if one || old_i8 { 1 } else { 2 };
            let per_lane = dwords * 32 / a.bits();
            let stored: usize = if sparse { k / 2 } else { k };
            let blocks = 64 * per_lane / (m * stored);
            v.push(Case { target, op, m, k, blocks, a, b, sparse });
        }
    }
    v
}

#[test]
fn every_shape_multiplies_small_integers_exactly() {
    let all = cases();
    assert!(all.len() > 60, "{}", all.len());
    for (n, t) in all.into_iter().enumerate() {
        let seed = 0x1234_5678_9abc_def1 + n as u64 * 977;
        for backend in Backend::available() {
            run(t, backend, Controls::default(), seed);
            if !t.sparse {
                run(t, backend, Controls { constant: true, ..Controls::default() }, seed);
            }
        }
        if t.sparse {
            for (cbsz, abid) in [(0, 1), (0, 3), (1, 1)] {
                run(t, Backend::Scalar, Controls { cbsz, abid, ..Controls::default() }, seed);
            }
            continue;
        }
        for blgp in 1..8 {
            run(t, Backend::Scalar, Controls { blgp, ..Controls::default() }, seed);
        }
        for (cbsz, abid) in [(1, 1), (2, 3), (4, 9)] {
            if 1 << cbsz <= t.blocks {
                run(t, Backend::Scalar, Controls { cbsz, abid, ..Controls::default() }, seed);
            }
        }
        if t.a == F64 {
            for neg in 1..8 {
                run(t, Backend::Scalar, Controls { neg, ..Controls::default() }, seed);
            }
        }
    }
}

/// One dot product of the fused adder, in arithmetic as wide as needed.
#[test]
fn the_fused_adder_cuts_products_and_rounds_down() {
    type K = Fused<B16, B16, 4>;
    let one = |a: [f32; 4], b: [f32; 4], c: f32| {
        let mut d = [[c; 1]; 1];
        K::block::<1, 4>(&[a], &b.map(|x| [x]), &mut d);
        d[0][0]
    };
    let p = |n| 2f32.powi(n);
    // 2^-25 is below the grid of 24 bits under 1: gone before it is added.
    assert_eq!(one([1.0, p(-25), 0.0, 0.0], [1.0; 4], -1.0), 0.0);
    assert_eq!(one([1.0, p(-24), 0.0, 0.0], [1.0; 4], -1.0), p(-24));
    // The sum is kept to 31 bits below C, which rounds down: a tiny negative sum becomes -2^-31.
    assert_eq!(one([-p(-60), 0.0, 0.0, 0.0], [1.0; 4], 1.0), 1.0);
    assert_eq!(one([p(100), 0.0, 0.0, 0.0], [p(100), 0.0, 0.0, 0.0], 1.0), f32::INFINITY);
    assert!(one([f32::INFINITY, 0.0, 0.0, 0.0], [0.0; 4], 1.0).is_nan());
    // C below the grid rounds down to -2^-24.
    assert_eq!(one([1.0, -1.0, 0.0, 0.0], [1.0; 4], -p(-40)), -p(-24));
}

#[test]
fn cdna2_flushes_denormals_going_in() {
    type K = Tree<H16, 4>;
    assert_eq!(K::a(1), 0.0);
    assert_eq!(K::a(0x8001).to_bits(), 0);
    assert_eq!(K::a(0x0400), 2f32.powi(-14));
    assert_eq!(K::c(0x8000_0001).to_bits(), 0);
}
