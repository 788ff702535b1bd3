//! From instructions to micro-ops. One match arm per operation, in the file of its family; what no family takes is
//! refused by name when it is reached, never before.

mod build;
mod convert;
mod half;
pub(crate) mod matrix;
mod memory;
mod packed;
mod scalar;
mod valu;
mod vop3p;

use crate::code::{Block, Code, Consts};
use crate::fault::FaultKind;
use crate::mem::Snapshot;
use crate::salu;
use crate::uop::{FAULT, Uop};
use crate::wave::Wave;
pub(crate) use build::Lower;
use rj_isa::{DecodeError, Inst, Target};

/// Instructions in a block at most; longer runs of code are cut.
const MOST: u32 = 512;

/// Why an instruction cannot be lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No family knows the operation.
    Unsupported,
    /// Its operands make no sense on this target (or in this encoding).
    Operand,
}

/// Whether the block ends with the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next instruction follows.
    On,
    /// The last micro-op leaves the block.
    End,
}

pub(crate) type Result<T> = std::result::Result<T, Refusal>;

/// The bytes at `pc`, as many as an instruction can have and the region holds.
fn fetch(snap: &Snapshot, pc: u64, buf: &mut [u8; 20]) -> usize {
    let Some(r) = snap.find(pc).filter(|r| r.exec || r.read) else { return 0 };
    let n = (r.end() - pc).min(20) as usize;
    if snap.read(pc, &mut buf[..n]).is_ok() { n } else { 0 }
}

/// Lowers the block at `pc`.
pub fn block(code: &Code, snap: &Snapshot, consts: &mut Consts<'_>, pc: u64) -> Block {
    let mut l = Lower::new(code.target, code.backend, consts, pc);
    loop {
        let mut buf = [0; 20];
        let n = fetch(snap, l.pc, &mut buf);
        if l.pc != pc && (n == 0 || l.count >= MOST || !code.holds(l.pc)) {
            let next = l.pc;
            l.emit(salu::jump, 0, 0, 0, 0, next);
            break;
        }
        let inst = match rj_isa::decode(code.target, &buf[..n]) {
            Ok(inst) => inst,
            Err(e) => {
                let len = if e == DecodeError::Truncated { n } else { n.min(8) };
                l.trap(FaultKind::Illegal { bytes: buf[..len].to_vec(), unsupported: None });
                break;
            }
        };
        let mark = l.mark();
        l.next = l.pc + u64::from(inst.len);
        l.count += 1;
        match one(&mut l, &inst) {
            Ok(Flow::On) => {
                l.pc = l.next;
                l.done();
            }
            Ok(Flow::End) => break,
            Err(why) => {
                l.rewind(mark);
                let mut name = format!("{:?}", inst.op).to_ascii_lowercase();
                if why == Refusal::Operand {
                    name.push_str(" with these operands");
                }
                let bytes = buf[..usize::from(inst.len)].to_vec();
                l.trap(FaultKind::Illegal { bytes, unsupported: Some(name) });
                break;
            }
        }
    }
    l.join_runs();
    l.finish()
}

/// Lowers one instruction with the first family that takes it.
fn one(l: &mut Lower<'_, '_>, inst: &Inst) -> Result<Flow> {
    for family in [
        scalar::lower,
        valu::lower,
        packed::lower,
        half::lower,
        vop3p::lower,
        convert::lower,
        matrix::lower,
        memory::lower,
    ] {
        match family(l, inst) {
            Err(Refusal::Unsupported) => {}
            answer => return answer,
        }
    }
    Err(Refusal::Unsupported)
}

/// Whether any family lowers this instruction. For coverage lists.
pub fn supported(target: Target, inst: &Inst) -> bool {
    let region = crate::mem::Region { va: 0, len: 64, host: 0, read: false, write: false, exec: true, alloc: 0 };
    Code::probe(target, region, |consts| {
        let mut l = Lower::new(target, crate::lanes::Backend::Scalar, consts, 0);
        l.next = u64::from(inst.len);
        one(&mut l, inst).is_ok()
    })
}

/// Disassembly of the instruction at `pc`, or nothing.
pub fn text(target: Target, snap: &Snapshot, pc: u64) -> String {
    let mut buf = [0; 20];
    let n = fetch(snap, pc, &mut buf);
    match rj_isa::decode(target, &buf[..n]) {
        Ok(inst) => rj_isa::print(&inst),
        Err(_) => String::new(),
    }
}

/// Raises `traps[imm]` of the block.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub(crate) unsafe fn raise(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe { (*w).arg = (*u).imm }
    FAULT
}

#[cfg(test)]
mod tests;
