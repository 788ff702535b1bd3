//! The stage between mirage and the workload: `mirage shim --leader PARENT ARG0 PROGRAM ARGS…`.
//!
//! It makes the kernel end the workload when mirage dies (a setting that only the process itself can make), then
//! becomes the workload. The preload list travels beside it, so that the stage itself does not load the engine.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Holds the workload's LD_PRELOAD while the stage runs.
pub(crate) const PRELOAD: &str = "MIRAGE_STAGE_PRELOAD";

/// The arguments that make mirage this stage.
pub(crate) fn arguments() -> [OsString; 3] {
    ["shim".into(), "--leader".into(), std::process::id().to_string().into()]
}

/// Becomes the workload if these are the stage's arguments. Returns only if there is none to become.
pub(crate) fn try_main(args: &[OsString]) -> Option<ExitCode> {
    if args.get(1)? != "shim" || args.get(2)? != "--leader" {
        return None;
    }
    let parent: i32 = args.get(3)?.to_str()?.parse().ok()?;
    let (arg0, program, rest) = (args.get(4)?, args.get(5)?, &args[6..]);
    let killed = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // The parent may have died before the line above.
    let alive = rustix::process::getppid().is_some_and(|p| p.as_raw_nonzero().get() == parent);
    if killed.is_err() || !alive {
        return Some(ExitCode::from(137));
    }
    // mirage blocks signals to fetch them one by one, and a mask is inherited.
    let _ = nix::sys::signal::SigSet::all().thread_unblock();
    let mut command = Command::new(program);
    command.arg0(arg0).args(rest).env_remove(PRELOAD);
    if let Some(list) = std::env::var_os(PRELOAD) {
        command.env("LD_PRELOAD", list);
    }
    let e = command.exec();
    let code = if e.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
    crate::screen::say(&format!("cannot start '{}': {}", arg0.to_string_lossy(), crate::run::reason(&e)));
    Some(ExitCode::from(code))
}
