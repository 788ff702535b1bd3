//! Memory instructions. The operations' names are regular: a space, an action, a type.

use super::build::Lower;
use super::{Flow, Refusal, Result};
use crate::gws::{self, Action};
use crate::memory::NONE;
use crate::memory::sub::{self as bytes, kind as sub};
use crate::memory::{atomic, atomic::Kind, direct, lds, scalar, space, vector};
use crate::salu;
use crate::uop::Handler;
use crate::wave::{s_off, v_off};
use rj_isa::{Field, Inst, Op, Operand, Special, Target};

/// Lowers a memory instruction.
pub(crate) fn lower(l: &mut Lower<'_, '_>, i: &Inst) -> Result<Flow> {
    let full = format!("{:?}", i.op);
    let done = match i.op {
        Op::BUFFER_WBINVL1
        | Op::BUFFER_WBINVL1_VOL
        | Op::BUFFER_INV
        | Op::BUFFER_WBL2
        | Op::BUFFER_INVL2
        | Op::S_DCACHE_INV
        | Op::S_DCACHE_WB
        | Op::S_DCACHE_INV_VOL
        | Op::S_DCACHE_WB_VOL
        | Op::S_GL1_INV
        | Op::BUFFER_GL0_INV
        | Op::BUFFER_GL1_INV
        | Op::DS_NOP
        | Op::GLOBAL_INV
        | Op::GLOBAL_WB
        | Op::GLOBAL_WBINV
        | Op::GLOBAL_PREFETCH_B8
        | Op::FLAT_PREFETCH_B8
        | Op::S_DCACHE_DISCARD
        | Op::S_DCACHE_DISCARD_X2
        | Op::S_ATC_PROBE
        | Op::S_ATC_PROBE_BUFFER
        | Op::S_PREFETCH_DATA
        | Op::S_PREFETCH_DATA_PC_REL
        | Op::S_PREFETCH_INST
        | Op::S_PREFETCH_INST_PC_REL
        | Op::S_BUFFER_PREFETCH_DATA => {
            l.emit(salu::nop, 0, 0, 0, 0, 0);
            return Ok(Flow::On);
        }
        Op::S_MEMTIME | Op::S_MEMREALTIME => {
            let d = l.operand(i, Field::sdst)?;
            let d = l.sdst(d, 2)?;
            l.emit(scalar::s_time, d, 0, 0, 0, 0);
            return Ok(Flow::On);
        }
        _ => &full,
    };
    let (space, rest) = if let Some(r) = done.strip_prefix("GLOBAL_") {
        (space::GLOBAL, r)
    } else if let Some(r) = done.strip_prefix("CLUSTER_") {
        // Loads that hardware broadcasts in a cluster: each wave gets its own copy.
        (space::GLOBAL, r)
    } else if let Some(r) = done.strip_prefix("FLAT_") {
        (space::FLAT, r)
    } else if let Some(r) = done.strip_prefix("SCRATCH_") {
        (space::SCRATCH, r)
    } else if let Some(r) = done.strip_prefix("BUFFER_") {
        (space::BUFFER, r)
    } else if let Some(r) = done.strip_prefix("DS_") {
        return ds(l, i, r);
    } else if let Some(r) = done.strip_prefix("S_LOAD_") {
        return smem(l, i, r, false);
    } else if let Some(r) = done.strip_prefix("S_BUFFER_LOAD_") {
        return smem(l, i, r, true);
    } else {
        return Err(Refusal::Unsupported);
    };
    if i.is(Field::tfe) {
        return Err(Refusal::Operand);
    }
    if let Some(t) = to_lds(rest) {
        let a = address(l, i, space, t.bytes)?;
        // An asynchronous transfer names the LDS address, others take M0.
        let d = match (rest.contains("ASYNC"), t.out) {
            (false, _) => 0,
            (true, false) => plane(l, i, Field::vdst)?,
            (true, true) => plane(l, i, Field::vdata)?,
        };
        l.emit(direct::pick(space), d, a.a, a.b, a.c, a.imm | t.kind << 44 | t.width << 48 | u64::from(t.out) << 53);
    } else if let Some(t) = rest.strip_prefix("LOAD_") {
        load(l, i, space, t.strip_prefix("MONITOR_").unwrap_or(t))?;
    } else if let Some(t) = rest.strip_prefix("STORE_") {
        store(l, i, space, t)?;
    } else if let Some(t) = rest.strip_prefix("ATOMIC_") {
        rmw(l, i, space, t)?;
    } else {
        return Err(Refusal::Unsupported);
    }
    Ok(Flow::On)
}

