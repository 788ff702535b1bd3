//! A wrong program is told what is wrong, and never hangs.
#![cfg(feature = "rootfs")]

use rj_e2e::{Rocm, emulate, hipcc, text};

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
