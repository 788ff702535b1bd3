//! What is wrong with a file, in words that a user can act on.

use std::fmt;

/// Why a file or a part of it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    pub(crate) fn new(what: impl Into<String>) -> Error {
        Error(what.into())
    }

    /// The same with the place in front.
    pub(crate) fn at(self, place: impl fmt::Display) -> Error {
        Error(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<object::Error> for Error {
    fn from(e: object::Error) -> Error {
        Error(format!("damaged ELF file: {e}"))
    }
}