struct Transfer {
    kind: u64,
    /// Bytes in LDS.
    width: u64,
    /// Bytes in memory.
    bytes: u64,
    out: bool,
}

/// A transfer between memory and LDS.
fn to_lds(rest: &str) -> Option<Transfer> {
    let out = rest.starts_with("STORE_");
    let t = match rest {
        "STORE_LDS_DWORD" => "DWORD",
        _ => rest
            .strip_prefix("LOAD_LDS_")
            .or(rest.strip_prefix("LOAD_").and_then(|t| t.strip_suffix("_LDS")))
            .or(rest.strip_prefix("LOAD_ASYNC_TO_LDS_"))
            .or(rest.strip_prefix("STORE_ASYNC_FROM_LDS_"))?,
    };
    let (kind, width, bytes) = match t {
        "UBYTE" => (sub::U8, 4, 1),
        "SBYTE" => (sub::I8, 4, 1),
        "USHORT" => (sub::U16, 4, 2),
        "SSHORT" => (sub::I16, 4, 2),
        "B8" => (direct::BYTES, 1, 1),
        "DWORD" | "B32" => (direct::BYTES, 4, 4),
        "B64" => (direct::BYTES, 8, 8),
        "DWORDX3" => (direct::BYTES, 12, 12),
        "DWORDX4" | "B128" => (direct::BYTES, 16, 16),
        _ => return None,
    };
    Some(Transfer { kind, width, bytes, out })
}

/// The plane of a register operand.
fn plane(l: &Lower<'_, '_>, i: &Inst, f: Field) -> Result<u32> {
    match l.operand(i, f)? {
        Operand::Vgpr { reg, hi: false } => Ok(v_off(usize::from(reg))),
        Operand::Agpr { reg } => Ok(v_off(256 + usize::from(reg))),
        _ => Err(Refusal::Operand),
    }
}

struct Address {
    a: u32,
    b: u32,
    c: u32,
    imm: u64,
}

/// Address operands by space (see `memory::space`). `bytes`: the access's size, by which gfx1250 may scale.
fn address(l: &mut Lower<'_, '_>, i: &Inst, space: u8, bytes: u64) -> Result<Address> {
    let cpol = i.get(Field::cpol);
    let gfx12 = matches!(l.target, Target::Gfx1201 | Target::Gfx1250);
    // sc0, sc1, glc, or a scope beyond the work-group: a coherent access.
    let coherent = u64::from(if gfx12 { cpol >> 3 & 3 >= 2 } else { cpol & 0x11 != 0 }) << 40;
    if space == space::BUFFER {
        let srsrc = l.operand(i, Field::srsrc)?;
        let c = s_off(l.sreg(srsrc, 4)?);
        let soffset = l.operand(i, Field::soffset)?;
        let b = l.plain(soffset)?.off;
        let (offen, idxen) = buffer_mode(i);
        let a = if offen || idxen { plane(l, i, Field::vaddr)? } else { 0 };
        let new = u64::from(!l.target.is_gfx9()) << 43;
        let imm = i.offset() as u64 & 0xffff_ffff | u64::from(offen) << 32 | u64::from(idxen) << 33;
        return Ok(Address { a, b, c, imm: imm | new | coherent });
    }
    let imm = i.offset().cast_unsigned() & 0xffff_ffff;
    let mut a = if i.has(Field::vaddr) { plane(l, i, Field::vaddr)? } else { 0 };
    let c = match i.operand(Field::saddr) {
        None | Some(Operand::Special(Special::Null)) => NONE,
        Some(op) => s_off(l.sreg(op, if space == space::SCRATCH { 1 } else { 2 })?),
    };
    if space != space::SCRATCH && a == 0 {
        if !i.op.name().ends_with("_ADDTID") {
            return Err(Refusal::Unsupported);
        }
        a = if c == NONE { l.temps(2) } else { l.temps(1) };
        if c == NONE {
            return Err(Refusal::Operand);
        }
        l.emit(direct::lane_offsets, a, 0, 0, 0, 0);
    }
    let mut flags = coherent;
    if l.target == Target::Gfx1250 {
        // Its private aperture, its signed offsets beside a scalar base, its scaled offsets.
        flags |= u64::from(space == space::FLAT) << 41 | u64::from(c != NONE) << 42;
        if cpol & 0x800 != 0 {
            flags |= bytes << 59;
        }
    }
    Ok(Address { a, b: 0, c, imm: imm | flags })
}

