//! Single instructions from bytes to results: operand halves, modifiers, what becomes of the other half.

use super::*;
use crate::lanes::Backend;
use crate::mem::Region;
use crate::uop::NEXT;
use crate::wave::{Block, EXEC, VCC};

/// Runs instructions (encoded by llvm-mc) on all backends with v0 = `a`, v1 = `b`, v2 = `c` in every lane and gives v2
/// of lane 3.
pub(super) fn run(target: Target, words: &[u32], a: u32, b: u32, c: u32) -> u32 {
    let mut results = Vec::new();
    for backend in Backend::available() {
        let mut w = Block::new();
        for (plane, x) in [a, b, c].into_iter().enumerate() {
            *w.plane(plane) = [x; 64];
        }
        w.wave().set64(EXEC, u64::MAX);
        step(target, backend, &mut w, words);
        results.push(w.plane(2)[3]);
    }
    assert!(results.windows(2).all(|r| r[0] == r[1]), "{results:x?}");
    results[0]
}

/// Runs instructions on a wave.
pub(super) fn step(target: Target, backend: Backend, w: &mut Block, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let region = Region { va: 0, len: 64, host: 0, read: false, write: false, exec: true, alloc: 0 };
    Code::probe(target, region, |consts| {
        let uops = {
            let mut l = Lower::new(target, backend, consts, 0);
            while (l.pc as usize) < bytes.len() {
                let inst = rj_isa::decode(target, &bytes[l.pc as usize..]).expect("an instruction");
                l.next = l.pc + u64::from(inst.len);
                one(&mut l, &inst).unwrap_or_else(|e| panic!("{inst:?}: {e:?}"));
                l.pc = l.next;
                l.done();
            }
            l.finish().uops
        };
        consts.fill(&mut w.wave().s);
        for u in &uops {
            // SAFETY: lowering gave offsets within a block; the backend is available.
            assert_eq!(unsafe { (u.h)(u, w.ptr()) }, NEXT);
        }
    });
}

const G: Target = Target::Gfx942;

#[test]
fn lds_pairs_have_their_own_offsets_and_may_overwrite_their_address() {
    for backend in Backend::available() {
        let mut b = Block::new();
        let mut lds = [0u32; 144];
        let w = b.wave();
        (w.lanes, w.lds, w.lds_len) = (64, lds.as_mut_ptr().cast(), 4 * 128);
        w.set64(EXEC, u64::MAX);
        for i in 0..64 {
            b.plane(2)[i] = 4 * i as u32;
            b.plane(8)[i] = i as u32;
            b.plane(9)[i] = 100 + i as u32;
        }
        let address = *b.plane(2);
        // ds_write2_b32 v2, v8, v9 offset1:64
        step(G, backend, &mut b, &[0xd81c_4000, 0x0009_0802]);
        let (p, q) = (*b.plane(8), *b.plane(9));
        assert_eq!((&lds[..64], &lds[64..128]), (&p[..], &q[..]));
        // ds_read2_b32 v[d:d+1], v2 offset1:64
        for d in [10, 2, 1] {
            *b.plane(2) = address;
            step(G, backend, &mut b, &[0xd86e_4000, d << 24 | 2]);
            assert_eq!((*b.plane(d as usize), *b.plane(d as usize + 1)), (p, q), "v{d}");
        }
        // Past the end: 0.
        b.plane(2).fill(512);
        step(G, backend, &mut b, &[0xd86e_4000, 10 << 24 | 2]);
        assert_eq!(*b.plane(10), [0; 64]);
        // Equal offsets, ds_write2_b32 v2, v8, v9: the first data.
        *b.plane(2) = address;
        step(G, backend, &mut b, &[0xd81c_0000, 0x0009_0802]);
        assert_eq!(lds[..64], p[..]);
    }
}

fn h(x: f32) -> u32 {
    u32::from(crate::half::f32_to_f16(x))
}
fn hh(lo: f32, hi: f32) -> u32 {
    h(lo) | h(hi) << 16
}

