//! Vector ALU instructions of 32 and 64 bits. Half-precision and packed ones, dot products and matrices have files of
//! their own.

use super::build::{Lower, Src};
use super::{Flow, Refusal, Result};
use crate::cross;
use crate::ops::cmp::*;
use crate::ops::divide::*;
use crate::ops::f32ops::*;
use crate::ops::int::*;
use crate::ops::wide::*;
use crate::salu::s_mov_b64;
use crate::shapes::{Bin, Carry, Test, Test64, Tri, Un, Wide, carry_h, choose_h, test64_h};
use crate::wave::{EXEC, VCC, s_off};
use rj_isa::{Field, Format, Inst, Op, Operand};

const S0: Field = Field::src0;
const S1: Field = Field::src1;
const S2: Field = Field::src2;

/// Lowers a vector ALU instruction.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    use Op::*;
    if !is_vector(i.format()) {
        return Err(Refusal::Unsupported);
    }
    match i.op {
        V_NOP => {}
        V_MOV_B32 | V_ACCVGPR_READ_B32 | V_ACCVGPR_WRITE_B32 | V_ACCVGPR_MOV_B32 => un::<Mov>(l, i)?,
        V_MOV_B64 => wide::<Mov64>(l, i)?,
        V_NOT_B32 => un::<NotB32>(l, i)?,
        V_BFREV_B32 => un::<BfrevB32>(l, i)?,
        V_FFBH_U32 => un::<FfbhU32>(l, i)?,
        V_FFBL_B32 => un::<FfblB32>(l, i)?,
        V_FFBH_I32 => un::<FfbhI32>(l, i)?,
        V_CVT_F32_I32 => cvt::<CvtF32I32>(l, i)?,
        V_CVT_F32_U32 => cvt::<CvtF32U32>(l, i)?,
        V_CVT_F32_UBYTE0 => cvt::<CvtF32Ubyte0>(l, i)?,
        V_CVT_F32_UBYTE1 => cvt::<CvtF32Ubyte1>(l, i)?,
        V_CVT_F32_UBYTE2 => cvt::<CvtF32Ubyte2>(l, i)?,
        V_CVT_F32_UBYTE3 => cvt::<CvtF32Ubyte3>(l, i)?,
        V_CVT_I32_F32 => to_int::<CvtI32F32>(l, i)?,
        V_CVT_U32_F32 => to_int::<CvtU32F32>(l, i)?,
        V_CVT_RPI_I32_F32 => to_int::<CvtRpiI32F32>(l, i)?,
        V_CVT_FLR_I32_F32 => to_int::<CvtFlrI32F32>(l, i)?,
        V_FRACT_F32 => fun::<FractF32>(l, i)?,
        V_TRUNC_F32 => fun::<TruncF32>(l, i)?,
        V_CEIL_F32 => fun::<CeilF32>(l, i)?,
        V_RNDNE_F32 => fun::<RndneF32>(l, i)?,
        V_FLOOR_F32 => fun::<FloorF32>(l, i)?,
        V_EXP_F32 | V_EXP_LEGACY_F32 => fun::<ExpF32>(l, i)?,
        V_LOG_F32 | V_LOG_LEGACY_F32 => fun::<LogF32>(l, i)?,
        V_RCP_F32 | V_RCP_IFLAG_F32 => fun::<RcpF32>(l, i)?,
        V_RSQ_F32 => fun::<RsqF32>(l, i)?,
        V_SQRT_F32 => fun::<SqrtF32>(l, i)?,
        V_SIN_F32 => fun::<SinF32>(l, i)?,
        V_COS_F32 => fun::<CosF32>(l, i)?,
        V_FREXP_EXP_I32_F32 => to_int::<FrexpExpI32F32>(l, i)?,
        V_FREXP_MANT_F32 => fun::<FrexpMantF32>(l, i)?,
        // f32.
        V_ADD_F32 => fbin::<AddF32>(l, i)?,
        V_SUB_F32 => fbin::<SubF32>(l, i)?,
        V_SUBREV_F32 => fbin_rev::<SubF32>(l, i)?,
        V_MUL_F32 => fbin::<MulF32>(l, i)?,
        V_MUL_LEGACY_F32 => fbin::<MulLegacyF32>(l, i)?,
        V_MIN_F32 => fbin::<MinF32>(l, i)?,
        V_MAX_F32 => fbin::<MaxF32>(l, i)?,
        V_LDEXP_F32 => {
            let (a, b) = (l.f32(i, S0)?, l.bits32(i, S1)?);
            let out = l.out_f32(i)?;
            l.bin::<LdexpF32>(out.temp, a, b);
            l.close_f32(out);
        }
        V_FMA_F32 => ftri::<FmaF32>(l, i)?,
        V_MAD_F32 => ftri::<MadF32>(l, i)?,
        V_MIN3_F32 => ftri::<Min3F32>(l, i)?,
        V_MAX3_F32 => ftri::<Max3F32>(l, i)?,
        V_MED3_F32 => ftri::<Med3F32>(l, i)?,
        V_DIV_FIXUP_F32 => ftri::<DivFixupF32>(l, i)?,
        V_FMAC_F32 => fmac::<FmaF32>(l, i)?,
        V_MAC_F32 => fmac::<MadF32>(l, i)?,
        V_FMAMK_F32 => constant::<FmaF32>(l, i, true)?,
        V_FMAAK_F32 => constant::<FmaF32>(l, i, false)?,
        V_MADMK_F32 => constant::<MadF32>(l, i, true)?,
        V_MADAK_F32 => constant::<MadF32>(l, i, false)?,
        V_DIV_SCALE_F32 => {
            let (a, b, c) = (l.f32(i, S0)?, l.f32(i, S1)?, l.f32(i, S2)?);
            let (a, b, c) = (l.vector(a), l.vector(b), l.vector(c));
            let sdst = l.operand(i, Field::sdst)?;
            let sdst = l.sdst(sdst, 2)?;
            let out = l.out_f32(i)?;
            l.emit(div_scale_f32, out.temp, a, b, c, u64::from(sdst));
            l.close_f32(out);
        }
        V_DIV_SCALE_F64 => {
            let (a, b, c) = (l.f64(i, S0)?, l.f64(i, S1)?, l.f64(i, S2)?);
            let [a, b, c] = [a, b, c].map(|s| vector64(l, s));
            let sdst = l.operand(i, Field::sdst)?;
            let sdst = l.sdst(sdst, 2)?;
            let out = l.out_f64(i)?;
            l.emit(div_scale_f64, out.temp, a, b, c, u64::from(sdst));
            l.close_f64(out);
        }
        V_DIV_FMAS_F32 => {
            let (a, b, c) = (l.f32(i, S0)?, l.f32(i, S1)?, l.f32(i, S2)?);
            let (a, b, c) = (l.vector(a), l.vector(b), l.vector(c));
            let out = l.out_f32(i)?;
            l.emit(div_fmas_f32, out.temp, a, b, c, 0);
            l.close_f32(out);
        }
        V_DIV_FMAS_F64 => {
            let (a, b, c) = (l.f64(i, S0)?, l.f64(i, S1)?, l.f64(i, S2)?);
            let [a, b, c] = [a, b, c].map(|s| vector64(l, s));
            let out = l.out_f64(i)?;
            l.emit(div_fmas_f64, out.temp, a, b, c, 0);
            l.close_f64(out);
        }
        // Integers.
        V_ADD_U32 if i.is(Field::clamp) => bin::<AddSatU32>(l, i)?,
        V_SUB_U32 if i.is(Field::clamp) => bin::<SubSatU32>(l, i)?,
        V_SUBREV_U32 if i.is(Field::clamp) => bin_rev::<SubSatU32>(l, i)?,
        V_ADD_I32 if i.is(Field::clamp) => bin::<AddSatI32>(l, i)?,
        V_SUB_I32 if i.is(Field::clamp) => bin::<SubSatI32>(l, i)?,
        V_ADD_U32 | V_ADD_I32 => bin::<AddU32>(l, i)?,
        V_SUB_U32 | V_SUB_I32 => bin::<SubU32>(l, i)?,
        V_SUBREV_U32 => bin::<SubrevU32>(l, i)?,
        V_AND_B32 => bin::<AndB32>(l, i)?,
        V_OR_B32 => bin::<OrB32>(l, i)?,
        V_XOR_B32 => bin::<XorB32>(l, i)?,
        V_XNOR_B32 => bin::<XnorB32>(l, i)?,
        V_LSHLREV_B32 => bin::<LshlrevB32>(l, i)?,
        V_LSHRREV_B32 => bin::<LshrrevB32>(l, i)?,
        V_ASHRREV_I32 => bin::<AshrrevI32>(l, i)?,
        V_MIN_I32 => bin::<MinI32>(l, i)?,
        V_MAX_I32 => bin::<MaxI32>(l, i)?,
        V_MIN_U32 => bin::<MinU32>(l, i)?,
        V_MAX_U32 => bin::<MaxU32>(l, i)?,
        V_MUL_LO_U32 => bin::<MulLoU32>(l, i)?,
        V_MUL_HI_U32 => bin::<MulHiU32>(l, i)?,
        V_MUL_HI_I32 => bin::<MulHiI32>(l, i)?,
        V_MUL_I32_I24 => bin::<MulI32I24>(l, i)?,
        V_MUL_HI_I32_I24 => bin::<MulHiI32I24>(l, i)?,
        V_MUL_U32_U24 => bin::<MulU32U24>(l, i)?,
        V_MUL_HI_U32_U24 => bin::<MulHiU32U24>(l, i)?,
        V_BFM_B32 => bin::<BfmB32>(l, i)?,
        V_BCNT_U32_B32 => bin::<BcntU32B32>(l, i)?,
        V_MAD_I32_I24 => tri::<MadI32I24>(l, i)?,
        V_MAD_U32_U24 => tri::<MadU32U24>(l, i)?,
        V_ADD3_U32 => tri::<Add3U32>(l, i)?,
        V_LSHL_ADD_U32 => tri::<LshlAddU32>(l, i)?,
        V_ADD_LSHL_U32 => tri::<AddLshlU32>(l, i)?,
        V_LSHL_OR_B32 => tri::<LshlOrB32>(l, i)?,
        V_AND_OR_B32 => tri::<AndOrB32>(l, i)?,
        V_OR3_B32 => tri::<Or3B32>(l, i)?,
        V_XAD_U32 => tri::<XadU32>(l, i)?,
        V_XOR3_B32 => tri::<Xor3B32>(l, i)?,
        V_BFI_B32 => tri::<BfiB32>(l, i)?,
        V_BFE_U32 => tri::<BfeU32>(l, i)?,
        V_BFE_I32 => tri::<BfeI32>(l, i)?,
        V_ALIGNBIT_B32 => tri::<AlignbitB32>(l, i)?,
        V_ALIGNBYTE_B32 => tri::<AlignbyteB32>(l, i)?,
        V_PERM_B32 => tri::<PermB32>(l, i)?,
        V_MIN3_I32 => tri::<Min3I32>(l, i)?,
        V_MAX3_I32 => tri::<Max3I32>(l, i)?,
        V_MED3_I32 => tri::<Med3I32>(l, i)?,
        V_MIN3_U32 => tri::<Min3U32>(l, i)?,
        V_MAX3_U32 => tri::<Max3U32>(l, i)?,
        V_MED3_U32 => tri::<Med3U32>(l, i)?,
        V_SAD_U8 => tri::<SadU8>(l, i)?,
        V_MSAD_U8 => tri::<MsadU8>(l, i)?,
        V_SAD_HI_U8 => tri::<SadHiU8>(l, i)?,
        V_SAD_U16 => tri::<SadU16>(l, i)?,
        V_SAD_U32 => tri::<SadU32>(l, i)?,
        V_ADD_CO_U32 => carry::<CarryAdd>(l, i)?,
        V_SUB_CO_U32 => carry::<CarrySub>(l, i)?,
        V_SUBREV_CO_U32 => carry::<CarrySubrev>(l, i)?,
        V_ADDC_CO_U32 => carry::<CarryAddc>(l, i)?,
        V_SUBB_CO_U32 => carry::<CarrySubb>(l, i)?,
        V_SUBBREV_CO_U32 => carry::<CarrySubbrev>(l, i)?,
        V_CNDMASK_B32 => {
            let (a, b) = (l.f32(i, S0)?, l.f32(i, S1)?);
            let mask = match i.operand(S2) {
                Some(op) => l.sdst(op, 2)?,
                None => s_off(VCC),
            };
            let out = l.out_bits(i)?;
            let b = if a.scalar && b.scalar { Src { off: l.vector(b), scalar: false } } else { b };
            let h = match (a.scalar, b.scalar) {
                (false, false) => choose_h::<false, false>(l.backend),
                (true, _) => choose_h::<true, false>(l.backend),
                (false, true) => choose_h::<false, true>(l.backend),
            };
            l.emit(h, out.temp, a.off, b.off, mask, 0);
            l.close_bits(out);
        }
        V_MBCNT_LO_U32_B32 | V_MBCNT_HI_U32_B32 => {
            let (a, b) = (l.bits32(i, S0)?, l.bits32(i, S1)?);
            let (a, b) = (l.vector(a), l.vector(b));
            let out = l.out_bits(i)?;
            l.emit(cross::mbcnt, out.temp, a, b, 0, u64::from(i.op == V_MBCNT_HI_U32_B32));
            l.close_bits(out);
        }
        V_READFIRSTLANE_B32 => {
            let a = l.bits32(i, S0)?;
            let a = l.vector_for_read(a);
            let d = l.operand(i, Field::vdst)?;
            let d = l.sdst(d, 1)?;
            l.emit(cross::readfirstlane, d, a, 0, 0, 0);
        }
        V_READLANE_B32 => {
            let a = l.bits32(i, S0)?;
            let a = l.vector_for_read(a);
            let b = l.operand(i, S1)?;
            let b = l.plain(b)?;
            let d = l.operand(i, Field::vdst)?;
            let d = l.sdst(d, 1)?;
            if !b.scalar {
                return Err(Refusal::Operand);
            }
            l.emit(cross::readlane, d, a, b.off, 0, 0);
        }
        V_WRITELANE_B32 => {
            let (a, b) = (l.operand(i, S0)?, l.operand(i, S1)?);
            let (a, b) = (l.plain(a)?, l.plain(b)?);
            if !a.scalar || !b.scalar {
                return Err(Refusal::Operand);
            }
            let d = l.vdst(i)?;
            l.emit(cross::writelane, d, a.off, b.off, 0, 0);
        }
        // 64 bits.
        V_ADD_F64 => fwide2::<AddF64>(l, i)?,
        V_MUL_F64 => fwide2::<MulF64>(l, i)?,
        V_MIN_F64 => fwide2::<MinF64>(l, i)?,
        V_MAX_F64 => fwide2::<MaxF64>(l, i)?,
        V_FMA_F64 => {
            let (a, b, c) = (l.f64(i, S0)?, l.f64(i, S1)?, l.f64(i, S2)?);
            let out = l.out_f64(i)?;
            l.wide::<FmaF64>(out.temp, a.off, b.off, c.off);
            l.close_f64(out);
        }
        V_FMAC_F64 => {
            let (a, b) = (l.f64(i, S0)?, l.f64(i, S1)?);
            let out = l.out_f64(i)?;
            l.wide::<FmaF64>(out.temp, a.off, b.off, out.dst);
            l.close_f64(out);
        }
        V_DIV_FIXUP_F64 => {
            let (a, b, c) = (l.f64(i, S0)?, l.f64(i, S1)?, l.f64(i, S2)?);
            let out = l.out_f64(i)?;
            l.wide::<DivFixupF64>(out.temp, a.off, b.off, c.off);
            l.close_f64(out);
        }
        V_LDEXP_F64 => {
            let (a, b) = (l.f64(i, S0)?, l.bits32(i, S1)?);
            let out = l.out_f64(i)?;
            l.wide::<LdexpF64>(out.temp, a.off, b.off, 0);
            l.close_f64(out);
        }
        V_RNDNE_F64 => fwide1::<RndneF64>(l, i)?,
        V_FLOOR_F64 => fwide1::<FloorF64>(l, i)?,
        V_CEIL_F64 => fwide1::<CeilF64>(l, i)?,
        V_TRUNC_F64 => fwide1::<TruncF64>(l, i)?,
        V_FRACT_F64 => fwide1::<FractF64>(l, i)?,
        V_SQRT_F64 => fwide1::<SqrtF64>(l, i)?,
        V_RCP_F64 => fwide1::<RcpF64>(l, i)?,
        V_RSQ_F64 => fwide1::<RsqF64>(l, i)?,
        V_FREXP_MANT_F64 => fwide1::<FrexpMantF64>(l, i)?,
        V_FREXP_EXP_I32_F64 => from_f64::<FrexpExpI32F64>(l, i)?,
        V_CVT_I32_F64 => from_f64::<CvtI32F64>(l, i)?,
        V_CVT_U32_F64 => from_f64::<CvtU32F64>(l, i)?,
        V_CVT_F32_F64 => {
            let a = l.f64(i, S0)?;
            let out = l.out_f32(i)?;
            l.wide::<CvtF32F64>(out.temp, a.off, 0, 0);
            l.close_f32(out);
        }
        V_CVT_F64_F32 => {
            let a = l.f32(i, S0)?;
            let out = l.out_f64(i)?;
            l.wide::<CvtF64F32>(out.temp, a.off, 0, 0);
            l.close_f64(out);
        }
        V_CVT_F64_I32 => to_f64::<CvtF64I32>(l, i)?,
        V_CVT_F64_U32 => to_f64::<CvtF64U32>(l, i)?,
        V_MAD_U64_U32 => mad64::<MadU64U32>(l, i, false)?,
        V_MAD_I64_I32 => mad64::<MadI64I32>(l, i, true)?,
        V_LSHLREV_B64 => shift64::<LshlrevB64>(l, i)?,
        V_LSHRREV_B64 => shift64::<LshrrevB64>(l, i)?,
        V_ASHRREV_I64 => shift64::<AshrrevI64>(l, i)?,
        V_LSHL_ADD_U64 => {
            let (a, b, c) = (l.bits64(i, S0)?, l.bits32(i, S1)?, l.bits64(i, S2)?);
            let d = l.vdst(i)?;
            l.shift_add(d, a, b, c);
        }
        _ => return compare(l, i),
    }
    Ok(Flow::On)
}

