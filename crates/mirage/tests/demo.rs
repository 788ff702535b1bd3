//! `mirage demo` on this machine, with no ROCm: a GPU, four results that agree with the CPU's, and what it took.

mod common;

use common::{Mirage, text};

#[test]
fn the_demo_runs_its_kernels_and_agrees_with_the_cpu() {
    let m = Mirage::new("demo");
    for (profile, target) in [(None, "(gfx942): 304 compute units"), (Some("mi210"), "(gfx90a): 104 compute units")] {
        let args = [&["demo"][..], &profile.map_or(vec![], |p| vec!["--profile", p])].concat();
        let out = m.run(&args);
        let shown = format!("{}{}", text(&out.stdout), text(&out.stderr));
        assert_eq!(out.status.code(), Some(0), "{shown}");
        assert!(text(&out.stderr).is_empty(), "{shown}");
        let lines: Vec<_> = shown.lines().collect();
        assert!(lines[0].contains(target), "{shown}");
        assert_eq!(lines.iter().filter(|l| l.ends_with(": same as on the CPU")).count(), 4, "{shown}");
        assert!(lines.iter().any(|l| l.contains("██████")), "no picture: {shown}");
        let last = lines.last().unwrap();
        assert!(last.starts_with("4 dispatches, ") && last.ends_with(" M wave instructions/s"), "{shown}");
        assert!(m.sessions().is_empty());
    }
}

#[test]
fn a_gpu_without_kernels_is_refused_by_name() {
    let m = Mirage::new("demo-refused");
    let out = m.run(&["demo", "--profile", "mi350x"]);
    assert_eq!(out.status.code(), Some(1));
    let said = text(&out.stderr);
    assert!(said.contains("error[demo-target]") && said.contains("gfx950") && said.contains("mi210"), "{said}");
}
