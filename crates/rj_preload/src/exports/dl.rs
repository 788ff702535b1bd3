//! `dlsym`: a program that looks a claimed function up by a library's handle (Python's ctypes does) still gets ours.
//!
//! RTLD_NEXT and RTLD_DEFAULT depend on who calls, so those are a jump into libc's dlsym with the caller's own return
//! address; this library is found by them on its own.

use crate::next::real_dlsym;
use libc::{c_char, c_void};
use std::arch::naked_asm;
use std::ffi::CStr;

/// See the module.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    naked_asm!(
        "lea rax, [rdi + 1]",
        "cmp rax, 1",
        "ja 2f",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {real}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        "2:",
        "jmp {by_handle}",
        real = sym real_dlsym,
        by_handle = sym by_handle,
    )
}

unsafe extern "C" fn by_handle(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the program's arguments.
    let found = unsafe { real_dlsym()(handle, name) };
    if found.is_null() || name.is_null() {
        return found;
    }
    // SAFETY: dlsym's name is a C string.
    let name = unsafe { CStr::from_ptr(name) };
    // A library may have a function of its own by that name: only the C library's is ours to replace.
    match ours(name.to_bytes()) {
        Some(f) if in_c_library(found) => f.cast_mut(),
        _ => found,
    }
}

fn in_c_library(at: *mut c_void) -> bool {
    base(at).is_some_and(|b| base(real_dlsym() as *mut c_void) == Some(b))
}

fn base(at: *mut c_void) -> Option<*mut c_void> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: room for the answer, which zero is valid for.
    unsafe { (libc::dladdr(at, info.as_mut_ptr()) != 0).then(|| info.assume_init().dli_fbase) }
}

macro_rules! table {
    ($($module:ident: $($name:ident)*;)*) => {
        fn ours(name: &[u8]) -> Option<*const c_void> {
            $($(if name == stringify!($name).as_bytes() {
                return Some(super::$module::$name as *const c_void);
            })*)*
            (name == b"dlsym").then_some(dlsym as *const c_void)
        }
    };
}

// A test compares this list with the library's exports.
table! {
    open: open open64 __open __open64 __open_2 __open64_2 openat openat64 __openat_2 __openat64_2 creat creat64
        fopen fopen64 freopen freopen64;
    stat: stat stat64 lstat lstat64 fstat fstat64 fstatat fstatat64 __xstat __xstat64 __lxstat __lxstat64
        __fxstat __fxstat64 __fxstatat __fxstatat64 statx access euidaccess eaccess faccessat;
    link: readlink readlinkat __readlink_chk __readlinkat_chk realpath __realpath_chk canonicalize_file_name
        chdir fchdir getcwd __getcwd_chk get_current_dir_name;
    dir: opendir readdir readdir64 scandir scandir64 scandirat scandirat64 glob glob64;
    mem: mmap mmap64 munmap mremap;
    fd: ioctl close __close close_range closefrom dup dup2 __dup2 dup3 fcntl fcntl64 __fcntl;
    xattr: getxattr lgetxattr listxattr llistxattr;
    signal: sigaction __sigaction signal bsd_signal ssignal sysv_signal __sysv_signal;
    exit: _exit _Exit abort __assert_fail;
}
