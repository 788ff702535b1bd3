//! What a dispatch must satisfy before any wave of it starts, and what the queue reports if it does not
//! (engine-abi, "When things go wrong").

use crate::api::GpuConfig;
use rj_exec::Dispatch;
use std::fmt;

/// Why a queue stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Device code executed `s_trap 2`.
    Abort,
    /// An instruction that cannot be executed.
    Illegal,
    /// A bad flat or LDS address, a misaligned atomic.
    Aperture,
    /// Grid dimensions not 1 to 3, or an empty grid or group.
    Dimensions,
    /// More LDS than a group may have.
    GroupSegment,
    /// The kernel object is null or no kernel.
    KernelObject,
    /// A packet type that no kernel agent takes.
    Packet,
    /// A vendor packet that is unknown or cannot be executed.
    VendorPacket,
    /// More than 1024 work-items in a group.
    GroupSize,
    /// More registers than a wave may have.
    Registers,
}

impl Failure {
    /// The bit that is set in the exception payload, when exceptions are on.
    pub fn exception(self) -> u64 {
        1 << match self {
            Failure::Abort => 0,
            Failure::Illegal => 3,
            Failure::Aperture => 5,
            Failure::Dimensions => 15,
            Failure::GroupSegment => 16,
            Failure::KernelObject => 17,
            Failure::Packet => 19,
            Failure::GroupSize => 20,
            Failure::Registers => 21,
            Failure::VendorPacket => 22,
        }
    }

    /// The value of queue_inactive_signal, when exceptions are off.
    pub fn inactive(self) -> u64 {
        match self {
            Failure::Abort => 0x8000_0000,
            Failure::Illegal => 0x4000_0000,
            Failure::Aperture => 0x2000_0000,
            Failure::Dimensions => 2,
            Failure::GroupSegment => 4,
            Failure::KernelObject => 8,
            Failure::Packet => 32,
            Failure::GroupSize => 64,
            Failure::Registers => 128,
            Failure::VendorPacket => 256,
        }
    }
}

/// A dispatch that must not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the queue reports.
    pub failure: Failure,
    /// What is wrong, for a person.
    pub why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// Checks sizes, LDS and registers. Whether the code is mapped is the caller's to check.
pub fn check(d: &Dispatch, config: &GpuConfig) -> Result<(), Refusal> {
    let refuse = |failure, why| Err(Refusal { failure, why });
    if !(1..=3).contains(&d.dims) {
        return refuse(Failure::Dimensions, format!("a grid has 1 to 3 dimensions, not {}", d.dims));
    }
    let [gx, gy, gz] = d.group;
    let [x, y, z] = d.grid;
    if [gx, gy, gz, x, y, z].contains(&0) {
        let why = format!("the grid ({x},{y},{z}) or the work-group ({gx},{gy},{gz}) is empty");
        return refuse(Failure::Dimensions, why);
    }
    let items = u64::from(gx).saturating_mul(u64::from(gy)).saturating_mul(u64::from(gz));
    if items > 1024 {
        let why = format!("a work-group of ({gx},{gy},{gz}) has {items} work-items, more than 1024");
        return refuse(Failure::GroupSize, why);
    }
    if d.lds_size > config.lds_bytes {
        let why = format!("the work-group needs {} bytes of LDS, the GPU has {}", d.lds_size, config.lds_bytes);
        return refuse(Failure::GroupSegment, why);
    }
    let (arch, acc) = d.vgprs();
    if arch + acc > config.vgprs {
        let why = format!("a wave needs {} VGPRs, the GPU has {}", arch + acc, config.vgprs);
        return refuse(Failure::Registers, why);
    }
    Ok(())
}
