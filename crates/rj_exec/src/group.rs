//! A work-group in flight: its waves, its LDS, and how they take turns.

use crate::code::{Block as Lowered, Code, CodeCache};
use crate::dispatch::Dispatch;
use crate::fault::{Fault, FaultKind};
use crate::gws::Gws;
use crate::init;
use crate::mem::{AddressSpace, Snapshot, Tlb};
use crate::uop;
use crate::wave::{Block, Ids, Wave};
use std::sync::Arc;

/// Instructions that a wave may execute before another wave of its group, or another group, gets a turn.
const BUDGET: u64 = 1 << 20;
/// Instructions between looks at the address space's generation.
const LOOK: u64 = 1 << 14;

/// The pair of scalar registers that holds a function's return address (LLVM AMDGPUUsage, Function Call Convention).
const RETURN: usize = 30;

/// What device code asks of the outside.
pub trait Host: Sync {
    /// `s_sendmsg MSG_INTERRUPT`: raise the event of this id.
    fn interrupt(&self, event: u32);
    /// The 100 MHz clock that signal times and GET_CLOCK_COUNTERS also use.
    fn clock(&self) -> u64;
    /// Something worth one line on the program's stderr, once per text.
    fn note(&self, text: &str);
}

/// Where a group runs.
pub struct Env<'a> {
    /// The GPU's memory.
    pub space: &'a AddressSpace,
    /// Its lowered code.
    pub code: &'a CodeCache,
    /// Its global wave sync.
    pub gws: &'a Gws,
    /// The outside.
    pub host: &'a dyn Host,
}

/// What became of a turn.
#[derive(Debug)]
pub enum Progress {
    /// All waves have ended.
    Done,
    /// Every wave sleeps, or used its budget: let other groups run, then call again.
    Waiting,
    /// A wave stopped; the group must not run again.
    Fault(Box<Fault>),
}

/// Memory that a thread's groups reuse.
#[derive(Debug, Default)]
pub struct Pool {
    blocks: Vec<Block>,
    lds: Vec<Vec<u8>>,
    /// Boxed: more than a kilobyte each, handed on with each group.
    #[allow(clippy::vec_box)]
    found: Vec<Box<Found>>,
}

/// What a thread's groups looked up and need not look up again.
#[derive(Debug, Default)]
struct Found {
    tlb: Tlb,
    /// Code of a cache that had this stamp.
    code: Option<(u64, Arc<Code>)>,
}

impl Found {
    fn follow(&mut self, snap: &Arc<Snapshot>) {
        if self.tlb.follow(snap) {
            self.code = None;
        }
    }

    fn code(&mut self, cache: &CodeCache, pc: u64, snap: &Snapshot) -> Result<Arc<Code>, FaultKind> {
        let stamp = cache.stamp();
        if let Some((s, code)) = &self.code
            && *s == stamp
            && code.holds(pc)
        {
            return Ok(code.clone());
        }
        let code = cache.find(pc, snap)?;
        self.code = Some((stamp, code.clone()));
        Ok(code)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fresh,
    Ready,
    Barrier,
    Ended,
}

#[derive(Debug)]
struct Slot {
    block: Block,
    state: State,
    code: Option<Arc<Code>>,
    consts: u32,
    scratch_slot: u32,
}

/// A work-group.
#[derive(Debug)]
pub struct Group {
    /// Wave instructions executed so far.
    pub instructions: u64,
    dispatch: Arc<Dispatch>,
    id: [u32; 3],
    waves: Vec<Slot>,
    lds: Vec<u8>,
    found: Box<Found>,
    snap: Option<(u64, Arc<Snapshot>)>,
}

impl Group {
    /// Makes the group's waves ready to start. `slots` holds a scratch slot per wave if the dispatch uses private
    /// memory, else it is empty.
    pub fn new(pool: &mut Pool, dispatch: &Arc<Dispatch>, id: [u32; 3], slots: &[u32]) -> Group {
        let size = dispatch.group_size(id);
        let items = size[0] * size[1] * size[2];
        let waves = (0..items.div_ceil(dispatch.wave_size()))
            .map(|i| Slot {
                block: pool.blocks.pop().unwrap_or_default(),
                state: State::Fresh,
                code: None,
                consts: 0,
                scratch_slot: slots.get(i as usize).copied().unwrap_or(0),
            })
            .collect();
        let mut lds = pool.lds.pop().unwrap_or_default();
        lds.clear();
        // Slack, so that a vector read at the end stays inside.
        lds.resize(dispatch.lds_bytes() as usize + 64, 0);
        Group {
            instructions: 0,
            dispatch: dispatch.clone(),
            id,
            waves,
            lds,
            found: pool.found.pop().unwrap_or_default(),
            snap: None,
        }
    }

