//! Atomic read-modify-write, a lane after the other, on real host atomics.

use super::place::{Place, common, parts, place};
use super::space::*;
use crate::fault::FaultKind;
use crate::uop::{FAULT, Handler, NEXT, Uop, at};
use crate::wave::Wave;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// What an atomic does; imm 55:48 of the micro-op.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Swap,
    Cmpswap,
    Add,
    Sub,
    Rsub,
    Smin,
    Umin,
    Smax,
    Umax,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    AddF,
    MinF,
    MaxF,
    PkAddF16,
    PkAddBf16,
    /// Masked or: (old & !data) | data1.
    Mskor,
    /// Compare and swap of floats: equal as floats.
    CmpswapF,
    /// old >= data ? old - data : 0
    SubClamp,
    /// old >= data ? old - data : old
    CondSub,
    /// old >= data ? old - data : old + data1
    Wrap,
    /// f32 addition that takes denormals as 0 and gives none (gfx90a's memory; LLVM `memory-atomic-fadd-f32-denormal-support`).
    AddFz,
}

const KINDS: [Kind; 25] = [
    Kind::Swap,
    Kind::Cmpswap,
    Kind::Add,
    Kind::Sub,
    Kind::Rsub,
    Kind::Smin,
    Kind::Umin,
    Kind::Smax,
    Kind::Umax,
    Kind::And,
    Kind::Or,
    Kind::Xor,
    Kind::Inc,
    Kind::Dec,
    Kind::AddF,
    Kind::MinF,
    Kind::MaxF,
    Kind::PkAddF16,
    Kind::PkAddBf16,
    Kind::Mskor,
    Kind::CmpswapF,
    Kind::SubClamp,
    Kind::CondSub,
    Kind::Wrap,
    Kind::AddFz,
];

