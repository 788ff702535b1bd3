//! `cargo xtask bench`: bounds in time and ratio, peers in the same run, medians.

use crate::test::{packages, rootfs};
use rj_e2e::{Rocm, Scratch, emulate, hipcc, opencl_bench, text, workspace};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const PACKAGES: &[&str] = &["gcc", "libc6-dev", "pocl-opencl-icd", "ocl-icd-opencl-dev"];

struct Row {
    what: &'static str,
    measured: String,
    bound: &'static str,
    holds: Option<bool>,
}

/// Runs all benchmarks; an error if a bound is missed.
pub fn run() -> Result<(), String> {
    packages(PACKAGES)?;
    let sid = rootfs("sid")?;
    let bin = workspace().join("target/release");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).current_dir(workspace()).args(["build", "--release"]).status();
    if !built.is_ok_and(|s| s.success()) {
        return Err("the release build failed".into());
    }
    // SAFETY: no other thread of this program runs yet.
    unsafe {
        std::env::set_var("ROCJITSU_ROOTFS", &sid);
        std::env::set_var("ROCJITSU_BIN", &bin);
    }
    let mirage = bin.join("mirage");
    let rows = [fma(&mirage)?, matmul("matmul_naive", 512, Some(0.8))?, matmul("matmul_tiled", 512, None)?]
        .into_iter()
        .chain([start(&mirage)?, preload(&bin)?])
        .chain(launch()?)
        .chain(["vadd", "saxpy", "reduce"].into_iter().filter_map(|k| matmul(k, 1 << 20, None).ok()))
        .collect::<Vec<_>>();
    println!("{:<44} {:<46} {:<12} verdict", "what", "measured", "bound");
    let mut missed = false;
    for r in &rows {
        let verdict = match r.holds {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "-",
        };
        missed |= r.holds == Some(false);
        println!("{:<44} {:<46} {:<12} {verdict}", r.what, r.measured, r.bound);
    }
    if missed { Err("a bound is missed".into()) } else { Ok(()) }
}

/// An empty kernel against a futex round trip, and the cost of open queues that have nothing to do.
fn launch() -> Result<[Row; 2], String> {
    let program = hipcc(Rocm::V7, "launch", "-O2 --offload-arch=gfx942");
    let said = text(&emulate(Rocm::V7, "mi300x", &program, ""));
    let number = |key| number_after(&said, key).ok_or_else(|| format!("launch: {said}"));
    let (trip, launch, idle) = (number("round trip ")?, number("and wait ")?, number("idle ")?);
    Ok([
        Row {
            what: "empty kernel, launched and waited for / futex",
            measured: format!("{launch:.1} / {trip:.1} us = {:.1}", launch / trip),
            bound: "<= 10",
            holds: Some(launch <= 10.0 * trip),
        },
        Row {
            what: "idle GPU with open queues, of a core",
            measured: format!("{idle:.2} %"),
            bound: "< 1 %",
            holds: Some(idle < 1.0),
        },
    ])
}

fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}

fn output(c: &mut Command) -> Result<String, String> {
    let o = c.stdin(Stdio::null()).output().map_err(|e| format!("{c:?}: {e}"))?;
    if o.status.success() { Ok(text(&o)) } else { Err(format!("{c:?}: {}\n{}", o.status, text(&o))) }
}

/// The number before `unit` in the text.
fn number_before(text: &str, unit: &str) -> Option<f64> {
    let head = &text[..text.find(unit)?];
    head.trim_end().rsplit(|c: char| c != '.' && c != ',' && !c.is_ascii_digit()).next()?.replace(',', "").parse().ok()
}

/// The number after `key` in the text.
fn number_after(text: &str, key: &str) -> Option<f64> {
    let tail = &text[text.find(key)? + key.len()..];
    tail.split(|c: char| c != '.' && !c.is_ascii_digit()).next()?.parse().ok()
}

fn compile(source: &str, options: &[&str], dir: &Path) -> Result<PathBuf, String> {
    let out = dir.join(source.trim_end_matches(".c"));
    let mut gcc = Command::new("gcc");
    output(gcc.arg("-O3").arg(workspace().join("bench").join(source)).arg("-o").arg(&out).args(options))?;
    Ok(out)
}

