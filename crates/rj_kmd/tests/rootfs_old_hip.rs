//! HIP programs of the ROCms that Debian's releases ship: compiled there, run there.
#![cfg(feature = "rootfs")]

mod rootfs_support;

use rootfs_support::run;

/// Compiles and runs vector add for that target.
fn vadd(variable: &str, gpu: &str, target: &str) {
    let source = include_str!("hip/vadd.hip");
    let command = format!(
        "cat > /tmp/vadd.hip <<'END'\n{source}\nEND\n\
         env -u LD_PRELOAD hipcc --offload-arch={target} -O2 -o /tmp/vadd /tmp/vadd.hip && /tmp/vadd"
    );
    run(variable, gpu, 1, &command).has(&["vadd ok"]);
}

/// Debian 13: HIP 5.7.1 over ROCr 6.1.2.
#[test]
fn vector_add_of_hip_5_7_computes_on_mi300x() {
    vadd("ROCJITSU_ROOTFS_TRIXIE", "MI300X", "gfx942");
}

/// Debian 12: HIP and ROCr 5.2.3.
#[test]
fn vector_add_of_hip_5_2_computes_on_mi210() {
    vadd("ROCJITSU_ROOTFS_BOOKWORM", "MI210", "gfx90a");
}
