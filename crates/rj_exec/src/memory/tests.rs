//! Vector loads and stores of every space against a byte-by-byte model, on every backend.

use super::space::*;
use super::{NONE, sub, vector};
use crate::fault::FaultKind;
use crate::lanes::Backend;
use crate::mem::{AddressSpace, Region, Snapshot, Tlb};
use crate::uop::{FAULT, Handler, NEXT, Uop};
use crate::wave::{Block, EXEC, s_off, v_off};
use std::sync::Arc;

const VA: u64 = 0x7000_0000_0000;
/// Bytes of each of two regions that touch at GPU addresses but not on the host.
const HALF: usize = 0x8000;
const GAP: usize = 0x1000;
const LDS_LEN: usize = 1024;
/// Private memory, inside the first region.
const PRIVATE: usize = 0x1000;
const LANE_BYTES: usize = 64;

/// Xorshift.
pub(super) struct Rng(pub u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A wave with two regions of memory and LDS.
pub(super) struct Bench {
    pub block: Block,
    _snap: Arc<Snapshot>,
    _tlb: Box<Tlb>,
    /// First region, gap, second region, LDS.
    pub host: Vec<u64>,
}

impl Bench {
    pub fn new(rng: &mut Rng) -> Bench {
        let mut host = vec![0u64; (2 * HALF + GAP + LDS_LEN + 64) / 8];
        host.fill_with(|| rng.next());
        let base = host.as_mut_ptr() as usize;
        let space = AddressSpace::new();
        let region = |va, host| Region { va, len: HALF as u64, host, read: true, write: true, exec: false, alloc: 0 };
        space.map(region(VA, base)).unwrap();
        space.map(region(VA + HALF as u64, base + HALF + GAP)).unwrap();
        let mut block = Block::new();
        let snap = space.snapshot();
        let w = block.wave();
        w.snap = Arc::as_ptr(&snap);
        let mut tlb = Box::<Tlb>::default();
        w.tlb = &raw mut *tlb;
        w.lanes = 64;
        w.lds = (base + 2 * HALF + GAP) as *mut u8;
        w.lds_len = LDS_LEN as u32;
        w.scratch = VA + PRIVATE as u64;
        w.scratch_len = (LANE_BYTES * 64) as u64;
        Bench { block, _snap: snap, _tlb: tlb, host }
    }
    pub fn bytes(&mut self) -> &mut [u8] {
        let n = self.host.len() * 8;
        // SAFETY: the vector's own bytes.
        unsafe { std::slice::from_raw_parts_mut(self.host.as_mut_ptr().cast(), n) }
    }
    pub fn run(&mut self, h: Handler, u: Uop) -> u32 {
        // SAFETY: offsets are planes and scalars of the block; the host memory outlives the call.
        unsafe { h(&u, self.block.ptr()) }
    }
    fn fault(&mut self) -> (FaultKind, Option<u32>) {
        *self.block.wave().fault.take().expect("a fault")
    }
}

/// Where a byte of guest memory is in `Bench::host`.
fn guest(va: u64) -> Option<usize> {
    let off = va.wrapping_sub(VA) as usize;
    match off {
        _ if off < HALF => Some(off),
        _ if off < 2 * HALF => Some(off + GAP),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Byte {
    In(usize),
    Nowhere,
    Fault,
}

fn private(off: u64, lane: usize) -> Byte {
    if off as usize >= LANE_BYTES {
        return Byte::Fault;
    }
    Byte::In(PRIVATE + off as usize / 4 * 256 + lane * 4 + off as usize % 4)
}

fn shared(off: u64) -> Option<usize> {
    (off < LDS_LEN as u64).then_some(2 * HALF + GAP + off as usize)
}

/// One way to address.
#[derive(Clone, Copy, Debug)]
struct Case {
    space: u8,
    n: usize,
    saddr: bool,
    imm: i32,
    /// Records of the buffer; 0 for the swizzled descriptor.
    records: u64,
}

impl Case {
    /// The model: where the `k`-th byte of a lane's access of `len` is, for a lane address `v`.
    fn byte(&self, v: u64, lane: usize, k: u64, len: u64) -> Byte {
        let at = v.wrapping_add_signed(i64::from(self.imm));
        let mapped = |va| guest(va).map_or(Byte::Fault, Byte::In);
        match self.space {
            GLOBAL => mapped(at + k),
            FLAT => match at >> 32 {
                0x1_0000 if (at & 0xffff_ffff) + len > LDS_LEN as u64 => Byte::Fault,
                0x1_0000 => shared((at & 0xffff_ffff) + k).map_or(Byte::Fault, Byte::In),
                0x2_0000 => private((at & 0xffff_ffff) + k, lane),
                _ => mapped(at + k),
            },
            SCRATCH => private(at.wrapping_add(k) & 0xffff_ffff, lane),
            LDS if (at & 0xffff_ffff) + len > LDS_LEN as u64 => Byte::Nowhere,
            LDS => shared((at & 0xffff_ffff) + k).map_or(Byte::Nowhere, Byte::In),
            _ if self.records == 0 => {
                let off = at + k;
                mapped(VA + PRIVATE as u64 + off / 4 * 256 + lane as u64 * 4 + off % 4)
            }
            // Dwords of a raw buffer are checked one by one.
            _ if (at + k / 4 * 4) + len.min(4) <= self.records => mapped(VA + at + k),
            _ => Byte::Nowhere,
        }
    }

    fn setup(&self, b: &mut Bench, rng: &mut Rng) -> (Uop, [u64; 64]) {
        let style = rng.below(7);
        let step = 4 * self.n as u64;
        let room = match self.space {
            GLOBAL | FLAT => 2 * HALF as u64 - 64,
            LDS => LDS_LEN as u64,
            SCRATCH => LANE_BYTES as u64,
            _ if self.records == 0 => 48,
            _ => self.records,
        };
        let near_edge = style == 5;
        let start = if near_edge && room > 0x1000 { HALF as u64 - 130 } else { rng.below(room / 8) * 4 };
        let flat_base = [VA, 1 << 48, 2 << 48];
        let base = match self.space {
            GLOBAL => VA,
            FLAT => flat_base[rng.below(3) as usize],
            _ => 0,
        };
        let mut v = [0u64; 64];
        for (i, v) in v.iter_mut().enumerate() {
            let off = match style {
                0 => start + step * i as u64,
                1 => start,
                2 => start + step * (63 - i as u64),
                3 => rng.below(room / 4) * 4,
                4 => rng.below(room),
                5 => start + 4 * i as u64 + 2,
                _ => start + step * i as u64 + step * rng.below(2),
            };
            let base = if self.space == FLAT && style == 3 { flat_base[rng.below(3) as usize] } else { base };
            *v = (base + off).wrapping_add_signed(-i64::from(self.imm));
        }
        let mut u = Uop { h: sub::load_sub::<GLOBAL>, d: v_off(8), a: v_off(2), b: 0, c: NONE, imm: 0 };
        u.imm = u64::from(self.imm.cast_unsigned());
        let w = b.block.wave();
        if self.space == BUFFER {
            // A scalar offset of 16 behind a base 16 lower.
            let base = VA - 16 + if self.records == 0 { PRIVATE as u64 } else { 0 };
            w.s[4] = base as u32;
            w.s[5] = (base >> 32) as u32 | if self.records == 0 { 1 << 31 } else { 0 };
            w.s[6] = if self.records == 0 { 0x10_0000 } else { self.records as u32 + 16 };
            w.s[7] = if self.records == 0 { 1 << 19 | 3 << 21 | 1 << 23 } else { 0 };
            w.s[9] = 16;
            (u.c, u.b) = (s_off(4), s_off(9));
            u.imm |= 1 << 32;
        }
        let scalar = if self.saddr { v.iter().copied().min().unwrap_or(0) & !0xff } else { 0 };
        let near = v.iter().all(|x| x - scalar < 1 << 32);
        let saddr = self.saddr && near && self.space == GLOBAL;
        if saddr {
            w.set64(10, scalar);
            u.c = s_off(10);
        }
        for i in 0..64 {
            let x = if saddr { v[i] - scalar } else { v[i] };
            b.block.plane(2)[i] = x as u32;
            b.block.plane(3)[i] = (x >> 32) as u32;
        }
        (u, v)
    }
}

fn mask(rng: &mut Rng) -> u64 {
    match rng.below(5) {
        0 | 1 => u64::MAX,
        2 => rng.next(),
        3 => 1 << rng.below(64),
        _ => rng.next() & rng.next() & 0xffff_0000_ffff_ffff,
    }
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for n in 1..=4 {
        for (space, saddr, imm, records) in [
            (GLOBAL, false, 0, 0),
            (GLOBAL, true, -16, 0),
            (FLAT, false, 8, 0),
            (SCRATCH, false, 4, 0),
            (LDS, false, 0, 0),
            (BUFFER, false, 0, 0),
            (BUFFER, false, 0, 2000),
        ] {
            all.push(Case { space, n, saddr, imm, records });
        }
    }
    all
}

/// Runs one access on one backend and compares everything that it may change with the model.
fn check(case: Case, store: bool, k: Backend, seed: u64) {
    let mut rng = Rng(seed);
    let mut b = Bench::new(&mut rng);
    let (u, v) = case.setup(&mut b, &mut rng);
    let exec = mask(&mut rng);
    b.block.wave().set64(EXEC, exec);
    for k in 0..case.n {
        b.block.plane(8 + k).fill_with(|| rng.next() as u32);
    }
    let data: Vec<[u32; 64]> = (0..case.n).map(|k| *b.block.plane(8 + k)).collect();
    let mut memory = b.bytes().to_vec();
    let mut planes = data.clone();
    let len = 4 * case.n as u64;
    let mut bad = None;
    for lane in (0..64).filter(|l| exec >> l & 1 != 0) {
        let at: Vec<Byte> = (0..len).map(|k| case.byte(v[lane], lane, k, len)).collect();
        if at.contains(&Byte::Fault) {
            bad = bad.or(Some(lane as u32));
            continue;
        }
        for (k, at) in at.into_iter().enumerate() {
            let (plane, shift) = (&mut planes[k / 4][lane], 8 * (k % 4));
            match at {
                Byte::In(i) if store => memory[i] = (data[k / 4][lane] >> shift) as u8,
                Byte::In(i) => *plane = *plane & !(0xff << shift) | u32::from(memory[i]) << shift,
                _ if !store => *plane &= !(0xff << shift),
                _ => {}
            }
        }
    }
    let what = format!("{case:?} store {store} {k:?} seed {seed:#x}");
    let r = b.run(vector::pick(case.space, case.n, store, k), u);
    if bad.is_some() {
        assert_eq!(r, FAULT, "{what}");
        let (_, lane) = b.fault();
        assert!(lane.is_some_and(|l| exec >> l & 1 != 0), "{what}");
        return;
    }
    assert_eq!(r, NEXT, "{what}");
    assert!(b.block.wave().fault.is_none(), "{what}");
    for (k, p) in planes.iter().enumerate() {
        assert_eq!(b.block.plane(8 + k), p, "{what}");
    }
    assert!(b.bytes() == memory, "{what}");
}

#[test]
fn loads_and_stores_move_the_bytes_of_active_lanes_alone() {
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    for case in cases() {
        for _ in 0..40 {
            let seed = rng.next();
            for k in Backend::available() {
                check(case, false, k, seed);
                check(case, true, k, seed);
            }
        }
    }
}

#[test]
fn the_first_lane_outside_memory_reports_its_address() {
    let mut b = Bench::new(&mut Rng(7));
    b.block.wave().set64(EXEC, u64::MAX << 3);
    for i in 0..64 {
        let va = if i == 20 || i == 40 { 0x1234_0000 } else { VA + 8 * i as u64 };
        b.block.plane(2)[i] = va as u32;
        b.block.plane(3)[i] = (va >> 32) as u32;
    }
    let u = Uop { h: sub::load_sub::<GLOBAL>, d: v_off(8), a: v_off(2), b: 0, c: NONE, imm: 0 };
    for store in [false, true] {
        assert_eq!(b.run(vector::pick(GLOBAL, 1, store, Backend::Scalar), u), FAULT);
        let kind = FaultKind::Memory { address: 0x1234_0000, write: store, mapped: false, fetch: false };
        assert_eq!(b.fault(), (kind, Some(20)));
    }
}

#[test]
fn half_loads_keep_or_clear_the_other_half() {
    let mut b = Bench::new(&mut Rng(9));
    b.block.wave().set64(EXEC, 1);
    b.bytes()[0] = 0x80;
    b.bytes()[1] = 0xff;
    b.block.plane(2)[0] = VA as u32;
    b.block.plane(3)[0] = (VA >> 32) as u32;
    let cases = [
        (sub::kind::U8, 0x80, 0x80),
        (sub::kind::I8, 0xffff_ff80, 0xffff_ff80),
        (sub::kind::U16, 0xff80, 0xff80),
        (sub::kind::I16, 0xffff_ff80, 0xffff_ff80),
        (sub::kind::U8_D16, 0x80, 0x1111_0080),
        (sub::kind::I8_D16, 0xff80, 0x1111_ff80),
        (sub::kind::I8_D16_HI, 0xff80_0000, 0xff80_2222),
        (sub::kind::U16_D16, 0xff80, 0x1111_ff80),
        (sub::kind::U16_D16_HI, 0xff80_0000, 0xff80_2222),
    ];
    for (kind, cleared, kept) in cases {
        for (keep, want) in [(0, cleared), (1, kept)] {
            b.block.plane(8)[0] = 0x1111_2222;
            let imm = kind << 44 | keep << 48;
            let u = Uop { h: sub::load_sub::<GLOBAL>, d: v_off(8), a: v_off(2), b: 0, c: NONE, imm };
            assert_eq!(b.run(sub::pick(GLOBAL, false), u), NEXT);
            assert_eq!(b.block.plane(8)[0], want, "kind {kind}, keep {keep}");
        }
    }
    let u = Uop { h: sub::load_sub::<GLOBAL>, d: v_off(9), a: v_off(2), b: 0, c: NONE, imm: 3 << 44 };
    b.block.plane(9)[0] = 0xabcd_1234;
    b.run(sub::pick(GLOBAL, true), u);
    assert_eq!(b.bytes()[..2], [0xcd, 0xab]);
}
