//! `mirage kernel disasm`: code as assembly, in llvm-objdump's shape.

use super::{entries, no_kernel, parse};
use crate::cli::KernelDisasmArgs;
use crate::context::Context;
use crate::screen;
use mirage_core::Error;
use rj_code::{CodeObject, SymbolKind};
use rj_isa::Target;
use std::fmt::Write;

/// A piece of code with a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    address: u64,
    name: String,
    size: u64,
}

pub(crate) fn main(cx: &Context, args: &KernelDisasmArgs) -> Result<u8, Error> {
    let (mut text, mut documents, mut names) = (String::new(), Vec::new(), Vec::new());
    let mut found = false;
    for entry in entries(&args.file)? {
        let object = parse(&args.file, &entry)?;
        let id = object.target.to_string();
        let Some(target) = object.target.target() else {
            // A file may hold code for GPUs that we do not know; asked for by name, it is an error.
            screen::say(&format!("skipped code for {id}: its instructions are not known"));
            continue;
        };
        let all = functions(&object);
        let wanted = all.iter().filter(|f| args.kernel.as_ref().is_none_or(|k| *k == f.name));
        for f in wanted {
            found = true;
            let lines = disassemble(&object, target, f);
            if cx.json {
                documents.push(serde_json::json!({"target": id, "name": f.name, "address": f.address, "lines": lines}));
                continue;
            }
            let _ = writeln!(text, "{id}\n{:016x} <{}>:", f.address, f.name);
            for line in lines {
                let _ = writeln!(text, "\t{line}");
            }
            text.push('\n');
        }
        names.extend(all.into_iter().map(|f| f.name));
    }
    if !found && let Some(wanted) = &args.kernel {
        return Err(no_kernel(&args.file, wanted, names.iter().map(String::as_str)));
    }
    if cx.json { screen::json(&documents) } else { screen::out(&text) }
}

/// Functions by address: kernels and what they call. A kernel without a symbol for its code runs to the next one.
fn functions(object: &CodeObject<'_>) -> Vec<Function> {
    let executable = |at: u64| object.segments.iter().any(|s| s.executable && at.wrapping_sub(s.address) < s.size);
    let mut all: Vec<Function> = object
        .symbols
        .iter()
        .filter(|s| s.kind == SymbolKind::Function && executable(s.address))
        .map(|s| Function { address: s.address, name: s.name.clone(), size: s.size })
        .collect();
    for k in &object.kernels {
        if !all.iter().any(|f| f.address == k.entry) {
            all.push(Function { address: k.entry, name: k.name.clone(), size: 0 });
        }
    }
    all.sort();
    all.dedup_by_key(|f| f.address);
    for i in 0..all.len() {
        if all[i].size == 0 {
            let rest = object.bytes_at(all[i].address).map_or(0, <[u8]>::len) as u64;
            let next = all.get(i + 1).map_or(u64::MAX, |f| f.address - all[i].address);
            all[i].size = rest.min(next);
        }
    }
    all
}

fn disassemble(object: &CodeObject<'_>, target: Target, f: &Function) -> Vec<String> {
    let bytes = object.bytes_at(f.address).unwrap_or_default();
    let size = usize::try_from(f.size).unwrap_or(usize::MAX).min(bytes.len());
    let (mut at, mut lines) = (0, Vec::new());
    while at + 4 <= size {
        let code = &bytes[at..size];
        let (text, len) = match rj_isa::decode(target, code) {
            Ok(inst) => (rj_isa::print(&inst), usize::from(inst.len).clamp(4, code.len())),
            Err(_) => {
                let word = u32::from_le_bytes([code[0], code[1], code[2], code[3]]);
                (format!(".long {word:#010x}"), 4)
            }
        };
        let pc = f.address + at as u64;
        let mut line = format!("{text:59} // {pc:012X}:");
        for w in code[..len].chunks_exact(4) {
            let _ = write!(line, " {:08X}", u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
        }
        if text.starts_with("s_branch") || text.starts_with("s_cbranch") {
            let offset = i64::from(i16::from_le_bytes([code[0], code[1]])) * 4;
            let to = (pc + 4).wrapping_add_signed(offset);
            let _ = write!(line, " <{}+{:#x}>", f.name, to.wrapping_sub(f.address));
        }
        lines.push(line);
        at += len;
    }
    lines
}
