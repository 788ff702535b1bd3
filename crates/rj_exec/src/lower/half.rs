//! Instructions of 16-bit operands: f16, i16, u16, and conversions from and to them. Packed ones are in `vop3p`.

use super::build::{Lower, Src, modifiers};
use super::valu::{finish32, is_vector};
use super::{Flow, Refusal, Result};
use crate::cross;
use crate::ops::f16::*;
use crate::ops::f32ops::Mov;
use crate::ops::short::*;
use crate::shapes::{Bin, Tri, Un};
use crate::wave::v_off;
use rj_isa::{Field, Format, Inst, Op, Operand};

const S0: Field = Field::src0;
const S1: Field = Field::src1;
const S2: Field = Field::src2;

/// Lowers a 16-bit instruction.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    use Op::*;
    if !is_vector(i.format()) || i.format() == Format::Vop3p {
        return Err(Refusal::Unsupported);
    }
    let clamp = i.is(Field::clamp);
    match i.op {
        V_ADD_F16 => f2::<AddF16>(l, i)?,
        V_SUB_F16 => f2::<SubF16>(l, i)?,
        V_SUBREV_F16 => {
            let (a, b) = (float(l, i, S0)?, float(l, i, S1)?);
            let out = out(l, i)?;
            l.bin::<SubF16>(out.temp, b, a);
            out.close_float(l);
        }
        V_MUL_F16 => f2::<MulF16>(l, i)?,
        V_MIN_F16 => f2::<MinF16>(l, i)?,
        V_MAX_F16 => f2::<MaxF16>(l, i)?,
        V_FMA_F16 | V_FMA_LEGACY_F16 => f3::<FmaF16>(l, i)?,
        V_MAD_F16 | V_MAD_LEGACY_F16 => f3::<MadF16>(l, i)?,
        V_DIV_FIXUP_F16 | V_DIV_FIXUP_LEGACY_F16 => f3::<DivFixupF16>(l, i)?,
        V_MIN3_F16 => f3::<Min3F16>(l, i)?,
        V_MAX3_F16 => f3::<Max3F16>(l, i)?,
        V_MED3_F16 => f3::<Med3F16>(l, i)?,
        V_MAC_F16 => mac::<MadF16>(l, i)?,
        V_FMAC_F16 => mac::<FmaF16>(l, i)?,
        V_MADMK_F16 => constant::<MadF16>(l, i, true)?,
        V_MADAK_F16 => constant::<MadF16>(l, i, false)?,
        V_FMAMK_F16 => constant::<FmaF16>(l, i, true)?,
        V_FMAAK_F16 => constant::<FmaF16>(l, i, false)?,
        V_RNDNE_F16 => f1::<RndneF16>(l, i)?,
        V_FLOOR_F16 => f1::<FloorF16>(l, i)?,
        V_CEIL_F16 => f1::<CeilF16>(l, i)?,
        V_TRUNC_F16 => f1::<TruncF16>(l, i)?,
        V_FRACT_F16 => f1::<FractF16>(l, i)?,
        V_SQRT_F16 => f1::<SqrtF16>(l, i)?,
        V_RCP_F16 => f1::<RcpF16>(l, i)?,
        V_RSQ_F16 => f1::<RsqF16>(l, i)?,
        V_EXP_F16 => f1::<ExpF16>(l, i)?,
        V_LOG_F16 => f1::<LogF16>(l, i)?,
        V_SIN_F16 => f1::<SinF16>(l, i)?,
        V_COS_F16 => f1::<CosF16>(l, i)?,
        V_FREXP_MANT_F16 => f1::<FrexpMantF16>(l, i)?,
        V_FREXP_EXP_I16_F16 => from_float::<FrexpExpI16F16>(l, i)?,
        V_CVT_U16_F16 => from_float::<CvtU16F16>(l, i)?,
        V_CVT_I16_F16 => from_float::<CvtI16F16>(l, i)?,
        V_CVT_NORM_I16_F16 => from_float::<CvtNormI16F16>(l, i)?,
        V_CVT_NORM_U16_F16 => from_float::<CvtNormU16F16>(l, i)?,
        V_CVT_F16_U16 => to_float::<CvtF16U16>(l, i)?,
        V_CVT_F16_I16 => to_float::<CvtF16I16>(l, i)?,
        V_LDEXP_F16 => {
            let (a, b) = (float(l, i, S0)?, bits(l, i, S1)?);
            let out = out(l, i)?;
            l.bin::<LdexpF16>(out.temp, a, b);
            out.close_float(l);
        }
        V_CVT_F16_F32 => {
            let a = l.f32(i, S0)?;
            let out = out(l, i)?;
            l.un::<CvtF16F32>(out.temp, a);
            out.close_float(l);
        }
        V_CVT_F32_F16 => {
            let a = float(l, i, S0)?;
            let out = l.out_f32(i)?;
            l.un::<CvtF32F16>(out.temp, a);
            l.close_f32(out);
        }
        // Packed results of 32 bits.
        V_CVT_PKRTZ_F16_F32 => {
            let (a, b) = (l.f32(i, S0)?, l.f32(i, S1)?);
            whole::<CvtPkrtzF16F32>(l, i, a, b)?;
        }
        V_CVT_PKNORM_I16_F32 => norm::<CvtNormI16F32>(l, i, false)?,
        V_CVT_PKNORM_U16_F32 => norm::<CvtNormU16F32>(l, i, false)?,
        V_CVT_PKNORM_I16_F16 => norm::<CvtNormI16F16>(l, i, true)?,
        V_CVT_PKNORM_U16_F16 => norm::<CvtNormU16F16>(l, i, true)?,
        V_PACK_B32_F16 => {
            let (a, b) = (float(l, i, S0)?, float(l, i, S1)?);
            whole::<Pack>(l, i, a, b)?;
        }
        V_CVT_PK_U16_U32 => raw2::<CvtPkU16U32>(l, i)?,
        V_CVT_PK_I16_I32 => raw2::<CvtPkI16I32>(l, i)?,
        // 16-bit integers.
        V_ADD_U16 if clamp => i2::<AddSatU16>(l, i)?,
        V_SUB_U16 if clamp => i2::<SubSatU16>(l, i)?,
        V_SUBREV_U16 if clamp => rev::<SubSatU16>(l, i)?,
        V_MUL_LO_U16 if clamp => i2::<MulSatU16>(l, i)?,
        V_ADD_I16 if clamp => i2::<AddSatI16>(l, i)?,
        V_SUB_I16 if clamp => i2::<SubSatI16>(l, i)?,
        V_MAD_U16 | V_MAD_LEGACY_U16 if clamp => i3::<MadSatU16>(l, i)?,
        V_MAD_I16 | V_MAD_LEGACY_I16 if clamp => i3::<MadSatI16>(l, i)?,
        V_ADD_U16 | V_ADD_I16 => i2::<AddU16>(l, i)?,
        V_SUB_U16 | V_SUB_I16 => i2::<SubU16>(l, i)?,
        V_SUBREV_U16 => rev::<SubU16>(l, i)?,
        V_MUL_LO_U16 => i2::<MulLoU16>(l, i)?,
        V_MAD_U16 | V_MAD_LEGACY_U16 | V_MAD_I16 | V_MAD_LEGACY_I16 => i3::<MadU16>(l, i)?,
        V_LSHLREV_B16 => i2::<LshlrevB16>(l, i)?,
        V_LSHRREV_B16 => i2::<LshrrevB16>(l, i)?,
        V_ASHRREV_I16 => i2::<AshrrevI16>(l, i)?,
        V_MIN_U16 => i2::<MinU16>(l, i)?,
        V_MAX_U16 => i2::<MaxU16>(l, i)?,
        V_MIN_I16 => i2::<MinI16>(l, i)?,
        V_MAX_I16 => i2::<MaxI16>(l, i)?,
        V_MIN3_U16 => i3::<Min3U16>(l, i)?,
        V_MAX3_U16 => i3::<Max3U16>(l, i)?,
        V_MED3_U16 => i3::<Med3U16>(l, i)?,
        V_MIN3_I16 => i3::<Min3I16>(l, i)?,
        V_MAX3_I16 => i3::<Max3I16>(l, i)?,
        V_MED3_I16 => i3::<Med3I16>(l, i)?,
        V_MAD_U32_U16 if clamp => widening::<MadSatU32U16>(l, i)?,
        V_MAD_I32_I16 if clamp => widening::<MadSatI32I16>(l, i)?,
        V_MAD_U32_U16 => widening::<MadU32U16>(l, i)?,
        V_MAD_I32_I16 => widening::<MadI32I16>(l, i)?,
        _ => return compare(l, i),
    }
    Ok(Flow::On)
}

