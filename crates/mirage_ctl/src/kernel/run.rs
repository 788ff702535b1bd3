//! `mirage kernel run`: one kernel on the engine's machine, with no driver and no runtime between.

use super::arguments::{After, Value, read};
use super::output::Format;
use super::{damaged, entries, hidden, no_kernel, parse};
use crate::cli::{KernelRunArgs, Three};
use crate::context::Context;
use crate::screen;
use mirage_core::Error;
use mirage_core::gpu_record::thousands;
use rj_code::{Arg, Entry, Kernel, KernelMetadata};
use rj_vm::GpuConfig;
use rj_vm::offline::{OfflineError, OfflineResult, OfflineRun, run_kernel};

/// Where the code object is loaded.
const CODE: u64 = 0x0d00_0000_0000;
/// Private bytes a work-item where the compiler could not tell: what HIP takes by default.
const DYNAMIC_STACK: u32 = 16 << 10;

pub(crate) fn main(cx: &Context, args: &KernelRunArgs) -> Result<u8, Error> {
    let format = Format::parse(&args.format).ok_or_else(|| {
        Error::new("usage", format!("--format '{}' is not known", args.format))
            .hint("hex, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64")
            .exit(2)
    })?;
    let all = entries(&args.file)?;
    let (entry, name) = choose(args, &all)?;
    let object = parse(&args.file, entry)?;
    let kernel = object.kernel(&name).ok_or_else(|| no_kernel(&args.file, &name, std::iter::empty()))?;
    let metadata = kernel.metadata.as_ref().ok_or_else(|| {
        Error::new("code-object", format!("kernel {name} has no metadata, so its arguments are not known"))
    })?;
    let target = object.target.target().ok_or_else(|| {
        let known: Vec<_> = rj_isa::Target::ALL.iter().map(|t| t.name()).collect();
        Error::new("target", format!("code for {} cannot be run", object.target))
            .hint(format!("only for {}", known.join(", ")))
    })?;
    check_group(metadata, args.block)?;

    let explicit: Vec<&Arg> = metadata.args.iter().filter(|a| !a.is_hidden()).collect();
    let values = values(&name, &explicit, &args.args)?;
    let mut launch = Launch::new(kernel, metadata);
    for (arg, value) in explicit.iter().zip(&values) {
        launch.put(arg, value)?;
    }
    let filled = hidden::fill(&mut launch.kernarg, metadata, args.grid, args.block, args.dynamic_lds)
        .map_err(|e| Error::new("code-object", format!("kernel {name}: {e}")))?;
    if let Some((offset, state)) = filled.sync {
        launch.reference(offset, state);
    }
    if cx.verbose > 0 && !filled.missing.is_empty() {
        screen::say(&format!("nothing here serves {}; the kernel may ask for it", filled.missing.join(", ")));
    }

    let image = object.load(CODE).map_err(|e| damaged(&args.file, &e))?;
    let mut grid = [0; 3];
    for (i, work_items) in grid.iter_mut().enumerate() {
        *work_items = args.grid.sizes[i].checked_mul(args.block.sizes[i]).ok_or_else(|| {
            Error::new("kernel-launch", "the grid has more than 4,294,967,295 work-items in a dimension")
        })?;
    }
    let dynamic_stack = if metadata.dynamic_stack { DYNAMIC_STACK } else { 0 };
    let run = OfflineRun {
        gpu: gpu(target),
        image: image.bytes,
        image_va: image.base,
        descriptor_va: CODE + kernel.descriptor_address,
        name: name.clone(),
        dims: args.grid.dims.max(args.block.dims),
        grid,
        block: args.block.sizes,
        kernarg: launch.kernarg,
        buffers: launch.buffers,
        references: launch.references,
        lds: metadata.lds.saturating_add(args.dynamic_lds),
        private: metadata.private.max(dynamic_stack),
        threads: args.cpu_thread_budget.map_or(0, |n| n as usize),
    };
    let result = run_kernel(run).map_err(|e| match e {
        OfflineError::Refused(why) => Error::new("kernel-launch", format!("kernel {name} cannot be launched: {why}")),
        OfflineError::Fault(fault) => Error::new("gpu-fault", fault.to_string()),
    })?;
    for note in &result.notes {
        screen::say(note);
    }
    if cx.verbose > 0 {
        let (groups, instructions) = (thousands(result.groups), thousands(result.instructions));
        screen::say(&format!("{groups} work-groups, {instructions} wave instructions in {:.3?}", result.elapsed));
    }
    show(cx, &name, target.name(), format, &values, &result)
}

