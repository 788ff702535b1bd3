//! One code object: the ELF file with AMD GPU code, its segments, symbols, relocations and kernels.

use crate::image::Relocation;
use crate::metadata::{KernelMetadata, Metadata};
use crate::{Error, KernelDescriptor, TargetId};
use object::LittleEndian;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};

type Header = elf::FileHeader64<LittleEndian>;
const LE: LittleEndian = LittleEndian;

/// Notes: NT_AMDGPU_METADATA of owner "AMDGPU".
const NT_AMDGPU_METADATA: u32 = 32;
const ELFOSABI_AMDGPU_HSA: u8 = 64;

/// A part of the file that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address relative to where the object is loaded.
    pub address: u64,
    /// Bytes in memory.
    pub size: u64,
    /// Offset of its bytes in the file.
    pub file_offset: u64,
    /// Bytes in the file; the rest is zero.
    pub file_size: u64,
    /// Holds code.
    pub executable: bool,
    /// May be written.
    pub writable: bool,
}

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Code.
    Function,
    /// Data: variables and kernel descriptors.
    Object,
    /// Anything else.
    Other,
}

/// A defined symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name.
    pub name: String,
    /// Address relative to where the object is loaded.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// What it stands for.
    pub kind: SymbolKind,
}

/// A kernel of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Name in the source.
    pub name: String,
    /// Address of its descriptor, relative to where the object is loaded.
    pub descriptor_address: u64,
    /// The descriptor.
    pub descriptor: KernelDescriptor,
    /// Address of its first instruction, relative to where the object is loaded.
    pub entry: u64,
    /// Bytes of its code, if a symbol tells.
    pub code_size: Option<u64>,
    /// What the compiler says of it; none if the note does not name it.
    pub metadata: Option<KernelMetadata>,
}

/// A parsed code object.
#[derive(Clone, Debug)]
pub struct CodeObject<'a> {
    pub(crate) data: &'a [u8],
    /// What it was compiled for.
    pub target: TargetId,
    /// Code object version, 3 to 6.
    pub version: u8,
    /// What is loaded, in the file's order.
    pub segments: Vec<Segment>,
    /// Defined symbols.
    pub symbols: Vec<Symbol>,
    /// Kernels, in the note's order.
    pub kernels: Vec<Kernel>,
    pub(crate) relocations: Vec<Relocation>,
}

impl<'a> CodeObject<'a> {
    /// Parses an ELF file with AMD GPU code.
    pub fn parse(data: &'a [u8]) -> Result<CodeObject<'a>, Error> {
        let header = Header::parse(data)?;
        let ident = header.e_ident();
        if ident.data != elf::ELFDATA2LSB || header.e_machine(LE) != elf::EM_AMDGPU {
            return Err(Error::new("the ELF file holds no AMD GPU code"));
        }
        if ident.os_abi != ELFOSABI_AMDGPU_HSA {
            return Err(Error::new(format!("the code object is not for HSA (OS ABI {})", ident.os_abi)));
        }
        let version = match ident.abi_version {
            n @ 1..=4 => n + 2,
            0 => return Err(Error::new("code object version 2 is not supported, only 3 to 6")),
            n => return Err(Error::new(format!("the code object's ABI version {n} is not known"))),
        };
        let target = TargetId::from_elf(header.e_flags(LE), ident.abi_version);

        let mut segments = Vec::new();
        let mut note = None;
        for p in header.program_headers(LE, data)? {
            match p.p_type(LE) {
                elf::PT_LOAD => segments.push(segment(p, data)?),
                elf::PT_NOTE => note = note.or(find_note(p, data)?),
                _ => {}
            }
        }
        if segments.is_empty() {
            return Err(Error::new("the code object has nothing to load: it is not linked"));
        }
        let metadata = note.map_or(Ok(Metadata::default()), Metadata::parse)?;

        let sections = header.sections(LE, data)?;
        let mut table = sections.symbols(LE, data, elf::SHT_SYMTAB)?;
        if table.is_empty() {
            table = sections.symbols(LE, data, elf::SHT_DYNSYM)?;
        }
        let mut symbols = Vec::new();
        for s in table.symbols() {
            if s.st_shndx(LE) == elf::SHN_UNDEF || s.st_shndx(LE) == elf::SHN_ABS {
                continue;
            }
            let name = String::from_utf8_lossy(s.name(LE, table.strings())?).into_owned();
            let kind = match s.st_type() {
                elf::STT_FUNC => SymbolKind::Function,
                elf::STT_OBJECT => SymbolKind::Object,
                _ => SymbolKind::Other,
            };
            if !name.is_empty() {
                symbols.push(Symbol { name, address: s.st_value(LE), size: s.st_size(LE), kind });
            }
        }

        let mut relocations = Vec::new();
        for section in sections.iter() {
            if section.sh_flags(LE) & u64::from(elf::SHF_ALLOC) == 0 {
                continue;
            }
            if let Some((entries, link)) = section.rela(LE, data)? {
                let symbols = sections.symbol_table_by_index(LE, data, link)?;
                for r in entries {
                    relocations.push(relocation(r, &symbols)?);
                }
            }
        }

        let mut object = CodeObject { data, target, version, segments, symbols, kernels: Vec::new(), relocations };
        object.find_kernels(metadata)?;
        Ok(object)
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }

    /// The symbol of that name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|s| s.name == name)
    }

