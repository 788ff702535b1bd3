//! The trace, rj.log: lines led by `[rj]` about what the GPU does, for a person who reads along. Written only if the
//! configuration asks for it; a trace that cannot be written costs one line and nothing else.

use crate::{Errno, hostfd, raw};
use rj_vm::TraceLevel;
use std::ffi::CString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An open trace.
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    level: TraceLevel,
    fd: RawFd,
}

impl Trace {
    /// Opens the file to append to; several processes may share it.
    pub fn open(level: TraceLevel, path: &Path) -> Result<Trace, Errno> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)?;
        let fd = hostfd::keep(raw::append(&name)?)?;
        Ok(Trace { level, fd })
    }

    /// Whether lines of this level are written.
    pub fn wants(&self, level: TraceLevel) -> bool {
        level <= self.level
    }

    /// Writes lines of this level, if it is wanted, in one piece.
    pub fn write(&self, level: TraceLevel, text: &str) {
        if self.wants(level) {
            let lines: String = text.lines().map(|line| format!("[rj] {line}\n")).collect();
            raw::write_all(self.fd, &lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_chosen_level_and_below_are_appended() {
        let path = std::env::temp_dir().join(format!("rj-trace-{}", std::process::id()));
        for _ in 0..2 {
            let t = Trace::open(TraceLevel::Launch, &path).unwrap();
            t.write(TraceLevel::Fault, "wrong\n  at a place");
            t.write(TraceLevel::Launch, "kernel");
            t.write(TraceLevel::All, "queue");
        }
        let once = "[rj] wrong\n[rj]   at a place\n[rj] kernel\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), once.repeat(2));
        std::fs::remove_file(&path).unwrap();
        assert!(Trace::open(TraceLevel::All, Path::new("/no/such/directory/x")).is_err());
    }
}
