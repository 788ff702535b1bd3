//! Packed f32: two results, each from either half of its sources.

use super::build::{Lower, Src};
use super::{Flow, Refusal, Result};
use crate::ops::f32ops::{AddF32, ClampF32, FmaF32, Mov, MulF32, NegF32};
use rj_isa::{Field, Inst, Mods, Op, Operand};

/// Lowers a packed f32 instruction.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let sources: &[Field] = match i.op {
        Op::V_PK_ADD_F32 | Op::V_PK_MUL_F32 | Op::V_PK_MOV_B32 => &[Field::src0, Field::src1],
        Op::V_PK_FMA_F32 => &[Field::src0, Field::src1, Field::src2],
        _ => return Err(Refusal::Unsupported),
    };
    let d = l.vdst(i)?;
    let (lo, hi) = if i.op == Op::V_PK_MOV_B32 {
        // The low result is a half of src0, the high one a half of src1; both by op_sel.
        let a = half(l, i, Field::src0, i.mods(Field::src0_modifiers).op_sel(), false)?;
        let b = half(l, i, Field::src1, i.mods(Field::src1_modifiers).op_sel(), false)?;
        (vec![a], vec![b])
    } else {
        let mut both = (Vec::new(), Vec::new());
        for &f in sources {
            let m = mods(i, f);
            both.0.push(half(l, i, f, m.op_sel(), m.neg())?);
            both.1.push(half(l, i, f, m.op_sel_hi(), m.neg_hi())?);
        }
        both
    };
    // The low result may not overwrite a source of the high one.
    let overlaps = hi.iter().any(|s| !s.scalar && s.off == d);
    let first = if overlaps { l.temps(1) } else { d };
    compute(l, i.op, first, &lo);
    compute(l, i.op, d + PLANE, &hi);
    if overlaps {
        l.un::<Mov>(d, Src { off: first, scalar: false });
    }
    if i.is(Field::clamp) {
        for off in [d, d + PLANE] {
            l.un::<ClampF32>(off, Src { off, scalar: false });
        }
    }
    Ok(Flow::On)
}

const PLANE: u32 = crate::wave::PLANE as u32;

fn mods(i: &Inst, f: Field) -> Mods {
    i.mods(super::build::modifiers(f))
}

/// Dword `high` of a 64-bit source, negated if asked.
fn half(l: &mut Lower<'_, '_>, i: &Inst, f: Field, high: bool, neg: bool) -> Result<Src> {
    let s = match l.operand(i, f)? {
        Operand::Const(x) => Src { off: l.const32(if high { (x >> 32) as u32 } else { x as u32 }), scalar: true },
        op => {
            let s = l.plain64(op)?;
            let step = if s.scalar { 4 } else { PLANE };
            Src { off: s.off + if high { step } else { 0 }, ..s }
        }
    };
    if !neg {
        return Ok(s);
    }
    let t = l.temps(1);
    l.un::<NegF32>(t, s);
    Ok(Src { off: t, scalar: false })
}

fn compute(l: &mut Lower<'_, '_>, op: Op, d: u32, s: &[Src]) {
    match (op, s) {
        (Op::V_PK_ADD_F32, [a, b]) => l.bin::<AddF32>(d, *a, *b),
        (Op::V_PK_MUL_F32, [a, b]) => l.bin::<MulF32>(d, *a, *b),
        (Op::V_PK_FMA_F32, [a, b, c]) => l.tri::<FmaF32>(d, *a, *b, *c),
        (_, [a, ..]) => l.un::<Mov>(d, *a),
        _ => {}
    }
}
