//! `mirage run` as its user and the workload see it.

mod common;

use common::{Mirage, alive, text, until};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

fn signal(pid: u32, name: &str) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    use rustix::process::Signal;
    let signal = match name {
        "INT" => Signal::INT,
        "TERM" => Signal::TERM,
        "HUP" => Signal::HUP,
        "QUIT" => Signal::QUIT,
        "USR1" => Signal::USR1,
        "USR2" => Signal::USR2,
        "WINCH" => Signal::WINCH,
        "KILL" => Signal::KILL,
        _ => unreachable!(),
    };
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Starts `mirage run -- sh -c SCRIPT` and waits for its first line.
fn start(m: &Mirage, script: &str) -> (Child, String, BufReader<std::process::ChildStdout>) {
    let mut command = m.command(&["run", "--profile", "mi300x", "--", "sh", "-c", script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    (child, line.trim().to_string(), out)
}

#[test]
fn the_exit_code_is_the_programs_own() {
    let m = Mirage::new("exit");
    for code in [0, 1, 7, 127, 255] {
        assert_eq!(m.sh(&[], &format!("exit {code}")).status.code(), Some(code));
    }
    assert_eq!(m.sh(&[], "kill -SEGV $$").status.code(), Some(139));
    assert_eq!(m.sh(&[], "kill -KILL $$").status.code(), Some(137));
    assert_eq!(m.sessions(), [""; 0]);
}

#[test]
fn a_command_that_cannot_start_says_why() {
    let m = Mirage::new("start");
    let missing = m.run(&["run", "--", "no-such-program"]);
    assert_eq!(missing.status.code(), Some(127));
    let expected = "mirage: cannot start 'no-such-program': not found in PATH=/usr/local/bin:/usr/bin:/bin\n";
    assert_eq!(text(&missing.stderr), expected);
    let plain = m.root.join("plain");
    std::fs::write(&plain, "text").unwrap();
    let denied = m.run(&["run", "--", plain.to_str().unwrap()]);
    assert_eq!(denied.status.code(), Some(126));
    assert!(text(&denied.stderr).ends_with(": permission denied\n"), "{}", text(&denied.stderr));
    // Executable, but nothing that the kernel or a shell can run.
    std::fs::write(&plain, "\x7fELF broken").unwrap();
    std::fs::set_permissions(&plain, PermissionsExt::from_mode(0o755)).unwrap();
    let broken = m.run(&["run", "--", plain.to_str().unwrap()]);
    assert!(matches!(broken.status.code(), Some(126 | 127)), "{broken:?}");
    assert_eq!(m.sessions(), [""; 0]);
}

#[test]
fn streams_pass_byte_for_byte() {
    let m = Mirage::new("streams");
    let bytes: Vec<u8> = (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut command = m.command(&["run", "--", "sh", "-c", "cat; printf err >&2"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let sent = bytes.clone();
    let writer = std::thread::spawn(move || stdin.write_all(&sent).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(out.stdout == bytes, "{} bytes came out of {}", out.stdout.len(), bytes.len());
    assert_eq!(text(&out.stderr), "err");
}

#[test]
fn every_signal_reaches_the_program_exactly_once() {
    let m = Mirage::new("signals");
    let names = ["INT", "HUP", "QUIT", "USR1", "USR2", "WINCH"];
    let traps: String = names.iter().map(|n| format!("trap 'echo {n}' {n}; ")).collect();
    // A child of the shell's own would be in the group and get the signals, too: the builtin read waits instead.
    let script = format!("{traps} trap 'exit 5' TERM; echo ready; exec 3<>fifo; while :; do read x <&3; done");
    let fifo = m.root.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let script = script.replace("fifo", fifo.to_str().unwrap());
    let (mut child, first, mut out) = start(&m, &script);
    assert_eq!(first, "ready");
    for name in names {
        signal(child.id(), name);
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), name);
    }
    signal(child.id(), "TERM");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("", Some(5)));
}

#[test]
fn an_untrapped_signal_ends_the_run_with_its_code() {
    let m = Mirage::new("untrapped");
    for (name, code) in [("TERM", 143), ("INT", 130), ("USR1", 138)] {
        // A shell that waits for a child it has just started may miss an INT: the program itself waits.
        let (mut child, _, _) = start(&m, "echo ready; exec sleep 1000");
        signal(child.id(), name);
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
    assert_eq!(m.sessions(), [""; 0]);
}

#[test]
fn what_the_program_leaves_running_ends_with_it() {
    let m = Mirage::new("orphans");
    let out = m.sh(
        &[],
        "sleep 1000 & echo $!; setsid sh -c 'trap \"\" TERM; echo $$ >&2; while :; do sleep 1; done' >/dev/null & \
         sleep 0.3; exit 3",
    );
    assert_eq!(out.status.code(), Some(3));
    let pids = text(&out.stdout) + &text(&out.stderr);
    assert_eq!(pids.split_whitespace().count(), 2, "{pids}");
    for pid in pids.split_whitespace() {
        assert!(!alive(pid), "process {pid} is left");
    }
    assert_eq!(m.sessions(), [""; 0]);
}

#[test]
fn a_killed_mirage_takes_the_program_along_and_the_next_start_removes_the_rest() {
    let m = Mirage::new("killed");
    let (mut child, first, _) = start(&m, "setsid sleep 1000 & echo $$ $! $MIRAGE_SESSION; sleep 1000");
    let words: Vec<&str> = first.split_whitespace().collect();
    signal(child.id(), "KILL");
    child.wait().unwrap();
    until("the program is gone", || !alive(words[0]));
    assert_eq!(m.sessions(), [words[2]]);
    assert!(alive(words[1]), "the test's stray process ended by itself");
    let next = m.sh(&["-v"], "true");
    let said = text(&next.stderr);
    assert!(said.contains(&format!("removed session {}, whose mirage was killed", words[2])), "{said}");
    assert_eq!(m.sessions(), [""; 0]);
    until("the stray process is gone", || !alive(words[1]));
}

#[test]
fn a_live_session_is_not_swept_away() {
    let m = Mirage::new("live");
    let (mut child, session, _) = start(&m, "echo $MIRAGE_SESSION; sleep 1000");
    assert_eq!(m.sh(&[], "true").status.code(), Some(0));
    assert_eq!(m.sessions(), [session]);
    signal(child.id(), "TERM");
    child.wait().unwrap();
    assert_eq!(m.sessions(), [""; 0]);
}

#[test]
fn the_environment_is_the_callers_the_emulators_and_the_users() {
    let m = Mirage::new("env");
    let script = "echo $A $B $C $NCCL_IB_DISABLE $HSA_ENABLE_SDMA; echo $LD_PRELOAD; echo $MIRAGE_SESSION $MIRAGE_RANK";
    let flags = ["--env", "B=user", "--env", "C=x=y", "--env", "HSA_ENABLE_SDMA=0", "--env", "MIRAGE_SESSION=mine"];
    let args = [&["run"], &flags[..], &["--", "sh", "-c", script]].concat();
    let mut command = m.command(&args);
    let out = command.env("A", "caller").env("B", "caller").env("LD_PRELOAD", "").output().unwrap();
    let out = text(&out.stdout);
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[0], "caller user x=y 1 0");
    assert!(lines[1].ends_with("/librocjitsu.so"), "{out}");
    assert!(lines[2].starts_with("s-20") && lines[2].ends_with(" 0"), "{out}");

    let noop = m.sh(&["--emulator", "noop"], "echo [$LD_PRELOAD][$ROCJITSU_RUNTIME_DIR]");
    assert_eq!(text(&noop.stdout), "[][]\n");
}

#[test]
fn the_program_starts_in_the_chosen_directory() {
    let m = Mirage::new("workdir");
    let dir = m.root.join("home").canonicalize().unwrap();
    let out = m.sh(&["--workdir", dir.to_str().unwrap()], "pwd");
    assert_eq!(text(&out.stdout).trim(), dir.to_str().unwrap());
    let none = m.sh(&["--workdir", "/no/such/dir"], "pwd");
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(text(&none.stderr), "error[workdir]: the working directory /no/such/dir does not exist\n");
}

#[test]
fn a_session_is_files_that_anyone_can_read() {
    let m = Mirage::new("layout");
    let script = "cd $MIRAGE_RUNTIME/session/$MIRAGE_SESSION && find . | sort | grep -v /rocjitsu/; \
                  cat health.json $(cat rocjitsu/config_path) exec/e-000000/status.json";
    // Writing status.json follows the start: the workload waits for it.
    let script =
        format!("until [ -e $MIRAGE_RUNTIME/session/$MIRAGE_SESSION/exec/e-000000/status.json ]; do :; done; {script}");
    let out = m.sh(&["--profile", "MI210", "--cpu-thread-budget", "3"], &script);
    let out = text(&out.stdout);
    let files = [
        "./def.json",
        "./health.json",
        "./lease",
        "./node/0/lock",
        "./node/0/pid",
        "./exec/next",
        "./exec/e-000000/argv",
        "./exec/e-000000/def.json",
        "./exec/e-000000/status.json",
        "./exec/e-000000/node/0/pid",
        "./exec/e-000000/node/0/lock",
        "./exec/e-000000/node/0/gpu",
    ];
    for file in files {
        assert!(out.lines().any(|l| l == file), "{file} is missing in\n{out}");
    }
    assert!(!out.contains(".tmp."), "{out}");
    for fact in ["\"state\": \"ready\"", "\"gpu\": \"gfx90a_mi210\"", "\"cpu_thread_budget\": 3", "\"started\": true"] {
        assert!(out.contains(fact), "{fact} is missing in\n{out}");
    }
}

#[test]
fn a_static_program_runs_with_a_plain_warning() {
    let m = Mirage::new("static");
    let path = m.root.join("static");
    std::fs::write(&path, static_program()).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let out = m.run(&["run", "--", path.to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(6));
    let warning =
        format!("mirage: warning: {} is statically linked, so it cannot be emulated and sees no GPU\n", path.display());
    assert!(text(&out.stderr).starts_with(&warning), "{}", text(&out.stderr));
}

/// An ELF file whose only code is `exit(6)`.
fn static_program() -> Vec<u8> {
    let mut f = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let base = 0x40_0000u64;
    f.extend([2, 0, 62, 0, 1, 0, 0, 0]);
    f.extend((base + 120).to_le_bytes());
    f.extend(64u64.to_le_bytes());
    f.extend(0u64.to_le_bytes());
    f.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0]);
    f.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    for n in [0, base, base, 132, 132, 4096] {
        f.extend(n.to_le_bytes());
    }
    // mov edi, 6; mov eax, 60; syscall
    f.extend([0xbf, 6, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05]);
    f
}

#[test]
fn the_gpu_records_of_all_processes_make_the_last_line() {
    let m = Mirage::new("records");
    let record = |pid: u32, n: u64| {
        format!(
            r#"echo '{{"program": "/app", "opened_at": "2026-01-01T00:00:00.000Z", "dispatches": {n},
            "wave_instructions": {n}500, "faults": []}}' > $ROCJITSU_RECORD_DIR/{pid}.json; "#
        )
    };
    let out = m.sh(&["-v", "--profile", "mi300x"], &(record(1, 2) + &record(2, 1)));
    let err = text(&out.stderr);
    assert_eq!(err.lines().last(), Some("mirage: gpu: 3 dispatches, 4,000 wave instructions, 0 faults"), "{err}");
    let quiet = m.sh(&[], "true");
    assert_eq!((text(&quiet.stdout), text(&quiet.stderr)), (String::new(), String::new()));
}

