//! The kernels that the demo carries are those of `kernels/demo.cl`.
#![cfg(feature = "rootfs")]

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_kernels_are_built_from_their_source() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    for target in ["gfx90a", "gfx942"] {
        let out: PathBuf = std::env::temp_dir().join(format!("rj-demo-{}-{target}.co", std::process::id()));
        let arguments = ["-x", "cl", "-cl-std=CL2.0", "-O2", "-ffp-contract=off", "-target", "amdgcn-amd-amdhsa"];
        let status = Command::new("clang-22")
            .args(arguments)
            .arg(format!("-mcpu={target}"))
            .args(["-nogpulib", "-Xclang", "-finclude-default-header", "-o"])
            .arg(&out)
            .arg("demo.cl")
            .current_dir(&dir)
            .status()
            .expect("clang-22 is needed to build the demo's kernels");
        assert!(status.success());
        let (built, kept) =
            (std::fs::read(&out).unwrap(), std::fs::read(dir.join(format!("demo-{target}.co"))).unwrap());
        std::fs::remove_file(&out).unwrap();
        assert!(built == kept, "demo-{target}.co is not what clang-22 makes of demo.cl");
    }
}
