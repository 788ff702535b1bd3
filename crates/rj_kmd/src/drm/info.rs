//! DRM_IOCTL_AMDGPU_INFO: one match over the queries. A query that is not here is refused, never answered with zeros.

use super::bytes::Bytes;
use super::query::{self, Request};
use super::{INFO_SIZE, device};
use crate::sysfs::Host;
use crate::{Errno, GpuInstance, MemUsage};
use rj_isa::Target;

/// Firmware numbers of FW_VERSION.
const FW_MEC: u32 = 0x08;
const FW_SDMA: u32 = 0x0b;
const FW_LAST: u32 = 0x1c;
/// Engine kinds of HW_IP_*: graphics, compute and DMA exist; the rest, to the last, are codecs.
const IP_DMA: u32 = 2;
const IP_GFX: u32 = 0;
const IP_COMPUTE: u32 = 1;
const IP_COUNT: u32 = 10;
/// GB_ADDR_CONFIG, in dwords: libdrm reads it of every GPU.
const GB_ADDR_CONFIG: u32 = 0x263e;

/// What AMDGPU_INFO answers to `request`, the whole answer: see [`super::truncated`].
///
/// EINVAL for queries, types and registers that we do not answer, and for a request without room for an answer.
pub fn info(gpu: &GpuInstance, usage: &MemUsage, request: &[u8]) -> Result<Vec<u8>, Errno> {
    info_on(gpu, usage, &Host::here(), request)
}

/// As [`info`], on a machine of which `host` tells.
pub fn info_on(gpu: &GpuInstance, usage: &MemUsage, host: &Host, request: &[u8]) -> Result<Vec<u8>, Errno> {
    let r = Request::read(request).filter(|_| request.len() >= INFO_SIZE).ok_or(Errno::EINVAL)?;
    if r.return_size == 0 || !r.return_pointer {
        return Err(Errno::EINVAL);
    }
    let mut b = Bytes::default();
    match r.query {
        query::ACCEL_WORKING => b.u32(1),
        query::HW_IP_INFO => return hw_ip(gpu, &r),
        query::HW_IP_COUNT if r.a < IP_COUNT => b.u32(u32::from(r.a <= IP_DMA)),
        query::FW_VERSION => return firmware(gpu, &r),
        // Nothing is ever moved or evicted: memory objects stay where they are.
        query::NUM_BYTES_MOVED | query::NUM_EVICTIONS | query::NUM_VRAM_CPU_PAGE_FAULTS => b.u64(0),
        query::VRAM_USAGE | query::VIS_VRAM_USAGE => b.u64(usage.vram),
        query::GTT_USAGE => b.u64(usage.gtt),
        query::GDS_CONFIG => gds(&mut b, gpu),
        query::VRAM_GTT => b.u64(gpu.gpu.vram.bytes).u64(gpu.gpu.vram.bytes).u64(host.gtt_bytes()),
        query::READ_MMR_REG if r.a == GB_ADDR_CONFIG && r.b == 1 => b.u32(gb_addr_config(gpu.gpu.target)),
        query::DEV_INFO => return Ok(device::device(gpu)),
        query::MEMORY => {
            let vram = gpu.gpu.vram.bytes;
            heap(&mut b, vram, usage.vram);
            heap(&mut b, vram, usage.vram);
            heap(&mut b, host.gtt_bytes(), usage.gtt)
        }
        query::VBIOS => return vbios(gpu, &r),
        query::SENSOR => b.u32(sensor(gpu, &r)?),
        query::VRAM_LOST_COUNTER => b.u32(0),
        // Memory and graphics; the high half says what is supported, the low half what is on.
        query::RAS_ENABLED_FEATURES if gpu.gpu.sram_ecc() => b.u64(0x0000_0005_0000_0005),
        // Decoders and encoders: no codec is valid.
        query::VIDEO_CAPS if r.a <= 1 => return Ok(vec![0; 192]),
        _ => return Err(Errno::EINVAL),
    };
    Ok(b.finish())
}

/// `struct drm_amdgpu_heap_info`: total, usable, used, largest allocation.
fn heap(b: &mut Bytes, total: u64, used: u64) -> &mut Bytes {
    b.u64(total).u64(total).u64(used).u64(total / 4 * 3)
}

/// `struct drm_amdgpu_info_gds`: no data share; wave sync entries for compute.
fn gds<'a>(b: &'a mut Bytes, gpu: &GpuInstance) -> &'a mut Bytes {
    let (gds, gws) = (gpu.gpu.limits.gds_bytes, gpu.gpu.limits.gws);
    b.u32(gds).u32(gds).u32(gds).u32(gws).u32(gws).u32(0).u32(0).u32(0)
}

/// `struct drm_amdgpu_info_hw_ip`. No rings: commands go through KFD's queues, not through DRM.
fn hw_ip(gpu: &GpuInstance, r: &Request) -> Result<Vec<u8>, Errno> {
    if r.a >= IP_COUNT || r.b != 0 {
        return Err(Errno::EINVAL);
    }
    let (major, minor, _) = gpu.gpu.gfx_version();
    let mut b = Bytes::default();
    match r.a {
        IP_GFX | IP_COMPUTE => b.u32(major).u32(minor).u64(0).u32(32).u32(32),
        IP_DMA => b.u32(sdma_major(gpu.gpu.target)).u32(0).u64(0).u32(256).u32(4),
        _ => b.u32(0).u32(0).u64(0).u32(0).u32(0),
    };
    b.u32(0).u32(0).u32(0).u32(0);
    Ok(b.finish())
}

