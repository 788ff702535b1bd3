//! The shapes of vector micro-ops: how operands are fetched and results stored under EXEC. What an operation means is
//! an implementation of one of the traits here (`ops/`).

use crate::lanes::{Avx2, Avx512, Backend, Lanes, Scalar};
use crate::uop::{Handler, NEXT, RUN, Uop, at, rd, rd64, wr64};
use crate::wave::Wave;

/// One 32-bit source.
pub trait Un: 'static {
    /// The meaning.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn f<L: Lanes>(a: L::V) -> L::V;
}
/// Two 32-bit sources.
pub trait Bin: 'static {
    /// The meaning.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn f<L: Lanes>(a: L::V, b: L::V) -> L::V;
}
/// Three 32-bit sources.
pub trait Tri: 'static {
    /// The meaning.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn f<L: Lanes>(a: L::V, b: L::V, c: L::V) -> L::V;
}
/// A comparison of two 32-bit sources.
pub trait Test: 'static {
    /// The meaning.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn f<L: Lanes>(a: L::V, b: L::V) -> u16;
}
/// Up to three sources and a result of 32 or 64 bits each; 32-bit sources arrive zero-extended.
pub trait Wide: 'static {
    /// Bits of each source (0: absent) and of the result.
    const A: u8;
    /// Second source.
    const B: u8;
    /// Third source.
    const C: u8;
    /// Result.
    const D: u8;
    /// The meaning.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn f<L: Lanes>(a: L::D, b: L::D, c: L::D) -> L::D;
}
/// A comparison whose first source has `A` bits and whose second has `B`.
pub trait Test64: 'static {
    /// Bits of the first source.
    const A: u8;
    /// Bits of the second source.
    const B: u8;
    /// The meaning.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn f<L: Lanes>(a: L::D, b: L::D) -> u16;
}
/// Two 32-bit sources and a carry mask in; a result and a carry mask out.
pub trait Carry: 'static {
    /// The meaning.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn f<L: Lanes>(a: L::V, b: L::V, carry: u16) -> (L::V, u16);
}

#[inline(always)]
unsafe fn src<L: Lanes, const S: bool>(w: *mut Wave, off: u32, i: usize) -> L::V {
    // SAFETY: the handler's contract.
    unsafe {
        let p = at(w, off);
        if S { L::splat(*p) } else { L::load(p.add(16 * i)) }
    }
}

/// A source of `BITS` bits as 64-bit lanes. Offsets below the planes are scalars.
#[inline(always)]
pub(crate) unsafe fn wide_src<L: Lanes, const BITS: u8>(w: *mut Wave, off: u32, i: usize) -> L::D {
    // SAFETY: the handler's contract.
    unsafe {
        let scalar = (off as usize) < size_of::<Wave>();
        match BITS {
            0 => L::splat64(0),
            32 if scalar => L::splat64(u64::from(rd(w, off))),
            32 => L::zip(L::load(at(w, off).add(16 * i)), L::splat(0)),
            _ if scalar => L::splat64(rd64(w, off)),
            _ => L::zip(L::load(at(w, off).add(16 * i)), L::load(at(w, off).add(64 + 16 * i))),
        }
    }
}

#[inline(always)]
pub(crate) fn lanes16(m: u64, i: usize) -> u16 {
    (m >> (16 * i)) as u16
}

#[inline(always)]
unsafe fn un<O: Un, L: Lanes, const SA: bool>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let exec = (*w).exec();
        for i in 0..4 {
            let r = O::f::<L>(src::<L, SA>(w, u.a, i));
            L::store_mask(at(w, u.d).add(16 * i), r, lanes16(exec, i));
        }
        NEXT
    }
}

#[inline(always)]
unsafe fn bin<O: Bin, L: Lanes, const SA: bool, const SB: bool>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let exec = (*w).exec();
        for i in 0..4 {
            let r = O::f::<L>(src::<L, SA>(w, u.a, i), src::<L, SB>(w, u.b, i));
            L::store_mask(at(w, u.d).add(16 * i), r, lanes16(exec, i));
        }
        NEXT
    }
}

