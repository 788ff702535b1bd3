//! The GPU as a PCI device, with its DRM nodes: what libdrm, lspci, rocm-smi, amd-smi and RCCL read.

use super::{DRM_MAJOR, Host, Tree};
use crate::GpuInstance;

/// Where the device's directory is.
pub(super) fn directory(g: &GpuInstance) -> String {
    format!("/sys/devices/pci0000:00/{}", g.pci_slot())
}

pub(super) fn write(t: &mut Tree, g: &GpuInstance, host: &Host) {
    let (slot, dir) = (g.pci_slot(), directory(g));
    let from_sys = dir.trim_start_matches("/sys/");
    t.link(format!("/sys/bus/pci/devices/{slot}"), format!("../../../{from_sys}"));
    t.link(format!("/sys/bus/pci/drivers/amdgpu/{slot}"), format!("../../../../{from_sys}"));
    // RCCL finds a device as pci_bus/BUS/../../SLOT.
    let bus = &slot[..7];
    t.link(format!("/sys/class/pci_bus/{bus}"), format!("../../devices/pci0000:00/pci_bus/{bus}"));
    t.dir(format!("/sys/devices/pci0000:00/pci_bus/{bus}"));
    identity(t, g, &dir, host);
    memory_and_firmware(t, g, &dir, host);
    let (card, render) = (g.card_minor(), g.render_minor());
    for (name, minor) in [(format!("card{card}"), card), (format!("renderD{render}"), render)] {
        let node = format!("{dir}/drm/{name}");
        t.line(format!("{node}/dev"), format_args!("{DRM_MAJOR}:{minor}"));
        t.file(
            format!("{node}/uevent"),
            format!("MAJOR={DRM_MAJOR}\nMINOR={minor}\nDEVNAME=dri/{name}\nDEVTYPE=drm_minor\n"),
        );
        t.link(format!("{node}/device"), format!("../../../{slot}"));
        t.link(format!("{node}/subsystem"), "../../../../../class/drm");
        t.link(format!("/sys/class/drm/{name}"), format!("../../{from_sys}/drm/{name}"));
        t.link(format!("/sys/dev/char/{DRM_MAJOR}:{minor}"), format!("../../{from_sys}/drm/{name}"));
        t.device(format!("/dev/dri/{name}"), DRM_MAJOR, minor);
    }
    t.link(format!("/dev/dri/by-path/pci-{slot}-card"), format!("../card{card}"));
    t.link(format!("/dev/dri/by-path/pci-{slot}-render"), format!("../renderD{render}"));
}

/// The files of every PCI device.
fn identity(t: &mut Tree, g: &GpuInstance, dir: &str, host: &Host) {
    let ids = &g.gpu.ids;
    let vendor = rj_hw::Ids::VENDOR;
    t.line(format!("{dir}/vendor"), format_args!("{vendor:#06x}"));
    t.line(format!("{dir}/device"), format_args!("{:#06x}", ids.device));
    t.line(format!("{dir}/subsystem_vendor"), format_args!("{:#06x}", ids.subsystem_vendor));
    t.line(format!("{dir}/subsystem_device"), format_args!("{:#06x}", ids.subsystem_device));
    t.line(format!("{dir}/revision"), format_args!("{:#04x}", ids.pci_revision));
    t.line(format!("{dir}/class"), format_args!("{:#08x}", ids.pci_class));
    t.file(
        format!("{dir}/uevent"),
        format!(
            "DRIVER=amdgpu\nPCI_CLASS={:X}\nPCI_ID={vendor:04X}:{:04X}\nPCI_SUBSYS_ID={:04X}:{:04X}\nPCI_SLOT_NAME={}\n\
             MODALIAS=pci:v{vendor:08X}d{:08X}sv{:08X}sd{:08X}bc{:02X}sc{:02X}i{:02X}\n",
            ids.pci_class,
            ids.device,
            ids.subsystem_vendor,
            ids.subsystem_device,
            g.pci_slot(),
            ids.device,
            ids.subsystem_vendor,
            ids.subsystem_device,
            ids.pci_class >> 16,
            ids.pci_class >> 8 & 0xff,
            ids.pci_class & 0xff,
        ),
    );
    t.file(format!("{dir}/config"), config_space(g));
    t.line(format!("{dir}/enable"), 1);
    t.line(format!("{dir}/irq"), 0);
    t.line(format!("{dir}/numa_node"), 0);
    t.line(format!("{dir}/local_cpulist"), cpu_list(host.cpus));
    t.line(format!("{dir}/local_cpus"), cpu_mask(host.cpus));
    let (speed, width) = (&g.gpu.board.pcie_gt_s, g.gpu.board.pcie_width);
    for when in ["current", "max"] {
        t.line(format!("{dir}/{when}_link_speed"), format_args!("{speed} GT/s PCIe"));
        t.line(format!("{dir}/{when}_link_width"), width);
    }
    t.link(format!("{dir}/subsystem"), "../../../bus/pci");
    t.link(format!("{dir}/driver"), "../../../bus/pci/drivers/amdgpu");
}

