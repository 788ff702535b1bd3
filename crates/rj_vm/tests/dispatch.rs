//! Kernels on queues: order, progress of groups that wait for each other, private memory, faults, queues that go.

mod common;

use common::*;
use object::{Object, ObjectSegment, ObjectSymbol};
use rj_isa::Target;
use rj_vm::QueueKind::Aql;

const TARGETS: [Target; 2] = [Target::Gfx90a, Target::Gfx942];

/// Lane 0 of each wave adds 1 to the dword that the first argument points to.
const COUNT: [u32; 10] = [
    0xc006_0100,
    0,           // s_load_dwordx2 s[4:5], s[0:1], 0x0
    0x7e02_0280, // v_mov_b32 v1, 0
    0x7e04_0281, // v_mov_b32 v2, 1
    0x7d94_0080, // v_cmp_eq_u32 vcc, 0, v0
    0x86fe_6a7e, // s_and_b64 exec, exec, vcc
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xdd08_8000,
    0x0004_0201, // global_atomic_add v1, v2, s[4:5]
    0xbf81_0000, // s_endpgm
];

/// The same, then waits until the dword reaches the second argument (32 bits at 8).
const MEET: [u32; 20] = [
    0xc006_0100,
    0, // s_load_dwordx2 s[4:5], s[0:1], 0x0
    0xc002_0180,
    8,           // s_load_dword s6, s[0:1], 0x8
    0x7e02_0280, // v_mov_b32 v1, 0
    0x7e04_0281, // v_mov_b32 v2, 1
    0x7d94_0080, // v_cmp_eq_u32 vcc, 0, v0
    0x86fe_6a7e, // s_and_b64 exec, exec, vcc
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xdd08_8000,
    0x0004_0201, // global_atomic_add v1, v2, s[4:5]
    0xbf8c_0f70, // s_waitcnt vmcnt(0)
    0xbf8e_0001, // s_sleep 1
    0xdc51_8000,
    0x0304_0001, // global_load_dword v3, v1, s[4:5] glc
    0xbf8c_0f70, // s_waitcnt vmcnt(0)
    0x7e0e_0503, // v_readfirstlane_b32 s7, v3
    0xbf0a_0607, // s_cmp_lt_u32 s7, s6
    0xbf85_fff9, // s_cbranch_scc1 -7
    0xbf81_0000, // s_endpgm
];

/// gfx942: stores 0x55 to private offset 4, loads it again, stores it to the first argument's buffer.
const PRIVATE: [u32; 15] = [
    0x7e02_02ff,
    0x55, // v_mov_b32 v1, 0x55
    0xdc70_4004,
    0x007f_0100, // scratch_store_dword off, v1, off offset:4
    0xbf8c_0f70, // s_waitcnt vmcnt(0)
    0xdc50_4004,
    0x027f_0000, // scratch_load_dword v2, off, off offset:4
    0xbf8c_0f70, // s_waitcnt vmcnt(0)
    0xc006_0100,
    0,           // s_load_dwordx2 s[4:5], s[0:1], 0x0
    0x2406_0082, // v_lshlrev_b32 v3, 2, v0
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xdc70_8000,
    0x0004_0203, // global_store_dword v3, v2, s[4:5]
    0xbf81_0000, // s_endpgm
];

/// Arguments: address of a counter, then what MEET waits for.
fn arguments(bench: &Bench, until: u32) -> (u64, u64) {
    let (counter, kernarg) = (bench.alloc(64), bench.alloc(64));
    store(kernarg, counter);
    store32(kernarg + 8, until);
    (counter, kernarg)
}

fn groups(launch: Launch, groups: u32, kernarg: u64) -> Launch {
    Launch { grid: [groups * 64, 1, 1], kernarg, ..launch }
}

#[test]
fn every_group_of_a_grid_runs_once() {
    for target in TARGETS {
        let bench = Bench::new(target);
        let q = bench.queue(Aql, true);
        let (counter, kernarg) = arguments(&bench, 0);
        let (small, big) = (bench.signal(1, 11), bench.signal(1, 12));
        let kernel = bench.kernel(&COUNT);
        q.push(groups(Launch::of(kernel, small), 1, kernarg).packet());
        wait("one group", || small.value() == 0);
        assert_eq!(load32(counter), 1);
        q.push(groups(Launch::of(kernel, big), 5000, kernarg).packet());
        wait("many groups", || big.value() == 0);
        assert_eq!(load32(counter), 5001);
        wait("retired", || q.read_index() == 2);
        bench.machine.destroy_queue(q.id).unwrap();
        let c = bench.machine.counters();
        assert_eq!((c.dispatches, c.groups, c.instructions, c.faults), (2, 5001, 5001 * 8, 0));
        assert_eq!(*bench.host.events.lock().unwrap(), [11, 12]);
    }
}