/// offen, idxen: by the form's template.
fn buffer_mode(i: &Inst) -> (bool, bool) {
    let r = i.record();
    if r.contains("_BOTHEN") { (true, true) } else { (r.contains("_OFFEN"), r.contains("_IDXEN")) }
}

fn dwords(t: &str) -> Option<usize> {
    match t {
        "DWORD" | "DWORD_ADDTID" | "B32" => Some(1),
        "DWORDX2" | "B64" => Some(2),
        "DWORDX3" | "B96" => Some(3),
        "DWORDX4" | "B128" => Some(4),
        _ => None,
    }
}

/// The other half of a D16 result is kept where memory has no ECC (semantics-notes, 13).
fn keeps(l: &Lower<'_, '_>) -> u64 {
    u64::from(!matches!(l.target, Target::Gfx942 | Target::Gfx950 | Target::Gfx1250)) << 48
}

fn load(l: &mut Lower<'_, '_>, i: &Inst, space: u8, t: &str) -> Result<()> {
    let dst = if space == space::BUFFER { Field::vdata } else { Field::vdst };
    let kind = match t {
        "UBYTE" => sub::U8,
        "SBYTE" => sub::I8,
        "USHORT" => sub::U16,
        "SSHORT" => sub::I16,
        "UBYTE_D16" => sub::U8_D16,
        "UBYTE_D16_HI" => sub::U8_D16_HI,
        "SBYTE_D16" => sub::I8_D16,
        "SBYTE_D16_HI" => sub::I8_D16_HI,
        "SHORT_D16" => sub::U16_D16,
        "SHORT_D16_HI" => sub::U16_D16_HI,
        "BLOCK" => {
            let d = plane(l, i, dst)?;
            let a = address(l, i, space, 4)?;
            l.emit(direct::pick_block(space), block(i, dst, d)?, a.a, a.b, a.c, a.imm);
            return Ok(());
        }
        _ => {
            let n = dwords(t).ok_or(Refusal::Unsupported)?;
            let d = plane(l, i, dst)?;
            let a = address(l, i, space, 4 * n as u64)?;
            let h = vector::pick(space, n, false, l.backend);
            l.emit(h, d, a.a, a.b, a.c, a.imm);
            return Ok(());
        }
    };
    let d = plane(l, i, dst)?;
    let n = if kind == sub::U16 || kind == sub::I16 || kind >= sub::U16_D16 { 2 } else { 1 };
    let a = address(l, i, space, n)?;
    l.emit(bytes::pick(space, false), d, a.a, a.b, a.c, a.imm | kind << 44 | keeps(l));
    Ok(())
}

fn store(l: &mut Lower<'_, '_>, i: &Inst, space: u8, t: &str) -> Result<()> {
    let d = plane(l, i, Field::vdata)?;
    let kind = match t {
        "BYTE" => 0,
        "SHORT" => 1,
        "BYTE_D16_HI" => 2,
        "SHORT_D16_HI" => 3,
        "BLOCK" => {
            let a = address(l, i, space, 4)?;
            l.emit(direct::pick_block(space), block(i, Field::vdata, d)?, a.a, a.b, a.c, a.imm | 1 << 48);
            return Ok(());
        }
        _ => {
            let n = dwords(t).ok_or(Refusal::Unsupported)?;
            let a = address(l, i, space, 4 * n as u64)?;
            let h = vector::pick(space, n, true, l.backend);
            l.emit(h, d, a.a, a.b, a.c, a.imm);
            return Ok(());
        }
    };
    let a = address(l, i, space, 1 + (kind & 1))?;
    l.emit(bytes::pick(space, true), d, a.a, a.b, a.c, a.imm | kind << 44);
    Ok(())
}

