//! Memory instructions: where a lane's bytes are ([`place`]), moving them ([`vector`]), atomics, LDS specials, scalar loads.

pub mod atomic;
pub mod direct;
pub mod lds;
pub mod place;
pub mod scalar;
pub mod sub;
pub mod vector;
mod words;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_more;

/// Operand `c` of a micro-op that has no scalar address part (0 would be s0).
pub const NONE: u32 = u32::MAX;

/// A memory that vector instructions address. Const parameter of the handlers.
pub mod space {
    /// 64-bit address in two planes (`a`), or scalar pair `c` plus a 32-bit plane; offset in imm 31:0.
    pub const GLOBAL: u8 = 0;
    /// As global, with LDS and private apertures.
    pub const FLAT: u8 = 1;
    /// Private: plane `a` (if not 0) plus scalar `c` (if not 0) plus offset.
    pub const SCRATCH: u8 = 2;
    /// LDS: plane `a` plus offset.
    pub const LDS: u8 = 3;
    /// Buffer: descriptor at scalar `c`, scalar offset `b`, planes `a`; imm 31:0 offset, bit 32 offen, bit 33 idxen.
    pub const BUFFER: u8 = 4;
}
