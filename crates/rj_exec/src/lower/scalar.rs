//! Scalar instructions: SOP1, SOP2, SOPK, SOPC, SOPP.

use super::build::Lower;
use super::{Flow, Refusal, Result};
use crate::fault::FaultKind;
use crate::hwreg;
use crate::salu::*;
use crate::uop::{BARRIER, END, Handler, SLEEP};
use rj_isa::{Field, Inst, Op};

/// Lowers a scalar instruction.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    use Op::*;
    match i.op {
        // SOP2, 32 bits.
        S_ADD_U32 => s2(l, i, s_add_u32),
        S_SUB_U32 => s2(l, i, s_sub_u32),
        S_ADD_I32 => s2(l, i, s_add_i32),
        S_SUB_I32 => s2(l, i, s_sub_i32),
        S_ADDC_U32 => s2(l, i, s_addc_u32),
        S_SUBB_U32 => s2(l, i, s_subb_u32),
        S_MIN_I32 => s2(l, i, s_min_i32),
        S_MIN_U32 => s2(l, i, s_min_u32),
        S_MAX_I32 => s2(l, i, s_max_i32),
        S_MAX_U32 => s2(l, i, s_max_u32),
        S_CSELECT_B32 => s2(l, i, s_cselect_b32),
        S_AND_B32 => s2(l, i, s_and_b32),
        S_OR_B32 => s2(l, i, s_or_b32),
        S_XOR_B32 => s2(l, i, s_xor_b32),
        S_ANDN2_B32 => s2(l, i, s_andn2_b32),
        S_ORN2_B32 => s2(l, i, s_orn2_b32),
        S_NAND_B32 => s2(l, i, s_nand_b32),
        S_NOR_B32 => s2(l, i, s_nor_b32),
        S_XNOR_B32 => s2(l, i, s_xnor_b32),
        S_LSHL_B32 => s2(l, i, s_lshl_b32),
        S_LSHR_B32 => s2(l, i, s_lshr_b32),
        S_ASHR_I32 => s2(l, i, s_ashr_i32),
        S_BFM_B32 => s2(l, i, s_bfm_b32),
        S_MUL_I32 => s2(l, i, s_mul_i32),
        S_MUL_HI_U32 => s2(l, i, s_mul_hi_u32),
        S_MUL_HI_I32 => s2(l, i, s_mul_hi_i32),
        S_BFE_U32 => s2(l, i, s_bfe_u32),
        S_BFE_I32 => s2(l, i, s_bfe_i32),
        S_ABSDIFF_I32 => s2(l, i, s_absdiff_i32),
        S_LSHL1_ADD_U32 => s2(l, i, s_lshl1_add_u32),
        S_LSHL2_ADD_U32 => s2(l, i, s_lshl2_add_u32),
        S_LSHL3_ADD_U32 => s2(l, i, s_lshl3_add_u32),
        S_LSHL4_ADD_U32 => s2(l, i, s_lshl4_add_u32),
        S_PACK_LL_B32_B16 => s2(l, i, s_pack_ll_b32_b16),
        S_PACK_LH_B32_B16 => s2(l, i, s_pack_lh_b32_b16),
        S_PACK_HH_B32_B16 => s2(l, i, s_pack_hh_b32_b16),
        S_PACK_HL_B32_B16 => s2(l, i, s_pack_hl_b32_b16),
        // SOP2, 64 bits.
        S_CSELECT_B64 => s2x(l, i, s_cselect_b64, [2, 2, 2]),
        S_AND_B64 => s2x(l, i, s_and_b64, [2, 2, 2]),
        S_OR_B64 => s2x(l, i, s_or_b64, [2, 2, 2]),
        S_XOR_B64 => s2x(l, i, s_xor_b64, [2, 2, 2]),
        S_ANDN2_B64 => s2x(l, i, s_andn2_b64, [2, 2, 2]),
        S_ORN2_B64 => s2x(l, i, s_orn2_b64, [2, 2, 2]),
        S_NAND_B64 => s2x(l, i, s_nand_b64, [2, 2, 2]),
        S_NOR_B64 => s2x(l, i, s_nor_b64, [2, 2, 2]),
        S_XNOR_B64 => s2x(l, i, s_xnor_b64, [2, 2, 2]),
        S_LSHL_B64 => s2x(l, i, s_lshl_b64, [2, 2, 1]),
        S_LSHR_B64 => s2x(l, i, s_lshr_b64, [2, 2, 1]),
        S_ASHR_I64 => s2x(l, i, s_ashr_i64, [2, 2, 1]),
        S_BFE_U64 => s2x(l, i, s_bfe_u64, [2, 2, 1]),
        S_BFE_I64 => s2x(l, i, s_bfe_i64, [2, 2, 1]),
        S_BFM_B64 => s2x(l, i, s_bfm_b64, [2, 1, 1]),
        // SOP1.
        S_MOV_B32 => s1(l, i, s_mov_b32, 1, 1),
        S_NOT_B32 => s1(l, i, s_not_b32, 1, 1),
        S_WQM_B32 => s1(l, i, s_wqm_b32, 1, 1),
        S_BREV_B32 => s1(l, i, s_brev_b32, 1, 1),
        S_BCNT0_I32_B32 => s1(l, i, s_bcnt0_i32_b32, 1, 1),
        S_BCNT1_I32_B32 => s1(l, i, s_bcnt1_i32_b32, 1, 1),
        S_FF0_I32_B32 => s1(l, i, s_ff0_i32_b32, 1, 1),
        S_FF1_I32_B32 => s1(l, i, s_ff1_i32_b32, 1, 1),
        S_FLBIT_I32_B32 => s1(l, i, s_flbit_i32_b32, 1, 1),
        S_FLBIT_I32 => s1(l, i, s_flbit_i32, 1, 1),
        S_SEXT_I32_I8 => s1(l, i, s_sext_i32_i8, 1, 1),
        S_SEXT_I32_I16 => s1(l, i, s_sext_i32_i16, 1, 1),
        S_ABS_I32 => s1(l, i, s_abs_i32, 1, 1),
        S_QUADMASK_B32 => s1(l, i, s_quadmask_b32, 1, 1),
        S_MOV_B64 => s1(l, i, s_mov_b64, 2, 2),
        S_NOT_B64 => s1(l, i, s_not_b64, 2, 2),
        S_WQM_B64 => s1(l, i, s_wqm_b64, 2, 2),
        S_BREV_B64 => s1(l, i, s_brev_b64, 2, 2),
        S_QUADMASK_B64 => s1(l, i, s_quadmask_b64, 2, 2),
        S_BITREPLICATE_B64_B32 => s1(l, i, s_bitreplicate_b64_b32, 2, 1),
        S_BCNT0_I32_B64 => s1(l, i, s_bcnt0_i32_b64, 1, 2),
        S_BCNT1_I32_B64 => s1(l, i, s_bcnt1_i32_b64, 1, 2),
        S_FF0_I32_B64 => s1(l, i, s_ff0_i32_b64, 1, 2),
        S_FF1_I32_B64 => s1(l, i, s_ff1_i32_b64, 1, 2),
        S_FLBIT_I32_B64 => s1(l, i, s_flbit_i32_b64, 1, 2),
        S_FLBIT_I32_I64 => s1(l, i, s_flbit_i32_i64, 1, 2),
        S_CMOV_B32 => old(l, i, s_cmov_b32, 1, 1, 0),
        S_CMOV_B64 => old(l, i, s_cmov_b64, 2, 2, 0),
        S_BITSET0_B32 => old(l, i, s_bitset0_b32, 1, 1, 0),
        S_BITSET1_B32 => old(l, i, s_bitset1_b32, 1, 1, 0),
        S_BITSET0_B64 => old(l, i, s_bitset_b64, 2, 1, 0),
        S_BITSET1_B64 => old(l, i, s_bitset_b64, 2, 1, 1),
        S_AND_SAVEEXEC_B64 => s1(l, i, s_and_saveexec_b64, 2, 2),
        S_OR_SAVEEXEC_B64 => s1(l, i, s_or_saveexec_b64, 2, 2),
        S_XOR_SAVEEXEC_B64 => s1(l, i, s_xor_saveexec_b64, 2, 2),
        S_ANDN2_SAVEEXEC_B64 => s1(l, i, s_andn2_saveexec_b64, 2, 2),
        S_ORN2_SAVEEXEC_B64 => s1(l, i, s_orn2_saveexec_b64, 2, 2),
        S_NAND_SAVEEXEC_B64 => s1(l, i, s_nand_saveexec_b64, 2, 2),
        S_NOR_SAVEEXEC_B64 => s1(l, i, s_nor_saveexec_b64, 2, 2),
        S_XNOR_SAVEEXEC_B64 => s1(l, i, s_xnor_saveexec_b64, 2, 2),
        S_ANDN1_SAVEEXEC_B64 => s1(l, i, s_andn1_saveexec_b64, 2, 2),
        S_ORN1_SAVEEXEC_B64 => s1(l, i, s_orn1_saveexec_b64, 2, 2),
        S_ANDN1_WREXEC_B64 => old(l, i, s_wrexec_b64, 2, 2, 0),
        S_ANDN2_WREXEC_B64 => old(l, i, s_wrexec_b64, 2, 2, 1),
        // Program counter.
        S_GETPC_B64 => {
            let d = l.operand(i, Field::sdst)?;
            let d = l.sdst(d, 2)?;
            let next = l.next;
            l.emit(s_imm64, d, 0, 0, 0, next);
            Ok(Flow::On)
        }
        S_SETPC_B64 => {
            let a = l.operand(i, Field::src0)?;
            let a = l.plain64(a)?;
            l.emit(s_setpc_b64, 0, a.off, 0, 0, 0);
            Ok(Flow::End)
        }
        S_SWAPPC_B64 => {
            let a = l.operand(i, Field::src0)?;
            let a = l.plain64(a)?;
            let d = l.operand(i, Field::sdst)?;
            let d = l.sdst(d, 2)?;
            let next = l.next;
            l.emit(s_swappc_b64, d, a.off, 0, 0, next);
            Ok(Flow::End)
        }
        S_CALL_B64 => {
            let d = l.operand(i, Field::sdst)?;
            let d = l.sdst(d, 2)?;
            let (next, to) = (l.next, target(l, i));
            l.emit(s_call_b64, d, next as u32, (next >> 32) as u32, 0, to);
            Ok(Flow::End)
        }
        // SOPK.
        S_MOVK_I32 => k(l, i, s_mov_b32, false),
        S_CMOVK_I32 => {
            let d = l.operand(i, Field::sdst)?;
            let d = l.sdst(d, 1)?;
            let x = l.const32(simm(i));
            l.emit(s_cmov_b32, d, x, d, 0, 0);
            Ok(Flow::On)
        }
        S_ADDK_I32 => k(l, i, s_add_i32, true),
        S_MULK_I32 => k(l, i, s_mul_i32, true),
        S_CMPK_EQ_I32 => ck(l, i, s_cmp_eq_i32, true),
        S_CMPK_LG_I32 => ck(l, i, s_cmp_lg_i32, true),
        S_CMPK_GT_I32 => ck(l, i, s_cmp_gt_i32, true),
        S_CMPK_GE_I32 => ck(l, i, s_cmp_ge_i32, true),
        S_CMPK_LT_I32 => ck(l, i, s_cmp_lt_i32, true),
        S_CMPK_LE_I32 => ck(l, i, s_cmp_le_i32, true),
        S_CMPK_EQ_U32 => ck(l, i, s_cmp_eq_i32, false),
        S_CMPK_LG_U32 => ck(l, i, s_cmp_lg_i32, false),
        S_CMPK_GT_U32 => ck(l, i, s_cmp_gt_u32, false),
        S_CMPK_GE_U32 => ck(l, i, s_cmp_ge_u32, false),
        S_CMPK_LT_U32 => ck(l, i, s_cmp_lt_u32, false),
        S_CMPK_LE_U32 => ck(l, i, s_cmp_le_u32, false),
        S_GETREG_B32 => {
            let d = l.operand(i, Field::sdst)?;
            let d = l.sdst(d, 1)?;
            let id = i.get(Field::simm16);
            let reg = hwreg::Reg::of(l.target, id & 0x3f).ok_or(Refusal::Unsupported)?;
            l.emit(hwreg::get, d, id >> 6 & 31, (id >> 11 & 31) + 1, reg as u32, 0);
            Ok(Flow::On)
        }
        S_SETREG_B32 | S_SETREG_IMM32_B32 => {
            let id = i.get(Field::simm16);
            let reg = hwreg::Reg::of(l.target, id & 0x3f).filter(|r| r.writable()).ok_or(Refusal::Unsupported)?;
            let a = if i.op == S_SETREG_B32 {
                let a = l.operand(i, Field::sdst)?;
                l.plain(a)?.off
            } else {
                let x = i.literal.map_or_else(|| i.get(Field::imm), |x| x as u32);
                l.const32(x)
            };
            l.emit(hwreg::set, a, id >> 6 & 31, (id >> 11 & 31) + 1, reg as u32, 0);
            Ok(Flow::On)
        }
        // SOPC.
        S_CMP_EQ_I32 | S_CMP_EQ_U32 => c(l, i, s_cmp_eq_i32, [1, 1]),
        S_CMP_LG_I32 | S_CMP_LG_U32 => c(l, i, s_cmp_lg_i32, [1, 1]),
        S_CMP_GT_I32 => c(l, i, s_cmp_gt_i32, [1, 1]),
        S_CMP_GE_I32 => c(l, i, s_cmp_ge_i32, [1, 1]),
        S_CMP_LT_I32 => c(l, i, s_cmp_lt_i32, [1, 1]),
        S_CMP_LE_I32 => c(l, i, s_cmp_le_i32, [1, 1]),
        S_CMP_GT_U32 => c(l, i, s_cmp_gt_u32, [1, 1]),
        S_CMP_GE_U32 => c(l, i, s_cmp_ge_u32, [1, 1]),
        S_CMP_LT_U32 => c(l, i, s_cmp_lt_u32, [1, 1]),
        S_CMP_LE_U32 => c(l, i, s_cmp_le_u32, [1, 1]),
        S_CMP_EQ_U64 => c(l, i, s_cmp_eq_u64, [2, 2]),
        S_CMP_LG_U64 => c(l, i, s_cmp_lg_u64, [2, 2]),
        S_BITCMP0_B32 => c(l, i, s_bitcmp0_b32, [1, 1]),
        S_BITCMP1_B32 => c(l, i, s_bitcmp1_b32, [1, 1]),
        S_BITCMP0_B64 => c(l, i, s_bitcmp0_b64, [2, 1]),
        S_BITCMP1_B64 => c(l, i, s_bitcmp1_b64, [2, 1]),
        // SOPP.
        S_NOP | S_WAITCNT | S_SETPRIO | S_INST_PREFETCH | S_CLAUSE | S_DELAY_ALU | S_WAITCNT_DEPCTR | S_ICACHE_INV
        | S_INCPERFLEVEL | S_DECPERFLEVEL | S_TTRACEDATA | S_WAIT_IDLE | S_WAITCNT_VSCNT | S_WAITCNT_VMCNT
        | S_WAITCNT_EXPCNT | S_WAITCNT_LGKMCNT | S_CODE_END => Ok(Flow::On),
        S_ENDPGM | S_ENDPGM_SAVED | S_ENDPGM_ORDERED_PS_DONE => stop_at(l, END),
        S_BARRIER => stop_at(l, BARRIER),
        S_SLEEP => stop_at(l, SLEEP),
        S_BRANCH => {
            let to = target(l, i);
            l.emit(jump, 0, 0, 0, 0, to);
            Ok(Flow::End)
        }
        S_CBRANCH_SCC0 => branch(l, i, s_cbranch_scc0),
        S_CBRANCH_SCC1 => branch(l, i, s_cbranch_scc1),
        S_CBRANCH_VCCZ => branch(l, i, s_cbranch_vccz),
        S_CBRANCH_VCCNZ => branch(l, i, s_cbranch_vccnz),
        S_CBRANCH_EXECZ => branch(l, i, s_cbranch_execz),
        S_CBRANCH_EXECNZ => branch(l, i, s_cbranch_execnz),
        S_TRAP if i.get(Field::simm16) == 2 => {
            l.trap(FaultKind::Abort);
            Ok(Flow::End)
        }
        // The debugger's trap, without a debugger.
        S_TRAP if i.get(Field::simm16) == 3 => Ok(Flow::On),
        S_SENDMSG => match i.get(Field::simm16) {
            1 => {
                let next = l.next;
                l.emit(hwreg::message, 0, 0, 0, 0, next);
                Ok(Flow::End)
            }
            // Deallocate VGPRs: a hint.
            3 if !l.target.is_gfx9() => Ok(Flow::On),
            _ => Err(Refusal::Unsupported),
        },
        _ => Err(Refusal::Unsupported),
    }
}