/// A block has 32 registers.
fn block(i: &Inst, f: Field, d: u32) -> Result<u32> {
    match i.operand(f) {
        Some(Operand::Vgpr { reg, .. }) if reg <= 256 - 32 => Ok(d),
        _ => Err(Refusal::Operand),
    }
}

fn rmw(l: &mut Lower<'_, '_>, i: &Inst, space: u8, t: &str) -> Result<()> {
    let (t, wide) = match t.strip_suffix("_X2") {
        Some(t) => (t, true),
        None => (t, t.ends_with("F64")),
    };
    let kind = match t {
        "SWAP" => Kind::Swap,
        "CMPSWAP" => Kind::Cmpswap,
        "ADD" => Kind::Add,
        "SUB" => Kind::Sub,
        "SMIN" => Kind::Smin,
        "UMIN" => Kind::Umin,
        "SMAX" => Kind::Smax,
        "UMAX" => Kind::Umax,
        "AND" => Kind::And,
        "OR" => Kind::Or,
        "XOR" => Kind::Xor,
        "INC" => Kind::Inc,
        "DEC" => Kind::Dec,
        "ADD_F32" if l.target == Target::Gfx90a => Kind::AddFz,
        "ADD_F32" | "ADD_F64" => Kind::AddF,
        "MIN_F64" | "FMIN" => Kind::MinF,
        "MAX_F64" | "FMAX" => Kind::MaxF,
        "FCMPSWAP" => Kind::CmpswapF,
        "CSUB" | "CSUB_U32" => Kind::SubClamp,
        "COND_SUB_U32" => Kind::CondSub,
        "PK_ADD_F16" => Kind::PkAddF16,
        "PK_ADD_BF16" => Kind::PkAddBf16,
        _ => return Err(Refusal::Unsupported),
    };
    let d = plane(l, i, Field::vdata)?;
    let mut a = address(l, i, space, if wide { 8 } else { 4 })?;
    let returns = i.returns();
    if returns && space != space::BUFFER {
        a.b = plane(l, i, Field::vdst)?;
    }
    let imm = a.imm | (kind as u64) << 48 | u64::from(wide) << 56 | u64::from(returns) << 57;
    l.emit(atomic::pick(space), d, a.a, a.b, a.c, imm);
    Ok(())
}

