//! The hardware table: everything that differs between the GPUs we emulate, one embedded file per GPU in `data/`.
//!
//! It is the only source of these numbers: agents, profiles, the topology under /sys, the AMDGPU_INFO answers and the
//! execution limits are derived from it. It computes nothing that a machine does and knows no driver.

mod gpu;
mod names;

pub use gpu::{Board, Cache, Caches, Clocks, Firmware, Gpu, Ids, Limits, Sdma, Shape, Vram, VramKind};
pub use names::{find, suggest};

use std::sync::OnceLock;

/// The table's files, oldest target first within a family: CDNA, then RDNA.
const FILES: [(&str, &str); 7] = [
    ("gfx90a_mi210", include_str!("../data/gfx90a_mi210.json")),
    ("mi300x", include_str!("../data/mi300x.json")),
    ("mi350x", include_str!("../data/mi350x.json")),
    ("mi450x", include_str!("../data/mi450x.json")),
    ("gfx1100_w7900", include_str!("../data/gfx1100_w7900.json")),
    ("gfx1151", include_str!("../data/gfx1151.json")),
    ("gfx1201_r9700", include_str!("../data/gfx1201_r9700.json")),
];

/// Every GPU of the table.
///
/// The files are part of the binary, so one that does not parse is a bug of this crate: its tests read them all.
pub fn all() -> &'static [Gpu] {
    static TABLE: OnceLock<Vec<Gpu>> = OnceLock::new();
    TABLE.get_or_init(|| {
        FILES
            .iter()
            .map(|(key, text)| {
                serde_json::from_str(text).unwrap_or_else(|e| panic!("the hardware table's {key}.json: {e}"))
            })
            .collect()
    })
}

/// The first GPU of that target.
pub fn of_target(target: rj_isa::Target) -> &'static Gpu {
    all().iter().find(|g| g.target == target).expect("each target has a GPU: tests/table.rs")
}
