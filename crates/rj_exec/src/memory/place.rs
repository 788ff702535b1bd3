//! From a lane's address to a host pointer, with every check on the way.

use super::NONE;
use super::space::*;
use crate::fault::FaultKind;
use crate::mem::Hot;
use crate::uop::{Uop, at, rd, rd64};
use crate::wave::Wave;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an address names.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Host memory, valid for the length asked for.
    At(*mut u8),
    /// Outside an LDS allocation or a buffer: reads 0, writes nothing.
    Nowhere,
    /// Not in one piece: to be asked for in smaller ones, bytes at the smallest.
    Parts,
    /// The wave's `fault` is set.
    Fault,
}

/// Base of private memory in gfx1250's flat addresses: no real address has these upper six bits (engine-abi §5).
pub const WIDE_PRIVATE: u64 = 1 << 62;

/// What the lanes of an instruction have in common, computed once.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// Scalar part of the address and the offset.
    pub base: u64,
    /// Buffers: bytes, or records of a structured one.
    pub limit: u64,
    /// Buffers: how the index counts.
    pub buffer: Buffer,
}

/// A buffer's addressing (CDNA3 ISA, 9.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Offset in bytes.
    Linear,
    /// Index times stride plus offset; the limit counts records, or bytes if `.bytes`.
    Strided {
        /// Bytes.
        stride: u64,
        /// The limit is in bytes.
        bytes: bool,
    },
    /// Elements of `1 << element` bytes of `1 << group` records side by side.
    Swizzled {
        /// Bytes.
        stride: u64,
        /// Log2 of the element's bytes.
        element: u32,
        /// Log2 of the records of a group.
        group: u32,
        /// The lane is part of the index; no limit (private memory through a descriptor).
        tid: bool,
    },
}

/// Reads the scalar operands of an address.
///
/// # Safety
/// The micro-op's offsets must lie in the block.
#[inline(always)]
pub unsafe fn common<const SPACE: u8>(u: &Uop, w: *mut Wave) -> Common {
    // SAFETY: the caller's.
    unsafe {
        let imm = i64::from(u.imm as u32 as i32).cast_unsigned();
        let mut c = Common { base: imm, limit: 0, buffer: Buffer::Linear };
        match SPACE {
            GLOBAL | FLAT if u.c != NONE => c.base = rd64(w, u.c).wrapping_add(imm),
            SCRATCH if u.c != NONE => {
                c.base = imm.wrapping_add_signed(i64::from(rd(w, u.c).cast_signed()));
            }
            BUFFER => {
                let v: [u32; 4] = std::array::from_fn(|i| rd(w, u.c + 4 * i as u32));
                let soffset = u64::from(rd(w, u.b));
                c.base = (u64::from(v[0]) | u64::from(v[1] & 0xffff) << 32).wrapping_add(soffset);
                let mut stride = u64::from(v[1] >> 16 & 0x3fff);
                // Bit 43: descriptors of gfx11 on have no flag bits at those places, swizzle is a field of two bits.
                let new = u.imm >> 43 & 1 != 0;
                let swizzle = if new { v[1] >> 30 != 0 } else { v[1] >> 31 != 0 };
                let tid = v[3] >> 23 & 1 != 0;
                if tid && !new {
                    // Bits 18:15 of the last word extend the stride (GFX9).
                    stride |= u64::from(v[3] >> 15 & 0xf) << 14;
                }
                let idxen = u.imm >> 33 & 1 != 0;
                let records = u64::from(v[2]);
                c.limit = records.saturating_sub(soffset);
                c.buffer = if swizzle {
                    c.limit = records;
                    let element = if new { [2, 2, 3, 4][(v[1] >> 30) as usize] } else { 1 + (v[3] >> 19 & 3) };
                    Buffer::Swizzled { stride, element, group: 3 + (v[3] >> 21 & 3), tid }
                } else if tid {
                    Buffer::Strided { stride, bytes: true }
                } else if stride != 0 && idxen {
                    c.limit = records;
                    Buffer::Strided { stride, bytes: false }
                } else {
                    Buffer::Linear
                };
            }
            _ => {}
        }
        c
    }
}

/// Host pointer to `len` bytes at a GPU address.
///
/// # Safety
/// The wave's `snap` and `tlb` must be valid.
#[inline(always)]
pub unsafe fn global(w: *mut Wave, va: u64, len: u64, write: bool, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe {
        let hot = &*(*(*w).tlb).entry(va);
        let off = va.wrapping_sub(hot.va);
        let ok = if write { hot.write } else { hot.read };
        if off < hot.len && len <= hot.len - off && ok {
            return Place::At((hot.host + off as usize) as *mut u8);
        }
        slow(w, va, len, write, lane)
    }
}