/// A 16-bit source in the low half of its lanes (the upper half is anything).
fn bits(l: &mut Lower<'_, '_>, i: &Inst, f: Field) -> Result<Src> {
    let (op, mut hi) = match l.operand(i, f)? {
        Operand::Vgpr { reg, hi } => (Operand::Vgpr { reg, hi: false }, hi),
        op => (op, false),
    };
    let s = l.select(i, f, op)?;
    hi |= i.format() == Format::Vop3 && i.mods(modifiers(f)).op_sel();
    Ok(if hi { apply::<High>(l, s) } else { s })
}

/// The same with the modifiers of an f16 source.
fn float(l: &mut Lower<'_, '_>, i: &Inst, f: Field) -> Result<Src> {
    let s = bits(l, i, f)?;
    let m = i.mods(modifiers(f));
    Ok(match (m.neg(), m.abs()) {
        (false, false) => s,
        (true, false) => apply::<NegF16>(l, s),
        (false, true) => apply::<AbsF16>(l, s),
        (true, true) => apply::<NegAbsF16>(l, s),
    })
}

fn apply<O: Un>(l: &mut Lower<'_, '_>, s: Src) -> Src {
    let t = l.temps(1);
    l.un::<O>(t, s);
    Src { off: t, scalar: false }
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Zero-extended to the register.
    Whole,
    Low,
    High,
    Sdwa(u32),
}

