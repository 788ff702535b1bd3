//! Vector loads and stores of dwords: a vector at a time where addresses run in step, else lane by lane.

use super::NONE;
use super::place::{Buffer, Common, Place, address, common, global, parts, place};
use super::space::*;
use super::words::{Words, load_four, store_four};
use crate::lanes::{Avx2, Avx512, Backend, Lanes, Scalar};
use crate::shapes::{lanes16, trio};
use crate::uop::{FAULT, Handler, NEXT, Uop, at};
use crate::wave::Wave;
use std::sync::atomic::{Ordering, fence};

/// Byte distances of lanes that are `N` dwords apart.
static STEPS: [[u32; 16]; 5] = {
    let mut t = [[0; 16]; 5];
    let mut n = 0;
    while n < 5 {
        let mut i = 0;
        while i < 16 {
            t[n][i] = (4 * n * i) as u32;
            i += 1;
        }
        n += 1;
    }
    t
};

/// How the active lanes of a chunk are addressed.
enum Pattern {
    /// Lane i is at the first active lane's address plus 4 N (i - first).
    Row,
    /// All at one address.
    One,
    /// Anything else.
    Mixed,
}

/// The pattern of 16 lanes of the address plane `a`; `pair`: upper halves follow in the next plane.
#[inline(always)]
unsafe fn pattern<L: Lanes, const N: usize>(w: *mut Wave, a: u32, i: usize, m: u16, pair: bool) -> Pattern {
    // SAFETY: the handler's contract.
    unsafe {
        let first = m.trailing_zeros() as usize;
        let p = at(w, a).add(16 * i);
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
        let row = L::sub(L::load(STEPS[N].as_ptr()), L::splat((4 * N * first) as u32));
        // Not across the ends of signed or unsigned offsets.
        if !L::eq(diff, row) & m == 0 && (lo0 ^ lo0.wrapping_add(64 * N as u32)) >> 31 == 0 {
            return Pattern::Row;
        }
        Pattern::Mixed
    }
}

/// The pattern of a chunk in a space where lanes can be taken together.
#[inline(always)]
unsafe fn look<L: Lanes, const SPACE: u8, const N: usize>(
    u: &Uop,
    w: *mut Wave,
    c: &Common,
    i: usize,
    m: u16,
) -> Pattern {
    // SAFETY: the handler's contract.
    unsafe {
        match SPACE {
            LDS => pattern::<L, N>(w, u.a, i, m, false),
            GLOBAL | FLAT => {
                let p = pattern::<L, N>(w, u.a, i, m, u.c == NONE);
                if u.imm >> 59 > 1 && matches!(p, Pattern::Row) {
                    return Pattern::Mixed;
                }
                if SPACE == FLAT && !matches!(p, Pattern::Mixed) {
                    // No lane may be in an aperture: lanes of a pattern are less than 2 GiB apart.
                    let va = address(u, w, c, 16 * i + m.trailing_zeros() as usize);
                    if matches!(va >> 32, 0xffff..=0x2_0001) || va >> 58 != 0 {
                        return Pattern::Mixed;
                    }
                }
                p
            }
            BUFFER if c.buffer == Buffer::Linear => match (u.imm >> 32 & 1 != 0, u.imm >> 33 & 1 != 0) {
                (false, _) => Pattern::One,
                (true, false) => pattern::<L, N>(w, u.a, i, m, false),
                (true, true) => Pattern::Mixed,
            },
            _ => Pattern::Mixed,
        }
    }
}

