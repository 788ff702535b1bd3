//! A decoded instruction and its operands.

/// A register or value that is no plain VGPR, AccVGPR or SGPR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// VCC; as a 64-bit operand both halves.
    VccLo,
    /// Upper half of VCC.
    VccHi,
    /// M0.
    M0,
    /// EXEC; as a 64-bit operand both halves.
    ExecLo,
    /// Upper half of EXEC.
    ExecHi,
    /// Reads 0, writes vanish (gfx11 on).
    Null,
    /// gfx90a/gfx942 flat scratch, lower half.
    FlatScratchLo,
    /// Upper half of flat scratch.
    FlatScratchHi,
    /// XNACK mask, lower half.
    XnackMaskLo,
    /// XNACK mask, upper half.
    XnackMaskHi,
    /// LDS aperture base.
    SharedBase,
    /// LDS aperture limit.
    SharedLimit,
    /// Private aperture base.
    PrivateBase,
    /// Private aperture limit.
    PrivateLimit,
    /// POPS exiting wave id.
    PopsExitingWaveId,
    /// VCC is zero.
    Vccz,
    /// EXEC is zero.
    Execz,
    /// The scalar condition code.
    Scc,
    /// A dword read from LDS at M0.
    LdsDirect,
    /// gfx1250 `src_flat_scratch_base_lo/hi`.
    FlatScratchBaseLo,
    /// Upper half of the above.
    FlatScratchBaseHi,
}

/// What an operand field names, widths and types already resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// VGPR number of the first dword. `hi` is the upper half of a 16-bit (true16) operand.
    Vgpr {
        /// First register.
        reg: u16,
        /// True16 upper half.
        hi: bool,
    },
    /// AccVGPR number of the first dword.
    Agpr {
        /// First register.
        reg: u16,
    },
    /// SGPR number of the first dword.
    Sgpr {
        /// First register.
        reg: u8,
    },
    /// Trap temporary number of the first dword.
    Ttmp {
        /// First register.
        reg: u8,
    },
    /// Anything named.
    Special(Special),
    /// An inline constant or literal, expanded to the operand's width and type: 1.0 of an f16 operand is
    /// 0x3c00, of an f64 operand 0x3ff0000000000000; integers are sign-extended to 64 bits; a 32-bit literal of an
    /// f64 operand stands in the upper half.
    Const(u64),
}

/// Why bytes are no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes end inside an instruction.
    Truncated,
    /// No row of the table matches.
    Unknown,
}

/// A decoded instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {}
