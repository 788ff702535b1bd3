//! Building and reading C structs as bytes, little-endian, without padding of their own.

/// A C struct while it is filled, field by field in declaration order.
#[derive(Default)]
pub(super) struct Bytes(Vec<u8>);

impl Bytes {
    pub(super) fn u32(&mut self, n: u32) -> &mut Self {
        self.0.extend(n.to_le_bytes());
        self
    }

    pub(super) fn u64(&mut self, n: u64) -> &mut Self {
        debug_assert_eq!(self.0.len() % 8, 0, "the C struct has padding here");
        self.0.extend(n.to_le_bytes());
        self
    }

    /// A character array of `size` bytes, cut and ended by a zero.
    pub(super) fn text(&mut self, s: &str, size: usize) -> &mut Self {
        let end = self.0.len() + size;
        self.0.extend(s.bytes().take(size - 1));
        self.0.resize(end, 0);
        self
    }

    pub(super) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// The 32-bit field at byte `at`; 0 where the struct is shorter.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// The 64-bit field at byte `at`; 0 where the struct is shorter.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}
