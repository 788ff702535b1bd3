//! Atomics, LDS specials, transfers and scalar loads, one fact at a time.

use super::atomic::{self, Kind};
use super::space::*;
use super::tests::{Bench, Rng};
use super::{NONE, direct, lds, scalar};
use crate::fault::FaultKind;
use crate::uop::{FAULT, Handler, NEXT, Uop};
use crate::wave::{EXEC, M0, s_off, v_off};

const VA: u64 = 0x7000_0000_0000;

fn op(h: Handler, d: u32, a: u32, b: u32, c: u32, imm: u64) -> Uop {
    Uop { h, d, a, b, c, imm }
}

fn bench(exec: u64) -> Bench {
    let mut b = Bench::new(&mut Rng(3));
    b.block.wave().set64(EXEC, exec);
    b
}

fn global_at(b: &mut Bench, va: u64) {
    b.block.plane(2).fill(va as u32);
    b.block.plane(3).fill((va >> 32) as u32);
}

/// One lane's atomic on `old`: what it returns and what memory holds then.
fn once(space: u8, kind: Kind, wide: bool, old: u64, x: u64, y: u64) -> (u64, u64) {
    let mut b = bench(1 << 5);
    let n = if wide { 2 } else { 1 };
    if space == GLOBAL {
        global_at(&mut b, VA);
        b.host[0] = old;
    } else {
        b.block.plane(2).fill(0);
        // SAFETY: the bench's LDS, 8-byte aligned.
        unsafe { b.block.wave().lds.cast::<u64>().write(old) }
    }
    for (first, v) in [(8, x), (8 + n, y), (16, y)] {
        b.block.plane(first)[5] = v as u32;
        if wide {
            b.block.plane(first + 1)[5] = (v >> 32) as u32;
        }
    }
    let imm = (kind as u64) << 48 | u64::from(wide) << 56 | 1 << 57;
    let c = if space == GLOBAL { NONE } else { v_off(16) };
    let u = op(atomic::pick(space), v_off(8), v_off(2), v_off(20), c, imm);
    assert_eq!(b.run(u.h, u), NEXT);
    let hi = if wide { u64::from(b.block.plane(21)[5]) << 32 } else { 0 };
    let back = u64::from(b.block.plane(20)[5]) | hi;
    // SAFETY: as above.
    let now = if space == GLOBAL { b.host[0] } else { unsafe { b.block.wave().lds.cast::<u64>().read() } };
    (back, now)
}

#[test]
fn atomics_do_what_their_names_say() {
    let f = |x: f32| u64::from(x.to_bits());
    let cases = [
        (Kind::Swap, 1, 7, 0, 7),
        (Kind::Cmpswap, 5, 9, 5, 9),
        (Kind::Cmpswap, 5, 9, 6, 5),
        (Kind::Add, 0xffff_ffff, 2, 0, 1),
        (Kind::Sub, 1, 2, 0, 0xffff_ffff),
        (Kind::Rsub, 1, 3, 0, 2),
        (Kind::Smin, 0xffff_fffe, 1, 0, 0xffff_fffe),
        (Kind::Umin, 0xffff_fffe, 1, 0, 1),
        (Kind::Smax, 0xffff_fffe, 1, 0, 1),
        (Kind::Umax, 0xffff_fffe, 1, 0, 0xffff_fffe),
        (Kind::And, 12, 10, 0, 8),
        (Kind::Or, 12, 10, 0, 14),
        (Kind::Xor, 12, 10, 0, 6),
        (Kind::Inc, 4, 5, 0, 5),
        (Kind::Inc, 5, 5, 0, 0),
        (Kind::Dec, 0, 5, 0, 5),
        (Kind::Dec, 9, 5, 0, 5),
        (Kind::Dec, 3, 5, 0, 2),
        (Kind::AddF, f(1.5), f(2.0), 0, f(3.5)),
        (Kind::AddF, 1, 2, 0, 3),
        (Kind::AddFz, 1, 2, 0, 0),
        (Kind::AddFz, f(1.5), f(2.0), 0, f(3.5)),
        (Kind::MinF, f(1.5), f(-2.0), 0, f(-2.0)),
        (Kind::MaxF, f(1.5), f(-2.0), 0, f(1.5)),
        (Kind::PkAddF16, 0x3c00_4000, 0x3c00_3c00, 0, 0x4000_4200),
        (Kind::PkAddBf16, 0x3f80_4000, 0x3f80_3f80, 0, 0x4000_4040),
        (Kind::Mskor, 0b1111, 0b0011, 0b10000, 0b11100),
        (Kind::CmpswapF, f(0.0), 9, f(-0.0), 9),
        (Kind::SubClamp, 3, 5, 0, 0),
        (Kind::CondSub, 3, 5, 0, 3),
        (Kind::CondSub, 5, 3, 0, 2),
        (Kind::Wrap, 5, 3, 100, 2),
        (Kind::Wrap, 2, 3, 100, 102),
    ];
    for (kind, old, x, y, want) in cases {
        for space in [GLOBAL, LDS] {
            // The upper dword is not touched.
            let high = 0xdead_beef_0000_0000;
            assert_eq!(once(space, kind, false, old | high, x, y), (old, want | high), "{kind:?}");
        }
    }
    let d = |x: f64| x.to_bits();
    let wide = [
        (Kind::Add, u64::MAX, 2, 0, 1),
        (Kind::Cmpswap, 1 << 40, 3, 1 << 40, 3),
        (Kind::Cmpswap, 1 << 40, 3, 0, 1 << 40),
        (Kind::Smin, u64::MAX, 1, 0, u64::MAX),
        (Kind::Dec, 0, 1 << 33, 0, 1 << 33),
        (Kind::AddF, d(1.5), d(2.25), 0, d(3.75)),
        (Kind::MaxF, d(1.5), d(2.25), 0, d(2.25)),
    ];
    for (kind, old, x, y, want) in wide {
        for space in [GLOBAL, LDS] {
            assert_eq!(once(space, kind, true, old, x, y), (old, want), "{kind:?}");
        }
    }
}