fn ds(l: &mut Lower<'_, '_>, i: &Inst, name: &str) -> Result<Flow> {
    if let Some(what) = name.strip_prefix("GWS_") {
        return gws(l, i, what);
    }
    if i.is(Field::gds) {
        return Err(Refusal::Unsupported);
    }
    let space = space::LDS;
    let imm = i.offset().cast_unsigned();
    let addr = |l: &Lower<'_, '_>| plane(l, i, Field::addr);
    let two = |step: u64| {
        let (a, b) = (u64::from(i.get(Field::offset0)), u64::from(i.get(Field::offset1)));
        a * step | b * step << 32
    };
    match name {
        "READ_B32" | "READ_B64" | "READ_B96" | "READ_B128" => {
            let n = size(name);
            let (d, a) = (plane(l, i, Field::vdst)?, addr(l)?);
            let h = vector::pick(space, n, false, l.backend);
            l.emit(h, d, a, 0, 0, imm);
        }
        "WRITE_B32" | "WRITE_B64" | "WRITE_B96" | "WRITE_B128" => {
            let n = size(name);
            let (d, a) = (plane(l, i, Field::data0)?, addr(l)?);
            let h = vector::pick(space, n, true, l.backend);
            l.emit(h, d, a, 0, 0, imm);
        }
        "READ_U8" | "READ_I8" | "READ_U16" | "READ_I16" | "READ_U8_D16" | "READ_U8_D16_HI" | "READ_I8_D16"
        | "READ_I8_D16_HI" | "READ_U16_D16" | "READ_U16_D16_HI" => {
            let kind = match name {
                "READ_U8" => sub::U8,
                "READ_I8" => sub::I8,
                "READ_U16" => sub::U16,
                "READ_I16" => sub::I16,
                "READ_U8_D16" => sub::U8_D16,
                "READ_U8_D16_HI" => sub::U8_D16_HI,
                "READ_I8_D16" => sub::I8_D16,
                "READ_I8_D16_HI" => sub::I8_D16_HI,
                "READ_U16_D16" => sub::U16_D16,
                _ => sub::U16_D16_HI,
            };
            let (d, a) = (plane(l, i, Field::vdst)?, addr(l)?);
            l.emit(bytes::pick(space, false), d, a, 0, 0, imm | kind << 44 | keeps(l));
        }
        "WRITE_B8" | "WRITE_B16" | "WRITE_B8_D16_HI" | "WRITE_B16_D16_HI" => {
            let kind = u64::from(name.starts_with("WRITE_B16")) | u64::from(name.ends_with("HI")) << 1;
            let (d, a) = (plane(l, i, Field::data0)?, addr(l)?);
            l.emit(bytes::pick(space, true), d, a, 0, 0, imm | kind << 44);
        }
        "READ2_B32" | "READ2_B64" | "READ2ST64_B32" | "READ2ST64_B64" => {
            let n = if name.ends_with("64") && !name.ends_with("ST64_B32") { 2 } else { 1 };
            let n = if name.ends_with("B32") { 1 } else { n };
            let step = 4 * n as u64 * if name.contains("ST64") { 64 } else { 1 };
            let (d, a) = (plane(l, i, Field::vdst)?, addr(l)?);
            let h = vector::pick(space, n as usize, false, l.backend);
            let mut loads = [(d, two(step) & 0xffff_ffff), (d + 256 * n, two(step) >> 32)];
            // The one that overwrites the address comes last.
            if (d..d + 256 * n).contains(&a) {
                loads.reverse();
            }
            for (d, offset) in loads {
                l.emit(h, d, a, 0, 0, offset);
            }
        }
        "WRITE2_B32" | "WRITE2_B64" | "WRITE2ST64_B32" | "WRITE2ST64_B64" => {
            let n = if name.ends_with("B32") { 1 } else { 2 };
            let step = 4 * n as u64 * if name.contains("ST64") { 64 } else { 1 };
            let (d, a, b) = (plane(l, i, Field::data0)?, addr(l)?, plane(l, i, Field::data1)?);
            let h = vector::pick(space, n as usize, true, l.backend);
            let offsets = [two(step) & 0xffff_ffff, two(step) >> 32];
            l.emit(h, d, a, 0, 0, offsets[0]);
            // Equal offsets: the first data alone.
            if offsets[0] != offsets[1] {
                l.emit(h, b, a, 0, 0, offsets[1]);
            }
        }
        "SWIZZLE_B32" => {
            let (d, a) = (plane(l, i, Field::vdst)?, addr(l)?);
            l.emit(lds::swizzle, d, a, 0, 0, imm);
        }
        "READ_B64_TR_B16" | "READ_B64_TR_B8" | "READ_B64_TR_B4" | "READ_B96_TR_B6" => {
            let (bits, count) = match name {
                "READ_B64_TR_B16" => (16, 4),
                "READ_B64_TR_B8" => (8, 8),
                "READ_B64_TR_B4" => (4, 16),
                _ => (6, 16),
            };
            let (d, a) = (plane(l, i, Field::vdst)?, addr(l)?);
            l.emit(lds::read_transposed, d, a, bits, count, imm);
        }
        "BPERMUTE_FI_B32" => {
            let (d, a, b) = (plane(l, i, Field::vdst)?, addr(l)?, plane(l, i, Field::data0)?);
            l.emit(lds::bpermute, d, a, b, 0, imm | 1 << 32);
        }
        "WRXCHG2_RTN_B32" | "WRXCHG2_RTN_B64" | "WRXCHG2ST64_RTN_B32" | "WRXCHG2ST64_RTN_B64" => {
            let n = if name.ends_with("B32") { 1 } else { 2 };
            let offsets = two(u64::from(n) * if name.contains("ST64") { 64 } else { 1 });
            let (d, a, b) = (plane(l, i, Field::data0)?, addr(l)?, plane(l, i, Field::data1)?);
            let out = plane(l, i, Field::vdst)?;
            let imm = u64::from(out) | (offsets & 0xffff) << 32 | (offsets >> 32 & 0xffff) << 48;
            l.emit(lds::exchange2, d, a, b, n, imm);
        }
        "CONDXCHG32_RTN_B64" => {
            let (d, a, b) = (plane(l, i, Field::vdst)?, addr(l)?, plane(l, i, Field::data0)?);
            l.emit(lds::condxchg, d, a, b, 0, imm);
        }
        "BPERMUTE_B32" | "PERMUTE_B32" => {
            let (d, a, b) = (plane(l, i, Field::vdst)?, addr(l)?, plane(l, i, Field::data0)?);
            l.emit(if name.starts_with('B') { lds::bpermute } else { lds::permute }, d, a, b, 0, imm);
        }
        "APPEND" | "CONSUME" => {
            let d = plane(l, i, Field::vdst)?;
            l.emit(lds::append, d, 0, 0, 0, imm | u64::from(name == "CONSUME") << 32);
        }
        "READ_ADDTID_B32" => {
            let d = plane(l, i, Field::vdst)?;
            l.emit(lds::addtid, d, 0, 0, 0, imm);
        }
        "WRITE_ADDTID_B32" => {
            let d = plane(l, i, Field::data0)?;
            l.emit(lds::addtid, d, 0, 0, 0, imm | 1 << 32);
        }
        _ => return ds_atomic(l, i, name),
    }
    Ok(Flow::On)
}

