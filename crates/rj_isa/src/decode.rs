//! From bytes to instructions.

use crate::gen_names::Field;
use crate::gen_table::ROWS;
use crate::inst::{DecodeError, FIELDS, Inst};
use crate::table::{Format, Kind, Row};
use crate::target::Target;
use std::sync::OnceLock;

/// Namespaces of the generated table, in its order (xtask's NAMESPACES).
const NS: [&str; 14] = [
    "GFX9_DL",
    "GFX90A",
    "GFX8",
    "GFX9",
    "AMDGPU",
    "GFX940",
    "GFX950",
    "GFX11",
    "GFX11_FAKE16",
    "GFX12",
    "GFX12_FAKE16",
    "GFX1250",
    "GFX1250_FAKE16",
    "GFX11W64",
];

/// Which namespace is asked first, by size in bytes.
fn order(t: Target, size: u8) -> &'static [&'static str] {
    match (t, size) {
        (Target::Gfx90a, 4) => &["GFX8", "AMDGPU", "GFX9", "GFX90A"],
        (Target::Gfx90a, _) => &["GFX9_DL", "GFX90A", "GFX8", "GFX9"],
        (Target::Gfx942, 4) => &["GFX8", "AMDGPU", "GFX9", "GFX940", "GFX90A"],
        (Target::Gfx942, _) => &["GFX9_DL", "GFX940", "GFX90A", "GFX8", "GFX9"],
        (Target::Gfx950, 4) => &["GFX8", "AMDGPU", "GFX9", "GFX950", "GFX940", "GFX90A"],
        (Target::Gfx950, _) => &["GFX9_DL", "GFX950", "GFX940", "GFX90A", "GFX8", "GFX9"],
        (Target::Gfx1100 | Target::Gfx1151, 4) => &["AMDGPU", "GFX11"],
        (Target::Gfx1100 | Target::Gfx1151, _) => &["GFX11", "GFX11_FAKE16", "GFX11W64"],
        (Target::Gfx1201, 4) => &["AMDGPU", "GFX12"],
        (Target::Gfx1201, _) => &["GFX12", "GFX12_FAKE16"],
        (Target::Gfx1250, 4) => &["AMDGPU", "GFX1250", "GFX12"],
        (Target::Gfx1250, _) => &["GFX1250", "GFX1250_FAKE16", "GFX12", "GFX12_FAKE16"],
    }
}

/// Rows of one target in the order in which they are tried, by the first dword's upper nine bits.
struct Index {
    starts: Vec<u32>,
    rows: Vec<u16>,
}

fn index(t: Target) -> &'static Index {
    static ALL: [OnceLock<Index>; 7] = [const { OnceLock::new() }; 7];
    ALL[t as usize].get_or_init(|| build(t))
}

fn build(t: Target) -> Index {
    let mut rows: Vec<(u8, usize, u32, u16)> = ROWS
        .iter()
        .enumerate()
        .filter(|(_, r)| r.is_for(t))
        .map(|(i, r)| {
            let rank = order(t, r.size).iter().position(|n| *n == NS[usize::from(r.ns)]).unwrap_or(99);
            (u8::MAX - r.size, rank, u32::MAX - r.fixed(), i as u16)
        })
        .collect();
    rows.sort_unstable();
    let mut buckets: Vec<Vec<u16>> = vec![Vec::new(); 512];
    for (_, _, _, i) in rows {
        let r = &ROWS[usize::from(i)];
        let (mask, value) = ((r.mask[0] >> 23) as usize, (r.value[0] >> 23) as usize);
        for (top, bucket) in buckets.iter_mut().enumerate() {
            if top & mask == value {
                bucket.push(i);
            }
        }
    }
    let mut index = Index { starts: vec![0], rows: Vec::new() };
    for b in buckets {
        index.rows.extend(b);
        index.starts.push(index.rows.len() as u32);
    }
    index
}

/// Decodes the instruction at the start of `bytes`.
pub fn decode(target: Target, bytes: &[u8]) -> Result<Inst, DecodeError> {
    let mut words = [0u32; 5];
    for (w, b) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *w = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    }
    let have = (bytes.len() / 4).min(5);
    if have == 0 {
        return Err(DecodeError::Truncated);
    }
    let index = index(target);
    let top = (words[0] >> 23) as usize;
    let candidates = &index.rows[index.starts[top] as usize..index.starts[top + 1] as usize];
    let mut short = false;
    for &i in candidates {
        let row = &ROWS[usize::from(i)];
        if !is_match(row, &words) {
            continue;
        }
        let n = usize::from(row.size) / 4;
        if n > have {
            short = true;
            continue;
        }
        match fill(target, i, row, &words, have) {
            Some(inst) => return Ok(inst),
            None => short = true,
        }
    }
    Err(if short { DecodeError::Truncated } else { DecodeError::Unknown })
}

