//! `cargo xtask test`: installs what the tests need, builds the root file systems, runs everything.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Debian packages that the tests use.
const PACKAGES: &[&str] = &[
    "mmdebstrap",
    "debian-archive-keyring",
    "zstd",
    "gcc",
    "libc6-dev",
    "python3",
    "clang-22",
    "lld-22",
    "llvm-22",
    "libclang-rt-22-dev",
    "libjemalloc2",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(what: &str, cmd: &mut Command) -> Result<(), String> {
    println!("== {what}");
    let started = Instant::now();
    let status = cmd.status().map_err(|e| format!("{what}: cannot start {cmd:?}: {e}"))?;
    println!("== {what}: {:.0} s", started.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(format!("{what} failed ({status})")) }
}

fn cargo(args: &[&str]) -> Command {
    let mut c = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    c.current_dir(root()).args(args);
    c
}

/// Everything, in order; stops at the first failure.
pub fn all() -> Result<(), String> {
    packages(PACKAGES)?;
    let sid = rootfs("sid")?;
    let trixie = rootfs("trixie")?;
    let bookworm = rootfs("bookworm")?;
    run("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    crate::gen_isa::run(true)?;
    run("release build", &mut cargo(&["build", "--release", "--workspace"]))?;
    run("clippy", &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
    run("documentation", doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    let features = features();
    let mut tests = cargo(&["test", "--workspace", "--features", &features]);
    tests
        .env("ROCJITSU_ROOTFS", &sid)
        .env("ROCJITSU_ROOTFS_TRIXIE", &trixie)
        .env("ROCJITSU_ROOTFS_BOOKWORM", &bookworm)
        .env("ROCJITSU_BIN", root().join("target/release"));
    run("tests", &mut tests)
}

/// `rootfs` of each crate that has it.
fn features() -> String {
    let mut all: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).into_iter().flatten().flatten() {
        let manifest = std::fs::read_to_string(entry.path().join("Cargo.toml")).unwrap_or_default();
        if manifest.lines().any(|l| l.starts_with("rootfs =")) {
            let name = manifest.lines().find_map(|l| l.strip_prefix("name = \"")?.strip_suffix('"'));
            all.extend(name.map(|n| format!("{n}/rootfs")));
        }
    }
    all.sort();
    all.join(",")
}

/// Installs what is missing of these Debian packages.
pub fn packages(wanted: &[&'static str]) -> Result<(), String> {
    let missing: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|p| {
            let q = Command::new("dpkg-query").args(["-W", "-f", "${Status}", p]).output();
            !q.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("install ok installed"))
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    run("package lists", Command::new("apt-get").args(["update", "-q"]))?;
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    run("packages", install.args(["install", "-qy", "--no-install-recommends"]).args(missing))
}

/// The root file system of that kind, built if the cache does not have it for this recipe.
pub fn rootfs(kind: &str) -> Result<PathBuf, String> {
    let recipe = root().join("rootfs");
    let mut hash = DefaultHasher::new();
    for file in ["mkrootfs.sh", "rocm.pref"] {
        std::fs::read(recipe.join(file)).map_err(|e| format!("rootfs/{file}: {e}"))?.hash(&mut hash);
    }
    let cache = cache_dir()?.join("rootfs");
    let dir = cache.join(format!("{kind}-{:016x}", hash.finish()));
    if dir.is_dir() {
        return Ok(dir);
    }
    std::fs::create_dir_all(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
    let lock = std::fs::File::create(cache.join(format!("{kind}.lock"))).map_err(|e| format!("lock: {e}"))?;
    lock.lock().map_err(|e| format!("lock: {e}"))?;
    if dir.is_dir() {
        return Ok(dir);
    }
    let tmp = cache.join(format!("{kind}.new"));
    remove(&tmp)?;
    run(&format!("root file system {kind}"), Command::new("bash").arg(recipe.join("mkrootfs.sh")).arg(kind).arg(&tmp))?;
    std::fs::rename(&tmp, &dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    Ok(dir)
}

fn remove(dir: &Path) -> Result<(), String> {
    if dir.exists() { std::fs::remove_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display())) } else { Ok(()) }
}

/// `$ROCJITSU_CACHE`, else `$XDG_CACHE_HOME/rocjitsu`, else `~/.cache/rocjitsu`.
fn cache_dir() -> Result<PathBuf, String> {
    let var = |n: &str| std::env::var_os(n).filter(|v| !v.is_empty()).map(PathBuf::from);
    var("ROCJITSU_CACHE")
        .or_else(|| var("XDG_CACHE_HOME").map(|d| d.join("rocjitsu")))
        .or_else(|| var("HOME").map(|d| d.join(".cache/rocjitsu")))
        .ok_or_else(|| "no cache directory: set ROCJITSU_CACHE".to_string())
}
