//! Which memory instructions of the corpora are executed. What is not must be listed by name.

use flate2::read::GzDecoder;
use rj_isa::{Field, Format, Target};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

/// Names of memory instructions that the engine refuses on a target.
fn refused(t: Target) -> BTreeSet<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../rj_isa/tests/data")
        .join(format!("corpus-{}.tsv.gz", t.name()));
    let mut text = String::new();
    GzDecoder::new(&std::fs::read(path).expect("corpus")[..]).read_to_string(&mut text).expect("corpus");
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let hex = line.split('\t').next().unwrap_or("");
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex")).collect();
        let Ok(inst) = rj_isa::decode(t, &bytes) else { continue };
        let memory = matches!(
            inst.format(),
            Format::Flat | Format::Global | Format::Scratch | Format::Ds | Format::Mubuf | Format::Mtbuf | Format::Smem
        );
        // Global data share and partially resident textures do not exist here.
        let gds = inst.is(Field::gds) && !inst.op.name().starts_with("DS_GWS");
        if memory && !gds && !inst.is(Field::tfe) && !rj_exec::lower::supported(t, &inst) {
            names.insert(inst.op.name().to_ascii_lowercase());
        }
    }
    names
}

/// What is refused, by the beginning of its name, and where.
const REFUSED: &[(&[Target], &[&str])] = &[
    (
        &Target::ALL,
        &[
            // Image formats.
            "buffer_load_format_",
            "buffer_store_format_",
            "tbuffer_",
            // Ordered and ray-tracing hardware.
            "ds_bvh_stack_",
            "ds_ordered_count",
            "ds_add_gs_reg",
            "ds_sub_gs_reg",
            // Without a scalar base.
            "global_load_dword_addtid",
            "global_store_dword_addtid",
        ],
    ),
    // Scalar stores and atomics: no compiler makes them.
    (
        &[Target::Gfx90a, Target::Gfx942, Target::Gfx950],
        &["s_atomic_", "s_buffer_atomic_", "s_store_", "s_buffer_store_", "s_scratch_load_", "s_scratch_store_"],
    ),
    // Transposing loads, whose layout is not public.
    (&[Target::Gfx1201], &["global_atomic_ordered_add_b64", "global_load_tr_"]),
    // Transposing loads, barriers in LDS, the tensor mover.
    (
        &[Target::Gfx1250],
        &["ds_load_tr", "global_load_tr", "ds_atomic_async_barrier_", "ds_atomic_barrier_", "tensor_"],
    ),
];

#[test]
fn memory_instructions_are_executed_or_listed() {
    for t in Target::ALL {
        let listed: Vec<&str> =
            REFUSED.iter().filter(|(on, _)| on.contains(&t)).flat_map(|(_, names)| names.iter().copied()).collect();
        let refused = refused(t);
        let unlisted: Vec<&String> = refused.iter().filter(|n| !listed.iter().any(|l| n.starts_with(l))).collect();
        assert!(unlisted.is_empty(), "{}: refused but not listed: {unlisted:?}", t.name());
    }
}

#[test]
fn the_list_names_nothing_that_is_executed() {
    let all: BTreeSet<String> = Target::ALL.into_iter().flat_map(refused).collect();
    for name in REFUSED.iter().flat_map(|(_, names)| names.iter()) {
        assert!(all.iter().any(|n| n.starts_with(name)), "{name} is executed everywhere: take it off the list");
    }
}
