//! Says about a fault what a person wants to know: names, source lines, what lies around an address. It runs once a
//! fault, so it may be slow; it must not fail for want of anything.

use crate::core::{Core, Stats};
use crate::launch::Launch;
use crate::symbols;
use rj_exec::{AddressSpace, Dispatch, Fault, Snapshot};
use std::sync::atomic::Ordering::Relaxed;

/// The name of the kernel whose descriptor lies at `object`, as its author wrote it.
pub fn kernel(map: &Snapshot, object: u64) -> Option<String> {
    symbols::kernel_name(map, object).map(|name| rj_code::demangle(&name))
}

/// Fills in what only a machine knows of a wave's fault.
pub fn fault(core: &Core, map: &Snapshot, fault: &mut Fault) {
    let object = u64::from_str_radix(fault.kernel.trim_start_matches("0x"), 16).unwrap_or(0);
    if let Some(name) = kernel(map, object) {
        fault.kernel = name;
    }
    fault.source = source(core, fault.caller.unwrap_or(fault.pc));
}

/// The source lines of an instruction, innermost first; empty if nothing knows them.
pub fn source(core: &Core, pc: u64) -> Vec<String> {
    let Some(file) = core.host.code_file(pc) else { return Vec::new() };
    let frames = rj_code::frames(&file.bytes, file.address);
    let line = |f: &rj_code::Frame| match &f.function {
        Some(function) => format!("{}:{} in {function}", f.file, f.line),
        None => format!("{}:{}", f.file, f.line),
    };
    frames.iter().map(line).collect()
}

/// A kernel launch, as the trace has it.
pub fn launched(map: &Snapshot, d: &Dispatch) -> String {
    let ([gx, gy, gz], [bx, by, bz]) = (d.groups(), d.group);
    let name = kernel(map, d.object).unwrap_or_else(|| d.name.clone());
    let (lds, private) = (d.lds_size, d.private_size);
    format!("kernel launch: grid=({gx},{gy},{gz}) block=({bx},{by},{bz}) lds={lds} scratch={private} kernel={name}")
}

/// A kernel's end, as the trace has it; `ticks` of 10 ns.
pub fn ended(map: &Snapshot, launch: &Launch, ticks: u64) -> String {
    let name = kernel(map, launch.dispatch.object).unwrap_or_else(|| launch.dispatch.name.clone());
    let (groups, instructions) = (launch.finished(), launch.instructions());
    let us = ticks / 100;
    format!("kernel end: groups={groups} wave_instructions={instructions} us={us} kernel={name}")
}

/// Work-groups that a watchdog's report shows.
const SHOWN: usize = 8;

/// Reports a kernel that the watchdog stopped, and ends the process: its waves cannot go on, and whoever waits for
/// them would wait for ever.
pub fn expired(core: &Core, map: &Snapshot, gpu: usize, launch: &Launch) -> ! {
    let d = &launch.dispatch;
    let target = d.target;
    let limit = core.watchdog_ms.load(Relaxed);
    let mut text = format!("GPU {gpu} ({}): watchdog: no work-group of a kernel ended for ", target.name());
    text += &if limit.is_multiple_of(1000) { format!("{} s", limit / 1000) } else { format!("{limit} ms") };
    let name = kernel(map, d.object).unwrap_or_else(|| d.name.clone());
    let places = launch.places();
    text += &format!(
        "\n  kernel {name}, {} of {} work-groups have ended, {} have begun",
        launch.finished(),
        launch.total(),
        places.len()
    );
    for place in places.iter().take(SHOWN) {
        let [x, y, z] = place.group;
        for alike in place.waves.chunk_by(|a, b| (a.1, a.2) == (b.1, b.2)) {
            let (first, barrier, pc) = alike[0];
            let last = alike[alike.len() - 1].0;
            let one = first == last;
            let waves = if one { format!("wave {first}") } else { format!("waves {first} to {last}") };
            let doing = match (barrier, one) {
                (true, true) => "waits at a barrier before",
                (true, false) => "wait at a barrier before",
                (false, true) => "runs at",
                (false, false) => "run at",
            };
            text += &format!("\n  work-group ({x},{y},{z}), {waves} {doing} pc {pc:#x}");
            let code = rj_exec::lower::text(target, map, pc);
            if !code.is_empty() {
                text += &format!(": {code}");
            }
            source(core, pc).iter().for_each(|line| text += &format!("\n    at {line}"));
        }
    }
    if places.len() > SHOWN {
        text += &format!("\n  and {} more work-groups", places.len() - SHOWN);
    }
    text += "\n  the process ends";
    Stats::add(&core.stats.faults, 1);
    core.host.report(&text);
    std::process::abort();
}

/// What lies at or around an address of a GPU.
pub fn around(core: &Core, gpu: usize, va: u64) -> String {
    core.host.around(va).unwrap_or_else(|| neighbours(&core.gpus[gpu].space, va))
}

/// Says what lies around an address.
fn neighbours(space: &AddressSpace, va: u64) -> String {
    let map = space.snapshot();
    if let Some(r) = map.find(va) {
        let access = |on: bool, c: char| if on { c } else { '-' };
        let rwx: String = [access(r.read, 'r'), access(r.write, 'w'), access(r.exec, 'x')].into_iter().collect();
        return format!("it lies in the mapping {:#x}-{:#x} ({rwx}, allocation {:#x})", r.va, r.end(), r.alloc);
    }
    let i = map.regions().partition_point(|r| r.va <= va);
    let below = i.checked_sub(1).map(|i| &map.regions()[i]);
    let above = map.regions().get(i);
    match (below, above) {
        (Some(b), Some(a)) if va - b.end() > a.va - va => ahead(a.va, a.end(), a.va - va),
        (Some(b), _) => {
            let past = va - b.end();
            format!(
                "nearest: the mapping {:#x}-{:#x} ends {past} bytes below (allocation {:#x})",
                b.va,
                b.end(),
                b.alloc
            )
        }
        (None, Some(a)) => ahead(a.va, a.end(), a.va - va),
        (None, None) => "nothing is mapped on this GPU".into(),
    }
}

fn ahead(va: u64, end: u64, bytes: u64) -> String {
    format!("nearest: the mapping {va:#x}-{end:#x} begins {bytes} bytes above")
}
