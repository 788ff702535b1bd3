//! What an operand's bits name, per target.

use crate::table::{Class, Kind, Ty};
use crate::target::Target;

/// A register or value that is no plain VGPR, AccVGPR or SGPR.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// VCC; as a 64-bit operand both halves.
    VccLo,
    VccHi,
    M0,
    /// EXEC; as a 64-bit operand both halves.
    ExecLo,
    ExecHi,
    /// Reads 0, writes vanish (gfx11 on).
    Null,
    FlatScratchLo,
    FlatScratchHi,
    XnackMaskLo,
    XnackMaskHi,
    SharedBase,
    SharedLimit,
    PrivateBase,
    PrivateLimit,
    PopsExitingWaveId,
    Vccz,
    Execz,
    Scc,
    /// A dword read from LDS at M0.
    LdsDirect,
    /// gfx1250 `src_flat_scratch_base_lo/hi`.
    FlatScratchBaseLo,
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
    /// 0x3c00, of an f64 operand 0x3ff0000000000000; inline integers are sign-extended to 64 bits. A 32-bit literal
    /// stands in the upper half of an f64 operand; of an integer one it extends with 0, or with its sign for signed
    /// operations.
    Const(u64),
    /// Bits that name nothing on this target.
    Bad(u16),
}

fn vgpr(reg: u32) -> Operand {
    Operand::Vgpr { reg: reg as u16, hi: false }
}

/// The operand that raw field bits name. `literal` is the dword (or two) behind the instruction.
pub(crate) fn resolve(t: Target, class: &Class, raw: u32, literal: Option<u64>) -> Option<Operand> {
    let agpr = |r: u32| Operand::Agpr { reg: (r & 0xff) as u16 };
    Some(match class.kind {
        Kind::Imm => return None,
        Kind::Kimm => Operand::Const(literal.unwrap_or(u64::from(raw))),
        Kind::Vgpr | Kind::VopdDstY => vgpr(raw & 0xff),
        Kind::Agpr => agpr(raw),
        Kind::Av if raw >> 9 & 1 != 0 => agpr(raw),
        Kind::Av => vgpr(raw & 0xff),
        Kind::T16 => Operand::Vgpr { reg: (raw & 0xff) as u16, hi: raw >> 9 & 1 != 0 || raw >> 8 & 1 != 0 },
        Kind::T16Lo128 => Operand::Vgpr { reg: (raw & 0x7f) as u16, hi: raw >> 7 & 1 != 0 },
        Kind::Sreg => scalar(t, class, raw, literal),
        Kind::Sdwa if raw >> 8 & 1 == 0 => vgpr(raw & 0xff),
        Kind::Sdwa => scalar(t, class, raw & 0xff, literal),
        Kind::SdwaDst if raw >> 7 & 1 == 0 => Operand::Special(Special::VccLo),
        Kind::SdwaDst => scalar(t, class, raw & 0x7f, literal),
        Kind::SrcA if raw >= 256 => agpr(raw),
        Kind::SrcAv if raw >= 256 && raw >> 9 & 1 != 0 => agpr(raw),
        Kind::SrcT16Lo128 if raw >= 256 => Operand::Vgpr { reg: (raw & 0x7f) as u16, hi: raw >> 7 & 1 != 0 },
        Kind::SrcT16 if raw & 0x100 != 0 => Operand::Vgpr { reg: (raw & 0xff) as u16, hi: raw >> 9 & 1 != 0 },
        _ if raw & 0x100 != 0 => vgpr(raw & 0xff),
        _ => scalar(t, class, raw & 0xff, literal),
    })
}

/// The 32-bit scalar register of that number.
pub(crate) fn scalar_register(t: Target, raw: u32) -> Operand {
    scalar(t, &Class { kind: Kind::Sreg, ty: Ty::I32, bits: 32, name: "", print: "" }, raw, None)
}

