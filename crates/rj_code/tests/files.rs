//! Files as compilers make them, and the same files damaged.

use rj_code::{CodeObject, Entry, Hidden, ValueKind, built_for, open, open_for};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn targets(name: &str) -> Vec<String> {
    open(&data(name)).unwrap().iter().map(|e| e.target.to_string()).collect()
}

fn one(name: &str, processor: &str) -> Entry {
    open_for(&data(name), processor).unwrap().remove(0)
}

#[test]
fn code_is_found_in_programs_bundles_and_plain_code_objects() {
    assert_eq!(targets("fat"), ["gfx90a", "gfx942"]);
    assert_eq!(targets("fatz"), ["gfx90a", "gfx942"]);
    assert_eq!(targets("vadd.hipfb"), ["gfx942"]);
    assert_eq!(targets("vaddz.hipfb"), ["gfx942:xnack+"]);
    assert_eq!(targets("vadd-gfx1250.co"), ["gfx1250"]);
    let (plain, packed) = (one("fat", "gfx942").code, one("fatz", "gfx942").code);
    let text = |code: &[u8]| CodeObject::parse(code).unwrap().kernels.iter().map(|k| k.entry).collect::<Vec<_>>();
    assert!(text(&plain) == text(&packed) && plain.len() == packed.len());
}

#[test]
fn what_a_program_was_built_for_is_seen_without_its_code() {
    let targets = |name: &str| -> Vec<Vec<String>> {
        built_for(&data(name)).iter().map(|b| b.iter().map(|t| t.to_string()).collect()).collect()
    };
    assert_eq!(targets("fat"), [["gfx90a", "gfx942"]]);
    assert_eq!(targets("fatz"), [["gfx90a", "gfx942"]]);
    assert!(targets("vadd-gfx1250.co").is_empty());
    assert!(built_for(b"no ELF file").is_empty() && built_for(&std::fs::read("/proc/self/exe").unwrap()).is_empty());
}

#[test]
fn a_file_without_our_code_says_what_it_is() {
    assert_eq!(open(b"hello").unwrap_err().to_string(), "not an ELF file and not an offload bundle");
    let own = std::fs::read("/proc/self/exe").unwrap();
    assert_eq!(open(&own).unwrap_err().to_string(), "no AMD GPU code in it");
    let e = open_for(&data("fat"), "gfx1201").unwrap_err();
    assert_eq!(e.to_string(), "no code for gfx1201 in it, only for gfx90a, gfx942");
}

#[test]
fn kernels_show_their_arguments_registers_and_code() {
    for (file, processor) in [("fat", "gfx90a"), ("fat", "gfx942"), ("vadd-gfx1250.co", "gfx1250")] {
        let entry = one(file, processor);
        let object = CodeObject::parse(&entry.code).unwrap();
        assert_eq!((object.target.processor.as_str(), object.version), (processor, 6), "{file}");
        let names: Vec<&str> = object.kernels.iter().map(|k| k.name.as_str()).collect();
        assert_eq!(names, ["vadd", "saxpy", "_Z4bumpIiEvPT_"]);

        let saxpy = object.kernel("saxpy").unwrap();
        let meta = saxpy.metadata.as_ref().unwrap();
        let explicit: Vec<_> = meta.args.iter().filter(|a| !a.is_hidden()).collect();
        let shape: Vec<_> = explicit.iter().map(|a| (a.offset, a.size, a.kind)).collect();
        let (value, buffer) = (ValueKind::ByValue, ValueKind::GlobalBuffer);
        assert_eq!(shape, [(0, 4, value), (8, 8, buffer), (16, 8, buffer), (24, 8, value)]);
        let group = meta.args.iter().find(|a| a.kind == ValueKind::Hidden(Hidden::GroupSizeX)).unwrap();
        assert_eq!((group.offset, group.size), (32 + 12, 2));
        assert_eq!(meta.kernarg_size, saxpy.descriptor.kernarg_size);
        assert_eq!(meta.wavefront_size, if processor == "gfx1250" { 32 } else { 64 });
        assert_eq!(meta.agprs.is_some(), processor.starts_with("gfx9"));
        assert!(meta.vgprs > 0 && meta.sgprs > 0);

        let code = object.bytes_at(saxpy.entry).unwrap();
        assert!(saxpy.code_size.is_some_and(|n| n > 0 && n as usize <= code.len()));
        assert_eq!(saxpy.entry % 256, 0);
    }
}