#[test]
fn f16_results_zero_the_upper_half_unless_the_operation_has_op_sel() {
    let (a, b, c) = (hh(1.0, 3.0), hh(2.0, 5.0), 0xdead_beef);
    // v_add_f16 v2, v0, v1
    assert_eq!(run(G, &[0x3e04_0300], a, b, c), h(3.0));
    // v_add_f16 v2, -v0, |v1| mul:2
    assert_eq!(run(G, &[0xd11f_0202, 0x2802_0300], a, b, c), h(2.0));
    // v_fma_f16 v2, v0, v1, v1 op_sel:[1,0,0,1]
    assert_eq!(run(G, &[0xd206_4802, 0x0406_0300], a, b, c), h(8.0) << 16 | 0xbeef);
    // v_cvt_f16_f32 v2, v0
    assert_eq!(run(G, &[0x7e04_1500], 1.5f32.to_bits(), 0, c), h(1.5));
    // v_add_f16_sdwa v2, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0
    assert_eq!(run(G, &[0x3e04_02f9, 0x0405_1500], a, b, c), h(5.0) << 16 | 0xbeef);
    // v_pack_b32_f16 v2, v0, v1 op_sel:[1,0,0]
    assert_eq!(run(G, &[0xd2a0_0802, 0x0002_0300], a, b, c), hh(3.0, 2.0));
}

#[test]
fn u16_results() {
    // v_add_u16 v2, v0, v1
    assert_eq!(run(G, &[0x4c04_0300], 0x1_ffff, 0x5_0002, 0xdead_beef), 1);
    // v_mad_i16 v2, v0, v1, v1 op_sel:[0,1,0,0]: 3 * 7 + 2
    assert_eq!(run(G, &[0xd205_1002, 0x0406_0300], 3, 0x0007_0002, 0xdead_beef), 0xdead_0017);
}

#[test]
fn packed_operands_choose_halves_and_signs() {
    let (a, b, c) = (hh(1.0, 3.0), hh(2.0, 5.0), hh(10.0, 20.0));
    // v_pk_fma_f16 v2, v0, v1, v1
    assert_eq!(run(G, &[0xd38e_4002, 0x1c06_0300], a, b, c), hh(4.0, 20.0));
    // v_pk_add_f16 v2, v0, v1 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1]
    assert_eq!(run(G, &[0xd38f_4a02, 0x3002_0300], a, b, c), hh(-1.0, -4.0));
    // v_pk_add_f16 v2, v0, 1.0 op_sel_hi:[1,0]
    assert_eq!(run(G, &[0xd38f_4002, 0x0801_e500], a, b, c), hh(2.0, 4.0));
    // v_pk_add_u16 v2, v0, -1
    assert_eq!(run(G, &[0xd38a_4002, 0x1801_8300], 0x0005_0000, b, c), 0x0004_ffff);
    // v_pk_fmac_f16 v2, v0, v1
    assert_eq!(run(G, &[0x7804_0300], a, b, c), hh(12.0, 35.0));
}

#[test]
fn dots_and_mixed_widths() {
    let (a, b) = (hh(1.0, 3.0), hh(2.0, 5.0));
    // v_fma_mix_f32 v2, v0, v1, v1 op_sel:[1,0,0] op_sel_hi:[1,1,0]: 3 * 2 + v1 as f32
    let want = 6.0 + f32::from_bits(b);
    assert_eq!(run(G, &[0xd3a0_0802, 0x1c06_0300], a, b, 0), want.to_bits());
    // v_fma_mixhi_f16 v2, v0, v1, 1.0 op_sel_hi:[1,0,0]: 1 * v1 as f32 + 1
    assert_eq!(run(G, &[0xd3a2_0002, 0x0bca_0300], a, 2.5f32.to_bits(), 0xdead_beef), h(3.5) << 16 | 0xbeef);
    // v_dot2_f32_f16 v2, v0, v1, v1
    assert_eq!(run(G, &[0xd3a3_4002, 0x1c06_0300], a, b, 0), (17.0 + f32::from_bits(b)).to_bits());
    // v_dot2c_f32_f16 v2, v0, v1
    assert_eq!(run(G, &[0x6e04_0300], a, b, 0.5f32.to_bits()), 17.5f32.to_bits());
    // gfx90a reads denormals as zero: v_dot2_f32_f16 v2, v0, v1, v2
    let tiny = |t| run(t, &[0xd3a3_4002, 0x1c0a_0300], 1, h(1.0), 0);
    assert_eq!(tiny(Target::Gfx90a), 0);
    assert_eq!(tiny(G), 2f32.powi(-24).to_bits());
    // v_dot4_i32_i8 v2, v0, v1, v1
    assert_eq!(run(G, &[0xd3a8_4002, 0x1c06_0300], 0xff01_0203, 0x0102_0304, 0), 0x0102_0304 - 1 + 2 + 6 + 12);
}