#[cold]
#[inline(never)]
unsafe fn slow(w: *mut Wave, va: u64, len: u64, write: bool, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe {
        let snap = &*(*w).snap;
        let may = |r: &crate::mem::Region| if write { r.write } else { r.read };
        let (mapped, address) = match snap.find(va) {
            Some(r) if may(r) => {
                let host = (r.host + (va - r.va) as usize) as *mut u8;
                if len <= r.end() - va {
                    *(*(*w).tlb).entry(va) = Hot { va: r.va, len: r.len, host: r.host, read: r.read, write: r.write };
                    return Place::At(host);
                }
                // Adjacent regions may be one piece of host memory.
                match snap.find(r.end()) {
                    Some(n) if may(n) => {
                        let joined = n.host == r.host + r.len as usize && n.end() - va >= len;
                        return if joined { Place::At(host) } else { Place::Parts };
                    }
                    next => (next.is_some(), r.end()),
                }
            }
            other => (other.is_some(), va),
        };
        let kind = FaultKind::Memory { address, write, mapped, fetch: false };
        (*w).fault = Some(Box::new((kind, Some(lane))));
        Place::Fault
    }
}

#[cold]
unsafe fn aperture(w: *mut Wave, address: u64, why: &'static str, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe { (*w).fault = Some(Box::new((FaultKind::Aperture { address, why }, Some(lane)))) }
    Place::Fault
}

/// Private memory at byte `off` of lane `owner` (swizzled: engine-abi §5): a dword or less is in one piece.
#[inline(always)]
unsafe fn private(w: *mut Wave, off: u64, len: u64, write: bool, owner: u32, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe {
        let lanes = u64::from((*w).lanes);
        let size = (*w).scratch_len / lanes;
        if off >= size || len > size - off {
            return aperture(w, off, "private address outside the lane's memory", lane);
        }
        if off % 4 + len > 4 {
            return Place::Parts;
        }
        let va = (*w).scratch + off / 4 * 4 * lanes + u64::from(owner) * 4 + off % 4;
        global(w, va, len, write, lane)
    }
}

/// Bytes of LDS.
///
/// # Safety
/// The wave's `lds` must be valid.
#[inline(always)]
pub unsafe fn lds(w: *mut Wave, off: u64, len: u64) -> Place {
    // SAFETY: the caller's.
    unsafe {
        if off + len <= u64::from((*w).lds_len) {
            return Place::At((*w).lds.add(off as usize));
        }
        past_lds(w, off);
    }
    Place::Nowhere
}

/// Says once that a program relies on what lies behind its LDS.
#[cold]
#[inline(never)]
unsafe fn past_lds(w: *mut Wave, off: u64) {
    static SAID: AtomicBool = AtomicBool::new(false);
    // SAFETY: `host` is valid during a turn.
    unsafe {
        if let Some(host) = (*w).host
            && !SAID.swap(true, Ordering::Relaxed)
        {
            let len = (*w).lds_len;
            (*host).note(&format!(
                "an LDS access at byte {off}, past the {len} bytes of the work-group: such loads give 0, such stores do nothing"
            ));
        }
    }
}

#[inline(always)]
unsafe fn flat(u: &Uop, w: *mut Wave, va: u64, len: u64, write: bool, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe {
        // Bit 41: gfx1250, whose flat private addresses name the lane.
        if u.imm >> 41 & 1 != 0 && va >> 58 == WIDE_PRIVATE >> 58 {
            let owner = (va >> 52 & 63) as u32 % (*w).lanes;
            return private(w, va & 0xf_ffff_ffff_ffff, len, write, owner, lane);
        }
        match va >> 32 {
            0x1_0000 if (va & 0xffff_ffff) + len > u64::from((*w).lds_len) => {
                aperture(w, va, "flat access past the group's LDS", lane)
            }
            0x1_0000 => lds(w, va & 0xffff_ffff, len),
            0x2_0000 if u.imm >> 41 & 1 == 0 => private(w, va & 0xffff_ffff, len, write, lane, lane),
            _ => global(w, va, len, write, lane),
        }
    }
}

