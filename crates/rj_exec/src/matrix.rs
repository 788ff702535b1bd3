//! The matrix core of CDNA2 and CDNA3: `v_mfma_*` and `v_smfmac_*`. All lanes take part, whatever EXEC is.
//!
//! Layouts: ROCm's public matrix instruction calculator. Arithmetic: the published measurements of MMA-Sim (arXiv
//! 2511.10909); sums of sparse operations are not measured and taken to be those of dense ones (approximate).

use crate::half::{bf16_to_f32, f16_to_f32};
use crate::lanes::{Avx2, Avx512, Backend, Lanes, Scalar};
use crate::shapes::trio;
use crate::uop::{Handler, NEXT, Uop, at, rd, rd64};
use crate::wave::Wave;

/// The immediate of a matrix micro-op.
#[derive(Clone, Copy, Debug, Default)]
pub struct Controls {
    /// A's block is broadcast to 2^cbsz blocks.
    pub cbsz: u32,
    /// Which block that is; of a sparse operation: which set of indices.
    pub abid: u32,
    /// B's lane pattern.
    pub blgp: u32,
    /// Negate A, B, C (bits 0, 1, 2).
    pub neg: u32,
    /// C is a scalar.
    pub constant: bool,
}

impl Controls {
    /// As an immediate.
    pub fn pack(self) -> u64 {
        u64::from(self.cbsz)
            | u64::from(self.abid) << 4
            | u64::from(self.blgp) << 8
            | u64::from(self.neg) << 12
            | u64::from(self.constant) << 16
    }
    fn unpack(x: u64) -> Controls {
        let f = |s: u32| (x >> s & 15) as u32;
        Controls { cbsz: f(0), abid: f(4), blgp: f(8), neg: f(12), constant: x >> 16 & 1 != 0 }
    }
}

/// Stands for an element that a sparse matrix does not store: adds nothing and aligns nothing.
const ABSENT: u32 = 0x7fc0_dead;

/// Types of a matrix operation and how a block is multiplied.
pub trait Kind: 'static {
    /// A and B in memory of the host.
    type In: Copy;
    /// C and D.
    type Acc: Copy;
    /// Bits of an element of A and of B.
    const BITS: usize;
    /// Dwords of an element of C and D.
    const WIDE: usize;
    /// 0 of `In` as an element that is not there.
    const NONE: Self::In;
    /// An element of A from its bits.
    fn a(x: u64) -> Self::In;
    /// An element of B from its bits.
    fn b(x: u64) -> Self::In;
    /// An element of C from its bits.
    fn c(x: u64) -> Self::Acc;
    /// An element of D to its bits.
    fn d(x: Self::Acc) -> u64;
    /// `c += a b`.
    fn block<const M: usize, const K: usize>(
        a: &[[Self::In; K]; M],
        b: &[[Self::In; M]; K],
        c: &mut [[Self::Acc; M]; M],
    );
    /// `-x`.
    fn neg(x: Self::In) -> Self::In {
        x
    }
    /// `-x`.
    fn neg_c(x: Self::Acc) -> Self::Acc {
        x
    }
}

/// The B lane group pattern.
fn blgp(lane: usize, pattern: u32) -> usize {
    match pattern {
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        4..=7 => lane % 16 + 16 * (pattern as usize - 4),
        _ => lane,
    }
}

/// Register and first lane of row `i` of block `b` of C and D (M columns in neighbouring lanes). `height`: rows of a
/// column that neighbouring registers hold, 4 for 32-bit results and 1 for 64-bit ones.
fn row_place<const M: usize>(b: usize, i: usize, height: usize) -> (usize, usize) {
    let rows = 64 / M;
    let blocks = 64usize.div_ceil(M * M / height);
    let reg = b * (M * M / 64) + i / (height * rows) * height + i % height;
    (reg, b % blocks * M + i / height % rows * blocks * M)
}

/// Element `n` of `bits` bits in lane `lane` of the planes at `off`.
#[inline(always)]
unsafe fn element(w: *mut Wave, off: u32, lane: usize, n: usize, bits: usize) -> u64 {
    // SAFETY: the handler's contract.
    unsafe {
        let p = at(w, off).add(lane);
        if bits == 64 {
            return u64::from(*p.add(128 * n)) | u64::from(*p.add(128 * n + 64)) << 32;
        }
        let x = *p.add(n * bits / 32 * 64);
        u64::from(x >> (n * bits % 32)) & ((1 << bits) - 1)
    }
}

