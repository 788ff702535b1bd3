//! The library's constructor and destructor, and the two environment variables it lives by.
//!
//! The constructor only copies the variables: a program that never touches the GPU must not pay for it. Everything
//! works before the constructor ran, too.

use crate::sys;
use std::ffi::CStr;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};

const LONGEST: usize = 4096;

/// An environment variable as it was at the start: the program may change its own.
pub struct Var {
    name: &'static [u8],
    // 0 unknown, 1 absent, 2 present.
    stage: AtomicU8,
    text: [AtomicU8; LONGEST],
    len: AtomicI32,
}

impl Var {
    const fn new(name: &'static [u8]) -> Var {
        Var { name, stage: AtomicU8::new(0), text: [const { AtomicU8::new(0) }; LONGEST], len: AtomicI32::new(0) }
    }

    fn capture(&self) {
        unsafe extern "C" {
            static environ: *const *const libc::c_char;
        }
        // SAFETY: libc's variable.
        if unsafe { environ }.is_null() {
            // Before libc's own constructor there is no environment to ask for.
            let all = sys::read_file(c"/proc/self/environ");
            let name = self.name.strip_suffix(b"\0").unwrap_or(self.name);
            let value =
                all.split(|&c| c == 0).find_map(|var| var.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")));
            self.keep(value.unwrap_or_default());
            return;
        }
        // SAFETY: the name ends in NUL; the result, if any, is a C string.
        let value = unsafe { libc::getenv(self.name.as_ptr().cast()) };
        // SAFETY: as above.
        self.keep(if value.is_null() { b"" } else { unsafe { CStr::from_ptr(value) }.to_bytes() });
    }

    fn keep(&self, value: &[u8]) {
        if value.is_empty() || value.len() >= LONGEST {
            self.stage.store(1, Ordering::Release);
            return;
        }
        for (to, from) in self.text.iter().zip(value) {
            to.store(*from, Ordering::Relaxed);
        }
        self.len.store(value.len() as i32, Ordering::Relaxed);
        self.stage.store(2, Ordering::Release);
    }

    /// The value, if it is set and not empty.
    pub fn get(&'static self) -> Option<&'static Path> {
        use std::os::unix::ffi::OsStrExt;
        if self.stage.load(Ordering::Acquire) == 0 {
            self.capture();
        }
        if self.stage.load(Ordering::Acquire) != 2 {
            return None;
        }
        let len = self.len.load(Ordering::Relaxed) as usize;
        // SAFETY: the bytes are no longer written once the stage is 2, except with the same values.
        let bytes = unsafe { std::slice::from_raw_parts(self.text.as_ptr().cast::<u8>(), len) };
        Some(Path::new(std::ffi::OsStr::from_bytes(bytes)))
    }
}

/// Where the session's configuration and the redirected tree are.
pub static RUNTIME_DIR: Var = Var::new(b"ROCJITSU_RUNTIME_DIR\0");
/// Where this process's record goes.
pub static RECORD_DIR: Var = Var::new(b"ROCJITSU_RECORD_DIR\0");

/// The process that loaded this library; a fork's child differs.
pub static LOADED_BY: AtomicI32 = AtomicI32::new(0);

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

extern "C" fn start() {
    LOADED_BY.store(sys::getpid(), Ordering::Relaxed);
    for var in [&RUNTIME_DIR, &RECORD_DIR] {
        if var.stage.load(Ordering::Acquire) == 0 {
            var.capture();
        }
    }
    crate::exports::warm_up();
}

extern "C" fn end() {
    crate::record::at_exit();
}
