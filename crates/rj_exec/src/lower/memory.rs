//! Memory instructions.

use super::build::Lower;
use super::{Flow, Refusal, Result};
use rj_isa::Inst;

/// Lowers a memory instruction.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let _ = (l, i);
    Err(Refusal::Unsupported)
}