fn fma(mirage: &Path) -> Result<Row, String> {
    let dir = Scratch::new();
    let limits = compile("limits.c", &["-march=native", "-fopenmp", "-lm"], &dir.0)?;
    let (mut rates, mut roofs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // In turn, so that a slower moment of the machine meets both.
    for _ in 0..7 {
        let said = output(&mut Command::new(&limits))?;
        let roof = number_before(&said, "M wave64-inst/s").ok_or("limits: no figure")?;
        let mut c = Command::new(mirage);
        c.args(["kernel", "run", "--kernel", "fma", "--grid", "64", "--block", "64", "--cpu-thread-budget", "1", "-v"]);
        let said = output(c.arg(workspace().join("bench/fma-gfx942.co")))?;
        let n = number_before(&said, " wave instructions").ok_or("kernel run: no count")?;
        let ms = number_before(&said, "ms").ok_or("kernel run: no time")?;
        rates.push(n / ms / 1e3);
        roofs.push(roof);
        ratios.push(n / ms / 1e3 / roof);
    }
    let (rate, roof, ratio) = (median(rates), median(roofs), median(ratios));
    Ok(Row {
        what: "FMA loop, one core, of the L1-resident roof",
        measured: format!("{rate:.0} of {roof:.0} M wave inst/s = {ratio:.2}"),
        bound: ">= 0.80",
        holds: Some(ratio >= 0.8),
    })
}

/// A kernel of bench/ on PoCL and on the emulated MI300X.
fn matmul(kernel: &'static str, n: u32, bound: Option<f64>) -> Result<Row, String> {
    let dir = Scratch::new();
    let native = compile("ocl_bench.c", &["-lOpenCL", "-lm"], &dir.0)?;
    let ours = opencl_bench();
    let size = n.to_string();
    let arguments = format!("{kernel} {n} -r 5 -w 2 -s /mnt/program/kernels.cl");
    let (mut peer, mut own) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let mut c = Command::new(&native);
        c.args([kernel, &size, "-r", "5", "-w", "2", "-s"]).arg(workspace().join("bench/kernels.cl"));
        peer.push(number_after(&output(&mut c)?, "median_ms=").ok_or("ocl_bench: no figure")?);
        let said = text(&emulate(Rocm::V7, "mi300x", &ours.0.join("ocl_bench"), &arguments));
        own.push(number_after(&said, "median_ms=").ok_or_else(|| format!("ocl_bench: {said}"))?);
    }
    let (peer, own) = (median(peer), median(own));
    let what = match kernel {
        "matmul_naive" => "matmul_naive 512, against PoCL",
        "matmul_tiled" => "matmul_tiled 512, against PoCL",
        "vadd" => "vadd 1M, against PoCL",
        "saxpy" => "saxpy 1M, against PoCL",
        _ => "reduce 1M, against PoCL",
    };
    Ok(Row {
        what,
        measured: format!("{own:.2} ms / {peer:.2} ms = {:.2}", own / peer),
        bound: if bound.is_some() { "<= 0.80" } else { "-" },
        holds: bound.map(|b| own / peer <= b),
    })
}

fn time(c: &mut Command) -> Result<f64, String> {
    let started = Instant::now();
    let s = c.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(|e| format!("{c:?}: {e}"))?;
    if s.success() { Ok(started.elapsed().as_secs_f64()) } else { Err(format!("{c:?}: {s}")) }
}

fn start(mirage: &Path) -> Result<Row, String> {
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..61 {
        plain.push(time(&mut Command::new("/bin/true"))?);
        ours.push(time(Command::new(mirage).args(["run", "--profile", "mi300x", "--", "/bin/true"]))?);
    }
    let (plain, ours) = (median(plain), median(ours));
    Ok(Row {
        what: "mirage run -- true, in spawns of true",
        measured: format!("{:.2} ms / {:.2} ms = {:.1}", ours * 1e3, plain * 1e3, ours / plain),
        bound: "<= 30",
        holds: Some(ours / plain <= 30.0),
    })
}

fn preload(bin: &Path) -> Result<Row, String> {
    let session = Scratch::new();
    std::fs::write(session.0.join("config_path"), "rj_config.json\n").map_err(|e| e.to_string())?;
    std::fs::write(session.0.join("rj_config.json"), "{\"gpu\": \"mi300x\"}\n").map_err(|e| e.to_string())?;
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..201 {
        plain.push(time(&mut Command::new("/bin/true"))?);
        let mut c = Command::new("/bin/true");
        c.env("LD_PRELOAD", bin.join("deps/librocjitsu.so")).env("ROCJITSU_RUNTIME_DIR", &session.0);
        ours.push(time(&mut c)?);
    }
    let extra = (median(ours) - median(plain)) * 1e6;
    Ok(Row {
        what: "preload of a program without GPU",
        measured: format!("{extra:.0} us"),
        bound: "<= 300 us",
        holds: Some(extra <= 300.0),
    })
}
