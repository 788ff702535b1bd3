//! What mirage prints, compared with files. `MIRAGE_BLESS=1 cargo test -p mirage` writes them anew.

mod common;

use common::{Mirage, data, text};
use std::path::{Path, PathBuf};

fn same(file: &Path, got: &str) {
    if std::env::var_os("MIRAGE_BLESS").is_some() {
        std::fs::write(file, got).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    assert!(expected == got, "{} differs; now it is:\n{got}", file.display());
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Standard output, exit code if not 0, standard error, with the test's and the build's directories out of sight.
fn screen(m: &Mirage, args: &[&str]) -> String {
    let out = m.run(args);
    let mut all = text(&out.stdout);
    if !out.stderr.is_empty() {
        all.push_str(&format!("[stderr]\n{}", text(&out.stderr)));
    }
    match out.status.code() {
        Some(0) => {}
        Some(code) => all.push_str(&format!("[exit {code}]\n")),
        None => all.push_str(&format!("[{}]\n", out.status)),
    }
    let data = data("");
    let bin = Path::new(env!("CARGO_BIN_EXE_mirage")).parent().unwrap();
    let (bin, above) = (bin.display().to_string(), bin.parent().unwrap().display().to_string());
    all.replace(&m.root.display().to_string(), "ROOT")
        .replace(&data, "DATA/")
        .replace(&bin, "BIN")
        .replace(&above, "ABOVE")
}

#[test]
fn tables_and_messages_look_as_agreed() {
    let m = Mirage::new("screens");
    let (fat, fatz, plain) = (&data("fat"), &data("fatz"), &data("vadd-gfx1250.co"));
    let vadd = ["kernel", "run", fat, "--profile", "mi300x", "--kernel", "vadd"];
    let screens: [(&str, Vec<&str>); 17] = [
        ("welcome", vec![]),
        ("emulators", vec!["emulators"]),
        ("emulators-long", vec!["emulators", "-l"]),
        ("emulators-json", vec!["emulators", "--json"]),
        ("paths", vec!["paths"]),
        ("paths-long", vec!["paths", "-l"]),
        ("paths-json", vec!["paths", "--json"]),
        ("profile-unknown", vec!["run", "--profile", "mi30x", "--", "true"]),
        ("profile-unknown-json", vec!["--json", "run", "--profile", "voodoo", "--", "true"]),
        ("emulator-unknown", vec!["run", "--emulator", "qemu", "--", "true"]),
        ("flag-unknown", vec!["run", "--detach", "--", "true"]),
        ("kernel-list", vec!["kernel", "list", fatz]),
        ("kernel-list-json", vec!["kernel", "list", plain, "--json"]),
        ("kernel-disasm", vec!["kernel", "disasm", fat, "--kernel", "vadd"]),
        ("kernel-unknown", vec!["kernel", "disasm", fat, "--kernel", "vad"]),
        ("kernel-no-code", vec!["kernel", "list", "/etc/passwd"]),
        ("kernel-arguments", [&vadd[..], &["--arg", "1"]].concat()),
    ];
    for (name, args) in screens {
        same(&golden(&format!("{name}.txt")), &screen(&m, &args));
    }
}

#[test]
fn docs_cli_md_is_what_help_says() {
    let m = Mirage::new("docs");
    let mut page = String::from(
        "# mirage's command line\n\n\
         This page is made from `--help`; a test compares them (`MIRAGE_BLESS=1 cargo test -p mirage` writes it anew).\n\n\
         * Data goes to standard output, everything else to standard error. `--json` prints exactly one document; an \
         error is then `{\"error\": {\"code\", \"message\", \"hint\"}}` on standard error.\n\
         * Exit codes: 0; 1 mirage's own error; 2 a usage error; else the program's own, 128 + signal if a signal ended it,\n  \
         127 for a command that is not found, 126 for one that cannot be started.\n\
         * Errors read `error[code]: what failed`, then `hint: what mends it`.\n",
    );
    let commands = ["", "run", "demo", "emulators", "paths", "kernel", "kernel list", "kernel disasm", "kernel run"]
        .map(|c| (c, ()));
    for (command, ()) in commands {
        let mut args: Vec<&str> = command.split_whitespace().collect();
        args.push("--help");
        let help = m.run(&args);
        assert!(help.status.success());
        let title = if command.is_empty() { "mirage".to_string() } else { format!("mirage {command}") };
        page.push_str(&format!("\n## {title}\n\n```text\n{}```\n", text(&help.stdout)));
    }
    same(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md"), &page);
}