/// Packed halves, added lane by lane; each sum rounded to nearest even.
fn pk_add(a: u32, b: u32, to: fn(u16) -> f32, from: fn(f32) -> u16) -> u32 {
    let one = |s: u32| u32::from(from(to((a >> s) as u16) + to((b >> s) as u16))) << s;
    one(0) | one(16)
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// The new value: `x` is the data, `y` the second data (cmpswap: the value to compare with).
fn new32(k: Kind, old: u32, x: u32, y: u32) -> u32 {
    let (i, xi) = (old.cast_signed(), x.cast_signed());
    let (f, xf) = (f32::from_bits(old), f32::from_bits(x));
    match k {
        Kind::Swap => x,
        Kind::Cmpswap => {
            if old == y {
                x
            } else {
                old
            }
        }
        Kind::CmpswapF => {
            if f == f32::from_bits(y) {
                x
            } else {
                old
            }
        }
        Kind::Add => old.wrapping_add(x),
        Kind::Sub => old.wrapping_sub(x),
        Kind::Rsub => x.wrapping_sub(old),
        Kind::Smin => i.min(xi).cast_unsigned(),
        Kind::Umin => old.min(x),
        Kind::Smax => i.max(xi).cast_unsigned(),
        Kind::Umax => old.max(x),
        Kind::And => old & x,
        Kind::Or => old | x,
        Kind::Xor => old ^ x,
        Kind::Inc => {
            if old >= x {
                0
            } else {
                old + 1
            }
        }
        Kind::Dec => {
            if old == 0 || old > x {
                x
            } else {
                old - 1
            }
        }
        Kind::AddF => (f + xf).to_bits(),
        Kind::AddFz => flush(flush(f) + flush(xf)).to_bits(),
        Kind::MinF => {
            if xf < f || f.is_nan() {
                x
            } else {
                old
            }
        }
        Kind::MaxF => {
            if xf > f || f.is_nan() {
                x
            } else {
                old
            }
        }
        Kind::PkAddF16 => pk_add(old, x, crate::half::f16_to_f32, crate::half::f32_to_f16),
        Kind::PkAddBf16 => pk_add(old, x, crate::half::bf16_to_f32, crate::half::f32_to_bf16),
        Kind::Mskor => old & !x | y,
        Kind::SubClamp => old.saturating_sub(x),
        Kind::CondSub => old.checked_sub(x).unwrap_or(old),
        Kind::Wrap => old.checked_sub(x).unwrap_or(old.wrapping_add(y)),
    }
}

fn new64(k: Kind, old: u64, x: u64, y: u64) -> u64 {
    let (i, xi) = (old.cast_signed(), x.cast_signed());
    let (f, xf) = (f64::from_bits(old), f64::from_bits(x));
    match k {
        Kind::Swap => x,
        Kind::Cmpswap => {
            if old == y {
                x
            } else {
                old
            }
        }
        Kind::CmpswapF => {
            if f == f64::from_bits(y) {
                x
            } else {
                old
            }
        }
        Kind::Add => old.wrapping_add(x),
        Kind::Sub => old.wrapping_sub(x),
        Kind::Rsub => x.wrapping_sub(old),
        Kind::Smin => i.min(xi).cast_unsigned(),
        Kind::Umin => old.min(x),
        Kind::Smax => i.max(xi).cast_unsigned(),
        Kind::Umax => old.max(x),
        Kind::And => old & x,
        Kind::Or => old | x,
        Kind::Xor => old ^ x,
        Kind::Inc => {
            if old >= x {
                0
            } else {
                old + 1
            }
        }
        Kind::Dec => {
            if old == 0 || old > x {
                x
            } else {
                old - 1
            }
        }
        Kind::AddF => (f + xf).to_bits(),
        Kind::MinF => {
            if xf < f || f.is_nan() {
                x
            } else {
                old
            }
        }
        Kind::MaxF => {
            if xf > f || f.is_nan() {
                x
            } else {
                old
            }
        }
        Kind::PkAddF16 | Kind::PkAddBf16 | Kind::AddFz => old,
        Kind::Mskor => old & !x | y,
        Kind::SubClamp => old.saturating_sub(x),
        Kind::CondSub => old.checked_sub(x).unwrap_or(old),
        Kind::Wrap => old.checked_sub(x).unwrap_or(old.wrapping_add(y)),
    }
}

/// Planes: address as its space says; data at `d`, second data behind it (LDS: at `c`). imm: offset 31:0, kind 55:48,
/// bit 56: 64 bits, bit 57: the old value goes to plane `b` (buffers: to `d`), bit 58: the second data is the first
/// operand (gfx9's LDS compare-and-store).
unsafe fn rmw<const SPACE: u8>(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let kind = KINDS[(u.imm >> 48 & 0xff) as usize % KINDS.len()];
        let (wide, returns, flipped) = (u.imm >> 56 & 1 != 0, u.imm >> 57 & 1 != 0, u.imm >> 58 & 1 != 0);
        let exec = (*w).exec();
        if SPACE != LDS && (*w).stored {
            fence(Ordering::SeqCst);
            (*w).stored = false;
        }
        // LDS has its second data in any plane, named by `c`; elsewhere it follows the first.
        let n = if wide { 2 } else { 1 };
        let second = if SPACE == LDS { at(w, u.c) } else { at(w, u.d).add(64 * n) };
        // LDS returns to `b` as the others do; buffers use `b` for the scalar offset and return in place.
        let out = if SPACE == BUFFER { at(w, u.d) } else { at(w, u.b) };
        let c = &common::<SPACE>(u, w);
        let two = matches!(kind, Kind::Cmpswap | Kind::CmpswapF | Kind::Mskor | Kind::Wrap);
        let mut rest = exec;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let i = lane as usize;
            let read = |p: *mut u32| {
                let lo = u64::from(p.add(i).read());
                if wide { lo | u64::from(p.add(64 + i).read()) << 32 } else { lo }
            };
            let (mut x, mut y) = (read(at(w, u.d)), 0);
            if two {
                y = read(second);
                if flipped {
                    (x, y) = (y, x);
                }
            }
            let len = if wide { 8 } else { 4 };
            let old = match place::<SPACE>(u, w, c, lane, 0, len, true) {
                Place::Fault => return FAULT,
                Place::Nowhere => 0,
                Place::At(p) if !(p as u64).is_multiple_of(len) => return misaligned(w, p as u64, lane),
                // A group's LDS belongs to the thread that runs it.
                Place::At(p) if SPACE == LDS && wide => {
                    let p = p.cast::<u64>();
                    let old = p.read();
                    p.write(new64(kind, old, x, y));
                    old
                }
                Place::At(p) if SPACE == LDS => {
                    let p = p.cast::<u32>();
                    let old = p.read();
                    p.write(new32(kind, old, x as u32, y as u32));
                    u64::from(old)
                }
                Place::At(p) if wide => shared64(AtomicU64::from_ptr(p.cast()), kind, x, y),
                Place::At(p) => u64::from(shared32(AtomicU32::from_ptr(p.cast()), kind, x as u32, y as u32)),
                // Private memory, or the edge of a buffer: nobody else's.
                Place::Parts => {
                    let mut words = [0; 4];
                    if !parts::<SPACE>(u, w, c, lane, len as usize, false, &mut words) {
                        return FAULT;
                    }
                    let old = u64::from(words[0]) | u64::from(words[1]) << 32;
                    let new = if wide {
                        new64(kind, old, x, y)
                    } else {
                        u64::from(new32(kind, old as u32, x as u32, y as u32))
                    };
                    words = [new as u32, (new >> 32) as u32, 0, 0];
                    if !parts::<SPACE>(u, w, c, lane, len as usize, true, &mut words) {
                        return FAULT;
                    }
                    old
                }
            };
            if returns {
                out.add(i).write(old as u32);
                if wide {
                    out.add(64 + i).write((old >> 32) as u32);
                }
            }
        }
        NEXT
    }
}

