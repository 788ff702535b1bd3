//! What every verb may look at: the environment, the roots, how to speak.

use crate::cli::Cli;
use mirage_core::Roots;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) struct Context {
    pub roots: Roots,
    /// The running mirage.
    pub exe: PathBuf,
    pub json: bool,
    pub verbose: u8,
}

impl Context {
    pub fn new(cli: &Cli) -> Context {
        Context {
            roots: Roots::new(&env),
            exe: std::env::current_exe().unwrap_or_else(|_| "mirage".into()),
            json: cli.json,
            verbose: cli.verbose,
        }
    }
}

/// One of the caller's variables.
pub(crate) fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
