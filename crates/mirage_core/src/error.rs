//! mirage's errors: a code for `explain`, one sentence of what failed where, and a hint that mends it.

use std::fmt;

/// An error as a user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Stable, lower case: `profile-unknown`.
    pub code: &'static str,
    /// One sentence, lower case: what was tried, where it looked.
    pub message: String,
    /// A command or a fact that mends it.
    pub hint: Option<String>,
    /// mirage's exit code for it.
    pub exit: u8,
}

impl Error {
    /// An error that ends mirage with exit code 1.
    pub fn new(code: &'static str, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), hint: None, exit: 1 }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// The same with another exit code.
    pub fn exit(mut self, code: u8) -> Error {
        self.exit = code;
        self
    }

    /// An I/O error on a path. `what` reads as in "cannot {what} {path}".
    pub fn io(what: &str, path: &std::path::Path, e: impl fmt::Display) -> Error {
        Error::new("io", format!("cannot {what} {}: {e}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
