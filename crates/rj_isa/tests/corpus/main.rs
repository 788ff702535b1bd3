//! LLVM's own test encodings: decoded.
//!
//! What we do differently stands in `exceptions.tsv` with its reason; a new difference fails the test, and so does
//! an exception that is none any more.

mod support;

use rj_isa::decode;
use support::{Corpus, Verdict, check};

#[test]
fn every_encoding_decodes_to_its_record() {
    check("decode", |t, line| match decode(t, &line.bytes) {
        _ if line.record.starts_with("IMAGE") || line.record.contains("F8F6F4") => Verdict::Skipped,
        Ok(i) if i.record() == line.record && usize::from(i.len) == line.bytes.len() => Verdict::Same,
        Ok(i) => Verdict::Differs(format!("{} of {} bytes", i.record(), i.len)),
        Err(e) => Verdict::Differs(format!("{e:?}")),
    });
}

#[test]
fn corpora_are_whole() {
    for t in rj_isa::Target::ALL {
        assert!(Corpus::read(t).lines.len() > 50_000, "{}", t.name());
    }
}
