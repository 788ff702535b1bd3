//! A program's own SIGSEGV and SIGBUS handlers work as without a GPU.

mod common;
use common::{Session, texts};
use std::os::unix::process::ExitStatusExt;

fn ends(how: &str, signal: i32, stdout: &str) {
    let s = Session::new();
    let program = s.compile("signals.c", "cc", &["-Wno-infinite-recursion"]);
    let out = s.command(program).arg(how).output().unwrap();
    assert_eq!((out.status.signal(), texts(&out)), (Some(signal), (stdout.into(), String::new())), "{how}");
}

#[test]
fn handlers_set_after_the_gpu_was_opened_are_called() {
    ends("after", libc::SIGSEGV, "done\n");
}

#[test]
fn handlers_set_before_the_gpu_was_opened_stay() {
    ends("before", libc::SIGSEGV, "done\n");
}

#[test]
fn without_a_handler_a_fault_or_a_signal_kills_as_it_should() {
    ends("die", libc::SIGSEGV, "");
    ends("raise", libc::SIGBUS, "");
    ends("ignored", libc::SIGSEGV, "");
}
