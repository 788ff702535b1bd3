//! Packed 16-bit instructions, dot products, and fused multiply-adds of mixed width.

use super::build::{Lower, Src, modifiers};
use super::{Flow, Refusal, Result};
use crate::half::{f16_to_f32, f32_to_f16};
use crate::ops::f16::*;
use crate::ops::f32ops::{AbsF32, ClampF32, FmaF32, NegF32};
use crate::ops::short::*;
use crate::shapes::{Bin, Tri, Un};
use rj_isa::{Field, Format, Inst, Op, Operand, Target, Ty};

const S0: Field = Field::src0;
const S1: Field = Field::src1;
const S2: Field = Field::src2;

/// Lowers a packed 16-bit instruction, a dot product or a mixed fma.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    use Op::*;
    let clamp = i.is(Field::clamp);
    match i.op {
        V_PK_ADD_U16 if clamp => i2::<AddSatU16>(l, i)?,
        V_PK_SUB_U16 if clamp => i2::<SubSatU16>(l, i)?,
        V_PK_ADD_I16 if clamp => i2::<AddSatI16>(l, i)?,
        V_PK_SUB_I16 if clamp => i2::<SubSatI16>(l, i)?,
        V_PK_MUL_LO_U16 if clamp => i2::<MulSatU16>(l, i)?,
        V_PK_MAD_U16 if clamp => i3::<MadSatU16>(l, i)?,
        V_PK_MAD_I16 if clamp => i3::<MadSatI16>(l, i)?,
        V_PK_ADD_U16 | V_PK_ADD_I16 => i2::<AddU16>(l, i)?,
        V_PK_SUB_U16 | V_PK_SUB_I16 => i2::<SubU16>(l, i)?,
        V_PK_MUL_LO_U16 => i2::<MulLoU16>(l, i)?,
        V_PK_MAD_U16 | V_PK_MAD_I16 => i3::<MadU16>(l, i)?,
        V_PK_LSHLREV_B16 => i2::<LshlrevB16>(l, i)?,
        V_PK_LSHRREV_B16 => i2::<LshrrevB16>(l, i)?,
        V_PK_ASHRREV_I16 => i2::<AshrrevI16>(l, i)?,
        V_PK_MIN_U16 => i2::<MinU16>(l, i)?,
        V_PK_MAX_U16 => i2::<MaxU16>(l, i)?,
        V_PK_MIN_I16 => i2::<MinI16>(l, i)?,
        V_PK_MAX_I16 => i2::<MaxI16>(l, i)?,
        V_PK_ADD_F16 => f2::<AddF16>(l, i)?,
        V_PK_MUL_F16 => f2::<MulF16>(l, i)?,
        V_PK_MIN_F16 => f2::<MinF16>(l, i)?,
        V_PK_MAX_F16 => f2::<MaxF16>(l, i)?,
        V_PK_FMA_F16 => {
            let (a, b, c) = (floats(l, i, S0)?, floats(l, i, S1)?, floats(l, i, S2)?);
            pk3::<FmaF16>(l, i, a, b, c, clamp)?;
        }
        V_PK_FMAC_F16 => {
            let (a, b) = (floats(l, i, S0)?, floats(l, i, S1)?);
            let d = Src { off: l.vdst(i)?, scalar: false };
            let high = apply::<High>(l, d);
            pk3::<FmaF16>(l, i, a, b, (d, high), clamp)?;
        }
        V_DOT2_F32_F16 | V_DOT2C_F32_F16 => dot2_f32(l, i)?,
        V_DOT2_I32_I16 if clamp => dot::<Dot2SatI32I16>(l, i, true)?,
        V_DOT2_U32_U16 if clamp => dot::<Dot2SatU32U16>(l, i, true)?,
        V_DOT4_I32_I8 if clamp => dot::<Dot4SatI32I8>(l, i, false)?,
        V_DOT4_U32_U8 if clamp => dot::<Dot4SatU32U8>(l, i, false)?,
        V_DOT8_I32_I4 if clamp => dot::<Dot8SatI32I4>(l, i, false)?,
        V_DOT8_U32_U4 if clamp => dot::<Dot8SatU32U4>(l, i, false)?,
        V_DOT2_I32_I16 => dot::<Dot2I32I16>(l, i, true)?,
        V_DOT2_U32_U16 => dot::<Dot2U32U16>(l, i, true)?,
        V_DOT4_I32_I8 => dot::<Dot4I32I8>(l, i, false)?,
        V_DOT4_U32_U8 => dot::<Dot4U32U8>(l, i, false)?,
        V_DOT8_I32_I4 => dot::<Dot8I32I4>(l, i, false)?,
        V_DOT8_U32_U4 => dot::<Dot8U32U4>(l, i, false)?,
        V_DOT2C_I32_I16 if clamp => dotc::<Dot2SatI32I16>(l, i)?,
        V_DOT4C_I32_I8 if clamp => dotc::<Dot4SatI32I8>(l, i)?,
        V_DOT8C_I32_I4 if clamp => dotc::<Dot8SatI32I4>(l, i)?,
        V_DOT2C_I32_I16 => dotc::<Dot2I32I16>(l, i)?,
        V_DOT4C_I32_I8 => dotc::<Dot4I32I8>(l, i)?,
        V_DOT8C_I32_I4 => dotc::<Dot8I32I4>(l, i)?,
        V_FMA_MIX_F32 => {
            let (a, b, c) = (mixed(l, i, S0)?, mixed(l, i, S1)?, mixed(l, i, S2)?);
            let d = l.vdst(i)?;
            l.tri::<FmaF32>(d, a, b, c);
            if clamp {
                l.un::<ClampF32>(d, Src { off: d, scalar: false });
            }
        }
        V_FMA_MIXLO_F16 | V_FMA_MIXHI_F16 => {
            let (a, b, c) = (mixed(l, i, S0)?, mixed(l, i, S1)?, mixed(l, i, S2)?);
            let d = l.vdst(i)?;
            let t = Src { off: l.temps(1), scalar: false };
            l.tri::<FmaMixF16>(t.off, a, b, c);
            if clamp {
                l.un::<ClampF16>(t.off, t);
            }
            let old = Src { off: d, scalar: false };
            if i.op == V_FMA_MIXLO_F16 { l.bin::<InsertLow>(d, t, old) } else { l.bin::<InsertHigh>(d, t, old) }
        }
        _ => return Err(Refusal::Unsupported),
    }
    Ok(Flow::On)
}

