//! What ROCm's own tools say of the emulated GPUs: three generations of ROCm, each in its root file system.
#![cfg(feature = "rootfs")]

mod rootfs_support;

use rootfs_support::run;

/// ROCm 7.2.4.
const ROCM_7: &str = "ROCJITSU_ROOTFS";

/// Name, agent, target, units, VRAM in MiB and bytes, device id.
struct Expected {
    gpu: &'static str,
    name: &'static str,
    target: &'static str,
    cus: u32,
    vram_mib: u64,
    vram: u64,
    device: &'static str,
}

const MI300X: Expected = Expected {
    gpu: "MI300X",
    name: "AMD Instinct MI300X",
    target: "gfx942",
    cus: 304,
    vram_mib: 196_608,
    vram: 206_158_430_208,
    device: "0x74a1",
};

const MI210: Expected = Expected {
    gpu: "MI210",
    name: "AMD Instinct MI210",
    target: "gfx90a",
    cus: 104,
    vram_mib: 65_520,
    vram: 68_702_699_520,
    device: "0x740f",
};

#[test]
fn rocm_agent_enumerator_names_the_targets() {
    for e in [MI300X, MI210] {
        let out = run(ROCM_7, e.gpu, 2, "rocm_agent_enumerator");
        assert_eq!(out.text, format!("{t}\n{t}\n", t = e.target));
    }
}

#[test]
fn rocm_smi_shows_name_and_memory() {
    for e in [MI300X, MI210] {
        let out = run(ROCM_7, e.gpu, 1, "rocm-smi --showproductname --showmeminfo vram --showbus");
        out.has(&["GPU[0]", "Card Series:", e.name]);
        out.has(&["GPU[0]", "Card Model:", e.device]);
        out.has(&["GPU[0]", "GFX Version:", e.target]);
        out.has(&["GPU[0]", "VRAM Total Memory (B):", &e.vram.to_string()]);
        out.has(&["GPU[0]", "PCI Bus:", "0000:03:00.0"]);
        let table = run(ROCM_7, e.gpu, 2, "rocm-smi");
        assert_eq!(table.count(&format!("{},", e.device)), 2, "{}", table.text);
    }
}

#[test]
fn amd_smi_lists_and_describes_the_gpus() {
    for e in [MI300X, MI210] {
        let list = run(ROCM_7, e.gpu, 2, "amd-smi list");
        list.has(&["BDF: 0000:03:00.0"]);
        list.has(&["BDF: 0000:04:00.0"]);
        let out = run(ROCM_7, e.gpu, 1, "amd-smi static");
        out.has(&["MARKET_NAME:", e.name]);
        out.has(&["NUM_COMPUTE_UNITS:", &e.cus.to_string()]);
        out.has(&["TARGET_GRAPHICS_VERSION:", e.target]);
        out.has(&["SIZE:", &format!("{} MB", e.vram_mib)]);
    }
}

/// What rocminfo of any ROCm must say of a GPU.
fn rocminfo_describes(variable: &str, e: &Expected) {
    let out = run(variable, e.gpu, 1, "rocminfo");
    out.has(&["Name:", e.target]);
    out.has(&["Marketing Name:", e.name]);
    out.has(&["Compute Unit:", &e.cus.to_string()]);
    out.has(&["Chip ID:", e.device]);
    out.has(&["Size:", &format!("{}(", e.vram / 1024), "KB"]);
    out.has(&["Name:", &format!("amdgcn-amd-amdhsa--{}:sramecc+:xnack-", e.target)]);
    out.has(&["*** Done ***"]);
    // The CPU's and the GPU's.
    assert_eq!(out.count("Marketing Name:"), 2, "{}", out.text);
}

#[test]
fn rocminfo_of_rocm_7_describes_the_gpus() {
    for e in [MI300X, MI210] {
        rocminfo_describes(ROCM_7, &e);
    }
}

#[test]
fn rocminfo_shows_every_gpu_that_rocm_7_knows() {
    for gpu in rj_hw::all().iter().filter(|g| g.target != rj_isa::Target::Gfx1250) {
        let out = run(ROCM_7, &gpu.key, 2, "rocminfo");
        assert_eq!(out.count(&format!("amdgcn-amd-amdhsa--{}", gpu.target.name())), 2, "{}", out.text);
        out.has(&["Compute Unit:", &gpu.shape.cus.to_string()]);
    }
}

/// Debian 13's ROCr 6.1.2.
#[test]
fn rocminfo_of_rocm_6_describes_mi300x() {
    rocminfo_describes("ROCJITSU_ROOTFS_TRIXIE", &MI300X);
}

/// Debian 12's ROCr 5.2.3, whose rocminfo looks for the module in /proc/modules.
#[test]
fn rocminfo_of_rocm_5_describes_mi210() {
    rocminfo_describes("ROCJITSU_ROOTFS_BOOKWORM", &MI210);
    run("ROCJITSU_ROOTFS_BOOKWORM", "MI210", 1, "rocminfo").has(&["ROCk module is loaded"]);
}

#[test]
fn clinfo_describes_the_gpus() {
    for e in [MI300X, MI210] {
        let out = run(ROCM_7, e.gpu, 1, "clinfo");
        out.has(&["Device Name", e.target]);
        out.has(&["Device Board Name (AMD)", e.name]);
        out.has(&["Max compute units", &e.cus.to_string()]);
        out.has(&["Global memory size", &e.vram.to_string()]);
        out.has(&["Local memory size", "65536"]);
        out.has(&["Wavefront width (AMD)", "64"]);
    }
}
