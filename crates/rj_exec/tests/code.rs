//! Small pieces of machine code, run as one wave: regressions that programs have met.

use rj_code::KernelDescriptor;
use rj_exec::{AddressSpace, CodeCache, Dispatch, Env, Group, Host, Pool, Progress, Region, Scratch};
use rj_isa::Target;
use std::sync::Arc;

struct Silent;
impl Host for Silent {
    fn interrupt(&self, _: u32) {}
    fn clock(&self) -> u64 {
        1
    }
    fn note(&self, _: &str) {}
}

/// Runs `code` on one lane with the address of a zeroed buffer in s[0:1]; answers the buffer's dwords.
fn run(target: Target, code: &[u8]) -> Vec<u32> {
    const CODE: u64 = 0x1000_0000;
    const DATA: u64 = 0x2000_0000;
    // The descriptor stands in front of the code, 256 bytes before it.
    let mut image = vec![0u64; 32 + code.len().div_ceil(8)];
    for (i, b) in code.iter().enumerate() {
        image[32 + i / 8] |= u64::from(*b) << (8 * (i % 8));
    }
    let mut data = vec![0u32; 64];
    let space = AddressSpace::new();
    let region = |va, host, len| Region { va, len, host, read: true, write: true, exec: true, alloc: 0 };
    space.map(region(CODE, image.as_ptr() as usize, 8 * image.len() as u64)).unwrap();
    space.map(region(DATA, data.as_mut_ptr() as usize, 256)).unwrap();
    let descriptor =
        KernelDescriptor { entry_offset: 256, rsrc2: 2 << 1, properties: 1 << 3, rsrc1: 3, ..Default::default() };
    let dispatch = Arc::new(Dispatch {
        target,
        name: "test".into(),
        object: CODE,
        descriptor,
        dims: 1,
        grid: [1, 1, 1],
        group: [1, 1, 1],
        kernarg: DATA,
        packet: 0,
        queue: 0,
        dispatch_id: 0,
        private_size: 0,
        lds_size: 0,
        scratch: Scratch::default(),
        xccs: 1,
    });
    let cache = CodeCache::new(target);
    let mut pool = Pool::default();
    let mut group = Group::new(&mut pool, &dispatch, [0; 3], &[]);
    match group.run(&Env { space: &space, code: &cache, gws: &rj_exec::Gws::default(), host: &Silent }) {
        Progress::Done => {}
        other => panic!("{other:?}"),
    }
    drop(image);
    data
}

#[test]
fn a_carry_out_may_go_where_a_source_was() {
    // v_mov v0, 3; s_mov s4, 7; v_mov v2, 5; v_mov v3, 0; v_mov v4, 0
    // v_mad_u64_u32 v[0:1], s[4:5], v0, s4, v[2:3]; v_mov v2, s4; global_store_dwordx3 v4, v[0:2], s[0:1]; s_endpgm
    #[rustfmt::skip]
    let code = [
        0x83, 0x02, 0x00, 0x7e, 0x87, 0x00, 0x84, 0xbe, 0x85, 0x02, 0x04, 0x7e, 0x80, 0x02, 0x06, 0x7e,
        0x80, 0x02, 0x08, 0x7e, 0x00, 0x04, 0xe8, 0xd1, 0x00, 0x09, 0x08, 0x04, 0x04, 0x02, 0x04, 0x7e,
        0x00, 0x80, 0x78, 0xdc, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x81, 0xbf,
    ];
    for t in [Target::Gfx90a, Target::Gfx942] {
        assert_eq!(run(t, &code)[..3], [26, 0, 0], "{}", t.name());
    }
}