fn apply<O: Un>(l: &mut Lower<'_, '_>, s: Src) -> Src {
    let t = l.temps(1);
    l.un::<O>(t, s);
    Src { off: t, scalar: false }
}

/// A packed source: what its low and its high result see, each in the low half of a plane.
type Pair = (Src, Src);

fn halves(l: &mut Lower<'_, '_>, i: &Inst, f: Field) -> Result<Pair> {
    let s = l.bits32(i, f)?;
    let m = i.mods(modifiers(f));
    // Other encodings have no selects: they mean the low half for the low result, the upper for the high.
    let (lo, hi) = if i.format() == Format::Vop3p { (m.op_sel(), m.op_sel_hi()) } else { (false, true) };
    let upper = if lo || hi { apply::<High>(l, s) } else { s };
    let pick = |h: bool| if h { upper } else { s };
    Ok((pick(lo), pick(hi)))
}

/// The same with negation of either half.
fn floats(l: &mut Lower<'_, '_>, i: &Inst, f: Field) -> Result<Pair> {
    let (mut lo, mut hi) = halves(l, i, f)?;
    let m = i.mods(modifiers(f));
    if m.neg() {
        lo = apply::<NegF16>(l, lo);
    }
    if m.neg_hi() {
        hi = apply::<NegF16>(l, hi);
    }
    Ok((lo, hi))
}

fn store(l: &mut Lower<'_, '_>, i: &Inst, lo: u32, hi: u32, clamp: bool) -> Result<()> {
    let d = l.vdst(i)?;
    let (a, b) = (Src { off: lo, scalar: false }, Src { off: hi, scalar: false });
    if clamp {
        l.un::<ClampF16>(lo, a);
        l.un::<ClampF16>(hi, b);
    }
    l.bin::<Pack>(d, a, b);
    l.unmask();
    Ok(())
}

fn pk2<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst, a: Pair, b: Pair, clamp: bool) -> Result<()> {
    let (lo, hi) = (l.temps(1), l.temps(1));
    l.bin::<O>(lo, a.0, b.0);
    l.bin::<O>(hi, a.1, b.1);
    store(l, i, lo, hi, clamp)
}

fn pk3<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst, a: Pair, b: Pair, c: Pair, clamp: bool) -> Result<()> {
    let (lo, hi) = (l.temps(1), l.temps(1));
    l.tri::<O>(lo, a.0, b.0, c.0);
    l.tri::<O>(hi, a.1, b.1, c.1);
    store(l, i, lo, hi, clamp)
}