pub(crate) fn is_vector(f: Format) -> bool {
    matches!(
        f,
        Format::Vop1
            | Format::Vop2
            | Format::Vopc
            | Format::Vop3
            | Format::Vop3p
            | Format::Sdwa
            | Format::Dpp16
            | Format::Dpp8
    )
}

/// The comparisons of a type by LLVM's condition names.
macro_rules! conditions {
    ($l:ident, $i:ident, $name:ident, $call:ident, $ty:literal, $($cond:literal => $o:ty),*) => {
        $(if $name == concat!($cond, $ty) { return $call::<$o>($l, $i); })*
    };
}

/// `v_cmp_*` and `v_cmpx_*`.
fn compare(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let full = format!("{:?}", i.op);
    let Some(name) = full.strip_prefix("V_CMP_").or_else(|| full.strip_prefix("V_CMPX_")) else {
        return Err(Refusal::Unsupported);
    };
    conditions!(l, i, name, test32, "_I32", "F" => CmpFalse, "LT" => CmpLtI32, "EQ" => CmpEqI32, "LE" => CmpLeI32,
        "GT" => CmpGtI32, "NE" => CmpNeI32, "GE" => CmpGeI32, "T" => CmpTrue);
    conditions!(l, i, name, test32, "_U32", "F" => CmpFalse, "LT" => CmpLtU32, "EQ" => CmpEqU32, "LE" => CmpLeU32,
        "GT" => CmpGtU32, "NE" => CmpNeU32, "GE" => CmpGeU32, "T" => CmpTrue);
    conditions!(l, i, name, ftest32, "_F32", "F" => CmpFalse, "LT" => CmpLtF32, "EQ" => CmpEqF32, "LE" => CmpLeF32,
        "GT" => CmpGtF32, "LG" => CmpLgF32, "GE" => CmpGeF32, "O" => CmpOF32, "U" => CmpUF32, "NGE" => CmpNgeF32,
        "NLG" => CmpNlgF32, "NGT" => CmpNgtF32, "NLE" => CmpNleF32, "NEQ" => CmpNeqF32, "NLT" => CmpNltF32,
        "TRU" => CmpTrue);
    conditions!(l, i, name, itest64, "_I64", "LT" => CmpLtI64, "EQ" => CmpEqI64, "LE" => CmpLeI64, "GT" => CmpGtI64,
        "NE" => CmpNeI64, "GE" => CmpGeI64);
    conditions!(l, i, name, itest64, "_U64", "LT" => CmpLtU64, "EQ" => CmpEqU64, "LE" => CmpLeU64, "GT" => CmpGtU64,
        "NE" => CmpNeU64, "GE" => CmpGeU64);
    conditions!(l, i, name, ftest64, "_F64", "LT" => CmpLtF64, "EQ" => CmpEqF64, "LE" => CmpLeF64, "GT" => CmpGtF64,
        "LG" => CmpLgF64, "GE" => CmpGeF64, "O" => CmpOF64, "U" => CmpUF64, "NGE" => CmpNgeF64, "NLG" => CmpNlgF64,
        "NGT" => CmpNgtF64, "NLE" => CmpNleF64, "NEQ" => CmpNeqF64, "NLT" => CmpNltF64);
    match name {
        "CLASS_F32" => {
            let (a, b) = (l.f32(i, S0)?, l.bits32(i, S1)?);
            finish32::<CmpClassF32>(l, i, a, b)
        }
        "CLASS_F64" => {
            let (a, b) = (l.f64(i, S0)?, l.bits32(i, S1)?);
            finish64::<CmpClassF64>(l, i, a, b)
        }
        "F_I64" | "F_U64" | "F_F64" | "T_I64" | "T_U64" | "TRU_F64" => {
            let z = Src { off: l.const32(0), scalar: true };
            if name.starts_with('F') { finish32::<CmpFalse>(l, i, z, z) } else { finish32::<CmpTrue>(l, i, z, z) }
        }
        _ => Err(Refusal::Unsupported),
    }
}

