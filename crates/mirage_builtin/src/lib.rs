//! mirage_builtin.