fn i2<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (halves(l, i, S0)?, halves(l, i, S1)?);
    pk2::<O>(l, i, a, b, false)
}

fn i3<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b, c) = (halves(l, i, S0)?, halves(l, i, S1)?, halves(l, i, S2)?);
    pk3::<O>(l, i, a, b, c, false)
}

fn f2<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (floats(l, i, S0)?, floats(l, i, S1)?);
    pk2::<O>(l, i, a, b, i.is(Field::clamp))
}

/// `c + a.lo b.lo + a.hi b.hi`, rounded after each product (approximate: the hardware's adder is not published).
/// gfx90a reads f16 denormals as +0 in every mode (LLVM PR 205101).
fn dot2_f32(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (floats(l, i, S0)?, floats(l, i, S1)?);
    let [a0, a1, b0, b1] = [a.0, a.1, b.0, b.1].map(|s| {
        let s = if l.target == Target::Gfx90a { apply::<FlushF16>(l, s) } else { s };
        apply::<CvtF32F16>(l, s)
    });
    if i.op == Op::V_DOT2_F32_F16 {
        let mut c = l.bits32(i, S2)?;
        if i.mods(Field::src2_modifiers).neg() {
            c = apply::<NegF32>(l, c);
        }
        let d = l.vdst(i)?;
        let t = l.temps(1);
        l.tri::<FmaF32>(t, a0, b0, c);
        l.tri::<FmaF32>(d, a1, b1, Src { off: t, scalar: false });
        if i.is(Field::clamp) {
            l.un::<ClampF32>(d, Src { off: d, scalar: false });
        }
        return Ok(());
    }
    let out = l.out_f32(i)?;
    let t = l.temps(1);
    l.tri::<FmaF32>(t, a0, b0, Src { off: out.dst, scalar: false });
    l.tri::<FmaF32>(out.temp, a1, b1, Src { off: t, scalar: false });
    l.close_f32(out);
    Ok(())
}

/// `select`: op_sel chooses the halves of the factors.
fn dot<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst, select: bool) -> Result<()> {
    let mut factor = |f: Field| {
        let m = i.mods(modifiers(f));
        if select && (m.op_sel() || !m.op_sel_hi()) {
            let (lo, hi) = halves(l, i, f)?;
            let t = l.temps(1);
            l.bin::<Pack>(t, lo, hi);
            return Ok(Src { off: t, scalar: false });
        }
        l.bits32(i, f)
    };
    let (a, b) = (factor(S0)?, factor(S1)?);
    let c = l.bits32(i, S2)?;
    let d = l.vdst(i)?;
    l.tri::<O>(d, a, b, c);
    Ok(())
}

/// The destination is the third source.
fn dotc<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.bits32(i, S0)?, l.bits32(i, S1)?);
    let d = l.vdst(i)?;
    l.tri::<O>(d, a, b, Src { off: d, scalar: false });
    l.unmask();
    Ok(())
}

/// A source that op_sel_hi makes an f16 (its half chosen by op_sel), as f32. Mods bit 1 is abs here.
fn mixed(l: &mut Lower<'_, '_>, i: &Inst, f: Field) -> Result<Src> {
    let m = i.mods(modifiers(f));
    let mut s = match l.operand(i, f)? {
        Operand::Const(x) => {
            let x = constant(x as u32, i.ty(f), m.op_sel_hi());
            Src { off: l.const32(x), scalar: true }
        }
        op => l.plain(op)?,
    };
    if m.op_sel_hi() {
        if m.op_sel() {
            s = apply::<High>(l, s);
        }
        s = apply::<CvtF32F16>(l, s);
    }
    if m.abs() {
        s = apply::<AbsF32>(l, s);
    }
    if m.neg() {
        s = apply::<NegF32>(l, s);
    }
    Ok(s)
}

/// An inline constant has the width that the operand has; decoding gave it that of the record's type.
fn constant(x: u32, ty: Option<Ty>, half: bool) -> u32 {
    let wide = !matches!(ty, Some(Ty::F16 | Ty::V2F16 | Ty::I16 | Ty::V2I16));
    let integer = (-16..=64).contains(&x.cast_signed()) || !wide && (-16..=64).contains(&(x as u16).cast_signed());
    match (wide, half) {
        _ if integer => x,
        (true, true) => u32::from(f32_to_f16(f32::from_bits(x))),
        (false, false) if x == 0x3118 => 0x3e22_f983,
        (false, false) => f16_to_f32(x as u16).to_bits(),
        _ => x,
    }
}
