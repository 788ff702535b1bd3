//! Operand widths that the record does not fix: matrices by format, images by mask and dimension.

use crate::gen_names::{Field, Op};
use crate::inst::Inst;
use crate::table::{Class, Format, Kind};

/// Width of an operand in bits. 0: no register, or one bit a lane.
pub(crate) fn bits(inst: &Inst, class: &Class, field: Field) -> u16 {
    if inst.row().mixed_matrix() {
        return matrix(inst, class, field);
    }
    if inst.format() == Format::Mimg && class.kind != Kind::Imm && inst.has(Field::dmask) {
        return match field {
            Field::vdata | Field::vdata_in => 32 * data_registers(inst),
            Field::vaddr | Field::vaddr0 if !inst.row().name().contains("_nsa") && !inst.is_gfx12() => {
                32 * address_registers(inst)
            }
            _ => class.bits,
        };
    }
    class.bits
}

/// F8F6F4 matrices: FP8 and BF8 take the record's width, FP6 and BF6 three quarters of it, FP4 half.
fn matrix(inst: &Inst, class: &Class, field: Field) -> u16 {
    let format = match field {
        Field::src0 => inst.get(Field::cbsz) | inst.get(Field::matrix_a_fmt),
        Field::src1 => inst.get(Field::blgp) | inst.get(Field::matrix_b_fmt),
        _ => 0,
    };
    match format {
        2 | 3 => class.bits / 4 * 3,
        4 => class.bits / 2,
        _ => class.bits,
    }
}

/// Dwords that an image instruction moves.
fn data_registers(inst: &Inst) -> u16 {
    let name = format!("{:?}", inst.op);
    let four = name.starts_with("IMAGE_GATHER4") || inst.op == Op::IMAGE_MSAA_LOAD;
    let n = if four { 4 } else { (inst.get(Field::dmask) & 15).count_ones().max(1) as u16 };
    let n = if inst.is(Field::d16) { n.div_ceil(2) } else { n };
    n + u16::from(inst.is(Field::tfe))
}

/// Dwords of an image address.
pub(crate) fn address_registers(inst: &Inst) -> u16 {
    let name = format!("{:?}", inst.op);
    let words: Vec<&str> = name.split('_').skip(2).collect();
    let has = |w: &str| words.contains(&w);
    let sampled = name.starts_with("IMAGE_SAMPLE") || name.starts_with("IMAGE_GATHER4");
    // gfx90a tells the dimension in the resource alone: one register stands for all.
    let Some(dim) = inst.raw(Field::dim) else { return 1 };
    let (coordinates, gradients) = match dim & 7 {
        0 => (1, 2),
        1 => (2, 4),
        2 => (3, 6),
        3 => (3, 4),
        4 => (2, 2),
        5 | 6 => (3, 4),
        _ => (4, 4),
    };
    let extra = if sampled { u16::from(has("O")) + u16::from(has("B")) + u16::from(has("C")) } else { 0 };
    let lod = has("MIP") || inst.op == Op::IMAGE_GET_RESINFO || sampled && (has("L") || has("CL"));
    let components = if inst.op == Op::IMAGE_GET_RESINFO { 0 } else { coordinates } + u16::from(lod);
    let a16 = inst.is(Field::a16);
    let mut n = extra + if a16 { components.div_ceil(2) } else { components };
    if sampled && has("D") {
        n += if has("G16") { (gradients / 2_u16).next_multiple_of(2) } else { gradients };
    }
    if n > 12 && !inst.is_gfx12() { 16 } else { n }
}
