//! Vector loads and stores of bytes, halves and dwords.

use super::NONE;
use super::place::{Place, place};
use super::space::*;
use crate::lanes::{Avx2, Avx512, Backend, Lanes, Scalar};
use crate::shapes::{lanes16, trio};
use crate::uop::{FAULT, Handler, NEXT, Uop, at, rd64};
use crate::wave::Wave;

static IOTA4: [u32; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60];

/// How the active lanes of a chunk are addressed.
enum Pattern {
    /// Lane i is at the first lane's address plus 4 (i - first).
    Row,
    /// All at one address.
    One,
    /// Anything else.
    Mixed,
}

#[inline(always)]
unsafe fn pattern<L: Lanes>(u: &Uop, w: *mut Wave, i: usize, m: u16, pair: bool) -> Pattern {
    // SAFETY: the handler's contract.
    unsafe {
        let first = m.trailing_zeros() as usize;
        let p = at(w, u.a).add(16 * i);
        let lo0 = p.add(first).read();
        let diff = L::sub(L::load(p), L::splat(lo0));
        if pair {
            let q = p.add(64);
            if !L::eq(L::load(q), L::splat(q.add(first).read())) & m != 0 {
                return Pattern::Mixed;
            }
        }
        if !L::eq(diff, L::splat(0)) & m == 0 {
            return Pattern::One;
        }
        let row = L::sub(L::load(IOTA4.as_ptr()), L::splat(4 * first as u32));
        if !L::eq(diff, row) & m == 0 && lo0 <= u32::MAX - 64 {
            return Pattern::Row;
        }
        Pattern::Mixed
    }
}

/// Whether a chunk's lanes can be taken together; flat needs that no lane is in an aperture.
#[inline(always)]
unsafe fn together<const SPACE: u8>(u: &Uop, w: *mut Wave, lane: usize) -> bool {
    // SAFETY: the handler's contract.
    unsafe {
        match SPACE {
            GLOBAL | LDS => true,
            FLAT if u.c == NONE => !matches!(at(w, u.a).add(64 + lane).read(), 0x1_0000 | 0x2_0000),
            FLAT => rd64(w, u.c) >> 33 != 0x1_0000 >> 1 && rd64(w, u.c) >> 33 != 0x2_0000 >> 1,
            _ => false,
        }
    }
}

#[inline(always)]
unsafe fn load<L: Lanes, const SPACE: u8, const N: usize>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let exec = (*w).exec();
        // Bit 40: coherent. A load may not pass this wave's own earlier stores (engine-abi §15).
        if u.imm >> 40 & 1 != 0 && (*w).stored {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            (*w).stored = false;
        }
        for i in 0..4 {
            let m = lanes16(exec, i);
            if m == 0 {
                continue;
            }
            let first = 16 * i + m.trailing_zeros() as usize;
            let d = at(w, u.d).add(16 * i);
            if together::<SPACE>(u, w, first) {
                let pair = SPACE != LDS && u.c == NONE;
                match pattern::<L>(u, w, i, m, pair) {
                    Pattern::One => match place::<SPACE>(u, w, first as u32, 0, 4 * N as u64, false) {
                        Place::At(p) => {
                            for k in 0..N {
                                let x = p.cast::<u32>().add(k).read_unaligned();
                                L::store_mask(d.add(64 * k), L::splat(x), m);
                            }
                            continue;
                        }
                        Place::Fault => return FAULT,
                        Place::Nowhere => {}
                    },
                    Pattern::Row if N == 1 => {
                        let last = 15 - m.leading_zeros() as usize;
                        let span = 4 * (16 * i + last - first + 1) as u64;
                        if let Place::At(p) = place::<SPACE>(u, w, first as u32, 0, span, false) {
                            let p = p.cast::<u32>();
                            if m == 0xffff {
                                L::store(d, L::load(p));
                            } else {
                                for k in 0..=last + 16 * i - first {
                                    let lane = first - 16 * i + k;
                                    if m >> lane & 1 != 0 {
                                        d.add(lane).write(p.add(k).read_unaligned());
                                    }
                                }
                            }
                            continue;
                        }
                        (*w).fault = None;
                    }
                    _ => {}
                }
            }
            if !each::<SPACE, N>(u, w, m, i, false) {
                return FAULT;
            }
        }
        NEXT
    }
}

