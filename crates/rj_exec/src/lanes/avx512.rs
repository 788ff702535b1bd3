//! The 512-bit instance.

use super::{Cmp, Lanes, N, Round};
use std::arch::x86_64::*;

/// AVX-512 F, BW, DQ, VL.
#[derive(Clone, Copy, Debug)]
pub struct Avx512;

#[inline(always)]
unsafe fn ps(v: __m512i) -> __m512 {
    // SAFETY: the trait's contract: the features are enabled where this is inlined.
    unsafe { _mm512_castsi512_ps(v) }
}
#[inline(always)]
unsafe fn si(v: __m512) -> __m512i {
    // SAFETY: as `ps`.
    unsafe { _mm512_castps_si512(v) }
}
#[inline(always)]
unsafe fn pd(v: __m512i) -> __m512d {
    // SAFETY: as `ps`.
    unsafe { _mm512_castsi512_pd(v) }
}
#[inline(always)]
unsafe fn sd(v: __m512d) -> __m512i {
    // SAFETY: as `ps`.
    unsafe { _mm512_castpd_si512(v) }
}

macro_rules! v2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name($a: __m512i, $b: __m512i) -> __m512i {
            // SAFETY: the trait's contract.
            unsafe { $e }
        }
    )*};
}
macro_rules! m2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name($a: __m512i, $b: __m512i) -> u16 {
            // SAFETY: the trait's contract.
            unsafe { $e }
        }
    )*};
}
macro_rules! d2 {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(x: [__m512i; 2], y: [__m512i; 2]) -> [__m512i; 2] {
            // SAFETY: the trait's contract.
            unsafe { [{ let ($a, $b) = (x[0], y[0]); $e }, { let ($a, $b) = (x[1], y[1]); $e }] }
        }
    )*};
}

impl Lanes for Avx512 {
    type V = __m512i;
    /// Lanes 0–7, lanes 8–15.
    type D = [__m512i; 2];

