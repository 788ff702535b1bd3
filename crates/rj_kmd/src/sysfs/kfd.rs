//! /dev/kfd and its topology: the nodes that libhsakmt reads at start. Keys and their order are the kernel's
//! (amdkfd/kfd_topology.c, node_show and its neighbours); a test in tests/ keeps every value.
//!
//! One cache per level stands for all of that level: the kernel lists each compute unit's, which costs a program of
//! MI300X a thousand file reads at each start and tells it nothing more.

use super::{Host, KFD_MAJOR, Tree};
use crate::GpuInstance;
use rj_hw::Gpu;
use rj_isa::Target;
use std::fmt::Write;

const KFD: &str = "/sys/devices/virtual/kfd/kfd";

/// Bits of a node's `capability` (include/uapi/linux/kfd_sysfs.h).
mod cap {
    pub const WATCH_POINTS: u32 = 1 << 7;
    /// Base-2 logarithm of the number of watch points: four.
    pub const WATCH_POINTS_LOG2: u32 = 2 << 8;
    /// 64-bit doorbells.
    pub const DOORBELL_2_0: u32 = 2 << 12;
    pub const TRAP_DEBUG: u32 = 1 << 15;
    pub const LAUNCH_TRAP_OVERRIDE: u32 = 1 << 16;
    pub const LAUNCH_MODE: u32 = 1 << 17;
    pub const PRECISE_MEMORY: u32 = 1 << 18;
    pub const MEM_ECC: u32 = 1 << 20;
    pub const ASIC_REVISION_SHIFT: u32 = 22;
    pub const SRAM_ECC: u32 = 1 << 26;
    /// Shared virtual memory ranges.
    pub const SVM: u32 = 1 << 27;
    pub const DEBUG_FIRMWARE: u32 = 1 << 29;
    pub const PRECISE_ALU: u32 = 1 << 30;
}

/// Link types of io_links (HSA_IOLINKTYPE).
const PCIE: u32 = 2;
const XGMI: u32 = 11;

struct Link {
    kind: u32,
    from: u32,
    to: u32,
    weight: u32,
    min_bandwidth: u32,
    max_bandwidth: u32,
}

pub(super) fn write(t: &mut Tree, gpus: &[GpuInstance], host: &Host) {
    t.device("/dev/kfd", KFD_MAJOR, 0);
    t.link("/sys/class/kfd/kfd", "../../devices/virtual/kfd/kfd");
    t.line(format!("{KFD}/dev"), format_args!("{KFD_MAJOR}:0"));
    t.file(format!("{KFD}/uevent"), format!("MAJOR={KFD_MAJOR}\nMINOR=0\nDEVNAME=kfd\n"));
    t.link(format!("{KFD}/subsystem"), "../../../../class/kfd");
    t.dir(format!("{KFD}/proc"));
    t.line(format!("{KFD}/topology/generation_id"), 1 + gpus.len());
    t.file(format!("{KFD}/topology/system_properties"), {
        let mut s = String::new();
        // As the kernel: an OEM name, its table's and its revision, none of which a virtual table has.
        property(&mut s, "platform_oem", 0);
        property(&mut s, "platform_id", 0);
        property(&mut s, "platform_rev", 0);
        s
    });
    let mut cpu_links = Vec::new();
    for g in gpus {
        cpu_links.push(Link { from: 0, to: g.node(), ..pcie(g) });
    }
    cpu_node(t, host, &cpu_links);
    for g in gpus {
        gpu_node(t, g, gpus, host);
    }
}

fn property(s: &mut String, key: &str, value: impl std::fmt::Display) {
    let _ = writeln!(s, "{key} {value}");
}

fn cpu_node(t: &mut Tree, host: &Host, links: &[Link]) {
    let node = format!("{KFD}/topology/nodes/0");
    t.line(format!("{node}/gpu_id"), 0);
    t.line(format!("{node}/name"), "");
    let mut s = String::new();
    property(&mut s, "cpu_cores_count", host.cpus);
    property(&mut s, "simd_count", 0);
    property(&mut s, "mem_banks_count", 1);
    property(&mut s, "caches_count", 0);
    property(&mut s, "io_links_count", links.len());
    for key in CPU_ZEROES {
        property(&mut s, key, 0);
    }
    property(&mut s, "max_engine_clk_ccompute", host.cpu_mhz);
    t.file(format!("{node}/properties"), s);
    memory(t, &node, 0, host.memory, 0, 0);
    t.dir(format!("{node}/caches"));
    t.dir(format!("{node}/p2p_links"));
    write_links(t, &format!("{node}/io_links"), links);
}