    /// Runs the waves in turn until all have ended, all wait, or one faults.
    pub fn run(&mut self, env: &Env<'_>) -> Progress {
        let before = fp::set(self.dispatch.descriptor.rsrc1 >> 12);
        let r = self.turns(env);
        fp::restore(before);
        r
    }

    fn turns(&mut self, env: &Env<'_>) -> Progress {
        loop {
            let mut moved = false;
            for i in 0..self.waves.len() {
                if !matches!(self.waves[i].state, State::Ready | State::Fresh) {
                    continue;
                }
                match self.turn(i, env) {
                    Ok(m) => moved |= m,
                    Err(f) => return Progress::Fault(f),
                }
            }
            let live = |w: &&Slot| w.state != State::Ended;
            if self.waves.iter().filter(live).all(|w| w.state == State::Barrier) {
                if self.waves.iter().all(|w| w.state == State::Ended) {
                    return Progress::Done;
                }
                for w in self.waves.iter_mut().filter(|w| w.state == State::Barrier) {
                    w.state = State::Ready;
                }
                moved = true;
            }
            if !moved {
                return Progress::Waiting;
            }
        }
    }

    fn look(&mut self, env: &Env<'_>) -> Arc<Snapshot> {
        let now = env.space.generation();
        match &self.snap {
            Some((g, s)) if *g == now => s.clone(),
            _ => {
                let s = env.space.snapshot();
                self.snap = Some((now, s.clone()));
                s
            }
        }
    }

