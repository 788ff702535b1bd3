//! Matrix instructions of gfx90a and gfx942: which shape and types, where the operands are.

use super::build::Lower;
use super::{Flow, Refusal, Result};
use crate::lanes::Backend;
use crate::matrix::{Bf8, Bf16, Controls, F16, F32, F64, Fp8, Fused, I8, Kind, Tree, Xf32, mfma_h};
use crate::uop::Handler;
use rj_isa::{Field, Inst, Op, Operand, Target};

/// Lowers a matrix instruction.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let h = handler(l.target, l.backend, i.op).ok_or(Refusal::Unsupported)?;
    let d = l.vdst(i)?;
    let (a, b) = (plane(l, i, Field::src0)?, plane(l, i, Field::src1)?);
    let sparse = i.op.name().starts_with("V_SMFMAC");
    let c = l.operand(i, if sparse { Field::idx } else { Field::src2 })?;
    let double = i.op.name().starts_with("V_MFMA_F64");
    let c = if double { l.plain64(c)? } else { l.plain(c)? };
    let negates = double && l.target != Target::Gfx90a;
    let last = i.get(Field::blgp);
    let controls = Controls {
        cbsz: i.get(Field::cbsz),
        abid: i.get(Field::abid),
        blgp: if negates { 0 } else { last },
        neg: if negates { last } else { 0 },
        constant: c.scalar,
    };
    l.emit(h, d, a, b, c.off, controls.pack());
    Ok(Flow::On)
}

/// A source that must be vector registers.
fn plane(l: &mut Lower<'_, '_>, i: &Inst, f: Field) -> Result<u32> {
    match l.operand(i, f)? {
        op @ (Operand::Vgpr { .. } | Operand::Agpr { .. }) => Ok(l.plain(op)?.off),
        _ => Err(Refusal::Operand),
    }
}

type F<A, const G: usize> = Fused<A, A, G>;

/// The handler of an operation on a target, if it has one.
pub(crate) fn handler(target: Target, k: Backend, op: Op) -> Option<Handler> {
    use Op::*;
    fn d<T: Kind, const M: usize, const K: usize, const B: usize>(k: Backend) -> Option<Handler> {
        Some(mfma_h::<T, M, K, B, false>(k))
    }
    fn s<T: Kind, const M: usize, const K: usize>(k: Backend) -> Option<Handler> {
        Some(mfma_h::<T, M, K, 1, true>(k))
    }
    // Common to both.
    match op {
        V_MFMA_F32_32X32X1F32 => return d::<F32, 32, 1, 2>(k),
        V_MFMA_F32_16X16X1F32 => return d::<F32, 16, 1, 4>(k),
        V_MFMA_F32_4X4X1F32 => return d::<F32, 4, 1, 16>(k),
        V_MFMA_F32_32X32X2F32 => return d::<F32, 32, 2, 1>(k),
        V_MFMA_F32_16X16X4F32 => return d::<F32, 16, 4, 1>(k),
        V_MFMA_I32_32X32X4I8 => return d::<I8, 32, 4, 2>(k),
        V_MFMA_I32_16X16X4I8 => return d::<I8, 16, 4, 4>(k),
        V_MFMA_I32_4X4X4I8 => return d::<I8, 4, 4, 16>(k),
        V_MFMA_I32_32X32X8I8 => return d::<I8, 32, 8, 1>(k),
        V_MFMA_I32_16X16X16I8 => return d::<I8, 16, 16, 1>(k),
        V_MFMA_I32_32X32X16I8 => return d::<I8, 32, 16, 1>(k),
        V_MFMA_I32_16X16X32I8 => return d::<I8, 16, 32, 1>(k),
        V_MFMA_F64_16X16X4F64 => return d::<F64, 16, 4, 1>(k),
        V_MFMA_F64_4X4X4F64 => return d::<F64, 4, 4, 4>(k),
        _ => {}
    }
    match (target, op) {
        (Target::Gfx90a, _) => match op {
            V_MFMA_F32_32X32X4F16 => d::<Tree<F16, 4>, 32, 4, 2>(k),
            V_MFMA_F32_16X16X4F16 => d::<Tree<F16, 4>, 16, 4, 4>(k),
            V_MFMA_F32_4X4X4F16 => d::<Tree<F16, 4>, 4, 4, 16>(k),
            V_MFMA_F32_32X32X8F16 => d::<Tree<F16, 4>, 32, 8, 1>(k),
            V_MFMA_F32_16X16X16F16 => d::<Tree<F16, 4>, 16, 16, 1>(k),
            V_MFMA_F32_32X32X2BF16 => d::<Tree<Bf16, 2>, 32, 2, 2>(k),
            V_MFMA_F32_16X16X2BF16 => d::<Tree<Bf16, 2>, 16, 2, 4>(k),
            V_MFMA_F32_4X4X2BF16 => d::<Tree<Bf16, 2>, 4, 2, 16>(k),
            V_MFMA_F32_32X32X4BF16 => d::<Tree<Bf16, 2>, 32, 4, 1>(k),
            V_MFMA_F32_16X16X8BF16 => d::<Tree<Bf16, 2>, 16, 8, 1>(k),
            V_MFMA_F32_32X32X4BF16_1K => d::<Tree<Bf16, 4>, 32, 4, 2>(k),
            V_MFMA_F32_16X16X4BF16_1K => d::<Tree<Bf16, 4>, 16, 4, 4>(k),
            V_MFMA_F32_4X4X4BF16_1K => d::<Tree<Bf16, 4>, 4, 4, 16>(k),
            V_MFMA_F32_32X32X8BF16_1K => d::<Tree<Bf16, 4>, 32, 8, 1>(k),
            V_MFMA_F32_16X16X16BF16_1K => d::<Tree<Bf16, 4>, 16, 16, 1>(k),
            _ => None,
        },
        // CDNA4's arithmetic is not measured; what it shares with CDNA3 is taken to be the same (approximate).
        (Target::Gfx942 | Target::Gfx950, _) => match op {
            V_MFMA_F32_32X32X4F16 => d::<F<F16, 4>, 32, 4, 2>(k),
            V_MFMA_F32_16X16X4F16 => d::<F<F16, 4>, 16, 4, 4>(k),
            V_MFMA_F32_4X4X4F16 => d::<F<F16, 4>, 4, 4, 16>(k),
            V_MFMA_F32_32X32X8F16 => d::<F<F16, 8>, 32, 8, 1>(k),
            V_MFMA_F32_16X16X16F16 => d::<F<F16, 8>, 16, 16, 1>(k),
            V_MFMA_F32_32X32X4BF16_1K => d::<F<Bf16, 4>, 32, 4, 2>(k),
            V_MFMA_F32_16X16X4BF16_1K => d::<F<Bf16, 4>, 16, 4, 4>(k),
            V_MFMA_F32_4X4X4BF16_1K => d::<F<Bf16, 4>, 4, 4, 16>(k),
            V_MFMA_F32_32X32X8BF16_1K => d::<F<Bf16, 8>, 32, 8, 1>(k),
            V_MFMA_F32_16X16X16BF16_1K => d::<F<Bf16, 8>, 16, 16, 1>(k),
            // A group of compressed products spans twice as many k.
            V_SMFMAC_F32_16X16X32_F16 => s::<F<F16, 16>, 16, 32>(k),
            V_SMFMAC_F32_32X32X16_F16 => s::<F<F16, 16>, 32, 16>(k),
            V_SMFMAC_F32_16X16X32_BF16 => s::<F<Bf16, 16>, 16, 32>(k),
            V_SMFMAC_F32_32X32X16_BF16 => s::<F<Bf16, 16>, 32, 16>(k),
            V_SMFMAC_I32_16X16X64_I8 => s::<I8, 16, 64>(k),
            V_SMFMAC_I32_32X32X32_I8 => s::<I8, 32, 32>(k),
            _ if target == Target::Gfx942 => fnuz(op, k),
            _ => None,
        },
        _ => None,
    }
}

