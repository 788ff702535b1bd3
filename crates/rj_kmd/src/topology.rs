//! The emulated machine's GPUs as the driver numbers them: ids, device numbers, places on the bus.
//!
//! Everything here follows from the hardware table and the GPU's index; nothing is allocated or remembered.

use crate::{Config, ConfigError};
use rj_hw::Gpu;

/// Memory in use on a GPU, bytes. What AMDGPU_INFO and AVAILABLE_MEMORY answer from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemUsage {
    /// Device memory.
    pub vram: u64,
    /// System memory mapped for the GPU.
    pub gtt: u64,
}

/// One GPU of the emulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuInstance {
    /// Its model.
    pub gpu: &'static Gpu,
    /// Which of the machine's GPUs: 0 is the first.
    pub index: u32,
}

/// Most GPUs that one machine may have: one bus number and one minor number each.
pub const MAX_GPUS: u32 = 64;

impl GpuInstance {
    /// The machine's GPUs, or a sentence about the name that the table does not know.
    pub fn all_of(cfg: &Config) -> Result<Vec<GpuInstance>, ConfigError> {
        let Some(gpu) = rj_hw::find(&cfg.gpu) else {
            let known: Vec<&str> = rj_hw::all().iter().map(|g| g.agent.as_str()).collect();
            let hint = rj_hw::suggest(&cfg.gpu).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            return Err(ConfigError(format!(
                "there is no GPU named {:?} (known: {}){hint}",
                cfg.gpu,
                known.join(", ")
            )));
        };
        Ok((0..cfg.num_gpus.min(MAX_GPUS)).map(|index| GpuInstance { gpu, index }).collect())
    }

    /// KFD's name for the GPU: 16 bits, never 0, different for each GPU of the machine.
    pub fn gpu_id(&self) -> u32 {
        let model = self.gpu.ids.device.wrapping_mul(0x9e37) & 0xff00;
        model | (self.index + 1)
    }

    /// The number of its node under topology/nodes; node 0 is the CPU.
    pub fn node(&self) -> u32 {
        self.index + 1
    }

    /// Minor device number of `/dev/dri/card…`.
    pub fn card_minor(&self) -> u32 {
        self.index
    }

    /// Minor device number of `/dev/dri/renderD…`.
    pub fn render_minor(&self) -> u32 {
        128 + self.index
    }

    /// Its bus: 3 for the first.
    pub fn bus(&self) -> u32 {
        3 + self.index
    }

    /// KFD's `location_id`: bus, device and function as PCI packs them. The domain is 0.
    pub fn location_id(&self) -> u32 {
        self.bus() << 8
    }

    /// The PCI address as sysfs writes it: `0000:03:00.0`.
    pub fn pci_slot(&self) -> String {
        format!("0000:{:02x}:00.0", self.bus())
    }

    /// The board's serial number, never 0. The same in every run, so that programs may cache by it.
    pub fn unique_id(&self) -> u64 {
        let seed = u64::from(self.gpu.ids.device) << 32 | u64::from(self.index + 1);
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn config(gpu: &str, num_gpus: u32) -> Config {
        Config { gpu: gpu.into(), num_gpus, cpu_thread_budget: None, watchdog: None, trace_level: None }
    }

    #[test]
    fn every_gpu_of_a_machine_has_ids_of_its_own() {
        for g in rj_hw::all() {
            let gpus = GpuInstance::all_of(&config(&g.key, MAX_GPUS)).unwrap();
            assert_eq!(gpus.len(), 64);
            let ids: BTreeSet<u32> = gpus.iter().map(GpuInstance::gpu_id).collect();
            assert_eq!(ids.len(), 64, "{}", g.key);
            assert!(ids.iter().all(|&id| id != 0 && id <= 0xffff), "{}", g.key);
            assert_eq!(gpus.iter().map(GpuInstance::unique_id).collect::<BTreeSet<_>>().len(), 64);
            assert!(gpus.iter().all(|i| i.location_id() >= 0x300 && i.bus() < 256));
        }
    }

    #[test]
    fn a_gpu_that_is_not_known_is_refused_with_the_nearest_name() {
        let e = GpuInstance::all_of(&config("mi310x", 1)).unwrap_err().to_string();
        assert!(e.contains("\"mi310x\"") && e.contains("did you mean MI300X?") && e.contains("MI210"), "{e}");
    }
}
