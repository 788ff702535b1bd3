//! Hardware registers that code reads and writes, and messages.

use crate::uop::{MESSAGE, NEXT, Uop, rd, wr};
use crate::wave::{M0, Wave};
use rj_isa::Target;

/// A hardware register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reg {
    /// Rounding, denormals, exceptions.
    Mode,
    /// Condition flags.
    Status,
    /// Trap status: no trap ever pending.
    TrapSts,
    /// Where the wave runs.
    HwId,
    /// The XCC it runs on.
    XccId,
    /// Upper halves of the apertures: 0x2_0001 as gfx9 packs them.
    MemBases,
}

impl Reg {
    /// The register of that number on the target, if it is one that the engine models.
    pub fn of(t: Target, id: u32) -> Option<Reg> {
        match (id, t.is_gfx9()) {
            (1, _) => Some(Reg::Mode),
            (2, true) => Some(Reg::Status),
            (3, true) => Some(Reg::TrapSts),
            (4, true) => Some(Reg::HwId),
            (15, true) => Some(Reg::MemBases),
            (20, true) if t != Target::Gfx90a => Some(Reg::XccId),
            (23, false) => Some(Reg::HwId),
            _ => None,
        }
    }

    /// Code may write it.
    pub fn writable(self) -> bool {
        matches!(self, Reg::Mode | Reg::TrapSts)
    }

    fn from_index(i: u32) -> Reg {
        [Reg::Mode, Reg::Status, Reg::TrapSts, Reg::HwId, Reg::XccId, Reg::MemBases][(i % 6) as usize]
    }
}

fn value(w: &Wave, r: Reg) -> u32 {
    match r {
        Reg::Mode => w.mode,
        Reg::Status => {
            w.scc | u32::from(w.exec() == 0) << 9 | u32::from(w.get64(crate::wave::VCC) == 0) << 10 | 1 << 16
        }
        Reg::TrapSts => 0,
        // Wave slot and SIMD by the wave's number; one queue, one process.
        Reg::HwId => w.ids.wave / 4 & 15 | (w.ids.wave & 3) << 4,
        Reg::XccId => w.ids.xcc,
        Reg::MemBases => 0x0001_0002,
    }
}

/// `s_getreg_b32`: `b` bits from bit `a` of register `c`.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn get(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let x = value(&*w, Reg::from_index(u.c));
        wr(w, u.d, x >> u.a & (u32::MAX >> (32 - u.b.min(32 - u.a))));
        NEXT
    }
}

/// `s_setreg_b32`: scalar `d` to `b` bits from bit `a` of register `c`.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn set(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        if Reg::from_index(u.c) == Reg::Mode {
            let mask = (u32::MAX >> (32 - u.b.min(32 - u.a))) << u.a;
            (*w).mode = (*w).mode & !mask | rd(w, u.d) << u.a & mask;
            crate::group::fp::set((*w).mode);
        }
        NEXT
    }
}

/// `s_sendmsg MSG_INTERRUPT`: event id in M0; on at imm.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn message(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        (*w).arg = u64::from((*w).s[M0] & 0xff_ffff);
        (*w).pc = (*u).imm;
        MESSAGE
    }
}