fn test32<O: Test>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let (a, b) = (l.bits32(i, S0)?, l.bits32(i, S1)?);
    finish32::<O>(l, i, a, b)
}

fn ftest32<O: Test>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let (a, b) = (l.f32(i, S0)?, l.f32(i, S1)?);
    finish32::<O>(l, i, a, b)
}

fn itest64<O: Test64>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let (a, b) = (l.bits64(i, S0)?, l.bits64(i, S1)?);
    finish64::<O>(l, i, a, b)
}

fn ftest64<O: Test64>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let (a, b) = (l.f64(i, S0)?, l.f64(i, S1)?);
    finish64::<O>(l, i, a, b)
}

/// Where a comparison's mask goes, whether EXEC gets it, and the shape's flags.
fn mask_of(l: &mut Lower<'_, '_>, i: &Inst) -> Result<(u32, bool, u64)> {
    let x = format!("{:?}", i.op).starts_with("V_CMPX");
    if x && !l.target.is_gfx9() {
        return Ok((s_off(EXEC), true, 2));
    }
    let d = match i.operand(Field::sdst) {
        Some(op) => l.sdst(op, 2)?,
        None => s_off(VCC),
    };
    Ok((d, x, 0))
}

pub(crate) fn finish32<O: Test>(l: &mut Lower<'_, '_>, i: &Inst, a: Src, b: Src) -> Result<Flow> {
    let (d, x, flags) = mask_of(l, i)?;
    l.test::<O>(d, a, b, x, flags);
    l.unmask();
    Ok(Flow::On)
}