/// `d = a b + c`. `SP`: A is 4:2 sparse, `c` holds its indices, and `d` is added to.
#[inline(always)]
// `trio!` wants the lanes; the rows are left to the compiler's vectors.
#[allow(clippy::extra_unused_type_parameters)]
unsafe fn mfma<T: Kind, L: Lanes, const M: usize, const K: usize, const B: usize, const SP: bool>(
    u: *const Uop,
    w: *mut Wave,
) -> u32 {
    // SAFETY: the handler's contract; every register index is within the operands' widths.
    unsafe {
        let u = &*u;
        let ctl = Controls::unpack(u.imm);
        let groups = 64 / (M * B);
        let per_lane = K / groups;
        let stored = if SP { per_lane / 2 } else { per_lane };
        let height = if T::WIDE == 1 { 4 } else { 1 };
        let zero = T::c(0);
        let mut c = [[[zero; M]; M]; B];
        let acc = if SP { u.d } else { u.c };
        for (b, block) in c.iter_mut().enumerate() {
            for (i, row) in block.iter_mut().enumerate() {
                let (reg, lane) = row_place::<M>(b, i, height);
                for (j, x) in row.iter_mut().enumerate() {
                    *x = T::c(match (ctl.constant && !SP, T::WIDE) {
                        (true, 1) => u64::from(rd(w, acc)),
                        (true, _) => rd64(w, acc),
                        (_, wide) => element(w, acc, lane + j, reg, 32 * wide),
                    });
                    if ctl.neg & 4 != 0 {
                        *x = T::neg_c(*x);
                    }
                }
            }
        }
        let span = if SP { 0 } else { ctl.cbsz.min(B.trailing_zeros()) };
        for (b, block) in c.iter_mut().enumerate() {
            let from = if span == 0 { b } else { (b >> span << span) + (ctl.abid as usize & ((1 << span) - 1)) };
            let mut am = [[T::NONE; K]; M];
            for (i, row) in am.iter_mut().enumerate() {
                for g in 0..groups {
                    let lane = from * M + g * M * B + i;
                    // Two bits of position for each stored element; ABID chooses the set unless CBSZ says the first.
                    let index = if SP {
                        let set = if ctl.cbsz == 0 { ctl.abid as usize * stored * 2 % 32 } else { 0 };
                        *at(w, u.c).add(lane) >> set
                    } else {
                        0
                    };
                    for n in 0..stored {
                        let x = T::a(element(w, u.a, lane, n, T::BITS));
                        let k = if SP { n / 2 * 4 + (index >> (2 * n) & 3) as usize } else { n };
                        row[g * per_lane + k] = if ctl.neg & 1 != 0 { T::neg(x) } else { x };
                    }
                }
            }
            let mut bm = [[T::NONE; M]; K];
            for (k, row) in bm.iter_mut().enumerate() {
                let first = b * M + k / per_lane * M * B;
                for (j, x) in row.iter_mut().enumerate() {
                    let e = T::b(element(w, u.b, blgp(first + j, ctl.blgp), k % per_lane, T::BITS));
                    *x = if ctl.neg & 2 != 0 { T::neg(e) } else { e };
                }
            }
            T::block(&am, &bm, block);
        }
        for (b, block) in c.iter().enumerate() {
            for (i, row) in block.iter().enumerate() {
                let (reg, lane) = row_place::<M>(b, i, height);
                for (j, x) in row.iter().enumerate() {
                    let x = T::d(*x);
                    let p = at(w, u.d).add(reg * T::WIDE * 64 + lane + j);
                    *p = x as u32;
                    if T::WIDE == 2 {
                        *p.add(64) = (x >> 32) as u32;
                    }
                }
            }
        }
        NEXT
    }
}

trio!(/// Handler of a matrix operation of `B` blocks of M x M x K.
    mfma_h = mfma [T: Kind] [M: usize, K: usize, B: usize, SP: bool]);

/// f32: one fma after the other over k.
#[derive(Debug)]
pub struct F32;
impl Kind for F32 {
    type In = f32;
    type Acc = f32;
    const BITS: usize = 32;
    const WIDE: usize = 1;
    const NONE: f32 = 0.0;
    #[inline(always)]
    fn a(x: u64) -> f32 {
        f32::from_bits(x as u32)
    }
    #[inline(always)]
    fn b(x: u64) -> f32 {
        f32::from_bits(x as u32)
    }
    #[inline(always)]
    fn c(x: u64) -> f32 {
        f32::from_bits(x as u32)
    }
    #[inline(always)]
    fn d(x: f32) -> u64 {
        u64::from(x.to_bits())
    }
    #[inline(always)]
    fn block<const M: usize, const K: usize>(a: &[[f32; K]; M], b: &[[f32; M]; K], c: &mut [[f32; M]; M]) {
        for (a, c) in a.iter().zip(c) {
            for (a, b) in a.iter().zip(b) {
                for (b, c) in b.iter().zip(c.iter_mut()) {
                    *c = a.mul_add(*b, *c);
                }
            }
        }
    }
}

