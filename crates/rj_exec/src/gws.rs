//! Global wave sync: 64 counters of a GPU that work as barriers or semaphores across work-groups (`ds_gws_*`; Vega
//! and RDNA ISA manuals, chapter of the data share). A wave that must wait is not parked here: it asks again at its
//! next turn.

use crate::uop::{JUMP, SLEEP, Uop, at};
use crate::wave::{M0, Wave};
use std::sync::{Mutex, PoisonError};

/// Resources that a process has.
const COUNT: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    /// Barrier: waves still to come before the last one. Semaphore: waves that may pass.
    counter: u32,
    /// Barriers completed: stands for the hardware's flag that flips with each.
    phase: u64,
    /// Waves that wait for the semaphore.
    queue: u32,
}

/// The state of one GPU's global wave sync in one process.
#[derive(Debug)]
pub struct Gws(Mutex<[Resource; COUNT]>);

impl Default for Gws {
    fn default() -> Self {
        Gws(Mutex::new([Resource::default(); COUNT]))
    }
}

/// Where a wave stands with the resource that it waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ticket {
    /// It does not wait.
    #[default]
    None,
    /// For the end of the barrier's phase.
    Phase(u64),
    /// For the semaphore.
    Queued,
}

/// What an instruction does; imm 7:0 of the micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
    /// Sets the counter.
    Init,
    /// Waits until as many waves as the last one announced have come.
    Barrier,
    /// One more wave may pass.
    V,
    /// Data more waves may pass.
    Br,
    /// Waits until it may pass.
    P,
    /// All that wait may pass.
    ReleaseAll,
}

const ACTIONS: [Action; 6] = [Action::Init, Action::Barrier, Action::V, Action::Br, Action::P, Action::ReleaseAll];

impl Gws {
    /// Performs an action on resource `id`; answers the ticket with which to ask again, or none if the wave goes on.
    pub fn act(&self, id: u32, action: Action, data: u32, ticket: Ticket) -> Ticket {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let r = &mut all[id as usize % COUNT];
        match action {
            Action::Init => r.counter = data,
            Action::V => r.counter = r.counter.wrapping_add(1),
            Action::Br => r.counter = r.counter.wrapping_add(data),
            Action::ReleaseAll => r.counter = r.queue,
            Action::Barrier => match ticket {
                Ticket::Phase(p) if p == r.phase => return ticket,
                Ticket::Phase(_) => {}
                _ if r.counter == 0 => {
                    r.phase += 1;
                    r.counter = data;
                }
                _ => {
                    r.counter -= 1;
                    return Ticket::Phase(r.phase);
                }
            },
            Action::P => {
                let queued = ticket == Ticket::Queued;
                if r.counter == 0 {
                    r.queue += u32::from(!queued);
                    return Ticket::Queued;
                }
                r.counter -= 1;
                r.queue -= u32::from(queued && r.queue > 0);
            }
        }
        Ticket::None
    }
}

/// `ds_gws_*`: imm 7:0 the action, 15:8 the offset, bit 16: plane `a` holds the data; goes on at `c`:`d` (high, low),
/// or comes back to this instruction, `b` bytes before that.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn gws(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract; `gws` is valid during a turn.
    unsafe {
        let u = &*u;
        let action = ACTIONS[(u.imm & 0xff) as usize % ACTIONS.len()];
        // The first active lane's data.
        let lane = match (*w).exec() {
            0 => 0,
            x => x.trailing_zeros() as usize,
        };
        let data = if u.imm >> 16 & 1 != 0 { at(w, u.a).add(lane).read() } else { 0 };
        let id = ((*w).s[M0] >> 16 & 63) + (u.imm >> 8 & 63) as u32;
        let next = u64::from(u.d) | u64::from(u.c) << 32;
        // What other groups wrote before they came is seen after, and the other way round: the lock orders both.
        let ticket = (*(*w).gws).act(id, action, data, (*w).ticket);
        (*w).ticket = ticket;
        (*w).stored = false;
        (*w).pc = next;
        if ticket == Ticket::None {
            return JUMP;
        }
        (*w).pc = next.wrapping_sub(u64::from(u.b));
        SLEEP
    }
}
