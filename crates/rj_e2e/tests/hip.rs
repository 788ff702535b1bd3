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
            programs! { @ $name mi300x mi300x_o0 "-O0" mi300x_o2 "-O2" mi300x_o3 "-O3" }
            programs! { @ $name mi210 mi210_o0 "-O0" mi210_o2 "-O2" mi210_o3 "-O3" }
        }
    )*};
    (@ $name:ident $gpu:ident $($test:ident $level:literal)*) => {$(
        #[test]
        fn $test() {
            super::check(super::Rocm::V7, stringify!($gpu), stringify!($name), &format!("{} {}", $level, super::BOTH));
        }
    )*};
}

programs! { vadd saxpy matmul reduce histogram transpose mandelbrot copies streams }
programs! { scan bitonic lanes }