/// f64: as f32.
#[derive(Debug)]
pub struct F64;
impl Kind for F64 {
    type In = f64;
    type Acc = f64;
    const BITS: usize = 64;
    const WIDE: usize = 2;
    const NONE: f64 = 0.0;
    #[inline(always)]
    fn a(x: u64) -> f64 {
        f64::from_bits(x)
    }
    #[inline(always)]
    fn b(x: u64) -> f64 {
        f64::from_bits(x)
    }
    #[inline(always)]
    fn c(x: u64) -> f64 {
        f64::from_bits(x)
    }
    #[inline(always)]
    fn d(x: f64) -> u64 {
        x.to_bits()
    }
    #[inline(always)]
    fn block<const M: usize, const K: usize>(a: &[[f64; K]; M], b: &[[f64; M]; K], c: &mut [[f64; M]; M]) {
        for (a, c) in a.iter().zip(c) {
            for (a, b) in a.iter().zip(b) {
                for (b, c) in b.iter().zip(c.iter_mut()) {
                    *c = a.mul_add(*b, *c);
                }
            }
        }
    }
    fn neg(x: f64) -> f64 {
        -x
    }
    fn neg_c(x: f64) -> f64 {
        -x
    }
}

/// i8 to i32, wrapping.
#[derive(Debug)]
pub struct I8;
impl Kind for I8 {
    type In = i32;
    type Acc = i32;
    const BITS: usize = 8;
    const WIDE: usize = 1;
    const NONE: i32 = 0;
    #[inline(always)]
    fn a(x: u64) -> i32 {
        i32::from((x as u8).cast_signed())
    }
    #[inline(always)]
    fn b(x: u64) -> i32 {
        i32::from((x as u8).cast_signed())
    }
    #[inline(always)]
    fn c(x: u64) -> i32 {
        (x as u32).cast_signed()
    }
    #[inline(always)]
    fn d(x: i32) -> u64 {
        u64::from(x.cast_unsigned())
    }
    #[inline(always)]
    fn block<const M: usize, const K: usize>(a: &[[i32; K]; M], b: &[[i32; M]; K], c: &mut [[i32; M]; M]) {
        for (a, c) in a.iter().zip(c) {
            for (a, b) in a.iter().zip(b) {
                for (b, c) in b.iter().zip(c.iter_mut()) {
                    *c = c.wrapping_add(a * b);
                }
            }
        }
    }
}

/// A small float: its bits, and what the adders see of it.
pub trait Small: 'static {
    /// Bits of an element.
    const BITS: usize;
    /// Fraction bits.
    const FRAC: u32;
    /// Exponent of the smallest normal number.
    const LEAST: i32;
    /// Exact value.
    fn value(x: u32) -> f32;
}

macro_rules! small {
    ($($(#[$doc:meta])* $name:ident $bits:literal $frac:literal $least:literal |$x:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl Small for $name {
            const BITS: usize = $bits;
            const FRAC: u32 = $frac;
            const LEAST: i32 = $least;
            #[inline(always)]
            fn value($x: u32) -> f32 {
                $e
            }
        }
    )*};
}
small! {
    /// IEEE half.
    F16 16 10 -14 |x| f16_to_f32(x as u16);
    /// bfloat16.
    Bf16 16 7 -126 |x| bf16_to_f32(x as u16);
    /// f32 cut to ten fraction bits.
    Xf32 32 10 -126 |x| f32::from_bits(x & !0x1fff);
    /// E4M3 FNUZ.
    Fp8 8 3 -7 |x| crate::float8::fnuz_to_f32::<4>(x as u8);
    /// E5M2 FNUZ.
    Bf8 8 2 -15 |x| crate::float8::fnuz_to_f32::<5>(x as u8);
}

/// CDNA2's f16 and bf16: groups of `G` products, added pairwise in f32; denormals are zero going in (sign lost) and
/// coming out of every addition (sign kept).
#[derive(Debug)]
pub struct Tree<E, const G: usize>(std::marker::PhantomData<E>);

