//! What the tests share: a session directory, programs compiled at test time, and running them preloaded.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A session: a directory with a configuration, and where its processes leave their records.
pub struct Session {
    pub dir: PathBuf,
}

impl Session {
    pub fn new() -> Session {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("s-{}-{n}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(dir.join("rt")).unwrap();
        std::fs::write(dir.join("rt/rj.json"), r#"{"gpu": "mi300x", "num_gpus": 1, "cpu_thread_budget": 2}"#).unwrap();
        std::fs::write(dir.join("rt/config_path"), "rj.json\n").unwrap();
        Session { dir }
    }

    /// A program of tests/c, compiled with `cc` and these flags.
    pub fn compile(&self, source: &str, cc: &str, flags: &[&str]) -> PathBuf {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source);
        let out = self.dir.join(source.replace(".c", ""));
        let mut c = Command::new(cc);
        c.arg("-o").arg(&out).arg(&src).args(["-O1", "-g", "-Wall", "-pthread"]).args(flags);
        let done = c.output().unwrap_or_else(|e| panic!("cannot run {cc}: {e}"));
        assert!(done.status.success(), "{c:?}:\n{}", String::from_utf8_lossy(&done.stderr));
        out
    }

    /// A command with the library preloaded.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut c = self.plain(program);
        c.env("LD_PRELOAD", library());
        c
    }

    /// The same without the library.
    pub fn plain(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut c = Command::new(program);
        c.env_remove("LD_PRELOAD").env("ROCJITSU_RUNTIME_DIR", self.dir.join("rt"));
        c.env("ROCJITSU_RECORD_DIR", self.dir.join("rec")).stdin(Stdio::null());
        c
    }

    /// Compiles and runs one of tests/c, which checks itself.
    pub fn check(&self, source: &str, args: &[&str]) -> String {
        let program = self.compile(source, "cc", &[]);
        passed(self.command(program).args(args))
    }

    /// The records that processes left, by pid.
    pub fn records(&self) -> Vec<serde_json::Value> {
        let Ok(dir) = std::fs::read_dir(self.dir.join("rec")) else { return Vec::new() };
        dir.map(|e| serde_json::from_slice(&std::fs::read(e.unwrap().path()).unwrap()).unwrap()).collect()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

/// librocjitsu.so of this build.
pub fn library() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let lib = exe.parent().unwrap().join("librocjitsu.so");
    assert!(lib.is_file(), "{} is missing", lib.display());
    lib
}

/// Runs to a successful end without a word on stderr; returns stdout.
pub fn passed(c: &mut Command) -> String {
    let out = c.output().unwrap_or_else(|e| panic!("{c:?}: {e}"));
    let (stdout, stderr) = texts(&out);
    assert!(out.status.success() && stderr.is_empty(), "{c:?}: {}\n{stdout}\n{stderr}", out.status);
    stdout
}

/// stdout and stderr.
pub fn texts(out: &Output) -> (String, String) {
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}
