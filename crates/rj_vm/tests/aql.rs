//! AQL queues as a runtime sees them: order, barriers, completion, refusals. No kernel runs here.

mod common;

use common::*;
use rj_isa::Target;
use rj_vm::QueueKind::Aql;

#[test]
fn barrier_and_waits_for_all_signals_and_completes_in_the_documented_way() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    let (a, b, done) = (bench.signal(1, 0), bench.signal(2, 0), bench.signal(1, 42));
    q.push(barrier_and(&[a, b], done));
    let second = bench.signal(1, 0);
    q.push(barrier_and(&[], second));
    b.set(0);
    let free = bench.queue(Aql, true);
    let other = bench.signal(1, 0);
    free.push(barrier_and(&[], other));
    wait("another queue is not held up", || other.value() == 0);
    assert_eq!((done.value(), second.value(), q.read_index()), (1, 1, 0));
    a.set(0);
    wait("barrier", || second.value() == 0);
    wait("read index", || q.read_index() == 2);
    assert_eq!(done.value(), 0);
    assert_eq!(done.mailbox(), 42);
    assert_eq!(*bench.host.events.lock().unwrap(), [42]);
    let (start, end) = done.times();
    assert!(start > 0 && end >= start, "{start} {end}");
    assert_eq!((q.kind(0), q.kind(1)), (1, 1), "retired slots hold no packet");
}

#[test]
fn barrier_or_waits_for_one_signal() {
    let bench = Bench::new(Target::Gfx90a);
    let q = bench.queue(Aql, true);
    let (a, b, done) = (bench.signal(1, 0), bench.signal(1, 0), bench.signal(1, 0));
    q.push(barrier_or(&[a, b], done));
    let (other, passed) = (bench.queue(Aql, true), bench.signal(1, 0));
    other.push(barrier_or(&[], passed));
    wait("a packet without signals", || passed.value() == 0);
    assert_eq!(done.value(), 1);
    b.set(0);
    wait("barrier-or", || done.value() == 0);
}

#[test]
fn barrier_value_compares_the_masked_signal() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    let at = |signal: Signal, value: u64, mask: u64, condition: u64, done: Signal| {
        packet(0, &[(2, 2, 1), (8, signal.0, 8), (16, value, 8), (24, mask, 8), (32, condition, 4), (56, done.0, 8)])
    };
    let signal = bench.signal(0x1ff, 0);
    let done = bench.signal(4, 0);
    q.push(at(signal, 0xff, 0xff, 0, done));
    q.push(at(signal, 0xfe, 0xff, 1, done));
    q.push(at(signal, 0x200, u64::MAX, 2, done));
    wait("three conditions hold", || done.value() == 1);
    q.push(at(signal, 0x200, u64::MAX, 3, done));
    let probe = bench.signal(1, 0);
    bench.queue(Aql, true).push(barrier_and(&[], probe));
    wait("probe", || probe.value() == 0);
    assert_eq!(done.value(), 1);
    signal.set(0x200);
    wait("greater or equal", || done.value() == 0);
}

#[test]
fn a_pm4_buffer_writes_waits_and_completes() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    let (ib, data, flag) = (bench.alloc(4096), bench.alloc(64), bench.alloc(64));
    let words = [
        // WRITE_DATA to memory, one dword.
        0xc003_3700u32,
        5 << 8,
        data as u32,
        (data >> 32) as u32,
        0xabcd,
        // WAIT_REG_MEM memory == 1.
        0xc005_3c00,
        1 << 4 | 3,
        flag as u32,
        (flag >> 32) as u32,
        1,
        0xffff_ffff,
        4,
        // ACQUIRE_MEM, whole range, instruction cache.
        0xc005_5800,
        1 << 29,
        0xffff_ffff,
        0xff,
        0,
        0,
        4,
        // RELEASE_MEM, 64-bit data, event 9.
        0xc006_4900,
        0x14,
        2 << 29 | 2 << 24,
        data as u32 + 8,
        (data >> 32) as u32,
        0x55,
        0x66,
        9,
    ];
    words.iter().enumerate().for_each(|(i, &w)| store32(ib + 4 * i as u64, w));
    let done = bench.signal(1, 0);
    let header = 0xc002_3f00u64;
    q.push(packet(
        0,
        &[(2, 1, 2), (4, header, 4), (8, ib, 8), (16, words.len() as u64 | 1 << 23, 4), (20, 10, 4), (56, done.0, 8)],
    ));
    wait("the write before the wait", || load32(data) == 0xabcd);
    assert_eq!((done.value(), load(data + 8)), (1, 0));
    store32(flag, 1);
    wait("completion", || done.value() == 0);
    assert_eq!(load(data + 8), 0x66_0000_0055);
    assert_eq!(*bench.host.events.lock().unwrap(), [9]);
}

#[test]
fn an_unknown_pm4_opcode_is_refused_by_name() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    let ib = bench.alloc(64);
    store32(ib, 0xc003_1500);
    let done = bench.signal(1, 0);
    q.push(packet(0, &[(2, 1, 2), (8, ib, 8), (16, 5, 4), (56, done.0, 8)]));
    wait("exception", || load(q.payload) == 1 << 22);
    assert_eq!(*bench.host.unsupported.lock().unwrap(), ["PM4 DISPATCH_DIRECT"]);
    assert_eq!(done.value(), 1);
}

