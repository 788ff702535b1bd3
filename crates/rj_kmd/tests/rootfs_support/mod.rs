//! Running a program of a root file system with the engine preloaded, for tests. It must not know what is tested.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the root file system named by this environment variable is.
fn directory(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(dir) if Path::new(&dir).join("usr/bin").is_dir() => dir.into(),
        Some(dir) => panic!("{variable}: {dir:?} is no root file system"),
        None => panic!("{variable} is not set: these tests are run by `cargo xtask test`"),
    }
}

/// What a program printed.
#[derive(Debug)]
pub struct Output {
    /// Standard output and error, in that order.
    pub text: String,
}

impl Output {
    /// Fails unless some line has these parts, in this order.
    pub fn has(&self, parts: &[&str]) {
        let found = self.text.lines().any(|line| {
            let mut rest = line;
            parts.iter().all(|p| match rest.find(p) {
                Some(at) => {
                    rest = &rest[at + p.len()..];
                    true
                }
                None => false,
            })
        });
        assert!(found, "no line with {parts:?} in:\n{}", self.text);
    }

    /// How many lines contain this.
    #[allow(dead_code)]
    pub fn count(&self, part: &str) -> usize {
        self.text.lines().filter(|l| l.contains(part)).count()
    }
}

/// Runs `command` (a shell's) in the root file system that `variable` names, on `num_gpus` of `gpu`; it must succeed.
///
/// The mount namespace, and all that is bound into it, ends with the command.
pub fn run(variable: &str, gpu: &str, num_gpus: u32, command: &str) -> Output {
    let root = directory(variable);
    let bin = PathBuf::from(std::env::var_os("ROCJITSU_BIN").expect("ROCJITSU_BIN is not set: run `cargo xtask test`"));
    let engine = bin.join("deps/librocjitsu.so");
    assert!(engine.is_file(), "{} is missing", engine.display());
    let session = tempfile(&format!("{{\"gpu\": \"{gpu}\", \"num_gpus\": {num_gpus}}}\n"));
    let script = r#"
        root=$1 engine=$2 session=$3 command=$4
        mount -t tmpfs tmpfs "$root/mnt" && mkdir "$root/mnt/engine" "$root/mnt/session" "$root/mnt/lib" || exit 99
        mount -t proc proc "$root/proc" && mount -t sysfs -o ro sysfs "$root/sys" && mount --rbind /dev "$root/dev" || exit 99
        mount --bind "$engine" "$root/mnt/engine" && mount --bind "$session" "$root/mnt/session" || exit 99
        mount -t tmpfs tmpfs "$root/tmp" || exit 99
        # The SMI tools look for the name that only libdrm's development package has.
        ln -s /usr/lib/x86_64-linux-gnu/libdrm_amdgpu.so.1 "$root/mnt/lib/libdrm_amdgpu.so"
        exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp LC_ALL=C.UTF-8 \
            LD_LIBRARY_PATH=/mnt/lib LD_PRELOAD=/mnt/engine/librocjitsu.so ROCJITSU_RUNTIME_DIR=/mnt/session \
            sh -c "$command"
    "#;
    let out = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "bash", "-c", script, "_"])
        .arg(&root)
        .arg(engine.parent().unwrap())
        .arg(&session)
        .arg(command)
        .output()
        .expect("unshare");
    std::fs::remove_dir_all(&session).unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command} on {gpu}: {}\n{text}", out.status);
    Output { text }
}

/// A session directory with this configuration.
fn tempfile(config: &str) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("rj-kmd-{}-{number}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("rj_config.json"), config).unwrap();
    std::fs::write(dir.join("config_path"), "rj_config.json\n").unwrap();
    dir
}