#[test]
fn lanes_add_to_one_place_in_turn() {
    let mut b = bench(u64::MAX);
    global_at(&mut b, VA + 8);
    b.host[1] = 0;
    b.block.plane(8).fill(1);
    b.block.wave().stored = true;
    let u = op(atomic::pick(GLOBAL), v_off(8), v_off(2), v_off(20), NONE, (Kind::Add as u64) << 48 | 1 << 57);
    assert_eq!(b.run(u.h, u), NEXT);
    assert_eq!(b.host[1], 64);
    let mut seen = *b.block.plane(20);
    seen.sort_unstable();
    assert!(seen.iter().enumerate().all(|(i, x)| *x == i as u32));
    assert!(!b.block.wave().stored, "an atomic orders earlier stores");
}

#[test]
fn a_misaligned_atomic_is_an_aperture_violation() {
    let mut b = bench(1 << 9);
    global_at(&mut b, VA + 2);
    let u = op(atomic::pick(GLOBAL), v_off(8), v_off(2), 0, NONE, (Kind::Add as u64) << 48);
    assert_eq!(b.run(u.h, u), FAULT);
    let (kind, lane) = *b.block.wave().fault.take().unwrap();
    assert!(matches!(kind, FaultKind::Aperture { why: "misaligned atomic", .. }));
    assert_eq!(lane, Some(9));
}

#[test]
fn a_pair_of_lds_exchanges_has_its_own_offsets() {
    let mut b = bench(u64::MAX);
    // SAFETY: the bench's LDS.
    let lds = |b: &mut Bench| unsafe { b.block.wave().lds.cast::<[u32; 128]>().read_unaligned() };
    let before = lds(&mut b);
    for i in 0..64 {
        b.block.plane(2)[i] = 4 * i as u32;
        b.block.plane(8)[i] = i as u32;
        b.block.plane(9)[i] = 100 + i as u32;
    }
    let imm = u64::from(v_off(12)) | 64u64 << 48;
    let u = op(lds::exchange2, v_off(9), v_off(2), v_off(8), 1, imm);
    assert_eq!(b.run(u.h, u), NEXT);
    assert_eq!(b.block.plane(12)[..], before[..64]);
    assert_eq!(b.block.plane(13)[..], before[64..128]);
    let (first, second) = (*b.block.plane(9), *b.block.plane(8));
    assert_eq!((&lds(&mut b)[..64], &lds(&mut b)[64..]), (&first[..], &second[..]));
}

#[test]
fn lanes_exchange_through_lds_hardware() {
    let mut b = bench(!(1 << 7));
    for i in 0..64 {
        b.block.plane(8)[i] = 1000 + i as u32;
        b.block.plane(2)[i] = 4 * (i as u32 + 1);
        b.block.plane(9)[i] = 77;
    }
    let u = op(lds::bpermute, v_off(9), v_off(2), v_off(8), 0, 0);
    b.run(u.h, u);
    let p = *b.block.plane(9);
    assert_eq!((p[0], p[63], p[6], p[7]), (1001, 1000, 0, 77), "an inactive source reads 0, an inactive lane keeps");
    let u = op(lds::bpermute, v_off(9), v_off(2), v_off(8), 0, 1 << 32);
    b.run(u.h, u);
    assert_eq!(b.block.plane(9)[6], 1007, "the fetch-inactive form reads it");
    let u = op(lds::permute, v_off(9), v_off(2), v_off(8), 0, 0);
    b.run(u.h, u);
    let p = *b.block.plane(9);
    assert_eq!((p[1], p[0], p[8]), (1000, 1063, 0), "nobody sends to lane 8");
    // Swap neighbours by xor 1, then reverse quads.
    let u = op(lds::swizzle, v_off(9), v_off(8), 0, 0, 0x041f);
    b.run(u.h, u);
    assert_eq!(b.block.plane(9)[2..4], [1003, 1002]);
    let u = op(lds::swizzle, v_off(9), v_off(8), 0, 0, 0x801b);
    b.run(u.h, u);
    assert_eq!(b.block.plane(9)[8..12], [1011, 1010, 1009, 1008]);
}

