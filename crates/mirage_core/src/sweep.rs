//! Clearing away what a killed mirage left: its session's processes and its directory.
//!
//! Only transient sessions (those with a `lease`) whose locks are free; only processes that carry the session's key.

use crate::defs::SessionDef;
use crate::files::{LockState, lock_state};
use crate::session::remove_tree;
use crate::{Roots, ids};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Removes dead transient sessions. What cannot be removed now stays for the next sweep; gives the ids that went.
pub fn sweep(roots: &Roots) -> Vec<String> {
    let sessions = roots.sessions();
    let Ok(entries) = std::fs::read_dir(&sessions) else { return Vec::new() };
    let mut gone = Vec::new();
    let mut half_built = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(".new-") {
            half_built.push(entry.path());
        } else if ids::is_session(&name) && is_dead(&entry.path()) {
            if let Some(key) = key(&entry.path()) {
                end_processes(&key);
            }
            if remove_tree(&entry.path()).is_ok() {
                gone.push(name);
            }
        }
    }
    if !half_built.is_empty() {
        remove_half_built(&sessions, &half_built);
    }
    gone
}

fn is_dead(session: &Path) -> bool {
    let free = |name: &str| matches!(lock_state(&session.join(name)), Ok(LockState::Free));
    free("lease") && free("node/0/lock") && !session.join("detached").exists()
}

/// Builders hold `.build` shared until their directory has its name: with it held exclusively, none is alive.
fn remove_half_built(sessions: &Path, paths: &[std::path::PathBuf]) {
    let Ok(guard) = File::open(sessions.join(".build")) else { return };
    match guard.try_lock() {
        Ok(()) => paths.iter().for_each(|p| drop(remove_tree(p))),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
    }
}

fn key(session: &Path) -> Option<String> {
    let text = std::fs::read(session.join("def.json")).ok()?;
    let def: SessionDef = serde_json::from_slice(&text).ok()?;
    (def.key.len() == 32).then_some(def.key)
}

/// Kills every process whose environment has this key, but not this one and its ancestors.
///
/// The pidfd is opened before the environment is read, so the signal reaches the process that was looked at.
pub fn end_processes(key: &str) -> usize {
    let mark = format!("MIRAGE_KEY={key}");
    let spared = ancestors();
    let mut killed = 0;
    // Forking processes may escape one pass.
    for _ in 0..20 {
        let mut found = 0;
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()).and_then(Pid::from_raw) else {
                continue;
            };
            if spared.contains(&pid) {
                continue;
            }
            let Ok(fd) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environ.split(|&b| b == 0).any(|v| v == mark.as_bytes()) && pidfd_send_signal(&fd, Signal::KILL).is_ok()
            {
                found += 1;
            }
        }
        killed += found;
        if found == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    killed
}

fn ancestors() -> Vec<Pid> {
    let mut chain = vec![rustix::process::getpid()];
    while let Some(parent) = chain.last().copied().and_then(parent) {
        if chain.contains(&parent) {
            break;
        }
        chain.push(parent);
    }
    chain
}

fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The command may contain blanks and parentheses: fields count from the last closing one.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok().and_then(Pid::from_raw)
}