    /// Runs one wave until it ends, waits, or used its budget. True if it got somewhere others may wait for.
    fn turn(&mut self, i: usize, env: &Env<'_>) -> Result<bool, Box<Fault>> {
        let mut snap = self.look(env);
        if self.waves[i].state == State::Fresh {
            self.start(i, &snap).map_err(|kind| self.report(i, kind, None, None))?;
        }
        let lds = (self.lds.as_mut_ptr(), self.dispatch.lds_bytes());
        let mut left = BUDGET;
        let mut next_look = BUDGET - LOOK;
        let w = self.waves[i].block.ptr();
        {
            let head = self.waves[i].block.wave();
            head.snap = Arc::as_ptr(&snap);
            self.found.follow(&snap);
            head.tlb = &raw mut self.found.tlb;
            // A wave may have set MODE; the others of its group have their own.
            fp::set(head.mode);
            (head.lds, head.lds_len) = lds;
            head.gws = env.gws;
            // SAFETY: only the lifetime changes; the pointer is followed during this turn alone, while `env` lives.
            head.host = Some(unsafe { std::mem::transmute::<&dyn Host, *const (dyn Host + 'static)>(env.host) });
        }
        loop {
            // SAFETY: `w` is this slot's block, alive and used by this thread alone.
            let pc = unsafe { (*w).pc };
            let slot = &mut self.waves[i];
            let code = match &slot.code {
                Some(c) if c.holds(pc) => c,
                _ => {
                    slot.consts = 0;
                    match self.found.code(env.code, pc, &snap) {
                        Ok(c) => slot.code.insert(c),
                        Err(kind) => return Err(self.report(i, kind, None, None)),
                    }
                }
            };
            let block = code.block(pc, &snap);
            if block.consts > slot.consts {
                // SAFETY: as above.
                code.fill(unsafe { &mut (*w).s }, slot.consts, block.consts);
                slot.consts = block.consts;
            }
            let n = u64::from(block.count);
            self.instructions += n;
            let mut u = block.uops.as_ptr();
            let r = loop {
                // SAFETY: the last micro-op of a block never answers NEXT, so `u` stays inside; offsets are the
                // lowering's promise.
                unsafe {
                    let r = ((*u).h)(u, w);
                    if r != uop::NEXT {
                        if r < uop::RUN {
                            break r;
                        }
                        u = u.add((r - uop::RUN) as usize);
                    }
                    u = u.add(1);
                }
            };
            match r {
                uop::JUMP => {}
                uop::END => {
                    self.waves[i].state = State::Ended;
                    return Ok(true);
                }
                uop::BARRIER => {
                    self.waves[i].state = State::Barrier;
                    return Ok(true);
                }
                uop::SLEEP => return Ok(false),
                uop::MESSAGE => {
                    // SAFETY: as above.
                    env.host.interrupt(unsafe { (*w).arg } as u32);
                }
                _ => {
                    // SAFETY: `u` points into `block.uops`.
                    let index = unsafe { u.offset_from(block.uops.as_ptr()) } as usize;
                    let (pc, trap) = (block.start + u64::from(block.at[index]), trap_of(block, w));
                    let (kind, lane) = trap;
                    return Err(self.report(i, kind, lane, Some(pc)));
                }
            }
            left = left.saturating_sub(n);
            if left <= next_look {
                if left == 0 {
                    return Ok(false);
                }
                next_look = left.saturating_sub(LOOK);
                let fresh = self.look(env);
                if !Arc::ptr_eq(&fresh, &snap) {
                    snap = fresh;
                    // SAFETY: as above.
                    unsafe {
                        (*w).snap = Arc::as_ptr(&snap);
                    }
                    self.found.follow(&snap);
                }
            }
        }
    }

    fn start(&mut self, i: usize, snap: &Snapshot) -> Result<(), FaultKind> {
        let size = self.dispatch.group_size(self.id);
        let groups = self.dispatch.groups();
        let flat = (u64::from(self.id[2]) * u64::from(groups[1]) + u64::from(self.id[1])) * u64::from(groups[0])
            + u64::from(self.id[0]);
        let ids = Ids { group: self.id, wave: i as u32, xcc: (flat % u64::from(self.dispatch.xccs.max(1))) as u32 };
        let slot = &mut self.waves[i];
        init::wave(&mut slot.block, &self.dispatch, snap, ids, size, slot.scratch_slot)?;
        slot.state = State::Ready;
        Ok(())
    }

    fn report(&self, i: usize, kind: FaultKind, lane: Option<u32>, pc: Option<u64>) -> Box<Fault> {
        // SAFETY: the slot's block is alive and no other thread uses it.
        let pc = pc.unwrap_or(unsafe { (*self.waves[i].block.ptr()).pc });
        let text = match (&self.snap, &kind) {
            (_, FaultKind::Memory { fetch: true, .. }) | (None, _) => String::new(),
            (Some((_, snap)), _) => crate::lower::text(self.dispatch.target, snap, pc),
        };
        // SAFETY: as above.
        let (exec, back) = unsafe {
            let w = self.waves[i].block.ptr();
            ((*w).exec(), (*w).get64(RETURN))
        };
        let lane = lane.or((kind == FaultKind::Abort && exec != 0).then(|| exec.trailing_zeros()));
        let code = |snap: &Snapshot| snap.find(back.wrapping_sub(4)).is_some_and(|r| r.exec);
        let fetch = matches!(kind, FaultKind::Memory { fetch: true, .. });
        let caller = self.snap.as_ref().filter(|(_, snap)| fetch && code(snap)).map(|_| back.wrapping_sub(4));
        let (kernel, source) = (self.dispatch.name.clone(), Vec::new());
        Box::new(Fault { kind, kernel, group: self.id, wave: i as u32, lane, pc, text, caller, source })
    }

    /// Where its waves are, those that have not ended: index, whether it waits at a barrier, pc.
    pub fn places(&self) -> Vec<(u32, bool, u64)> {
        let live = self.waves.iter().enumerate().filter(|(_, w)| w.state != State::Ended && w.state != State::Fresh);
        // SAFETY: the slot's block is alive and no other thread uses it.
        live.map(|(i, w)| (i as u32, w.state == State::Barrier, unsafe { (*w.block.ptr()).pc })).collect()
    }

    /// Its id in the grid.
    pub fn id(&self) -> [u32; 3] {
        self.id
    }

    /// Gives the memory back for the thread's next group.
    pub fn recycle(self, pool: &mut Pool) {
        pool.blocks.extend(self.waves.into_iter().map(|s| s.block));
        pool.lds.push(self.lds);
        pool.found.push(self.found);
    }
}

/// What a handler that answered FAULT left behind.
fn trap_of(block: &Lowered, w: *mut Wave) -> (FaultKind, Option<u32>) {
    // SAFETY: the wave's block, used by this thread alone.
    let (fault, arg) = unsafe { ((*w).fault.take(), (*w).arg) };
    match fault {
        Some(f) => *f,
        None => {
            let unknown = FaultKind::Illegal { bytes: Vec::new(), unsupported: None };
            (block.traps.get(arg as usize).cloned().unwrap_or(unknown), None)
        }
    }
}

pub(crate) mod fp {
    //! The host's float control register for the time of a turn.

    use std::arch::asm;

    const DEFAULT: u32 = 0x1f80;
    /// Denormal results to zero, denormal operands as zero.
    const FLUSH: u32 = 1 << 15 | 1 << 6;

    /// Sets rounding and denormals from MODE 7:0; answers what was there.
    pub fn set(mode: u32) -> u32 {
        let mut old = 0u32;
        // SAFETY: stores and loads the register through a local.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut old, options(nostack)) };
        // MODE's codes: nearest, +inf, -inf, zero; the host's: nearest, -inf, +inf, zero.
        let round = [0u32, 2, 1, 3][(mode & 3) as usize] << 13;
        let flush = if mode >> 4 & 3 == 0 { FLUSH } else { 0 };
        restore(DEFAULT | round | flush);
        old
    }

    /// Puts a value back.
    pub fn restore(value: u32) {
        // SAFETY: a value that was read, or one with only defined bits.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack)) };
    }
}