/// Lane by lane; false: fault.
#[inline(always)]
unsafe fn each<const SPACE: u8, const N: usize>(u: &Uop, w: *mut Wave, m: u16, i: usize, store: bool) -> bool {
    // SAFETY: the handler's contract.
    unsafe {
        let mut rest = m;
        while rest != 0 {
            let lane = 16 * i + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let d = at(w, u.d).add(lane);
            // One piece where memory is contiguous, else dword by dword.
            let pieces = if SPACE == GLOBAL || SPACE == LDS { 1 } else { N };
            let per = N / pieces;
            let mut ptrs = [std::ptr::null_mut::<u8>(); 4];
            for (k, ptr) in ptrs.iter_mut().enumerate().take(pieces) {
                match place::<SPACE>(u, w, lane as u32, 4 * k as u64, 4 * per as u64, store) {
                    Place::At(p) => *ptr = p,
                    Place::Nowhere => {}
                    Place::Fault => return false,
                }
            }
            let mut words = [0u32; 4];
            if store {
                for (k, x) in words.iter_mut().enumerate().take(N) {
                    *x = d.add(64 * k).read();
                }
                for (k, p) in ptrs.iter().enumerate().take(pieces) {
                    if !p.is_null() {
                        write_words(*p, &words[k * per..(k + 1) * per]);
                    }
                }
            } else {
                for (k, p) in ptrs.iter().enumerate().take(pieces) {
                    if !p.is_null() {
                        read_words(*p, &mut words[k * per..(k + 1) * per]);
                    }
                }
                for (k, x) in words.iter().enumerate().take(N) {
                    d.add(64 * k).write(*x);
                }
            }
        }
        true
    }
}

