//! One dispatch: everything its work-groups need to know, fixed before the first of them starts.

use rj_code::KernelDescriptor;
use rj_isa::Target;

/// Private memory of a dispatch (engine-abi §5). All zero if no wave uses any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scratch {
    /// GPU address of slot 0.
    pub location: u64,
    /// Bytes between slots (one wave each).
    pub wave_bytes: u64,
    /// `amd_queue_t.scratch_resource_descriptor`, handed to gfx90a code in user SGPRs.
    pub descriptor: [u32; 4],
}

/// A kernel launch as the waves see it.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Whose instructions the code holds.
    pub target: Target,
    /// Kernel name, or its address in hex, for reports.
    pub name: String,
    /// GPU address of the kernel descriptor.
    pub object: u64,
    /// The descriptor itself.
    pub descriptor: KernelDescriptor,
    /// Grid dimensions, 1 to 3.
    pub dims: u8,
    /// Work-items per dimension, 1 where there is none.
    pub grid: [u32; 3],
    /// Work-items of a full group per dimension.
    pub group: [u32; 3],
    /// GPU address of the arguments.
    pub kernarg: u64,
    /// GPU address of the AQL packet (dispatch pointer).
    pub packet: u64,
    /// GPU address of the amd_queue_t (queue pointer).
    pub queue: u64,
    /// Packet index.
    pub dispatch_id: u64,
    /// Private bytes a work-item, from the packet.
    pub private_size: u32,
    /// LDS bytes a group, from the packet.
    pub lds_size: u32,
    /// Where private memory lies.
    pub scratch: Scratch,
    /// XCCs of the GPU (hwreg XCC_ID = group index mod this).
    pub xccs: u32,
}

impl Dispatch {
    /// Lanes of a wave: 64, or 32 by target or by descriptor.
    pub fn wave_size(&self) -> u32 {
        if self.target.is_gfx9() {
            64
        } else if self.target == Target::Gfx1250 || self.descriptor.property(10) {
            32
        } else {
            64
        }
    }

    /// Groups per dimension; a partial group at the edge counts.
    pub fn groups(&self) -> [u32; 3] {
        std::array::from_fn(|i| self.grid[i].div_ceil(self.group[i].max(1)))
    }

    /// The group's own size: smaller than `group` at the grid's far edge.
    pub fn group_size(&self, id: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|i| self.group[i].min(self.grid[i] - id[i] * self.group[i]))
    }

    /// Waves of a full group.
    pub fn waves_per_group(&self) -> u32 {
        (self.group[0] * self.group[1] * self.group[2]).div_ceil(self.wave_size())
    }

    /// LDS bytes that a group gets: the packet's size in the target's steps (engine-abi §1).
    pub fn lds_bytes(&self) -> u32 {
        let step = match self.target {
            Target::Gfx950 => 1280,
            Target::Gfx1250 => 2048,
            _ => 512,
        };
        self.lds_size.next_multiple_of(step)
    }

    /// Architectural VGPRs and AccVGPRs that a wave has (LLVM AMDGPUUsage, compute_pgm_rsrc1, rsrc3).
    pub fn vgprs(&self) -> (u32, u32) {
        let blocks = self.descriptor.rsrc1 & 0x3f;
        if self.target.is_gfx9() {
            let total = (blocks + 1) * 8;
            let arch = ((self.descriptor.rsrc3 & 0x3f) + 1) * 4;
            (arch.min(total), total.saturating_sub(arch))
        } else if self.target == Target::Gfx1250 {
            ((blocks + 1) * 16, 0)
        } else if self.wave_size() == 32 {
            ((blocks + 1) * 8, 0)
        } else {
            ((blocks + 1) * 4, 0)
        }
    }
}
