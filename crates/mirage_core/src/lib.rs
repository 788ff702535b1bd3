//! What mirage is made of: errors, directories, ids, documents on disk, locks, backends.
//!
//! It never touches a terminal and reads no environment of its own: callers pass both in.
#![forbid(unsafe_code)]

pub mod backend;
pub mod defs;
mod error;
pub mod files;
pub mod gpu_record;
pub mod ids;
pub mod paths;
pub mod session;
pub mod sweep;
pub mod time;

pub use error::Error;
pub use paths::Roots;
