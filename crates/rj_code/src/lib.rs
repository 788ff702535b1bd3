//! Code objects: ELF files, their kernels, metadata and descriptors; fat binaries and bundles around them.
//!
//! Everything here reads files that users bring: bounds are checked, damage is an [`Error`], nothing panics. It knows
//! no machine: loading means bytes at an address, not memory of a GPU.

mod built_for;
mod bundle;
mod container;
mod descriptor;
mod elf;
mod error;
mod image;
mod lines;
mod metadata;
mod target_id;

pub use built_for::built_for;
pub use container::{Entry, open, open_for};
pub use descriptor::KernelDescriptor;
pub use elf::{CodeObject, Kernel, Segment, Symbol, SymbolKind};
pub use error::Error;
pub use image::Image;
pub use lines::{Frame, demangle, frames};
pub use metadata::{Arg, Hidden, KernelMetadata, ValueKind};
pub use target_id::{Feature, TargetId};
