//! The 256-bit instance: pairs and quadruples of ymm.

use super::{Cmp, Lanes, N, Round};
use std::arch::x86_64::*;

/// AVX2, FMA, F16C.
#[derive(Clone, Copy, Debug)]
pub struct Avx2;

/// All ones in the 32-bit lanes whose bit of `m` is set.
#[inline(always)]
unsafe fn mask8(m: u16) -> __m256i {
    // SAFETY: the trait's contract: the features are enabled where this is inlined.
    unsafe {
        let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(i32::from(m)), bits), bits)
    }
}
/// The same for four 64-bit lanes.
#[inline(always)]
unsafe fn mask4(m: u16) -> __m256i {
    // SAFETY: as `mask8`.
    unsafe {
        let bits = _mm256_setr_epi64x(1, 2, 4, 8);
        _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(i64::from(m)), bits), bits)
    }
}
#[inline(always)]
unsafe fn ps(v: __m256i) -> __m256 {
    // SAFETY: as `mask8`.
    unsafe { _mm256_castsi256_ps(v) }
}
#[inline(always)]
unsafe fn si(v: __m256) -> __m256i {
    // SAFETY: as `mask8`.
    unsafe { _mm256_castps_si256(v) }
}
#[inline(always)]
unsafe fn pd(v: __m256i) -> __m256d {
    // SAFETY: as `mask8`.
    unsafe { _mm256_castsi256_pd(v) }
}
#[inline(always)]
unsafe fn sd(v: __m256d) -> __m256i {
    // SAFETY: as `mask8`.
    unsafe { _mm256_castpd_si256(v) }
}
#[inline(always)]
unsafe fn bits8(v: __m256i) -> u16 {
    // SAFETY: as `mask8`.
    unsafe { _mm256_movemask_ps(ps(v)) as u16 }
}

macro_rules! v2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(x: [__m256i; 2], y: [__m256i; 2]) -> [__m256i; 2] {
            // SAFETY: the trait's contract.
            unsafe { [{ let ($a, $b) = (x[0], y[0]); $e }, { let ($a, $b) = (x[1], y[1]); $e }] }
        }
    )*};
}
macro_rules! v1 {
    ($($name:ident |$a:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(x: [__m256i; 2]) -> [__m256i; 2] {
            // SAFETY: the trait's contract.
            unsafe { [{ let $a = x[0]; $e }, { let $a = x[1]; $e }] }
        }
    )*};
}
macro_rules! m2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(x: [__m256i; 2], y: [__m256i; 2]) -> u16 {
            // SAFETY: the trait's contract.
            unsafe {
                let lo = { let ($a, $b) = (x[0], y[0]); bits8($e) };
                let hi = { let ($a, $b) = (x[1], y[1]); bits8($e) };
                lo | hi << 8
            }
        }
    )*};
}
macro_rules! d2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(x: [__m256i; 4], y: [__m256i; 4]) -> [__m256i; 4] {
            // SAFETY: the trait's contract.
            unsafe {
                [
                    { let ($a, $b) = (x[0], y[0]); $e },
                    { let ($a, $b) = (x[1], y[1]); $e },
                    { let ($a, $b) = (x[2], y[2]); $e },
                    { let ($a, $b) = (x[3], y[3]); $e },
                ]
            }
        }
    )*};
}

