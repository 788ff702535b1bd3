//! `mirage kernel list`.

use super::{entries, parse};
use crate::cli::KernelListArgs;
use crate::context::Context;
use crate::screen;
use mirage_core::Error;
use rj_code::{Arg, Kernel, KernelDescriptor, KernelMetadata};

pub(crate) fn main(cx: &Context, args: &KernelListArgs) -> Result<u8, Error> {
    let (mut rows, mut documents) = (Vec::new(), Vec::new());
    for entry in entries(&args.file)? {
        let object = parse(&args.file, &entry)?;
        for kernel in &object.kernels {
            if cx.json {
                documents.push(document(&object.target.to_string(), object.version, entry.bundle, kernel));
            } else {
                rows.push(row(&object.target.to_string(), kernel));
            }
        }
    }
    if cx.json {
        return screen::json(&documents);
    }
    let header = ["TARGET", "KERNEL", "VGPR", "AGPR", "SGPR", "LDS", "PRIVATE", "WAVE", "ARGUMENTS"];
    screen::out(&screen::table(&header, &rows))
}

fn row(target: &str, kernel: &Kernel) -> Vec<String> {
    let d = &kernel.descriptor;
    let Some(m) = &kernel.metadata else {
        // What the descriptor alone tells.
        let unknown = || "-".to_string();
        let sizes = [d.group_segment_fixed_size, d.private_segment_fixed_size].map(|n| n.to_string());
        let [lds, private] = sizes;
        let wave = wave(d).to_string();
        let arguments = format!("{} bytes, not described", d.kernarg_size);
        return vec![
            target.into(),
            kernel.name.clone(),
            unknown(),
            unknown(),
            unknown(),
            lds,
            private,
            wave,
            arguments,
        ];
    };
    let agprs = m.agprs.map_or("-".to_string(), |n| n.to_string());
    let arguments: Vec<_> = m.args.iter().filter(|a| !a.is_hidden()).map(Arg::to_string).collect();
    vec![
        target.into(),
        kernel.name.clone(),
        m.vgprs.to_string(),
        agprs,
        m.sgprs.to_string(),
        m.lds.to_string(),
        m.private.to_string(),
        m.wavefront_size.to_string(),
        if arguments.is_empty() { "-".into() } else { arguments.join(", ") },
    ]
}

fn wave(d: &KernelDescriptor) -> u32 {
    if d.property(10) { 32 } else { 64 }
}

fn document(target: &str, version: u8, bundle: usize, kernel: &Kernel) -> serde_json::Value {
    let d = &kernel.descriptor;
    let m = kernel.metadata.clone().unwrap_or_else(|| KernelMetadata {
        kernarg_size: d.kernarg_size,
        lds: d.group_segment_fixed_size,
        private: d.private_segment_fixed_size,
        wavefront_size: wave(d),
        ..KernelMetadata::default()
    });
    let args: Vec<_> = m
        .args
        .iter()
        .map(|a| {
            serde_json::json!({
                "name": a.name,
                "type": a.type_name,
                "offset": a.offset,
                "size": a.size,
                "kind": a.kind_name,
                "address_space": a.address_space,
                "hidden": a.is_hidden(),
            })
        })
        .collect();
    serde_json::json!({
        "target": target,
        "code_object_version": version,
        "bundle": bundle,
        "name": kernel.name,
        "described": kernel.metadata.is_some(),
        "descriptor_address": kernel.descriptor_address,
        "entry_address": kernel.entry,
        "code_bytes": kernel.code_size,
        "vgprs": m.vgprs,
        "agprs": m.agprs,
        "sgprs": m.sgprs,
        "lds_bytes": m.lds,
        "private_bytes": m.private,
        "kernarg_bytes": m.kernarg_size,
        "wavefront_size": m.wavefront_size,
        "max_workgroup": m.max_workgroup,
        "reqd_workgroup": m.reqd_workgroup,
        "dynamic_stack": m.dynamic_stack,
        "sgpr_spills": m.spills.0,
        "vgpr_spills": m.spills.1,
        "args": args,
    })
}
