//! The threads that run work-groups. Each holds a few groups and takes the next one only when all it holds wait or
//! have used their budget; launches get equal shares. Knows no queue.

use crate::launch::{Launch, Resident};
use crate::thread::{self, Watch};
use rj_exec::{Env, Pool, Progress};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A turn with fewer wave instructions than this was spent waiting, not working.
const IDLE_TURN: u64 = 4096;

/// Threads and the launches they share.
pub struct Workers {
    shared: Arc<Shared>,
    threads: usize,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Grows with each change of `state`, so that a busy thread need not lock to see that nothing is new.
    generation: AtomicU64,
    host: Arc<dyn rj_exec::Host + Send + Sync>,
    watch: Option<&'static Watch>,
    threads: u64,
}

#[derive(Default)]
struct State {
    launches: Vec<Arc<Launch>>,
    /// Groups that another thread began.
    begun: VecDeque<Resident>,
    started: usize,
    quit: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers {
    /// Up to `threads` threads; none runs yet. Their host faults go to `watch`.
    pub fn new(threads: usize, host: Arc<dyn rj_exec::Host + Send + Sync>, watch: Option<&'static Watch>) -> Workers {
        let threads = threads.max(1);
        let shared = Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            generation: AtomicU64::new(0),
            host,
            watch,
            threads: threads as u64,
        };
        Workers { shared: Arc::new(shared), threads }
    }

    /// Adds a launch; `begun` are groups of it that already ran for a while. Starts the threads at first use.
    pub fn submit(&self, launch: &Arc<Launch>, begun: Vec<Resident>) -> std::io::Result<()> {
        let mut state = self.shared.lock();
        while state.started < self.threads {
            let shared = self.shared.clone();
            let name = format!("rj-wave-{}", state.started);
            match thread::spawn(&name, self.shared.watch, move || Worker::new(shared).run()) {
                Ok(_) => state.started += 1,
                Err(_) if state.started > 0 => break,
                Err(e) => return Err(e),
            }
        }
        state.launches.push(launch.clone());
        state.begun.extend(begun);
        self.shared.generation.fetch_add(1, SeqCst);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Forgets a launch that has ended.
    pub fn remove(&self, launch: &Arc<Launch>) {
        let mut state = self.shared.lock();
        state.launches.retain(|l| !Arc::ptr_eq(l, launch));
        self.shared.generation.fetch_add(1, SeqCst);
    }

    /// Launches in flight.
    pub fn busy(&self) -> bool {
        !self.shared.lock().launches.is_empty()
    }

    /// Wakes the threads to look at their launches again (one was stopped).
    pub fn nudge(&self) {
        let _state = self.shared.lock();
        self.shared.generation.fetch_add(1, SeqCst);
        self.shared.changed.notify_all();
    }

    /// Runs a launch on this thread while its groups end within a turn. Gives back the group that did not, with the
    /// rest of the launch untouched.
    pub fn run_here(&self, launch: &Arc<Launch>, pool: &mut Pool) -> Option<Resident> {
        while let Some(mut resident) = launch.admit(pool) {
            let progress = turn(&mut resident, &*self.shared.host);
            match progress {
                Progress::Done => resident.finish(pool),
                Progress::Fault(fault) => resident.fail(fault, pool),
                Progress::Waiting => return Some(resident),
            }
        }
        None
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.lock().quit = true;
        self.nudge();
    }
}

fn turn(resident: &mut Resident, host: &dyn rj_exec::Host) -> Progress {
    let launch = &resident.launch;
    let env = Env { space: &launch.gpu.space, code: &launch.gpu.code, gws: &launch.gpu.gws, host };
    let _current = thread::Current::enter(&launch.dispatch);
    resident.group.run(&env)
}

struct Worker {
    shared: Arc<Shared>,
    pool: Pool,
    seen: u64,
    launches: Vec<Arc<Launch>>,
    residents: VecDeque<Resident>,
    /// Next launch to take a group from.
    cursor: usize,
    /// Turns since the last group was taken.
    turns: usize,
    /// Turns in a row in which nothing was done.
    idle: usize,
}

impl Worker {
    fn new(shared: Arc<Shared>) -> Worker {
        Worker {
            shared,
            pool: Pool::default(),
            seen: u64::MAX,
            launches: Vec::new(),
            residents: VecDeque::new(),
            cursor: 0,
            turns: 0,
            idle: 0,
        }
    }

    fn run(mut self) {
        loop {
            if self.shared.generation.load(SeqCst) != self.seen && !self.refresh() {
                return;
            }
            if self.residents.is_empty() && !self.admit() {
                if !self.sleep() {
                    return;
                }
                continue;
            }
            if let Some(resident) = self.residents.pop_front() {
                self.step(resident);
            }
        }
    }

    /// Copies the list of launches; false if the thread must end.
    fn refresh(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        self.seen = shared.generation.load(SeqCst);
        self.launches.clone_from(&state.launches);
        // One begun group a thread: another may be on its way to the rest.
        self.residents.extend(state.begun.pop_front());
        !state.quit
    }

    /// Waits for news; false if the thread must end.
    fn sleep(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        // Launches that wait for scratch slots announce nothing: look again soon.
        let starved = self.launches.iter().any(|l| !l.exhausted() && !l.stopped());
        while shared.generation.load(SeqCst) == self.seen && state.begun.is_empty() && !state.quit {
            if starved {
                let wait = shared.changed.wait_timeout(state, Duration::from_micros(50));
                drop(wait);
                return true;
            }
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(begun) = state.begun.pop_front() {
            self.residents.push_back(begun);
        }
        !state.quit
    }

    fn step(&mut self, mut resident: Resident) {
        if resident.launch.stopped() {
            return resident.cancel(&mut self.pool);
        }
        let before = resident.group.instructions;
        match turn(&mut resident, &*self.shared.host) {
            Progress::Done => {
                self.idle = 0;
                resident.finish(&mut self.pool);
            }
            Progress::Fault(fault) => resident.fail(fault, &mut self.pool),
            Progress::Waiting => {
                let waited = resident.group.instructions - before < IDLE_TURN;
                self.residents.push_back(resident);
                self.turns += 1;
                self.idle = if waited { self.idle + 1 } else { 0 };
                // A group that only waits makes room at once; working groups all get their turn first.
                let admitted = (waited || self.turns >= self.residents.len()) && self.admit();
                if !admitted && self.idle > self.residents.len() {
                    self.pause();
                }
            }
        }
    }

    /// Every group held here waits for something outside: the host's threads may need this CPU.
    fn pause(&self) {
        if self.idle < self.residents.len() + 64 {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(20));
        }
    }

    /// Takes a group from the next launch that has one and of which this thread holds less than its share.
    fn admit(&mut self) -> bool {
        for _ in 0..self.launches.len() {
            self.cursor = (self.cursor + 1) % self.launches.len();
            let launch = &self.launches[self.cursor];
            let share = launch.resident().div_ceil(self.shared.threads);
            let held = self.residents.iter().filter(|r| Arc::ptr_eq(&r.launch, launch)).count() as u64;
            if held >= share {
                continue;
            }
            if let Some(resident) = launch.admit(&mut self.pool) {
                // In front: a new group runs before those that wait.
                self.residents.push_front(resident);
                self.turns = 0;
                return true;
            }
        }
        false
    }
}
