//! SDMA packets and what they leave in memory.

mod common;

use common::*;
use rj_isa::Target;
use rj_vm::QueueKind::Sdma;

fn lo(v: u64) -> u32 {
    v as u32
}

fn hi(v: u64) -> u32 {
    (v >> 32) as u32
}

#[test]
fn copies_fills_fences_atomics_timestamps_and_traps_happen_in_order() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Sdma, false);
    let (a, b, c) = (bench.alloc(4 << 20), bench.alloc(4 << 20), bench.alloc(4096));
    let signal = bench.signal(5, 0);
    // Fill 4 MB + 12, copy it, one odd byte count on top.
    q.write(&[11 | 2 << 30, lo(a), hi(a), 0xdead_beef, (4 << 20) - 4]);
    q.write(&[1, (4 << 20) - 1, 0, lo(a), hi(a), lo(b), hi(b)]);
    q.write(&[1, 6, 0, lo(b), hi(b), lo(c + 1), hi(c + 1)]);
    q.write(&[2 << 16, 0xffff_ffff, 0xffff_ffff]);
    q.write(&[1 | 1 << 27, 7, 0, lo(a), hi(a), lo(c + 128), hi(c + 128), lo(c + 256), hi(c + 256)]);
    q.write(&[13 | 2 << 8, lo(c + 64), hi(c + 64)]);
    q.write(&[10 | 47 << 25, lo(signal.0 + 8), hi(signal.0 + 8), 0xffff_ffff, 0xffff_ffff, 0, 0, 0]);
    q.write(&[5, lo(c + 72), hi(c + 72), 0x1234]);
    q.write(&[8, 0, 0x8000_0000, 0, 0, 0]);
    q.write(&[17, 0, 0, 0, 0]);
    q.write(&[6, 33]);
    wait("trap", || *bench.host.events.lock().unwrap() == [33]);
    wait("read pointer", || q.read_index() == load(q.desc.write_ptr));
    assert!((0..(4 << 20)).step_by(8).all(|i| load(b + i) == 0xdead_beef_dead_beef));
    assert_eq!(load(c), 0xadbe_efde_adbe_ef00);
    assert_eq!((load(c + 128), load(c + 256)), (0xdead_beef_dead_beef, 0xdead_beef_dead_beef));
    assert_eq!((signal.value(), load32(c + 72)), (4, 0x1234));
    assert!(load(c + 64) > 0);
    assert_eq!(bench.machine.counters().sdma_bytes, 2 * (4 << 20) + 7 + 8);
}

#[test]
fn a_poll_holds_its_queue_and_no_other() {
    let bench = Bench::new(Target::Gfx90a);
    let (q, other) = (bench.queue(Sdma, false), bench.queue(Sdma, false));
    let (flag, out) = (bench.alloc(64), bench.alloc(64));
    q.write(&[8 | 3 << 28 | 1 << 31, lo(flag), hi(flag), 0, 0xffff_ffff, 0]);
    store32(flag, 1);
    q.write(&[5, lo(out), hi(out), 1]);
    store32(flag, 1);
    q.write(&[8 | 3 << 28 | 1 << 31, lo(flag), hi(flag), 2, 0xffff_ffff, 0]);
    q.write(&[5, lo(out + 4), hi(out), 1]);
    other.write(&[5, lo(out + 8), hi(out), 1]);
    wait("the other queue", || load32(out + 8) == 1);
    assert_eq!(load32(out + 4), 0);
    store32(flag, 0);
    wait("first poll", || load32(out) == 1);
    store32(flag, 2);
    wait("second poll", || load32(out + 4) == 1);
}

#[test]
fn a_sub_window_moves_the_box_and_nothing_else() {
    for (target, z_at) in [(Target::Gfx942, 13), (Target::Gfx1201, 16)] {
        let bench = Bench::new(target);
        let q = bench.queue(Sdma, false);
        let (src, dst) = (bench.alloc(65536), bench.alloc(65536));
        for i in 0..8192 {
            store(src + 8 * i, i);
        }
        // Elements of 8 bytes; source pitch 16, slice 128; destination pitch 8, slice 32; box 3 x 2 x 2 at (1, 2, 1).
        q.write(&[
            1 | 4 << 8 | 3 << 29,
            lo(src),
            hi(src),
            1 | 2 << 16,
            1 | 15 << z_at,
            127,
            lo(dst),
            hi(dst),
            2,
            7 << z_at,
            31,
            2 | 1 << 16,
            1,
        ]);
        q.write(&[6, 1]);
        wait("trap", || !bench.host.events.lock().unwrap().is_empty());
        let mut expected = vec![0; 256];
        for z in 0..2 {
            for y in 0..2 {
                for x in 0..3 {
                    expected[2 + x + 8 * y + 32 * z] = (1 + x + (2 + y) * 16 + (1 + z) * 128) as u64;
                }
            }
        }
        let got: Vec<u64> = (0..256).map(|i| load(dst + 8 * i)).collect();
        assert_eq!(got, expected, "{target:?}");
    }
}

#[test]
fn copies_outside_the_gpus_memory_and_unknown_packets_are_loud() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Sdma, false);
    let a = bench.alloc(4096);
    q.write(&[1, 4095, 0, lo(a), hi(a), 0x7000, 0]);
    wait("fault", || !bench.host.faults.lock().unwrap().is_empty());
    let fault = bench.host.faults.lock().unwrap()[0];
    assert_eq!((fault.va, fault.write, fault.mapped), (0x7000, true, false));

    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Sdma, false);
    q.write(&[1 | 9 << 8, 0, 0]);
    wait("refusal", || !bench.host.reports.lock().unwrap().is_empty());
    assert!(bench.host.reports.lock().unwrap()[0].contains("unsupported SDMA packet 1/9"));
    assert_eq!(bench.host.unsupported.lock().unwrap().len(), 1);
    wait("the program is told", || !bench.host.faults.lock().unwrap().is_empty());
}
