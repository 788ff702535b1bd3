//! A kernel launch in flight: which of its work-groups have been handed out, how many have ended, whether it must
//! stop. Threads share it without a lock but for the first fault.

use crate::api::Gpu;
use crate::scratch::Slots;
use rj_exec::{Dispatch, Fault, Group, Pool};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// A launch and its progress.
pub struct Launch {
    /// What the waves see.
    pub dispatch: Arc<Dispatch>,
    /// Where it runs.
    pub gpu: Arc<Gpu>,
    groups: [u32; 3],
    total: u64,
    next: AtomicU64,
    live: AtomicU64,
    finished: AtomicU64,
    instructions: AtomicU64,
    stopped: AtomicBool,
    fault: Mutex<Option<Box<Fault>>>,
    /// The watchdog stopped it.
    expired: AtomicBool,
    /// Where groups were when it did.
    places: Mutex<Vec<Place>>,
    slots: Option<Arc<Slots>>,
    resident: u64,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// Where the waves of a stopped work-group were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its id in the grid.
    pub group: [u32; 3],
    /// Wave, whether it waits at a barrier, pc.
    pub waves: Vec<(u32, bool, u64)>,
}

/// Places that are kept.
const PLACES: usize = 256;

/// A work-group that a thread holds, with its scratch slots.
pub struct Resident {
    /// The launch it belongs to.
    pub launch: Arc<Launch>,
    /// The group itself.
    pub group: Group,
    slots: Vec<u32>,
}

impl Launch {
    /// A launch that has not started. `slots` is needed if the dispatch uses private memory. `wake` is called each
    /// time [`Launch::ended`] may have become true.
    pub fn new(
        dispatch: Dispatch,
        gpu: Arc<Gpu>,
        slots: Option<Arc<Slots>>,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Arc<Launch> {
        let groups = dispatch.groups();
        let total = groups.iter().fold(1u64, |n, &g| n.saturating_mul(u64::from(g)));
        let resident = residency(&dispatch, &gpu);
        Arc::new(Launch {
            dispatch: Arc::new(dispatch),
            gpu,
            groups,
            total,
            next: AtomicU64::new(0),
            live: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            instructions: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            fault: Mutex::new(None),
            expired: AtomicBool::new(false),
            places: Mutex::default(),
            slots,
            resident,
            wake,
        })
    }

    /// Work-groups of the grid.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Work-groups that the GPU holds at once.
    pub fn resident(&self) -> u64 {
        self.resident
    }

    /// Work-groups that have run to their end.
    pub fn finished(&self) -> u64 {
        self.finished.load(SeqCst)
    }

    /// Wave instructions of the groups that have ended or been dropped.
    pub fn instructions(&self) -> u64 {
        self.instructions.load(SeqCst)
    }

    /// Whether the launch must hand out and run no more groups.
    pub fn stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }

    /// All groups are handed out.
    pub fn exhausted(&self) -> bool {
        self.next.load(SeqCst) >= self.total
    }

    /// Nothing of the launch runs any more, nor will: complete, or stopped and dropped by every thread.
    pub fn ended(&self) -> bool {
        self.finished() == self.total || (self.stopped() && self.live.load(SeqCst) == 0)
    }

    /// Cancels what has not ended.
    pub fn stop(&self) {
        self.stopped.store(true, SeqCst);
        (self.wake)();
    }

    /// Cancels it for the watchdog: threads say where its groups were.
    pub fn expire(&self) {
        self.expired.store(true, SeqCst);
        self.stop();
    }

    /// The watchdog stopped it.
    pub fn expired(&self) -> bool {
        self.expired.load(SeqCst)
    }

    /// Where its groups were when the watchdog stopped it, by group.
    pub fn places(&self) -> Vec<Place> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner).clone();
        places.sort_by_key(|p| [p.group[2], p.group[1], p.group[0]]);
        places
    }

    /// The first fault, if one stopped it.
    pub fn take_fault(&self) -> Option<Box<Fault>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the next group, ready to run. None if there is none, no scratch slot is free, or the launch stopped.
    pub fn admit(self: &Arc<Launch>, pool: &mut Pool) -> Option<Resident> {
        if self.exhausted() {
            return None;
        }
        // Before `stopped` is looked at: then `ended` cannot miss this group.
        self.live.fetch_add(1, SeqCst);
        let resident = self.admit_counted(pool);
        if resident.is_none() {
            self.leave();
        }
        resident
    }

    fn admit_counted(self: &Arc<Launch>, pool: &mut Pool) -> Option<Resident> {
        if self.stopped() {
            return None;
        }
        let slots = match &self.slots {
            Some(s) => s.take(self.dispatch.waves_per_group())?,
            None => Vec::new(),
        };
        let n = self.next.fetch_add(1, SeqCst);
        if n >= self.total {
            self.give_back(&slots);
            return None;
        }
        let [gx, gy, _] = self.groups.map(u64::from);
        let id = [n % gx, n / gx % gy, n / gx / gy].map(|v| v as u32);
        let group = Group::new(pool, &self.dispatch, id, &slots);
        Some(Resident { launch: self.clone(), group, slots })
    }

    fn give_back(&self, slots: &[u32]) {
        if let Some(s) = &self.slots {
            s.give(slots);
        }
    }

    fn leave(&self) {
        self.live.fetch_sub(1, SeqCst);
        if self.ended() {
            (self.wake)();
        }
    }
}

impl Resident {
    /// The group has run to its end.
    pub fn finish(self, pool: &mut Pool) {
        let launch = self.launch.clone();
        self.release(pool);
        launch.finished.fetch_add(1, SeqCst);
        launch.leave();
    }

    /// The group faulted: the launch stops.
    pub fn fail(self, fault: Box<Fault>, pool: &mut Pool) {
        let launch = self.launch.clone();
        {
            let mut first = launch.fault.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(fault);
        }
        launch.stopped.store(true, SeqCst);
        self.release(pool);
        launch.leave();
    }

    /// The launch stopped before the group ended.
    pub fn cancel(self, pool: &mut Pool) {
        let launch = self.launch.clone();
        if launch.expired() {
            let mut places = launch.places.lock().unwrap_or_else(PoisonError::into_inner);
            if places.len() < PLACES {
                places.push(Place { group: self.group.id(), waves: self.group.places() });
            }
        }
        self.release(pool);
        launch.leave();
    }

    fn release(self, pool: &mut Pool) {
        self.launch.instructions.fetch_add(self.group.instructions, SeqCst);
        self.launch.give_back(&self.slots);
        self.group.recycle(pool);
    }
}

/// Groups of this dispatch that the GPU's compute units hold at once, by waves, VGPRs and LDS.
fn residency(d: &Dispatch, gpu: &Gpu) -> u64 {
    let c = &gpu.config;
    let (arch, acc) = d.vgprs();
    let by_vgprs = if d.target.is_gfx9() { c.vgprs / (arch + acc).max(1) } else { c.waves_per_simd };
    let waves = by_vgprs.clamp(1, c.waves_per_simd.max(1)) * c.simds_per_cu.max(1);
    let by_waves = waves / d.waves_per_group().max(1);
    let by_lds = c.lds_bytes.checked_div(d.lds_size).unwrap_or(u32::MAX);
    u64::from(by_waves.min(by_lds).max(1)) * u64::from(c.cus.max(1))
}
