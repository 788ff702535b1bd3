//! mirage's verbs: arguments become a plan, the plan is carried out, errors become text and an exit code.
//!
//! One module per verb. What needs no command line lives in mirage_core.
#![forbid(unsafe_code)]

pub mod cli;
mod context;
mod demo;
mod emulators;
mod kernel;
mod paths;
mod run;
mod screen;
mod stage;

use clap::Parser;
use cli::{Cli, Verb};
use context::Context;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs mirage with these arguments, program name first.
pub fn main(args: Vec<OsString>) -> ExitCode {
    // The hidden stage comes first: it must cost nothing and takes any bytes.
    if let Some(code) = stage::try_main(&args) {
        return code;
    }
    if args.len() <= 1 {
        return screen::welcome();
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2));
        }
    };
    let context = Context::new(&cli);
    let result = match cli.verb {
        Verb::Run(args) => run::main(&context, args),
        Verb::Demo(args) => demo::main(&context, args),
        Verb::Emulators(args) => emulators::main(&context, args),
        Verb::Paths(args) => paths::main(&context, args),
        Verb::Kernel(args) => kernel::main(&context, args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            screen::error(&e, context.json);
            ExitCode::from(e.exit)
        }
    }
}
