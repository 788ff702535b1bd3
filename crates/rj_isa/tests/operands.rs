//! What operands say of an instruction, as an executor reads them.

use rj_isa::{Field, Inst, Op, Operand, Special, Target, decode};

fn inst(t: Target, hex: &str) -> Inst {
    let bytes: Vec<u8> =
        (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex")).collect();
    decode(t, &bytes).expect("decodes")
}

fn constant(t: Target, hex: &str, field: Field) -> u64 {
    match inst(t, hex).operand(field) {
        Some(Operand::Const(c)) => c,
        other => panic!("{other:?}"),
    }
}

#[test]
fn literals_of_64_bit_operands_extend_by_signedness() {
    // s_mov_b64 s[0:1], 0xffffffff; s_ashr_i64 s[0:1], 0xffffffff, s4; v_fract_f64 v[0:1], 0x40080000
    assert_eq!(constant(Target::Gfx942, "ff0180beffffffff", Field::src0), 0xffff_ffff);
    assert_eq!(constant(Target::Gfx942, "ff048090ffffffff", Field::src0), u64::MAX);
    assert_eq!(constant(Target::Gfx942, "ff64007e00000840", Field::src0), 0x4008_0000_0000_0000);
}

#[test]
fn literals_of_16_bit_operands_have_16_bits() {
    // v_and_b16 v0.l, 0xffffff00, v1.l
    assert_eq!(constant(Target::Gfx1100, "000062d7ff02020000ffffff", Field::src0), 0xff00);
}

#[test]
fn inline_constants_have_the_operands_type() {
    // s_mov_b64 s[0:1], -1; v_add_f16 v0, 1.0, v0; v_add_f32 v0, 1.0, v0; v_fract_f64 v[0:1], 1.0
    assert_eq!(constant(Target::Gfx942, "c10180be", Field::src0), u64::MAX);
    assert_eq!(constant(Target::Gfx942, "f200003e", Field::src0), 0x3c00);
    assert_eq!(constant(Target::Gfx942, "f2000002", Field::src0), 0x3f80_0000);
    assert_eq!(constant(Target::Gfx942, "f264007e", Field::src0), 0x3ff0_0000_0000_0000);
}

#[test]
fn a_vop3_without_literals_names_nothing_where_one_would_be() {
    // v_add_f32_e64 v0, <255>, v0 on gfx9.
    assert_eq!(inst(Target::Gfx942, "000001d1ff000200").operand(Field::src0), Some(Operand::Bad(255)));
}

#[test]
fn halves_of_16_bit_registers_come_from_the_modifiers() {
    // v_cos_f16_e64 v255.h, vcc_lo op_sel:[0,1]
    let i = inst(Target::Gfx1100, "ff40e1d56a000102");
    assert_eq!(i.op, Op::V_COS_F16);
    assert_eq!(i.operand(Field::vdst), Some(Operand::Vgpr { reg: 255, hi: true }));
    assert_eq!(i.operand(Field::src0), Some(Operand::Special(Special::VccLo)));
}

#[test]
fn dual_issue_pairs_have_two_results_and_share_a_literal() {
    // v_dual_fmaak_f32 v255, s1, v2, 0xaf123456 :: v_dual_fmaak_f32 v6, s1, v3, 0xaf123456
    let i = inst(Target::Gfx1100, "010442c8010606ff563412af");
    assert_eq!((i.op, i.op_y()), (Op::V_FMAAK_F32, Some(Op::V_FMAAK_F32)));
    assert_eq!(i.operand(Field::vdstX), Some(Operand::Vgpr { reg: 255, hi: false }));
    assert_eq!(i.operand(Field::vdstY), Some(Operand::Vgpr { reg: 6, hi: false }));
    assert_eq!(i.operand(Field::immX), Some(Operand::Const(0xaf12_3456)));
    assert_eq!(i.operand(Field::imm), Some(Operand::Const(0xaf12_3456)));
}

#[test]
fn sdwa_sources_extend_signs() {
    // v_mov_b32_sdwa v1, sext(v0)
    assert!(inst(Target::Gfx942, "f902027e00160e00").mods(Field::src0_modifiers).sext());
}

#[test]
fn mixed_format_matrices_have_the_width_of_their_formats() {
    // v_mfma_f32_16x16x128_f8f6f4 a[0:3], a[4:9], a[12:19], a[20:23] cbsz:3 blgp:1
    let i = inst(Target::Gfx950, "0083add30419523c");
    assert_eq!((i.bits(Field::src0), i.bits(Field::src1)), (192, 256));
}