    /// File bytes at a load-relative address, up to the end of their segment's file part.
    pub fn bytes_at(&self, address: u64) -> Option<&'a [u8]> {
        let s = self.segments.iter().find(|s| address.wrapping_sub(s.address) < s.file_size)?;
        let skip = usize::try_from(address - s.address).ok()?;
        let start = usize::try_from(s.file_offset).ok()?;
        self.data.get(start..start.checked_add(usize::try_from(s.file_size).ok()?)?)?.get(skip..)
    }

    fn find_kernels(&mut self, metadata: Metadata) -> Result<(), Error> {
        let mut found = Vec::new();
        for m in metadata.kernels {
            let symbol = self.symbol(&m.symbol).ok_or_else(|| {
                Error::new(format!("kernel {}: the symbol {} is missing from the symbol table", m.name, m.symbol))
            })?;
            found.push((m.name.clone(), symbol.address, Some(m)));
        }
        for s in &self.symbols {
            if let Some(name) = s.name.strip_suffix(".kd")
                && s.kind == SymbolKind::Object
                && s.size == KernelDescriptor::SIZE as u64
                && !found.iter().any(|f| f.1 == s.address)
            {
                found.push((name.to_string(), s.address, None));
            }
        }
        for (name, address, metadata) in found {
            let kernel = self.kernel_at(name.clone(), address, metadata);
            self.kernels.push(kernel.map_err(|e| e.at(format_args!("kernel {name}")))?);
        }
        Ok(())
    }

    fn kernel_at(&self, name: String, address: u64, metadata: Option<KernelMetadata>) -> Result<Kernel, Error> {
        let bytes = self
            .bytes_at(address)
            .and_then(|b| b.first_chunk::<{ KernelDescriptor::SIZE }>())
            .ok_or_else(|| Error::new(format!("its descriptor at {address:#x} lies outside the loaded segments")))?;
        let descriptor = KernelDescriptor::parse(bytes);
        let entry = address.wrapping_add_signed(descriptor.entry_offset);
        if self.bytes_at(entry).is_none() {
            return Err(Error::new(format!("its entry {entry:#x} lies outside the loaded segments")));
        }
        let code = self.symbols.iter().find(|s| s.address == entry && s.kind == SymbolKind::Function);
        let code_size = code.map(|s| s.size).filter(|&n| n != 0);
        Ok(Kernel { name, descriptor_address: address, descriptor, entry, code_size, metadata })
    }
}

fn segment(p: &elf::ProgramHeader64<LittleEndian>, data: &[u8]) -> Result<Segment, Error> {
    let s = Segment {
        address: p.p_vaddr(LE),
        size: p.p_memsz(LE),
        file_offset: p.p_offset(LE),
        file_size: p.p_filesz(LE),
        executable: p.p_flags(LE) & elf::PF_X != 0,
        writable: p.p_flags(LE) & elf::PF_W != 0,
    };
    let in_file = s.file_offset.checked_add(s.file_size).is_some_and(|end| end <= data.len() as u64);
    if !in_file || s.file_size > s.size || s.address.checked_add(s.size).is_none() {
        return Err(Error::new(format!(
            "the segment at {:#x} ({} of {} bytes at file offset {:#x}) does not fit the file of {} bytes",
            s.address,
            s.file_size,
            s.size,
            s.file_offset,
            data.len()
        )));
    }
    Ok(s)
}

fn find_note<'a>(p: &elf::ProgramHeader64<LittleEndian>, data: &'a [u8]) -> Result<Option<&'a [u8]>, Error> {
    let Some(mut notes) = p.notes(LE, data)? else { return Ok(None) };
    while let Some(n) = notes.next()? {
        if n.name() == b"AMDGPU" && n.n_type(LE) == NT_AMDGPU_METADATA {
            return Ok(Some(n.desc()));
        }
    }
    Ok(None)
}

fn relocation(
    r: &elf::Rela64<LittleEndian>,
    symbols: &object::read::elf::SymbolTable<'_, Header>,
) -> Result<Relocation, Error> {
    let index = r.r_sym(LE, false);
    let (value, name) = match index {
        0 => (Some(0), String::new()),
        i => {
            let s = symbols.symbol(object::SymbolIndex(i as usize))?;
            let name = String::from_utf8_lossy(s.name(LE, symbols.strings())?).into_owned();
            (Some(s.st_value(LE)).filter(|_| s.st_shndx(LE) != elf::SHN_UNDEF), name)
        }
    };
    Ok(Relocation {
        place: r.r_offset.get(LE),
        kind: r.r_type(LE, false),
        addend: r.r_addend.get(LE),
        symbol: value,
        name,
    })
}