#[test]
fn loads_straight_to_lds_go_by_m0_and_lane() {
    let mut b = bench(u64::MAX);
    for i in 0..64 {
        let va = VA + 4 * (63 - i as u64);
        b.block.plane(2)[i] = va as u32;
        b.block.plane(3)[i] = (va >> 32) as u32;
    }
    for i in 0..32 {
        b.host[i] = (2 * i as u64) | (2 * i as u64 + 1) << 32;
    }
    b.block.wave().s[M0] = 128;
    let u = op(direct::pick(GLOBAL), 0, v_off(2), 0, NONE, direct::BYTES << 44 | 4 << 48);
    assert_eq!(b.run(u.h, u), NEXT);
    for i in 0..64usize {
        // SAFETY: inside the bench's LDS.
        let x = unsafe { b.block.wave().lds.add(128 + 4 * i).cast::<u32>().read_unaligned() };
        assert_eq!(x as usize, 63 - i);
    }
}

#[test]
fn scalar_loads_cut_addresses_to_dwords_but_those_of_bytes() {
    let mut b = bench(0);
    b.host[0] = 0x8877_6655_4433_2211;
    b.host[1] = 0x0f0e_0d0c_0b0a_0908;
    b.block.wave().set64(10, VA + 1);
    b.block.wave().s[12] = 4;
    let u = op(scalar::s_load, s_off(20), s_off(10), 2, s_off(12), 2);
    assert_eq!(b.run(u.h, u), NEXT);
    assert_eq!(b.block.wave().get64(20), 0x0b0a_0908_8877_6655);
    let u = op(scalar::s_load_sub, s_off(20), s_off(10), super::sub::kind::I8 as u32, NONE, 6);
    assert_eq!(b.run(u.h, u), NEXT);
    assert_eq!(b.block.wave().s[20], 0xffff_ff88);
    b.block.wave().set64(10, 0x10);
    let u = op(scalar::s_load, s_off(20), s_off(10), 1, NONE, 0);
    assert_eq!(b.run(u.h, u), FAULT);
    // A buffer's end reads 0.
    let w = b.block.wave();
    (w.s[12], w.s[13], w.s[14], w.s[15]) = (VA as u32, (VA >> 32) as u32, 6, 0);
    w.set64(20, u64::MAX);
    let u = op(scalar::s_buffer_load, s_off(20), s_off(12), 2, NONE, 0);
    assert_eq!(b.run(u.h, u), NEXT);
    assert_eq!(b.block.wave().get64(20), 0x4433_2211);
}

#[test]
fn transposing_reads_give_each_lane_a_column() {
    for (bits, count) in [(16usize, 4usize), (8, 8), (4, 16)] {
        let mut b = bench(u64::MAX);
        // Four matrices of 16 columns, row after row: element (r, c) is r + 3 c.
        let element = |g: usize, r: usize, c: usize| (g + r + 3 * c) as u128 & ((1 << bits) - 1);
        for lane in 0..64usize {
            let (g, l) = (lane / 16, lane % 16);
            let per_row = 16 / count;
            let x = (0..count).fold(0u128, |x, e| x | element(g, l / per_row, l % per_row * count + e) << (e * bits));
            b.block.plane(2)[lane] = 8 * lane as u32;
            // SAFETY: inside the bench's LDS.
            unsafe { b.block.wave().lds.add(8 * lane).cast::<u64>().write(x as u64) }
        }
        let u = op(lds::read_transposed, v_off(8), v_off(2), bits as u32, count as u32, 0);
        assert_eq!(b.run(u.h, u), NEXT);
        for lane in 0..64usize {
            let want = (0..count).fold(0u128, |x, r| x | element(lane / 16, r, lane % 16) << (r * bits));
            let got = u128::from(b.block.plane(8)[lane]) | u128::from(b.block.plane(9)[lane]) << 32;
            assert_eq!(got, want, "{bits} bits, lane {lane}");
        }
    }
}

#[test]
fn a_flat_private_address_of_gfx1250_names_the_lane() {
    use super::place::WIDE_PRIVATE;
    let mut b = bench(0xf);
    for i in 0..4u64 {
        // Each lane reads the next one's dword at offset 8.
        let va = WIDE_PRIVATE | (i + 1) << 52 | 8;
        b.block.plane(2)[i as usize] = va as u32;
        b.block.plane(3)[i as usize] = (va >> 32) as u32;
    }
    let first = 0x1000 + 8 / 4 * 256;
    let want: Vec<u32> =
        (1..5).map(|l| u32::from_le_bytes(b.bytes()[first + 4 * l..first + 4 * l + 4].try_into().unwrap())).collect();
    for k in crate::lanes::Backend::available() {
        let u = op(super::vector::pick(FLAT, 1, false, k), v_off(8), v_off(2), 0, NONE, 1 << 41);
        assert_eq!(b.run(u.h, u), NEXT);
        assert_eq!(b.block.plane(8)[..4], want);
    }
}
