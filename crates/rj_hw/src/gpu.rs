//! What the table says of one GPU, with units and sources. Data and plain arithmetic over it, nothing else.

use rj_isa::Target;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One GPU of the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// The builtin profile's name, and that of the file in `data/`.
    pub key: String,
    /// The builtin agent's name.
    pub agent: String,
    /// Further names that a user may type; see [`crate::find`].
    pub aliases: Vec<String>,
    /// The instruction set.
    #[serde(deserialize_with = "target_in", serialize_with = "target_out")]
    pub target: Target,
    /// The architecture as AMD's configs spell it: `cdna3`, `rdna3_5`.
    pub arch: String,
    /// The product's name. Programs get theirs from libdrm's amdgpu.ids by device and PCI revision, which says
    /// "AMD Radeon 8060S Graphics" for Strix Halo and does not know MI450X yet.
    pub marketing_name: String,
    /// Numbers by which software tells this GPU from others.
    pub ids: Ids,
    /// How many of each part there are.
    pub shape: Shape,
    /// What one work-group or wave may have.
    pub limits: Limits,
    /// Highest clocks.
    pub clocks: Clocks,
    /// Device memory.
    pub vram: Vram,
    /// Caches.
    pub caches: Caches,
    /// Copy engines.
    pub sdma: Sdma,
    /// Firmware versions.
    pub firmware: Firmware,
    /// Facts of the board that only management tools show.
    pub board: Board,
}

/// Numbers by which software tells a GPU from others. `device`, `pci_revision` and the rest of PCI's are hexadecimal
/// strings in the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ids {
    /// PCI device id.
    #[serde(with = "hex")]
    pub device: u32,
    /// PCI revision: libdrm picks the marketing name by it.
    #[serde(with = "hex")]
    pub pci_revision: u32,
    /// PCI subsystem vendor id.
    #[serde(with = "hex")]
    pub subsystem_vendor: u32,
    /// PCI subsystem device id.
    #[serde(with = "hex")]
    pub subsystem_device: u32,
    /// PCI class: 0x030000 VGA, 0x038000 display, 0x120000 processing accelerator.
    #[serde(with = "hex")]
    pub pci_class: u32,
    /// `AMDGPU_FAMILY_*` (amdgpu_discovery.c, where GC 12.1.0 is MI450X; libdrm refuses family 0). gfx950's is by
    /// analogy.
    pub family: u32,
    /// The stepping: ROCr's "ASIC Revision", capability bits 25:22.
    pub asic_revision: u32,
    /// `external_rev_id` of AMDGPU_INFO_DEV_INFO.
    pub external_revision: u32,
    /// The `name` file of the KFD node (amdgpu's asic name, lower case).
    pub kfd_name: String,
}

impl Ids {
    /// PCI vendor id: AMD.
    pub const VENDOR: u32 = 0x1002;
}

/// How many of each part a GPU has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Accelerator dies, each with its own compute units (KFD's `num_xcc`).
    pub xcds: u32,
    /// Active compute units of the whole GPU. An RDNA work-group processor counts as two.
    pub cus: u32,
    /// SIMDs in a compute unit.
    pub simds_per_cu: u32,
    /// KFD's `wave_front_size`: the hardware's native wave. Descriptors may ask for 64 on RDNA.
    pub wave_size: u32,
    /// Shader arrays of the whole GPU (KFD's `array_count`).
    pub arrays: u32,
    /// Shader arrays in a shader engine.
    pub arrays_per_engine: u32,
    /// Places for compute units in an array; not all are active.
    pub cus_per_array: u32,
    /// Waves that one SIMD holds at most.
    pub waves_per_simd: u32,
    /// Waves per compute unit for which scratch memory may be sized.
    pub scratch_slots_per_cu: u32,
}

/// What one work-group or wave may have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// LDS of a compute unit, bytes; one work-group may have all of it.
    pub lds_bytes: u32,
    /// LDS is given out in multiples of this many bytes.
    pub lds_granularity: u32,
    /// VGPRs per lane, AccVGPRs included where the file is unified.
    pub vgprs: u32,
    /// A descriptor's VGPR block, registers, at the native wave size.
    pub vgpr_granularity: u32,
    /// SGPRs a program can name (VCC is after them).
    pub sgprs: u32,
    /// Global data share, bytes. None of these GPUs offers it to ROCm.
    pub gds_bytes: u32,
    /// Global wave sync entries.
    pub gws: u32,
}

/// Highest clocks, MHz.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Shader engines, MHz.
    pub engine_mhz: u32,
    /// Memory, MHz.
    pub memory_mhz: u32,
}

/// The kind of device memory, numbered as AMDGPU_VRAM_TYPE_*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum VramKind {
    /// High-bandwidth memory: 6.
    Hbm,
    /// GDDR6: 9.
    Gddr6,
}

impl TryFrom<u32> for VramKind {
    type Error = String;
    fn try_from(n: u32) -> Result<VramKind, String> {
        match n {
            6 => Ok(VramKind::Hbm),
            9 => Ok(VramKind::Gddr6),
            _ => Err(format!("vram kind {n} is not known")),
        }
    }
}

impl From<VramKind> for u32 {
    fn from(k: VramKind) -> u32 {
        match k {
            VramKind::Hbm => 6,
            VramKind::Gddr6 => 9,
        }
    }
}