fn finish64<O: Test64>(l: &mut Lower<'_, '_>, i: &Inst, a: Src, b: Src) -> Result<Flow> {
    let (d, x, flags) = mask_of(l, i)?;
    let k = l.backend;
    let h = match (O::B, x) {
        (64, false) => test64_h::<O, 64, 64, false>(k),
        (64, true) => test64_h::<O, 64, 64, true>(k),
        (_, false) => test64_h::<O, 64, 32, false>(k),
        (_, true) => test64_h::<O, 64, 32, true>(k),
    };
    l.emit(h, d, a.off, b.off, 0, flags);
    l.unmask();
    Ok(Flow::On)
}

fn un<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.bits32(i, S0)?;
    let out = l.out_bits(i)?;
    l.un::<O>(out.temp, a);
    l.close_bits(out);
    Ok(())
}

/// Integer source, float result.
fn cvt<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.bits32(i, S0)?;
    let out = l.out_f32(i)?;
    l.un::<O>(out.temp, a);
    l.close_f32(out);
    Ok(())
}

/// Float source, integer result.
fn to_int<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.f32(i, S0)?;
    let out = l.out_bits(i)?;
    l.un::<O>(out.temp, a);
    l.close_bits(out);
    Ok(())
}

fn fun<O: Un>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.f32(i, S0)?;
    let out = l.out_f32(i)?;
    l.un::<O>(out.temp, a);
    l.close_f32(out);
    Ok(())
}

