//! `mirage run` on a terminal: the program gets it when it reads, and the keys reach the program.

mod common;

use common::{Mirage, until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// A session leader on a terminal of its own, and all that the terminal showed.
struct Terminal {
    keys: File,
    child: Child,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    /// Runs `script` in a shell whose controlling terminal it is.
    fn start(m: &Mirage, script: &str) -> Terminal {
        let keys: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let end = || Stdio::from(File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap());
        let mut command = Command::new("setsid");
        // Opening the other end must not make it this process's terminal: setsid -c does that for the shell.
        command.args(["-c", "-w", "sh", "-c", script]).env("MIRAGE", env!("CARGO_BIN_EXE_mirage"));
        command.env("MIRAGE_RUNTIME", m.runtime());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let keys = File::from(keys);
        let mut reader = keys.try_clone().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let copy = shown.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The last user of the other end closing it is an error here: the end.
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                copy.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        });
        Terminal { keys, child, shown }
    }

    fn wait_for(&self, text: &str) {
        until(&format!("the terminal shows {text:?}"), || self.shown.lock().unwrap().contains(text));
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }
}

#[test]
fn a_program_reads_lines_and_the_interrupt_key_ends_it() {
    let m = Mirage::new("tty-read");
    let mut t = Terminal::start(
        &m,
        "\"$MIRAGE\" run --emulator noop -- sh -c 'echo ready; read x; echo got-$x; exec cat'; echo rc=$?",
    );
    t.wait_for("ready");
    t.press("word\n");
    t.wait_for("got-word");
    t.press("line\n");
    t.wait_for("line\r\nline");
    t.press("\x03");
    t.wait_for("rc=130");
    assert!(t.child.wait().unwrap().success());
}

#[test]
fn a_pipeline_keeps_the_terminal_for_its_reader() {
    let m = Mirage::new("tty-pipe");
    let script = "\"$MIRAGE\" run --emulator noop -- echo ready | { cat; read x < /dev/tty; echo got-$x; }";
    let mut t = Terminal::start(&m, script);
    t.wait_for("ready");
    t.press("word\n");
    t.wait_for("got-word");
    assert!(t.child.wait().unwrap().success());
}

#[test]
fn the_stop_key_stops_and_continuing_goes_on() {
    let m = Mirage::new("tty-stop");
    // A shell with job control: mirage is its foreground job.
    let script = "set -m; \"$MIRAGE\" run --emulator noop -- sh -c 'echo ready; read x; echo got-$x; exit 4'; echo rc=$?; \
                  fg; echo rc=$?";
    let mut t = Terminal::start(&m, script);
    t.wait_for("ready");
    t.press("\x1a");
    // 128 + SIGSTOP or SIGTSTP: how shells show a stopped job.
    until("the job stopped", || {
        let shown = t.shown.lock().unwrap();
        shown.contains("rc=147") || shown.contains("rc=148")
    });
    t.press("word\n");
    t.wait_for("got-word");
    t.wait_for("rc=4");
    assert!(t.child.wait().unwrap().success());
}
