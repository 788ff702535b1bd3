//! The amdgpu module as /sys/module and /proc/modules show it.

use super::Tree;
use crate::GpuInstance;

/// The driver release that we answer like.
const VERSION: &str = "6.16.13";

pub(super) fn write(t: &mut Tree, gpus: &[GpuInstance]) {
    let module = "/sys/module/amdgpu";
    t.line(format!("{module}/initstate"), "live");
    t.line(format!("{module}/version"), VERSION);
    t.line(format!("{module}/refcnt"), gpus.len());
    // kmod opens it for each module of /proc/modules.
    t.dir(format!("{module}/holders"));
    // RCCL wants pcie_p2p; the others are the driver's defaults.
    for (name, value) in [("pcie_p2p", "Y"), ("noretry", "-1"), ("sched_policy", "0"), ("gttsize", "-1")] {
        t.line(format!("{module}/parameters/{name}"), value);
    }
    t.link(format!("{module}/drivers/pci:amdgpu"), "../../../bus/pci/drivers/amdgpu");
    t.link("/sys/bus/pci/drivers/amdgpu/module", "../../../../module/amdgpu");
    t.line("/sys/class/drm/version", "drm 1.1.0 20060810");
    t.file("/proc/modules", "amdgpu 20000000 1 - Live 0x0000000000000000\n");
}