/// All CPUs: the GPU is near each of them.
fn cpu_list(cpus: u32) -> String {
    if cpus > 1 { format!("0-{}", cpus - 1) } else { "0".into() }
}

/// The same as the kernel's bit mask: 32-bit groups, the highest first.
fn cpu_mask(cpus: u32) -> String {
    let group = |i: u32| match (cpus - i * 32).min(32) {
        32 => u32::MAX,
        n => (1 << n) - 1,
    };
    let groups: Vec<String> = (0..cpus.div_ceil(32)).rev().map(|i| format!("{:08x}", group(i))).collect();
    groups.join(",")
}

/// The standard header of PCI's configuration space; base addresses are 0, none is decoded.
fn config_space(g: &GpuInstance) -> Vec<u8> {
    let ids = &g.gpu.ids;
    let mut c = vec![0u8; 256];
    let mut put = |at: usize, bytes: &[u8]| c[at..at + bytes.len()].copy_from_slice(bytes);
    put(0x00, &rj_hw::Ids::VENDOR.to_le_bytes()[..2]);
    put(0x02, &ids.device.to_le_bytes()[..2]);
    // Memory decoding and bus mastering are on.
    put(0x04, &[0x06, 0x00]);
    put(0x08, &[ids.pci_revision.to_le_bytes()[0]]);
    put(0x09, &ids.pci_class.to_le_bytes()[..3]);
    put(0x2c, &ids.subsystem_vendor.to_le_bytes()[..2]);
    put(0x2e, &ids.subsystem_device.to_le_bytes()[..2]);
    c
}

/// amdgpu's own files: memory, firmware, partitions.
fn memory_and_firmware(t: &mut Tree, g: &GpuInstance, dir: &str, host: &Host) {
    let (vram, firmware) = (g.gpu.vram.bytes, &g.gpu.firmware);
    for (heap, total) in [("vram", vram), ("vis_vram", vram), ("gtt", host.gtt_bytes())] {
        t.line(format!("{dir}/mem_info_{heap}_total"), total);
        t.line(format!("{dir}/mem_info_{heap}_used"), 0);
    }
    for engine in ["mec", "mec2"] {
        t.line(format!("{dir}/fw_version/{engine}_fw_version"), format_args!("{:#010x}", firmware.mec));
    }
    for engine in ["sdma", "sdma2"] {
        t.line(format!("{dir}/fw_version/{engine}_fw_version"), format_args!("{:#010x}", firmware.sdma));
    }
    t.line(format!("{dir}/vbios_version"), &firmware.vbios_version);
    t.line(format!("{dir}/unique_id"), format_args!("{:016x}", g.unique_id()));
    if g.gpu.arch.starts_with("cdna") {
        // Server boards carry a description (FRU); what is not known of it has no file.
        t.line(format!("{dir}/product_name"), &g.gpu.marketing_name);
        t.line(format!("{dir}/manufacturer"), "AMD");
    }
    if g.gpu.shape.xcds > 1 {
        // One partition of everything is all that is emulated.
        for (kind, name) in [("compute", "SPX"), ("memory", "NPS1")] {
            t.line(format!("{dir}/current_{kind}_partition"), name);
            t.line(format!("{dir}/available_{kind}_partition"), name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_masks_are_written_as_the_kernel_writes_them() {
        assert_eq!((cpu_mask(1), cpu_list(1)), ("00000001".into(), "0".into()));
        assert_eq!((cpu_mask(32), cpu_list(32)), ("ffffffff".into(), "0-31".into()));
        assert_eq!(cpu_mask(68), "0000000f,ffffffff,ffffffff");
    }
}