/// The first row that matches whole words.
pub(crate) fn matches(target: Target, words: &[u32; 5]) -> Option<u16> {
    let index = index(target);
    let top = (words[0] >> 23) as usize;
    let candidates = &index.rows[index.starts[top] as usize..index.starts[top + 1] as usize];
    candidates.iter().copied().find(|i| is_match(&ROWS[usize::from(*i)], words))
}

fn is_match(row: &Row, words: &[u32; 5]) -> bool {
    // The records leave a DPP8 row's selector, 0xE9 or (fetch inactive) 0xEA, to the decoder.
    (0..4).all(|k| words[k] & row.mask[k] == row.value[k]) && (row.format != Format::Dpp8 || dpp8(row, words))
}

fn dpp8(row: &Row, words: &[u32; 5]) -> bool {
    let selector = if row.size == 8 { words[0] } else { words[1] };
    matches!(selector & 0x1ff, 0xe9 | 0xea)
}

/// Reads the fields; None if a literal is missing.
fn fill(target: Target, index: u16, row: &'static Row, words: &[u32; 5], have: usize) -> Option<Inst> {
    let mut inst = Inst {
        op: row.op,
        target,
        row: index,
        len: row.size,
        count: 0,
        fields: [Field::ALL[0]; FIELDS],
        values: [0; FIELDS],
        literal: None,
    };
    for &[f, field_bit, inst_bit, n] in row.spans() {
        let (word, bit) = (usize::from(inst_bit / 32), u32::from(inst_bit % 32));
        let two = u64::from(words[word]) | u64::from(words[word + 1]) << 32;
        let x = (two >> bit) as u32 & (u32::MAX >> (32 - n));
        let field = Field::ALL[usize::from(f)];
        let at = match inst.fields[..usize::from(inst.count)].iter().position(|g| *g == field) {
            Some(i) => i,
            None => {
                let i = usize::from(inst.count);
                inst.fields[i] = field;
                inst.count += 1;
                i
            }
        };
        // Fields wider than a dword are literals inside the encoding.
        if u32::from(field_bit) + u32::from(n) > 32 {
            let l = inst.literal.get_or_insert(u64::from(inst.values[at]));
            *l |= u64::from(x) << field_bit;
        }
        if field_bit < 32 {
            inst.values[at] |= x << field_bit;
        }
    }
    if inst.literal.is_none() {
        // Both halves of a dual-issue pair may name one literal: only one of the operands is a field.
        let mut kimm = row.operands().filter(|(c, _, _)| c.kind == Kind::Kimm);
        inst.literal = kimm.find_map(|(_, f, _)| inst.raw(f)).map(u64::from);
    }
    if let Some(n) = literal_words(target, row, &inst) {
        let at = usize::from(row.size) / 4;
        if at + n > have {
            return None;
        }
        inst.literal = Some(u64::from(words[at]) | if n == 2 { u64::from(words[at + 1]) << 32 } else { 0 });
        inst.len += 4 * n as u8;
    }
    Some(inst)
}

/// Dwords of the literal that follows, if a source asks for one.
pub(crate) fn literal_words(target: Target, row: &Row, inst: &Inst) -> Option<usize> {
    let mut n = None;
    for (class, field, _) in row.operands() {
        if class.kind == Kind::Kimm {
            // The literal is part of the row, also for a source that asks for one.
            return None;
        }
        if !matches!(class.kind, Kind::Src | Kind::SrcT16 | Kind::SrcT16Lo128) {
            continue;
        }
        match inst.raw(field).map(|r| r & 0x1ff) {
            Some(255) if row.size == 4 || !target.is_gfx9() => n = n.max(Some(1)),
            Some(254) if target == Target::Gfx1250 => n = n.max(Some(2)),
            _ => {}
        }
    }
    // Literals inside the encoding (s_setreg_imm32, madmk) are fields; dual-issue and VOP3 literals follow.
    if row.format == Format::Smem { None } else { n }
}