#[test]
fn a_rocm_program_that_saw_no_gpu_is_not_taken_for_a_success() {
    let m = Mirage::new("unopened");
    let record = r#"echo '{"program": "/app", "opened_at": null, "runtime": "/lib/libhsa-runtime64.so.1"}' \
        > $ROCJITSU_RECORD_DIR/1.json; "#;
    let out = m.sh(&[], record);
    let err = text(&out.stderr);
    assert!(
        err.starts_with("mirage: warning: exited 0 but never opened the GPU\nmirage: hint: /app loaded /lib"),
        "{err}"
    );
    assert_eq!(out.status.code(), Some(0));
    let failed = m.sh(&[], &format!("{record} exit 1"));
    assert_eq!(text(&failed.stderr), "");
}

#[test]
fn without_its_library_an_emulated_run_is_refused() {
    let m = Mirage::new("library");
    let mut command = m.command(&["run", "--emulator", "rocjitsu", "--", "true"]);
    let out = command.env("ROCJITSU_LIB", "/no/librocjitsu.so").output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    let err = text(&out.stderr);
    let expected = "error[preload-missing]: KMD preload library not found: looked for /no/librocjitsu.so\n\nhint: ";
    assert!(err.starts_with(expected), "{err}");
    let mut command = m.command(&["run", "--", "true"]);
    let out = command.env("ROCJITSU_LIB", "/no/librocjitsu.so").output().unwrap();
    assert_eq!(out.status.code(), Some(1), "it ran unemulated in silence");
    assert_eq!(m.sessions(), [""; 0]);
}

#[test]
fn each_allocation_is_one_of_its_own_unless_the_user_chose() {
    let m = Mirage::new("fragments");
    const NAME: &str = "HSA_DISABLE_FRAGMENT_ALLOCATOR";
    let echo = ["--", "sh", "-c", "echo [$HSA_DISABLE_FRAGMENT_ALLOCATOR]"];
    let run = |flags: &[&str], caller: Option<&str>| {
        let mut command = m.command(&[flags, &echo].concat());
        command.env_remove(NAME);
        if let Some(value) = caller {
            command.env(NAME, value);
        }
        let out = command.output().unwrap();
        (text(&out.stdout), text(&out.stderr).contains("mirage: HSA_DISABLE_FRAGMENT_ALLOCATOR=1: "))
    };
    assert_eq!(run(&["run"], None), ("[1]\n".into(), false));
    assert_eq!(run(&["run", "-v"], None), ("[1]\n".into(), true));
    assert_eq!(run(&["run", "-v"], Some("0")), ("[0]\n".into(), false));
    assert_eq!(run(&["run", "-v", "--env", "HSA_DISABLE_FRAGMENT_ALLOCATOR=0"], None), ("[0]\n".into(), false));
}