/// Global wave sync.
fn gws(l: &mut Lower<'_, '_>, i: &Inst, what: &str) -> Result<Flow> {
    let action = match what {
        "INIT" => Action::Init,
        "BARRIER" => Action::Barrier,
        "SEMA_V" => Action::V,
        "SEMA_BR" => Action::Br,
        "SEMA_P" => Action::P,
        "SEMA_RELEASE_ALL" => Action::ReleaseAll,
        _ => return Err(Refusal::Unsupported),
    };
    let data = i.has(Field::data0);
    let a = if data { plane(l, i, Field::data0)? } else { 0 };
    let imm = action as u64 | (i.offset().cast_unsigned() & 63) << 8 | u64::from(data) << 16;
    let next = l.next;
    l.emit(gws::gws, next as u32, a, u32::from(i.len), (next >> 32) as u32, imm);
    Ok(Flow::End)
}

fn size(name: &str) -> usize {
    match name.rsplit('B').next() {
        Some("32") => 1,
        Some("64") => 2,
        Some("96") => 3,
        _ => 4,
    }
}

fn ds_atomic(l: &mut Lower<'_, '_>, i: &Inst, name: &str) -> Result<Flow> {
    let returns = name.contains("_RTN_");
    let plain = name.replace("_RTN", "");
    let (kind, wide) = match plain.as_str() {
        "WRXCHG_B32" => (Kind::Swap, false),
        "WRXCHG_B64" => (Kind::Swap, true),
        "ADD_U32" => (Kind::Add, false),
        "ADD_U64" => (Kind::Add, true),
        "SUB_U32" => (Kind::Sub, false),
        "SUB_U64" => (Kind::Sub, true),
        "RSUB_U32" => (Kind::Rsub, false),
        "RSUB_U64" => (Kind::Rsub, true),
        "INC_U32" => (Kind::Inc, false),
        "INC_U64" => (Kind::Inc, true),
        "DEC_U32" => (Kind::Dec, false),
        "DEC_U64" => (Kind::Dec, true),
        "MIN_I32" => (Kind::Smin, false),
        "MIN_I64" => (Kind::Smin, true),
        "MAX_I32" => (Kind::Smax, false),
        "MAX_I64" => (Kind::Smax, true),
        "MIN_U32" => (Kind::Umin, false),
        "MIN_U64" => (Kind::Umin, true),
        "MAX_U32" => (Kind::Umax, false),
        "MAX_U64" => (Kind::Umax, true),
        "AND_B32" => (Kind::And, false),
        "AND_B64" => (Kind::And, true),
        "OR_B32" => (Kind::Or, false),
        "OR_B64" => (Kind::Or, true),
        "XOR_B32" => (Kind::Xor, false),
        "XOR_B64" => (Kind::Xor, true),
        "MSKOR_B32" => (Kind::Mskor, false),
        "MSKOR_B64" => (Kind::Mskor, true),
        "CMPST_B32" => (Kind::Cmpswap, false),
        "CMPST_B64" => (Kind::Cmpswap, true),
        "CMPST_F32" => (Kind::CmpswapF, false),
        "CMPST_F64" => (Kind::CmpswapF, true),
        "CMPSTORE_B32" => (Kind::Cmpswap, false),
        "CMPSTORE_B64" => (Kind::Cmpswap, true),
        "CMPSTORE_F32" => (Kind::CmpswapF, false),
        "CMPSTORE_F64" => (Kind::CmpswapF, true),
        "COND_SUB_U32" => (Kind::CondSub, false),
        "SUB_CLAMP_U32" => (Kind::SubClamp, false),
        "WRAP_B32" => (Kind::Wrap, false),
        "ADD_F32" => (Kind::AddF, false),
        "ADD_F64" => (Kind::AddF, true),
        "MIN_F32" => (Kind::MinF, false),
        "MIN_F64" => (Kind::MinF, true),
        "MAX_F32" => (Kind::MaxF, false),
        "MAX_F64" => (Kind::MaxF, true),
        "PK_ADD_F16" => (Kind::PkAddF16, false),
        "PK_ADD_BF16" => (Kind::PkAddBf16, false),
        _ => return Err(Refusal::Unsupported),
    };
    let (d, a) = (plane(l, i, Field::data0)?, plane(l, i, Field::addr)?);
    let c = if i.has(Field::data1) { plane(l, i, Field::data1)? } else { 0 };
    let b = if returns { plane(l, i, Field::vdst)? } else { 0 };
    // The compare value is the first data of gfx9's compare-and-store, the second of gfx11's.
    let flipped = u64::from(plain.starts_with("CMPST_")) << 58;
    let imm = i.offset().cast_unsigned() | (kind as u64) << 48 | u64::from(wide) << 56 | u64::from(returns) << 57;
    l.emit(atomic::pick(space::LDS), d, a, b, c, imm | flipped);
    Ok(Flow::On)
}

