//! A driver made of lists, memory whose GPU address is its host address, and queues built by hand.

#![allow(dead_code)]

use rj_exec::Region;
use rj_isa::Target;
use rj_vm::{GpuConfig, Host, Machine, MemoryFault, QueueDesc, QueueId, QueueKind};
use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a fact may take to come true before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// Records what the machine tells the driver.
#[derive(Default)]
pub struct FakeHost {
    pub events: Mutex<Vec<u32>>,
    pub faults: Mutex<Vec<MemoryFault>>,
    pub reports: Mutex<Vec<String>>,
    pub unsupported: Mutex<Vec<String>>,
    ticks: AtomicU64,
}

impl Host for FakeHost {
    fn raise_event(&self, id: u32) {
        self.events.lock().unwrap().push(id);
    }
    fn memory_fault(&self, fault: &MemoryFault) {
        self.faults.lock().unwrap().push(*fault);
    }
    fn clock(&self) -> u64 {
        self.ticks.fetch_add(1, SeqCst) + 1
    }
    fn report(&self, text: &str) {
        self.reports.lock().unwrap().push(text.into());
    }
    fn note(&self, text: &str) {
        self.report(text);
    }
    fn unsupported(&self, name: &str) {
        self.unsupported.lock().unwrap().push(name.into());
    }
}

pub fn config(target: Target) -> GpuConfig {
    GpuConfig {
        target,
        gpu_id: 0x1234,
        xccs: 1,
        cus: 8,
        simds_per_cu: 4,
        waves_per_simd: 8,
        lds_bytes: 65536,
        vgprs: 512,
    }
}

/// A machine with one GPU, and a piece of memory mapped on it.
pub struct Bench {
    pub host: Arc<FakeHost>,
    pub machine: Arc<Machine>,
    base: u64,
    used: AtomicU64,
}

pub const MEMORY: u64 = 16 << 20;

impl Bench {
    pub fn new(target: Target) -> Bench {
        let host = Arc::new(FakeHost::default());
        let machine = Machine::new(&[config(target)], host.clone(), 2);
        let layout = Layout::from_size_align(MEMORY as usize, 4096).unwrap();
        // SAFETY: the layout is not empty. Never freed: engine threads may outlive the test.
        let base = unsafe { alloc_zeroed(layout) } as u64;
        let region =
            Region { va: base, len: MEMORY, host: base as usize, read: true, write: true, exec: true, alloc: 7 };
        machine.space(0).map(region).unwrap();
        Bench { host, machine, base, used: AtomicU64::new(0) }
    }

    /// Zeroed memory, 4096-aligned.
    pub fn alloc(&self, bytes: u64) -> u64 {
        let at = self.used.fetch_add(bytes.next_multiple_of(4096), SeqCst);
        assert!(at + bytes <= MEMORY);
        self.base + at
    }

    /// A signal with an event.
    pub fn signal(&self, value: i64, event: u32) -> Signal {
        let at = self.alloc(128);
        store(at, 1);
        store(at + 8, value as u64);
        if event != 0 {
            store(at + 16, at + 64);
            store(at + 24, u64::from(event));
        }
        Signal(at)
    }

    /// A queue whose ring holds 64 packets or 4096 bytes.
    pub fn queue(&self, kind: QueueKind, exceptions: bool) -> TestQueue<'_> {
        let queue = self.alloc(4096);
        let read_ptr = queue + 128;
        store32(read_ptr + 8, 128);
        let inactive = self.signal(0, 77);
        store(queue + 192, inactive.0);
        let ctx = self.alloc(4096);
        let payload = self.alloc(8);
        store(ctx + 24, payload);
        store32(ctx + 32, 55);
        let ring = self.alloc(4096);
        let doorbell = self.alloc(8);
        if kind == QueueKind::Aql {
            (0..64).for_each(|i| store16(ring + 64 * i, 1));
        }
        let desc = QueueDesc {
            gpu: 0,
            kind,
            ring,
            ring_bytes: 4096,
            read_ptr,
            write_ptr: queue + 56,
            doorbell: doorbell as usize,
            ctx_save: ctx,
            exceptions,
            priority: 7,
            percentage: 100,
        };
        let id = self.machine.create_queue(desc).unwrap();
        TestQueue { bench: self, id, desc, amd_queue: queue, inactive, payload }
    }
}

/// An AQL, SDMA or PM4 queue and its surroundings.
pub struct TestQueue<'a> {
    pub bench: &'a Bench,
    pub id: QueueId,
    pub desc: QueueDesc,
    pub amd_queue: u64,
    pub inactive: Signal,
    pub payload: u64,
}

impl TestQueue<'_> {
    /// Writes a packet as a runtime does: body, header, doorbell. Gives its index.
    pub fn push(&self, packet: [u8; 64]) -> u64 {
        let index = cell(self.desc.write_ptr).fetch_add(1, SeqCst);
        let at = self.desc.ring + index % 64 * 64;
        for i in (8..64).step_by(8) {
            store(at + i, u64::from_le_bytes(packet[i as usize..i as usize + 8].try_into().unwrap()));
        }
        store32(at + 4, u32::from_le_bytes(packet[4..8].try_into().unwrap()));
        store32(at, u32::from_le_bytes(packet[..4].try_into().unwrap()));
        store(self.desc.doorbell as u64, index);
        index
    }

    /// Appends dwords to an SDMA (bytes) or PM4 (dwords) ring.
    pub fn write(&self, words: &[u32]) {
        let unit = if self.desc.kind == QueueKind::Sdma { 4 } else { 1 };
        let mut at = load(self.desc.write_ptr);
        for &w in words {
            store32(self.desc.ring + at / unit * 4 % 4096, w);
            at += unit;
        }
        store(self.desc.write_ptr, at);
        store(self.desc.doorbell as u64, at);
    }

    pub fn read_index(&self) -> u64 {
        load(self.desc.read_ptr)
    }

    /// Header type of the slot of packet `index`.
    pub fn kind(&self, index: u64) -> u16 {
        (load(self.desc.ring + index % 64 * 64) & 0xff) as u16
    }
}

