//! Rare vector instructions: 8-bit conversions and sums, cube maps, swaps, clamped integers.

use super::build::{Lower, Src};
use super::{Flow, Refusal, Result};
use crate::ops::f32ops::{Mov, MulLegacyF32};
use crate::ops::rare::*;
use crate::ops::short::*;
use crate::shapes::{Bin, Tri, Un, Wide};
use crate::wave::PLANE;
use rj_isa::{Field, Inst, Op, Target};

const S0: Field = Field::src0;
const S1: Field = Field::src1;
const S2: Field = Field::src2;

/// Lowers a rare vector instruction.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    use Op::*;
    let clamp = i.is(Field::clamp);
    match i.op {
        // Exceptions are never raised: there is nothing to clear.
        V_CLREXCP => {}
        V_SWAP_B32 => {
            let a = l.bits32(i, S0)?;
            let d = Src { off: l.vdst(i)?, scalar: false };
            if a.scalar {
                return Err(Refusal::Operand);
            }
            let t = Src { off: l.temps(1), scalar: false };
            l.un::<Mov>(t.off, a);
            l.un::<Mov>(a.off, d);
            l.un::<Mov>(d.off, t);
        }
        V_CVT_OFF_F32_I4 => {
            let a = l.bits32(i, S0)?;
            let out = l.out_f32(i)?;
            l.un::<CvtOffF32I4>(out.temp, a);
            l.close_f32(out);
        }
        V_SAT_PK_U8_I16 => {
            let a = l.bits32(i, S0)?;
            let out = l.out_bits(i)?;
            l.un::<SatPkU8I16>(out.temp, a);
            l.close_bits(out);
        }
        V_CVT_PK_U8_F32 => {
            let (a, b, c) = (l.f32(i, S0)?, l.bits32(i, S1)?, l.bits32(i, S2)?);
            let d = l.vdst(i)?;
            l.tri::<CvtPkU8F32>(d, a, b, c);
        }
        V_CVT_PKACCUM_U8_F32 => {
            let (a, b) = (l.f32(i, S0)?, l.bits32(i, S1)?);
            let d = l.vdst(i)?;
            l.tri::<CvtPkU8F32>(d, a, b, Src { off: d, scalar: false });
            l.unmask();
        }
        V_LERP_U8 => tri::<LerpU8>(l, i)?,
        V_MAD_I32_I24 if clamp => tri::<MadSatI32I24>(l, i)?,
        V_MAD_U32_U24 if clamp => tri::<MadSatU32U24>(l, i)?,
        V_SAD_U8 if clamp => tri::<SadSatU8>(l, i)?,
        V_MSAD_U8 if clamp => tri::<MsadSatU8>(l, i)?,
        V_SAD_HI_U8 if clamp => tri::<SadHiSatU8>(l, i)?,
        V_SAD_U16 if clamp => tri::<SadSatU16>(l, i)?,
        V_SAD_U32 if clamp => tri::<SadSatU32>(l, i)?,
        V_MAD_LEGACY_F32 => {
            let (a, b, c) = (l.f32(i, S0)?, l.f32(i, S1)?, l.f32(i, S2)?);
            let out = l.out_f32(i)?;
            let t = l.temps(1);
            l.bin::<MulLegacyF32>(t, a, b);
            l.bin::<crate::ops::f32ops::AddF32>(out.temp, Src { off: t, scalar: false }, c);
            l.close_f32(out);
        }
        V_CUBEID_F32 => cube::<CubeidF32>(l, i)?,
        V_CUBESC_F32 => cube::<CubescF32>(l, i)?,
        V_CUBETC_F32 => cube::<CubetcF32>(l, i)?,
        V_CUBEMA_F32 => cube::<CubemaF32>(l, i)?,
        V_QSAD_PK_U16_U8 => quad::<QsadPkU16U8>(l, i)?,
        V_MQSAD_PK_U16_U8 => quad::<MqsadPkU16U8>(l, i)?,
        V_MQSAD_U32_U8 => {
            let (a, b, c) = (l.bits64(i, S0)?, l.bits32(i, S1)?, l.operand(i, S2)?);
            let c = l.plain(c)?;
            if c.scalar {
                return Err(Refusal::Operand);
            }
            let d = l.vdst(i)?;
            // Four sums, of four bytes of a at offsets 0 to 3; none may overwrite a source of a later one.
            let t = l.temps(4);
            let step = PLANE as u32;
            let b = l.vector(b);
            l.wide::<MqsadLow>(t, a.off, b, c.off);
            let (t2, c2) = (t + 2 * step, c.off + 2 * step);
            l.wide::<MqsadHigh>(t2, a.off, b, c2);
            for n in 0..4 {
                l.un::<Mov>(d + n * step, Src { off: t + n * step, scalar: false });
            }
        }
        V_TRIG_PREOP_F64 => {
            let (a, b) = (l.f64(i, S0)?, l.bits32(i, S1)?);
            let out = l.out_f64(i)?;
            l.wide::<TrigPreopF64>(out.temp, a.off, b.off, 0);
            l.close_f64(out);
        }
        _ if l.target == Target::Gfx942 => return fnuz(l, i),
        _ => return Err(Refusal::Unsupported),
    }
    Ok(Flow::On)
}

