//! Running real ROCm programs of a root file system on an emulated GPU, for tests. It must not know what is tested.

mod snapshot;

pub use snapshot::{snapshot, trace_snapshot};

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A root file system that holds a ROCm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rocm {
    /// ROCm 7.2.4.
    V7,
    /// Debian 13: ROCr 6.1.2, HIP 5.7.1.
    V57,
    /// Debian 12: ROCr and HIP 5.2.3.
    V52,
}

impl Rocm {
    fn root(self) -> PathBuf {
        let name = match self {
            Rocm::V7 => "ROCJITSU_ROOTFS",
            Rocm::V57 => "ROCJITSU_ROOTFS_TRIXIE",
            Rocm::V52 => "ROCJITSU_ROOTFS_BOOKWORM",
        };
        match std::env::var_os(name) {
            Some(dir) if Path::new(&dir).join("usr/bin").is_dir() => dir.into(),
            Some(dir) => panic!("{name}: {dir:?} is no root file system"),
            None => panic!("{name} is not set: these tests are run by `cargo xtask test`"),
        }
    }
}

/// The workspace's root.
pub fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where built binaries are: mirage, and the engine in `deps/`.
pub fn bin() -> PathBuf {
    std::env::var_os("ROCJITSU_BIN").expect("ROCJITSU_BIN is not set: these tests are run by `cargo xtask test`").into()
}

/// Runs a command in the root file system, in a mount namespace that ends with it. `binds`: host directory, name under
/// /mnt there.
pub fn enter(rocm: Rocm, binds: &[(&Path, &str)], command: &str) -> Output {
    let script = r#"
        root=$1 command=$2; shift 2
        mount -t tmpfs tmpfs "$root/mnt" && mount -t tmpfs tmpfs "$root/tmp" || exit 99
        mount -t proc proc "$root/proc" && mount -t sysfs -o ro sysfs "$root/sys" && mount --rbind /dev "$root/dev" || exit 99
        while [ $# -gt 0 ]; do
            mkdir "$root/mnt/$2" && mount --bind "$1" "$root/mnt/$2" || exit 99
            shift 2
        done
        exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp LC_ALL=C.UTF-8 sh -c "$command"
    "#;
    let mut c = Command::new("unshare");
    c.args(["--mount", "--propagation", "private", "bash", "-c", script, "_"]).arg(rocm.root()).arg(command);
    for (from, to) in binds {
        c.arg(from).arg(to);
    }
    c.output().expect("unshare")
}

/// A directory of its own, removed at the end.
#[derive(Debug)]
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// Makes it.
    pub fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("rj-e2e-{}-{n}", std::process::id()));
        std::fs::create_dir(&dir).expect("a scratch directory");
        Scratch(dir)
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compiles `bench/ocl_bench.c` in the root file system of ROCm 7; answers the directory with it and the kernels.
pub fn opencl_bench() -> Scratch {
    let dir = Scratch::new();
    let sources = workspace().join("bench");
    std::fs::copy(sources.join("kernels.cl"), dir.0.join("kernels.cl")).expect("bench/kernels.cl");
    let o = enter(
        Rocm::V7,
        &[(&sources, "src"), (&dir.0, "out")],
        "gcc -O2 /mnt/src/ocl_bench.c -o /mnt/out/ocl_bench -lOpenCL -lm",
    );
    assert!(o.status.success(), "ocl_bench: {}", text(&o));
    dir
}

/// Compiles a program of tests/hip with hipcc and these options; cached by content outside the tree.
pub fn hipcc(rocm: Rocm, program: &str, options: &str) -> PathBuf {
    compile(rocm, "hip", &[&format!("{program}.hip"), "check.h"], options)
}

/// Compiles the first of these files of tests/`folder` (it may include the others) with hipcc and these options; cached
/// by content outside the tree.
pub fn compile(rocm: Rocm, folder: &str, files: &[&str], options: &str) -> PathBuf {
    let sources = workspace().join("tests").join(folder);
    let mut hash = DefaultHasher::new();
    (rocm.root(), options).hash(&mut hash);
    for f in files {
        std::fs::read(sources.join(f)).unwrap_or_else(|e| panic!("tests/{folder}/{f}: {e}")).hash(&mut hash);
    }
    let cache = rocm.root().join("../../programs");
    std::fs::create_dir_all(&cache).expect("the program cache");
    let program = files[0].split('.').next().unwrap_or_default();
    let out = cache.join(format!("{program}-{:016x}", hash.finish()));
    if out.is_file() {
        return out;
    }
    // Tests of one program on two GPUs run side by side: one compiles, the other waits.
    let lock = std::fs::File::create(cache.join(format!(".{program}.lock"))).expect("a lock in the cache");
    lock.lock().expect("the program's lock");
    if out.is_file() {
        return out;
    }
    let dir = Scratch::new();
    let o = enter(
        rocm,
        &[(&sources, "src"), (&dir.0, "out")],
        &format!("cd /mnt/src && hipcc {options} -o /mnt/out/program {}", files[0]),
    );
    assert!(o.status.success(), "hipcc {program}: {}", text(&o));
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let tmp = cache.join(format!(".{}-{n}-{program}-{:016x}", std::process::id(), hash.finish()));
    std::fs::copy(dir.0.join("program"), &tmp).expect("copy to the cache");
    std::fs::rename(&tmp, &out).expect("rename in the cache");
    out
}

/// The exit code as a shell gives it: 128 + signal if one ended the program.
pub fn code(o: &Output) -> i32 {
    o.status.code().or(o.status.signal().map(|s| 128 + s)).unwrap_or(-1)
}

/// Output and errors as one text.
pub fn text(o: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&o.stdout), String::from_utf8_lossy(&o.stderr))
}

/// How a program is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup<'a> {
    /// Keys of the engine's configuration besides the GPU: `"watchdog": 2`.
    pub config: &'a str,
    /// Variables of the program: `NAME=value NAME=value`.
    pub environment: &'a str,
}

/// Runs a program file in the root file system on an emulated GPU, with the engine preloaded.
pub fn emulate(rocm: Rocm, gpu: &str, program: &Path, arguments: &str) -> Output {
    emulate_with(rocm, gpu, program, arguments, Setup::default())
}

/// The same with more settings.
pub fn emulate_with(rocm: Rocm, gpu: &str, program: &Path, arguments: &str, setup: Setup<'_>) -> Output {
    let session = Scratch::new();
    std::fs::write(session.0.join("config_path"), "rj_config.json\n").expect("config");
    let comma = if setup.config.is_empty() { "" } else { ", " };
    let config = format!("{{\"gpu\": \"{gpu}\"{comma}{}}}\n", setup.config);
    std::fs::write(session.0.join("rj_config.json"), config).expect("config");
    let engine = bin().join("deps");
    assert!(engine.join("librocjitsu.so").is_file(), "{} has no librocjitsu.so", engine.display());
    let (dir, name) = (program.parent().expect("a directory"), program.file_name().expect("a name"));
    enter(
        rocm,
        &[(&engine, "engine"), (&session.0, "session"), (dir, "program")],
        &format!(
            "export {} LD_PRELOAD=/mnt/engine/librocjitsu.so ROCJITSU_RUNTIME_DIR=/mnt/session; \
             exec timeout 300 /mnt/program/{} {arguments}",
            setup.environment,
            name.to_string_lossy()
        ),
    )
}
