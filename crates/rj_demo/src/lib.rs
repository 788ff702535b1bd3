//! rj_demo.
