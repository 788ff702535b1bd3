//! Failures explain themselves: one wrong program each, and all that is said about it as a snapshot.
#![cfg(feature = "rootfs")]

use rj_e2e::{Rocm, Setup, bin, compile, emulate_with, enter, snapshot, trace_snapshot};

const HIP: &str = "-g -O2 --offload-arch=gfx90a --offload-arch=gfx942 -lhsa-runtime64 -l:libdrm_amdgpu.so.1";

/// Runs a case of tests/faults/programs.hip, a HIP program.
fn hip(gpu: &str, case: &str) {
    let program = compile(Rocm::V7, "faults", &["programs.hip", "kernels.hip"], HIP);
    let setup = Setup { config: "\"watchdog\": 2", environment: "HSA_DISABLE_FRAGMENT_ALLOCATOR=1" };
    let o = emulate_with(Rocm::V7, gpu, &program, case, setup);
    snapshot(&format!("{case}.{gpu}"), &o);
}

/// Runs a case of tests/faults/launch.c, a plain ROCr program, with the kernel that writes through its argument.
fn rocr(gpu: &str, case: &str) {
    let target = if gpu == "mi210" { "gfx90a" } else { "gfx942" };
    let options = format!("--genco --no-gpu-bundle-output -g -O2 --offload-arch={target}");
    let kernels = compile(Rocm::V7, "faults", &["kernels.hip"], &options);
    let program = compile(Rocm::V7, "faults", &["launch.c"], "-x c -O1 -lhsa-runtime64");
    let arguments = format!("/mnt/program/{} null_write {case}", kernels.file_name().unwrap().to_string_lossy());
    let o = emulate_with(Rocm::V7, gpu, &program, &arguments, Setup::default());
    snapshot(&format!("rocr-{case}.{gpu}"), &o);
}

macro_rules! cases {
    ($run:ident: $($case:ident: $($gpu:ident)*;)*) => {
        mod $run {$(
            mod $case {
                $(#[test]
                fn $gpu() {
                    crate::$run(stringify!($gpu), stringify!($case));
                })*
            }
        )*}
    };
}

cases! { hip:
    null: mi300x mi210;
    past: mi300x mi210;
    before: mi300x;
    freed: mi300x mi210;
    running: mi300x mi210;
    readonly: mi300x mi210;
    ldsgeneric: mi300x mi210;
    ldsdirect: mi300x mi210;
    misaligned: mi300x mi210;
    jump: mi300x mi210;
    illegal: mi300x mi210;
    abort: mi300x mi210;
    spin: mi300x mi210;
    deadlock: mi300x mi210;
}

cases! { rocr:
    null: mi300x mi210;
    object: mi300x mi210;
    lds: mi300x mi210;
    scratch: mi300x mi210;
    overflow: mi300x mi210;
}

/// HIP drops such code in silence, before the driver sees anything of it. (HIP 7.2.4 then reads through a null pointer
/// of its own in hipLaunchKernel: exit code 139.)
#[test]
fn code_for_another_gpu_is_named_with_a_profile_that_fits() {
    let built = [
        ("gfx1100", "--offload-arch=gfx1100"),
        ("gfx90a", "--offload-arch=gfx90a"),
        ("none", "--offload-arch=gfx1030"),
    ];
    for (name, arch) in built {
        let options = format!("-O2 {arch} -lhsa-runtime64 -l:libdrm_amdgpu.so.1");
        let program = compile(Rocm::V7, "faults", &["programs.hip", "kernels.hip"], &options);
        let o = emulate_with(Rocm::V7, "mi300x", &program, "null", Setup::default());
        snapshot(&format!("built-for-{name}.mi300x"), &o);
    }
}

#[test]
fn the_trace_has_the_decks_lines() {
    let program = compile(Rocm::V7, "faults", &["programs.hip", "kernels.hip"], HIP);
    for level in ["fault", "launch", "all"] {
        let (dir, name) = (program.parent().unwrap(), program.file_name().unwrap().to_string_lossy().into_owned());
        let command = format!(
            "MIRAGE_STATE=/tmp/state /mnt/bin/mirage run --profile mi210 --trace-level {level} --cpu-thread-budget 1 \
             -- /mnt/app/{name} past 2>/tmp/err; cat /tmp/state/log/*/*/*/rj.log >&2; grep '^mirage: trace: /tmp/state/log/' /tmp/err"
        );
        let o = enter(Rocm::V7, &[(&bin(), "bin"), (dir, "app")], &command);
        trace_snapshot(&format!("trace-{level}.mi210"), &o);
    }
}
