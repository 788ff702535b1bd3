//! Real HIP programs, compiled by hipcc, give right results on the emulated GPUs. Each program checks itself.
#![cfg(feature = "rootfs")]

use rj_e2e::{Rocm, emulate, hipcc, text};

const BOTH: &str = "--offload-arch=gfx90a --offload-arch=gfx942";

fn check(rocm: Rocm, gpu: &str, program: &str, options: &str) {
    let exe = hipcc(rocm, program, options);
    let o = emulate(rocm, gpu, &exe, "");
    let said = text(&o);
    assert!(o.status.success() && said.contains(&format!("{program} OK")), "{program} on {gpu}: {}\n{said}", o.status);
}

macro_rules! programs {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn mi300x_o0() {
                super::check(super::Rocm::V7, "mi300x", stringify!($name), &format!("-O0 {}", super::BOTH));
            }
            #[test]
            fn mi300x_o2() {
                super::check(super::Rocm::V7, "mi300x", stringify!($name), &format!("-O2 {}", super::BOTH));
            }
            #[test]
            fn mi210_o0() {
                super::check(super::Rocm::V7, "mi210", stringify!($name), &format!("-O0 {}", super::BOTH));
            }
            #[test]
            fn mi210_o2() {
                super::check(super::Rocm::V7, "mi210", stringify!($name), &format!("-O2 {}", super::BOTH));
            }
        }
    )*};
}

programs! { vadd saxpy matmul reduce histogram transpose mandelbrot copies streams }
