//! The GPU targets that the table covers.

/// An instruction-set target, named as LLVM names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// MI210 (CDNA 2).
    Gfx90a,
    /// MI300X (CDNA 3).
    Gfx942,
    /// MI350X (CDNA 4).
    Gfx950,
    /// W7900 (RDNA 3).
    Gfx1100,
    /// Strix Halo (RDNA 3.5).
    Gfx1151,
    /// R9700 (RDNA 4).
    Gfx1201,
    /// MI450X (CDNA 5).
    Gfx1250,
}

impl Target {
    /// Every target, oldest first.
    pub const ALL: [Target; 7] = [
        Target::Gfx90a,
        Target::Gfx942,
        Target::Gfx950,
        Target::Gfx1100,
        Target::Gfx1151,
        Target::Gfx1201,
        Target::Gfx1250,
    ];

    /// The name that LLVM and ROCm use, such as `gfx942`.
    pub fn name(self) -> &'static str {
        match self {
            Target::Gfx90a => "gfx90a",
            Target::Gfx942 => "gfx942",
            Target::Gfx950 => "gfx950",
            Target::Gfx1100 => "gfx1100",
            Target::Gfx1151 => "gfx1151",
            Target::Gfx1201 => "gfx1201",
            Target::Gfx1250 => "gfx1250",
        }
    }

    /// The target of that exact name.
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|t| t.name() == name)
    }

    /// gfx90a, gfx942 and gfx950: wave64, unified VGPRs and AccVGPRs.
    pub fn is_gfx9(self) -> bool {
        matches!(self, Target::Gfx90a | Target::Gfx942 | Target::Gfx950)
    }
}
