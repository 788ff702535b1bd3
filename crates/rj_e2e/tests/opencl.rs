//! The peers' OpenCL kernels through ROCm's OpenCL runtime; the program checks the results.
#![cfg(feature = "rootfs")]

use rj_e2e::{Rocm, emulate, opencl_bench, text};

fn check(gpu: &str, kernel: &str, size: u32) {
    let dir = opencl_bench();
    let arguments = format!("{kernel} {size} -r 1 -w 0 -s /mnt/program/kernels.cl");
    let o = emulate(Rocm::V7, gpu, &dir.0.join("ocl_bench"), &arguments);
    let said = text(&o);
    assert!(o.status.success() && said.contains(" ok dev=\"gfx"), "{kernel} on {gpu}: {}\n{said}", o.status);
}

macro_rules! kernels {
    ($($name:ident $size:literal)*) => {$(
        mod $name {
            #[test]
            fn mi300x() {
                super::check("mi300x", stringify!($name), $size);
            }
            #[test]
            fn mi210() {
                super::check("mi210", stringify!($name), $size);
            }
        }
    )*};
}

kernels! { vadd 1048576 saxpy 1048576 matmul_naive 128 matmul_tiled 128 reduce 1048576 hist_global 65536 hist_local 65536 collatz 65536 fma_peak 1024 }