fn bin<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.bits32(i, S0)?, l.bits32(i, S1)?);
    let out = l.out_bits(i)?;
    l.bin::<O>(out.temp, a, b);
    l.close_bits(out);
    Ok(())
}

fn bin_rev<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.bits32(i, S0)?, l.bits32(i, S1)?);
    let out = l.out_bits(i)?;
    l.bin::<O>(out.temp, b, a);
    l.close_bits(out);
    Ok(())
}

fn fbin<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.f32(i, S0)?, l.f32(i, S1)?);
    let out = l.out_f32(i)?;
    l.bin::<O>(out.temp, a, b);
    l.close_f32(out);
    Ok(())
}

fn fbin_rev<O: Bin>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.f32(i, S0)?, l.f32(i, S1)?);
    let out = l.out_f32(i)?;
    l.bin::<O>(out.temp, b, a);
    l.close_f32(out);
    Ok(())
}

fn tri<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    if i.is(Field::clamp) {
        return Err(Refusal::Unsupported);
    }
    let (a, b, c) = (l.bits32(i, S0)?, l.bits32(i, S1)?, l.bits32(i, S2)?);
    let out = l.out_bits(i)?;
    l.tri::<O>(out.temp, a, b, c);
    l.close_bits(out);
    Ok(())
}

