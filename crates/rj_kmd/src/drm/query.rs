//! The request of AMDGPU_INFO: `struct drm_amdgpu_info`, and its queries' numbers and names (amdgpu_drm.h).

use super::bytes::u32_at;

/// One request. `a` and `b` are the first dwords of its union.
pub(super) struct Request {
    pub return_pointer: bool,
    pub return_size: u32,
    pub query: u32,
    pub a: u32,
    pub b: u32,
}

impl Request {
    /// None if `bytes` is shorter than the fields that every query has.
    pub(super) fn read(bytes: &[u8]) -> Option<Request> {
        if bytes.len() < 16 {
            return None;
        }
        Some(Request {
            return_pointer: bytes[..8].iter().any(|&b| b != 0),
            return_size: u32_at(bytes, 8),
            query: u32_at(bytes, 12),
            a: u32_at(bytes, 16),
            b: u32_at(bytes, 20),
        })
    }
}

/// Declares the queries: a constant each, and the names.
macro_rules! queries {
    ($($name:ident = $n:literal),+ $(,)?) => {
        // Some only have a name, for refusing them.
        $(#[allow(dead_code)] pub(super) const $name: u32 = $n;)+
        const NAMES: &[(u32, &str)] = &[$(($n, stringify!($name))),+];
    };
}

queries! {
    ACCEL_WORKING = 0x00, CRTC_FROM_ID = 0x01, HW_IP_INFO = 0x02, HW_IP_COUNT = 0x03, TIMESTAMP = 0x05,
    FW_VERSION = 0x0e, NUM_BYTES_MOVED = 0x0f, VRAM_USAGE = 0x10, GTT_USAGE = 0x11, GDS_CONFIG = 0x13,
    VRAM_GTT = 0x14, READ_MMR_REG = 0x15, DEV_INFO = 0x16, VIS_VRAM_USAGE = 0x17, NUM_EVICTIONS = 0x18,
    MEMORY = 0x19, VCE_CLOCK_TABLE = 0x1a, VBIOS = 0x1b, NUM_HANDLES = 0x1c, SENSOR = 0x1d,
    NUM_VRAM_CPU_PAGE_FAULTS = 0x1e, VRAM_LOST_COUNTER = 0x1f, RAS_ENABLED_FEATURES = 0x20, VIDEO_CAPS = 0x21,
    MAX_IBS = 0x22, GPUVM_FAULT = 0x23, UQ_FW_AREAS = 0x24,
}

/// The request in words, for messages and records: `AMDGPU_INFO READ_MMR_REG 0x263e`.
pub fn query_name(request: &[u8]) -> String {
    let Some(r) = Request::read(request) else { return "AMDGPU_INFO with a short request".into() };
    let name = NAMES.iter().find(|&&(n, _)| n == r.query).map(|&(_, name)| name);
    match (r.query, name) {
        (
            READ_MMR_REG | HW_IP_INFO | HW_IP_COUNT | FW_VERSION | VBIOS | SENSOR | VIDEO_CAPS | UQ_FW_AREAS,
            Some(name),
        ) => format!("AMDGPU_INFO {name} {:#x}", r.a),
        (_, Some(name)) => format!("AMDGPU_INFO {name}"),
        (n, None) => format!("AMDGPU_INFO query {n:#x}"),
    }
}
