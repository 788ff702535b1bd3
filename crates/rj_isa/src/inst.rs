//! A decoded instruction.

use crate::gen_names::{Field, Op};
use crate::gen_table::ROWS;
use crate::operand::{Operand, resolve};
use crate::table::{Flag, Format, Implicit, Kind, NO_OP, Row, Ty};
use crate::target::Target;
use crate::width;

/// Why bytes are no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes end inside an instruction.
    Truncated,
    /// No row of the table matches.
    Unknown,
}

/// Source modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mods(pub u32);

impl Mods {
    /// Negate (packed: the low half).
    #[allow(clippy::should_implement_trait)]
    pub fn neg(self) -> bool {
        self.0 & 1 != 0
    }
    /// Absolute value.
    pub fn abs(self) -> bool {
        self.0 & 2 != 0
    }
    /// SDWA integer operand: sign-extend.
    pub fn sext(self) -> bool {
        self.0 & 16 != 0
    }
    /// Packed: negate the high half.
    pub fn neg_hi(self) -> bool {
        self.0 & 2 != 0
    }
    /// Take the upper half (packed: for the low result).
    pub fn op_sel(self) -> bool {
        self.0 & 4 != 0
    }
    /// Packed: take the upper half for the high result. On src0 of an unpacked instruction: write the upper half.
    pub fn op_sel_hi(self) -> bool {
        self.0 & 8 != 0
    }
}

/// Most fields that a row has.
pub(crate) const FIELDS: usize = 24;

/// A decoded instruction: its row of the table and the values of its fields.
#[derive(Clone, PartialEq, Eq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// The target it was decoded for.
    pub target: Target,
    pub(crate) row: u16,
    /// Length in bytes: 4 to 20.
    pub len: u8,
    pub(crate) count: u8,
    pub(crate) fields: [Field; FIELDS],
    pub(crate) values: [u32; FIELDS],
    /// The literal behind the instruction.
    pub literal: Option<u64>,
}

impl std::fmt::Debug for Inst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {{", self.row().name())?;
        for i in 0..usize::from(self.count) {
            write!(f, " {:?}={:#x}", self.fields[i], self.values[i])?;
        }
        if let Some(l) = self.literal {
            write!(f, " literal={l:#x}")?;
        }
        write!(f, " }}")
    }
}

