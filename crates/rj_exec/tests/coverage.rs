//! Which memory instructions of the corpora are executed. What is not must be listed by name.

use flate2::read::GzDecoder;
use rj_isa::{Format, Target};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

/// Names of memory instructions that the engine refuses on a target.
fn refused(t: Target) -> BTreeSet<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../rj_isa/tests/data")
        .join(format!("corpus-{}.tsv.gz", t.name()));
    let mut text = String::new();
    GzDecoder::new(&std::fs::read(path).expect("corpus")[..]).read_to_string(&mut text).expect("corpus");
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let hex = line.split('\t').next().unwrap_or("");
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex")).collect();
        let Ok(inst) = rj_isa::decode(t, &bytes) else { continue };
        let memory = matches!(
            inst.format(),
            Format::Flat | Format::Global | Format::Scratch | Format::Ds | Format::Mubuf | Format::Mtbuf | Format::Smem
        );
        if memory && !rj_exec::lower::supported(t, &inst) {
            if std::env::var_os("RJ_SHOW").is_some() {
                println!("{t:?} {inst:?}");
            }
            names.insert(inst.op.name().to_ascii_lowercase());
        }
    }
    names
}

#[test]
fn memory_instructions_are_executed_or_listed() {
    for t in Target::ALL {
        println!("{} {:?}", t.name(), refused(t));
    }
}
