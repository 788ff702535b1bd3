//! What gfx90a and gfx942 have and the engine refuses, by name: the list in `unsupported-<gfx>.txt` is what it says.
//! `BLESS=1 cargo test -p rj_exec --test coverage` writes it anew.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use rj_isa::Target;

fn corpus(target: Target) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rj_isa/tests/data");
    let file =
        std::fs::File::open(data.join(format!("corpus-{}.tsv.gz", target.name()))).expect("the corpus is in the tree");
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("a gzip of text");
    text
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).filter_map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok()).collect()
}

/// Names of refused operations; those that are refused only with some operands or encodings say so.
fn refused(target: Target) -> String {
    let mut seen: BTreeMap<&str, (u32, u32, String)> = BTreeMap::new();
    for line in corpus(target).lines() {
        let mut parts = line.split('\t');
        let (Some(hex), Some(_), Some(text)) = (parts.next(), parts.next(), parts.next()) else { continue };
        // Operands that no operation takes here: data that a graphics pipeline leaves in LDS, an ordered wave id.
        if text.contains("Invalid") || text.contains("src_lds_direct") || text.contains("src_pops") {
            continue;
        }
        let Ok(inst) = rj_isa::decode(target, &bytes(hex)) else { continue };
        let e = seen.entry(inst.op.name()).or_default();
        if rj_exec::lower::supported(target, &inst) {
            e.0 += 1;
        } else {
            e.1 += 1;
            e.2 = text.to_owned();
        }
    }
    assert!(seen.len() > 500, "the corpus holds most operations");
    let mut out = String::new();
    for (name, (yes, no, example)) in seen {
        match (yes, no) {
            (_, 0) => {}
            (0, _) => out.push_str(&format!("{name}\n")),
            _ => out.push_str(&format!("{name} in part, as {example}\n")),
        }
    }
    out
}

fn check(target: Target) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/unsupported-{}.txt", target.name()));
    let now = refused(target);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).expect("the list is writable");
    }
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(listed, now, "{} is out of date: look whether that is right, then BLESS=1", path.display());
}

#[test]
fn gfx90a_refuses_what_its_list_says() {
    check(Target::Gfx90a);
}

#[test]
fn gfx942_refuses_what_its_list_says() {
    check(Target::Gfx942);
}
