//! mirage_noop.
