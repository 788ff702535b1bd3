//! mirage_ctl.