/// If all active lanes use one aligned offset of private memory: where lane 0's first dword is. The dwords of all
/// lanes lie side by side, those of the next offset after them.
#[inline(always)]
unsafe fn private_row<L: Lanes, const SPACE: u8, const N: usize>(
    u: &Uop,
    w: *mut Wave,
    c: &Common,
    exec: u64,
    write: bool,
) -> Option<*mut u32> {
    // SAFETY: the handler's contract.
    unsafe {
        let lanes = u64::from((*w).lanes);
        let first = exec.trailing_zeros();
        let uniform = |a: u32| {
            let x = L::splat(at(w, a).add(first as usize).read());
            (0..4).all(
                #[inline(always)]
                |i| {
                    let m = lanes16(exec, i);
                    !L::eq(L::load(at(w, a).add(16 * i)), x) & m == 0
                },
            )
        };
        let start = match (SPACE, c.buffer) {
            (SCRATCH, _) => {
                if exec == 0 || u.a != 0 && !uniform(u.a) {
                    return None;
                }
                let v = if u.a == 0 { 0 } else { i64::from(at(w, u.a).add(first as usize).read().cast_signed()) };
                let off = c.base.wrapping_add(v.cast_unsigned().wrapping_mul((u.imm >> 59).max(1))) & 0xffff_ffff;
                let size = (*w).scratch_len / lanes;
                if off % 4 != 0 || off >= size || 4 * N as u64 > size - off {
                    return None;
                }
                (*w).scratch + off * lanes
            }
            (BUFFER, Buffer::Swizzled { stride: 0, element: 2, group: 6, tid: true }) if lanes == 64 => {
                let (offen, idxen) = (u.imm >> 32 & 1 != 0, u.imm >> 33 & 1 != 0);
                if exec == 0 || idxen || offen && !uniform(u.a) {
                    return None;
                }
                let v = if offen { u64::from(at(w, u.a).add(first as usize).read()) } else { 0 };
                let off = u64::from(u.imm as u32) + v;
                if off % 4 != 0 {
                    return None;
                }
                c.base.wrapping_add(off * 64)
            }
            _ => return None,
        };
        match global(w, start, 4 * N as u64 * lanes, write, first) {
            Place::At(p) => Some(p.cast()),
            Place::Fault => {
                (*w).fault = None;
                None
            }
            _ => None,
        }
    }
}

/// A load may not pass this wave's own earlier stores (imm bit 40; engine-abi §15).
#[inline(always)]
pub(super) unsafe fn order(u: &Uop, w: *mut Wave) {
    // SAFETY: the handler's contract.
    unsafe {
        if u.imm >> 40 & 1 != 0 && (*w).stored {
            fence(Ordering::SeqCst);
            (*w).stored = false;
        }
    }
}

#[inline(always)]
unsafe fn load<L: Lanes, const SPACE: u8, const N: usize>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let exec = (*w).exec();
        if SPACE != LDS && SPACE != SCRATCH {
            order(u, w);
        }
        let c = &common::<SPACE>(u, w);
        if (SPACE == SCRATCH || SPACE == BUFFER)
            && let Some(p) = private_row::<L, SPACE, N>(u, w, c, exec, false)
        {
            for i in 0..(*w).lanes as usize / 16 {
                for k in 0..N {
                    let x = L::load(p.add(k * (*w).lanes as usize + 16 * i));
                    L::store_mask(at(w, u.d).add(64 * k + 16 * i), x, lanes16(exec, i));
                }
            }
            return NEXT;
        }
        if N == 1
            && (SPACE == GLOBAL || SPACE == LDS)
            && exec == u64::MAX
            && let Some((all, p)) = look_at_all::<L, SPACE>(u, w, c, false)
        {
            for (i, p) in p.into_iter().enumerate() {
                let x = if all == All::Rows { L::load(p) } else { L::splat(p.read_unaligned()) };
                L::store(at(w, u.d).add(16 * i), x);
            }
            return NEXT;
        }
        for i in 0..4 {
            let m = lanes16(exec, i);
            if m != 0 && !load_together::<L, SPACE, N>(u, w, c, i, m) && !each::<SPACE, N>(u, w, c, m, i, false) {
                return FAULT;
            }
        }
        NEXT
    }
}

/// What the four chunks of a wave with all lanes active have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum All {
    /// Each is a row of dwords.
    Rows,
    /// Each is at one address.
    Ones,
}