/// An amd_signal_t.
#[derive(Clone, Copy, Debug)]
pub struct Signal(pub u64);

impl Signal {
    pub fn value(self) -> i64 {
        load(self.0 + 8) as i64
    }
    pub fn set(self, value: i64) {
        store(self.0 + 8, value as u64);
    }
    pub fn mailbox(self) -> u64 {
        load(self.0 + 64)
    }
    pub fn times(self) -> (u64, u64) {
        (load(self.0 + 32), load(self.0 + 40))
    }
}

/// Waits until it holds.
pub fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}");
        std::thread::sleep(Duration::from_micros(50));
    }
}

fn cell(at: u64) -> &'static AtomicU64 {
    // SAFETY: the bench's memory is never freed, and callers keep to its alignment.
    unsafe { AtomicU64::from_ptr(at as *mut u64) }
}

pub fn load(at: u64) -> u64 {
    cell(at).load(SeqCst)
}

pub fn store(at: u64, value: u64) {
    cell(at).store(value, SeqCst);
}

pub fn store32(at: u64, value: u32) {
    // SAFETY: as for `cell`.
    unsafe { std::sync::atomic::AtomicU32::from_ptr(at as *mut u32) }.store(value, SeqCst);
}

pub fn store16(at: u64, value: u16) {
    // SAFETY: as for `cell`.
    unsafe { std::sync::atomic::AtomicU16::from_ptr(at as *mut u16) }.store(value, SeqCst);
}

pub fn store8(at: u64, value: u8) {
    // SAFETY: as for `cell`.
    unsafe { std::sync::atomic::AtomicU8::from_ptr(at as *mut u8) }.store(value, SeqCst);
}

pub fn load32(at: u64) -> u32 {
    // SAFETY: as for `cell`.
    unsafe { std::sync::atomic::AtomicU32::from_ptr(at as *mut u32) }.load(SeqCst)
}

/// A packet from (byte offset, value, bytes).
pub fn packet(header: u16, fields: &[(usize, u64, usize)]) -> [u8; 64] {
    let mut p = [0; 64];
    p[..2].copy_from_slice(&header.to_le_bytes());
    for &(at, value, bytes) in fields {
        p[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }
    p
}

/// Header bit: wait for all earlier packets.
pub const BARRIER: u16 = 1 << 8;

pub fn barrier_and(deps: &[Signal], completion: Signal) -> [u8; 64] {
    barrier(3, deps, completion)
}

pub fn barrier_or(deps: &[Signal], completion: Signal) -> [u8; 64] {
    barrier(5, deps, completion)
}

fn barrier(kind: u16, deps: &[Signal], completion: Signal) -> [u8; 64] {
    let mut fields: Vec<_> = deps.iter().enumerate().map(|(i, s)| (8 + 8 * i, s.0, 8)).collect();
    fields.push((56, completion.0, 8));
    packet(kind, &fields)
}

/// A dispatch packet.
#[derive(Clone, Copy)]
pub struct Launch {
    pub header: u16,
    pub dims: u16,
    pub group: [u16; 3],
    pub grid: [u32; 3],
    pub private: u32,
    pub lds: u32,
    pub object: u64,
    pub kernarg: u64,
    pub completion: u64,
}

impl Launch {
    pub fn of(object: u64, completion: Signal) -> Launch {
        Launch {
            header: 2,
            dims: 1,
            group: [64, 1, 1],
            grid: [64, 1, 1],
            private: 0,
            lds: 0,
            object,
            kernarg: 0,
            completion: completion.0,
        }
    }

    pub fn packet(self) -> [u8; 64] {
        let [gx, gy, gz] = self.group.map(u64::from);
        let [x, y, z] = self.grid.map(u64::from);
        packet(
            self.header,
            &[
                (2, u64::from(self.dims), 2),
                (4, gx, 2),
                (6, gy, 2),
                (8, gz, 2),
                (12, x, 4),
                (16, y, 4),
                (20, z, 4),
                (24, u64::from(self.private), 4),
                (28, u64::from(self.lds), 4),
                (32, self.object, 8),
                (40, self.kernarg, 8),
                (56, self.completion, 8),
            ],
        )
    }
}

impl Bench {
    /// A kernel of these instruction words; gives its descriptor's address. rsrc2 enables work-group id X after a
    /// kernarg pointer in s[0:1].
    pub fn kernel(&self, code: &[u32]) -> u64 {
        let at = self.alloc(512 + 4 * code.len() as u64);
        store(at + 16, 256);
        store32(at + 44, 1);
        store32(at + 48, 1 << 21 | 3 << 18 | 3 << 16 | 3);
        store32(at + 52, 1 << 7 | 2 << 1);
        store16(at + 56, 1 << 3);
        for (i, &word) in code.iter().enumerate() {
            store32(at + 256 + 4 * i as u64, word);
        }
        at
    }
}