fn ftri<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b, c) = (l.f32(i, S0)?, l.f32(i, S1)?, l.f32(i, S2)?);
    let out = l.out_f32(i)?;
    l.tri::<O>(out.temp, a, b, c);
    l.close_f32(out);
    Ok(())
}

/// The destination is the third source.
fn fmac<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.f32(i, S0)?, l.f32(i, S1)?);
    let out = l.out_f32(i)?;
    l.tri::<O>(out.temp, a, b, Src { off: out.dst, scalar: false });
    l.close_f32(out);
    Ok(())
}

/// `mk`: a * K + b; else a * b + K.
fn constant<O: Tri>(l: &mut Lower<'_, '_>, i: &Inst, mk: bool) -> Result<()> {
    let (a, b) = (l.f32(i, S0)?, l.f32(i, S1)?);
    let x = i.literal.map_or_else(|| i.get(Field::imm), |x| x as u32);
    let k = Src { off: l.const32(x), scalar: true };
    let d = l.vdst(i)?;
    if mk {
        l.tri::<O>(d, a, k, b)
    } else {
        l.tri::<O>(d, a, b, k)
    }
    Ok(())
}

fn carry<O: Carry>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.bits32(i, S0)?, l.bits32(i, S1)?);
    let cin = match i.operand(S2) {
        Some(op) => l.sdst(op, 2)?,
        None => s_off(VCC),
    };
    let cout = match i.operand(Field::sdst) {
        Some(op) => l.sdst(op, 2)?,
        None => s_off(VCC),
    };
    let out = l.out_bits(i)?;
    let h = carry_h::<O>(l.backend);
    l.emit(h, out.temp, a.off, b.off, cin, u64::from(cout));
    if i.is(Field::clamp) {
        // Unsigned saturation: where it carried, all ones; where it borrowed, 0.
        let limit = l.const32(if i.op.name().starts_with("V_ADD") { u32::MAX } else { 0 });
        l.emit(choose_h::<false, true>(l.backend), out.temp, out.temp, limit, cout, 0);
    }
    l.close_bits(out);
    Ok(())
}

