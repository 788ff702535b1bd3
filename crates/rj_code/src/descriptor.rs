//! The 64-byte kernel descriptor (LLVM AMDGPUUsage, "Kernel Descriptor").

/// A parsed kernel descriptor; raw words stay available, accessors decode them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct KernelDescriptor {
    /// LDS bytes that the code itself needs (the packet's size decides).
    pub group_segment_fixed_size: u32,
    /// Private bytes a work-item (the packet's size decides).
    pub private_segment_fixed_size: u32,
    /// Bytes of kernel arguments.
    pub kernarg_size: u32,
    /// Offset of the first instruction from the descriptor's own address.
    pub entry_offset: i64,
    /// compute_pgm_rsrc3.
    pub rsrc3: u32,
    /// compute_pgm_rsrc1.
    pub rsrc1: u32,
    /// compute_pgm_rsrc2.
    pub rsrc2: u32,
    /// Kernel code properties.
    pub properties: u16,
    /// Kernarg preload: bits 6:0 length in dwords, 15:7 offset in dwords.
    pub preload: u16,
}

impl KernelDescriptor {
    /// Size in memory, bytes.
    pub const SIZE: usize = 64;

    /// Reads the descriptor from its 64 bytes.
    pub fn parse(b: &[u8; 64]) -> KernelDescriptor {
        let u32_at = |o: usize| u32::from_le_bytes([b[o], b[o + 1], b[o + 2], b[o + 3]]);
        let u16_at = |o: usize| u16::from_le_bytes([b[o], b[o + 1]]);
        KernelDescriptor {
            group_segment_fixed_size: u32_at(0),
            private_segment_fixed_size: u32_at(4),
            kernarg_size: u32_at(8),
            entry_offset: i64::from(u32_at(20).cast_signed()) << 32 | i64::from(u32_at(16)),
            rsrc3: u32_at(44),
            rsrc1: u32_at(48),
            rsrc2: u32_at(52),
            properties: u16_at(56),
            preload: u16_at(58),
        }
    }

    /// User SGPRs on targets before gfx1250 (rsrc2 bits 5:1).
    pub fn user_sgprs(&self) -> u32 {
        self.rsrc2 >> 1 & 0x1f
    }

    /// Bit `n` of the properties.
    pub fn property(&self, n: u32) -> bool {
        self.properties >> n & 1 != 0
    }
}
