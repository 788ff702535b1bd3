//! The workload's process: started in a process group of its own, signals handed on, job control, exit code.
//!
//! All signals of interest are blocked and fetched one by one, so there is no handler and no race. The child gets the
//! terminal only when it asks for it (it stops with SIGTTIN or SIGTTOU), so that a pipeline's pager keeps it otherwise.

use super::environment::Vars;
use crate::{screen, stage};
use mirage_core::Error;
use nix::sys::signal::{SigSet, Signal as NixSignal};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpgrp, getpid, kill_process, kill_process_group, wait};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is started.
pub(crate) struct Plan<'a> {
    pub vars: Vars,
    /// The workload's LD_PRELOAD.
    pub preload: Option<OsString>,
    pub workdir: PathBuf,
    pub argv: &'a [OsString],
}

/// Handed on to the workload, and nothing else done.
const FORWARDED: [(NixSignal, Signal); 9] = [
    (NixSignal::SIGINT, Signal::INT),
    (NixSignal::SIGTERM, Signal::TERM),
    (NixSignal::SIGHUP, Signal::HUP),
    (NixSignal::SIGQUIT, Signal::QUIT),
    (NixSignal::SIGUSR1, Signal::USR1),
    (NixSignal::SIGUSR2, Signal::USR2),
    (NixSignal::SIGWINCH, Signal::WINCH),
    (NixSignal::SIGCONT, Signal::CONT),
    (NixSignal::SIGTSTP, Signal::TSTP),
];

/// How long what the workload leaves behind has to end by itself.
const GRACE: Duration = Duration::from_millis(300);

/// A running workload.
pub(crate) struct Child {
    pid: Pid,
    signals: SigSet,
    /// The controlling terminal, opened when it is first needed.
    terminal: Option<OwnedFd>,
}

impl Child {
    pub fn start(plan: &Plan<'_>, program: &Path) -> Result<Child, Error> {
        let mut signals = SigSet::empty();
        FORWARDED.iter().for_each(|(s, _)| signals.add(*s));
        signals.add(NixSignal::SIGCHLD);
        let mut blocked = signals;
        // With SIGTTOU blocked, giving and taking the terminal works from the background, too.
        blocked.add(NixSignal::SIGTTOU);
        blocked.thread_block().map_err(|e| Error::new("run", format!("cannot block signals: {e}")))?;
        // A caller that ignores SIGCHLD would leave us without exit codes; any handler undoes that.
        signal_hook::flag::register(NixSignal::SIGCHLD as i32, Default::default())
            .map_err(|e| Error::new("run", format!("cannot handle SIGCHLD: {e}")))?;
        // Orphans of the workload come to us, so that none outlives the run.
        rustix::process::set_child_subreaper(Some(getpid()))
            .map_err(|e| Error::new("run", format!("cannot become the reaper of the workload's processes: {e}")))?;

        // The stage empties the mask again.
        let mut command = std::process::Command::new("/proc/self/exe");
        command.args(stage::arguments()).arg(&plan.argv[0]).arg(program).args(&plan.argv[1..]);
        command.env_clear().envs(plan.vars.iter()).current_dir(&plan.workdir).process_group(0);
        if let Some(list) = &plan.preload {
            command.env(stage::PRELOAD, list);
        }
        let child = command.spawn().map_err(|e| {
            Error::new("run", format!("cannot start the stage before the command: {e}")).hint("is /proc mounted?")
        })?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| Error::new("run", "the workload got no process id"))?;
        Ok(Child { pid, signals, terminal: None })
    }

    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Waits for the workload and for all that it left; gives its exit code, 128 + signal if it was killed.
    pub fn wait(mut self) -> Result<u8, Error> {
        let code = loop {
            if let Some(code) = self.reap()? {
                break code;
            }
            let signal = self.signals.wait().map_err(|e| Error::new("run", format!("cannot wait for signals: {e}")))?;
            if let Some((_, s)) = FORWARDED.iter().find(|(n, _)| *n == signal) {
                // It may be gone already: then there is nobody to tell.
                let _ = kill_process_group(self.pid, *s);
            }
        };
        self.take_terminal();
        end_orphans();
        Ok(code)
    }

    /// Looks at every child that changed. The workload's exit code once it has one.
    fn reap(&mut self) -> Result<Option<u8>, Error> {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) if pid == self.pid => {
                    if let Some(code) = exit_code(status) {
                        return Ok(Some(code));
                    }
                    if let Some(by) = status.stopping_signal() {
                        self.stopped(by);
                    }
                }
                // An orphan that ended, or one that stopped.
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => {
                    return Err(Error::new("run", format!("the workload's exit code is lost: {e}")));
                }
            }
        }
    }

    /// The workload stopped: it wants the terminal, or the user wants the shell.
    fn stopped(&mut self, by: i32) {
        let wants_terminal = by == NixSignal::SIGTTIN as i32 || by == NixSignal::SIGTTOU as i32;
        if wants_terminal && self.give_terminal() {
            let _ = kill_process_group(self.pid, Signal::CONT);
            return;
        }
        self.take_terminal();
        // Stops here as well; SIGCONT is handed on when it comes.
        let _ = kill_process(getpid(), Signal::STOP);
    }

    fn give_terminal(&mut self) -> bool {
        if self.terminal.is_none() {
            let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
            self.terminal = rustix::fs::open("/dev/tty", flags, rustix::fs::Mode::empty()).ok();
        }
        let Some(tty) = &self.terminal else { return false };
        // Only our own turn is given away: in the background, the shell decides.
        rustix::termios::tcgetpgrp(tty).is_ok_and(|group| group == getpgrp() || group == self.pid)
            && rustix::termios::tcsetpgrp(tty, self.pid).is_ok()
    }

    fn take_terminal(&self) {
        if let Some(tty) = &self.terminal
            && rustix::termios::tcgetpgrp(tty).is_ok_and(|group| group == self.pid)
        {
            let _ = rustix::termios::tcsetpgrp(tty, getpgrp());
        }
    }
}

fn exit_code(status: WaitStatus) -> Option<u8> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(code as u8),
        (None, Some(signal)) => Some((128 + signal) as u8),
        _ => None,
    }
}

/// Ends what the workload left behind: TERM, a moment, KILL until there is nobody.
fn end_orphans() {
    if !reap_orphans() {
        return;
    }
    signal_orphans(Signal::TERM);
    let deadline = Instant::now() + GRACE;
    let mut pause = Duration::from_millis(1);
    let mut said = false;
    while reap_orphans() {
        if Instant::now() >= deadline {
            signal_orphans(Signal::KILL);
            if !said && Instant::now() > deadline + Duration::from_secs(5) {
                screen::say("processes of the workload do not end even after SIGKILL; waiting for them");
                said = true;
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Reaps what has ended; true while there are children.
fn reap_orphans() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Children cannot be recycled before we reap them, so their ids are safe to use.
fn signal_orphans(signal: Signal) {
    for task in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for pid in children.split_whitespace().filter_map(|p| Pid::from_raw(p.parse().ok()?)) {
            let _ = kill_process(pid, signal);
        }
    }
}
