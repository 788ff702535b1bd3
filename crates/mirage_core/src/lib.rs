//! mirage_core.