#[test]
fn loading_puts_segments_in_place_and_applies_relocations() {
    for processor in ["gfx90a", "gfx942"] {
        let entry = one("fat", processor);
        let object = CodeObject::parse(&entry.code).unwrap();
        let base = 0x7000_0000_0000;
        let image = object.load(base).unwrap();
        let word = |name: &str| {
            let at = object.symbol(name).unwrap().address as usize;
            u64::from_le_bytes(image.bytes[at..at + 8].try_into().unwrap())
        };
        assert_eq!(word("where"), base + object.symbol("counter").unwrap().address);
        assert_eq!(word("counter") as u32, 3);
        let k = object.kernel("vadd").unwrap();
        let at = k.entry as usize;
        assert_eq!(image.bytes[at..at + 64], object.bytes_at(k.entry).unwrap()[..64]);
    }
}

/// Everything that reads a file, on bytes that nobody made.
fn read_all(bytes: &[u8]) {
    for entry in open(bytes).unwrap_or_default() {
        if let Ok(object) = CodeObject::parse(&entry.code) {
            let _ = object.load(0x1000);
        }
    }
    if let Ok(object) = CodeObject::parse(bytes) {
        let _ = object.load(0x1000);
    }
}

#[test]
fn damaged_and_cut_files_are_errors_and_never_panics() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let plain = one("fat", "gfx90a").code;
    for file in [data("fat"), data("fatz"), data("vaddz.hipfb"), data("vadd.hipfb"), plain] {
        for i in 0..64 {
            read_all(&file[..file.len() * i / 64]);
        }
        for _ in 0..400 {
            let mut broken = file.clone();
            for _ in 0..1 + random() % 8 {
                // Headers are where damage matters: half of the hits go to the first kilobyte.
                let range = if random() % 2 == 0 { broken.len().min(1024) } else { broken.len() };
                let at = random() as usize % range;
                broken[at] = random() as u8;
            }
            read_all(&broken);
        }
    }
}

#[test]
fn a_compressed_bundle_that_lies_about_its_size_is_refused() {
    let mut bundle = data("vaddz.hipfb");
    assert_eq!(bundle[..4], *b"CCOB");
    let version = u16::from_le_bytes([bundle[4], bundle[5]]);
    let size_at = if version == 2 { 12 } else { 16 };
    bundle[size_at] ^= 1;
    let e = open(&bundle).unwrap_err().to_string();
    assert!(e.contains("unpacks to"), "{e}");
}

#[test]
fn zlib_and_zstd_bundles_of_every_version_unpack() {
    use std::io::Write;
    let inner = data("vadd.hipfb");
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(&inner).unwrap();
    let zlib = zlib.finish().unwrap();
    for version in 1..=4u16 {
        let mut file = b"CCOB".to_vec();
        file.extend(version.to_le_bytes());
        file.extend(0u16.to_le_bytes());
        let header: usize = [20, 24, 32, 40][version as usize - 1];
        match version {
            1 => file.extend((inner.len() as u32).to_le_bytes()),
            2 => {
                file.extend(((header + zlib.len()) as u32).to_le_bytes());
                file.extend((inner.len() as u32).to_le_bytes());
            }
            _ => {
                file.extend(((header + zlib.len()) as u64).to_le_bytes());
                file.extend((inner.len() as u64).to_le_bytes());
            }
        }
        file.extend([0; 8]);
        file.extend(&zlib);
        match open(&file) {
            Ok(found) => assert!(version < 4 && found[0].target.to_string() == "gfx942"),
            Err(e) => assert!(version == 4 && e.to_string().contains("version 4"), "{version}: {e}"),
        }
    }
}

#[test]
fn bundles_with_long_windows_unpack() {
    // 130 MiB of little, as a large library's bundle: its frame asks for a window of 128 MiB.
    let mut inner = data("vadd.hipfb");
    inner.resize(130 << 20, 0);
    let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    packer.long_distance_matching(true).unwrap();
    packer.window_log(27).unwrap();
    std::io::Write::write_all(&mut packer, &inner).unwrap();
    let packed = packer.finish().unwrap();
    let mut file = b"CCOB\x03\0\x01\0".to_vec();
    file.extend((32 + packed.len() as u64).to_le_bytes());
    file.extend((inner.len() as u64).to_le_bytes());
    file.extend([0; 8]);
    file.extend(&packed);
    assert_eq!(open(&file).unwrap()[0].target.to_string(), "gfx942");
}
