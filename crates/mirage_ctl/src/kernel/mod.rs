//! `mirage kernel`: GPU code in files, with no ROCm.

mod arguments;
mod disasm;
mod hidden;
mod list;
mod output;
mod run;

use crate::cli::{FileArgs, KernelArgs, KernelVerb};
use crate::context::Context;
use mirage_core::Error;
use rj_code::{CodeObject, Entry};

pub(crate) fn main(cx: &Context, args: KernelArgs) -> Result<u8, Error> {
    match args.verb {
        KernelVerb::List(args) => list::main(cx, &args),
        KernelVerb::Disasm(args) => disasm::main(cx, &args),
        KernelVerb::Run(args) => run::main(cx, &args),
    }
}

/// The file's code objects, for the wanted GPU only if one is named.
fn entries(args: &FileArgs) -> Result<Vec<Entry>, Error> {
    let data = std::fs::read(&args.file).map_err(|e| Error::io("read", &args.file, e))?;
    let found = match &args.profile {
        Some(name) => rj_code::open_for(&data, mirage_builtin::gpu(name)?.target.name()),
        None => rj_code::open(&data),
    };
    found.map_err(|e| damaged(args, &e))
}

fn damaged(args: &FileArgs, e: &rj_code::Error) -> Error {
    Error::new("code-object", format!("{}: {e}", args.file.display()))
}

fn parse<'a>(args: &FileArgs, entry: &'a Entry) -> Result<CodeObject<'a>, Error> {
    CodeObject::parse(&entry.code).map_err(|e| damaged(args, &e))
}

/// The name that a user most likely meant, out of those there are: the one with the fewest edits, if they are few.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|n| (edits(wanted, n), n)).min()?;
    (near.0 <= wanted.chars().count().div_ceil(3)).then_some(near.1)
}

fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// "no kernel of that name", with the nearest one or all of them.
fn no_kernel<'a>(args: &FileArgs, wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> Error {
    let error = Error::new("kernel-unknown", format!("no kernel '{wanted}' in {}", args.file.display()));
    match nearest(wanted, names.clone()) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => {
            let mut all: Vec<_> = names.collect();
            all.sort_unstable();
            all.dedup();
            let more = all.len().saturating_sub(10);
            all.truncate(10);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            error.hint(format!("there are: {}{more}", all.join(", ")))
        }
    }
}
