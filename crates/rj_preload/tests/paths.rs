//! Every function of libc that takes a path, and every way to look such a function up.

mod common;
use common::{Session, library, passed};
use std::process::Command;

#[test]
fn every_libc_function_that_takes_a_path_sees_the_gpu() {
    let s = Session::new();
    for flags in [&["-O0"][..], &["-O2", "-D_FORTIFY_SOURCE=2"]] {
        let program = s.compile("paths.c", "cc", flags);
        assert_eq!(passed(&mut s.command(program)), "done\n");
    }
}

#[test]
fn shell_tools_list_and_read_the_drivers_files() {
    let s = Session::new();
    let run = |script: &str| passed(s.command("sh").args(["-c", script]));
    assert!(run("ls -l /dev/kfd /dev/dri/renderD128").starts_with("crw-rw-rw-"));
    assert_eq!(run("cat /sys/module/amdgpu/initstate"), "live\n");
    assert_eq!(run("cd /sys/class/kfd && cd kfd && cat topology/generation_id && pwd -P").lines().count(), 2);
    assert_eq!(run("find /sys/class/kfd/ -name kfd"), "/sys/class/kfd/\n/sys/class/kfd/kfd\n");
    assert!(
        run("ls /sys/bus/pci/devices/").lines().count()
            >= std::fs::read_dir("/sys/bus/pci/devices").map_or(0, |d| d.count())
    );
}

#[test]
fn every_export_is_found_by_a_librarys_handle() {
    let s = Session::new();
    let symbols = passed(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(library()));
    let program = s.compile("byhandle.c", "cc", &[]);
    let missed = passed(s.command(program).args(symbols.lines()));
    assert_eq!(missed, "", "not answered by handle");
}
