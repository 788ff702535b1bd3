//! rj_preload.