fn simm(i: &Inst) -> u32 {
    (i.offset() as i32).cast_unsigned()
}

/// Branch target: dwords from the next instruction.
fn target(l: &Lower<'_, '_>, i: &Inst) -> u64 {
    l.next.wrapping_add_signed(i.offset() * 4)
}

fn stop_at(l: &mut Lower<'_, '_>, code: u32) -> Result<Flow> {
    let next = l.next;
    l.emit(stop, code, 0, 0, 0, next);
    Ok(Flow::End)
}

fn branch(l: &mut Lower<'_, '_>, i: &Inst, h: Handler) -> Result<Flow> {
    let (next, to) = (l.next, target(l, i));
    l.emit(h, 0, next as u32, (next >> 32) as u32, 0, to);
    Ok(Flow::End)
}

fn source(l: &mut Lower<'_, '_>, i: &Inst, f: Field, dwords: usize) -> Result<u32> {
    let op = l.operand(i, f)?;
    let s = if dwords == 2 { l.plain64(op)? } else { l.plain(op)? };
    if s.scalar { Ok(s.off) } else { Err(Refusal::Operand) }
}

fn s2(l: &mut Lower<'_, '_>, i: &Inst, h: Handler) -> Result<Flow> {
    s2x(l, i, h, [1, 1, 1])
}