/// Device memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Vram {
    /// Size, bytes. All of it is visible to the CPU.
    pub bytes: u64,
    /// Bus width, bits.
    pub width_bits: u32,
    /// Technology.
    pub kind: VramKind,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Size, KiB: of one compute unit (level 1), one XCD (level 2), the GPU (level 3).
    pub kib: u32,
    /// Line, bytes.
    pub line_bytes: u32,
    /// Associativity.
    pub ways: u32,
}

/// The caches that data goes through, and the two that only DEV_INFO names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// Vector L1 of one compute unit.
    pub l1: Cache,
    /// L2 of one XCD.
    pub l2: Cache,
    /// Memory-side cache, where there is one.
    pub l3: Option<Cache>,
    /// Scalar data cache, KiB.
    pub scalar_l1_kib: u32,
    /// Instruction cache, KiB.
    pub instruction_l1_kib: u32,
}

impl Caches {
    /// Level and cache, nearest the compute unit first.
    pub fn levels(&self) -> impl Iterator<Item = (u32, &Cache)> {
        [(1, Some(&self.l1)), (2, Some(&self.l2)), (3, self.l3.as_ref())]
            .into_iter()
            .filter_map(|(level, c)| Some((level, c?)))
    }
}

/// Copy engines.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sdma {
    /// Engines for host and local copies.
    pub engines: u32,
    /// Engines for copies between GPUs.
    pub xgmi_engines: u32,
    /// Queues of one engine; never 0 (ROCr would use no SDMA at all).
    pub queues_per_engine: u32,
}

/// Firmware versions as the driver reports them. Invented where no public value is at hand; bits 9:0 of `mec` stay
/// below 177 on gfx942 and 24 on gfx950, from where ROCr uses the alternate scratch fields (engine-abi: scratch).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// Compute command processor ("Packet Processor uCode").
    pub mec: u32,
    /// Copy engine.
    pub sdma: u32,
    /// VBIOS part number.
    pub vbios_version: String,
    /// VBIOS date, `YYYY/MM/DD HH:MM`.
    pub vbios_date: String,
}

/// Facts of the board that only management tools show.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// PCIe rate of a lane, GT/s, as sysfs prints it (`32.0`).
    pub pcie_gt_s: String,
    /// PCIe lanes.
    pub pcie_width: u32,
    /// Board power, W.
    pub power_cap_w: u32,
    /// Size of the memory aperture on the PCI bus, bytes: a power of two.
    pub pci_bar_bytes: u64,
}

impl Gpu {
    /// KFD's `gfx_target_version`: decimal MMmmpp of the target (90402 is gfx942).
    pub fn gfx_target_version(&self) -> u32 {
        let (major, minor, stepping) = self.gfx_version();
        major * 10000 + minor * 100 + stepping
    }

    /// Major, minor and stepping of the target: gfx90a is (9, 0, 10).
    pub fn gfx_version(&self) -> (u32, u32, u32) {
        match self.target {
            Target::Gfx90a => (9, 0, 10),
            Target::Gfx942 => (9, 4, 2),
            Target::Gfx950 => (9, 5, 0),
            Target::Gfx1100 => (11, 0, 0),
            Target::Gfx1151 => (11, 5, 1),
            Target::Gfx1201 => (12, 0, 1),
            Target::Gfx1250 => (12, 5, 0),
        }
    }

    /// SIMDs of the whole GPU (KFD's `simd_count`).
    pub fn simd_count(&self) -> u32 {
        self.shape.cus * self.shape.simds_per_cu
    }

    /// Shader engines of the whole GPU.
    pub fn shader_engines(&self) -> u32 {
        self.shape.arrays / self.shape.arrays_per_engine
    }

    /// Waves that the whole GPU holds at most.
    pub fn max_waves(&self) -> u32 {
        self.simd_count() * self.shape.waves_per_simd
    }

    /// LDS that a work-group asking for `bytes` gets, bytes; none if it asks for more than there is.
    pub fn lds_alloc(&self, bytes: u32) -> Option<u32> {
        let step = self.limits.lds_granularity;
        if bytes > self.limits.lds_bytes { None } else { Some(bytes.div_ceil(step) * step) }
    }

    /// True where two-dimensional error correction of registers exists and is on: the target's `sramecc+`.
    pub fn sram_ecc(&self) -> bool {
        matches!(self.target, Target::Gfx90a | Target::Gfx942 | Target::Gfx950)
    }
}

mod hex {
    //! Hexadecimal numbers as strings: JSON has none of its own.
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u32, D::Error> {
        let text = String::deserialize(d)?;
        let digits = text.strip_prefix("0x").ok_or_else(|| D::Error::custom(format!("{text:?} must begin with 0x")))?;
        u32::from_str_radix(digits, 16).map_err(|e| D::Error::custom(format!("{text:?}: {e}")))
    }

    pub fn serialize<S: Serializer>(n: &u32, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format!("{n:#x}"))
    }
}

fn target_in<'de, D: Deserializer<'de>>(d: D) -> Result<Target, D::Error> {
    let name = String::deserialize(d)?;
    Target::from_name(&name).ok_or_else(|| serde::de::Error::custom(format!("{name:?} is no target")))
}

fn target_out<S: Serializer>(t: &Target, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(t.name())
}
