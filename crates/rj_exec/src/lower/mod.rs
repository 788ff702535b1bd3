//! From instructions to micro-ops.

use crate::code::{Block, Code, Consts};
use crate::mem::Snapshot;
use rj_isa::Target;

/// Lowers the block at `pc`.
pub fn block(code: &Code, snap: &Snapshot, consts: &mut Consts<'_>, pc: u64) -> Block {
    let _ = (code, snap, consts, pc);
    todo!()
}

/// Disassembly of the instruction at `pc`, or nothing.
pub fn text(target: Target, snap: &Snapshot, pc: u64) -> String {
    let _ = (target, snap, pc);
    String::new()
}