/// Each wrong packet, the exception bit, and the value of queue_inactive_signal without exceptions.
#[test]
fn wrong_packets_are_reported_by_both_channels_and_stop_the_queue() {
    let bench = Bench::new(Target::Gfx942);
    let done = bench.signal(1, 0);
    let kernel = bench.kernel(&[0xbf81_0000]);
    let fat = bench.kernel(&[0xbf81_0000]);
    store32(fat + 48, 63);
    let good = Launch::of(kernel, done);
    let cases: Vec<(&str, [u8; 64], u64, i64)> = vec![
        ("no dimensions", Launch { dims: 0, ..good }.packet(), 1 << 15, 2),
        ("an empty grid", Launch { grid: [0, 1, 1], ..good }.packet(), 1 << 15, 2),
        ("too much LDS", Launch { lds: 65537, ..good }.packet(), 1 << 16, 4),
        ("no kernel object", Launch { object: 0, ..good }.packet(), 1 << 17, 8),
        ("an unmapped kernel object", Launch { object: 0x4000, ..good }.packet(), 1 << 17, 8),
        ("an agent packet", packet(4, &[(56, done.0, 8)]), 1 << 19, 32),
        ("a vendor packet", packet(0, &[(2, 9, 1), (56, done.0, 8)]), 1 << 22, 256),
        ("too large a group", Launch { dims: 2, group: [64, 32, 1], ..good }.packet(), 1 << 20, 64),
    ];
    for (what, packet, exception, inactive) in cases {
        let q = bench.queue(Aql, true);
        q.push(packet);
        wait(what, || load(q.payload) == exception);
        let q = bench.queue(Aql, false);
        q.push(packet);
        wait(what, || q.inactive.value() == inactive);
        let late = bench.signal(1, 0);
        q.push(barrier_and(&[], late));
        let probe = bench.signal(1, 0);
        bench.queue(Aql, false).push(barrier_and(&[], probe));
        wait("probe", || probe.value() == 0);
        assert_eq!((late.value(), q.read_index()), (1, 0), "{what}: the queue has stopped");
    }
    assert_eq!(done.value(), 1, "completion signals stay as they were");
    let events = bench.host.events.lock().unwrap();
    assert_eq!((events.iter().filter(|&&e| e == 55).count(), events.iter().filter(|&&e| e == 77).count()), (8, 8));
}

#[test]
fn a_dependency_outside_the_gpus_memory_is_a_memory_fault_that_stops_all_queues() {
    let bench = Bench::new(Target::Gfx942);
    let other = bench.queue(Aql, true);
    let q = bench.queue(Aql, true);
    let done = bench.signal(1, 0);
    q.push(barrier_and(&[Signal(0x5000)], done));
    wait("memory fault", || !bench.host.faults.lock().unwrap().is_empty());
    let fault = bench.host.faults.lock().unwrap()[0];
    assert_eq!((fault.va, fault.gpu_id, fault.write, fault.mapped), (0x5008, 0x1234, false, false));
    assert!(bench.machine.stopped());
    other.push(barrier_and(&[], done));
    bench.machine.destroy_queue(q.id).unwrap();
    bench.machine.destroy_queue(other.id).unwrap();
    assert_eq!(done.value(), 1);
    assert!(bench.machine.create_queue(q.desc).is_err());
}

#[test]
fn a_full_ring_of_packets_goes_round_many_times() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    let done = bench.signal(1000, 0);
    for i in 0..1000 {
        wait("room in the ring", || i - q.read_index() < 64);
        q.push(barrier_and(&[], done));
    }
    wait("all packets", || done.value() == 0 && q.read_index() == 1000);
    bench.machine.destroy_queue(q.id).unwrap();
    assert_eq!(bench.machine.counters().packets, 1000);
}

#[test]
fn a_ring_of_zeros_is_not_taken_for_vendor_packets_and_a_held_queue_waits() {
    let bench = Bench::new(Target::Gfx942);
    let q = bench.queue(Aql, true);
    for i in 0..64 {
        store(q.desc.ring + 64 * i, 0);
    }
    let update = |percentage| rj_vm::QueueUpdate { ring: None, priority: 7, percentage };
    bench.machine.update_queue(q.id, update(0)).unwrap();
    let probe_queue = bench.queue(Aql, true);
    let probe = bench.signal(2, 0);
    probe_queue.push(barrier_and(&[], probe));
    wait("probe", || probe.value() == 1);
    let done = bench.signal(1, 0);
    q.push(barrier_and(&[], done));
    probe_queue.push(barrier_and(&[], probe));
    wait("probe", || probe.value() == 0);
    assert_eq!(done.value(), 1);
    bench.machine.update_queue(q.id, update(100)).unwrap();
    wait("the queue goes on", || done.value() == 0);
    assert_eq!(load(q.payload), 0);
}
