//! Every value that a program can read of a GPU, kept in files: a change is seen and meant, or it is a mistake.
//!
//! `BLESS=1 cargo test -p rj_kmd --test golden` writes the files anew.

use rj_kmd::sysfs::{Host, Node, tree_on};
use rj_kmd::{Config, GpuInstance, MemUsage, drm};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The machine that the files are about.
const HOST: Host = Host { cpus: 16, memory: 64 << 30, cpu_mhz: 3000 };
/// Memory in use that the files are about.
const USAGE: MemUsage = MemUsage { vram: 0x20_0000, gtt: 0x1000 };

fn gpus(name: &str, num_gpus: u32) -> Vec<GpuInstance> {
    GpuInstance::all_of(&Config {
        gpu: name.into(),
        num_gpus,
        cpu_thread_budget: None,
        watchdog: None,
        trace_level: None,
    })
    .unwrap()
}

/// The tree as text: one paragraph a file, one line any other entry.
fn print_tree(gpus: &[GpuInstance]) -> String {
    let mut out = String::new();
    for (path, node) in tree_on(gpus, &HOST) {
        let path = path.display();
        let _ = match node {
            Node::Dir => writeln!(out, "{path}/"),
            Node::Link(to) => writeln!(out, "{path} -> {}", to.display()),
            Node::CharDev { major, minor } => writeln!(out, "{path} character device {major}:{minor}"),
            Node::File(content) => match std::str::from_utf8(&content) {
                Ok(text) if text.lines().count() == 1 && text.ends_with('\n') && !text.contains('\0') => {
                    write!(out, "{path}: {text}")
                }
                Ok(text) if text.ends_with('\n') && !text.contains('\0') => {
                    writeln!(out, "{path}:\n    {}", text.trim_end().replace('\n', "\n    "))
                }
                _ => writeln!(out, "{path}: bytes\n{}", hex(&content)),
            },
        };
    }
    out
}

/// 16 bytes a line as dwords, lines that are all zero left out.
fn hex(bytes: &[u8]) -> String {
    let mut out = String::new();
    for (i, line) in bytes.chunks(16).enumerate() {
        if line.iter().any(|&b| b != 0) || bytes.len() <= 16 {
            let _ = write!(out, "    {:4}:", i * 16);
            for dword in line.chunks(4) {
                let n = dword.iter().rev().fold(0u32, |n, &b| n << 8 | u32::from(b));
                let _ = write!(out, " {n:08x}");
            }
            out.push('\n');
        }
    }
    out.trim_end_matches('\n').to_owned()
}

/// Every query of AMDGPU_INFO that a GPU answers, for all small arguments.
fn print_drm(gpu: &GpuInstance) -> String {
    let mut out = String::new();
    for query in 0..0x40u32 {
        let arguments: Vec<(u32, u32)> =
            if query == 0x15 { vec![(0x263e, 1)] } else { (0..32).map(|a| (a, 0)).collect() };
        let mut before = None;
        for (a, b) in arguments {
            let mut request = [0u8; drm::INFO_SIZE];
            request[0] = 1;
            for (at, n) in [(8, 4096), (12, query), (16, a), (20, b)] {
                request[at..at + 4].copy_from_slice(&n.to_le_bytes());
            }
            let Ok(answer) = drm::info_on(gpu, &USAGE, &HOST, &request) else { continue };
            // A query that takes no argument answers the same to all.
            if before.as_ref() != Some(&answer) {
                let _ = writeln!(out, "{}, {} bytes\n{}", drm::query_name(&request), answer.len(), hex(&answer));
            }
            before = Some(answer);
        }
    }
    out
}

fn same_as_file(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((n, (new, old))) = text.lines().zip(kept.lines()).enumerate().find(|(_, (new, old))| new != old) {
        panic!("{name} line {}: now {new:?}, was {old:?} (BLESS=1 if that is meant)", n + 1);
    }
    assert_eq!(text.lines().count(), kept.lines().count(), "{name}: lines (BLESS=1 if that is meant)");
}

#[test]
fn what_a_program_reads_of_each_gpu_is_what_it_was() {
    for gpu in rj_hw::all() {
        let one = gpus(&gpu.key, 1);
        same_as_file(&format!("{}.tree.txt", gpu.key), &print_tree(&one));
        same_as_file(&format!("{}.drm.txt", gpu.key), &print_drm(&one[0]));
    }
}

#[test]
fn gpus_of_one_machine_are_linked_as_they_were() {
    for (name, n) in [("MI300X", 2), ("R9700", 2)] {
        same_as_file(&format!("{n}x{name}.tree.txt"), &print_tree(&gpus(name, n)));
    }
}

#[test]
fn every_link_of_the_tree_leads_to_something_in_it() {
    let nodes = tree_on(&gpus("MI300X", 3), &HOST);
    let mut there: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, _) in &nodes {
        there.extend(path.ancestors().map(Path::to_owned));
    }
    // Where a link's own directory lies once the links above it are followed: none of ours lies below a link.
    for (path, node) in &nodes {
        let Node::Link(to) = node else { continue };
        assert!(to.is_relative(), "{}", path.display());
        let mut at = path.parent().unwrap().to_owned();
        for part in to.components() {
            match part {
                std::path::Component::ParentDir => assert!(at.pop(), "{}", path.display()),
                part => at.push(part),
            }
        }
        assert!(there.contains(&at), "{} leads to {}", path.display(), at.display());
    }
}

#[test]
fn no_path_is_listed_twice() {
    let mut seen = BTreeSet::new();
    for (path, _) in tree_on(&gpus("MI210", 64), &HOST) {
        assert!(seen.insert(path.clone()), "{}", path.display());
    }
}

/// The counts that libhsakmt believes: it reads that many directories and fails on a missing one.
#[test]
fn the_counts_in_properties_are_those_of_the_directories() {
    for (name, n) in [("MI300X", 3), ("W7900", 2), ("MI210", 1)] {
        let nodes = tree_on(&gpus(name, n), &HOST);
        for node in 0..=n {
            let dir = format!("/sys/devices/virtual/kfd/kfd/topology/nodes/{node}");
            let find = |p: &str| nodes.iter().find(|(path, _)| path == Path::new(&format!("{dir}/{p}")));
            let Some((_, Node::File(text))) = find("properties") else { panic!("{dir}/properties") };
            let text = String::from_utf8(text.clone()).unwrap();
            for (key, list) in [
                ("mem_banks_count", "mem_banks"),
                ("caches_count", "caches"),
                ("io_links_count", "io_links"),
                ("p2p_links_count", "p2p_links"),
            ] {
                let line = text.lines().find_map(|l| l.strip_prefix(key)).unwrap();
                let count: usize = line.trim().parse().unwrap();
                let listed = (0..).take_while(|i| find(&format!("{list}/{i}/properties")).is_some()).count();
                assert_eq!(count, listed, "{name} node {node} {key}");
            }
        }
    }
}
