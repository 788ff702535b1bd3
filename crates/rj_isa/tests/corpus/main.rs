//! LLVM's own test encodings: decoded, printed and encoded again.
//!
//! What we do differently stands in `exceptions.tsv` with its reason; a new difference fails the test, and so does
//! an exception that is none any more.

mod support;

use rj_isa::{decode, encode, print};
use support::{Corpus, Verdict, check};

/// LLVM has a record for every register count of an image, and for every pair of matrix formats; our widths come
/// from the fields. The text shows whether they are right.
fn same_record(ours: &str, theirs: &str) -> bool {
    let sized = |name: &str| -> Vec<String> {
        let image = name.starts_with("IMAGE");
        let count = |w: &str| image && w.strip_prefix('V').is_some_and(|n| n.parse::<u8>().is_ok());
        let format = |w: &str| name.contains("F8F6F4") && ["f8", "f6", "f4"].contains(&w);
        name.split('_').filter(|w| !count(w) && !format(w)).map(String::from).collect()
    };
    sized(ours) == sized(theirs)
}

#[test]
fn every_encoding_decodes_to_its_record() {
    check("decode", |t, line| match decode(t, &line.bytes) {
        Ok(i) if same_record(i.record(), &line.record) && usize::from(i.len) == line.bytes.len() => Verdict::Same,
        Ok(i) => Verdict::Differs(format!("{} of {} bytes", i.record(), i.len)),
        Err(e) => Verdict::Differs(format!("{e:?}")),
    });
}

#[test]
fn every_encoding_prints_as_llvm_prints_it() {
    check("print", |t, line| match decode(t, &line.bytes) {
        Ok(i) if line.texts.contains(&print(&i)) => Verdict::Same,
        Ok(i) => Verdict::Differs(print(&i)),
        Err(_) => Verdict::Skipped,
    });
}

#[test]
fn every_encoding_is_encoded_again() {
    check("encode", |t, line| match decode(t, &line.bytes) {
        Ok(i) if encode(&i)[..] == line.bytes[..] => Verdict::Same,
        Ok(i) => {
            let hex: String = encode(&i).iter().map(|b| format!("{b:02x}")).collect();
            Verdict::Differs(hex)
        }
        Err(_) => Verdict::Skipped,
    });
}

#[test]
fn corpora_are_whole() {
    for t in rj_isa::Target::ALL {
        assert!(Corpus::read(t).lines.len() > 48_000, "{}", t.name());
    }
}
