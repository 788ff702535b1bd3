//! How things look: tables, errors, the welcome. Data goes to standard output, all else to standard error.

use mirage_core::Error;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// Writes to standard output; a reader that went away ends the output, not with a panic.
pub(crate) fn out(text: &str) -> Result<u8, Error> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(0),
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(0),
        Err(e) => Err(Error::new("io", format!("cannot write to standard output: {e}"))),
    }
}

/// One JSON document on standard output.
pub(crate) fn json(document: &impl serde::Serialize) -> Result<u8, Error> {
    let mut text = serde_json::to_string_pretty(document).map_err(|e| Error::new("io", e.to_string()))?;
    text.push('\n');
    out(&text)
}

/// One line of mirage's own on standard error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "mirage: {text}");
}

/// A warning, and what mends it.
pub(crate) fn warn(text: &str, hint: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "mirage: warning: {text}\nmirage: hint: {hint}");
}

/// An error, as text or as JSON.
pub(crate) fn error(e: &Error, as_json: bool) {
    let mut err = std::io::stderr().lock();
    if as_json {
        let document = serde_json::json!({"error": {"code": e.code, "message": e.message, "hint": e.hint}});
        let _ = writeln!(err, "{document}");
        return;
    }
    let (red, dim, plain) = if colour(err.is_terminal()) { ("\x1b[31m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    let _ = writeln!(err, "{red}error[{}]{plain}: {}", e.code, e.message);
    if let Some(hint) = &e.hint {
        let _ = writeln!(err, "\n{dim}hint: {hint}{plain}");
    }
}

fn colour(terminal: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    if set("NO_COLOR") { false } else { terminal || std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| v != "0") }
}

/// Columns two blanks apart, as wide as their widest cell; the last one is not padded.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (w, cell) in widths.iter_mut().zip(row) {
            *w = (*w).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (cell, w) in cells.zip(&widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', w - cell.chars().count() + 2));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    };
    let mut out = line(&mut header.iter().copied());
    for row in rows {
        out.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    out
}

/// `mirage` alone.
pub(crate) fn welcome() -> ExitCode {
    let text = format!(
        "\
mirage {}: run ROCm programs on an emulated AMD GPU

  mirage run -- ./app            run a program; --profile mi300x chooses the GPU, else MI350X
  mirage demo                    see an emulated GPU at work
  mirage kernel list ./app       look at the GPU code in a file
  mirage emulators               what can run GPU code on this machine

Everything else: mirage --help
",
        env!("CARGO_PKG_VERSION")
    );
    match out(&text) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_and_have_no_blanks_at_line_ends() {
        let rows = [vec!["a".to_string(), "-".into()], vec!["long name".into(), "x y".into()]];
        assert_eq!(table(&["NAME", "B"], &rows), "NAME       B\na          -\nlong name  x y\n");
    }
}