#[test]
fn three_dimensions_and_partial_groups_are_counted_right() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    let (counter, kernarg) = arguments(&bench, 0);
    let done = bench.signal(1, 0);
    let kernel = bench.kernel(&COUNT);
    store32(kernel + 52, 1 << 7 | 2 << 1 | 2 << 11);
    let launch = Launch { dims: 3, group: [8, 4, 2], grid: [20, 4, 6], kernarg, ..Launch::of(kernel, done) };
    q.push(launch.packet());
    wait("grid", || done.value() == 0);
    // One work-item (0,0,0) in each of the 3 x 1 x 3 groups.
    assert_eq!(load32(counter), 9);
}

#[test]
fn groups_that_wait_for_each_other_all_get_to_run() {
    for target in TARGETS {
        let bench = Bench::new(target);
        let q = bench.queue(Aql, true);
        let (counter, kernarg) = arguments(&bench, 200);
        let done = bench.signal(1, 0);
        q.push(groups(Launch::of(bench.kernel(&MEET), done), 200, kernarg).packet());
        wait("all groups meet", || done.value() == 0);
        assert_eq!(load32(counter), 200);
    }
}

#[test]
fn a_kernel_that_waits_holds_up_neither_other_queues_nor_packets_without_barrier_bit() {
    let bench = Bench::new(Target::Gfx942);
    let (a, b) = (bench.queue(Aql, true), bench.queue(Aql, true));
    let (counter, kernarg) = arguments(&bench, 100);
    let (meet, count) = (bench.kernel(&MEET), bench.kernel(&COUNT));
    let (first, second, third, fourth) =
        (bench.signal(1, 0), bench.signal(1, 0), bench.signal(1, 0), bench.signal(1, 0));
    let (other, other_args) = arguments(&bench, 0);
    a.push(groups(Launch::of(meet, first), 40, kernarg).packet());
    a.push(groups(Launch::of(count, second), 300, other_args).packet());
    a.push(Launch { header: 2 | BARRIER, ..groups(Launch::of(count, third), 1, other_args) }.packet());
    b.push(groups(Launch::of(count, fourth), 300, other_args).packet());
    wait("the other queue's kernel", || fourth.value() == 0);
    wait("the later kernel of the same queue", || second.value() == 0);
    assert_eq!((first.value(), third.value(), a.read_index()), (1, 1, 0));
    assert_eq!(load32(other), 600);
    wait("all begin", || load32(counter) == 40);
    store32(counter, 100);
    wait("barrier bit", || third.value() == 0);
    assert_eq!((first.value(), load32(other)), (0, 601));
    wait("retired in order", || a.read_index() == 3);
}

#[test]
fn a_queue_is_destroyed_while_its_kernel_waits_for_ever() {
    let bench = Bench::new(Target::Gfx90a);
    let meet = bench.kernel(&MEET);
    for groups_of in [1, 100] {
        let q = bench.queue(Aql, true);
        let (counter, kernarg) = arguments(&bench, 1000);
        let done = bench.signal(1, 0);
        q.push(groups(Launch::of(meet, done), groups_of, kernarg).packet());
        wait("it runs", || load32(counter) == groups_of);
        bench.machine.destroy_queue(q.id).unwrap();
        assert_eq!(done.value(), 1);
    }
    let q = bench.queue(Aql, true);
    let (counter, kernarg) = arguments(&bench, 0);
    let done = bench.signal(1, 0);
    q.push(groups(Launch::of(bench.kernel(&COUNT), done), 100, kernarg).packet());
    wait("another queue still works", || done.value() == 0);
    assert_eq!(load32(counter), 100);
}

#[test]
fn waves_that_cannot_go_on_stop_the_queue_with_a_report() {
    let cases: [(&str, &[u32], u64, i64, &str); 2] = [
        ("abort", &[0xbf92_0002, 0xbf81_0000], 1, 0x8000_0000, "s_trap 2"),
        ("illegal", &[0xffff_ffff, 0xbf81_0000], 1 << 3, 0x4000_0000, "illegal instruction, bytes ff ff ff ff"),
    ];
    for (what, code, exception, inactive, text) in cases {
        let bench = Bench::new(Target::Gfx942);
        let kernel = bench.kernel(code);
        let (with, without) = (bench.queue(Aql, true), bench.queue(Aql, false));
        let done = bench.signal(2, 0);
        with.push(groups(Launch::of(kernel, done), 64, 0).packet());
        wait(what, || load(with.payload) == exception);
        without.push(Launch::of(kernel, done).packet());
        wait(what, || without.inactive.value() == inactive);
        let reports = bench.host.reports.lock().unwrap();
        assert_eq!(reports.len(), 2, "{reports:?}");
        assert!(reports[0].contains(text) && reports[0].contains(&format!("kernel {kernel:#x}")), "{reports:?}");
        assert_eq!(done.value(), 2);
        assert_eq!(bench.machine.counters().faults, 2);
    }
}

