//! Snapshots of what the engine says: kept in tests/snapshots of this crate, compared line by line, written anew when
//! ROCJITSU_BLESS is set. What differs from run to run is masked.

use crate::{code, text};
use std::path::PathBuf;
use std::process::Output;

/// Compares the engine's lines, those of the program (led by `program: `) and the exit code with
/// `tests/snapshots/NAME.txt`.
pub fn snapshot(name: &str, o: &Output) {
    let errors = String::from_utf8_lossy(&o.stderr);
    let mut said = String::new();
    for line in errors.lines().filter(|l| l.starts_with("rocjitsu: ") || l.starts_with("Memory access fault")) {
        said += &format!("{}\n", mask(line));
    }
    // The runtime prints, too, and not always whole lines.
    for line in String::from_utf8_lossy(&o.stdout).lines() {
        if let Some(at) = line.find("program: ") {
            said += &format!("{}\n", mask(&line[at..]));
        }
    }
    said += &format!("exit code {}\n", code(o));
    compare(name, &said, o);
}

/// Compares the lines of a trace on standard error. Lines about queues, memory and times depend on the runtime: their
/// kinds are enough.
pub fn trace_snapshot(name: &str, o: &Output) {
    let errors = String::from_utf8_lossy(&o.stderr);
    let mut said = String::new();
    let mut kinds = std::collections::BTreeSet::new();
    for line in errors.lines().filter(|l| l.starts_with("[rj] ")) {
        let line = mask(line);
        let kind = ["queue created", "queue destroyed", "memory allocated", "memory freed", "kernel end"];
        if let Some(kind) = kind.iter().find(|k| line[5..].starts_with(**k)) {
            kinds.insert(*kind);
        } else {
            said += &format!("{line}\n");
        }
    }
    for kind in kinds {
        said += &format!("and [rj] {kind} …\n");
    }
    said += &format!("exit code {}\n", code(o));
    compare(name, &said, o);
}

fn compare(name: &str, said: &str, o: &Output) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.txt"));
    if std::env::var_os("ROCJITSU_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().expect("a directory")).expect("tests/snapshots");
        std::fs::write(&file, said).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    assert!(kept == said, "{name} is to say\n\n{kept}\nand says\n\n{said}\nAll of it:\n{}", text(o));
}

/// Addresses (five hex digits or more) and times become words.
fn mask(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        out += &rest[..at];
        let number = &rest[at..at + 2 + digits];
        out += if digits >= 5 { "<address>" } else { number };
        rest = &rest[at + 2 + digits..];
    }
    out += rest;
    // The name of a program in the cache ends in a hash.
    if let Some((before, (_, after))) = out.split_once("/mnt/program/").and_then(|(b, a)| Some((b, a.split_once(':')?)))
    {
        out = format!("{before}/mnt/program/<program>:{after}");
    }
    times(&out)
}

/// Times (`12 ms`, `less than 1 ms`, `3 s`) in an age become a word; other numbers stay.
fn times(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    let next = |text: &str| ["made ", "lived ", "freed "].iter().filter_map(|m| Some(text.find(m)? + m.len())).min();
    while let Some(at) = next(rest) {
        out += &rest[..at];
        rest = &rest[at..];
        let number = rest.strip_prefix("less than ").unwrap_or(rest);
        let tail = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let tail = tail.strip_prefix(" ms").or(tail.strip_prefix(" s"));
        if let Some(tail) = tail.filter(|_| number.starts_with(|c: char| c.is_ascii_digit())) {
            out += "<time>";
            rest = tail;
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn what_differs_from_run_to_run_is_masked_and_nothing_else() {
        assert_eq!(
            mask(
                "  it lies 16 bytes into 0x7f0011-0x7f0022 (8192 bytes, lived 53 ms, freed less than 1 ms ago) at 0x40"
            ),
            "  it lies 16 bytes into <address>-<address> (8192 bytes, lived <time>, freed <time> ago) at 0x40"
        );
    }
}
