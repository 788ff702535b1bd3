//! The 64-byte AQL packets (hsa.h, hsa_ext_amd.h; vendor packets: engine-abi, "AQL queues").

/// A packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(pub u16);

impl Header {
    /// The type of a slot that holds no packet.
    pub const INVALID: u16 = 1;

    /// Packet type, bits 7:0.
    pub fn kind(self) -> u16 {
        self.0 & 0xff
    }

    /// Wait until all earlier packets of the queue are complete.
    pub fn barrier(self) -> bool {
        self.0 >> 8 & 1 != 0
    }
}

/// A packet's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Kernel dispatch.
    Dispatch(DispatchPacket),
    /// Barrier-AND: all of these signals must be 0.
    And([u64; 5]),
    /// Barrier-OR: one of these signals must be 0.
    Or([u64; 5]),
    /// Vendor format 1: a PM4 indirect buffer at this address, in dwords.
    Pm4 {
        /// GPU address.
        address: u64,
        /// Length, dwords.
        dwords: u32,
    },
    /// Vendor format 2: wait until (signal & mask) compares to the value.
    Value {
        /// Signal handle.
        signal: u64,
        /// What to compare with.
        value: i64,
        /// Bits that count.
        mask: i64,
        /// 0 equal, 1 not equal, 2 less, 3 greater or equal.
        condition: u32,
    },
    /// A vendor packet of another format.
    UnknownVendor(u8),
    /// A type that no kernel agent takes.
    Unknown(u16),
}

/// The fields of a kernel dispatch packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchPacket {
    /// Grid dimensions as written, bits 1:0 of setup.
    pub dims: u8,
    /// Work-group size.
    pub group: [u16; 3],
    /// Grid size, work-items.
    pub grid: [u32; 3],
    /// Private bytes a work-item.
    pub private: u32,
    /// LDS bytes a group.
    pub lds: u32,
    /// GPU address of the kernel descriptor.
    pub object: u64,
    /// GPU address of the arguments.
    pub kernarg: u64,
}

/// The completion signal, at the same place in every packet.
pub fn completion(p: &[u8; 64]) -> u64 {
    u64_at(p, 56)
}

/// Decodes a packet's body.
pub fn parse(header: Header, p: &[u8; 64]) -> Packet {
    match header.kind() {
        0 => match p[2] {
            1 => Packet::Pm4 { address: u64_at(p, 8) & !3, dwords: u32_at(p, 16) & 0xf_ffff },
            2 => Packet::Value {
                signal: u64_at(p, 8),
                value: u64_at(p, 16).cast_signed(),
                mask: u64_at(p, 24).cast_signed(),
                condition: u32_at(p, 32),
            },
            format => Packet::UnknownVendor(format),
        },
        2 => Packet::Dispatch(DispatchPacket {
            dims: p[2] & 3,
            group: [u16_at(p, 4), u16_at(p, 6), u16_at(p, 8)],
            grid: [u32_at(p, 12), u32_at(p, 16), u32_at(p, 20)],
            private: u32_at(p, 24),
            lds: u32_at(p, 28),
            object: u64_at(p, 32),
            kernarg: u64_at(p, 40),
        }),
        3 => Packet::And(std::array::from_fn(|i| u64_at(p, 8 + 8 * i))),
        5 => Packet::Or(std::array::from_fn(|i| u64_at(p, 8 + 8 * i))),
        kind => Packet::Unknown(kind),
    }
}

fn u16_at(p: &[u8; 64], at: usize) -> u16 {
    u16::from_le_bytes([p[at], p[at + 1]])
}

fn u32_at(p: &[u8; 64], at: usize) -> u32 {
    u32::from(u16_at(p, at)) | u32::from(u16_at(p, at + 2)) << 16
}

fn u64_at(p: &[u8; 64], at: usize) -> u64 {
    u64::from(u32_at(p, at)) | u64::from(u32_at(p, at + 4)) << 32
}