fn scalar(t: Target, class: &Class, raw: u32, literal: Option<u64>) -> Operand {
    use Special::*;
    let gfx9 = t.is_gfx9();
    let s = |x| Operand::Special(x);
    match raw {
        102 if gfx9 => s(FlatScratchLo),
        103 if gfx9 => s(FlatScratchHi),
        104 if gfx9 => s(XnackMaskLo),
        105 if gfx9 => s(XnackMaskHi),
        0..=105 => Operand::Sgpr { reg: raw as u8 },
        106 => s(VccLo),
        107 => s(VccHi),
        108..=123 => Operand::Ttmp { reg: (raw - 108) as u8 },
        124 if gfx9 => s(M0),
        124 => s(Null),
        125 if !gfx9 => s(M0),
        126 => s(ExecLo),
        127 => s(ExecHi),
        128..=208 => {
            let n = if raw <= 192 { i64::from(raw) - 128 } else { 192 - i64::from(raw) };
            Operand::Const(integer(class.ty, n))
        }
        230 if t == Target::Gfx1250 => s(FlatScratchBaseLo),
        231 if t == Target::Gfx1250 => s(FlatScratchBaseHi),
        235 => s(SharedBase),
        236 => s(SharedLimit),
        237 => s(PrivateBase),
        238 => s(PrivateLimit),
        239 => s(PopsExitingWaveId),
        240..=248 => Operand::Const(float(class.ty, raw)),
        251 => s(Vccz),
        252 => s(Execz),
        253 => s(Scc),
        254 if t == Target::Gfx1250 => literal.map_or(Operand::Bad(254), Operand::Const),
        254 => s(LdsDirect),
        255 => literal.map_or(Operand::Bad(255), |l| Operand::Const(expand_literal(class, l))),
        _ => Operand::Bad(raw as u16),
    }
}

/// Inline integers: packed 16-bit operands take them in the low half only.
fn integer(ty: Ty, n: i64) -> u64 {
    match ty {
        Ty::I16 | Ty::F16 | Ty::Bf16 => u64::from(n as u16),
        Ty::V2I16 => u64::from(n as u32),
        Ty::V2F16 | Ty::V2Bf16 => u64::from(n as u32),
        Ty::I32 | Ty::F32 => u64::from(n as u32),
        Ty::I32x2 | Ty::F32x2 => u64::from(n as u32) | u64::from(n as u32) << 32,
        Ty::I64 | Ty::F64 => n.cast_unsigned(),
    }
}

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi) in the operand's type.
fn float(ty: Ty, raw: u32) -> u64 {
    const F32: [u32; 9] = [
        0x3f00_0000,
        0xbf00_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x4000_0000,
        0xc000_0000,
        0x4080_0000,
        0xc080_0000,
        0x3e22_f983,
    ];
    const F16: [u16; 9] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];
    const BF16: [u16; 9] = [0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22];
    const F64: [u64; 9] = [
        0x3fe0_0000_0000_0000,
        0xbfe0_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0xbff0_0000_0000_0000,
        0x4000_0000_0000_0000,
        0xc000_0000_0000_0000,
        0x4010_0000_0000_0000,
        0xc010_0000_0000_0000,
        0x3fc4_5f30_6dc9_c882,
    ];
    let i = (raw - 240) as usize;
    match ty {
        Ty::F16 | Ty::V2F16 | Ty::I16 => u64::from(F16[i]),
        Ty::Bf16 | Ty::V2Bf16 => u64::from(BF16[i]),
        Ty::I64 | Ty::F64 => F64[i],
        Ty::F32x2 | Ty::I32x2 => u64::from(F32[i]) | u64::from(F32[i]) << 32,
        Ty::I32 | Ty::F32 | Ty::V2I16 => u64::from(F32[i]),
    }
}

fn expand_literal(class: &Class, lit: u64) -> u64 {
    match class.ty {
        Ty::F64 => lit << 32,
        Ty::I16 | Ty::F16 | Ty::Bf16 => lit & 0xffff,
        Ty::F32x2 | Ty::I32x2 => lit & 0xffff_ffff | lit << 32,
        // Zero-extended for 64 bits; signed operations extend the sign in `Inst::operand`.
        _ => lit & 0xffff_ffff,
    }
}
