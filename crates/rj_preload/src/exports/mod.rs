//! The libc functions that this library answers instead of libc, every variant of each.
//!
//! Each one decides quickly whether the call concerns a device and passes it on if not. The mode of `open` and the
//! argument of `fcntl` and `ioctl` are variadic in C; on x86-64 they arrive where a fixed argument would.

// `next!` brings its own `unsafe`, often within another.
#![allow(unused_unsafe)]

mod dir;
mod dl;
mod exit;
mod fd;
mod link;
mod mem;
mod open;
mod signal;
mod stat;
mod xattr;

/// Finds now what a signal handler or a fork's child may need.
pub fn warm_up() {
    crate::next::real_dlsym();
    open::warm_up();
    fd::warm_up();
}

/// Defines exported functions.
macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $t:ty),* $(,)?) -> $r:ty $body:block)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $t),*) -> $r $body
    )*};
}
pub(crate) use export;
