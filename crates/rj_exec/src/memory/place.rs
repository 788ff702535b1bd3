//! From a lane's address to a host pointer, with every check on the way.

use super::NONE;
use super::space::*;
use crate::fault::FaultKind;
use crate::uop::{Uop, at, rd, rd64};
use crate::wave::Wave;

/// What an address names.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Host memory, valid for the length asked for.
    At(*mut u8),
    /// Outside an LDS allocation or a buffer: reads 0, writes nothing.
    Nowhere,
    /// The wave's `fault` is set.
    Fault,
}

/// Host pointer to `len` bytes at a GPU address.
///
/// # Safety
/// The wave's `snap` must be valid.
#[inline(always)]
pub unsafe fn global(w: *mut Wave, va: u64, len: u64, write: bool, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe {
        let off = va.wrapping_sub((*w).hot_va);
        let ok = if write { (*w).hot_write } else { (*w).hot_read };
        if off < (*w).hot_len && len <= (*w).hot_len - off && ok {
            return Place::At(((*w).hot_host + off as usize) as *mut u8);
        }
        slow(w, va, len, write, lane)
    }
}

#[cold]
unsafe fn slow(w: *mut Wave, va: u64, len: u64, write: bool, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe {
        let snap = &*(*w).snap;
        let (mapped, address) = match snap.find(va) {
            Some(r) if (if write { r.write } else { r.read }) => {
                if len <= r.end() - va {
                    (*w).hot_va = r.va;
                    (*w).hot_len = r.len;
                    (*w).hot_host = r.host;
                    (*w).hot_read = r.read;
                    (*w).hot_write = r.write;
                    return Place::At((r.host + (va - r.va) as usize) as *mut u8);
                }
                // Adjacent regions may be one piece of host memory; if not, the access is split by nobody: fault.
                match snap.find(r.end()) {
                    Some(n) if n.host == r.host + r.len as usize && (if write { n.write } else { n.read }) => {
                        return Place::At((r.host + (va - r.va) as usize) as *mut u8);
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

/// A dword-or-less of private memory at byte `off` of the lane (swizzled: engine-abi §5).
#[inline(always)]
unsafe fn private(w: *mut Wave, off: u64, len: u64, write: bool, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe {
        let lanes = u64::from((*w).lanes);
        if off % 4 + len > 4 || off >= (*w).scratch_len / lanes {
            let kind = FaultKind::Aperture { address: off, why: "private address outside the lane's memory" };
            (*w).fault = Some(Box::new((kind, Some(lane))));
            return Place::Fault;
        }
        let va = (*w).scratch + off / 4 * 4 * lanes + u64::from(lane) * 4 + off % 4;
        global(w, va, len, write, lane)
    }
}

/// Bytes of LDS.
///
/// # Safety
/// The wave's LDS pointer must be valid.
#[inline(always)]
pub unsafe fn lds(w: *mut Wave, off: u64, len: u64) -> Place {
    // SAFETY: the caller's.
    unsafe { if off + len <= u64::from((*w).lds_len) { Place::At((*w).lds.add(off as usize)) } else { Place::Nowhere } }
}

unsafe fn flat(w: *mut Wave, va: u64, len: u64, write: bool, lane: u32) -> Place {
    // SAFETY: the caller's.
    unsafe {
        match va >> 32 {
            0x1_0000 => match lds(w, va & 0xffff_ffff, len) {
                Place::Nowhere => {
                    let kind = FaultKind::Aperture { address: va, why: "flat access past the group's LDS" };
                    (*w).fault = Some(Box::new((kind, Some(lane))));
                    Place::Fault
                }
                p => p,
            },
            0x2_0000 => private(w, va & 0xffff_ffff, len, write, lane),
            _ => global(w, va, len, write, lane),
        }
    }
}

/// Byte offset of a lane in a buffer's memory, or None if it is out of range (CDNA3 ISA, buffer addressing).
unsafe fn buffer(u: &Uop, w: *mut Wave, lane: u32, extra: u64, len: u64) -> Option<u64> {
    // SAFETY: the caller's.
    unsafe {
        let v: [u32; 4] = std::array::from_fn(|i| rd(w, u.c + 4 * i as u32));
        let base = u64::from(v[0]) | u64::from(v[1] & 0xffff) << 32;
        let stride = u64::from(v[1] >> 16 & 0x3fff);
        let (swizzle, add_tid) = (v[1] >> 31 != 0, v[3] >> 23 & 1 != 0);
        let records = u64::from(v[2]);
        let (offen, idxen) = (u.imm >> 32 & 1 != 0, u.imm >> 33 & 1 != 0);
        let l = lane as usize;
        let mut index = 0u64;
        let mut offset = (u.imm & 0xffff_ffff) + extra;
        let p = at(w, u.a);
        if idxen {
            index = u64::from(p.add(l).read());
        }
        if offen {
            offset += u64::from(p.add(if idxen { 64 + l } else { l }).read());
        }
        if add_tid {
            index += u64::from(lane);
        }
        let soffset = u64::from(rd(w, u.b));
        let inside = if stride == 0 || !(swizzle || idxen) {
            offset + stride * index + len <= records.saturating_sub(if swizzle { 0 } else { soffset })
        } else {
            index < records
        };
        if !(inside || swizzle && add_tid) {
            return None;
        }
        let at = if swizzle {
            let elem = 2u64 << (v[3] >> 19 & 3);
            let group = 8u64 << (v[3] >> 21 & 3);
            (index / group * stride + offset / elem * elem) * group + index % group * elem + offset % elem
        } else {
            index * stride + offset
        };
        Some(base + soffset + at)
    }
}

/// Where byte `extra` of a lane's access is.
///
/// # Safety
/// The micro-op's offsets must lie in the block, the wave's pointers must be valid.
#[inline(always)]
pub unsafe fn place<const SPACE: u8>(u: &Uop, w: *mut Wave, lane: u32, extra: u64, len: u64, write: bool) -> Place {
    // SAFETY: the caller's.
    unsafe {
        let i = lane as usize;
        let imm = i64::from(u.imm as u32 as i32);
        match SPACE {
            GLOBAL | FLAT => {
                let p = at(w, u.a);
                let va = if u.c != NONE {
                    rd64(w, u.c).wrapping_add(u64::from(p.add(i).read()))
                } else {
                    u64::from(p.add(i).read()) | u64::from(p.add(64 + i).read()) << 32
                };
                let va = va.wrapping_add_signed(imm).wrapping_add(extra);
                if SPACE == FLAT { flat(w, va, len, write, lane) } else { global(w, va, len, write, lane) }
            }
            SCRATCH => {
                let mut off = imm + extra as i64;
                if u.a != 0 {
                    off += i64::from(at(w, u.a).add(i).read().cast_signed());
                }
                if u.c != NONE {
                    off += i64::from(rd(w, u.c).cast_signed());
                }
                private(w, off.cast_unsigned() & 0xffff_ffff, len, write, lane)
            }
            LDS => {
                let a = at(w, u.a).add(i).read();
                let off = a.wrapping_add(u.imm as u32);
                lds(w, u64::from(off) + extra, len)
            }
            _ => match buffer(u, w, lane, extra, len) {
                Some(va) => global(w, va, len, write, lane),
                None => Place::Nowhere,
            },
        }
    }
}