/// What only gfx942 has: xf32 and the FNUZ floats.
fn fnuz(op: Op, k: Backend) -> Option<Handler> {
    use Op::*;
    Some(match op {
        V_MFMA_F32_16X16X8XF32 => mfma_h::<F<Xf32, 4>, 16, 8, 1, false>(k),
        V_MFMA_F32_32X32X4XF32 => mfma_h::<F<Xf32, 4>, 32, 4, 1, false>(k),
        V_MFMA_F32_16X16X32_FP8_FP8 => mfma_h::<Fused<Fp8, Fp8, 16>, 16, 32, 1, false>(k),
        V_MFMA_F32_16X16X32_FP8_BF8 => mfma_h::<Fused<Fp8, Bf8, 16>, 16, 32, 1, false>(k),
        V_MFMA_F32_16X16X32_BF8_FP8 => mfma_h::<Fused<Bf8, Fp8, 16>, 16, 32, 1, false>(k),
        V_MFMA_F32_16X16X32_BF8_BF8 => mfma_h::<Fused<Bf8, Bf8, 16>, 16, 32, 1, false>(k),
        V_MFMA_F32_32X32X16_FP8_FP8 => mfma_h::<Fused<Fp8, Fp8, 16>, 32, 16, 1, false>(k),
        V_MFMA_F32_32X32X16_FP8_BF8 => mfma_h::<Fused<Fp8, Bf8, 16>, 32, 16, 1, false>(k),
        V_MFMA_F32_32X32X16_BF8_FP8 => mfma_h::<Fused<Bf8, Fp8, 16>, 32, 16, 1, false>(k),
        V_MFMA_F32_32X32X16_BF8_BF8 => mfma_h::<Fused<Bf8, Bf8, 16>, 32, 16, 1, false>(k),
        V_SMFMAC_F32_16X16X64_FP8_FP8 => mfma_h::<Fused<Fp8, Fp8, 32>, 16, 64, 1, true>(k),
        V_SMFMAC_F32_16X16X64_FP8_BF8 => mfma_h::<Fused<Fp8, Bf8, 32>, 16, 64, 1, true>(k),
        V_SMFMAC_F32_16X16X64_BF8_FP8 => mfma_h::<Fused<Bf8, Fp8, 32>, 16, 64, 1, true>(k),
        V_SMFMAC_F32_16X16X64_BF8_BF8 => mfma_h::<Fused<Bf8, Bf8, 32>, 16, 64, 1, true>(k),
        V_SMFMAC_F32_32X32X32_FP8_FP8 => mfma_h::<Fused<Fp8, Fp8, 32>, 32, 32, 1, true>(k),
        V_SMFMAC_F32_32X32X32_FP8_BF8 => mfma_h::<Fused<Fp8, Bf8, 32>, 32, 32, 1, true>(k),
        V_SMFMAC_F32_32X32X32_BF8_FP8 => mfma_h::<Fused<Bf8, Fp8, 32>, 32, 32, 1, true>(k),
        V_SMFMAC_F32_32X32X32_BF8_BF8 => mfma_h::<Fused<Bf8, Bf8, 32>, 32, 32, 1, true>(k),
        _ => return None,
    })
}
