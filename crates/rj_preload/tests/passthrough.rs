//! Programs that have their own ideas about memory, loading and libc still run, and still find the GPU.

mod common;
use common::{Session, library, passed, texts};

#[test]
fn a_program_may_map_memory_and_open_the_gpu_before_any_constructor_ran() {
    Session::new().check("early.c", &[]);
}

#[test]
fn threads_that_allocate_and_open_the_gpu_do_not_meet() {
    Session::new().check("threads.c", &[]);
}

#[test]
fn python_finds_the_gpu_and_ctypes_gets_the_claimed_functions_by_handle() {
    let s = Session::new();
    let script = r#"
import ctypes, os
libc = ctypes.CDLL("libc.so.6", use_errno=True)
everyone = ctypes.CDLL(None)
address = lambda lib, f: ctypes.cast(getattr(lib, f), ctypes.c_void_p).value
for f in "mmap", "munmap", "open", "ioctl", "close":
    assert address(libc, f) == address(everyone, f), f
fd = libc.open(b"/dev/kfd", os.O_RDWR)
assert fd >= 0, os.strerror(ctypes.get_errno())
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
# A function of another library stays that library's.
own = ctypes.CDLL(os.environ["OWN"])
assert own.dup2() == 4711
p = libc.mmap(None, 4096, 3, 0x22, -1, 0)
assert p and p != 2**64 - 1
assert os.listdir("/dev/dri") and os.path.exists("/dev/dri/renderD128")
print("done")
"#;
    let own = s.dir.join("own.c");
    std::fs::write(&own, "int dup2(void) { return 4711; }\n").unwrap();
    let so = s.dir.join("libown.so");
    passed(std::process::Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).args([&so, &own]));
    let out = passed(s.command("python3").args(["-c", script]).env("OWN", &so));
    assert_eq!(out, "done\n");
}

#[test]
fn a_program_that_never_touches_the_gpu_gets_no_thread_no_fd_and_no_signal_handler() {
    let s = Session::new();
    let program = s.compile("footprint.c", "cc", &[]);
    let without = passed(&mut s.plain(&program));
    assert!(without.contains("threads 3 ") && without.contains("SigCgt"), "{without}");
    assert_eq!(passed(&mut s.command(&program)), without);
    assert!(!s.dir.join("rt/fs").exists() && s.records().is_empty());
}

#[test]
fn without_a_configuration_nothing_is_claimed() {
    let s = Session::new();
    std::fs::remove_file(s.dir.join("rt/config_path")).unwrap();
    let out = s.command("ls").arg("/sys/module/amdgpu").output().unwrap();
    let plain = s.plain("ls").arg("/sys/module/amdgpu").output().unwrap();
    assert_eq!((out.status.code(), texts(&out)), (plain.status.code(), texts(&plain)));
    assert!(!s.dir.join("rt/fs").exists());
}

#[test]
fn a_configuration_that_cannot_be_read_is_said() {
    let s = Session::new();
    std::fs::write(s.dir.join("rt/rj.json"), "{").unwrap();
    let out = s.command("test").args(["-e", "/dev/kfd"]).output().unwrap();
    let (_, stderr) = texts(&out);
    assert!(stderr.starts_with("rocjitsu: no GPU: ") && stderr.contains("rj.json"), "{stderr}");
}

/// gcc's or clang's sanitizer: clean runs are clean, a heap overflow is found.
fn sanitized(cc: &str, flags: &[&str], preload: &str, options: &str) {
    let s = Session::new();
    let program = s.compile("overflow.c", cc, flags);
    let run = |arg: &[&str]| {
        let mut c = s.command(&program);
        c.args(arg).env("LD_PRELOAD", preload).env("ASAN_OPTIONS", format!("{options}:detect_leaks=0"));
        c
    };
    assert_eq!(passed(&mut run(&[])), "clean\n");
    let (_, stderr) = texts(&run(&["16"]).output().unwrap());
    assert!(stderr.contains("heap-buffer-overflow"), "{cc} {flags:?}: {stderr}");
}

#[test]
fn under_gccs_address_sanitizer_in_either_order() {
    let lib = library().display().to_string();
    sanitized("gcc", &["-fsanitize=address"], &lib, "verify_asan_link_order=0");
    let asan = std::process::Command::new("gcc").arg("-print-file-name=libasan.so").output().unwrap();
    let asan = texts(&asan).0;
    sanitized("gcc", &["-fsanitize=address"], &format!("{} {lib}", asan.trim()), "");
}

#[cfg(feature = "rootfs")]
#[test]
fn under_clangs_address_sanitizer_static_and_shared() {
    let lib = library().display().to_string();
    sanitized("clang-22", &["-fsanitize=address"], &lib, "");
    let dir =
        std::process::Command::new("clang-22").arg("-print-file-name=libclang_rt.asan-x86_64.so").output().unwrap();
    let path = texts(&dir).0.trim().to_owned();
    let path = if std::path::Path::new(&path).is_absolute() {
        path
    } else {
        "/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.asan-x86_64.so".to_owned()
    };
    let rpath = format!("-Wl,-rpath,{}", std::path::Path::new(&path).parent().unwrap().display());
    let flags = ["-fsanitize=address", "-shared-libasan", &rpath];
    sanitized("clang-22", &flags, &lib, "verify_asan_link_order=0");
    sanitized("clang-22", &flags, &format!("{path} {lib}"), "");
}

#[cfg(feature = "rootfs")]
#[test]
fn under_jemalloc_in_either_order() {
    let s = Session::new();
    let program = s.compile("threads.c", "cc", &[]);
    let (lib, jemalloc) = (library().display().to_string(), "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
    assert!(std::path::Path::new(jemalloc).exists(), "libjemalloc2 is not installed");
    for preload in [format!("{lib} {jemalloc}"), format!("{jemalloc} {lib}")] {
        passed(s.command(&program).env("LD_PRELOAD", preload));
    }
}
