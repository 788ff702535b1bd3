//! AMDGPU_INFO_DEV_INFO: `struct drm_amdgpu_info_device`, field by field (amdgpu_drm.h; values as amdgpu_kms.c).

use super::bytes::Bytes;
use crate::GpuInstance;
use rj_hw::Gpu;
use rj_isa::Target;

/// The struct's size in Linux 6.16, bytes. Older programs ask for less, newer ones may ask for more.
#[cfg(test)]
pub(super) const SIZE: usize = 440;

/// The address space that programs may use: from 2 MiB to the hole at 2^47, and again above it. The kernel's
/// (AMDGPU_VA_RESERVED_BOTTOM, AMDGPU_GMC_HOLE_*).
const VA_START: u64 = 0x20_0000;
const HOLE_START: u64 = 0x8000_0000_0000;
const HOLE_END: u64 = 0xffff_8000_0000_0000;
/// What the kernel keeps at the top.
const VA_RESERVED_TOP: u64 = 0x40_0000;

/// Rate of the clock that kernels, signals and GET_CLOCK_COUNTERS read, kHz.
const COUNTER_KHZ: u32 = 100_000;
/// `ids_flags`: the GPU is part of a CPU package.
const FUSION: u64 = 1;

pub(super) fn device(g: &GpuInstance) -> Vec<u8> {
    let gpu = g.gpu;
    let (shape, ids, clocks) = (&gpu.shape, &gpu.ids, &gpu.clocks);
    let khz = |mhz: u32| u64::from(mhz) * 1000;
    let masks = cu_bitmap(gpu);
    let engines = gpu.shader_engines() / shape.xcds;
    let mut b = Bytes::default();
    b.u32(ids.device).u32(ids.asic_revision).u32(ids.external_revision).u32(ids.pci_revision).u32(ids.family);
    // The kernel counts the engines of one die.
    b.u32(engines).u32(shape.arrays_per_engine);
    b.u32(COUNTER_KHZ).u64(khz(clocks.engine_mhz)).u64(khz(clocks.memory_mhz));
    // cu_ao_mask: 0, no unit is kept on.
    b.u32(shape.cus).u32(0);
    for mask in masks {
        b.u32(mask);
    }
    // No render backends: there is no graphics pipe. Then the contexts that the hardware has.
    b.u32(0).u32(0).u32(8).u32(pcie_generation(gpu));
    b.u64(if gpu.target == Target::Gfx1151 { FUSION } else { 0 });
    b.u64(VA_START).u64(HOLE_START).u32(4096).u32(2 << 20).u32(4096);
    // Constant engine RAM: only gfx9 has it, MI's do not.
    b.u32(0);
    b.u32(gpu.vram.kind.into()).u32(gpu.vram.width_bits);
    // Video codecs and tessellation: none.
    b.u32(0).u32(0);
    // Primitive shader buffers: none, four addresses and four sizes.
    b.u64(0).u64(0).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0);
    b.u32(shape.wave_size).u32(gpu.limits.vgprs.min(256)).u32(shape.cus_per_array);
    // L2 channels of a die; the geometry front end: none.
    b.u32(16).u32(0).u32(0).u32(0);
    b.u32(gpu.board.pcie_width);
    for _ in masks {
        b.u32(0);
    }
    b.u64(HOLE_END).u64(HOLE_END | ((1 << 48) - VA_RESERVED_TOP));
    // Tile steering; padding; no L2 channel is disabled.
    b.u32(0).u32(0).u64(0);
    b.u64(khz(500)).u64(khz(100));
    caches(&mut b, gpu);
    // High half of the render backends; shadow and save areas of graphics queues; user queues.
    b.u32(0).u32(0).u32(0).u32(0).u32(0).u32(0);
    b.finish()
}

/// Cache sizes: gfx11 and later say them in KiB here, older GPUs in the KFD topology alone.
fn caches(b: &mut Bytes, gpu: &Gpu) {
    let c = &gpu.caches;
    let mall = c.l3.as_ref().map_or(0, |l3| u64::from(l3.kib) * 1024);
    if gpu.target.is_gfx9() {
        b.u32(0).u32(0).u32(0).u32(0).u32(0).u32(0).u64(mall);
    } else {
        b.u32(c.l1.kib).u32(1).u32(c.scalar_l1_kib).u32(c.instruction_l1_kib).u32(0).u32(c.l2.kib).u64(mall);
    }
}

fn pcie_generation(gpu: &Gpu) -> u32 {
    match gpu.board.pcie_gt_s.as_str() {
        "8.0" => 3,
        "16.0" => 4,
        "32.0" => 5,
        _ => 6,
    }
}

/// Active compute units of each array of the first die, at [engine][array] of the kernel's 4 × 4: engines 4 and up
/// take the rows' second half. The units are spread evenly, the first arrays having one more where they must.
fn cu_bitmap(gpu: &Gpu) -> [u32; 16] {
    let s = &gpu.shape;
    let (arrays, cus) = (s.arrays / s.xcds, s.cus / s.xcds);
    let mut masks = [0; 16];
    for array in 0..arrays {
        let active = cus / arrays + u32::from(array < cus % arrays);
        let (engine, in_engine) = (array / s.arrays_per_engine, array % s.arrays_per_engine);
        let at = engine % 4 * 4 + in_engine + engine / 4 * s.arrays_per_engine;
        masks[at as usize] = (1 << active) - 1;
    }
    masks
}

#[cfg(test)]
mod tests {
    use super::super::bytes::u32_at;
    use super::*;

    #[test]
    fn the_struct_has_the_kernel_s_size_and_offsets() {
        for gpu in rj_hw::all() {
            let d = device(&GpuInstance { gpu, index: 0 });
            assert_eq!(d.len(), SIZE, "{}", gpu.key);
            // Offsets printed by a C program from amdgpu_drm.h.
            assert_eq!(u32_at(&d, 28), 100_000);
            assert_eq!(u32_at(&d, 48), gpu.shape.cus);
            assert_eq!(u32_at(&d, 132), pcie_generation(gpu));
            assert_eq!(u32_at(&d, 160), 4096);
            assert_eq!(u32_at(&d, 176), u32::from(gpu.vram.kind));
            assert_eq!(u32_at(&d, 240), gpu.shape.wave_size);
            assert_eq!(u32_at(&d, 268), gpu.board.pcie_width);
            assert_eq!(u32_at(&d, 368), 500_000);
        }
    }

    #[test]
    fn the_bitmap_has_as_many_units_as_a_die() {
        for gpu in rj_hw::all() {
            let masks = cu_bitmap(gpu);
            let set: u32 = masks.iter().map(|m| m.count_ones()).sum();
            assert_eq!(set * gpu.shape.xcds, gpu.shape.cus, "{}", gpu.key);
            assert!(masks.iter().all(|m| m.count_ones() <= gpu.shape.cus_per_array), "{}", gpu.key);
        }
    }
}
