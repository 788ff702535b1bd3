//! rj_hw.