/// Where a 16-bit result goes.
#[derive(Clone, Copy)]
struct Out {
    temp: u32,
    dst: u32,
    omod: u32,
    clamp: bool,
    place: Place,
}

/// gfx9's operations with op_sel write one half of the register; its others zero the upper half (LLVM's
/// `zeroesHigh16BitsOfDest`). Later targets always write one half.
fn keeps_other_half(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        V_MAD_F16
            | V_MAD_U16
            | V_MAD_I16
            | V_FMA_F16
            | V_DIV_FIXUP_F16
            | V_MIN3_F16
            | V_MAX3_F16
            | V_MED3_F16
            | V_MIN3_I16
            | V_MAX3_I16
            | V_MED3_I16
            | V_MIN3_U16
            | V_MAX3_U16
            | V_MED3_U16
            | V_ADD_I16
            | V_SUB_I16
    )
}

fn out(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Out> {
    let Operand::Vgpr { reg, mut hi } = l.operand(i, Field::vdst)? else { return Err(Refusal::Operand) };
    let dst = v_off(usize::from(reg));
    let (omod, clamp) = (i.get(Field::omod), i.is(Field::clamp));
    hi |= i.format() == Format::Vop3 && i.mods(Field::src0_modifiers).op_sel_hi();
    let place = match i.format() {
        Format::Sdwa if i.get(Field::dst_sel) != 6 => {
            Place::Sdwa(i.get(Field::dst_sel) | i.get(Field::dst_unused) << 8)
        }
        Format::Sdwa => Place::Whole,
        _ if hi => Place::High,
        _ if !l.target.is_gfx9() || keeps_other_half(i.op) => Place::Low,
        _ => Place::Whole,
    };
    let temp = if omod != 0 || clamp || place != Place::Whole { l.temps(1) } else { dst };
    Ok(Out { temp, dst, omod, clamp, place })
}

impl Out {
    fn close_float(self, l: &mut Lower<'_, '_>) {
        let t = Src { off: self.temp, scalar: false };
        match self.omod {
            1 => l.un::<Mul2F16>(self.temp, t),
            2 => l.un::<Mul4F16>(self.temp, t),
            3 => l.un::<Div2F16>(self.temp, t),
            _ => {}
        }
        if self.clamp {
            l.un::<ClampF16>(self.temp, t);
        }
        self.close(l);
    }

    fn close(self, l: &mut Lower<'_, '_>) {
        let (t, d) = (Src { off: self.temp, scalar: false }, Src { off: self.dst, scalar: false });
        match self.place {
            Place::Low => l.bin::<InsertLow>(self.dst, t, d),
            Place::High => l.bin::<InsertHigh>(self.dst, t, d),
            Place::Sdwa(how) => l.emit(cross::sdwa_store, self.dst, self.temp, 0, 0, u64::from(how)),
            Place::Whole if self.temp != self.dst => l.un::<Mov>(self.dst, t),
            Place::Whole => {}
        }
        l.unmask();
    }
}

fn f1<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = float(l, i, S0)?;
    let out = out(l, i)?;
    l.un::<O>(out.temp, a);
    out.close_float(l);
    Ok(())
}

fn f2<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (float(l, i, S0)?, float(l, i, S1)?);
    let out = out(l, i)?;
    l.bin::<O>(out.temp, a, b);
    out.close_float(l);
    Ok(())
}

fn f3<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b, c) = (float(l, i, S0)?, float(l, i, S1)?, float(l, i, S2)?);
    let out = out(l, i)?;
    l.tri::<O>(out.temp, a, b, c);
    out.close_float(l);
    Ok(())
}

/// The destination is the third source.
fn mac<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (float(l, i, S0)?, float(l, i, S1)?);
    let out = out(l, i)?;
    let mut c = Src { off: out.dst, scalar: false };
    if out.place == Place::High {
        c = apply::<High>(l, c);
    }
    l.tri::<O>(out.temp, a, b, c);
    out.close_float(l);
    Ok(())
}