    #[inline(always)]
    unsafe fn load(p: *const u32) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }
    #[inline(always)]
    unsafe fn store(p: *mut u32, v: __m512i) {
        // SAFETY: the trait's contract.
        unsafe { _mm512_storeu_si512(p.cast(), v) }
    }
    #[inline(always)]
    unsafe fn store_mask(p: *mut u32, v: __m512i, m: u16) {
        // SAFETY: the trait's contract.
        unsafe { _mm512_mask_storeu_epi32(p.cast(), m, v) }
    }
    #[inline(always)]
    unsafe fn load_part(p: *const u32, m: u16) -> __m512i {
        // SAFETY: the trait's contract; lanes that are masked out are not touched.
        unsafe { _mm512_maskz_loadu_epi32(m, p.cast()) }
    }
    #[inline(always)]
    unsafe fn store_part(p: *mut u32, v: __m512i, m: u16) {
        // SAFETY: as `load_part`.
        unsafe { _mm512_mask_storeu_epi32(p.cast(), m, v) }
    }
    #[inline(always)]
    unsafe fn load64(p: *const u64) -> [__m512i; 2] {
        // SAFETY: the trait's contract.
        unsafe { [_mm512_loadu_si512(p.cast()), _mm512_loadu_si512(p.add(8).cast())] }
    }
    #[inline(always)]
    unsafe fn store64(p: *mut u64, d: [__m512i; 2]) {
        // SAFETY: the trait's contract.
        unsafe {
            _mm512_storeu_si512(p.cast(), d[0]);
            _mm512_storeu_si512(p.add(8).cast(), d[1]);
        }
    }
    #[inline(always)]
    unsafe fn splat(x: u32) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { _mm512_set1_epi32(x.cast_signed()) }
    }
    #[inline(always)]
    unsafe fn select(m: u16, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { _mm512_mask_blend_epi32(m, b, a) }
    }
    v2! {
        add |a, b| _mm512_add_epi32(a, b);
        sub |a, b| _mm512_sub_epi32(a, b);
        mul |a, b| _mm512_mullo_epi32(a, b);
        mulhi_u |a, b| {
            let even = _mm512_srli_epi64(_mm512_mul_epu32(a, b), 32);
            let odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
            _mm512_mask_blend_epi32(0xaaaa, even, odd)
        };
        and |a, b| _mm512_and_si512(a, b);
        or |a, b| _mm512_or_si512(a, b);
        xor |a, b| _mm512_xor_si512(a, b);
        shl |a, b| _mm512_sllv_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31)));
        shr |a, b| _mm512_srlv_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31)));
        sar |a, b| _mm512_srav_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31)));
        min_i |a, b| _mm512_min_epi32(a, b);
        max_i |a, b| _mm512_max_epi32(a, b);
        min_u |a, b| _mm512_min_epu32(a, b);
        max_u |a, b| _mm512_max_epu32(a, b);
        addf |a, b| si(_mm512_add_ps(ps(a), ps(b)));
        subf |a, b| si(_mm512_sub_ps(ps(a), ps(b)));
        mulf |a, b| si(_mm512_mul_ps(ps(a), ps(b)));
        divf |a, b| si(_mm512_div_ps(ps(a), ps(b)));
    }
    m2! {
        eq |a, b| _mm512_cmpeq_epi32_mask(a, b);
        lt_i |a, b| _mm512_cmplt_epi32_mask(a, b);
        lt_u |a, b| _mm512_cmplt_epu32_mask(a, b);
    }
    #[inline(always)]
    unsafe fn sqrtf(a: __m512i) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { si(_mm512_sqrt_ps(ps(a))) }
    }
    #[inline(always)]
    unsafe fn fmaf(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { si(_mm512_fmadd_ps(ps(a), ps(b), ps(c))) }
    }
    #[inline(always)]
    unsafe fn roundf(a: __m512i, r: Round) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe {
            let a = ps(a);
            si(match r {
                Round::Nearest => _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                Round::Floor => _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
                Round::Ceil => _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC),
                Round::Trunc => _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC),
            })
        }
    }
    #[inline(always)]
    unsafe fn cmpf(a: __m512i, b: __m512i, c: Cmp) -> u16 {
        // SAFETY: the trait's contract.
        unsafe {
            let (a, b) = (ps(a), ps(b));
            match c {
                Cmp::Lt => _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ),
                Cmp::Eq => _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ),
                Cmp::Le => _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ),
                Cmp::Gt => _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ),
                Cmp::Lg => _mm512_cmp_ps_mask(a, b, _CMP_NEQ_OQ),
                Cmp::Ge => _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ),
                Cmp::O => _mm512_cmp_ps_mask(a, b, _CMP_ORD_Q),
            }
        }
    }
    #[inline(always)]
    unsafe fn i2f(a: __m512i) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { si(_mm512_cvtepi32_ps(a)) }
    }
    #[inline(always)]
    unsafe fn f2i_raw(a: __m512i) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { _mm512_cvttps_epi32(ps(a)) }
    }

    #[inline(always)]
    unsafe fn h2f(a: __m512i) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { si(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(a))) }
    }
    #[inline(always)]
    unsafe fn f2h(a: __m512i) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { _mm512_cvtepu16_epi32(_mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(ps(a))) }
    }
    #[inline(always)]
    unsafe fn zip(lo: __m512i, hi: __m512i) -> [__m512i; 2] {
        // SAFETY: the trait's contract.
        unsafe {
            let i0 = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let i1 = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            [_mm512_permutex2var_epi32(lo, i0, hi), _mm512_permutex2var_epi32(lo, i1, hi)]
        }
    }
    #[inline(always)]
    unsafe fn unzip(d: [__m512i; 2]) -> (__m512i, __m512i) {
        // SAFETY: the trait's contract.
        unsafe {
            let lo = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let hi = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (_mm512_permutex2var_epi32(d[0], lo, d[1]), _mm512_permutex2var_epi32(d[0], hi, d[1]))
        }
    }
    #[inline(always)]
    unsafe fn splat64(x: u64) -> [__m512i; 2] {
        // SAFETY: the trait's contract.
        unsafe { [_mm512_set1_epi64(x.cast_signed()); 2] }
    }
    #[inline(always)]
    unsafe fn select64(m: u16, a: [__m512i; 2], b: [__m512i; 2]) -> [__m512i; 2] {
        // SAFETY: the trait's contract.
        unsafe { [_mm512_mask_blend_epi64(m as u8, b[0], a[0]), _mm512_mask_blend_epi64((m >> 8) as u8, b[1], a[1])] }
    }
    d2! {
        add64 |a, b| _mm512_add_epi64(a, b);
        sub64 |a, b| _mm512_sub_epi64(a, b);
        mul_lo_wide |a, b| _mm512_mul_epu32(a, b);
        mul_lo_wide_i |a, b| _mm512_mul_epi32(a, b);
        shl64 |a, n| _mm512_sllv_epi64(a, n);
        shr64 |a, n| _mm512_srlv_epi64(a, n);
        addd |a, b| sd(_mm512_add_pd(pd(a), pd(b)));
        muld |a, b| sd(_mm512_mul_pd(pd(a), pd(b)));
    }
    #[inline(always)]
    unsafe fn fmad(a: [__m512i; 2], b: [__m512i; 2], c: [__m512i; 2]) -> [__m512i; 2] {
        // SAFETY: the trait's contract.
        unsafe {
            [sd(_mm512_fmadd_pd(pd(a[0]), pd(b[0]), pd(c[0]))), sd(_mm512_fmadd_pd(pd(a[1]), pd(b[1]), pd(c[1])))]
        }
    }
    #[inline(always)]
    unsafe fn cmpd(x: [__m512i; 2], y: [__m512i; 2], c: Cmp) -> u16 {
        // SAFETY: the trait's contract.
        unsafe {
            let one = |a: __m512d, b: __m512d| match c {
                Cmp::Lt => _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ),
                Cmp::Eq => _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ),
                Cmp::Le => _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ),
                Cmp::Gt => _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ),
                Cmp::Lg => _mm512_cmp_pd_mask(a, b, _CMP_NEQ_OQ),
                Cmp::Ge => _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ),
                Cmp::O => _mm512_cmp_pd_mask(a, b, _CMP_ORD_Q),
            };
            u16::from(one(pd(x[0]), pd(y[0]))) | u16::from(one(pd(x[1]), pd(y[1]))) << 8
        }
    }
    #[inline(always)]
    unsafe fn i2d(a: __m512i) -> [__m512i; 2] {
        // SAFETY: the trait's contract.
        unsafe {
            [sd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(a))), sd(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(a, 1)))]
        }
    }
    #[inline(always)]
    unsafe fn f2d(a: __m512i) -> [__m512i; 2] {
        // SAFETY: the trait's contract.
        unsafe {
            let hi = _mm512_extracti64x4_epi64(a, 1);
            [
                sd(_mm512_cvtps_pd(_mm256_castsi256_ps(_mm512_castsi512_si256(a)))),
                sd(_mm512_cvtps_pd(_mm256_castsi256_ps(hi))),
            ]
        }
    }
    #[inline(always)]
    unsafe fn d2f(a: [__m512i; 2]) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe {
            let lo = _mm256_castps_si256(_mm512_cvtpd_ps(pd(a[0])));
            let hi = _mm256_castps_si256(_mm512_cvtpd_ps(pd(a[1])));
            _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1)
        }
    }
    #[inline(always)]
    unsafe fn arr(v: __m512i) -> [u32; N] {
        // SAFETY: same size, any bits are valid.
        unsafe { std::mem::transmute(v) }
    }
    #[inline(always)]
    unsafe fn from_arr(a: [u32; N]) -> __m512i {
        // SAFETY: same size, any bits are valid.
        unsafe { std::mem::transmute(a) }
    }
    #[inline(always)]
    unsafe fn arr64(v: [__m512i; 2]) -> [u64; N] {
        // SAFETY: same size, any bits are valid.
        unsafe { std::mem::transmute(v) }
    }
    #[inline(always)]
    unsafe fn from_arr64(a: [u64; N]) -> [__m512i; 2] {
        // SAFETY: same size, any bits are valid.
        unsafe { std::mem::transmute(a) }
    }
}
