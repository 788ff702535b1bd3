//! Snapshots of what the engine says: kept in tests/snapshots of this crate, compared line by line, written anew when
//! ROCJITSU_BLESS is set. What differs from run to run is masked.

use crate::{code, text};
use std::path::PathBuf;
use std::process::Output;

/// Compares the engine's lines, the program's standard output and the exit code with `tests/snapshots/NAME.txt`.
pub fn snapshot(name: &str, o: &Output) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.txt"));
    let errors = String::from_utf8_lossy(&o.stderr);
    let mut said = String::new();
    for line in errors.lines().filter(|l| l.starts_with("rocjitsu: ") || l.starts_with("Memory access fault")) {
        said += &mask(line);
        said.push('\n');
    }
    for line in String::from_utf8_lossy(&o.stdout).lines() {
        said += &format!("stdout: {}\n", mask(line));
    }
    said += &format!("exit code {}\n", code(o));
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
    let mut words: Vec<String> = out.split(' ').map(str::to_string).collect();
    for i in 0..words.len() {
        let unit = words.get(i + 1).map(|w| w.trim_end_matches([',', ')'])).unwrap_or_default();
        if (unit == "ms" || unit == "s") && words[i].bytes().all(|b| b.is_ascii_digit()) {
            // "less than 1 ms" is a time, too.
            let from = if i >= 2 && words[i - 2..i] == ["less", "than"] { i - 2 } else { i };
            let tail: String = words[i + 1].trim_start_matches(unit).into();
            words[from] = "<time>".into();
            words[from + 1..=i].iter_mut().for_each(String::clear);
            words[i + 1] = format!("\u{8}{tail}");
        }
    }
    words.retain(|w| !w.is_empty() || line.starts_with(' '));
    words.join(" ").replace(" \u{8}", "")
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn what_differs_from_run_to_run_is_masked_and_nothing_else() {
        assert_eq!(
            mask("it lies 16 bytes into 0x7f0011-0x7f0022 (8192 bytes, lived 53 ms, freed less than 1 ms ago) at 0x40"),
            "it lies 16 bytes into <address>-<address> (8192 bytes, lived <time>, freed <time> ago) at 0x40"
        );
    }
}
