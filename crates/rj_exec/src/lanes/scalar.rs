//! The reference instance: arrays and plain Rust.

use super::{Cmp, Lanes, N, Round};

/// One lane at a time.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

#[inline(always)]
fn f(x: u32) -> f32 {
    f32::from_bits(x)
}
#[inline(always)]
fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

macro_rules! v2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(x: [u32; N], y: [u32; N]) -> [u32; N] {
            std::array::from_fn(#[inline(always)] |i| { let ($a, $b) = (x[i], y[i]); $e })
        }
    )*};
}
macro_rules! d2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(x: [u64; N], y: [u64; N]) -> [u64; N] {
            std::array::from_fn(#[inline(always)] |i| { let ($a, $b) = (x[i], y[i]); $e })
        }
    )*};
}
macro_rules! m2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(x: [u32; N], y: [u32; N]) -> u16 {
            (0..N).fold(0, |m, i| { let ($a, $b) = (x[i], y[i]); m | u16::from($e) << i })
        }
    )*};
}

fn compare<T: PartialOrd>(a: T, b: T, c: Cmp) -> bool {
    match c {
        Cmp::Lt => a < b,
        Cmp::Eq => a == b,
        Cmp::Le => a <= b,
        Cmp::Gt => a > b,
        Cmp::Lg => a.partial_cmp(&b).is_some_and(|o| o.is_ne()),
        Cmp::Ge => a >= b,
        Cmp::O => a.partial_cmp(&b).is_some(),
    }
}

/// x86 answers a NaN operand quieted, the first one first; Rust leaves the choice open, so it is made here.
#[inline(always)]
fn nan2(a: u32, b: u32, r: f32) -> u32 {
    if f(a).is_nan() {
        a | 0x0040_0000
    } else if f(b).is_nan() {
        b | 0x0040_0000
    } else if r.is_nan() {
        0xffc0_0000
    } else {
        r.to_bits()
    }
}
#[inline(always)]
fn nan2d(a: u64, b: u64, r: f64) -> u64 {
    if d(a).is_nan() {
        a | 0x0008_0000_0000_0000
    } else if d(b).is_nan() {
        b | 0x0008_0000_0000_0000
    } else if r.is_nan() {
        0xfff8_0000_0000_0000
    } else {
        r.to_bits()
    }
}

impl Lanes for Scalar {
    type V = [u32; N];
    type D = [u64; N];

