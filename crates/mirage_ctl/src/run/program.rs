//! The command's program: found as execvp would find it, and looked at for what an emulated run cannot work with.

use super::environment::Vars;
use crate::screen;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A program that can be tried.
#[derive(Debug)]
pub(crate) struct Program {
    pub path: PathBuf,
}

/// Why there is none: a shell's exit code and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CannotStart {
    name: OsString,
    code: u8,
    why: String,
}

impl CannotStart {
    /// Says it, gives the exit code.
    pub fn report(&self) -> u8 {
        screen::say(&format!("cannot start '{}': {}", self.name.to_string_lossy(), self.why));
        self.code
    }
}

/// The words of an I/O error without the number.
pub(crate) fn reason(e: &std::io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Finds the program that `name` means in `workdir`, through the workload's own PATH.
pub(crate) fn find(name: &OsStr, workdir: &Path, vars: &Vars) -> Result<Program, CannotStart> {
    let fail = |code, why: String| Err(CannotStart { name: name.into(), code, why });
    if name.is_empty() {
        return fail(127, "its name is empty".into());
    }
    if name.as_bytes().contains(&b'/') {
        let path = workdir.join(name);
        return match usable(&path) {
            Ok(()) => Ok(Program { path }),
            Err((code, why)) => fail(code, why),
        };
    }
    let list = vars.get("PATH").unwrap_or_else(|| "/usr/local/bin:/bin:/usr/bin".into());
    let mut denied = None;
    for dir in std::env::split_paths(&list) {
        let path = workdir.join(dir).join(name);
        match usable(&path) {
            Ok(()) => return Ok(Program { path }),
            Err((126, why)) => denied = denied.or(Some((path, why))),
            Err(_) => {}
        }
    }
    match denied {
        Some((path, why)) => fail(126, format!("{}: {why}", path.display())),
        None => fail(127, format!("not found in PATH={}", list.to_string_lossy())),
    }
}

fn usable(path: &Path) -> Result<(), (u8, String)> {
    let meta = std::fs::metadata(path).map_err(|e| {
        let code = if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) { 127 } else { 126 };
        (code, reason(&e))
    })?;
    if meta.is_dir() {
        return Err((126, "is a directory".into()));
    }
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).map_err(|e| (126, reason(&e.into())))
}

impl Program {
    /// Why nothing can be preloaded into it, if so.
    pub fn not_emulated(&self) -> Option<&'static str> {
        let meta = std::fs::metadata(&self.path).ok()?;
        // Set-uid to the user who runs it changes nothing, and the loader honours preloads.
        let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        if meta.mode() & 0o4000 != 0 && meta.uid() != uid || meta.mode() & 0o2010 == 0o2010 && meta.gid() != gid {
            return Some("is set-uid or set-gid");
        }
        let mut head = Vec::new();
        // Program headers lie right behind the file header in every linker's output.
        std::fs::File::open(&self.path).ok()?.take(64 << 10).read_to_end(&mut head).ok()?;
        let header = elf::FileHeader64::<Endianness>::parse(&*head).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, &*head).ok()?;
        let dynamic = segments.iter().any(|p| p.p_type(endian) == elf::PT_INTERP);
        (!dynamic).then_some("is statically linked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let vars = super::super::environment::caller();
        let root = Path::new("/");
        assert!(find("sh".as_ref(), root, &vars).unwrap().path.ends_with("sh"));
        let code = |name: &str, dir: &Path| find(name.as_ref(), dir, &vars).unwrap_err().code;
        assert_eq!(code("no-such-program-here", root), 127);
        assert_eq!(code("/no/such/program", root), 127);
        assert_eq!(code("/etc/passwd", root), 126);
        assert_eq!(code("/tmp", root), 126);
        assert_eq!(code("", root), 127);
        assert!(find("./sh".as_ref(), Path::new("/bin"), &vars).is_ok());
    }

    #[test]
    fn a_dynamic_program_can_be_emulated() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(Program { path: own }.not_emulated(), None);
    }
}
