//! Loads listings and runs them: s[0:1] is the address of the data, s2 the work-group, v0 the work-item.

use rj_code::KernelDescriptor;
use rj_exec::{AddressSpace, CodeCache, Dispatch, Env, Fault, Group, Gws, Host, Pool, Progress, Region, Scratch};
use rj_isa::Target;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// GPU address of the code's descriptor; the code begins 256 bytes later.
pub const CODE: u64 = 0x1000_0000;
/// GPU address of the data.
pub const DATA: u64 = 0x2000_0000;
/// MODE of a HIP kernel: round to nearest, denormals kept, DX10_CLAMP and IEEE on.
pub const RSRC1: u32 = 3 | 0xf0 << 12 | 1 << 21 | 1 << 23;

/// What the outside heard.
#[derive(Default)]
pub struct Outside {
    /// Ids of interrupt messages.
    pub events: Mutex<Vec<u32>>,
}

impl Host for Outside {
    fn interrupt(&self, event: u32) {
        self.events.lock().unwrap().push(event);
    }
    fn clock(&self) -> u64 {
        1
    }
    fn note(&self, _: &str) {}
}

/// How to run.
pub struct Run<'a> {
    pub target: Target,
    pub listing: &'a str,
    pub groups: u32,
    pub items: u32,
    pub lds: u32,
    pub threads: usize,
    pub rsrc1: u32,
    pub data: Vec<u32>,
}

impl<'a> Run<'a> {
    pub fn new(target: Target, listing: &'a str) -> Run<'a> {
        let data = vec![0; 1024];
        Run { target, listing, groups: 1, items: 1, lds: 0, threads: 1, rsrc1: RSRC1, data }
    }

    /// The data afterwards.
    pub fn go(self) -> Vec<u32> {
        self.outcome().0.unwrap_or_else(|f| panic!("{f}"))
    }

    /// The data afterwards, or the fault; and the events.
    pub fn outcome(mut self) -> (Result<Vec<u32>, Box<Fault>>, Vec<u32>) {
        let words = dwords(self.target, self.listing);
        let mut image = vec![0u32; 64];
        image.extend(&words);
        image.resize(image.len() + 64, 0);
        let space = AddressSpace::new();
        let region = |va, host, len| Region { va, len, host, read: true, write: true, exec: true, alloc: 0 };
        space.map(region(CODE, image.as_ptr() as usize, 4 * image.len() as u64)).unwrap();
        space.map(region(DATA, self.data.as_mut_ptr() as usize, 4 * self.data.len() as u64)).unwrap();
        // Kernel arguments pointer, work-group id x; 32 VGPRs and as many accumulators.
        let descriptor = KernelDescriptor {
            entry_offset: 256,
            rsrc1: self.rsrc1 & !0x3f | 7,
            rsrc2: 2 << 1 | 1 << 7,
            rsrc3: 7,
            properties: 1 << 3,
            ..Default::default()
        };
        let dispatch = Arc::new(Dispatch {
            target: self.target,
            name: "test".into(),
            object: CODE,
            descriptor,
            dims: 1,
            grid: [self.items * self.groups, 1, 1],
            group: [self.items, 1, 1],
            kernarg: DATA,
            packet: 0,
            queue: 0,
            dispatch_id: 0,
            private_size: 0,
            lds_size: self.lds,
            scratch: Scratch::default(),
            xccs: 1,
        });
        let cache = CodeCache::new(self.target);
        let (gws, host) = (Gws::default(), Outside::default());
        let env = Env { space: &space, code: &cache, gws: &gws, host: &host };
        let next = Mutex::new(0..self.groups);
        let fault = Mutex::new(None);
        let until = Instant::now() + Duration::from_secs(60);
        std::thread::scope(|s| {
            for _ in 0..self.threads {
                s.spawn(|| {
                    let mut pool = Pool::default();
                    let mut held = VecDeque::new();
                    loop {
                        // As workers do: all groups are resident before any must end.
                        if let Some(x) = next.lock().unwrap().next() {
                            held.push_front(Group::new(&mut pool, &dispatch, [x, 0, 0], &[]));
                        }
                        let Some(mut group) = held.pop_front() else { break };
                        match group.run(&env) {
                            Progress::Done => group.recycle(&mut pool),
                            Progress::Waiting => held.push_back(group),
                            Progress::Fault(f) => {
                                *fault.lock().unwrap() = Some(f);
                                break;
                            }
                        }
                        assert!(Instant::now() < until, "the program does not end");
                    }
                });
            }
        });
        drop(image);
        let events = host.events.into_inner().unwrap();
        match fault.into_inner().unwrap() {
            Some(f) => (Err(f), events),
            None => (Ok(self.data), events),
        }
    }
}

/// The dwords of a listing. Each instruction must decode to the text that stands beside it.
pub fn dwords(target: Target, listing: &str) -> Vec<u32> {
    let mut words = Vec::new();
    for line in listing.lines() {
        let Some((text, bytes)) = line.split_once("//") else { continue };
        let Some((_, hex)) = bytes.split_once(": ") else { continue };
        let own: Vec<u32> = hex.split_whitespace().map(|x| u32::from_str_radix(x, 16).expect("a dword")).collect();
        let raw: Vec<u8> = own.iter().flat_map(|x| x.to_le_bytes()).collect();
        let inst = rj_isa::decode(target, &raw).unwrap_or_else(|e| panic!("{line}: {e:?}"));
        // Branches name labels here; cache bits have other names on gfx942.
        let branch = ["s_branch", "s_cbranch", "s_call"].iter().any(|b| text.trim().starts_with(b));
        let words_of = |s: &str| -> Vec<String> {
            let all = s.split_whitespace().map(|x| if x == "sc0" { "glc".into() } else { x.to_owned() });
            all.take(if branch { 1 } else { usize::MAX }).collect()
        };
        assert_eq!(words_of(&rj_isa::print(&inst)), words_of(text), "the listing's text is not its code's");
        words.extend(own);
    }
    assert!(!words.is_empty(), "a listing has instructions");
    words
}
