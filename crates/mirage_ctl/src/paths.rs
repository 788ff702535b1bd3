//! `mirage paths`.

use crate::cli::LongArgs;
use crate::context::Context;
use crate::screen;
use mirage_core::Error;

pub(crate) fn main(cx: &Context, args: LongArgs) -> Result<u8, Error> {
    let named = cx.roots.named();
    if cx.json {
        let map: serde_json::Map<_, _> =
            named.iter().map(|(n, p)| (n.to_string(), p.display().to_string().into())).collect();
        return screen::json(&map);
    }
    let shown = |name: &str| args.long || matches!(name, "config" | "runtime" | "sessions");
    let width = if args.long { 12 } else { 10 };
    let mut text = String::new();
    for (name, path) in named.iter().filter(|(n, _)| shown(n)) {
        text.push_str(&format!("{:width$}{}\n", format!("{name}:"), path.display()));
    }
    screen::out(&text)
}