impl Inst {
    pub(crate) fn row(&self) -> &'static Row {
        &ROWS[usize::from(self.row)]
    }

    /// LLVM's name of the record that decoded it.
    pub fn record(&self) -> &'static str {
        self.row().name()
    }

    /// The second operation of a dual-issue pair.
    pub fn op_y(&self) -> Option<Op> {
        let y = self.row().op_y;
        (y != NO_OP).then(|| Op::ALL[usize::from(y)])
    }

    /// How it is encoded.
    pub fn format(&self) -> Format {
        self.row().format
    }

    /// The raw bits of a field, if the instruction has it.
    pub fn raw(&self, field: Field) -> Option<u32> {
        self.fields[..usize::from(self.count)].iter().position(|f| *f == field).map(|i| self.values[i])
    }

    /// The raw bits of a field, 0 if it has none.
    pub fn get(&self, field: Field) -> u32 {
        self.raw(field).unwrap_or(0)
    }

    /// A flag-like field is set.
    pub fn is(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    /// Whether it has that operand.
    pub fn has(&self, field: Field) -> bool {
        self.row().operands().any(|(_, f, _)| f == field)
    }

    /// What a register or constant operand names. None if there is no such operand, or it is an immediate. An operand
    /// that no bits encode (implied ones, such as VCC) is None too.
    pub fn operand(&self, field: Field) -> Option<Operand> {
        let (class, _, _) = self.row().operands().find(|(c, f, _)| *f == field && c.kind != Kind::Imm)?;
        if class.kind == Kind::Kimm {
            return Some(Operand::Const(self.literal.unwrap_or(u64::from(self.get(field)))));
        }
        let mut raw = self.raw(field)?;
        if class.kind == Kind::VopdDstY {
            raw |= !self.get(Field::vdstX) & 1;
        }
        let mut operand = resolve(self.target, class, raw, self.literal)?;
        // LLVM PR 70274: the hardware extends the sign for signed operands, and 0 for others.
        if let Operand::Const(c) = &mut operand
            && raw & 0x1ff == 255
            && class.ty == Ty::I64
            && self.row().signed64()
        {
            *c = i64::from((*c as u32).cast_signed()).cast_unsigned();
        }
        // VOP3 says which half of a 16-bit register in the source's modifiers; the result's half in src0's.
        if let Operand::Vgpr { reg, .. } = operand
            && class.is_true16()
            && self.row().vop3()
        {
            let hi = match field {
                Field::src0 => self.mods(Field::src0_modifiers).op_sel(),
                Field::src1 => self.mods(Field::src1_modifiers).op_sel(),
                Field::src2 => self.mods(Field::src2_modifiers).op_sel(),
                Field::vdst => self.mods(Field::src0_modifiers).op_sel_hi(),
                _ => false,
            };
            return Some(Operand::Vgpr { reg, hi });
        }
        Some(operand)
    }

    /// Width of an operand in bits; 0 if it is none, or is one bit a lane.
    pub fn bits(&self, field: Field) -> u16 {
        self.row().operands().find(|(_, f, _)| *f == field).map_or(0, |(c, _, _)| width::bits(self, c, field))
    }

    /// How constants of the operand expand.
    pub fn ty(&self, field: Field) -> Option<Ty> {
        self.row().operands().find(|(_, f, _)| *f == field).map(|(c, _, _)| c.ty)
    }

    /// Source modifiers.
    pub fn mods(&self, field: Field) -> Mods {
        Mods(self.get(field))
    }

    /// Memory offset or branch distance, sign-extended where the encoding is signed.
    pub fn offset(&self) -> i64 {
        let sext = |x: u32, n: u32| i64::from((x << (32 - n)).cast_signed() >> (32 - n));
        let flat = matches!(self.format(), Format::Flat | Format::Global | Format::Scratch);
        if let Some(x) = self.raw(Field::simm16) {
            return sext(x, 16);
        }
        let x = self.get(Field::offset);
        match self.format() {
            _ if flat && self.is_gfx12() => sext(x, 24),
            // FLAT itself has 12 bits without a sign; global and scratch instructions have 13 with one.
            Format::Flat => i64::from(x & 0xfff),
            _ if flat => sext(x, 13),
            Format::Smem if self.target.is_gfx9() || !self.is_gfx12() => sext(x, 21),
            Format::Smem => sext(x, 24),
            Format::Mubuf | Format::Mtbuf if self.is_gfx12() => sext(x, 24),
            _ => i64::from(x),
        }
    }

    pub(crate) fn is_gfx12(&self) -> bool {
        matches!(self.target, Target::Gfx1201 | Target::Gfx1250)
    }

    /// The first operand that it writes.
    pub fn dst(&self) -> Option<Operand> {
        let (_, field, _) = self.row().operands().find(|(_, _, out)| *out)?;
        self.operand(field)
    }

    /// Its operands in LLVM's order: field, and whether it is a result.
    pub fn operands(&self) -> impl Iterator<Item = (Field, bool)> {
        self.row().operands().map(|(_, f, out)| (f, out))
    }

    /// Whether it reads a register that no operand names.
    pub fn reads(&self, r: Implicit) -> bool {
        self.row().uses >> r as u8 & 1 != 0
    }

    /// Whether it writes a register that no operand names.
    pub fn writes(&self, r: Implicit) -> bool {
        self.row().defs >> r as u8 & 1 != 0
    }

    /// Whether the record has that flag.
    pub fn flag(&self, f: Flag) -> bool {
        self.row().flags >> f as u8 & 1 != 0
    }

    /// An atomic that answers the old value.
    pub fn returns(&self) -> bool {
        self.flag(Flag::AtomicReturns)
    }

    /// It may read memory.
    pub fn loads(&self) -> bool {
        self.flag(Flag::Loads)
    }

    /// It may write memory.
    pub fn stores(&self) -> bool {
        self.flag(Flag::Stores)
    }
}
