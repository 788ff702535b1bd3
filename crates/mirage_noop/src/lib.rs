//! The backend that runs commands as they are, with no emulation: for trying the tooling.
#![forbid(unsafe_code)]

use mirage_core::Error;
use mirage_core::backend::{Backend, Env, Injection, Installed, Registered, Supported};
use mirage_core::defs::EmulatorDef;
use std::path::Path;

struct Noop;

impl Backend for Noop {
    fn name(&self) -> &'static str {
        "noop"
    }

    fn description(&self) -> &'static str {
        "no-op emulator: runs commands directly"
    }

    fn installed(&self, _: &Path, _: Env<'_>) -> Installed {
        Installed { yes: true, ..Installed::default() }
    }

    fn supported(&self) -> Supported {
        Supported { yes: true, reason: "needs nothing".into() }
    }

    fn preference(&self) -> u32 {
        0
    }

    fn prepare(&self, _: &EmulatorDef, _: &Path, _: &Path) -> Result<(), Error> {
        Ok(())
    }

    fn injection(&self, _: &Path, _: Env<'_>, _: &Path, _: &Path) -> Result<Injection, Error> {
        Ok(Injection::default())
    }
}

mirage_core::backend::inventory::submit! { Registered(&Noop) }
