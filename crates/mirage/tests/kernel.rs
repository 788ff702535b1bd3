//! `mirage kernel run`: kernels of real files, with no ROCm.

mod common;

use common::{Mirage, data, text};

/// Runs a kernel of the fat binary and gives standard output; `gpu` is a profile's name.
fn kernel(m: &Mirage, gpu: &str, rest: &[&str]) -> std::process::Output {
    m.run(&[&["kernel", "run", &data("fat"), "--profile", gpu], rest].concat())
}

#[test]
fn vector_add_runs_on_both_gpus() {
    let m = Mirage::new("vadd");
    for gpu in ["mi210", "mi300x"] {
        let call = ["--kernel", "vadd", "--grid", "2", "--block", "64", "--format", "f32"];
        let args = ["--arg", "buf:f32:1,2,3,4", "--arg", "buf:f32:10,20,30,40", "--arg", "out:20", "--arg", "4"];
        let out = kernel(&m, gpu, &[&call[..], &args[..]].concat());
        // Four elements are asked for; the fifth stays as it was.
        assert_eq!(text(&out.stdout), "argument 2, 20 bytes:\n0: 11 22 33 44 0\n", "{}", text(&out.stderr));
    }
}

#[test]
fn buffers_come_from_files_and_go_to_files() {
    let m = Mirage::new("files");
    let (from, to) = (m.root.join("from"), m.root.join("to"));
    let y: Vec<u8> = (0..100).flat_map(|i| (i as f32).to_le_bytes()).collect();
    std::fs::write(&from, &y).unwrap();
    let buffer = format!("inout:@{}:{}", from.display(), to.display());
    let call = ["--kernel", "saxpy", "--grid", "2", "--block", "64", "--json", "--arg", "2.0"];
    let out = kernel(
        &m,
        "mi300x",
        &[&call[..], &["--arg", &format!("buf:@{}", from.display())], &["--arg", &buffer, "--arg", "100"]].concat(),
    );
    let document: serde_json::Value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{}", text(&out.stderr)));
    assert_eq!((&document["kernel"], &document["work_groups"]), (&"saxpy".into(), &2.into()));
    assert!(document["wave_instructions"].as_u64().is_some_and(|n| n > 20));
    let expected: Vec<u8> = (0..100).flat_map(|i| (3.0 * i as f32).to_le_bytes()).collect();
    assert!(std::fs::read(&to).unwrap() == expected);
}

#[test]
fn device_variables_and_their_addresses_are_relocated() {
    let m = Mirage::new("variables");
    for gpu in ["mi210", "mi300x"] {
        let out = kernel(&m, gpu, &["--kernel", "_Z4bumpIiEvPT_", "--arg", "out:4", "--format", "i32"]);
        assert_eq!(text(&out.stdout), "argument 0, 4 bytes:\n0: 3\n", "{}", text(&out.stderr));
    }
}

#[test]
fn a_lane_that_leaves_its_buffer_is_reported_with_its_place() {
    let m = Mirage::new("fault");
    for gpu in ["mi210", "mi300x"] {
        let call = ["--kernel", "vadd", "--grid", "1", "--block", "64"];
        let args = ["--arg", "buf:256", "--arg", "buf:256", "--arg", "out:128", "--arg", "64"];
        let out = kernel(&m, gpu, &[&call[..], &args[..]].concat());
        let err = text(&out.stderr);
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(1), String::new()));
        assert!(err.starts_with("error[gpu-fault]: memory fault: write to 0x"), "{err}");
        for fact in ["kernel vadd, work-group (0,0,0), wave 0, lane 32", "global_store_dword"] {
            assert!(err.contains(fact), "{fact} is missing in {err}");
        }
    }
}

#[test]
fn wrong_launches_are_refused_before_anything_runs() {
    let m = Mirage::new("refused");
    let args = ["--arg", "null", "--arg", "null", "--arg", "null", "--arg", "0"];
    let refused = |call: &[&str], says: &str| {
        let out = kernel(&m, "mi300x", &[&["--kernel", "vadd"], call].concat());
        let err = text(&out.stderr);
        assert!(out.status.code() == Some(1) && err.contains(says), "{call:?}: {err}");
    };
    refused(&[&["--block", "2048"], &args[..]].concat(), "at most 1024 work-items a group, not 2048");
    refused(&[&args[..6], &["--arg", "f64:1"]].concat(), "it has 8 bytes, but the kernel takes 4 there");
    refused(&[&["--arg", "7"], &args[2..]].concat(), "the kernel takes a buffer there");
    refused(&[&args[..6], &["--arg", "buf:8"]].concat(), "by value there, not a buffer");
    let all = m.run(&["kernel", "run", &data("fat"), "--profile", "mi300x"]);
    assert!(text(&all.stderr).contains("choose one with --kernel: _Z4bumpIiEvPT_, saxpy, vadd"));
}