fn vector64(l: &mut Lower<'_, '_>, s: Src) -> u32 {
    if !s.scalar {
        return s.off;
    }
    let t = l.temps(2);
    l.wide::<Mov64>(t, s.off, 0, 0);
    t
}

fn wide<O: Wide>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.bits64(i, S0)?;
    let d = l.vdst(i)?;
    l.wide::<O>(d, a.off, 0, 0);
    l.unmask();
    Ok(())
}

fn fwide1<O: Wide>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.f64(i, S0)?;
    let out = l.out_f64(i)?;
    l.wide::<O>(out.temp, a.off, 0, 0);
    l.close_f64(out);
    Ok(())
}

fn fwide2<O: Wide>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.f64(i, S0)?, l.f64(i, S1)?);
    let out = l.out_f64(i)?;
    l.wide::<O>(out.temp, a.off, b.off, 0);
    l.close_f64(out);
    Ok(())
}

fn from_f64<O: Wide>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.f64(i, S0)?;
    let d = l.vdst(i)?;
    l.wide::<O>(d, a.off, 0, 0);
    l.unmask();
    Ok(())
}

fn to_f64<O: Wide>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let a = l.bits32(i, S0)?;
    let out = l.out_f64(i)?;
    l.wide::<O>(out.temp, a.off, 0, 0);
    l.close_f64(out);
    Ok(())
}