/// Does as many micro-ops of the same handler in a row as `imm` says, besides the first.
#[inline(always)]
unsafe fn tri<O: Tri, L: Lanes, const SA: bool, const SB: bool, const SC: bool>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let exec = (*w).exec();
        let more = (*u).imm as usize;
        for k in 0..=more {
            let [d, a, b, c] = Uop::offsets(u.add(k));
            for i in 0..4 {
                let r = O::f::<L>(src::<L, SA>(w, a, i), src::<L, SB>(w, b, i), src::<L, SC>(w, c, i));
                L::store_mask(at(w, d).add(16 * i), r, lanes16(exec, i));
            }
        }
        if more == 0 { NEXT } else { RUN + more as u32 }
    }
}

/// Writes a 64-bit mask to the scalar pair `d`; bits of inactive lanes are 0. `X`: EXEC gets it too.
#[inline(always)]
unsafe fn test<O: Test, L: Lanes, const SA: bool, const SB: bool, const X: bool>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let mut m = 0;
        for i in 0..4 {
            m |= u64::from(O::f::<L>(src::<L, SA>(w, u.a, i), src::<L, SB>(w, u.b, i))) << (16 * i);
        }
        finish_test::<X>(w, u, m)
    }
}

#[inline(always)]
unsafe fn finish_test<const X: bool>(w: *mut Wave, u: &Uop, m: u64) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let m = m & (*w).exec();
        // Bit 0 of imm: wave32, the destination is one dword. Bit 1: EXEC alone gets the mask (gfx10 on).
        if u.imm & 2 == 0 {
            if u.imm & 1 != 0 { crate::uop::wr(w, u.d, m as u32) } else { wr64(w, u.d, m) }
        }
        if X {
            (*w).set_exec(m);
        }
        NEXT
    }
}

#[inline(always)]
unsafe fn test64<O: Test64, L: Lanes, const A: u8, const B: u8, const X: bool>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let mut m = 0;
        for i in 0..4 {
            m |= u64::from(O::f::<L>(wide_src::<L, A>(w, u.a, i), wide_src::<L, B>(w, u.b, i))) << (16 * i);
        }
        finish_test::<X>(w, u, m)
    }
}

#[inline(always)]
unsafe fn wide<O: Wide, L: Lanes, const A: u8, const B: u8, const C: u8>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let exec = (*w).exec();
        // All of the sources are read before the destination is written: they may overlap by one plane.
        for i in 0..4 {
            let r = O::f::<L>(wide_src::<L, A>(w, u.a, i), wide_src::<L, B>(w, u.b, i), wide_src::<L, C>(w, u.c, i));
            let (lo, hi) = L::unzip(r);
            let m = lanes16(exec, i);
            L::store_mask(at(w, u.d).add(16 * i), lo, m);
            if O::D == 64 {
                L::store_mask(at(w, u.d).add(64 + 16 * i), hi, m);
            }
        }
        NEXT
    }
}

/// `d = (a << n) + c` in 64 bits, n the scalar `b` (counts above 4 shift everything out). Halves are added with a
/// carry: quicker than putting the planes' dwords together.
#[inline(always)]
unsafe fn shift_add<L: Lanes, const SA: bool, const SC: bool>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let exec = (*w).exec();
        let n = rd(w, u.b) & 7;
        let upper = |off: u32, scalar: bool| off + if scalar { 4 } else { 256 };
        for i in 0..4 {
            let (mut lo, mut hi) = (src::<L, SA>(w, u.a, i), src::<L, SA>(w, upper(u.a, SA), i));
            if n > 4 {
                (lo, hi) = (L::splat(0), L::splat(0));
            } else if n != 0 {
                hi = L::or(L::shl(hi, L::splat(n)), L::shr(lo, L::splat(32 - n)));
                lo = L::shl(lo, L::splat(n));
            }
            let (clo, chi) = (src::<L, SC>(w, u.c, i), src::<L, SC>(w, upper(u.c, SC), i));
            let sum = L::add(lo, clo);
            let carry = L::select(L::lt_u(sum, clo), L::splat(1), L::splat(0));
            let m = lanes16(exec, i);
            L::store_mask(at(w, u.d).add(16 * i), sum, m);
            L::store_mask(at(w, u.d).add(64 + 16 * i), L::add(L::add(hi, chi), carry), m);
        }
        NEXT
    }
}