fn tri<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b, c) = (l.bits32(i, S0)?, l.bits32(i, S1)?, l.bits32(i, S2)?);
    let d = l.vdst(i)?;
    l.tri::<O>(d, a, b, c);
    Ok(())
}

fn cube<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b, c) = (l.f32(i, S0)?, l.f32(i, S1)?, l.f32(i, S2)?);
    let out = l.out_f32(i)?;
    l.tri::<O>(out.temp, a, b, c);
    l.close_f32(out);
    Ok(())
}

fn quad<O: Wide>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b, c) = (l.bits64(i, S0)?, l.bits32(i, S1)?, l.bits64(i, S2)?);
    let d = l.vdst(i)?;
    l.wide::<O>(d, a.off, b.off, c.off);
    Ok(())
}

/// The 8-bit floats of gfx942.
fn fnuz(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    use Op::*;
    match i.op {
        V_CVT_F32_FP8 => widen::<CvtF32Fp8>(l, i)?,
        V_CVT_F32_BF8 => widen::<CvtF32Bf8>(l, i)?,
        V_CVT_PK_F32_FP8 => widen2::<CvtF32Fp8>(l, i)?,
        V_CVT_PK_F32_BF8 => widen2::<CvtF32Bf8>(l, i)?,
        V_CVT_PK_FP8_F32 => narrow2::<CvtPkFp8F32>(l, i)?,
        V_CVT_PK_BF8_F32 => narrow2::<CvtPkBf8F32>(l, i)?,
        V_CVT_SR_FP8_F32 => stochastic::<CvtSrFp8F32>(l, i)?,
        V_CVT_SR_BF8_F32 => stochastic::<CvtSrBf8F32>(l, i)?,
        _ => return Err(Refusal::Unsupported),
    }
    Ok(Flow::On)
}

fn widen<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.bits32(i, S0)?;
    let out = l.out_f32(i)?;
    l.un::<O>(out.temp, a);
    l.close_f32(out);
    Ok(())
}

/// Two bytes to two registers. The modifiers of the result count for both.
fn widen2<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    if i.get(Field::omod) != 0 || i.is(Field::clamp) {
        return Err(Refusal::Operand);
    }
    let a = l.bits32(i, S0)?;
    let d = l.vdst(i)?;
    let t = l.temps(1);
    l.un::<SecondByte>(t, a);
    l.un::<O>(d, a);
    l.un::<O>(d + PLANE as u32, Src { off: t, scalar: false });
    l.unmask();
    Ok(())
}

/// Two f32 to a half of the register; the other half stays.
fn narrow2<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.f32(i, S0)?, l.f32(i, S1)?);
    let d = l.vdst(i)?;
    let (t, old) = (l.temps(1), Src { off: d, scalar: false });
    l.bin::<O>(t, a, b);
    let t = Src { off: t, scalar: false };
    if i.mods(Field::src0_modifiers).op_sel_hi() {
        l.bin::<InsertHigh>(d, t, old)
    } else {
        l.bin::<InsertLow>(d, t, old)
    }
    Ok(())
}

/// One f32, rounded by the random bits of the second source, to a byte of the register; the others stay.
fn stochastic<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.f32(i, S0)?, l.bits32(i, S1)?);
    let d = l.vdst(i)?;
    let t = l.temps(1);
    l.bin::<O>(t, a, b);
    let byte =
        u32::from(i.mods(Field::src2_modifiers).op_sel()) | u32::from(i.mods(Field::src0_modifiers).op_sel_hi()) << 1;
    l.emit(crate::cross::sdwa_store, d, t, 0, 0, u64::from(byte) | 2 << 8);
    Ok(())
}