#[inline(always)]
fn flush_in(x: f32, least: i32) -> f32 {
    let e = (x.to_bits() >> 23 & 0xff).cast_signed();
    if e < least + 127 { 0.0 } else { x }
}
#[inline(always)]
fn flush_out(x: f32) -> f32 {
    if x.to_bits() & 0x7f80_0000 == 0 { f32::from_bits(x.to_bits() & 0x8000_0000) } else { x }
}

impl<E: Small, const G: usize> Kind for Tree<E, G> {
    type In = f32;
    type Acc = f32;
    const BITS: usize = E::BITS;
    const WIDE: usize = 1;
    const NONE: f32 = 0.0;
    #[inline(always)]
    fn a(x: u64) -> f32 {
        flush_in(E::value(x as u32), E::LEAST)
    }
    #[inline(always)]
    fn b(x: u64) -> f32 {
        flush_in(E::value(x as u32), E::LEAST)
    }
    #[inline(always)]
    fn c(x: u64) -> f32 {
        flush_in(f32::from_bits(x as u32), -126)
    }
    #[inline(always)]
    fn d(x: f32) -> u64 {
        u64::from(x.to_bits())
    }
    #[inline(always)]
    fn block<const M: usize, const K: usize>(a: &[[f32; K]; M], b: &[[f32; M]; K], c: &mut [[f32; M]; M]) {
        for (a, c) in a.iter().zip(c) {
            for k in (0..K).step_by(G) {
                for j in 0..M {
                    let p = |n: usize| flush_out(a[k + n] * b[k + n][j]);
                    let pair = |n: usize| flush_out(p(n) + p(n + 1));
                    let sum = if G == 2 { pair(0) } else { flush_out(pair(0) + pair(2)) };
                    c[j] = flush_out(c[j] + sum);
                }
            }
        }
    }
}

/// CDNA3's f16, bf16, xf32 and 8-bit floats: groups of `G` products on a common grid, see `fused`.
#[derive(Debug)]
pub struct Fused<A, B, const G: usize>(std::marker::PhantomData<(A, B)>);

/// Signed significand with `FRAC` fraction bits, and exponent. Zero has f32's least exponent.
#[inline(always)]
fn parts<E: Small>(x: f32) -> (i32, i32) {
    let bits = x.to_bits();
    let field = (bits >> 23 & 0xff).cast_signed();
    let e = field.max(1) - 127;
    let m = bits & 0x7f_ffff | u32::from(field != 0) << 23;
    let m = m >> (23 - E::FRAC) >> (E::LEAST - e).clamp(0, 31);
    let s = if bits >> 31 != 0 { -m.cast_signed() } else { m.cast_signed() };
    if bits == ABSENT {
        (0, -10_000)
    } else if m == 0 {
        (0, -126)
    } else {
        (s, e.max(E::LEAST))
    }
}

/// Adds a group of products to `c`: products are cut to 24 fraction bits below the greatest exponent and added exactly
/// (8-bit floats: even and odd ones apart, then together rounded down); the sum is rounded down to 31 bits below the
/// greater of its and C's exponent, C to 24; then one rounding to nearest even.
#[inline(always)]
fn fused<const W: usize, const SHIFT: u32, const EIGHT: bool>(
    a: &[(i32, i32)],
    bs: &[[i32; W]],
    be: &[[i32; W]],
    c: &mut [f32; W],
) {
    let mut sum = [[0i32; W]; 2];
    let mut top = [[-20_000i32; W]; 2];
    for (k, (a, be)) in a.iter().zip(be).enumerate() {
        let top = &mut top[if EIGHT { k % 2 } else { 0 }];
        for (t, be) in top.iter_mut().zip(be) {
            *t = (*t).max(a.1 + be);
        }
    }
    for (k, a) in a.iter().enumerate() {
        let n = if EIGHT { k % 2 } else { 0 };
        for j in 0..W {
            let p = a.0 * bs[k][j];
            let q = (p.unsigned_abs() << SHIFT) >> (top[n][j] - a.1 - be[k][j]).min(31);
            sum[n][j] += if p < 0 { -q.cast_signed() } else { q.cast_signed() };
        }
    }
    for j in 0..W {
        let (mut s, mut e) = (i64::from(sum[0][j]), top[0][j]);
        if EIGHT {
            e = e.max(top[1][j]);
            s = (s >> (e - top[0][j]).min(63)) + (i64::from(sum[1][j]) >> (e - top[1][j]).min(63));
        }
        let bits = c[j].to_bits();
        let field = (bits >> 23 & 0xff).cast_signed();
        let ec = field.max(1) - 127;
        let m = i64::from(bits & 0x7f_ffff | u32::from(field != 0) << 23);
        let m = if bits >> 31 != 0 { -m } else { m };
        let max = e.max(ec);
        let s = (s << 7) >> (max - e).min(63);
        let m = if EIGHT && ec < max - 25 { 0 } else { (m << 1) >> (max - ec).min(63) };
        let scale = f64::from_bits(((1023 - 31 + max).cast_unsigned() as u64) << 52);
        c[j] = ((s + (m << 7)) as f64 * scale) as f32;
    }
}