fn shift64<O: Wide>(l: &mut Lower<'_, '_>, i: &Inst) -> Result<()> {
    let (a, b) = (l.bits32(i, S0)?, l.bits64(i, S1)?);
    let d = l.vdst(i)?;
    l.wide::<O>(d, a.off, b.off, 0);
    l.unmask();
    Ok(())
}

/// The carry is computed before the sum overwrites a source, and stored after the product has read a scalar that the
/// carry's place may hold.
fn mad64<O: Wide>(l: &mut Lower<'_, '_>, i: &Inst, signed: bool) -> Result<()> {
    if i.is(Field::clamp) {
        return Err(Refusal::Unsupported);
    }
    let (a, b, c) = (l.bits32(i, S0)?, l.bits32(i, S1)?, l.bits64(i, S2)?);
    let d = l.vdst(i)?;
    let sdst = i.operand(Field::sdst).filter(|op| !matches!(op, Operand::Special(rj_isa::Special::Null)));
    let Some(op) = sdst else {
        l.wide::<O>(d, a.off, b.off, c.off);
        return Ok(());
    };
    let (va, vb, vc) = (l.vector(a), l.vector(b), vector64(l, c));
    let (s, t) = (l.sdst(op, 2)?, l.stemp());
    l.emit(mad64_carry, t, va, vb, vc, u64::from(signed));
    l.wide::<O>(d, a.off, b.off, c.off);
    l.emit(s_mov_b64, s, t, t, 0, 0);
    Ok(())
}
