//! Code objects: ELF files, their kernels, metadata and descriptors; fat binaries and bundles around them.

mod descriptor;

pub use descriptor::KernelDescriptor;
