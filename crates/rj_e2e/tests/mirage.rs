//! `mirage run` with real ROCm programs: what it says, and what it leaves behind.
#![cfg(feature = "rootfs")]

use rj_e2e::{Rocm, bin, enter, hipcc};
use std::process::Output;

/// Runs a command line in ROCm 7's root file system, with mirage as `/mnt/bin/mirage`; lists the sessions that are left.
fn shell(command: &str) -> Output {
    let command = format!("{command}; code=$?; ls /tmp/mirage-*/session; exit $code");
    enter(Rocm::V7, &[(&bin(), "bin")], &command)
}

fn parts(o: &Output) -> (String, String) {
    (String::from_utf8_lossy(&o.stdout).into_owned(), String::from_utf8_lossy(&o.stderr).into_owned())
}

#[test]
fn any_spelling_of_a_gpus_name_shows_that_gpu_to_rocminfo() {
    let spellings = [("mi210", "gfx90a"), ("GFX90A_MI210", "gfx90a"), ("MI300X", "gfx942"), ("gfx942", "gfx942")];
    for (name, target) in spellings {
        let o = shell(&format!("/mnt/bin/mirage run --profile {name} -- rocminfo"));
        let (out, err) = parts(&o);
        let line = format!("Name:                    {target}");
        assert!(o.status.success() && out.contains(&line), "{name}: {}\n{out}{err}", o.status);
        // The last line of rocminfo's own: no session is left.
        assert!(out.trim_end().ends_with("*** Done ***"), "{name}: {out}");
    }
}

#[test]
fn verbose_ends_with_what_the_gpu_did() {
    let exe = hipcc(Rocm::V7, "vadd", "-O2 --offload-arch=gfx90a --offload-arch=gfx942");
    for gpu in ["mi210", "mi300x"] {
        let dir = exe.parent().unwrap();
        let name = exe.file_name().unwrap().to_str().unwrap();
        let command = format!("/mnt/bin/mirage run -v --profile {gpu} --cpu-thread-budget 1 -- /mnt/app/{name}");
        let o = enter(Rocm::V7, &[(&bin(), "bin"), (dir, "app")], &command);
        let (out, err) = parts(&o);
        assert!(o.status.success(), "{gpu}: {}\n{out}{err}", o.status);
        let last = err.lines().last().unwrap_or_default();
        let words: Vec<&str> = last.split(' ').collect();
        assert!(last.starts_with("mirage: gpu: ") && last.ends_with(", 0 faults"), "{gpu}: {err}");
        let dispatches: u64 = words[2].parse().unwrap_or(0);
        assert!(dispatches > 0, "{gpu}: {last}");
    }
}

#[test]
fn a_rocm_that_does_not_know_the_gpu_is_told_of() {
    let o = shell("/mnt/bin/mirage run --profile mi450x -- rocminfo");
    let (out, err) = parts(&o);
    assert!(o.status.success(), "{out}{err}");
    let said = "mirage: warning: exited 0 but never opened the GPU\nmirage: hint: /usr/bin/rocminfo loaded /usr/lib/";
    assert!(err.contains(said), "{err}");
    let (_, err) = parts(&shell("/mnt/bin/mirage run --profile mi300x -- rocminfo"));
    assert!(!err.contains("warning"), "{err}");
    // No ROCm runtime, no warning.
    let (_, err) = parts(&shell("/mnt/bin/mirage run --profile mi450x -- true"));
    assert_eq!(err, "");
}

#[test]
fn kernels_in_a_compressed_fat_binary_are_listed() {
    let exe = hipcc(Rocm::V7, "vadd", "-O2 --offload-arch=gfx90a --offload-arch=gfx942 --offload-compress");
    let o =
        std::process::Command::new(bin().join("mirage")).args(["kernel", "list"]).arg(exe).output().expect("mirage");
    let (out, err) = parts(&o);
    for target in ["gfx90a", "gfx942"] {
        assert!(out.lines().any(|l| l.starts_with(target)), "{out}{err}");
    }
}
