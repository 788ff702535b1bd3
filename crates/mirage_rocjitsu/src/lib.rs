//! mirage_rocjitsu.