/// Address of byte `extra` of a lane's access; None if it is out of range.
#[inline(always)]
unsafe fn buffer(u: &Uop, w: *mut Wave, c: &Common, lane: u32, extra: u64, len: u64) -> Option<(u64, bool)> {
    // SAFETY: the caller's.
    unsafe {
        let l = lane as usize;
        let p = at(w, u.a);
        let (offen, idxen) = (u.imm >> 32 & 1 != 0, u.imm >> 33 & 1 != 0);
        let mut offset = u64::from(u.imm as u32) + extra;
        if offen {
            offset += u64::from(p.add(if idxen { 64 + l } else { l }).read());
        }
        let index = if idxen { u64::from(p.add(l).read()) } else { 0 };
        match c.buffer {
            Buffer::Linear => (offset + len <= c.limit).then_some((c.base.wrapping_add(offset), true)),
            Buffer::Strided { stride, bytes } => {
                let index = index + if bytes { u64::from(lane) } else { 0 };
                let inside = if bytes { index * stride + offset + len <= c.limit } else { index < c.limit };
                inside.then_some((c.base.wrapping_add(index * stride + offset), true))
            }
            Buffer::Swizzled { stride, element, group, tid } => {
                let index = index + if tid { u64::from(lane) } else { 0 };
                if !tid && if stride == 0 { offset + len > c.limit } else { index >= c.limit } {
                    return None;
                }
                let low = (1 << element) - 1;
                let mask = (1u64 << group) - 1;
                let whole = ((index >> group).wrapping_mul(stride) + (offset & !low)) << group;
                let at = whole + ((index & mask) << element) + (offset & low);
                Some((c.base.wrapping_add(at), (offset & low) + len <= 1 << element))
            }
        }
    }
}

/// The lane's 64-bit address of a global or flat access.
#[inline(always)]
pub(super) unsafe fn address(u: &Uop, w: *mut Wave, c: &Common, lane: usize) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let p = at(w, u.a);
        let lo = p.add(lane).read();
        if u.c == NONE {
            return c.base.wrapping_add(u64::from(lo) | u64::from(p.add(64 + lane).read()) << 32);
        }
        // Bit 42: the lane's offset is signed.
        let off = if u.imm >> 42 & 1 != 0 { i64::from(lo.cast_signed()).cast_unsigned() } else { u64::from(lo) };
        // Bits 63:59: what the lane's offset is scaled by.
        let scale = u.imm >> 59;
        c.base.wrapping_add(if scale > 1 { off.wrapping_mul(scale) } else { off })
    }
}

/// Where byte `extra` of a lane's access is.
///
/// # Safety
/// The micro-op's offsets must lie in the block, the wave's pointers must be valid.
#[inline(always)]
pub unsafe fn place<const SPACE: u8>(
    u: &Uop,
    w: *mut Wave,
    c: &Common,
    lane: u32,
    extra: u64,
    len: u64,
    write: bool,
) -> Place {
    // SAFETY: the caller's.
    unsafe {
        let i = lane as usize;
        match SPACE {
            GLOBAL => global(w, address(u, w, c, i).wrapping_add(extra), len, write, lane),
            FLAT => flat(u, w, address(u, w, c, i).wrapping_add(extra), len, write, lane),
            SCRATCH => {
                let mut off = c.base.wrapping_add(extra);
                if u.a != 0 {
                    let v = i64::from(at(w, u.a).add(i).read().cast_signed()).cast_unsigned();
                    off = off.wrapping_add(v.wrapping_mul((u.imm >> 59).max(1)));
                }
                private(w, off & 0xffff_ffff, len, write, lane, lane)
            }
            LDS => {
                let off = at(w, u.a).add(i).read().wrapping_add(u.imm as u32);
                lds(w, u64::from(off) + extra, len)
            }
            _ => match buffer(u, w, c, lane, extra, len) {
                Some((va, true)) => global(w, va, len, write, lane),
                Some((_, false)) => Place::Parts,
                // Part of the access may be in range: dwords are checked one by one.
                None if len > 4 => Place::Parts,
                None => Place::Nowhere,
            },
        }
    }
}

/// Moves `len` bytes of a lane piece by piece between `words` and memory. False: fault.
///
/// # Safety
/// As for [`place`].
#[cold]
#[inline(never)]
pub unsafe fn parts<const SPACE: u8>(
    u: &Uop,
    w: *mut Wave,
    c: &Common,
    lane: u32,
    len: usize,
    write: bool,
    words: &mut [u32; 4],
) -> bool {
    // SAFETY: the caller's; every piece stays inside `words`, whose size bounds `len`.
    unsafe {
        let buf = words.as_mut_ptr().cast::<u8>();
        let mut done = 0;
        while done < len {
            let mut n = (len - done).min(4);
            let mut p = place::<SPACE>(u, w, c, lane, done as u64, n as u64, write);
            if let Place::Parts = p {
                n = 1;
                p = place::<SPACE>(u, w, c, lane, done as u64, 1, write);
            }
            match p {
                Place::At(p) if write => p.copy_from_nonoverlapping(buf.add(done), n),
                Place::At(p) => buf.add(done).copy_from_nonoverlapping(p, n),
                Place::Fault => return false,
                Place::Nowhere | Place::Parts if !write => buf.add(done).write_bytes(0, n),
                Place::Nowhere | Place::Parts => {}
            }
            done += n;
        }
        true
    }
}
