//! What can stop a wave, and who it was.

use std::fmt;

/// Why a wave stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An address outside every region, or not permitted there.
    Memory {
        /// The lane's address.
        address: u64,
        /// A store or atomic.
        write: bool,
        /// Mapped, but not for this access.
        mapped: bool,
        /// Instruction fetch.
        fetch: bool,
    },
    /// A flat address in an aperture but outside its memory, or a misaligned atomic.
    Aperture {
        /// The lane's address.
        address: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Bytes that are no instruction of the target, or one that the engine does not execute.
    Illegal {
        /// The bytes at the program counter.
        bytes: Vec<u8>,
        /// Name of the instruction if it decodes: then it is unsupported, not illegal.
        unsupported: Option<String>,
    },
    /// `s_trap 2`: abort or assert in device code.
    Abort,
}

/// A stopped wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Why.
    pub kind: FaultKind,
    /// Kernel name if known, else its address.
    pub kernel: String,
    /// Work-group id.
    pub group: [u32; 3],
    /// Wave in the group.
    pub wave: u32,
    /// First lane concerned, if it is about a lane.
    pub lane: Option<u32>,
    /// Program counter.
    pub pc: u64,
    /// Disassembly of the instruction there, if it decodes.
    pub text: String,
    /// Where a call came from, if the pc itself cannot be executed: the return address of LLVM's calling convention.
    pub caller: Option<u64>,
    /// Source lines of it, innermost inlined function first, if somebody filled them in.
    pub source: Vec<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FaultKind::Memory { address, write, mapped, fetch } => {
                let what = match (fetch, write) {
                    (true, _) => "instruction fetch from",
                    (_, true) => "write to",
                    _ => "read from",
                };
                let why = match (mapped, fetch, write) {
                    (false, ..) => "not mapped",
                    (_, true, _) => "which is not executable",
                    (_, _, true) => "which is read-only",
                    _ => "which is not readable",
                };
                write!(f, "memory fault: {what} {address:#x}, {why}")?;
            }
            FaultKind::Aperture { address, why } => write!(f, "aperture violation: {why} at {address:#x}")?,
            FaultKind::Illegal { bytes, unsupported } => {
                match unsupported {
                    Some(name) => write!(f, "unsupported instruction {name}, bytes")?,
                    None => write!(f, "illegal instruction, bytes")?,
                }
                for b in bytes {
                    write!(f, " {b:02x}")?;
                }
            }
            FaultKind::Abort => write!(f, "device code aborted (s_trap 2)")?,
        }
        let [x, y, z] = self.group;
        write!(f, "\n  kernel {}, work-group ({x},{y},{z}), wave {}", self.kernel, self.wave)?;
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        write!(f, "\n  pc {:#x}", self.pc)?;
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        if let Some(caller) = self.caller {
            write!(f, ", called from {caller:#x}")?;
        }
        for line in &self.source {
            write!(f, "\n  at {line}")?;
        }
        Ok(())
    }
}
