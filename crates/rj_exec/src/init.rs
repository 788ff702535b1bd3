//! The registers of a wave when it starts (engine-abi §3).

use crate::dispatch::Dispatch;
use crate::fault::FaultKind;
use crate::mem::{Denied, Snapshot};
use crate::wave::{Block, EXEC, Ids};
use rj_isa::Target;

/// TTMP0 in the scalar file.
const TTMP: usize = 108;

fn denied(d: Denied) -> FaultKind {
    FaultKind::Memory { address: d.va, write: d.write, mapped: d.mapped, fetch: false }
}

/// Fills the block of wave `ids.wave` of a group of `size` work-items.
pub fn wave(
    block: &mut Block,
    d: &Dispatch,
    snap: &Snapshot,
    ids: Ids,
    size: [u32; 3],
    slot: u32,
) -> Result<(), FaultKind> {
    let (arch, acc) = d.vgprs();
    block.clear(arch as usize, acc as usize);
    let lanes = d.wave_size();
    let first = ids.wave * lanes;
    let items = size[0] * size[1] * size[2];
    let desc = &d.descriptor;
    let ids_in = desc.rsrc2 >> 11 & 3;
    {
        let v0 = block.plane(0);
        let (mut x, mut y, mut z) = (first % size[0], first / size[0] % size[1], first / (size[0] * size[1]));
        let keep = [0x3ff, 0xf_ffff, u32::MAX, u32::MAX][ids_in as usize];
        for v in &mut v0[..lanes as usize] {
            *v = (x | y << 10 | z << 20) & keep;
            x += 1;
            if x == size[0] {
                (x, y) = (0, y + 1);
                if y == size[1] {
                    (y, z) = (0, z + 1);
                }
            }
        }
    }
    let w = block.wave();
    w.s[..128].fill(0);
    w.scc = 0;
    w.lanes = lanes;
    w.ids = ids;
    w.stored = false;
    w.fault = None;
    w.ticket = crate::gws::Ticket::None;
    w.mode = desc.rsrc1 >> 12 & 0xff
        | (desc.rsrc1 >> 21 & 1) << 8
        | (desc.rsrc1 >> 23 & 1) << 9
        | (desc.rsrc2 >> 24 & 0x7f) << 12
        | (desc.rsrc1 >> 26 & 1) << 23;
    let active = items.saturating_sub(first).min(lanes);
    w.set64(EXEC, if active >= 64 { u64::MAX } else { (1 << active) - 1 });

    // Private memory of this wave.
    let uses_scratch = d.private_size != 0 || desc.rsrc2 & 1 != 0;
    w.scratch = d.scratch.location + u64::from(slot) * d.scratch.wave_bytes;
    w.scratch_len = if uses_scratch { d.scratch.wave_bytes } else { 0 };

    // User SGPRs: dense, in this order, each if enabled.
    let mut next = 0usize;
    let mut put = |w: &mut crate::wave::Wave, words: &[u32]| {
        for x in words {
            if next < 104 {
                w.s[next] = *x;
            }
            next += 1;
        }
    };
    let pair = |x: u64| [x as u32, (x >> 32) as u32];
    if desc.property(0) {
        put(w, &d.scratch.descriptor);
    }
    if desc.property(1) {
        put(w, &pair(d.packet));
    }
    if desc.property(2) {
        put(w, &pair(d.queue));
    }
    if desc.property(3) {
        put(w, &pair(d.kernarg));
    }
    if desc.property(4) {
        put(w, &pair(d.dispatch_id));
    }
    if desc.property(5) {
        put(w, &pair(d.scratch.location));
    }
    if desc.property(6) {
        put(w, &[d.private_size.next_multiple_of(4)]);
    }
    let preload = u32::from(desc.preload & 0x7f);
    let skips = d.target.is_gfx9() && d.target != Target::Gfx90a;
    if preload != 0 && d.target != Target::Gfx90a {
        let offset = u64::from(desc.preload >> 7) * 4;
        for i in 0..u64::from(preload) {
            let mut b = [0; 4];
            snap.read(d.kernarg + offset + i * 4, &mut b).map_err(denied)?;
            put(w, &[u32::from_le_bytes(b)]);
        }
    }

    // System SGPRs, or trap temporaries from gfx12 on.
    let [x, y, z] = ids.group;
    let wants = |bit: u32| desc.rsrc2 >> bit & 1 != 0;
    if matches!(d.target, Target::Gfx1201 | Target::Gfx1250) {
        w.s[TTMP + 9] = x;
        let z = if wants(9) { z } else { 0 };
        w.s[TTMP + 7] = y & 0xffff | z << 16;
    } else {
        let mut at = desc.user_sgprs() as usize;
        let mut put = |w: &mut crate::wave::Wave, x: u32| {
            if at < 104 {
                w.s[at] = x;
            }
            at += 1;
        };
        for (bit, id) in [(7, x), (8, y), (9, z)] {
            if wants(bit) {
                put(w, id);
            }
        }
        if wants(10) {
            let waves = items.div_ceil(lanes);
            put(w, u32::from(ids.wave == 0) << 31 | waves & 0x3f);
        }
        if d.target == Target::Gfx90a && desc.rsrc2 & 1 != 0 {
            put(w, (u64::from(slot) * d.scratch.wave_bytes) as u32);
        }
    }
    let skip = if preload != 0 && skips { 256 } else { 0 };
    w.pc = d.object.wrapping_add_signed(desc.entry_offset).wrapping_add(skip);
    Ok(())
}
