//! Finding the function that would have been called without this library: the next one in the search order, so that
//! other preloads and sanitizers keep working. `dlsym` is exported by this library, so libc's is asked for by version.

use libc::{c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

static DLSYM: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// libc's `dlsym`.
pub extern "C" fn real_dlsym() -> Dlsym {
    let mut p = DLSYM.load(Ordering::Relaxed);
    if p.is_null() {
        for version in [c"GLIBC_2.2.5", c"GLIBC_2.34"] {
            // SAFETY: both names are C strings.
            p = unsafe { dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
            if !p.is_null() {
                break;
            }
        }
        if p.is_null() {
            crate::sys::say("this C library has no dlsym of a version that is known; it must be glibc 2.34 or newer");
            // SAFETY: ends the process.
            unsafe { crate::sys::call(libc::SYS_exit_group, [127, 0, 0, 0, 0, 0]) };
        }
        DLSYM.store(p, Ordering::Relaxed);
    }
    // SAFETY: it is the address of glibc's dlsym.
    unsafe { std::mem::transmute::<*mut c_void, Dlsym>(p) }
}

/// A lazily found next function.
pub struct Next {
    name: &'static std::ffi::CStr,
    at: AtomicPtr<c_void>,
}

impl Next {
    /// For the function of this name.
    pub const fn new(name: &'static std::ffi::CStr) -> Next {
        Next { name, at: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address; null if this C library has no such function.
    #[inline]
    pub fn get(&self) -> *mut c_void {
        let p = self.at.load(Ordering::Relaxed);
        if p.is_null() { self.find() } else { p }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: the name is a C string; the call is made from this library, as RTLD_NEXT needs.
        let p = unsafe { real_dlsym()(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.at.store(p, Ordering::Relaxed);
        p
    }
}

/// Calls the next function of this name, or returns the value after `else` with ENOSYS if there is none.
macro_rules! next {
    ($name:ident : fn($($t:ty),* $(; $($va:tt)*)?) -> $r:ty, ($($arg:expr),*) else $missing:expr) => {{
        static NEXT: $crate::next::Next = $crate::next::Next::new(
            // SAFETY: the literal ends in its only NUL.
            unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) });
        let p = NEXT.get();
        if p.is_null() {
            $crate::sys::set_errno(libc::ENOSYS);
            $missing
        } else {
            // SAFETY: the C library's function of this name has this type.
            #[allow(unused_unsafe)]
            let f = unsafe {
                std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn($($t),* $(, $($va)*)?) -> $r>(p)
            };
            // SAFETY: the arguments are the caller's own.
            #[allow(unused_unsafe, clippy::let_unit_value)]
            let result = unsafe { f($($arg),*) };
            result
        }
    }};
}
pub(crate) use next;
