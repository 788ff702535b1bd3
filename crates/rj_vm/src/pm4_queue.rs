//! A PM4 queue: a ring of command stream. Read and write pointers count dwords.

use crate::api::{Gpu, QueueDesc, QueueUpdate};
use crate::core::{Core, Stats};
use crate::pm4::{Pm4, Ran};
use crate::queue::{For, Queue, Step, Stop};
use crate::ring::Ring;
use rj_exec::mem::Denied;
use rj_exec::{Pool, Snapshot};
use std::sync::Arc;

/// A PM4 queue.
pub struct Pm4Queue {
    ring: Ring,
    gpu: Arc<Gpu>,
    stream: Pm4,
    held: bool,
    dead: bool,
}

impl Pm4Queue {
    /// A queue that starts at its read pointer.
    pub fn new(desc: QueueDesc, gpu: Arc<Gpu>) -> Result<Pm4Queue, crate::QueueError> {
        let ring = Ring::new(desc, &gpu)?;
        let read = ring.read_count(&gpu.space.snapshot())?;
        let stream = Pm4::ring(desc.ring, desc.ring_bytes / 4, read);
        Ok(Pm4Queue { ring, gpu, stream, held: desc.percentage == 0, dead: false })
    }

    fn advance(&mut self, core: &Core, map: &Snapshot) -> Result<Step, Stop> {
        let written = self.ring.write_count(map).what("write pointer")?;
        let before = self.stream.extend(written);
        if before >= written {
            return Ok(Step::Idle);
        }
        let gpu = self.gpu.clone();
        let ran = self.stream.run(core, &gpu, map, 64)?;
        let after = self.stream.at();
        self.ring.set_read_count(map, after).what("read pointer")?;
        Ok(match ran {
            _ if after != before => {
                Stats::add(&core.stats.packets, 1);
                Step::Moved
            }
            Ran::Waiting => Step::Polling,
            Ran::Done => Step::Idle,
        })
    }

    fn fail(&mut self, core: &Core, stop: Stop) {
        self.dead = true;
        let (denied, text) = match stop {
            Stop::Denied(denied, what) => {
                (denied, format!("memory fault: {what} at {:#x} cannot be accessed", denied.va))
            }
            // No channel of PM4 queues tells the program: end the wait for what cannot come.
            Stop::Refused(refusal) => (Denied { va: self.ring.desc().ring, write: false, mapped: true }, refusal.why),
            _ => return,
        };
        core.memory_fault(self.ring.gpu(), denied, false, &format!("{text}\n  in a PM4 queue"));
    }
}

impl Queue for Pm4Queue {
    fn step(&mut self, core: &Core, _: &mut Pool) -> Step {
        if self.dead || self.held {
            return Step::Idle;
        }
        let map = self.gpu.space.snapshot();
        self.advance(core, &map).unwrap_or_else(|stop| {
            self.fail(core, stop);
            Step::Moved
        })
    }

    fn update(&mut self, update: QueueUpdate) {
        self.held = update.percentage == 0;
        self.ring.update(update);
    }

    fn stop(&mut self, _: &Core) {
        self.dead = true;
    }

    fn quiet(&mut self, _: &Core) -> bool {
        true
    }
}