impl<A: Small, B: Small, const G: usize> Fused<A, B, G> {
    const EIGHT: bool = A::BITS == 8;

    /// One group of one element where infinities, NaNs or products of 2^128 and more take part.
    #[cold]
    fn special(a: &[f32], b: &[f32], c: f32, group: impl Fn(&mut [f32; 1])) -> f32 {
        let products =
            || a.iter().zip(b).filter(|(a, _)| a.to_bits() != ABSENT).map(|(a, b)| f64::from(*a) * f64::from(*b));
        let sum: f64 = products().sum::<f64>() + f64::from(c);
        if sum.is_nan() {
            return f32::from_bits(0x7fc0_0000);
        }
        if sum.is_infinite() {
            return sum as f32;
        }
        let big = 2f64.powi(128);
        match (products().any(|p| p >= big), products().any(|p| p <= -big)) {
            (true, true) => f32::from_bits(0x7fc0_0000),
            (true, false) => f32::INFINITY,
            (false, true) => f32::NEG_INFINITY,
            _ => {
                let mut r = [c];
                group(&mut r);
                r[0]
            }
        }
    }
}

/// [`fused`] with the shift that the types need.
macro_rules! fused_of {
    ($A:ident, $B:ident, $eight:expr, $($arg:expr),*) => {
        match ($A::FRAC + $B::FRAC, $eight) {
            (20, _) => fused::<_, 4, false>($($arg),*),
            (14, _) => fused::<_, 10, false>($($arg),*),
            (6, _) => fused::<_, 18, true>($($arg),*),
            (5, _) => fused::<_, 19, true>($($arg),*),
            _ => fused::<_, 20, true>($($arg),*),
        }
    };
}

impl<A: Small, B: Small, const G: usize> Kind for Fused<A, B, G> {
    type In = f32;
    type Acc = f32;
    const BITS: usize = A::BITS;
    const WIDE: usize = 1;
    const NONE: f32 = f32::from_bits(ABSENT);
    #[inline(always)]
    fn a(x: u64) -> f32 {
        A::value(x as u32)
    }
    #[inline(always)]
    fn b(x: u64) -> f32 {
        B::value(x as u32)
    }
    #[inline(always)]
    fn c(x: u64) -> f32 {
        f32::from_bits(x as u32)
    }
    #[inline(always)]
    fn d(x: f32) -> u64 {
        u64::from(x.to_bits())
    }
    #[inline(always)]
    fn block<const M: usize, const K: usize>(a: &[[f32; K]; M], b: &[[f32; M]; K], c: &mut [[f32; M]; M]) {
        let (mut bs, mut be) = ([[0; M]; K], [[0; M]; K]);
        for k in 0..K {
            for j in 0..M {
                (bs[k][j], be[k][j]) = parts::<B>(b[k][j]);
            }
        }
        let high = be.iter().flatten().fold(-126, |m, e| (*e).max(m));
        let wild = |x: &f32| x.to_bits() & 0x7f80_0000 == 0x7f80_0000 && x.to_bits() != ABSENT;
        let b_wild = b.iter().flatten().any(wild);
        for (a, c) in a.iter().zip(c) {
            let ap = a.map(parts::<A>);
            let a_high = ap.iter().fold(-126, |m, p| p.1.max(m));
            let special = b_wild || a_high + high >= 127 || a.iter().any(wild);
            for k in (0..K).step_by(G) {
                let to = k + G;
                if !special && !c.iter().any(wild) {
                    fused_of!(A, B, Self::EIGHT, &ap[k..to], &bs[k..to], &be[k..to], c);
                    continue;
                }
                for j in 0..M {
                    let column: [f32; K] = std::array::from_fn(|k| b[k][j]);
                    let s: [[i32; 1]; K] = std::array::from_fn(|k| [bs[k][j]]);
                    let e: [[i32; 1]; K] = std::array::from_fn(|k| [be[k][j]]);
                    c[j] = Self::special(&a[k..to], &column[k..to], c[j], |c| {
                        fused_of!(A, B, Self::EIGHT, &ap[k..to], &s[k..to], &e[k..to], c);
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
