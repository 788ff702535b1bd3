//! Reads the corpora and compares with the list of exceptions.

use rj_isa::Target;
use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;

/// One encoding.
pub struct Line {
    pub hex: String,
    pub bytes: Vec<u8>,
    pub record: String,
    /// LLVM's texts without their comments; it has two for a few encodings.
    pub texts: Vec<String>,
}

pub struct Corpus {
    pub lines: Vec<Line>,
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once("/*") {
        out.push_str(head);
        rest = tail.split_once("*/").map_or("", |(_, r)| r);
    }
    out.push_str(rest);
    out
}

impl Corpus {
    pub fn read(t: Target) -> Corpus {
        let gz = std::fs::read(file(&format!("data/corpus-{}.tsv.gz", t.name()))).expect("corpus");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&gz[..]).read_to_string(&mut text).expect("corpus");
        let mut lines: Vec<Line> = text
            .lines()
            .map(|l| {
                let mut f = l.split('\t');
                let hex = f.next().unwrap_or("").to_string();
                let bytes =
                    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex")).collect();
                let record = f.next().unwrap_or("").to_string();
                Line { hex, bytes, record, texts: vec![without_comments(f.next().unwrap_or(""))] }
            })
            .collect();
        lines.sort_by(|a, b| a.hex.cmp(&b.hex));
        lines.dedup_by(|b, a| {
            let same = a.hex == b.hex && a.record == b.record;
            if same {
                a.texts.append(&mut b.texts);
            }
            same
        });
        Corpus { lines }
    }
}

pub enum Verdict {
    Same,
    /// What we have instead.
    Differs(String),
    /// Another test tells.
    Skipped,
}

/// Runs `test` on every line of every corpus; what differs must be listed for `what`, and what is listed must differ.
pub fn check(what: &str, test: impl Fn(Target, &Line) -> Verdict) {
    let listed = std::fs::read_to_string(file("corpus/exceptions.tsv")).expect("exceptions");
    let mut listed: HashMap<(String, String), bool> = listed
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split('\t').collect::<Vec<_>>())
        .filter(|f| f.len() == 4 && f[0] == what && !f[3].trim().is_empty())
        .map(|f| ((f[1].to_string(), f[2].to_string()), false))
        .collect();
    let mut new = Vec::new();
    for t in Target::ALL {
        let corpus = Corpus::read(t);
        let mut differ = 0;
        for line in &corpus.lines {
            let Verdict::Differs(got) = test(t, line) else { continue };
            differ += 1;
            if let Some(seen) = listed.get_mut(&(t.name().to_string(), line.hex.clone())) {
                *seen = true;
            } else {
                new.push(format!(
                    "{what}\t{}\t{}\t{} `{}` here `{got}`",
                    t.name(),
                    line.hex,
                    line.record,
                    line.texts[0]
                ));
            }
        }
        println!("{what} {}: {differ} of {} differ", t.name(), corpus.lines.len());
    }
    if let Some(path) = std::env::var_os("RJ_ISA_DIFFERENCES") {
        std::fs::write(PathBuf::from(path).join(format!("{what}.tsv")), new.join("\n")).expect("writing differences");
    }
    for n in new.iter().step_by(new.len() / 30 + 1) {
        println!("{n}");
    }
    let stale: Vec<_> = listed.iter().filter(|(_, seen)| !**seen).map(|(k, _)| k).collect();
    assert!(new.is_empty(), "{} new differences", new.len());
    assert!(stale.is_empty(), "exceptions that are none any more: {stale:?}");
}
