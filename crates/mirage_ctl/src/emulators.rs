//! `mirage emulators`.

use crate::cli::LongArgs;
use crate::context::{Context, env};
use crate::screen;
use mirage_core::Error;
use mirage_core::backend::{self, Backend};

pub(crate) fn main(cx: &Context, args: LongArgs) -> Result<u8, Error> {
    let all = backend::all();
    let default = backend::default(&cx.exe, &env).map(|b| b.name());
    if cx.json {
        let documents: Vec<_> = all.iter().map(|b| document(cx, *b, default)).collect();
        return screen::json(&documents);
    }
    let yes_no = |b: bool| if b { "yes" } else { "no" }.to_string();
    let mut text = String::new();
    if args.long {
        for b in &all {
            text.push_str(&block(cx, *b, default));
        }
    } else {
        let rows: Vec<_> = all
            .iter()
            .map(|b| {
                let star = if default == Some(b.name()) { "*" } else { "" };
                vec![
                    format!("{}{star}", b.name()),
                    yes_no(b.installed(&cx.exe, &env).yes),
                    yes_no(b.supported().yes),
                    b.description().to_string(),
                ]
            })
            .collect();
        text = screen::table(&["NAME", "INSTALLED", "SUPPORTED", "DESCRIPTION"], &rows);
    }
    if default.is_some() {
        text.push_str("* = default emulator for new profiles\n");
    }
    screen::out(&text)
}

fn block(cx: &Context, b: &dyn Backend, default: Option<&str>) -> String {
    let (installed, supported) = (b.installed(&cx.exe, &env), b.supported());
    let star = if default == Some(b.name()) { "*" } else { "" };
    let mut text = format!("{}{star}\n  description: {}\n", b.name(), b.description());
    let mut line = |name: &str, value: &str| text.push_str(&format!("  {:12} {value}\n", format!("{name}:")));
    line("installed", if installed.yes { "yes" } else { "no" });
    if !installed.searched.is_empty() {
        line("runtime", &installed.path.as_ref().map_or("not found".into(), |p| p.display().to_string()));
    }
    if !installed.yes {
        for (i, path) in installed.searched.iter().enumerate() {
            line(if i == 0 { "searched" } else { "" }, &path.display().to_string());
        }
    }
    if !installed.variables.is_empty() {
        line("set", &installed.variables.join(", "));
    }
    line("supported", &format!("{}, {}", if supported.yes { "yes" } else { "no" }, supported.reason));
    let options: Vec<_> = b.options().iter().map(|o| format!("{} ({}): {}", o.key, o.kind, o.help)).collect();
    line("options", &if options.is_empty() { "-".into() } else { options.join("; ") });
    text.push('\n');
    text
}

fn document(cx: &Context, b: &dyn Backend, default: Option<&str>) -> serde_json::Value {
    let (installed, supported) = (b.installed(&cx.exe, &env), b.supported());
    serde_json::json!({
        "name": b.name(),
        "description": b.description(),
        "version": env!("CARGO_PKG_VERSION"),
        "installed": installed.yes,
        "path": installed.path,
        "searched": installed.searched,
        "set": installed.variables,
        "supported": supported.yes,
        "support_reason": supported.reason,
        "is_default": default == Some(b.name()),
        "options_schema": b.options(),
        "available_plugins": [],
    })
}
