//! The command processor: one thread that steps every queue of the process in turn, and sleeps when none moves.
//!
//! It spins briefly after the last progress, then sleeps. Kernels that end and calls from the driver wake it at once.
//! Doorbells are plain stores: when nothing runs the bell is armed to notice them; where it cannot, and while kernels
//! run, it looks at the rings after growing times.

use crate::api::{QueueDesc, QueueError, QueueKind, QueueUpdate};
use crate::aql::AqlQueue;
use crate::core::{Core, Stats};
use crate::pm4_queue::Pm4Queue;
use crate::queue::{Queue, Step};
use crate::sdma::SdmaQueue;
use rj_exec::Pool;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Looks without sleep after the last progress.
const SPIN: Duration = Duration::from_micros(50);
/// First and longest sleep.
const SLEEP: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));
/// Longest sleep when nothing runs and the bell cannot be armed: below 1 % of a core.
const UNARMED: Duration = Duration::from_millis(10);
/// Longest sleep while a queue waits for a value in memory.
const POLL: Duration = Duration::from_micros(100);
/// Sleep of a command processor without queues.
const FOREVER: Duration = Duration::from_secs(3600);
/// Longest sleep with an armed bell: a mapping of doorbells that the bell lost track of costs time, never a hang.
const ARMED: Duration = Duration::from_millis(50);

/// What the driver asks of the command processor.
pub enum Command {
    /// Serve a queue under this id.
    Create(u32, Box<dyn Queue>),
    /// UPDATE_QUEUE.
    Update(u32, QueueUpdate),
    /// Stop serving it.
    Destroy(u32, Arc<Done>),
    /// End the thread.
    Quit,
}

/// Tells the caller of a command that it was carried out.
#[derive(Debug, Default)]
pub struct Done {
    done: Mutex<bool>,
    changed: Condvar,
}

impl Done {
    fn set(&self) {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits until it was, or until `gone` says that the thread will not answer any more.
    pub fn wait(&self, gone: impl Fn() -> bool) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        while !*done && !gone() {
            let wait = self.changed.wait_timeout(done, Duration::from_millis(10));
            done = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Commands on their way to the thread.
#[derive(Default)]
pub struct Mailbox {
    commands: Mutex<Vec<Command>>,
    any: AtomicBool,
}

impl Mailbox {
    /// Adds a command; wake the thread afterwards.
    pub fn put(&self, command: Command) {
        self.lock().push(command);
        self.any.store(true, SeqCst);
    }

    fn take(&self) -> Vec<Command> {
        if !self.any.swap(false, SeqCst) {
            return Vec::new();
        }
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Command>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the state machine of a queue; checks what CREATE_QUEUE must check.
pub fn queue(core: &Core, desc: QueueDesc) -> Result<Box<dyn Queue>, QueueError> {
    let gpu = core.gpus.get(desc.gpu).ok_or(QueueError::Bad("GPU"))?.clone();
    Ok(match desc.kind {
        QueueKind::Aql => Box::new(AqlQueue::new(desc, gpu)?),
        QueueKind::Pm4 => Box::new(Pm4Queue::new(desc, gpu)?),
        QueueKind::Sdma => Box::new(SdmaQueue::new(desc, gpu)?),
    })
}

/// The thread's body.
pub struct Processor {
    core: Arc<Core>,
    mailbox: Arc<Mailbox>,
    pool: Pool,
    queues: BTreeMap<u32, Box<dyn Queue>>,
    /// Queues that were destroyed while kernels of theirs ran.
    leaving: Vec<(Box<dyn Queue>, Arc<Done>)>,
    halted: bool,
    busy_since: Option<Instant>,
}

impl Processor {
    /// Serves the commands of `mailbox`.
    pub fn new(core: Arc<Core>, mailbox: Arc<Mailbox>) -> Processor {
        let (queues, leaving) = (BTreeMap::new(), Vec::new());
        Processor { core, mailbox, pool: Pool::default(), queues, leaving, halted: false, busy_since: None }
    }

    /// Runs until told to quit.
    pub fn run(mut self) {
        let mut last = Instant::now();
        let mut nap = SLEEP.0;
        let mut armed = false;
        let bell = self.core.bell.clone();
        while let Some((moved, rest)) = self.round() {
            if moved {
                last = Instant::now();
                nap = SLEEP.0;
            } else if self.queues.is_empty() && self.leaving.is_empty() {
                bell.sleep(FOREVER);
            } else if rest == Step::Idle && self.leaving.is_empty() && last.elapsed() > SPIN {
                // Armed first, then one more look, then sleep.
                let rung = armed && bell.sleep(ARMED);
                armed = armed || bell.arm();
                if rung {
                    last = Instant::now();
                } else if armed {
                    continue;
                } else {
                    bell.sleep(nap);
                    nap = (nap + nap / 4).min(UNARMED);
                }
            } else if rest == Step::Running || last.elapsed() > SPIN {
                // A kernel's end wakes this thread; its CPU is better used by the kernel.
                bell.sleep(nap);
                let most = if rest == Step::Polling || !self.leaving.is_empty() { POLL } else { SLEEP.1 };
                nap = (nap + nap / 4).min(most);
            } else {
                std::hint::spin_loop();
            }
            if armed {
                armed = false;
                bell.disarm();
            }
        }
        bell.disarm();
    }

    /// Obeys commands and steps every queue once: whether anything moved, and what the queues wait for. None if the
    /// thread must end.
    fn round(&mut self) -> Option<(bool, Step)> {
        let commands = self.mailbox.take();
        let mut moved = !commands.is_empty();
        for command in commands {
            if self.obey(command) {
                return None;
            }
        }
        if self.core.stopped() && !self.halted {
            self.halted = true;
            self.queues.values_mut().for_each(|q| q.stop(&self.core));
        }
        let mut rest = Step::Idle;
        for queue in self.queues.values_mut() {
            match queue.step(&self.core, &mut self.pool) {
                Step::Moved => moved = true,
                Step::Polling => rest = Step::Polling,
                Step::Running if rest == Step::Idle => rest = Step::Running,
                _ => {}
            }
        }
        let leaving = self.leaving.len();
        self.leave();
        moved |= leaving != self.leaving.len();
        self.clock();
        Some((moved, rest))
    }

    /// True if the thread must end.
    fn obey(&mut self, command: Command) -> bool {
        match command {
            Command::Create(id, queue) => {
                self.queues.insert(id, queue);
            }
            Command::Update(id, update) => {
                if let Some(queue) = self.queues.get_mut(&id) {
                    queue.update(update);
                }
            }
            Command::Destroy(id, done) => match self.queues.remove(&id) {
                Some(mut queue) => {
                    queue.stop(&self.core);
                    self.leaving.push((queue, done));
                }
                None => done.set(),
            },
            Command::Quit => return true,
        }
        false
    }

    /// Lets go of destroyed queues whose kernels have ended.
    fn leave(&mut self) {
        let core = &self.core;
        self.leaving.retain_mut(|(queue, done)| {
            let quiet = queue.quiet(core);
            if quiet {
                done.set();
            }
            !quiet
        });
    }

    /// Counts the time during which kernels are in flight.
    fn clock(&mut self) {
        match (self.busy_since, self.core.workers.busy()) {
            (None, true) => self.busy_since = Some(Instant::now()),
            (Some(since), busy) => {
                let ns = since.elapsed().as_nanos() as u64;
                Stats::add(&self.core.stats.kernel_ns, ns);
                self.busy_since = busy.then(Instant::now);
            }
            (None, false) => {}
        }
    }
}
