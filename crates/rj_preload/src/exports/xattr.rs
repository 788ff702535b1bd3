//! Extended attributes by path: `ls -l` asks for them and would report a claimed path as missing.

use super::export;
use crate::claims::claim;
use crate::next::next;
use libc::{AT_FDCWD, c_char, c_void, size_t, ssize_t};

type Text = *const c_char;

macro_rules! by_path {
    ($name:ident($path:ident $(, $arg:ident: $t:ty)*)) => {{
        // SAFETY: libc's contract.
        let c = unsafe { claim(AT_FDCWD, $path) };
        let p = c.as_ref().map_or($path, |c| c.real.as_ptr());
        next!($name: fn(Text $(, $t)*) -> ssize_t, (p $(, $arg)*) else -1)
    }};
}

export! {
    fn getxattr(path: Text, name: Text, value: *mut c_void, len: size_t) -> ssize_t {
        by_path!(getxattr(path, name: Text, value: *mut c_void, len: size_t))
    }
    fn lgetxattr(path: Text, name: Text, value: *mut c_void, len: size_t) -> ssize_t {
        by_path!(lgetxattr(path, name: Text, value: *mut c_void, len: size_t))
    }
    fn listxattr(path: Text, list: *mut c_char, len: size_t) -> ssize_t {
        by_path!(listxattr(path, list: *mut c_char, len: size_t))
    }
    fn llistxattr(path: Text, list: *mut c_char, len: size_t) -> ssize_t {
        by_path!(llistxattr(path, list: *mut c_char, len: size_t))
    }
}