/// `mk`: a * K + b; else a * b + K.
fn constant<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst, mk: bool) -> Result<()> {
    let (a, b) = (float(l, i, S0)?, float(l, i, S1)?);
    let x = i.literal.map_or_else(|| i.get(Field::imm), |x| x as u32);
    let k = Src { off: l.const32(x), scalar: true };
    let out = out(l, i)?;
    if mk {
        l.tri::<O>(out.temp, a, k, b)
    } else {
        l.tri::<O>(out.temp, a, b, k)
    }
    out.close(l);
    Ok(())
}

fn from_float<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = float(l, i, S0)?;
    let out = out(l, i)?;
    l.un::<O>(out.temp, a);
    out.close(l);
    Ok(())
}

fn to_float<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = bits(l, i, S0)?;
    let out = out(l, i)?;
    l.un::<O>(out.temp, a);
    out.close_float(l);
    Ok(())
}

fn i2<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (bits(l, i, S0)?, bits(l, i, S1)?);
    let out = out(l, i)?;
    l.bin::<O>(out.temp, a, b);
    out.close(l);
    Ok(())
}

fn rev<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (bits(l, i, S0)?, bits(l, i, S1)?);
    let out = out(l, i)?;
    l.bin::<O>(out.temp, b, a);
    out.close(l);
    Ok(())
}

fn i3<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b, c) = (bits(l, i, S0)?, bits(l, i, S1)?, bits(l, i, S2)?);
    let out = out(l, i)?;
    l.tri::<O>(out.temp, a, b, c);
    out.close(l);
    Ok(())
}

/// Two 16-bit sources, a 32-bit one and result.
fn widening<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b, c) = (bits(l, i, S0)?, bits(l, i, S1)?, l.bits32(i, S2)?);
    let d = l.vdst(i)?;
    l.tri::<O>(d, a, b, c);
    l.unmask();
    Ok(())
}

/// Sources at hand, a result of 32 bits.
fn whole<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst, a: Src, b: Src) -> Result<()> {
    let out = l.out_bits(i)?;
    l.bin::<O>(out.temp, a, b);
    l.close_bits(out);
    Ok(())
}

fn raw2<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.bits32(i, S0)?, l.bits32(i, S1)?);
    whole::<O>(l, i, a, b)
}

fn norm<O: Un>(l: &mut Lower<'_, '_>, i: &Inst, half: bool) -> Result<()> {
    let (a, b) = if half { (float(l, i, S0)?, float(l, i, S1)?) } else { (l.f32(i, S0)?, l.f32(i, S1)?) };
    let (a, b) = (apply::<O>(l, a), apply::<O>(l, b));
    whole::<Pack>(l, i, a, b)
}

/// The comparisons of a type by LLVM's condition names.
macro_rules! conditions {
    ($l:ident, $i:ident, $name:ident, $source:ident, $ty:literal, $($cond:literal => $o:ty),*) => {
        $(if $name == concat!($cond, $ty) {
            let (a, b) = ($source($l, $i, S0)?, $source($l, $i, S1)?);
            return finish32::<$o>($l, $i, a, b);
        })*
    };
}

fn compare(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    use crate::ops::cmp::{CmpFalse, CmpTrue};
    let full = i.op.name();
    let Some(name) = full.strip_prefix("V_CMP_").or_else(|| full.strip_prefix("V_CMPX_")) else {
        return Err(Refusal::Unsupported);
    };
    conditions!(l, i, name, float, "_F16", "F" => CmpFalse, "LT" => CmpLtF16, "EQ" => CmpEqF16, "LE" => CmpLeF16,
        "GT" => CmpGtF16, "LG" => CmpLgF16, "GE" => CmpGeF16, "O" => CmpOF16, "U" => CmpUF16, "NGE" => CmpNgeF16,
        "NLG" => CmpNlgF16, "NGT" => CmpNgtF16, "NLE" => CmpNleF16, "NEQ" => CmpNeqF16, "NLT" => CmpNltF16,
        "TRU" => CmpTrue, "T" => CmpTrue);
    conditions!(l, i, name, bits, "_I16", "F" => CmpFalse, "LT" => CmpLtI16, "EQ" => CmpEqI16, "LE" => CmpLeI16,
        "GT" => CmpGtI16, "NE" => CmpNeI16, "GE" => CmpGeI16, "T" => CmpTrue);
    conditions!(l, i, name, bits, "_U16", "F" => CmpFalse, "LT" => CmpLtU16, "EQ" => CmpEqU16, "LE" => CmpLeU16,
        "GT" => CmpGtU16, "NE" => CmpNeU16, "GE" => CmpGeU16, "T" => CmpTrue);
    if name == "CLASS_F16" {
        let (a, b) = (float(l, i, S0)?, bits(l, i, S1)?);
        return finish32::<CmpClassF16>(l, i, a, b);
    }
    Err(Refusal::Unsupported)
}