/// 4, 8 and 16 aligned bytes go whole: flags and data in one store stay together.
#[inline(always)]
unsafe fn write_words(p: *mut u8, x: &[u32]) {
    // SAFETY: the caller's: valid for the words.
    unsafe {
        match x {
            [a] => p.cast::<u32>().write_unaligned(*a),
            [a, b] => p.cast::<u64>().write_unaligned(u64::from(*a) | u64::from(*b) << 32),
            [a, b, c, d] => p
                .cast::<std::arch::x86_64::__m128i>()
                .write_unaligned(std::mem::transmute::<[u32; 4], std::arch::x86_64::__m128i>([*a, *b, *c, *d])),
            _ => {
                for (k, a) in x.iter().enumerate() {
                    p.cast::<u32>().add(k).write_unaligned(*a);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn read_words(p: *mut u8, x: &mut [u32]) {
    // SAFETY: the caller's: valid for the words.
    unsafe {
        match x {
            [a] => *a = p.cast::<u32>().read_unaligned(),
            [a, b] => {
                let v = p.cast::<u64>().read_unaligned();
                (*a, *b) = (v as u32, (v >> 32) as u32);
            }
            [a, b, c, d] => {
                let v = p.cast::<std::arch::x86_64::__m128i>().read_unaligned();
                [*a, *b, *c, *d] = std::mem::transmute::<std::arch::x86_64::__m128i, [u32; 4]>(v);
            }
            _ => {
                for (k, a) in x.iter_mut().enumerate() {
                    *a = p.cast::<u32>().add(k).read_unaligned();
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn store<L: Lanes, const SPACE: u8, const N: usize>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let exec = (*w).exec();
        (*w).stored = true;
        for i in 0..4 {
            let m = lanes16(exec, i);
            if m == 0 {
                continue;
            }
            if N == 1 && m == 0xffff && together::<SPACE>(u, w, 16 * i) {
                let pair = SPACE != LDS && u.c == NONE;
                if let Pattern::Row = pattern::<L>(u, w, i, m, pair) {
                    if let Place::At(p) = place::<SPACE>(u, w, 16 * i as u32, 0, 64, true) {
                        L::store(p.cast(), L::load(at(w, u.d).add(16 * i)));
                        continue;
                    }
                    (*w).fault = None;
                }
            }
            if !each::<SPACE, N>(u, w, m, i, true) {
                return FAULT;
            }
        }
        NEXT
    }
}

trio!(/// Loads `N` dwords a lane.
    load_h = load [] [SPACE: u8, N: usize]);
trio!(/// Stores `N` dwords a lane.
    store_h = store [] [SPACE: u8, N: usize]);

/// Kinds of sub-dword accesses (imm 47:44).
pub mod sub {
    /// Zero-extended byte.
    pub const U8: u64 = 0;
    /// Sign-extended byte.
    pub const I8: u64 = 1;
    /// Zero-extended half.
    pub const U16: u64 = 2;
    /// Sign-extended half.
    pub const I16: u64 = 3;
    /// Byte to the low half, zero-extended.
    pub const U8_D16: u64 = 4;
    /// Byte to the high half.
    pub const U8_D16_HI: u64 = 5;
    /// Byte to the low half, sign-extended.
    pub const I8_D16: u64 = 6;
    /// Byte to the high half.
    pub const I8_D16_HI: u64 = 7;
    /// Half to the low half.
    pub const U16_D16: u64 = 8;
    /// Half to the high half.
    pub const U16_D16_HI: u64 = 9;
}

/// Loads a byte or half a lane; kind in imm 47:44; bit 48: the other half of a D16 result is kept (no SRAM ECC).
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn load_sub<const SPACE: u8>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let exec = (*w).exec();
        let kind = u.imm >> 44 & 15;
        let bytes = if matches!(kind, sub::U16 | sub::I16 | sub::U16_D16 | sub::U16_D16_HI) { 2 } else { 1 };
        for lane in (0..64u32).filter(|l| exec >> l & 1 != 0) {
            let x = match place::<SPACE>(u, w, lane, 0, bytes, false) {
                Place::At(p) if bytes == 2 => u32::from(p.cast::<u16>().read_unaligned()),
                Place::At(p) => u32::from(p.read()),
                Place::Nowhere => 0,
                Place::Fault => return FAULT,
            };
            let d = at(w, u.d).add(lane as usize);
            let i8 = i32::from(x as u8 as i8).cast_unsigned();
            let i16 = i32::from(x as u16 as i16).cast_unsigned();
            let keep = u.imm >> 48 & 1 != 0;
            let low = |v: u32| v & 0xffff | if keep { d.read() & 0xffff_0000 } else { 0 };
            let high = |v: u32| v << 16 | if keep { d.read() & 0xffff } else { 0 };
            d.write(match kind {
                sub::I8 => i8,
                sub::I16 => i16,
                sub::U8_D16 | sub::U16_D16 => low(x),
                sub::I8_D16 => low(i8),
                sub::U8_D16_HI | sub::U16_D16_HI => high(x),
                sub::I8_D16_HI => high(i8),
                _ => x,
            });
        }
        NEXT
    }
}

/// Stores a byte (imm 44 clear) or half of a lane's dword; imm 45: of its upper half.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn store_sub<const SPACE: u8>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let exec = (*w).exec();
        (*w).stored = true;
        let half = u.imm >> 44 & 1 != 0;
        for lane in (0..64u32).filter(|l| exec >> l & 1 != 0) {
            let x = at(w, u.d).add(lane as usize).read() >> if u.imm >> 45 & 1 != 0 { 16 } else { 0 };
            match place::<SPACE>(u, w, lane, 0, if half { 2 } else { 1 }, true) {
                Place::At(p) if half => p.cast::<u16>().write_unaligned(x as u16),
                Place::At(p) => p.write(x as u8),
                Place::Nowhere => {}
                Place::Fault => return FAULT,
            }
        }
        NEXT
    }
}

/// The handler of a space that is known at lowering.
pub fn pick(space: u8, n: usize, store: bool, k: Backend) -> Handler {
    macro_rules! all {
        ($($s:ident)*) => {
            match (space, n, store) {
                $(
                    ($s, 1, false) => load_h::<$s, 1>(k),
                    ($s, 2, false) => load_h::<$s, 2>(k),
                    ($s, 3, false) => load_h::<$s, 3>(k),
                    ($s, _, false) => load_h::<$s, 4>(k),
                    ($s, 1, true) => store_h::<$s, 1>(k),
                    ($s, 2, true) => store_h::<$s, 2>(k),
                    ($s, 3, true) => store_h::<$s, 3>(k),
                    ($s, _, true) => store_h::<$s, 4>(k),
                )*
                _ => crate::salu::nop,
            }
        };
    }
    all!(GLOBAL FLAT SCRATCH LDS BUFFER)
}

/// The same for sub-dword accesses.
pub fn pick_sub(space: u8, store: bool) -> Handler {
    match (space, store) {
        (GLOBAL, false) => load_sub::<GLOBAL>,
        (FLAT, false) => load_sub::<FLAT>,
        (SCRATCH, false) => load_sub::<SCRATCH>,
        (LDS, false) => load_sub::<LDS>,
        (_, false) => load_sub::<BUFFER>,
        (GLOBAL, true) => store_sub::<GLOBAL>,
        (FLAT, true) => store_sub::<FLAT>,
        (SCRATCH, true) => store_sub::<SCRATCH>,
        (LDS, true) => store_sub::<LDS>,
        (_, true) => store_sub::<BUFFER>,
    }
}
