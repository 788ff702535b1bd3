//! Links the unwinder statically: one library less to load in every process, and programs need not have libgcc_s.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    // std asks for `-lgcc_s`; this linker script answers with the archives.
    let script = Path::new(&out).join("libgcc_s.so");
    if std::fs::write(&script, "GROUP ( -lgcc_eh -lgcc )\n").is_ok() {
        println!("cargo:rustc-link-arg-cdylib=-L{out}");
    }
}
