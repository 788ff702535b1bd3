//! Moving a lane's dwords whole: 4, 8 and 16 aligned bytes go at once, so that data and a flag beside it stay together.

use std::arch::x86_64::*;

/// A lane's dwords.
pub(super) trait Words: Sized {
    /// # Safety
    /// `p` must be valid for the dwords.
    unsafe fn read(p: *const u8) -> Self;
    /// # Safety
    /// As for `read`.
    unsafe fn write(self, p: *mut u8);
}

impl<const N: usize> Words for [u32; N] {
    #[inline(always)]
    unsafe fn read(p: *const u8) -> Self {
        let mut x = [0; N];
        // SAFETY: the caller's.
        unsafe {
            match N {
                1 => x[0] = p.cast::<u32>().read_unaligned(),
                2 => {
                    let v = p.cast::<u64>().read_unaligned();
                    (x[0], x[1]) = (v as u32, (v >> 32) as u32);
                }
                4 => _mm_storeu_si128(x.as_mut_ptr().cast(), _mm_loadu_si128(p.cast())),
                _ => {
                    for (k, x) in x.iter_mut().enumerate() {
                        *x = p.cast::<u32>().add(k).read_unaligned();
                    }
                }
            }
        }
        x
    }
    #[inline(always)]
    unsafe fn write(self, p: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            match N {
                1 => p.cast::<u32>().write_unaligned(self[0]),
                2 => p.cast::<u64>().write_unaligned(u64::from(self[0]) | u64::from(self[1]) << 32),
                4 => _mm_storeu_si128(p.cast(), _mm_loadu_si128(self.as_ptr().cast())),
                _ => {
                    for (k, x) in self.into_iter().enumerate() {
                        p.cast::<u32>().add(k).write_unaligned(x);
                    }
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn transpose(r: [__m128i; 4]) -> [__m128i; 4] {
    // SAFETY: SSE2 is there on every x86-64.
    unsafe {
        let (a, b) = (_mm_unpacklo_epi32(r[0], r[1]), _mm_unpacklo_epi32(r[2], r[3]));
        let (c, d) = (_mm_unpackhi_epi32(r[0], r[1]), _mm_unpackhi_epi32(r[2], r[3]));
        [_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b), _mm_unpacklo_epi64(c, d), _mm_unpackhi_epi64(c, d)]
    }
}

/// `N` (2 or 4) dwords of four neighbouring lanes into the planes at `d`, the highest lane first.
///
/// # Safety
/// The pointers must be valid for the dwords, the planes for four lanes.
#[inline(always)]
pub(super) unsafe fn load_four<const N: usize>(p: [*mut u8; 4], d: *mut u32) {
    // SAFETY: the caller's.
    unsafe {
        let mut r = [_mm_setzero_si128(); 4];
        for l in [3, 2, 1, 0] {
            r[l] = if N == 4 { _mm_loadu_si128(p[l].cast()) } else { _mm_loadl_epi64(p[l].cast()) };
        }
        let t = transpose(r);
        for (k, x) in t.into_iter().enumerate().take(N) {
            _mm_storeu_si128(d.add(64 * k).cast(), x);
        }
    }
}

/// The other way round, the lowest lane first.
///
/// # Safety
/// As for [`load_four`].
#[inline(always)]
pub(super) unsafe fn store_four<const N: usize>(p: [*mut u8; 4], d: *const u32) {
    // SAFETY: the caller's.
    unsafe {
        let mut r = [_mm_setzero_si128(); 4];
        for (k, r) in r.iter_mut().enumerate().take(N) {
            *r = _mm_loadu_si128(d.add(64 * k).cast());
        }
        for (p, x) in p.into_iter().zip(transpose(r)) {
            if N == 4 {
                _mm_storeu_si128(p.cast(), x);
            } else {
                _mm_storel_epi64(p.cast(), x);
            }
        }
    }
}
