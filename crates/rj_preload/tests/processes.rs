//! Processes that fork, vfork, exec and die: each has its own GPU or none, and nothing stays behind.

mod common;
use common::{Session, passed};
use std::os::unix::process::ExitStatusExt;

#[test]
fn a_forks_child_may_be_the_first_to_use_the_gpu() {
    assert_eq!(Session::new().check("forks.c", &["child-first"]), "done\n");
}

#[test]
fn after_a_fork_the_child_gets_ebadf_and_may_start_afresh_while_the_parent_goes_on() {
    let s = Session::new();
    assert_eq!(s.check("forks.c", &["then-fork"]), "done\n");
    assert_eq!(s.records().len(), 3, "parent, child and its child opened a GPU each");
}

#[test]
fn a_vforks_child_changes_nothing_of_its_parents() {
    assert_eq!(Session::new().check("forks.c", &["vfork"]), "done\n");
}

#[test]
fn forks_while_other_threads_open_and_close_never_hang() {
    assert_eq!(Session::new().check("forks.c", &["storm"]), "done\n");
}

#[test]
fn a_program_may_exec_another_that_uses_the_gpu() {
    let s = Session::new();
    assert_eq!(s.check("execs.c", &["exec"]), "done\n");
    assert_eq!(s.check("execs.c", &[]), "done\n");
    let program = s.compile("execs.c", "cc", &[]);
    let out = passed(s.command("sh").arg("-c").arg(format!("{0} && exec {0}", program.display())));
    assert_eq!(out, "done\ndone\n");
}

#[test]
fn pythons_subprocess_leaves_the_parents_gpu_alone() {
    let s = Session::new();
    let program = s.compile("execs.c", "cc", &[]);
    let script = r#"
import fcntl, os, subprocess, sys
fd = os.open("/dev/kfd", os.O_RDWR)
def alive():
    try:
        fcntl.ioctl(fd, 0x80084b01, b"\0" * 8)
    except OSError as e:
        assert e.errno != 9, e
for _ in range(5):
    assert subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True, close_fds=True).stdout == "done\n"
    assert os.system(sys.argv[1] + " > /dev/null") == 0
    alive()
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(os.path.exists, ["/dev/kfd", "/dev/dri/renderD128"]) == [True, True]
alive()
print("done")
"#;
    assert_eq!(passed(s.command("python3").args(["-c", script]).arg(&program)), "done\n");
}

#[test]
fn a_killed_workload_leaves_nothing_outside_its_session() {
    let s = Session::new();
    let listing = |dir: &str| {
        let mut all: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        all.sort();
        all
    };
    let shm = listing("/dev/shm");
    let script = "import os, signal\nos.open('/dev/kfd', os.O_RDWR)\nos.kill(os.getpid(), signal.SIGKILL)";
    let status = s.command("python3").args(["-c", script]).status().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGKILL));
    assert_eq!(listing("/dev/shm"), shm);
    let left = listing(s.dir.join("rt").to_str().unwrap());
    assert_eq!(left, ["config_path", "fs", "rj.json"]);
}

#[test]
fn processes_that_start_together_share_one_tree() {
    let s = Session::new();
    let mut all: Vec<_> = (0..12)
        .map(|_| {
            let mut c = s.command("cat");
            c.arg("/sys/module/amdgpu/initstate").stdout(std::process::Stdio::piped());
            c.spawn().unwrap()
        })
        .collect();
    for child in all.drain(..) {
        assert_eq!(child.wait_with_output().unwrap().stdout, b"live\n");
    }
    let left = std::fs::read_dir(s.dir.join("rt")).unwrap().count();
    assert_eq!(left, 3, "no temporary tree is left");
}
