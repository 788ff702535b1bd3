//! A mirage of one's own: the built binary with directories that no other test sees.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Directories of one test, removed at its end.
pub struct Mirage {
    pub root: PathBuf,
}

impl Mirage {
    pub fn new(test: &str) -> Mirage {
        let root = std::env::temp_dir().join(format!("mirage-test-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for dir in ["home", "runtime"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        Mirage { root }
    }

    /// The binary, with an environment that does not depend on the caller's.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut c = Command::new(env!("CARGO_BIN_EXE_mirage"));
        c.args(args).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.root.join("home"));
        c.env("MIRAGE_RUNTIME", self.runtime()).env("LANG", "C");
        c
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// `mirage run -- sh -c SCRIPT`, with flags before the dashes.
    pub fn sh(&self, flags: &[&str], script: &str) -> Output {
        self.run(&[&["run"], flags, &["--", "sh", "-c", script]].concat())
    }

    pub fn runtime(&self) -> PathBuf {
        self.root.join("runtime")
    }

    /// What lies in the directory of sessions.
    pub fn sessions(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.runtime().join("session")).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
        names.retain(|n| n != ".build");
        names.sort();
        names
    }
}

impl Drop for Mirage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits until something is so; fails after a generous time.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a process is there and not a zombie.
pub fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

pub fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rj_code/tests/data").join(name).display().to_string()
}