/// What a CPU node has, all 0.
const CPU_ZEROES: [&str; 24] = [
    "p2p_links_count",
    "cpu_core_id_base",
    "simd_id_base",
    "max_waves_per_simd",
    "lds_size_in_kb",
    "gds_size_in_kb",
    "num_gws",
    "wave_front_size",
    "array_count",
    "simd_arrays_per_engine",
    "cu_per_simd_array",
    "simd_per_cu",
    "max_slots_scratch_cu",
    "gfx_target_version",
    "vendor_id",
    "device_id",
    "location_id",
    "domain",
    "drm_render_minor",
    "hive_id",
    "num_sdma_engines",
    "num_sdma_xgmi_engines",
    "num_sdma_queues_per_engine",
    "num_cp_queues",
];

fn gpu_node(t: &mut Tree, g: &GpuInstance, gpus: &[GpuInstance], host: &Host) {
    let node = format!("{KFD}/topology/nodes/{}", g.node());
    let gpu = g.gpu;
    let caches: Vec<_> = gpu.caches.levels().collect();
    let (io_links, p2p_links) = links(g, gpus);
    t.line(format!("{node}/gpu_id"), g.gpu_id());
    t.line(format!("{node}/name"), &gpu.ids.kfd_name);
    let mut s = String::new();
    let s_ = &mut s;
    property(s_, "cpu_cores_count", 0);
    property(s_, "simd_count", gpu.simd_count());
    property(s_, "mem_banks_count", 1);
    property(s_, "caches_count", caches.len());
    property(s_, "io_links_count", io_links.len());
    property(s_, "p2p_links_count", p2p_links.len());
    property(s_, "cpu_core_id_base", 0);
    property(s_, "simd_id_base", simd_id_base(g));
    property(s_, "max_waves_per_simd", gpu.shape.waves_per_simd);
    property(s_, "lds_size_in_kb", gpu.limits.lds_bytes / 1024);
    property(s_, "gds_size_in_kb", gpu.limits.gds_bytes / 1024);
    property(s_, "num_gws", gpu.limits.gws);
    property(s_, "wave_front_size", gpu.shape.wave_size);
    property(s_, "array_count", gpu.shape.arrays);
    property(s_, "simd_arrays_per_engine", gpu.shape.arrays_per_engine);
    property(s_, "cu_per_simd_array", gpu.shape.cus_per_array);
    property(s_, "simd_per_cu", gpu.shape.simds_per_cu);
    property(s_, "max_slots_scratch_cu", gpu.shape.scratch_slots_per_cu);
    property(s_, "gfx_target_version", gpu.gfx_target_version());
    property(s_, "vendor_id", rj_hw::Ids::VENDOR);
    property(s_, "device_id", gpu.ids.device);
    property(s_, "location_id", g.location_id());
    property(s_, "domain", 0);
    property(s_, "drm_render_minor", g.render_minor());
    property(s_, "hive_id", hive_id(g, gpus));
    property(s_, "num_sdma_engines", gpu.sdma.engines);
    property(s_, "num_sdma_xgmi_engines", gpu.sdma.xgmi_engines);
    property(s_, "num_sdma_queues_per_engine", gpu.sdma.queues_per_engine);
    property(s_, "num_cp_queues", if gpu.target.is_gfx9() { 24 } else { 8 });
    property(s_, "max_engine_clk_fcompute", gpu.clocks.engine_mhz);
    // The kernel prints 0: the memory banks tell the size.
    property(s_, "local_mem_size", 0);
    property(s_, "fw_version", gpu.firmware.mec);
    property(s_, "capability", capability(g));
    property(s_, "capability2", 0);
    property(s_, "debug_prop", debug_properties(gpu.target));
    property(s_, "sdma_fw_version", gpu.firmware.sdma);
    property(s_, "unique_id", g.unique_id());
    property(s_, "num_xcc", gpu.shape.xcds);
    property(s_, "max_engine_clk_ccompute", host.cpu_mhz);
    t.file(format!("{node}/properties"), s);
    // Heap type 1 is device memory that the CPU sees.
    memory(t, &node, 1, gpu.vram.bytes, gpu.vram.width_bits, gpu.clocks.memory_mhz);
    t.line(format!("{node}/mem_banks/0/used_memory"), 0);
    for (i, (level, c)) in caches.into_iter().enumerate() {
        let mut s = String::new();
        property(&mut s, "processor_id_low", simd_id_base(g));
        property(&mut s, "level", level);
        property(&mut s, "size", c.kib);
        property(&mut s, "cache_line_size", c.line_bytes);
        property(&mut s, "cache_lines_per_tag", 1);
        property(&mut s, "association", c.ways);
        property(&mut s, "latency", 0);
        // Data cache of a compute unit.
        property(&mut s, "type", 9);
        property(&mut s, "sibling_map", sibling_map(gpu, level));
        t.file(format!("{node}/caches/{i}/properties"), s);
    }
    t.dir(format!("{node}/p2p_links"));
    write_links(t, &format!("{node}/io_links"), &io_links);
    write_links(t, &format!("{node}/p2p_links"), &p2p_links);
}