impl Lanes for Avx2 {
    /// Lanes 0–7, lanes 8–15.
    type V = [__m256i; 2];
    /// Lanes 0–3, 4–7, 8–11, 12–15.
    type D = [__m256i; 4];

    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self::V {
        // SAFETY: the trait's contract.
        unsafe { [_mm256_loadu_si256(p.cast()), _mm256_loadu_si256(p.add(8).cast())] }
    }
    #[inline(always)]
    unsafe fn store(p: *mut u32, v: Self::V) {
        // SAFETY: the trait's contract.
        unsafe {
            _mm256_storeu_si256(p.cast(), v[0]);
            _mm256_storeu_si256(p.add(8).cast(), v[1]);
        }
    }
    #[inline(always)]
    unsafe fn store_mask(p: *mut u32, v: Self::V, m: u16) {
        // SAFETY: the trait's contract; load-blend-store, as masked stores are slow on AMD CPUs.
        unsafe {
            if m == 0xffff {
                Self::store(p, v);
            } else {
                Self::store(p, Self::select(m, v, Self::load(p)));
            }
        }
    }
    #[inline(always)]
    unsafe fn load_part(p: *const u32, m: u16) -> Self::V {
        // SAFETY: the trait's contract; lanes that are masked out are not touched.
        unsafe {
            let p = p.cast::<i32>();
            [_mm256_maskload_epi32(p, mask8(m)), _mm256_maskload_epi32(p.wrapping_add(8), mask8(m >> 8))]
        }
    }
    #[inline(always)]
    unsafe fn store_part(p: *mut u32, v: Self::V, m: u16) {
        // SAFETY: as `load_part`.
        unsafe {
            let p = p.cast::<i32>();
            _mm256_maskstore_epi32(p, mask8(m), v[0]);
            _mm256_maskstore_epi32(p.wrapping_add(8), mask8(m >> 8), v[1]);
        }
    }
    #[inline(always)]
    unsafe fn load64(p: *const u64) -> Self::D {
        // SAFETY: the trait's contract.
        unsafe {
            [
                _mm256_loadu_si256(p.cast()),
                _mm256_loadu_si256(p.add(4).cast()),
                _mm256_loadu_si256(p.add(8).cast()),
                _mm256_loadu_si256(p.add(12).cast()),
            ]
        }
    }
    #[inline(always)]
    unsafe fn store64(p: *mut u64, d: Self::D) {
        // SAFETY: the trait's contract.
        unsafe {
            for (i, x) in d.into_iter().enumerate() {
                _mm256_storeu_si256(p.add(4 * i).cast(), x);
            }
        }
    }
    #[inline(always)]
    unsafe fn splat(x: u32) -> Self::V {
        // SAFETY: the trait's contract.
        unsafe { [_mm256_set1_epi32(x.cast_signed()); 2] }
    }
    #[inline(always)]
    unsafe fn select(m: u16, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: the trait's contract.
        unsafe { [_mm256_blendv_epi8(b[0], a[0], mask8(m)), _mm256_blendv_epi8(b[1], a[1], mask8(m >> 8))] }
    }
    v2! {
        add |a, b| _mm256_add_epi32(a, b);
        sub |a, b| _mm256_sub_epi32(a, b);
        mul |a, b| _mm256_mullo_epi32(a, b);
        mulhi_u |a, b| {
            let even = _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32);
            let odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
            _mm256_blend_epi32(even, odd, 0b1010_1010)
        };
        and |a, b| _mm256_and_si256(a, b);
        or |a, b| _mm256_or_si256(a, b);
        xor |a, b| _mm256_xor_si256(a, b);
        shl |a, b| _mm256_sllv_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31)));
        shr |a, b| _mm256_srlv_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31)));
        sar |a, b| _mm256_srav_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31)));
        min_i |a, b| _mm256_min_epi32(a, b);
        max_i |a, b| _mm256_max_epi32(a, b);
        min_u |a, b| _mm256_min_epu32(a, b);
        max_u |a, b| _mm256_max_epu32(a, b);
        addf |a, b| si(_mm256_add_ps(ps(a), ps(b)));
        subf |a, b| si(_mm256_sub_ps(ps(a), ps(b)));
        mulf |a, b| si(_mm256_mul_ps(ps(a), ps(b)));
        divf |a, b| si(_mm256_div_ps(ps(a), ps(b)));
    }
    v1! {
        sqrtf |a| si(_mm256_sqrt_ps(ps(a)));
        i2f |a| si(_mm256_cvtepi32_ps(a));
        f2i_raw |a| _mm256_cvttps_epi32(ps(a));
    }
    m2! {
        eq |a, b| _mm256_cmpeq_epi32(a, b);
        lt_i |a, b| _mm256_cmpgt_epi32(b, a);
        lt_u |a, b| {
            let bias = _mm256_set1_epi32(i32::MIN);
            _mm256_cmpgt_epi32(_mm256_xor_si256(b, bias), _mm256_xor_si256(a, bias))
        };
    }
    #[inline(always)]
    unsafe fn fmaf(a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: the trait's contract.
        unsafe {
            [si(_mm256_fmadd_ps(ps(a[0]), ps(b[0]), ps(c[0]))), si(_mm256_fmadd_ps(ps(a[1]), ps(b[1]), ps(c[1])))]
        }
    }
    #[inline(always)]
    unsafe fn roundf(v: Self::V, r: Round) -> Self::V {
        // SAFETY: the trait's contract.
        unsafe {
            let one = |a: __m256i| {
                let a = ps(a);
                si(match r {
                    Round::Nearest => _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                    Round::Floor => _mm256_round_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
                    Round::Ceil => _mm256_round_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC),
                    Round::Trunc => _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC),
                })
            };
            [one(v[0]), one(v[1])]
        }
    }
    #[inline(always)]
    unsafe fn cmpf(x: Self::V, y: Self::V, c: Cmp) -> u16 {
        // SAFETY: the trait's contract.
        unsafe {
            let one = |a: __m256i, b: __m256i| {
                let (a, b) = (ps(a), ps(b));
                _mm256_movemask_ps(match c {
                    Cmp::Lt => _mm256_cmp_ps(a, b, _CMP_LT_OQ),
                    Cmp::Eq => _mm256_cmp_ps(a, b, _CMP_EQ_OQ),
                    Cmp::Le => _mm256_cmp_ps(a, b, _CMP_LE_OQ),
                    Cmp::Gt => _mm256_cmp_ps(a, b, _CMP_GT_OQ),
                    Cmp::Lg => _mm256_cmp_ps(a, b, _CMP_NEQ_OQ),
                    Cmp::Ge => _mm256_cmp_ps(a, b, _CMP_GE_OQ),
                    Cmp::O => _mm256_cmp_ps(a, b, _CMP_ORD_Q),
                }) as u16
            };
            one(x[0], y[0]) | one(x[1], y[1]) << 8
        }
    }
    #[inline(always)]
    unsafe fn h2f(a: Self::V) -> Self::V {
        // SAFETY: the trait's contract.
        unsafe {
            let low = _mm256_set1_epi32(0xffff);
            // Packing works within 128-bit lanes: put their low quarters together.
            let p = _mm256_packus_epi32(_mm256_and_si256(a[0], low), _mm256_and_si256(a[1], low));
            let p = _mm256_permute4x64_epi64(p, 0b11_01_10_00);
            [si(_mm256_cvtph_ps(_mm256_castsi256_si128(p))), si(_mm256_cvtph_ps(_mm256_extracti128_si256(p, 1)))]
        }
    }
    #[inline(always)]
    unsafe fn f2h(a: Self::V) -> Self::V {
        // SAFETY: the trait's contract.
        unsafe {
            [
                _mm256_cvtepu16_epi32(_mm256_cvtps_ph(ps(a[0]), _MM_FROUND_TO_NEAREST_INT)),
                _mm256_cvtepu16_epi32(_mm256_cvtps_ph(ps(a[1]), _MM_FROUND_TO_NEAREST_INT)),
            ]
        }
    }
    #[inline(always)]
    unsafe fn zip(lo: Self::V, hi: Self::V) -> Self::D {
        // SAFETY: the trait's contract.
        unsafe {
            let two = |l: __m256i, h: __m256i| {
                let a = _mm256_unpacklo_epi32(l, h);
                let b = _mm256_unpackhi_epi32(l, h);
                [_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31)]
            };
            let (x, y) = (two(lo[0], hi[0]), two(lo[1], hi[1]));
            [x[0], x[1], y[0], y[1]]
        }
    }
    #[inline(always)]
    unsafe fn unzip(d: Self::D) -> (Self::V, Self::V) {
        // SAFETY: the trait's contract.
        unsafe {
            let idx = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
            let two = |a: __m256i, b: __m256i| {
                let a = _mm256_permutevar8x32_epi32(a, idx);
                let b = _mm256_permutevar8x32_epi32(b, idx);
                (_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31))
            };
            let (x, y) = (two(d[0], d[1]), two(d[2], d[3]));
            ([x.0, y.0], [x.1, y.1])
        }
    }
    #[inline(always)]
    unsafe fn splat64(x: u64) -> Self::D {
        // SAFETY: the trait's contract.
        unsafe { [_mm256_set1_epi64x(x.cast_signed()); 4] }
    }
    #[inline(always)]
    unsafe fn select64(m: u16, a: Self::D, b: Self::D) -> Self::D {
        // SAFETY: the trait's contract.
        unsafe {
            [
                _mm256_blendv_epi8(b[0], a[0], mask4(m)),
                _mm256_blendv_epi8(b[1], a[1], mask4(m >> 4)),
                _mm256_blendv_epi8(b[2], a[2], mask4(m >> 8)),
                _mm256_blendv_epi8(b[3], a[3], mask4(m >> 12)),
            ]
        }
    }
    d2! {
        add64 |a, b| _mm256_add_epi64(a, b);
        sub64 |a, b| _mm256_sub_epi64(a, b);
        mul_lo_wide |a, b| _mm256_mul_epu32(a, b);
        mul_lo_wide_i |a, b| _mm256_mul_epi32(a, b);
        shl64 |a, n| _mm256_sllv_epi64(a, n);
        shr64 |a, n| _mm256_srlv_epi64(a, n);
        addd |a, b| sd(_mm256_add_pd(pd(a), pd(b)));
        muld |a, b| sd(_mm256_mul_pd(pd(a), pd(b)));
    }
    #[inline(always)]
    unsafe fn fmad(a: Self::D, b: Self::D, c: Self::D) -> Self::D {
        // SAFETY: the trait's contract.
        unsafe {
            let one = |i: usize| sd(_mm256_fmadd_pd(pd(a[i]), pd(b[i]), pd(c[i])));
            [one(0), one(1), one(2), one(3)]
        }
    }
    #[inline(always)]
    unsafe fn cmpd(x: Self::D, y: Self::D, c: Cmp) -> u16 {
        // SAFETY: the trait's contract.
        unsafe {
            let one = |i: usize| {
                let (a, b) = (pd(x[i]), pd(y[i]));
                (_mm256_movemask_pd(match c {
                    Cmp::Lt => _mm256_cmp_pd(a, b, _CMP_LT_OQ),
                    Cmp::Eq => _mm256_cmp_pd(a, b, _CMP_EQ_OQ),
                    Cmp::Le => _mm256_cmp_pd(a, b, _CMP_LE_OQ),
                    Cmp::Gt => _mm256_cmp_pd(a, b, _CMP_GT_OQ),
                    Cmp::Lg => _mm256_cmp_pd(a, b, _CMP_NEQ_OQ),
                    Cmp::Ge => _mm256_cmp_pd(a, b, _CMP_GE_OQ),
                    Cmp::O => _mm256_cmp_pd(a, b, _CMP_ORD_Q),
                }) as u16)
                    << (4 * i)
            };
            one(0) | one(1) | one(2) | one(3)
        }
    }
    #[inline(always)]
    unsafe fn i2d(a: Self::V) -> Self::D {
        // SAFETY: the trait's contract.
        unsafe {
            let two = |v: __m256i| {
                [
                    sd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(v))),
                    sd(_mm256_cvtepi32_pd(_mm256_extracti128_si256(v, 1))),
                ]
            };
            let (x, y) = (two(a[0]), two(a[1]));
            [x[0], x[1], y[0], y[1]]
        }
    }
    #[inline(always)]
    unsafe fn f2d(a: Self::V) -> Self::D {
        // SAFETY: the trait's contract.
        unsafe {
            let two = |v: __m256i| {
                [
                    sd(_mm256_cvtps_pd(_mm_castsi128_ps(_mm256_castsi256_si128(v)))),
                    sd(_mm256_cvtps_pd(_mm_castsi128_ps(_mm256_extracti128_si256(v, 1)))),
                ]
            };
            let (x, y) = (two(a[0]), two(a[1]));
            [x[0], x[1], y[0], y[1]]
        }
    }
    #[inline(always)]
    unsafe fn d2f(d: Self::D) -> Self::V {
        // SAFETY: the trait's contract.
        unsafe {
            let two = |a: __m256i, b: __m256i| {
                let lo = _mm_castps_si128(_mm256_cvtpd_ps(pd(a)));
                let hi = _mm_castps_si128(_mm256_cvtpd_ps(pd(b)));
                _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1)
            };
            [two(d[0], d[1]), two(d[2], d[3])]
        }
    }
    #[inline(always)]
    unsafe fn arr(v: Self::V) -> [u32; N] {
        // SAFETY: same size, any bits are valid.
        unsafe { std::mem::transmute(v) }
    }
    #[inline(always)]
    unsafe fn from_arr(a: [u32; N]) -> Self::V {
        // SAFETY: same size, any bits are valid.
        unsafe { std::mem::transmute(a) }
    }
    #[inline(always)]
    unsafe fn arr64(v: Self::D) -> [u64; N] {
        // SAFETY: same size, any bits are valid.
        unsafe { std::mem::transmute(v) }
    }
    #[inline(always)]
    unsafe fn from_arr64(a: [u64; N]) -> Self::D {
        // SAFETY: same size, any bits are valid.
        unsafe { std::mem::transmute(a) }
    }
}