/// The pattern of all chunks, if it is one and all of them are in memory, and where they are. Few tests, none of them
/// between memory accesses. Stores want rows, that do not touch.
#[inline(always)]
unsafe fn look_at_all<L: Lanes, const SPACE: u8>(
    u: &Uop,
    w: *mut Wave,
    c: &Common,
    store: bool,
) -> Option<(All, [*mut u32; 4])> {
    // SAFETY: the handler's contract.
    unsafe {
        let a = at(w, u.a);
        let none = L::splat(0);
        let steps = L::load(STEPS[1].as_ptr());
        let (mut row, mut one, mut high) = (none, none, none);
        let pair = SPACE == GLOBAL && u.c == NONE;
        if SPACE == GLOBAL && u.imm >> 59 > 1 {
            return None;
        }
        for i in 0..4 {
            let p = a.add(16 * i);
            let diff = L::sub(L::load(p), L::splat(p.read()));
            row = L::or(row, L::xor(diff, steps));
            if !store {
                one = L::or(one, diff);
            }
            if pair {
                high = L::or(high, L::xor(L::load(p.add(64)), L::splat(a.add(64).read())));
            }
        }
        let all = match L::eq(row, none) {
            u16::MAX => All::Rows,
            _ if !store && L::eq(one, none) == u16::MAX => All::Ones,
            _ => return None,
        };
        if pair && L::eq(high, none) != u16::MAX {
            return None;
        }
        let len = if all == All::Rows { 64 } else { 4 };
        let mut at = [std::ptr::null_mut(); 4];
        for (i, at) in at.iter_mut().enumerate() {
            let lo = a.add(16 * i).read();
            // Not across the ends of signed or unsigned offsets.
            if all == All::Rows && (lo ^ lo.wrapping_add(64)) >> 31 != 0 {
                return None;
            }
            match place::<SPACE>(u, w, c, 16 * i as u32, 0, len, store) {
                Place::At(p) => *at = p.cast(),
                _ => {
                    (*w).fault = None;
                    return None;
                }
            }
        }
        Some((all, at))
    }
}

/// True if it was done.
#[inline(always)]
unsafe fn load_together<L: Lanes, const SPACE: u8, const N: usize>(
    u: &Uop,
    w: *mut Wave,
    c: &Common,
    i: usize,
    m: u16,
) -> bool {
    // SAFETY: the handler's contract.
    unsafe {
        let d = at(w, u.d).add(16 * i);
        let (low, high) = (m.trailing_zeros() as usize, 15 - m.leading_zeros() as usize);
        let first = (16 * i + low) as u32;
        match look::<L, SPACE, N>(u, w, c, i, m) {
            Pattern::One => {
                let Place::At(p) = place::<SPACE>(u, w, c, first, 0, 4 * N as u64, false) else {
                    (*w).fault = None;
                    return false;
                };
                let x = <[u32; N]>::read(p);
                for (k, x) in x.into_iter().enumerate() {
                    L::store_mask(d.add(64 * k), L::splat(x), m);
                }
            }
            Pattern::Row if N == 1 || N == 2 && m == 0xffff => {
                let span = (4 * N * (high - low + 1)) as u64;
                let Place::At(p) = place::<SPACE>(u, w, c, first, 0, span, false) else {
                    (*w).fault = None;
                    return false;
                };
                if N == 2 {
                    let (lo, hi) = L::unzip(L::load64(p.cast()));
                    L::store(d, lo);
                    L::store(d.add(64), hi);
                } else if m == 0xffff {
                    L::store(d, L::load(p.cast()));
                } else {
                    L::store_mask(d, L::load_part(p.cast::<u32>().wrapping_sub(low), m), m);
                }
            }
            _ => return false,
        }
        true
    }
}

#[inline(always)]
unsafe fn store<L: Lanes, const SPACE: u8, const N: usize>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &{ *u };
        let exec = (*w).exec();
        if SPACE != LDS {
            (*w).stored = true;
        }
        let c = &common::<SPACE>(u, w);
        if (SPACE == SCRATCH || SPACE == BUFFER)
            && let Some(p) = private_row::<L, SPACE, N>(u, w, c, exec, true)
        {
            for i in 0..(*w).lanes as usize / 16 {
                for k in 0..N {
                    let x = L::load(at(w, u.d).add(64 * k + 16 * i));
                    L::store_mask(p.add(k * (*w).lanes as usize + 16 * i), x, lanes16(exec, i));
                }
            }
            return NEXT;
        }
        if N == 1
            && (SPACE == GLOBAL || SPACE == LDS)
            && exec == u64::MAX
            && let Some((_, p)) = look_at_all::<L, SPACE>(u, w, c, true)
        {
            for (i, p) in p.into_iter().enumerate() {
                L::store(p, L::load(at(w, u.d).add(16 * i)));
            }
            return NEXT;
        }
        for i in 0..4 {
            let m = lanes16(exec, i);
            if m != 0 && !store_together::<L, SPACE, N>(u, w, c, i, m) && !each::<SPACE, N>(u, w, c, m, i, true) {
                return FAULT;
            }
        }
        NEXT
    }
}

