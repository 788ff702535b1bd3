//! Sixteen lanes at a time: the vocabulary in which every vector micro-op is written once.
//!
//! [`Scalar`] is the reference; [`Avx2`] and [`Avx512`] equal it bit for bit (tested by `tests/lanes.rs`). A method
//! here must mean the same on all three; what has no vector form is written with `map*`.

mod avx2;
mod avx512;
mod scalar;

pub use avx2::Avx2;
pub use avx512::Avx512;
pub use scalar::Scalar;

/// Lanes of a vector.
pub const N: usize = 16;

/// Float comparisons as the hardware's eight basic conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cmp {
    /// Ordered and less.
    Lt,
    /// Ordered and equal.
    Eq,
    /// Ordered and less or equal.
    Le,
    /// Ordered and greater.
    Gt,
    /// Ordered and not equal.
    Lg,
    /// Ordered and greater or equal.
    Ge,
    /// Ordered.
    O,
}

/// Rounding of a float to an integral float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To nearest, ties to even.
    Nearest,
    /// Toward minus infinity.
    Floor,
    /// Toward plus infinity.
    Ceil,
    /// Toward zero.
    Trunc,
}

/// Sixteen 32-bit lanes (`V`) and sixteen 64-bit lanes (`D`).
///
/// # Safety
/// Every method of a vector instance must be inlined into a function that enables the instance's CPU features, and
/// called only on a CPU that has them. Pointers must be valid for 64 bytes.
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait Lanes: Copy + 'static {
    type V: Copy;
    type D: Copy;

    unsafe fn load(p: *const u32) -> Self::V;
    unsafe fn store(p: *mut u32, v: Self::V);
    /// Stores the lanes whose bit is set; other lanes' bytes are not changed (a wave's own planes: no other thread
    /// looks at them).
    unsafe fn store_mask(p: *mut u32, v: Self::V, m: u16);
    /// Loads the lanes whose bit is set and touches no others' bytes; the others are 0.
    unsafe fn load_part(p: *const u32, m: u16) -> Self::V;
    /// Stores the lanes whose bit is set and touches no others' bytes: for memory that others look at.
    unsafe fn store_part(p: *mut u32, v: Self::V, m: u16);
    unsafe fn load64(p: *const u64) -> Self::D;
    unsafe fn store64(p: *mut u64, d: Self::D);
    unsafe fn splat(x: u32) -> Self::V;
    /// Lane-wise `m ? a : b`.
    unsafe fn select(m: u16, a: Self::V, b: Self::V) -> Self::V;

    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mul(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mulhi_u(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn and(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn or(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn xor(a: Self::V, b: Self::V) -> Self::V;
    /// Shifts take the count modulo 32.
    unsafe fn shl(a: Self::V, n: Self::V) -> Self::V;
    unsafe fn shr(a: Self::V, n: Self::V) -> Self::V;
    unsafe fn sar(a: Self::V, n: Self::V) -> Self::V;
    unsafe fn min_i(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn max_i(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn min_u(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn max_u(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn eq(a: Self::V, b: Self::V) -> u16;
    unsafe fn lt_i(a: Self::V, b: Self::V) -> u16;
    unsafe fn lt_u(a: Self::V, b: Self::V) -> u16;

    unsafe fn addf(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn subf(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mulf(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn divf(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sqrtf(a: Self::V) -> Self::V;
    unsafe fn fmaf(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    unsafe fn roundf(a: Self::V, r: Round) -> Self::V;
    unsafe fn cmpf(a: Self::V, b: Self::V, c: Cmp) -> u16;
    /// Signed integers to f32, rounded to nearest even.
    unsafe fn i2f(a: Self::V) -> Self::V;
    /// Truncation to i32; out of range or NaN gives 0x80000000 (as x86 does).
    unsafe fn f2i_raw(a: Self::V) -> Self::V;

    /// f16 in the low half of each lane to f32: exact, NaNs become quiet. The upper half does not matter.
    unsafe fn h2f(a: Self::V) -> Self::V;
    /// f32 to f16 in the low half, to nearest even; the upper half is 0.
    unsafe fn f2h(a: Self::V) -> Self::V;

    unsafe fn zip(lo: Self::V, hi: Self::V) -> Self::D;
    unsafe fn unzip(d: Self::D) -> (Self::V, Self::V);
    unsafe fn splat64(x: u64) -> Self::D;
    unsafe fn select64(m: u16, a: Self::D, b: Self::D) -> Self::D;
    unsafe fn add64(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn sub64(a: Self::D, b: Self::D) -> Self::D;
    /// The product of the lower halves, unsigned.
    unsafe fn mul_lo_wide(a: Self::D, b: Self::D) -> Self::D;
    /// The product of the lower halves, signed.
    unsafe fn mul_lo_wide_i(a: Self::D, b: Self::D) -> Self::D;
    /// Shifts whose counts are below 64.
    unsafe fn shl64(a: Self::D, n: Self::D) -> Self::D;
    unsafe fn shr64(a: Self::D, n: Self::D) -> Self::D;
    unsafe fn addd(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn muld(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn fmad(a: Self::D, b: Self::D, c: Self::D) -> Self::D;
    unsafe fn cmpd(a: Self::D, b: Self::D, c: Cmp) -> u16;
    /// Signed 32-bit integers to f64: exact.
    unsafe fn i2d(a: Self::V) -> Self::D;
    /// f32 to f64: exact.
    unsafe fn f2d(a: Self::V) -> Self::D;
    /// f64 to f32, rounded by the current mode.
    unsafe fn d2f(a: Self::D) -> Self::V;

    unsafe fn arr(v: Self::V) -> [u32; N];
    unsafe fn from_arr(a: [u32; N]) -> Self::V;
    unsafe fn arr64(d: Self::D) -> [u64; N];
    unsafe fn from_arr64(a: [u64; N]) -> Self::D;

    #[inline(always)]
    unsafe fn map1(a: Self::V, f: impl Fn(u32) -> u32) -> Self::V {
        // SAFETY: the caller's promise is this function's.
        unsafe {
            let a = Self::arr(a);
            Self::from_arr(std::array::from_fn(
                #[inline(always)]
                |i| f(a[i]),
            ))
        }
    }
    #[inline(always)]
    unsafe fn map2(a: Self::V, b: Self::V, f: impl Fn(u32, u32) -> u32) -> Self::V {
        // SAFETY: as `map1`.
        unsafe {
            let (a, b) = (Self::arr(a), Self::arr(b));
            Self::from_arr(std::array::from_fn(
                #[inline(always)]
                |i| f(a[i], b[i]),
            ))
        }
    }
    #[inline(always)]
    unsafe fn map3(a: Self::V, b: Self::V, c: Self::V, f: impl Fn(u32, u32, u32) -> u32) -> Self::V {
        // SAFETY: as `map1`.
        unsafe {
            let (a, b, c) = (Self::arr(a), Self::arr(b), Self::arr(c));
            Self::from_arr(std::array::from_fn(
                #[inline(always)]
                |i| f(a[i], b[i], c[i]),
            ))
        }
    }
    #[inline(always)]
    unsafe fn map1d(a: Self::D, f: impl Fn(u64) -> u64) -> Self::D {
        // SAFETY: as `map1`.
        unsafe {
            let a = Self::arr64(a);
            Self::from_arr64(std::array::from_fn(
                #[inline(always)]
                |i| f(a[i]),
            ))
        }
    }
    #[inline(always)]
    unsafe fn map2d(a: Self::D, b: Self::D, f: impl Fn(u64, u64) -> u64) -> Self::D {
        // SAFETY: as `map1`.
        unsafe {
            let (a, b) = (Self::arr64(a), Self::arr64(b));
            Self::from_arr64(std::array::from_fn(
                #[inline(always)]
                |i| f(a[i], b[i]),
            ))
        }
    }
    #[inline(always)]
    unsafe fn map3d(a: Self::D, b: Self::D, c: Self::D, f: impl Fn(u64, u64, u64) -> u64) -> Self::D {
        // SAFETY: as `map1`.
        unsafe {
            let (a, b, c) = (Self::arr64(a), Self::arr64(b), Self::arr64(c));
            Self::from_arr64(std::array::from_fn(
                #[inline(always)]
                |i| f(a[i], b[i], c[i]),
            ))
        }
    }
    /// 32-bit lanes to 64-bit lanes.
    #[inline(always)]
    unsafe fn widen(a: Self::V, f: impl Fn(u32) -> u64) -> Self::D {
        // SAFETY: as `map1`.
        unsafe {
            let a = Self::arr(a);
            Self::from_arr64(std::array::from_fn(
                #[inline(always)]
                |i| f(a[i]),
            ))
        }
    }
    /// 64-bit lanes to 32-bit lanes.
    #[inline(always)]
    unsafe fn narrow(a: Self::D, f: impl Fn(u64) -> u32) -> Self::V {
        // SAFETY: as `map1`.
        unsafe {
            let a = Self::arr64(a);
            Self::from_arr(std::array::from_fn(
                #[inline(always)]
                |i| f(a[i]),
            ))
        }
    }
    /// A condition on 32-bit lanes.
    #[inline(always)]
    unsafe fn test2(a: Self::V, b: Self::V, f: impl Fn(u32, u32) -> bool) -> u16 {
        // SAFETY: as `map1`.
        unsafe {
            let (a, b) = (Self::arr(a), Self::arr(b));
            (0..N).fold(0, |m, i| m | u16::from(f(a[i], b[i])) << i)
        }
    }
    /// A condition on 64-bit lanes.
    #[inline(always)]
    unsafe fn test2d(a: Self::D, b: Self::D, f: impl Fn(u64, u64) -> bool) -> u16 {
        // SAFETY: as `map1`.
        unsafe {
            let (a, b) = (Self::arr64(a), Self::arr64(b));
            (0..N).fold(0, |m, i| m | u16::from(f(a[i], b[i])) << i)
        }
    }
}

/// The host's vector unit to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Plain Rust, one lane at a time: the reference.
    Scalar,
    /// 256-bit vectors with FMA and F16C.
    Avx2,
    /// 512-bit vectors (F, BW, DQ, VL).
    Avx512,
}

impl Backend {
    /// Every backend that this CPU can run.
    pub fn available() -> Vec<Backend> {
        let mut v = vec![Backend::Scalar];
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c") {
            v.push(Backend::Avx2);
            if ["avx512f", "avx512bw", "avx512dq", "avx512vl"].iter().all(|f| match *f {
                "avx512f" => is_x86_feature_detected!("avx512f"),
                "avx512bw" => is_x86_feature_detected!("avx512bw"),
                "avx512dq" => is_x86_feature_detected!("avx512dq"),
                _ => is_x86_feature_detected!("avx512vl"),
            }) {
                v.push(Backend::Avx512);
            }
        }
        v
    }

    /// The widest available, or the one named by `ROCJITSU_SIMD` (`scalar`, `avx2`, `avx512`) if available.
    pub fn choose() -> Backend {
        let all = Backend::available();
        let best = all.last().copied().unwrap_or(Backend::Scalar);
        match std::env::var("ROCJITSU_SIMD").ok().as_deref() {
            Some("scalar") => Backend::Scalar,
            Some("avx2") if all.contains(&Backend::Avx2) => Backend::Avx2,
            _ => best,
        }
    }
}