fn smem(l: &mut Lower<'_, '_>, i: &Inst, what: &str, buffer: bool) -> Result<Flow> {
    let (n, kind) = match what {
        "DWORD" | "B32" => (1, None),
        "DWORDX2" | "B64" => (2, None),
        "DWORDX3" | "B96" => (3, None),
        "DWORDX4" | "B128" => (4, None),
        "DWORDX8" | "B256" => (8, None),
        "DWORDX16" | "B512" => (16, None),
        "U8" => (1, Some(sub::U8)),
        "I8" => (1, Some(sub::I8)),
        "U16" => (1, Some(sub::U16)),
        "I16" => (1, Some(sub::I16)),
        _ => return Err(Refusal::Unsupported),
    };
    let d = l.operand(i, Field::sdst)?;
    let d = l.sdst(d, n)?;
    let base = l.operand(i, Field::sbase)?;
    let a = s_off(l.sreg(base, if buffer { 4 } else { 2 })?);
    let c = match i.operand(Field::soffset) {
        None | Some(Operand::Special(Special::Null)) => NONE,
        Some(op) => s_off(l.sreg(op, 1)?),
    };
    let imm = if i.has(Field::offset) { i.offset().cast_unsigned() } else { 0 };
    let bytes = match kind {
        None => 4 * n as u32,
        Some(k) => {
            if k >= sub::U16 {
                2
            } else {
                1
            }
        }
    };
    let scaled = l.target == Target::Gfx1250 && i.get(Field::cpol) & 0x800 != 0;
    let (h, b): (Handler, u32) = match (kind, buffer) {
        (None, false) => (scalar::s_load, n as u32),
        (None, true) => (scalar::s_buffer_load, n as u32),
        (Some(k), false) => (scalar::s_load_sub, k as u32),
        (Some(k), true) => (scalar::s_buffer_load_sub, k as u32),
    };
    l.emit(h, d, a, b | if scaled { bytes << 8 } else { 0 }, c, imm);
    Ok(Flow::On)
}
