//! Names and source lines of machine code, for reports: demangled functions, DWARF where a code object has it.

use addr2line::gimli::{self, EndianSlice, LittleEndian, SectionId};
use cpp_demangle::{DemangleOptions, Symbol};
use object::elf;
use object::read::elf::{FileHeader, SectionHeader};

/// A function, and where in its source an instruction comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Demangled name, if known.
    pub function: Option<String>,
    /// Source file as the compiler was given it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// The name as its author wrote it: C++ names demangled, others as they are.
pub fn demangle(name: &str) -> String {
    // A suffix that the compiler added is no part of the mangled name.
    let symbol = Symbol::new(name).ok();
    let plain = symbol.and_then(|s| s.demangle_with_options(&DemangleOptions::new()).ok());
    plain.unwrap_or_else(|| name.to_string())
}

/// The source of the instruction at a load-relative address, innermost inlined function first; empty if the ELF file has
/// no debug information there.
pub fn frames(elf: &[u8], address: u64) -> Vec<Frame> {
    find(elf, address).unwrap_or_default()
}

type Reader<'a> = EndianSlice<'a, LittleEndian>;

fn find(data: &[u8], address: u64) -> Option<Vec<Frame>> {
    let header = elf::FileHeader64::<object::LittleEndian>::parse(data).ok()?;
    let sections = header.sections(object::LittleEndian, data).ok()?;
    let load = |id: SectionId| -> Result<Reader<'_>, gimli::Error> {
        let section = sections.section_by_name(object::LittleEndian, id.name().as_bytes());
        let plain = section.filter(|(_, s)| s.sh_flags(object::LittleEndian) & u64::from(elf::SHF_COMPRESSED) == 0);
        let bytes = plain.and_then(|(_, s)| s.data(object::LittleEndian, data).ok()).unwrap_or_default();
        Ok(EndianSlice::new(bytes, LittleEndian))
    };
    let context = addr2line::Context::from_dwarf(gimli::Dwarf::load(load).ok()?).ok()?;
    let mut found = context.find_frames(address).skip_all_loads().ok()?;
    let mut frames = Vec::new();
    while let Ok(Some(frame)) = found.next() {
        let function = frame.function.as_ref().and_then(|f| f.raw_name().ok().map(|n| demangle(&n)));
        let Some(place) = frame.location else { continue };
        if let (Some(file), Some(line)) = (place.file, place.line) {
            frames.push(Frame { function, file: file.to_string(), line });
        }
    }
    Some(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_their_author_wrote_them() {
        assert_eq!(demangle("_Z8one_pastPi"), "one_past(int*)");
        assert_eq!(demangle("_Z3addIfEvPT_S0_"), "void add<float>(float*, float)");
        assert_eq!(demangle("vadd"), "vadd");
        assert_eq!(demangle("_Znot"), "_Znot");
    }

    #[test]
    fn a_file_that_is_none_has_no_lines() {
        assert_eq!(frames(b"\x7fELF and no more", 0), []);
    }
}
