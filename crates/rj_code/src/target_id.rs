//! Target ids such as `gfx90a:sramecc+:xnack-` (LLVM AMDGPUUsage, "Target ID") and the ELF flags that carry them.

use rj_isa::Target;
use std::fmt;

/// What a target id says of one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Feature {
    /// Not said: the code runs with the feature on or off, or the processor has no such feature.
    #[default]
    Any,
    /// `feature-`.
    Off,
    /// `feature+`.
    On,
}

/// A processor and the settings of its features that code was compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetId {
    /// Processor name, such as `gfx942`; not always one that we emulate.
    pub processor: String,
    /// Replay of page faults.
    pub xnack: Feature,
    /// Error correction of registers.
    pub sramecc: Feature,
}

/// EF_AMDGPU_MACH_* (LLVM AMDGPUUsage, "AMDGPU ELF Header e_flags").
const MACHINES: [(u32, &str); 52] = [
    (0x020, "gfx600"),
    (0x021, "gfx601"),
    (0x022, "gfx700"),
    (0x023, "gfx701"),
    (0x024, "gfx702"),
    (0x025, "gfx703"),
    (0x026, "gfx704"),
    (0x028, "gfx801"),
    (0x029, "gfx802"),
    (0x02a, "gfx803"),
    (0x02b, "gfx810"),
    (0x02c, "gfx900"),
    (0x02d, "gfx902"),
    (0x02e, "gfx904"),
    (0x02f, "gfx906"),
    (0x030, "gfx908"),
    (0x031, "gfx909"),
    (0x032, "gfx90c"),
    (0x033, "gfx1010"),
    (0x034, "gfx1011"),
    (0x035, "gfx1012"),
    (0x036, "gfx1030"),
    (0x037, "gfx1031"),
    (0x038, "gfx1032"),
    (0x039, "gfx1033"),
    (0x03a, "gfx602"),
    (0x03b, "gfx705"),
    (0x03c, "gfx805"),
    (0x03d, "gfx1035"),
    (0x03e, "gfx1034"),
    (0x03f, "gfx90a"),
    (0x041, "gfx1100"),
    (0x042, "gfx1013"),
    (0x043, "gfx1150"),
    (0x044, "gfx1103"),
    (0x045, "gfx1036"),
    (0x046, "gfx1101"),
    (0x047, "gfx1102"),
    (0x048, "gfx1200"),
    (0x049, "gfx1250"),
    (0x04a, "gfx1151"),
    (0x04c, "gfx942"),
    (0x04e, "gfx1201"),
    (0x04f, "gfx950"),
    (0x051, "gfx9-generic"),
    (0x052, "gfx10-1-generic"),
    (0x053, "gfx10-3-generic"),
    (0x054, "gfx11-generic"),
    (0x055, "gfx1152"),
    (0x058, "gfx1153"),
    (0x059, "gfx12-generic"),
    (0x05f, "gfx9-4-generic"),
];

impl TargetId {
    /// Reads `gfx942:sramecc+:xnack-`, with or without a bundle entry's prefix (`hipv4-amdgcn-amd-amdhsa--`).
    /// None for entries that are not AMD GPU code.
    pub fn parse(text: &str) -> Option<TargetId> {
        let at = text.find("gfx")?;
        let head = &text[..at];
        let is_prefix = head.is_empty() || head.contains("amdgcn") && head.ends_with('-');
        if !is_prefix {
            return None;
        }
        let mut parts = text[at..].split(':');
        let processor = parts.next()?;
        if processor.len() < 6 || !processor.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return None;
        }
        let mut id = TargetId { processor: processor.into(), xnack: Feature::default(), sramecc: Feature::default() };
        for feature in parts {
            let setting = if feature.ends_with('+') { Feature::On } else { Feature::Off };
            match feature.trim_end_matches(['+', '-']) {
                "xnack" => id.xnack = setting,
                "sramecc" => id.sramecc = setting,
                _ => return None,
            }
        }
        Some(id)
    }

    /// From an ELF header's flags and ABI version (1 for code object v3, 2 for v4, …).
    pub(crate) fn from_elf(flags: u32, abi: u8) -> TargetId {
        let machine = flags & 0xff;
        let processor = MACHINES
            .iter()
            .find(|m| m.0 == machine)
            .map_or_else(|| format!("unknown-machine-{machine:#x}"), |m| m.1.to_string());
        let (xnack, sramecc) = if abi <= 1 {
            // v3 has one bit each: on or off, with no way to say "any".
            let on = |bit| if flags & bit != 0 { Feature::On } else { Feature::Off };
            (on(0x100), on(0x200))
        } else {
            let two = |shift: u32| match flags >> shift & 3 {
                2 => Feature::Off,
                3 => Feature::On,
                _ => Feature::Any,
            };
            (two(8), two(10))
        };
        TargetId { processor, xnack, sramecc }
    }

    /// Whether a runtime takes this code for an emulated GPU of that target: its own or a generic processor (LLVM
    /// AMDGPUUsage, "Generic processors"), error correction on where there is any, page faults not replayed.
    pub fn fits(&self, target: Target) -> bool {
        let generic: &[Target] = match self.processor.as_str() {
            "gfx9-4-generic" => &[Target::Gfx942, Target::Gfx950],
            "gfx11-generic" => &[Target::Gfx1100, Target::Gfx1151],
            "gfx12-generic" => &[Target::Gfx1201],
            _ => &[],
        };
        let processor = self.target() == Some(target) || generic.contains(&target);
        processor && self.xnack != Feature::On && self.sramecc != Feature::Off
    }

    /// The target whose instructions these are, if it is one of ours.
    pub fn target(&self) -> Option<Target> {
        Target::from_name(&self.processor)
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, setting) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match setting {
                Feature::Any => {}
                Feature::Off => write!(f, ":{name}-")?,
                Feature::On => write!(f, ":{name}+")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_ids_are_read_from_bundles_and_printed_as_llvm_prints_them() {
        let id = TargetId::parse("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-:sramecc+").unwrap();
        assert_eq!(id.to_string(), "gfx90a:sramecc+:xnack-");
        assert_eq!(id.target(), Some(Target::Gfx90a));
        assert_eq!(TargetId::parse("gfx942").unwrap().to_string(), "gfx942");
        for other in ["host-x86_64-unknown-linux-gnu-", "", "gfx", "gfx942:what+", "nonsense gfx942"] {
            assert_eq!(TargetId::parse(other), None, "{other}");
        }
    }

    #[test]
    fn code_fits_its_own_gpu_and_the_generic_ones() {
        let fits = |id: &str, target| TargetId::parse(id).unwrap().fits(target);
        assert!(fits("gfx942", Target::Gfx942) && fits("gfx942:sramecc+:xnack-", Target::Gfx942));
        assert!(!fits("gfx942:xnack+", Target::Gfx942) && !fits("gfx90a:sramecc-", Target::Gfx90a));
        assert!(!fits("gfx1100", Target::Gfx942) && !fits("gfx9-generic", Target::Gfx942));
        assert!(fits("gfx9-4-generic", Target::Gfx950) && fits("gfx11-generic", Target::Gfx1151));
    }

    #[test]
    fn elf_flags_name_processor_and_features() {
        assert_eq!(TargetId::from_elf(0x34c | 0x800, 2).to_string(), "gfx942:sramecc-:xnack+");
        assert_eq!(TargetId::from_elf(0x49, 4).to_string(), "gfx1250");
        assert_eq!(TargetId::from_elf(0x13f, 1).to_string(), "gfx90a:sramecc-:xnack+");
        assert_eq!(TargetId::from_elf(0xff, 2).target(), None);
    }
}
