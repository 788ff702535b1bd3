//! A code object loaded at an address: segments at their places, relocations applied.
//!
//! Relocation kinds: LLVM AMDGPUUsage, "Relocation Records"; a linked code object has the dynamic ones only.

use crate::{CodeObject, Error};

/// Loaded sizes past this are refused.
const LARGEST: u64 = 1 << 30;

/// A loaded code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Address of the first byte.
    pub base: u64,
    /// Its bytes, a multiple of 4096.
    pub bytes: Vec<u8>,
}

/// A dynamic relocation.
#[derive(Clone, Debug)]
pub(crate) struct Relocation {
    /// Where, relative to the load address.
    pub place: u64,
    /// R_AMDGPU_*.
    pub kind: u32,
    pub addend: i64,
    /// Value of its symbol, relative to the load address; none if undefined; 0 without a symbol.
    pub symbol: Option<u64>,
    pub name: String,
}

impl CodeObject<'_> {
    /// Loads it at `base`, which must be a multiple of 4096.
    pub fn load(&self, base: u64) -> Result<Image, Error> {
        let end = self.segments.iter().map(|s| s.address + s.size).max().unwrap_or(0);
        if end > LARGEST {
            return Err(Error::new(format!("the code object takes {end} bytes in memory, more than {LARGEST}")));
        }
        // The check above keeps every size here within usize.
        let at = |n: u64| n as usize;
        let mut bytes = vec![0; at(end.next_multiple_of(4096))];
        for s in &self.segments {
            let from = &self.data[at(s.file_offset)..at(s.file_offset + s.file_size)];
            bytes[at(s.address)..at(s.address + s.file_size)].copy_from_slice(from);
        }
        for r in &self.relocations {
            r.apply(base, &mut bytes)?;
        }
        Ok(Image { base, bytes })
    }
}

impl Relocation {
    fn apply(&self, base: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let symbol = || match self.symbol {
            Some(s) => Ok(base.wrapping_add(s).wrapping_add_signed(self.addend)),
            None => Err(Error::new(format!("the symbol {} is not defined in the code object", self.name))),
        };
        let place = base.wrapping_add(self.place);
        let (value, width) = match self.kind {
            0 => return Ok(()),
            1 => (symbol()?, 4),
            2 => (symbol()? >> 32, 4),
            3 => (symbol()?, 8),
            4 => (symbol()?.wrapping_sub(place), 4),
            5 => (symbol()?.wrapping_sub(place), 8),
            6 => (symbol()?, 4),
            10 => (symbol()?.wrapping_sub(place), 4),
            11 => (symbol()?.wrapping_sub(place) >> 32, 4),
            13 => (base.wrapping_add_signed(self.addend), 8),
            n => return Err(Error::new(format!("relocation type {n} at {:#x} is not supported", self.place))),
        };
        let at = usize::try_from(self.place).ok();
        let target = at.and_then(|at| bytes.get_mut(at..at.checked_add(width)?)).ok_or_else(|| {
            Error::new(format!("a relocation's place {:#x} lies outside the loaded segments", self.place))
        })?;
        target.copy_from_slice(&value.to_le_bytes()[..width]);
        Ok(())
    }
}
