//! Which GPUs a program's or library's fat binaries were built for, without reading the code itself.

use crate::{TargetId, bundle};
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, elf};

/// Packed bundles larger than this are not unpacked only to see what they hold, bytes.
const LARGEST: usize = 4 << 20;

/// The targets of each fat binary of an ELF file, one list for each of its bundles. Bundles with portable code (SPIR-V)
/// or that cannot be read are left out: nothing can be said about them.
pub fn built_for(file: &[u8]) -> Vec<Vec<TargetId>> {
    let mut found = Vec::new();
    let Ok(header) = elf::FileHeader64::<LittleEndian>::parse(file) else { return found };
    let Ok(sections) = header.sections(LittleEndian, file) else { return found };
    for section in sections.iter() {
        let name = sections.section_name(LittleEndian, section).unwrap_or_default();
        if name == b".hip_fatbin" {
            bundles(section.data(LittleEndian, file).unwrap_or_default(), &mut found);
        }
    }
    found
}

fn bundles(data: &[u8], found: &mut Vec<Vec<TargetId>>) {
    let mut at = 0;
    while let Some(rest) = data.get(at..).filter(|r| !r.is_empty()) {
        if rest.starts_with(bundle::MAGIC) {
            let Ok((parts, len)) = bundle::parse(rest) else { return };
            found.extend(targets(&parts));
            at += len.max(1);
        } else if rest.starts_with(bundle::COMPRESSED) {
            if rest.len() > LARGEST {
                return;
            }
            let Ok((unpacked, len)) = bundle::decompress(rest) else { return };
            found.extend(bundle::parse(&unpacked).ok().and_then(|(parts, _)| targets(&parts)));
            at += len.max(1);
        } else {
            // Bundles are padded; the next one begins where the zeros end.
            let Some(skip) = rest.iter().position(|&b| b != 0) else { return };
            at += skip.max(1);
        }
    }
}

/// None for a bundle of which nothing can be said.
fn targets(parts: &[bundle::Part<'_>]) -> Option<Vec<TargetId>> {
    let filled = || parts.iter().filter(|p| !p.bytes.is_empty());
    if filled().any(|p| p.id.contains("spirv")) {
        return None;
    }
    let ids: Vec<TargetId> = filled().filter_map(|p| TargetId::parse(p.id)).collect();
    (!ids.is_empty()).then_some(ids)
}