/// `c`: scalar pair of the carry in; low half of `imm`: scalar pair of the carry out (0xffff_ffff: none); bit 32 of
/// `imm`: wave32, masks are one dword. Offsets of sources below the planes are scalars.
#[inline(always)]
unsafe fn carry<O: Carry, L: Lanes>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let exec = (*w).exec();
        let cin = rd64(w, u.c);
        let mut out = 0;
        let any = |off: u32, i: usize| {
            if (off as usize) < size_of::<Wave>() { src::<L, true>(w, off, i) } else { src::<L, false>(w, off, i) }
        };
        for i in 0..4 {
            let (r, m) = O::f::<L>(any(u.a, i), any(u.b, i), lanes16(cin, i));
            L::store_mask(at(w, u.d).add(16 * i), r, lanes16(exec, i));
            out |= u64::from(m) << (16 * i);
        }
        let d = u.imm as u32;
        if d != u32::MAX {
            let m = out & exec;
            if u.imm >> 32 & 1 != 0 { crate::uop::wr(w, d, m as u32) } else { wr64(w, d, m) }
        }
        NEXT
    }
}

/// `d = mask ? b : a`, the mask in scalar pair `c`.
#[inline(always)]
unsafe fn choose<L: Lanes, const SA: bool, const SB: bool>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let exec = (*w).exec();
        let m = rd64(w, u.c);
        for i in 0..4 {
            let r = L::select(lanes16(m, i), src::<L, SB>(w, u.b, i), src::<L, SA>(w, u.a, i));
            L::store_mask(at(w, u.d).add(16 * i), r, lanes16(exec, i));
        }
        NEXT
    }
}

/// Makes `pub fn $pick<…>(backend) -> Handler` out of a generic body `$body::<types…, L, consts…>`.
macro_rules! trio {
    ($(#[$doc:meta])* $pick:ident = $body:ident [$($g:ident: $bound:path),*] [$($c:ident: $ct:ty),*]) => {
        $(#[$doc])*
        pub fn $pick<$($g: $bound,)* $(const $c: $ct),*>(backend: Backend) -> Handler {
            unsafe fn x1<$($g: $bound,)* $(const $c: $ct),*>(u: *const Uop, w: *mut Wave) -> u32 {
                // SAFETY: the handler's contract.
                unsafe { $body::<$($g,)* Scalar, $($c),*>(u, w) }
            }
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn x8<$($g: $bound,)* $(const $c: $ct),*>(u: *const Uop, w: *mut Wave) -> u32 {
                // SAFETY: the handler's contract.
                unsafe { $body::<$($g,)* Avx2, $($c),*>(u, w) }
            }
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn x16<$($g: $bound,)* $(const $c: $ct),*>(u: *const Uop, w: *mut Wave) -> u32 {
                // SAFETY: the handler's contract.
                unsafe { $body::<$($g,)* Avx512, $($c),*>(u, w) }
            }
            match backend {
                Backend::Scalar => x1::<$($g,)* $($c),*>,
                Backend::Avx2 => x8::<$($g,)* $($c),*>,
                Backend::Avx512 => x16::<$($g,)* $($c),*>,
            }
        }
    };
}
#[allow(unused_imports)]
pub(crate) use trio;

trio!(/// Handler of a one-source operation.
    un_h = un [O: Un] [SA: bool]);
trio!(/// Handler of a two-source operation.
    bin_h = bin [O: Bin] [SA: bool, SB: bool]);
trio!(/// Handler of a three-source operation.
    tri_h = tri [O: Tri] [SA: bool, SB: bool, SC: bool]);
trio!(/// Handler of a comparison.
    test_h = test [O: Test] [SA: bool, SB: bool, X: bool]);
trio!(/// Handler of a 64-bit comparison.
    test64_h = test64 [O: Test64] [A: u8, B: u8, X: bool]);
trio!(/// Handler of an operation with 64-bit parts.
    wide_h = wide [O: Wide] [A: u8, B: u8, C: u8]);
trio!(/// Handler of an addition or subtraction with carry.
    carry_h = carry [O: Carry] []);
trio!(/// Handler of a select by mask.
    choose_h = choose [] [SA: bool, SB: bool]);
trio!(/// Handler of a 64-bit shift by a scalar and addition.
    shift_add_h = shift_add [] [SA: bool, SC: bool]);