#[test]
fn eight_bit_floats_go_where_op_sel_says() {
    let (one, two) = (1f32.to_bits(), 2f32.to_bits());
    // v_cvt_pk_fp8_f32 v2, v0, v1 op_sel:[0,0,1]
    assert_eq!(run(G, &[0xd2a2_4002, 0x0002_0300], one, two, 0xdead_beef), 0x4840_beef);
    // v_cvt_sr_fp8_f32 v2, v0, v1 op_sel:[0,0,1,1] and op_sel:[0,0,1,0]
    assert_eq!(run(G, &[0xd2a4_6002, 0x0002_0300], one, 0, 0xdead_beef), 0x40ad_beef);
    assert_eq!(run(G, &[0xd2a4_2002, 0x0002_0300], one, 0, 0xdead_beef), 0xdead_40ef);
    // v_cvt_f32_fp8_sdwa v2, v0 src0_sel:BYTE_1
    assert_eq!(run(G, &[0x7e04_a8f9, 0x0001_0600], 0x0000_4840, 0, 0), two);
}

#[test]
fn f16_comparisons_see_the_low_half() {
    let mut w = Block::new();
    *w.plane(0) = [hh(1.0, 9.0); 64];
    *w.plane(1) = [hh(2.0, 5.0); 64];
    w.wave().set64(EXEC, 0xf0);
    // v_cmp_lt_f16 vcc, v0, v1
    step(G, Backend::Scalar, &mut w, &[0x7c42_0300]);
    assert_eq!(w.wave().get64(VCC), 0xf0);
}

#[test]
fn a_64_bit_shift_and_addition_carries_between_the_halves() {
    const SPECIAL: [u64; 8] = [0, 1, 0xffff_ffff, 0x1_0000_0000, u64::MAX, 1 << 63, 0xf000_0001, 0x1234_5678_9abc_def0];
    for backend in Backend::available() {
        for n in 0..8u32 {
            for scalar in [false, true] {
                let mut b = Block::new();
                let exec = 0xffff_ffff_ffff_ff0f;
                b.wave().set64(EXEC, exec);
                let a = |lane: usize| SPECIAL[lane % 8];
                let c = |lane: usize| SPECIAL[if scalar { 4 } else { lane / 8 }];
                for lane in 0..64 {
                    (b.plane(0)[lane], b.plane(1)[lane]) = (a(lane) as u32, (a(lane) >> 32) as u32);
                    (b.plane(2)[lane], b.plane(3)[lane]) = (c(lane) as u32, (c(lane) >> 32) as u32);
                    b.plane(4)[lane] = 7;
                }
                b.wave().set64(4, SPECIAL[4]);
                // v_lshl_add_u64 v[4:5], v[0:1], n, v[2:3] or s[4:5]
                let last = if scalar { 0x0010_0100 - 0x100 } else { 0x0408_0000 };
                step(G, backend, &mut b, &[0xd208_0004, last | 0x100 | (128 + n) << 9]);
                for lane in 0..64 {
                    let got = u64::from(b.plane(4)[lane]) | u64::from(b.plane(5)[lane]) << 32;
                    let shifted = if n > 4 { 0 } else { a(lane) << n };
                    let want = if exec >> lane & 1 != 0 { shifted.wrapping_add(c(lane)) } else { 7 };
                    assert_eq!(got, want, "{backend:?} {n} lane {lane}");
                }
            }
        }
    }
}

#[test]
fn a_run_of_one_handler_is_one_dispatch_with_the_same_results() {
    // v_fma_f32 v4, v0, v1, v2; v_fma_f32 v5, v4, v1, v2; v_fma_f32 v4, v5, v1, v4; s_endpgm
    let words = [0xd1cb_0004, 0x040a_0300, 0xd1cb_0005, 0x040a_0304, 0xd1cb_0004, 0x0412_0305, 0xbf81_0000u32];
    let host = words.as_ptr() as usize;
    let region = Region { va: 0, len: 28, host, read: true, write: false, exec: true, alloc: 0 };
    let space = crate::mem::AddressSpace::new();
    space.map(region).unwrap();
    let snap = space.snapshot();
    let cache = crate::code::CodeCache::new(G);
    let code = cache.find(0, &snap).unwrap();
    let block = code.block(0, &snap);
    assert_eq!((block.uops[0].imm, block.uops.len()), (2, 4));
    let mut w = Block::new();
    w.wave().set64(EXEC, 0xff);
    for (plane, x) in [2.0f32, 3.0, 4.0].into_iter().enumerate() {
        *w.plane(plane) = [x.to_bits(); 64];
    }
    // SAFETY: lowering gave offsets within a block; the backend is available.
    let r = unsafe { (block.uops[0].h)(&raw const block.uops[0], w.ptr()) };
    assert_eq!(r, crate::uop::RUN + 2);
    assert_eq!([w.plane(5)[3], w.plane(4)[3]], [34f32.to_bits(), 112f32.to_bits()]);
    assert_eq!([w.plane(5)[8], w.plane(4)[8]], [0; 2]);
}
