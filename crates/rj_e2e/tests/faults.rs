//! A wrong program is told what is wrong, and never hangs.
#![cfg(feature = "rootfs")]

use rj_e2e::{Rocm, code, compile, emulate, hipcc, text};

/// A code object of tests/faults/kernels.hip and the plain ROCr program that launches its kernels, in one directory.
fn launcher(target: &str) -> (std::path::PathBuf, String) {
    let options = format!("--genco --no-gpu-bundle-output -g -O2 --offload-arch={target}");
    let kernels = compile(Rocm::V7, "faults", &["kernels.hip"], &options);
    let program = compile(Rocm::V7, "faults", &["launch.c"], "-x c -O1 -lhsa-runtime64");
    let name = kernels.file_name().unwrap().to_string_lossy();
    (program, format!("/mnt/program/{name}"))
}

#[test]
fn a_write_through_null_names_the_place_and_reaches_the_program_as_an_error() {
    for (gpu, target) in [("mi300x", "gfx942"), ("mi210", "gfx90a")] {
        let exe = hipcc(Rocm::V7, "null_write", "-O2 --offload-arch=gfx90a --offload-arch=gfx942");
        let o = emulate(Rocm::V7, gpu, &exe, "");
        let said = text(&o);
        assert_eq!(o.status.code(), Some(1), "{said}");
        assert!(!said.contains("went on"), "{said}");
        for part in [
            "an illegal memory access was encountered",
            &format!("rocjitsu: GPU 0 ({target}): memory fault: write to 0x0, not mapped"),
            "work-group (0,0,0), wave 0, lane 0",
            "global_store_dword v",
        ] {
            assert!(said.contains(part), "no {part:?} in:\n{said}");
        }
    }
}

#[test]
fn rocr_aborts_on_a_memory_fault_with_its_own_message_and_ours() {
    for (gpu, target) in [("mi300x", "gfx942"), ("mi210", "gfx90a")] {
        let (program, kernels) = launcher(target);
        let o = emulate(Rocm::V7, gpu, &program, &format!("{kernels} null_write null"));
        let said = text(&o);
        assert_eq!(code(&o), 134, "{said}");
        for part in [
            "Memory access fault by GPU node-1 (Agent handle: ",
            "on address (nil). Reason: Page not present or supervisor privilege.",
            &format!("rocjitsu: GPU 0 ({target}): memory fault: write to 0x0, not mapped"),
            "kernel null_write, work-group (0,0,0), wave 0, lane 0",
        ] {
            assert!(said.contains(part), "no {part:?} in:\n{said}");
        }
        assert!(!said.contains("went on"), "{said}");
        // The same program with memory to write to.
        let o = emulate(Rocm::V7, gpu, &program, &format!("{kernels} null_write memory"));
        assert!(o.status.success() && text(&o) == "program: went on\n", "{}", text(&o));
    }
}

#[test]
fn a_memory_fault_under_an_old_rocm_aborts_too() {
    for (rocm, gpu, target) in [(Rocm::V57, "mi300x", "gfx942"), (Rocm::V52, "mi210", "gfx90a")] {
        let exe = hipcc(rocm, "null_write", &format!("-O2 --offload-arch={target}"));
        let o = emulate(rocm, gpu, &exe, "");
        let said = text(&o);
        assert_eq!(code(&o), 134, "{rocm:?}: {said}");
        assert!(said.contains("Memory access fault by GPU node-"), "{rocm:?}: {said}");
        assert!(said.contains("memory fault: write to 0x0, not mapped"), "{rocm:?}: {said}");
        assert!(!said.contains("went on"), "{rocm:?}: {said}");
    }
}