#[cold]
unsafe fn misaligned(w: *mut Wave, address: u64, lane: u32) -> u32 {
    let kind = FaultKind::Aperture { address, why: "misaligned atomic" };
    // SAFETY: the handler's contract.
    unsafe { (*w).fault = Some(Box::new((kind, Some(lane)))) }
    FAULT
}

#[inline(always)]
fn shared32(a: &AtomicU32, kind: Kind, x: u32, y: u32) -> u32 {
    match kind {
        Kind::Add => a.fetch_add(x, Ordering::SeqCst),
        Kind::Or => a.fetch_or(x, Ordering::SeqCst),
        Kind::And => a.fetch_and(x, Ordering::SeqCst),
        Kind::Swap => a.swap(x, Ordering::SeqCst),
        Kind::Cmpswap => a.compare_exchange(y, x, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|old| old),
        _ => update32(a, |old| new32(kind, old, x, y)),
    }
}

#[inline(always)]
fn shared64(a: &AtomicU64, kind: Kind, x: u64, y: u64) -> u64 {
    match kind {
        Kind::Add => a.fetch_add(x, Ordering::SeqCst),
        Kind::Or => a.fetch_or(x, Ordering::SeqCst),
        Kind::And => a.fetch_and(x, Ordering::SeqCst),
        Kind::Swap => a.swap(x, Ordering::SeqCst),
        Kind::Cmpswap => a.compare_exchange(y, x, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|old| old),
        _ => update64(a, |old| new64(kind, old, x, y)),
    }
}

fn update32(a: &AtomicU32, f: impl Fn(u32) -> u32) -> u32 {
    a.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(f(old))).unwrap_or_else(|x| x)
}

fn update64(a: &AtomicU64, f: impl Fn(u64) -> u64) -> u64 {
    a.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(f(old))).unwrap_or_else(|x| x)
}

/// The handler of a space.
pub fn pick(space: u8) -> Handler {
    match space {
        GLOBAL => rmw::<GLOBAL>,
        FLAT => rmw::<FLAT>,
        SCRATCH => rmw::<SCRATCH>,
        LDS => rmw::<LDS>,
        _ => rmw::<BUFFER>,
    }
}