    #[inline(always)]
    unsafe fn load(p: *const u32) -> [u32; N] {
        // SAFETY: valid for 64 bytes by the trait's contract.
        unsafe { p.cast::<[u32; N]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(p: *mut u32, v: [u32; N]) {
        // SAFETY: as `load`.
        unsafe { p.cast::<[u32; N]>().write_unaligned(v) }
    }
    #[inline(always)]
    unsafe fn store_mask(p: *mut u32, v: [u32; N], m: u16) {
        for (i, x) in v.into_iter().enumerate() {
            if m >> i & 1 != 0 {
                // SAFETY: as `load`.
                unsafe { p.add(i).write(x) }
            }
        }
    }
    #[inline(always)]
    unsafe fn load_part(p: *const u32, m: u16) -> [u32; N] {
        // SAFETY: the trait's contract.
        std::array::from_fn(|i| if m >> i & 1 != 0 { unsafe { p.wrapping_add(i).read_unaligned() } } else { 0 })
    }
    #[inline(always)]
    unsafe fn store_part(p: *mut u32, v: [u32; N], m: u16) {
        for (i, x) in v.into_iter().enumerate() {
            if m >> i & 1 != 0 {
                // SAFETY: the trait's contract.
                unsafe { p.wrapping_add(i).write_unaligned(x) }
            }
        }
    }
    #[inline(always)]
    unsafe fn load64(p: *const u64) -> [u64; N] {
        // SAFETY: the trait's contract.
        unsafe { p.cast::<[u64; N]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store64(p: *mut u64, d: [u64; N]) {
        // SAFETY: the trait's contract.
        unsafe { p.cast::<[u64; N]>().write_unaligned(d) }
    }
    #[inline(always)]
    unsafe fn splat(x: u32) -> [u32; N] {
        [x; N]
    }
    #[inline(always)]
    unsafe fn select(m: u16, a: [u32; N], b: [u32; N]) -> [u32; N] {
        std::array::from_fn(|i| if m >> i & 1 != 0 { a[i] } else { b[i] })
    }
    v2! {
        add |a, b| a.wrapping_add(b);
        sub |a, b| a.wrapping_sub(b);
        mul |a, b| a.wrapping_mul(b);
        mulhi_u |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32;
        and |a, b| a & b;
        or |a, b| a | b;
        xor |a, b| a ^ b;
        shl |a, b| a << (b & 31);
        shr |a, b| a >> (b & 31);
        sar |a, b| (a.cast_signed() >> (b & 31)).cast_unsigned();
        min_i |a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned();
        max_i |a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned();
        min_u |a, b| a.min(b);
        max_u |a, b| a.max(b);
        addf |a, b| nan2(a, b, f(a) + f(b));
        subf |a, b| nan2(a, b, f(a) - f(b));
        mulf |a, b| nan2(a, b, f(a) * f(b));
        divf |a, b| nan2(a, b, f(a) / f(b));
    }
    m2! {
        eq |a, b| a == b;
        lt_i |a, b| a.cast_signed() < b.cast_signed();
        lt_u |a, b| a < b;
    }
    #[inline(always)]
    unsafe fn sqrtf(a: [u32; N]) -> [u32; N] {
        a.map(|a| nan2(a, a, f(a).sqrt()))
    }
    #[inline(always)]
    unsafe fn fmaf(a: [u32; N], b: [u32; N], c: [u32; N]) -> [u32; N] {
        std::array::from_fn(|i| {
            // x86's order of NaN operands for a * b + c is a, b, c (vfmadd213).
            let r = f(a[i]).mul_add(f(b[i]), f(c[i]));
            if f(a[i]).is_nan() || f(b[i]).is_nan() { nan2(a[i], b[i], r) } else { nan2(c[i], c[i], r) }
        })
    }
    #[inline(always)]
    unsafe fn roundf(a: [u32; N], r: Round) -> [u32; N] {
        a.map(|a| {
            let x = f(a);
            let y = match r {
                Round::Nearest => x.round_ties_even(),
                Round::Floor => x.floor(),
                Round::Ceil => x.ceil(),
                Round::Trunc => x.trunc(),
            };
            nan2(a, a, y)
        })
    }
    #[inline(always)]
    unsafe fn cmpf(a: [u32; N], b: [u32; N], c: Cmp) -> u16 {
        (0..N).fold(0, |m, i| m | u16::from(compare(f(a[i]), f(b[i]), c)) << i)
    }
    #[inline(always)]
    unsafe fn i2f(a: [u32; N]) -> [u32; N] {
        a.map(|a| (a.cast_signed() as f32).to_bits())
    }
    #[inline(always)]
    unsafe fn f2i_raw(a: [u32; N]) -> [u32; N] {
        a.map(|a| {
            let x = f(a);
            if (-2_147_483_648.0..2_147_483_648.0).contains(&x) { (x as i32).cast_unsigned() } else { 0x8000_0000 }
        })
    }

    #[inline(always)]
    unsafe fn h2f(a: [u32; N]) -> [u32; N] {
        a.map(|a| crate::half::f16_to_f32(a as u16).to_bits())
    }
    #[inline(always)]
    unsafe fn f2h(a: [u32; N]) -> [u32; N] {
        a.map(|a| u32::from(crate::half::f32_to_f16(f(a))))
    }
    #[inline(always)]
    unsafe fn zip(lo: [u32; N], hi: [u32; N]) -> [u64; N] {
        std::array::from_fn(|i| u64::from(hi[i]) << 32 | u64::from(lo[i]))
    }
    #[inline(always)]
    unsafe fn unzip(x: [u64; N]) -> ([u32; N], [u32; N]) {
        (x.map(|x| x as u32), x.map(|x| (x >> 32) as u32))
    }
    #[inline(always)]
    unsafe fn splat64(x: u64) -> [u64; N] {
        [x; N]
    }
    #[inline(always)]
    unsafe fn select64(m: u16, a: [u64; N], b: [u64; N]) -> [u64; N] {
        std::array::from_fn(|i| if m >> i & 1 != 0 { a[i] } else { b[i] })
    }
    d2! {
        add64 |a, b| a.wrapping_add(b);
        sub64 |a, b| a.wrapping_sub(b);
        mul_lo_wide |a, b| u64::from(a as u32) * u64::from(b as u32);
        mul_lo_wide_i |a, b| (i64::from(a as i32) * i64::from(b as i32)).cast_unsigned();
        shl64 |a, n| a << n;
        shr64 |a, n| a >> n;
        addd |a, b| nan2d(a, b, d(a) + d(b));
        muld |a, b| nan2d(a, b, d(a) * d(b));
    }
    #[inline(always)]
    unsafe fn fmad(a: [u64; N], b: [u64; N], c: [u64; N]) -> [u64; N] {
        std::array::from_fn(|i| {
            let r = d(a[i]).mul_add(d(b[i]), d(c[i]));
            if d(a[i]).is_nan() || d(b[i]).is_nan() { nan2d(a[i], b[i], r) } else { nan2d(c[i], c[i], r) }
        })
    }
    #[inline(always)]
    unsafe fn cmpd(a: [u64; N], b: [u64; N], c: Cmp) -> u16 {
        (0..N).fold(0, |m, i| m | u16::from(compare(d(a[i]), d(b[i]), c)) << i)
    }
    #[inline(always)]
    unsafe fn i2d(a: [u32; N]) -> [u64; N] {
        a.map(|a| f64::from(a.cast_signed()).to_bits())
    }
    #[inline(always)]
    unsafe fn f2d(a: [u32; N]) -> [u64; N] {
        a.map(|a| {
            if f(a).is_nan() {
                u64::from(a & 0x8000_0000) << 32 | 0x7ff8_0000_0000_0000 | u64::from(a & 0x007f_ffff) << 29
            } else {
                f64::from(f(a)).to_bits()
            }
        })
    }
    #[inline(always)]
    unsafe fn d2f(a: [u64; N]) -> [u32; N] {
        a.map(|a| {
            if d(a).is_nan() {
                (a >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (a >> 29) as u32 & 0x007f_ffff
            } else {
                (d(a) as f32).to_bits()
            }
        })
    }
    #[inline(always)]
    unsafe fn arr(v: [u32; N]) -> [u32; N] {
        v
    }
    #[inline(always)]
    unsafe fn from_arr(a: [u32; N]) -> [u32; N] {
        a
    }
    #[inline(always)]
    unsafe fn arr64(v: [u64; N]) -> [u64; N] {
        v
    }
    #[inline(always)]
    unsafe fn from_arr64(a: [u64; N]) -> [u64; N] {
        a
    }
}
