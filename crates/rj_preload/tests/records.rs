//! What a process leaves in the record directory.

mod common;
use common::{Session, passed};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

fn runtime(s: &Session) -> PathBuf {
    let (src, lib) = (s.dir.join("hsa.c"), s.dir.join("libhsa-runtime64.so.1"));
    std::fs::write(&src, "int hsa_init(void) { return 0; }\n").unwrap();
    passed(Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&lib, &src]));
    lib
}

#[test]
fn a_process_that_opened_the_gpu_says_when_however_it_ends() {
    for end in ["open", "open,_exit", "open,abort"] {
        let s = Session::new();
        let program = s.compile("runtime.c", "cc", &[]);
        let out = s.command(program).arg(runtime(&s)).arg(end).output().unwrap();
        assert!(out.status.success() || out.status.signal() == Some(libc::SIGABRT), "{end}: {out:?}");
        let records = s.records();
        assert_eq!(records.len(), 1, "{end}");
        let r = &records[0];
        assert!(r["opened_at"].as_str().unwrap().ends_with('Z'), "{end}: {r}");
        assert!(r["runtime"].as_str().unwrap().ends_with("libhsa-runtime64.so.1"), "{end}: {r}");
        assert!(r["program"].as_str().unwrap().ends_with("/runtime"), "{end}: {r}");
    }
}

#[test]
fn a_process_that_loaded_a_runtime_but_opened_no_gpu_is_told_apart() {
    for end in ["return", "_exit"] {
        let s = Session::new();
        let program = s.compile("runtime.c", "cc", &[]);
        passed(s.command(program).arg(runtime(&s)).arg(end));
        let records = s.records();
        assert_eq!(records.len(), 1, "{end}");
        assert!(records[0]["opened_at"].is_null() && records[0]["runtime"].is_string(), "{}", records[0]);
    }
}

#[test]
fn paths_that_the_driver_does_not_have_are_recorded() {
    let s = Session::new();
    let script = "import os\nos.open('/dev/kfd', 2)\n\
                  os.path.exists('/sys/class/kfd/nonsense')";
    passed(s.command("python3").args(["-c", script]));
    let records = s.records();
    let paths = records[0]["unknown_paths"].as_array().unwrap();
    assert!(paths.iter().any(|p| p == "/sys/class/kfd/nonsense"), "{paths:?}");
}
