//! Finding code objects in whatever file a user has: a code object, a bundle (`.hipfb`), a compressed bundle, a
//! program or library with fat binaries in it.

use crate::{CodeObject, Error, TargetId, bundle};
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, elf};

/// A code object of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it was compiled for.
    pub target: TargetId,
    /// Which fat binary of the file it came from: 0 for the first. A program has one for each of its source files.
    pub bundle: usize,
    /// Bytes of the code object.
    pub code: Vec<u8>,
}

/// Nested bundles deeper than this are refused.
const DEPTH: u32 = 3;

/// All code objects of a file. A file without any is an error that says what it is.
pub fn open(data: &[u8]) -> Result<Vec<Entry>, Error> {
    let mut found = Found::default();
    if data.starts_with(bundle::MAGIC) || data.starts_with(bundle::COMPRESSED) {
        found.scan(data, DEPTH, true)?;
    } else if data.starts_with(&elf::ELFMAG) {
        let machine = data.get(18..20).map(|b| u16::from_le_bytes([b[0], b[1]]));
        if machine == Some(elf::EM_AMDGPU) {
            found.code_object(data, None)?;
        } else {
            found.host(data)?;
        }
    } else {
        return Err(Error::new("not an ELF file and not an offload bundle"));
    }
    if found.entries.is_empty() {
        return Err(match found.skipped {
            0 => Error::new("no AMD GPU code in it"),
            n => Error::new(format!("no AMD GPU code in it, only {n} bundle entries for other machines")),
        });
    }
    Ok(found.entries)
}

/// The code objects of a file that were compiled for `processor` (`gfx942`).
pub fn open_for(data: &[u8], processor: &str) -> Result<Vec<Entry>, Error> {
    let all = open(data)?;
    let mut names: Vec<String> = all.iter().map(|e| e.target.to_string()).collect();
    let wanted: Vec<Entry> = all.into_iter().filter(|e| e.target.processor == processor).collect();
    if wanted.is_empty() {
        names.sort();
        names.dedup();
        return Err(Error::new(format!("no code for {processor} in it, only for {}", names.join(", "))));
    }
    Ok(wanted)
}

#[derive(Default)]
struct Found {
    entries: Vec<Entry>,
    skipped: usize,
    bundles: usize,
}

impl Found {
    fn code_object(&mut self, data: &[u8], id: Option<TargetId>) -> Result<(), Error> {
        let target = match id {
            Some(id) => id,
            None => CodeObject::parse(data)?.target,
        };
        self.entries.push(Entry { target, bundle: self.bundles, code: data.to_vec() });
        Ok(())
    }

    /// A program or shared library: its fat binary section, or the whole file if sections are stripped.
    fn host(&mut self, data: &[u8]) -> Result<(), Error> {
        let mut seen = false;
        if let Ok(header) = elf::FileHeader64::<LittleEndian>::parse(data)
            && let Ok(sections) = header.sections(LittleEndian, data)
        {
            for section in sections.iter() {
                let name = sections.section_name(LittleEndian, section).unwrap_or_default();
                if name == b".hip_fatbin" || name.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
                    seen = true;
                    self.scan(section.data(LittleEndian, data)?, DEPTH, true)?;
                }
            }
        }
        if seen { Ok(()) } else { self.scan(data, DEPTH, false) }
    }

    /// Every bundle that starts somewhere in `data`. Damage is an error only where bundles are `certain`: elsewhere
    /// the magic can be a string constant, as in our own binary.
    fn scan(&mut self, data: &[u8], depth: u32, certain: bool) -> Result<(), Error> {
        let mut at = 0;
        while let Some(skip) = next(&data[at..]) {
            at += skip;
            let rest = &data[at..];
            let read = if rest.starts_with(bundle::MAGIC) {
                self.bundle(rest, depth)
            } else {
                bundle::decompress(rest).and_then(|(unpacked, len)| {
                    self.bundle(&unpacked, depth)?;
                    Ok(len)
                })
            };
            match read {
                Ok(len) => at += len.max(1),
                Err(e) if certain => return Err(e),
                Err(_) => at += 1,
            }
        }
        Ok(())
    }

    fn bundle(&mut self, data: &[u8], depth: u32) -> Result<usize, Error> {
        if !data.starts_with(bundle::MAGIC) {
            return Err(Error::new("the compressed bundle holds something that is no bundle"));
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Error::new("bundles within bundles go too deep"));
        };
        let (parts, len) = bundle::parse(data)?;
        for part in parts {
            match TargetId::parse(part.id) {
                Some(_) if part.bytes.starts_with(bundle::COMPRESSED) || part.bytes.starts_with(bundle::MAGIC) => {
                    self.scan(part.bytes, depth, true)?;
                }
                Some(id) if part.bytes.starts_with(&elf::ELFMAG) => self.code_object(part.bytes, Some(id))?,
                _ => self.skipped += usize::from(!part.bytes.is_empty()),
            }
        }
        self.bundles += 1;
        Ok(len)
    }
}

/// Offset of the next thing that looks like a bundle.
fn next(data: &[u8]) -> Option<usize> {
    let starts = |w: &[u8]| w == bundle::COMPRESSED || w == &bundle::MAGIC[..4];
    let mut candidates = data.windows(4).enumerate().filter(|(_, w)| starts(w));
    candidates.find(|(at, w)| *w == bundle::COMPRESSED || data[*at..].starts_with(bundle::MAGIC)).map(|(at, _)| at)
}