fn sdma_major(target: Target) -> u32 {
    match target {
        Target::Gfx90a | Target::Gfx942 | Target::Gfx950 => 4,
        Target::Gfx1100 | Target::Gfx1151 => 6,
        Target::Gfx1201 | Target::Gfx1250 => 7,
    }
}

/// `struct drm_amdgpu_info_firmware`: version and feature; 0 for firmware that is not loaded.
fn firmware(gpu: &GpuInstance, r: &Request) -> Result<Vec<u8>, Errno> {
    let version = match r.a {
        FW_MEC => gpu.gpu.firmware.mec,
        FW_SDMA => gpu.gpu.firmware.sdma,
        1..=FW_LAST => 0,
        _ => return Err(Errno::EINVAL),
    };
    let mut b = Bytes::default();
    b.u32(version).u32(0);
    Ok(b.finish())
}

/// Size (1), image (2) and description (3) of the VBIOS, of which only the description exists.
fn vbios(gpu: &GpuInstance, r: &Request) -> Result<Vec<u8>, Errno> {
    let firmware = &gpu.gpu.firmware;
    let mut b = Bytes::default();
    match r.a {
        1 => b.u32(0),
        3 => b
            .text(&gpu.gpu.marketing_name, 64)
            .text(&firmware.vbios_version, 64)
            .u32(0)
            .u32(0)
            .text(&firmware.vbios_version, 32)
            .text(&firmware.vbios_date, 32),
        _ => return Err(Errno::EINVAL),
    };
    Ok(b.finish())
}

/// Clocks in MHz, and the load of an idle GPU. Temperature, voltage and power have no sensor here.
fn sensor(gpu: &GpuInstance, r: &Request) -> Result<u32, Errno> {
    let clocks = &gpu.gpu.clocks;
    match r.a {
        // Now, stable and peak.
        0x1 | 0x8 | 0xa => Ok(clocks.engine_mhz),
        0x2 | 0x9 | 0xb => Ok(clocks.memory_mhz),
        0x4 => Ok(0),
        _ => Err(Errno::EINVAL),
    }
}

/// How images are tiled over channels. The driver's golden values of CDNA (gfx_v9_0.c, gfx_v9_4_3.c); 0 elsewhere,
/// where images are not emulated.
pub fn gb_addr_config(target: Target) -> u32 {
    match target {
        Target::Gfx90a => 0x2201_4042,
        Target::Gfx942 | Target::Gfx950 => 0x2a11_4042,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::bytes::u32_at;
    use super::super::{query_name, truncated};
    use super::*;

    fn request(query: u32, size: u32, a: u32, b: u32) -> Vec<u8> {
        let mut r = vec![0u8; INFO_SIZE];
        r[0] = 8;
        for (at, n) in [(8, size), (12, query), (16, a), (20, b)] {
            r[at..at + 4].copy_from_slice(&n.to_le_bytes());
        }
        r
    }

    fn gpu(name: &str) -> GpuInstance {
        GpuInstance { gpu: rj_hw::find(name).unwrap(), index: 0 }
    }

    #[test]
    fn memory_in_use_is_what_the_caller_says() {
        let usage = MemUsage { vram: 4096, gtt: 8192 };
        let host = Host { cpus: 4, memory: 16 << 30, cpu_mhz: 0 };
        let m = info_on(&gpu("MI210"), &usage, &host, &request(query::MEMORY, 96, 0, 0)).unwrap();
        assert_eq!(m.len(), 96);
        assert_eq!((u32_at(&m, 16), u32_at(&m, 80)), (4096, 8192));
        let u = info_on(&gpu("MI210"), &usage, &host, &request(query::VRAM_USAGE, 8, 0, 0)).unwrap();
        assert_eq!(u, 4096u64.to_le_bytes());
    }

    #[test]
    fn an_answer_is_cut_to_the_program_s_room() {
        let r = request(query::DEV_INFO, 100, 0, 0);
        let all = info(&gpu("MI300X"), &MemUsage::default(), &r).unwrap();
        assert_eq!(truncated(&all, &r).len(), 100);
        assert_eq!(truncated(&all, &request(query::DEV_INFO, 10_000, 0, 0)).len(), device::SIZE);
    }

    #[test]
    fn what_is_not_known_is_refused_and_has_a_name() {
        let usage = MemUsage::default();
        for (r, name) in [
            (request(0x77, 4, 0, 0), "AMDGPU_INFO query 0x77"),
            (request(query::READ_MMR_REG, 4, 0x2004, 1), "AMDGPU_INFO READ_MMR_REG 0x2004"),
            (request(query::SENSOR, 4, 3, 0), "AMDGPU_INFO SENSOR 0x3"),
            (request(query::MAX_IBS, 40, 0, 0), "AMDGPU_INFO MAX_IBS"),
            (request(query::DEV_INFO, 0, 0, 0), "AMDGPU_INFO DEV_INFO"),
            (vec![0; 8], "AMDGPU_INFO with a short request"),
        ] {
            assert_eq!(info(&gpu("MI300X"), &usage, &r), Err(Errno::EINVAL), "{name}");
            assert_eq!(query_name(&r), name);
        }
    }
}
