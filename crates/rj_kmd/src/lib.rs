//! rj_kmd.
