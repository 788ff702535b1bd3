//! Clocks, load and power limits. Nothing here measures: clocks stand at their highest, the load is an idle GPU's,
//! and a sensor that would need a real board (temperature, fan, voltage, power drawn) has no file.

use super::{Tree, pci};
use crate::GpuInstance;

pub(super) fn write(t: &mut Tree, g: &GpuInstance) {
    let dir = pci::directory(g);
    let clocks = &g.gpu.clocks;
    t.file(format!("{dir}/pp_dpm_sclk"), levels(500, clocks.engine_mhz));
    t.file(format!("{dir}/pp_dpm_mclk"), levels(100, clocks.memory_mhz));
    t.line(format!("{dir}/power_dpm_state"), "performance");
    t.line(format!("{dir}/power_dpm_force_performance_level"), "auto");
    t.line(format!("{dir}/gpu_busy_percent"), 0);
    t.line(format!("{dir}/mem_busy_percent"), 0);
    let number = g.index;
    let hwmon = format!("{dir}/hwmon/hwmon{number}");
    t.line(format!("{hwmon}/name"), "amdgpu");
    t.line(format!("{hwmon}/power1_label"), "PPT");
    t.link(format!("{hwmon}/device"), format!("../../../{}", g.pci_slot()));
    let microwatts = u64::from(g.gpu.board.power_cap_w) * 1_000_000;
    for (file, value) in [("cap", microwatts), ("cap_default", microwatts), ("cap_max", microwatts), ("cap_min", 0)] {
        t.line(format!("{hwmon}/power1_{file}"), value);
    }
}

/// Two levels, of which the upper is in use.
fn levels(low: u32, high: u32) -> String {
    format!("0: {low}Mhz\n1: {high}Mhz *\n")
}
