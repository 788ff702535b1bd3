//! What vector operations mean, written once over [`crate::lanes::Lanes`]. One file a family.
//!
//! `ops!` defines a type per operation that implements its shape's trait, and lists them all for the property test that
//! holds the three instances equal.

pub mod cmp;
pub mod divide;
pub mod f16;
pub mod f32ops;
pub mod int;
pub mod rare;
pub mod short;
pub mod wide;

/// Defines operations: `un NAME(a) expr;`, `bin NAME(a, b) expr;`, `tri NAME(a, b, c) expr;`, `test NAME(a, b) expr;`,
/// `carry NAME(a, b, c) expr;`, `wide NAME[A, B, C, D](a, b, c) expr;`, `test64 NAME[A, B](a, b) expr;`. The lane type
/// is `L`.
macro_rules! ops {
    ($($(#[$doc:meta])* $kind:ident $name:ident $([$($w:literal),*])? ($($a:ident),*) $body:expr;)*) => {
        $(ops!(@one $(#[$doc])* $kind $name [$($($w),*)?] ($($a),*) $body);)*
        /// Every operation of this file, for the property test.
        #[cfg(test)]
        pub fn all() -> Vec<$crate::ops::listed::Listed> {
            vec![$(ops!(@list $kind $name)),*]
        }
    };
    (@one $(#[$doc:meta])* un $name:ident [] ($a:ident) $body:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl $crate::shapes::Un for $name {
            #[inline(always)]
            unsafe fn f<L: $crate::lanes::Lanes>($a: L::V) -> L::V {
                // SAFETY: the trait's contract.
                #[allow(unused_unsafe)]
                unsafe {
                    $body
                }
            }
        }
    };
    (@one $(#[$doc:meta])* bin $name:ident [] ($a:ident, $b:ident) $body:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl $crate::shapes::Bin for $name {
            #[inline(always)]
            unsafe fn f<L: $crate::lanes::Lanes>($a: L::V, $b: L::V) -> L::V {
                // SAFETY: the trait's contract.
                #[allow(unused_unsafe)]
                unsafe {
                    $body
                }
            }
        }
    };
    (@one $(#[$doc:meta])* tri $name:ident [] ($a:ident, $b:ident, $c:ident) $body:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl $crate::shapes::Tri for $name {
            #[inline(always)]
            unsafe fn f<L: $crate::lanes::Lanes>($a: L::V, $b: L::V, $c: L::V) -> L::V {
                // SAFETY: the trait's contract.
                #[allow(unused_unsafe)]
                unsafe {
                    $body
                }
            }
        }
    };
    (@one $(#[$doc:meta])* test $name:ident [] ($a:ident, $b:ident) $body:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl $crate::shapes::Test for $name {
            #[inline(always)]
            unsafe fn f<L: $crate::lanes::Lanes>($a: L::V, $b: L::V) -> u16 {
                // SAFETY: the trait's contract.
                #[allow(unused_unsafe)]
                unsafe {
                    $body
                }
            }
        }
    };
    (@one $(#[$doc:meta])* carry $name:ident [] ($a:ident, $b:ident, $c:ident) $body:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl $crate::shapes::Carry for $name {
            #[inline(always)]
            unsafe fn f<L: $crate::lanes::Lanes>($a: L::V, $b: L::V, $c: u16) -> (L::V, u16) {
                // SAFETY: the trait's contract.
                #[allow(unused_unsafe)]
                unsafe {
                    $body
                }
            }
        }
    };
    (@one $(#[$doc:meta])* wide $name:ident [$wa:literal, $wb:literal, $wc:literal, $wd:literal] ($a:ident, $b:ident, $c:ident) $body:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl $crate::shapes::Wide for $name {
            const A: u8 = $wa;
            const B: u8 = $wb;
            const C: u8 = $wc;
            const D: u8 = $wd;
            #[inline(always)]
            unsafe fn f<L: $crate::lanes::Lanes>($a: L::D, $b: L::D, $c: L::D) -> L::D {
                // SAFETY: the trait's contract.
                #[allow(unused_unsafe)]
                unsafe {
                    $body
                }
            }
        }
    };
    (@one $(#[$doc:meta])* test64 $name:ident [$wa:literal, $wb:literal] ($a:ident, $b:ident) $body:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl $crate::shapes::Test64 for $name {
            const A: u8 = $wa;
            const B: u8 = $wb;
            #[inline(always)]
            unsafe fn f<L: $crate::lanes::Lanes>($a: L::D, $b: L::D) -> u16 {
                // SAFETY: the trait's contract.
                #[allow(unused_unsafe)]
                unsafe {
                    $body
                }
            }
        }
    };
    (@list un $name:ident) => { $crate::ops::listed::un::<$name>(stringify!($name)) };
    (@list bin $name:ident) => { $crate::ops::listed::bin::<$name>(stringify!($name)) };
    (@list tri $name:ident) => { $crate::ops::listed::tri::<$name>(stringify!($name)) };
    (@list test $name:ident) => { $crate::ops::listed::test::<$name>(stringify!($name)) };
    (@list carry $name:ident) => { $crate::ops::listed::carry::<$name>(stringify!($name)) };
    (@list wide $name:ident) => { $crate::ops::listed::wide::<$name>(stringify!($name)) };
    (@list test64 $name:ident) => { $crate::ops::listed::test64::<$name>(stringify!($name)) };
}
pub(crate) use ops;

#[cfg(test)]
pub mod listed;

/// Every operation of every family.
#[cfg(test)]
pub fn all_ops() -> Vec<listed::Listed> {
    [f32ops::all(), int::all(), cmp::all(), wide::all(), f16::all(), short::all(), rare::all()]
        .into_iter()
        .flatten()
        .collect()
}