/// The code object and the kernel that are meant, if that is clear.
fn choose<'a>(args: &KernelRunArgs, all: &'a [Entry]) -> Result<(&'a Entry, String), Error> {
    let mut candidates = Vec::new();
    let mut names = Vec::new();
    for entry in all {
        for kernel in parse(&args.file, entry)?.kernels {
            if args.kernel.as_ref().is_none_or(|k| *k == kernel.name) {
                candidates.push((entry, kernel.name.clone()));
            }
            names.push(kernel.name);
        }
    }
    let distinct = |mut list: Vec<String>| {
        list.sort();
        list.dedup();
        list
    };
    let kernels = distinct(candidates.iter().map(|c| c.1.clone()).collect());
    let targets = distinct(candidates.iter().map(|c| c.0.target.to_string()).collect());
    let file = args.file.file.display();
    match (candidates.len(), &args.kernel) {
        (0, Some(wanted)) => Err(no_kernel(&args.file, wanted, names.iter().map(String::as_str))),
        (0, None) => Err(Error::new("kernel-unknown", format!("no kernels in {file}"))),
        (1, _) => Ok(candidates.remove(0)),
        _ if kernels.len() > 1 => Err(Error::new("kernel-ambiguous", format!("{file} has several kernels"))
            .hint(format!("choose one with --kernel: {}", kernels.join(", ")))),
        _ if targets.len() > 1 => Err(Error::new("target-ambiguous", format!("{file} has code for several GPUs"))
            .hint(format!("choose one with --profile: {}", targets.join(", ")))),
        // The same kernel in several of the program's parts.
        _ => Ok(candidates.remove(0)),
    }
}

fn check_group(m: &KernelMetadata, block: Three) -> Result<(), Error> {
    let size: u64 = block.sizes.iter().map(|&n| u64::from(n)).product();
    let refuse = |why: String| Err(Error::new("kernel-launch", why));
    if let Some(reqd) = m.reqd_workgroup.filter(|r| *r != block.sizes) {
        let [x, y, z] = reqd;
        return refuse(format!("kernel {} was compiled for work-groups of {x},{y},{z} only", m.name));
    }
    if size > u64::from(m.max_workgroup) {
        let most = m.max_workgroup;
        return refuse(format!("kernel {} was compiled for at most {most} work-items a group, not {size}", m.name));
    }
    Ok(())
}

fn values(kernel: &str, explicit: &[&Arg], given: &[String]) -> Result<Vec<Value>, Error> {
    if given.len() != explicit.len() {
        let wanted: Vec<_> = explicit.iter().map(|a| a.to_string()).collect();
        let message = format!("kernel {kernel} takes {} arguments, {} were given", explicit.len(), given.len());
        let error = Error::new("kernel-argument", message);
        return Err(if wanted.is_empty() { error } else { error.hint(format!("they are: {}", wanted.join("; "))) });
    }
    explicit.iter().zip(given).map(|(arg, text)| read(text, arg)).collect()
}

/// The argument bytes and the buffers they point to.
struct Launch {
    kernarg: Vec<u8>,
    buffers: Vec<Vec<u8>>,
    references: Vec<(usize, usize, u64)>,
}

impl Launch {
    fn new(kernel: &Kernel, m: &KernelMetadata) -> Launch {
        let size = m.kernarg_size.max(kernel.descriptor.kernarg_size);
        Launch { kernarg: vec![0; size as usize], buffers: Vec::new(), references: Vec::new() }
    }

    fn put(&mut self, arg: &Arg, value: &Value) -> Result<(), Error> {
        let at = arg.offset as usize;
        let place = self.kernarg.get_mut(at..at + arg.size as usize);
        let place =
            place.ok_or_else(|| Error::new("code-object", format!("the argument {arg} lies outside the arguments")))?;
        match value {
            Value::Bytes(b) => place.copy_from_slice(b),
            Value::Buffer(b, _) => self.reference(at, b.clone()),
        }
        Ok(())
    }

    fn reference(&mut self, at: usize, buffer: Vec<u8>) {
        self.references.push((at, self.buffers.len(), 0));
        self.buffers.push(buffer);
    }
}

fn gpu(target: rj_isa::Target) -> GpuConfig {
    let gpu = rj_hw::of_target(target);
    GpuConfig {
        target,
        gpu_id: 1,
        xccs: gpu.shape.xcds,
        cus: gpu.shape.cus,
        simds_per_cu: gpu.shape.simds_per_cu,
        waves_per_simd: gpu.shape.waves_per_simd,
        lds_bytes: gpu.limits.lds_bytes,
        vgprs: gpu.limits.vgprs,
    }
}

/// Prints and stores the outputs.
fn show(
    cx: &Context,
    kernel: &str,
    target: &str,
    format: Format,
    values: &[Value],
    result: &OfflineResult,
) -> Result<u8, Error> {
    let mut buffers = result.buffers.iter();
    let (mut text, mut outputs) = (String::new(), Vec::new());
    for (i, value) in values.iter().enumerate() {
        let Value::Buffer(_, after) = value else { continue };
        let Some(bytes) = buffers.next() else { continue };
        match after {
            After::Forget => {}
            After::Store(path) => {
                std::fs::write(path, bytes).map_err(|e| Error::io("write", path, e))?;
                outputs.push(serde_json::json!({"arg": i, "bytes": bytes.len(), "file": path}));
            }
            After::Print if cx.json => {
                outputs.push(serde_json::json!({"arg": i, "bytes": bytes.len(), "values": format.elements(bytes)}));
            }
            After::Print => text.push_str(&format!("argument {i}, {} bytes:\n{}", bytes.len(), format.lines(bytes))),
        }
    }
    if !cx.json {
        return screen::out(&text);
    }
    screen::json(&serde_json::json!({
        "kernel": kernel,
        "target": target,
        "work_groups": result.groups,
        "wave_instructions": result.instructions,
        "elapsed_ns": u64::try_from(result.elapsed.as_nanos()).unwrap_or(u64::MAX),
        "outputs": outputs,
        "notes": result.notes,
    }))
}