/// Dwords of result, first and second source.
fn s2x(l: &mut Lower<'_, '_>, i: &Inst, h: Handler, dwords: [usize; 3]) -> Result<Flow> {
    let a = source(l, i, Field::src0, dwords[1])?;
    let b = source(l, i, Field::src1, dwords[2])?;
    let d = l.operand(i, Field::sdst)?;
    let d = l.sdst(d, dwords[0])?;
    l.emit(h, d, a, b, 0, 0);
    Ok(Flow::On)
}

fn s1(l: &mut Lower<'_, '_>, i: &Inst, h: Handler, d: usize, s: usize) -> Result<Flow> {
    let a = source(l, i, Field::src0, s)?;
    let dst = l.operand(i, Field::sdst)?;
    let dst = l.sdst(dst, d)?;
    l.emit(h, dst, a, a, 0, 0);
    Ok(Flow::On)
}

/// SOP1 whose destination is also a source.
fn old(l: &mut Lower<'_, '_>, i: &Inst, h: Handler, d: usize, s: usize, imm: u64) -> Result<Flow> {
    let a = source(l, i, Field::src0, s)?;
    let dst = l.operand(i, Field::sdst)?;
    let dst = l.sdst(dst, d)?;
    l.emit(h, dst, a, dst, 0, imm);
    Ok(Flow::On)
}

fn k(l: &mut Lower<'_, '_>, i: &Inst, h: Handler, old: bool) -> Result<Flow> {
    let d = l.operand(i, Field::sdst)?;
    let d = l.sdst(d, 1)?;
    let x = l.const32(simm(i));
    if old {
        l.emit(h, d, d, x, 0, 0)
    } else {
        l.emit(h, d, x, x, 0, 0)
    }
    Ok(Flow::On)
}

fn ck(l: &mut Lower<'_, '_>, i: &Inst, h: Handler, signed: bool) -> Result<Flow> {
    let a = source(l, i, Field::sdst, 1)?;
    let x = if signed { simm(i) } else { i.get(Field::simm16) };
    let x = l.const32(x);
    l.emit(h, 0, a, x, 0, 0);
    Ok(Flow::On)
}

fn c(l: &mut Lower<'_, '_>, i: &Inst, h: Handler, dwords: [usize; 2]) -> Result<Flow> {
    let a = source(l, i, Field::src0, dwords[0])?;
    let b = source(l, i, Field::src1, dwords[1])?;
    l.emit(h, 0, a, b, 0, 0);
    Ok(Flow::On)
}
