//! Generation, tests, benchmarks: `cargo xtask <command>`.

mod bench;
mod fuzz;
mod gen_isa;
mod test;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let r = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["gen"] => gen_isa::run(false),
        ["gen", "--check"] => gen_isa::run(true),
        ["fuzz", what] => fuzz::run(what, "60"),
        ["fuzz", what, seconds] => fuzz::run(what, seconds),
        ["test"] => test::all(),
        ["bench"] => bench::run(),
        ["rootfs", kind] => test::rootfs(kind).map(|dir| println!("{}", dir.display())),
        _ => Err("usage: cargo xtask test | bench | rootfs sid|trixie|bookworm | gen [--check] | fuzz isa [seconds]"
            .to_string()),
    };
    match r {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("xtask: {e}");
            ExitCode::FAILURE
        }
    }
}
