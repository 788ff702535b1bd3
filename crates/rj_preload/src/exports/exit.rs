//! The ways out that skip destructors: the record is written first.

use super::export;
use crate::next::next;
use crate::{record, sys};
use libc::{c_char, c_int, c_uint};

fn leave(code: c_int) -> ! {
    record::at_exit();
    loop {
        // SAFETY: ends the process.
        unsafe { sys::call(libc::SYS_exit_group, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

export! {
    fn _exit(code: c_int) -> ! {
        leave(code)
    }
    fn _Exit(code: c_int) -> ! {
        leave(code)
    }
    fn abort() -> ! {
        record::write();
        // SAFETY: no arguments.
        unsafe { next!(abort: fn() -> (), () else ()) };
        leave(134)
    }
    fn __assert_fail(what: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> ! {
        type Text = *const c_char;
        record::write();
        // SAFETY: libc's contract.
        unsafe { next!(__assert_fail: fn(Text, Text, c_uint, Text) -> (), (what, file, line, function) else ()) };
        leave(134)
    }
}
