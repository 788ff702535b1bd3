//! A wave's registers: one contiguous block, scalar file first, then the vector planes.
//!
//! Micro-ops address registers by byte offset from the block's start. The layout is fixed: every wave has room for
//! 512 planes, of which only those touched take memory.

use crate::fault::FaultKind;
use crate::lanes::Backend;
use crate::mem::{Snapshot, Tlb};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// Dwords in the scalar file.
pub const SFILE: usize = 1024;
/// First slot of the 32-bit constants that code interns.
pub const CONSTS: usize = 256;
/// Slots that micro-ops use for a moment (8 dwords at the end of the file).
pub const STEMP: usize = SFILE - 8;
/// Scratch planes in front of v0, for operands that need work first and results that need work after.
pub const TEMPS: usize = 32;
/// Vector planes: 256 VGPRs and 256 AccVGPRs.
pub const PLANES: usize = 512;
/// Bytes of a plane: 64 lanes.
pub const PLANE: usize = 256;
/// Scalar indices of named registers on every target, as gfx9 encodes them (lowering maps the others to these).
pub const VCC: usize = 106;
/// M0.
pub const M0: usize = 124;
/// EXEC.
pub const EXEC: usize = 126;

/// The head of a wave's block.
#[repr(C, align(64))]
pub struct Wave {
    /// Scalar file: 0–127 registers, 128–255 unused, [`CONSTS`].. constants, [`STEMP`].. temporaries.
    pub s: [u32; SFILE],
    /// The scalar condition code, 0 or 1.
    pub scc: u32,
    /// MODE, as the hardware register.
    pub mode: u32,
    /// Where the wave goes on once its block has ended.
    pub pc: u64,
    /// Regions that accesses found, during a turn.
    pub tlb: *mut Tlb,
    /// The wave has stored since its last fence.
    pub stored: bool,
    /// 32 or 64.
    pub lanes: u32,
    /// The address space at the start of the turn.
    pub snap: *const Snapshot,
    /// The group's LDS.
    pub lds: *mut u8,
    /// Its size in bytes.
    pub lds_len: u32,
    /// EXEC behind a DPP operation's write mask.
    pub saved_exec: u64,
    /// Where private memory of lane 0 begins (FLAT_SCRATCH with the slot's offset).
    pub scratch: u64,
    /// Bytes of private memory of the wave.
    pub scratch_len: u64,
    /// Why a handler returned [`crate::uop::FAULT`], and the lane.
    pub fault: Option<Box<(FaultKind, Option<u32>)>>,
    /// An event id for `s_sendmsg`, or the argument of what ended the block.
    pub arg: u64,
    /// Group id, wave index, XCC.
    pub ids: Ids,
    /// The GPU's global wave sync, during a turn.
    pub gws: *const crate::gws::Gws,
    /// What the wave waits for there.
    pub ticket: crate::gws::Ticket,
    /// For `s_memtime` and friends: the outside, during a turn.
    pub host: Option<*const (dyn crate::group::Host + 'static)>,
}

/// Where a wave stands in its dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ids {
    /// Work-group id.
    pub group: [u32; 3],
    /// Index in the group.
    pub wave: u32,
    /// XCC_ID.
    pub xcc: u32,
}

/// Byte offset of plane 0 of the temporaries.
pub const TEMP0: usize = size_of::<Wave>().next_multiple_of(PLANE);
/// Byte offset of v0.
pub const VGPR0: usize = TEMP0 + TEMPS * PLANE;
/// Bytes of a block. The odd tail keeps the same register of neighbouring waves out of one cache set.
pub const BLOCK: usize = VGPR0 + PLANES * PLANE + 4096 + 192;

/// Byte offset of scalar `i`.
pub const fn s_off(i: usize) -> u32 {
    (i * 4) as u32
}
/// Byte offset of VGPR `i`; AccVGPR `i` is `v_off(256 + i)`.
pub const fn v_off(i: usize) -> u32 {
    (VGPR0 + i * PLANE) as u32
}
/// Byte offset of temporary plane `i`.
pub const fn t_off(i: usize) -> u32 {
    (TEMP0 + i * PLANE) as u32
}

impl std::fmt::Debug for Wave {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wave(pc {:#x}, exec {:#x})", self.pc, self.exec())
    }
}

impl Wave {
    /// EXEC.
    #[inline(always)]
    pub fn exec(&self) -> u64 {
        u64::from(self.s[EXEC]) | u64::from(self.s[EXEC + 1]) << 32
    }
    /// Sets EXEC.
    #[inline(always)]
    pub fn set_exec(&mut self, m: u64) {
        self.set64(EXEC, m);
    }
    /// Scalar pair `i`, `i + 1`.
    #[inline(always)]
    pub fn get64(&self, i: usize) -> u64 {
        u64::from(self.s[i]) | u64::from(self.s[i + 1]) << 32
    }
    /// Sets scalar pair `i`, `i + 1`.
    #[inline(always)]
    pub fn set64(&mut self, i: usize, x: u64) {
        self.s[i] = x as u32;
        self.s[i + 1] = (x >> 32) as u32;
    }
}

/// An owned wave block.
#[derive(Debug)]
pub struct Block(*mut Wave);

// SAFETY: the block is owned; its raw pointers are only followed during a turn of the thread that runs it.
unsafe impl Send for Block {}

impl Block {
    fn layout() -> Layout {
        Layout::from_size_align(BLOCK, 4096).expect("a constant layout")
    }

    /// A zeroed block.
    pub fn new() -> Block {
        // SAFETY: the layout is not empty; all-zero bytes are a valid `Wave` (null pointers, `None`s).
        let p = unsafe { alloc_zeroed(Block::layout()) };
        if p.is_null() {
            handle_alloc_error(Block::layout());
        }
        Block(p.cast())
    }

    /// The head, which is also the base address of all offsets.
    pub fn ptr(&self) -> *mut Wave {
        self.0
    }

    /// The head.
    pub fn wave(&mut self) -> &mut Wave {
        // SAFETY: owned, aligned, initialised.
        unsafe { &mut *self.0 }
    }

    /// A VGPR (AccVGPRs from 256 on) as 64 lanes.
    pub fn plane(&mut self, i: usize) -> &mut [u32; 64] {
        assert!(i < PLANES);
        // SAFETY: inside the block by the assertion; planes are aligned to 256 bytes.
        unsafe { &mut *self.0.cast::<u8>().add(v_off(i) as usize).cast() }
    }

    /// Zeroes `arch` VGPRs and `acc` AccVGPRs.
    pub fn clear(&mut self, arch: usize, acc: usize) {
        for (first, n) in [(0, arch.min(256)), (256, acc.min(256))] {
            // SAFETY: inside the block: first + n <= PLANES.
            unsafe { self.0.cast::<u8>().add(v_off(first) as usize).write_bytes(0, n * PLANE) }
        }
    }
}

impl Default for Block {
    fn default() -> Self {
        Block::new()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: made by `new` with this layout; the head's own box is dropped first.
        unsafe {
            std::ptr::drop_in_place(self.0);
            dealloc(self.0.cast(), Block::layout());
        }
    }
}

/// What lowering needs to know of the host.
pub fn backend() -> Backend {
    static CHOICE: std::sync::OnceLock<Backend> = std::sync::OnceLock::new();
    *CHOICE.get_or_init(Backend::choose)
}
