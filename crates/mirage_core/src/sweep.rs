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
    // Forking processes may escape one pass, and one in the middle of an exec shows no environment yet.
    for _ in 0..500 {
        let mut found = 0;
        let mut unsure = false;
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()).and_then(Pid::from_raw) else {
                continue;
            };
            if spared.contains(&pid) {
                continue;
            }
            let Ok(fd) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            let Ok(environ) = std::fs::read(entry.path().join("environ")) else { continue };
            unsure |= environ.is_empty() && in_exec(pid);
            if environ.split(|&b| b == 0).any(|v| v == mark.as_bytes()) && pidfd_send_signal(&fd, Signal::KILL).is_ok()
            {
                found += 1;
            }
        }
        killed += found;
        if found == 0 && !unsure {
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
    stat_field(&stat(pid)?, 4)?.parse().ok().and_then(Pid::from_raw)
}

/// Whether a process that showed no environment has one all the same: it was read in the middle of an exec.
///
/// proc(5)'s `env_start` and `env_end` are 0 until the new program's environment is in place.
fn in_exec(pid: Pid) -> bool {
    const PF_KTHREAD: u64 = 0x0020_0000;
    let Some(stat) = stat(pid) else { return false };
    let number = |field| stat_field(&stat, field).and_then(|f| f.parse::<u64>().ok());
    let ended = matches!(stat_field(&stat, 3), Some("Z" | "X") | None);
    let empty = number(50) == number(51) && number(51) != Some(0);
    !ended && number(9).is_some_and(|flags| flags & PF_KTHREAD == 0) && !empty
}

fn stat(pid: Pid) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()
}

/// A field of /proc/PID/stat, numbered as in proc(5), from 3 on.
///
/// The command (field 2) may contain blanks and parentheses: the rest counts from the last closing one.
fn stat_field(stat: &str, number: usize) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(number - 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn pid(child: &std::process::Child) -> Pid {
        Pid::from_raw(child.id() as i32).unwrap()
    }

    #[test]
    fn a_process_that_execs_over_and_over_does_not_escape() {
        // Each of these is in the middle of an exec most of the time.
        let script = "exec sh -c \"$0\" \"$0\"";
        for round in 0..20 {
            let key = format!("{:032x}", u64::from(std::process::id()) << 32 | round);
            let start = || Command::new("sh").args(["-c", script, script]).env("MIRAGE_KEY", &key).spawn().unwrap();
            let mut children: Vec<_> = (0..3).map(|_| start()).collect();
            end_processes(&key);
            for child in &mut children {
                let begun = std::time::Instant::now();
                while child.try_wait().unwrap().is_none() {
                    if begun.elapsed().as_secs() >= 20 {
                        child.kill().unwrap();
                        panic!("round {round}: a process escaped");
                    }
                    std::thread::yield_now();
                }
            }
        }
    }

    #[test]
    fn an_empty_environment_and_a_zombie_are_not_waited_for() {
        let mut bare = Command::new("sleep").arg("1000").env_clear().spawn().unwrap();
        while std::fs::read_link(format!("/proc/{}/exe", bare.id())).unwrap() == std::env::current_exe().unwrap() {
            std::thread::yield_now();
        }
        let settled = std::time::Instant::now();
        while in_exec(pid(&bare)) {
            assert!(settled.elapsed().as_secs() < 60);
        }
        bare.kill().unwrap();
        while stat(pid(&bare)).is_some_and(|s| stat_field(&s, 3) != Some("Z")) {
            std::thread::yield_now();
        }
        assert!(!in_exec(pid(&bare)));
        bare.wait().unwrap();
        assert!(!in_exec(Pid::from_raw(2).unwrap()), "a kernel thread");
    }
}