/// True if it was done.
#[inline(always)]
unsafe fn store_together<L: Lanes, const SPACE: u8, const N: usize>(
    u: &Uop,
    w: *mut Wave,
    c: &Common,
    i: usize,
    m: u16,
) -> bool {
    // SAFETY: the handler's contract.
    unsafe {
        let single = m & (m - 1) == 0;
        if single || !(N == 1 || N == 2 && m == 0xffff) {
            return false;
        }
        let Pattern::Row = look::<L, SPACE, N>(u, w, c, i, m) else { return false };
        let (low, high) = (m.trailing_zeros() as usize, 15 - m.leading_zeros() as usize);
        let span = (4 * N * (high - low + 1)) as u64;
        let Place::At(p) = place::<SPACE>(u, w, c, (16 * i + low) as u32, 0, span, true) else {
            (*w).fault = None;
            return false;
        };
        let d = at(w, u.d).add(16 * i);
        if N == 2 {
            L::store64(p.cast(), L::zip(L::load(d), L::load(d.add(64))));
        } else if m == 0xffff {
            L::store(p.cast(), L::load(d));
        } else {
            L::store_part(p.cast::<u32>().wrapping_sub(low), L::load(d), m);
        }
        true
    }
}

/// Lane by lane; false: fault. All lanes are found before the first is moved, the lowest faulting one reports. Stores
/// go upward and loads downward: who writes data before a flag above it can rely on it (RCCL's LL128).
#[inline(always)]
unsafe fn each<const SPACE: u8, const N: usize>(
    u: &Uop,
    w: *mut Wave,
    c: &Common,
    m: u16,
    i: usize,
    store: bool,
) -> bool {
    // SAFETY: the handler's contract.
    unsafe {
        let mut ptrs = [std::ptr::null_mut::<u8>(); 16];
        let mut split = 0u16;
        let mut rest = m;
        while rest != 0 {
            let l = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            match place::<SPACE>(u, w, c, (16 * i + l) as u32, 0, 4 * N as u64, store) {
                Place::At(p) => ptrs[l] = p,
                Place::Nowhere => {}
                Place::Parts => split |= 1 << l,
                Place::Fault => return false,
            }
        }
        let d = at(w, u.d).add(16 * i);
        for q in 0..4 {
            let q = if store { q } else { 3 - q };
            let four = &ptrs[4 * q..4 * q + 4];
            if (N == 4 || N == 2) && m >> (4 * q) & 15 == 15 && four.iter().all(|p| !p.is_null()) {
                let four = [four[0], four[1], four[2], four[3]];
                if store {
                    store_four::<N>(four, d.add(4 * q));
                } else {
                    load_four::<N>(four, d.add(4 * q));
                }
                continue;
            }
            for l in 0..4 {
                let l = if store { 4 * q + l } else { 4 * q + 3 - l };
                if m >> l & 1 == 0 {
                    continue;
                }
                let d = d.add(l);
                let p = ptrs[l];
                if split >> l & 1 != 0 {
                    let mut words = [0; 4];
                    if store {
                        for (k, x) in words.iter_mut().enumerate().take(N) {
                            *x = d.add(64 * k).read();
                        }
                    }
                    if !parts::<SPACE>(u, w, c, (16 * i + l) as u32, 4 * N, store, &mut words) {
                        return false;
                    }
                    if !store {
                        for (k, x) in words.iter().enumerate().take(N) {
                            d.add(64 * k).write(*x);
                        }
                    }
                } else if store {
                    if !p.is_null() {
                        let mut x = [0; N];
                        for (k, x) in x.iter_mut().enumerate() {
                            *x = d.add(64 * k).read();
                        }
                        x.write(p);
                    }
                } else {
                    let x = if p.is_null() { [0; N] } else { <[u32; N]>::read(p) };
                    for (k, x) in x.into_iter().enumerate() {
                        d.add(64 * k).write(x);
                    }
                }
            }
        }
        true
    }
}

trio!(/// Loads `N` dwords a lane.
    load_h = load [] [SPACE: u8, N: usize]);
trio!(/// Stores `N` dwords a lane.
    store_h = store [] [SPACE: u8, N: usize]);

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
