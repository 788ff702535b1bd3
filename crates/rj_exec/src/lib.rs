//! rj_exec.
