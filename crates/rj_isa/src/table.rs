//! The shape of the generated table's rows.

use crate::gen_names::{Field, Op};
use crate::gen_table::{ASM, ASM_AT, CLASSES, LAYOUTS, NAMES, OPERAND_LISTS, OPERANDS, SPANS};
use crate::target::Target;

/// `op_y` of a row that is no dual-issue pair.
pub const NO_OP: u16 = u16::MAX;

/// How an instruction is encoded.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Sop1,
    Sop2,
    Sopk,
    Sopc,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    Vop3p,
    Vopd,
    Sdwa,
    Dpp16,
    Dpp8,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Mimg,
    Ds,
    Exp,
    Other,
}

/// A register that instructions use without naming it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Implicit {
    /// The scalar condition code.
    Scc,
    /// VCC, or its low half in wave32.
    Vcc,
    /// The execution mask.
    Exec,
    /// M0.
    M0,
    /// The MODE register: rounding and denormals.
    Mode,
    /// The scratch base of flat addresses.
    FlatScratch,
}

/// A fact that the record states of an instruction. The generator's FLAGS in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// May read memory.
    Loads,
    /// May write memory.
    Stores,
    /// Counted by VMCNT (loads).
    VmCnt,
    /// Counted by LGKMCNT.
    LgkmCnt,
    /// Counted by EXPCNT.
    ExpCnt,
    /// An atomic that answers the old value.
    AtomicReturns,
    /// An atomic that answers nothing.
    AtomicNoReturn,
    /// LLVM's packed flag, set for a few records alone.
    Packed,
    /// A dot product.
    Dot,
    /// Has effects beyond its operands.
    SideEffects,
    /// Runs in the transcendental unit.
    Trans,
    /// A floating-point atomic.
    FpAtomic,
    /// VOP3's or VOP3P's encoding.
    Vop3,
    /// VOP3P's encoding.
    Vop3p,
    /// Exists for wave64 alone.
    Wave64,
}

/// What the bits of an operand field mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 9 bits: scalar, constant, or 256 + VGPR.
    Src,
    /// The same with AccVGPRs.
    SrcA,
    /// The same, bit 9 says AccVGPR.
    SrcAv,
    /// 8-bit register number, bit 9 says AccVGPR.
    Av,
    /// VGPR number.
    Vgpr,
    /// AccVGPR number.
    Agpr,
    /// Scalar register.
    Sreg,
    /// 9-bit source with half selection in bit 9.
    SrcT16,
    /// 9-bit source of the low 128 VGPRs, bit 7 of the number selects the half.
    SrcT16Lo128,
    /// 8-bit VGPR with half selection.
    T16,
    /// 7-bit VGPR, bit 7 selects the half.
    T16Lo128,
    /// SDWA source: VGPR number, or a scalar if bit 8.
    Sdwa,
    /// SDWA comparison result: VCC, or a scalar if bit 7.
    SdwaDst,
    /// A literal that the instruction always has.
    Kimm,
    /// The second result of a dual-issue pair: bit 0 is the complement of the first result's.
    VopdDstY,
    /// No register.
    Imm,
}

/// How constants of an operand expand.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    I16,
    F16,
    Bf16,
    I32,
    F32,
    I64,
    F64,
    V2I16,
    V2F16,
    V2Bf16,
    I32x2,
    F32x2,
}

impl Class {
    /// A 16-bit VGPR operand that names its half.
    pub fn is_true16(&self) -> bool {
        matches!(self.kind, Kind::T16 | Kind::T16Lo128 | Kind::SrcT16 | Kind::SrcT16Lo128)
    }
}

/// An operand class.
pub struct Class {
    pub kind: Kind,
    pub ty: Ty,
    pub bits: u16,
    pub name: &'static str,
    pub print: &'static str,
}

/// One instruction in one encoding.
pub struct Row {
    pub op: Op,
    pub op_y: u16,
    pub format: Format,
    pub size: u8,
    pub targets: u8,
    pub uses: u8,
    pub defs: u8,
    pub flags: u32,
    pub mask: [u32; 4],
    pub value: [u32; 4],
    pub layout: u16,
    pub operands: u16,
    pub asm: u16,
    pub name: u32,
}

impl Row {
    /// Field spans: field, first bit in it, first bit in the instruction, bits.
    pub fn spans(&self) -> &'static [[u8; 4]] {
        let i = usize::from(self.layout);
        &SPANS[usize::from(LAYOUTS[i])..usize::from(LAYOUTS[i + 1])]
    }

    /// Operands: class, field, is a result.
    pub fn operands(&self) -> impl Iterator<Item = (&'static Class, Field, bool)> {
        let i = usize::from(self.operands);
        OPERANDS[usize::from(OPERAND_LISTS[i])..usize::from(OPERAND_LISTS[i + 1])]
            .iter()
            .map(|&(c, f, out)| (&CLASSES[usize::from(c)], Field::ALL[usize::from(f)], out))
    }

    /// The assembly template.
    pub fn asm(&self) -> &'static [u8] {
        let i = usize::from(self.asm);
        &ASM[ASM_AT[i] as usize..ASM_AT[i + 1] as usize]
    }

    fn flag(&self, bit: u32) -> bool {
        self.flags >> bit & 1 != 0
    }

    /// May write memory.
    pub fn stores(&self) -> bool {
        self.flag(1)
    }

    /// A memory atomic.
    pub fn is_atomic(&self) -> bool {
        self.flag(5) || self.flag(6)
    }

    /// A comparison that writes EXEC.
    pub fn exec_result(&self) -> bool {
        self.defs >> 2 & 1 != 0
    }

    /// VOP3's or VOP3P's encoding.
    pub fn vop3(&self) -> bool {
        self.flag(12)
    }

    /// A matrix product of any of the 8-, 6- and 4-bit formats.
    pub fn mixed_matrix(&self) -> bool {
        self.flag(16)
    }

    /// The literal is a field of the row.
    pub fn literal_inside(&self) -> bool {
        self.flag(17)
    }

    /// A source may ask for a literal that follows.
    pub fn literal_behind(&self) -> bool {
        self.flag(18)
    }

    /// 64-bit integers are signed.
    pub fn signed64(&self) -> bool {
        self.flag(19)
    }

    /// VOP3P's encoding.
    pub fn vop3p(&self) -> bool {
        self.flag(13)
    }

    /// Exists for wave64 alone.
    pub fn wave64(&self) -> bool {
        self.flag(14)
    }

    /// Packed: upper halves are the default of `op_sel_hi`.
    pub fn packed(&self) -> bool {
        self.flag(15)
    }

    /// LLVM's name of the record.
    pub fn name(&self) -> &'static str {
        let rest = &NAMES[self.name as usize..];
        rest.split_once('\n').map_or(rest, |(n, _)| n)
    }

    /// Whether the target has it.
    pub fn is_for(&self, t: Target) -> bool {
        self.targets >> t as u8 & 1 != 0
    }
}