/// One 1 for each compute unit that shares the cache; libhsakmt holds 256.
fn sibling_map(gpu: &Gpu, level: u32) -> String {
    let units = match level {
        1 => 1,
        2 => gpu.shape.cus / gpu.shape.xcds,
        _ => gpu.shape.cus,
    };
    vec!["1"; units.min(256) as usize].join(",")
}

fn capability(g: &GpuInstance) -> u32 {
    let mut c = cap::WATCH_POINTS
        | cap::WATCH_POINTS_LOG2
        | cap::DOORBELL_2_0
        | cap::TRAP_DEBUG
        | cap::LAUNCH_TRAP_OVERRIDE
        | cap::LAUNCH_MODE
        | cap::PRECISE_MEMORY
        | cap::DEBUG_FIRMWARE
        | g.gpu.ids.asic_revision << cap::ASIC_REVISION_SHIFT;
    if g.gpu.sram_ecc() {
        c |= cap::SRAM_ECC | cap::MEM_ECC;
    }
    // The kernel has none on a GPU that is part of the CPU package.
    if g.gpu.target != Target::Gfx1151 {
        c |= cap::SVM;
    }
    if matches!(g.gpu.target, Target::Gfx1201 | Target::Gfx1250) {
        c |= cap::PRECISE_ALU;
    }
    c
}

/// Where watch points' address masks lie and that dispatch registers are always set (HSA_DBG_*).
fn debug_properties(target: Target) -> u32 {
    let (low, high) = match target {
        Target::Gfx90a => (6, 29),
        Target::Gfx942 | Target::Gfx950 => (7, 30),
        _ => (7, 29),
    };
    low | high << 4 | 1 << 10
}

/// The kernel numbers the SIMDs of all GPUs from here on.
fn simd_id_base(g: &GpuInstance) -> u32 {
    0x8000_1000 + g.index * g.gpu.simd_count()
}

/// GPUs tied by XGMI share a number.
fn hive_id(g: &GpuInstance, gpus: &[GpuInstance]) -> u64 {
    if gpus.len() > 1 && g.gpu.sdma.xgmi_engines > 0 { gpus[0].unique_id() } else { 0 }
}

/// The link to the CPU, as seen from the GPU.
fn pcie(g: &GpuInstance) -> Link {
    // MB/s of a lane, rounded as amdgpu does: 2,000 for 16 GT/s.
    let lane = g.gpu.board.pcie_gt_s.split('.').next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(0) * 125;
    Link {
        kind: PCIE,
        from: g.node(),
        to: 0,
        weight: 20,
        min_bandwidth: 312,
        max_bandwidth: lane * g.gpu.board.pcie_width,
    }
}

/// `io_links` and `p2p_links`: GPUs reach each other by XGMI, or through the CPU's bridge.
fn links(g: &GpuInstance, gpus: &[GpuInstance]) -> (Vec<Link>, Vec<Link>) {
    let (mut io, mut p2p) = (vec![pcie(g)], Vec::new());
    for other in gpus.iter().filter(|o| o.index != g.index) {
        let (from, to) = (g.node(), other.node());
        if g.gpu.sdma.xgmi_engines > 0 {
            io.push(Link { kind: XGMI, from, to, weight: 15, min_bandwidth: 50_000, max_bandwidth: 50_000 });
        } else {
            p2p.push(Link { from, to, weight: 40, ..pcie(g) });
        }
    }
    (io, p2p)
}

fn write_links(t: &mut Tree, dir: &str, links: &[Link]) {
    for (i, l) in links.iter().enumerate() {
        let mut s = String::new();
        property(&mut s, "type", l.kind);
        property(&mut s, "version_major", 0);
        property(&mut s, "version_minor", 0);
        property(&mut s, "node_from", l.from);
        property(&mut s, "node_to", l.to);
        property(&mut s, "weight", l.weight);
        property(&mut s, "min_latency", 0);
        property(&mut s, "max_latency", 0);
        property(&mut s, "min_bandwidth", l.min_bandwidth);
        property(&mut s, "max_bandwidth", l.max_bandwidth);
        property(&mut s, "recommended_transfer_size", 0);
        property(&mut s, "recommended_sdma_engine_id_mask", 0);
        // Enabled; coherent, with 32- and 64-bit atomics.
        property(&mut s, "flags", 1);
        t.file(format!("{dir}/{i}/properties"), s);
    }
}

fn memory(t: &mut Tree, node: &str, heap: u32, bytes: u64, width: u32, clock: u32) {
    let mut s = String::new();
    property(&mut s, "heap_type", heap);
    property(&mut s, "size_in_bytes", bytes);
    property(&mut s, "flags", 0);
    property(&mut s, "width", width);
    property(&mut s, "mem_clk_max", clock);
    t.file(format!("{node}/mem_banks/0/properties"), s);
}
