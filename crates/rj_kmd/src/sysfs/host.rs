//! What the tree says of the machine it runs on. The CPU node is the host's own: programs compare it with /proc.

use std::sync::OnceLock;

/// Facts of the host that KFD's CPU node and the memory answers need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Logical CPUs on line.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory: u64,
    /// Highest CPU clock, MHz; 0 where the host does not say (KFD then answers 0 too).
    pub cpu_mhz: u32,
}

impl Host {
    /// This machine, asked once.
    pub fn here() -> Host {
        static HERE: OnceLock<Host> = OnceLock::new();
        HERE.get_or_init(Host::ask).clone()
    }

    fn ask() -> Host {
        // SAFETY: sysconf takes no pointer.
        let ask = |name| unsafe { libc::sysconf(name) };
        let number = |n: libc::c_long| u64::try_from(n).unwrap_or(0);
        let khz = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").unwrap_or_default();
        Host {
            cpus: u32::try_from(number(ask(libc::_SC_NPROCESSORS_ONLN))).unwrap_or(1).max(1),
            memory: number(ask(libc::_SC_PHYS_PAGES)) * number(ask(libc::_SC_PAGESIZE)),
            cpu_mhz: khz.trim().parse::<u32>().unwrap_or(0) / 1000,
        }
    }

    /// System memory that may be in GPUs' hands at all, the program's own included, bytes: all but a 64th, as KFD has it.
    pub fn pinnable_bytes(&self) -> u64 {
        self.memory - self.memory / 64
    }

    /// System memory that the GPUs may use through their page tables, bytes: half of all, as amdgpu has it.
    pub fn gtt_bytes(&self) -> u64 {
        self.memory / 2 / 4096 * 4096
    }
}