#[test]
fn a_store_outside_the_gpus_memory_is_a_memory_fault() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    let (_, kernarg) = arguments(&bench, 0);
    store(kernarg, 0x6000);
    let done = bench.signal(1, 0);
    q.push(groups(Launch::of(bench.kernel(&COUNT), done), 50, kernarg).packet());
    wait("fault", || !bench.host.faults.lock().unwrap().is_empty());
    let fault = bench.host.faults.lock().unwrap()[0];
    assert_eq!((fault.va, fault.write, fault.mapped, fault.fetch), (0x6000, true, false, false));
    let report = bench.host.reports.lock().unwrap()[0].clone();
    assert!(report.contains("global_atomic_add") && report.contains("lane 0"), "{report}");
    bench.machine.destroy_queue(q.id).unwrap();
    assert_eq!((done.value(), bench.host.faults.lock().unwrap().len()), (1, 1));
}

#[test]
fn a_fault_names_the_kernel_of_a_loaded_code_object() {
    let bench = Bench::new(Target::Gfx942);
    let file = std::fs::read(format!("{}/tests/data/kernels-gfx942.co", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let elf = object::File::parse(&*file).unwrap();
    let end = elf.segments().map(|s| s.address() + s.size()).max().unwrap();
    let image = bench.alloc(end);
    for s in elf.segments() {
        for (i, &byte) in s.data().unwrap().iter().enumerate() {
            store8(image + s.address() + i as u64, byte);
        }
    }
    let kernel = elf.symbols().find(|s| s.name() == Ok("vadd.kd")).unwrap().address();
    let q = bench.queue(Aql, true);
    let kernarg = bench.alloc(4096);
    (0..3).for_each(|i| store(kernarg + 8 * i, 0x9000));
    store32(kernarg + 24, 64);
    q.push(groups(Launch::of(image + kernel, bench.signal(1, 0)), 1, kernarg).packet());
    wait("fault", || !bench.host.faults.lock().unwrap().is_empty());
    let report = bench.host.reports.lock().unwrap()[0].clone();
    assert!(report.contains("read from 0x9") && report.contains("kernel vadd,"), "{report}");
}

#[test]
fn private_memory_is_asked_for_once_granted_and_given_back() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    let (out, kernarg) = (bench.alloc(4096), bench.alloc(64));
    store(kernarg, out);
    let kernel = bench.kernel(&PRIVATE);
    store32(kernel + 52, 1 << 7 | 2 << 1 | 1);
    let (early, done) = (bench.signal(1, 0), bench.signal(2, 0));
    q.push(barrier_and(&[], early));
    let launch = Launch { private: 16, ..groups(Launch::of(kernel, done), 1, kernarg) };
    q.push(launch.packet());
    wait("request for wave64 scratch", || q.inactive.value() == 1);
    assert_eq!((early.value(), q.read_index(), q.kind(1)), (0, 1, 2), "the packet that lacks scratch is the first");
    // What the runtime does: memory for 8 waves of 1 KiB, used once, then go on.
    let memory = bench.alloc(8 << 10);
    store(q.amd_queue + 160, memory);
    store32(q.amd_queue + 140, 8 | 1 << 12);
    store32(q.amd_queue + 176, 16);
    store32(q.amd_queue + 180, 1 << 4);
    q.inactive.set(0);
    wait("scratch used once", || q.inactive.value() == 512);
    assert_eq!(done.value(), 1);
    assert!((0..64).all(|i| load32(out + 4 * i) == 0x55));
    assert!((0..64).all(|i| load32(memory + 256 + 4 * i) == 0x55), "dwords of a wave lie side by side");
    q.inactive.set(0);
    store32(q.amd_queue + 180, 0);
    q.push(Launch { grid: [64 * 40, 1, 1], ..launch }.packet());
    wait("more groups than slots", || done.value() == 0);
    assert!((8 << 10..12 << 10).step_by(4).all(|i| load32(memory + i) == 0), "no slot beyond the eighth");

    q.push(Launch { private: 20, ..launch }.packet());
    wait("a larger request", || q.inactive.value() == 1);
    q.inactive.set(-1);
    bench.machine.destroy_queue(q.id).unwrap();
    assert_eq!(done.value(), 0);
}
