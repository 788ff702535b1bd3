//! From bytes to instructions.

use crate::gen_index::{BUCKETS, CANDIDATES, STARTS};
use crate::gen_names::Field;
use crate::gen_table::ROWS;
use crate::inst::{DecodeError, FIELDS, Inst};
use crate::table::{Format, Kind, Row};
use crate::target::Target;

/// The rows that can match, in the order in which they are tried.
fn candidates(target: Target, first: u32) -> &'static [u16] {
    let (start, shift, width) = BUCKETS[target as usize][(first >> 23) as usize];
    let at = start as usize + (first >> shift & ((1 << width) - 1)) as usize;
    &CANDIDATES[STARTS[at] as usize..STARTS[at + 1] as usize]
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
    let mut short = false;
    for &i in candidates(target, words[0]) {
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
    candidates(target, words[0]).iter().copied().find(|i| is_match(&ROWS[usize::from(*i)], words))
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
        // Spans of one field stand together.
        let next = usize::from(inst.count);
        let at = if next > 0 && inst.fields[next - 1] == field {
            next - 1
        } else {
            inst.fields[next] = field;
            inst.count += 1;
            next
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
    if row.literal_inside() && inst.literal.is_none() {
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
    if !row.literal_behind() {
        return None;
    }
    let mut n = None;
    for (class, field, _) in row.operands() {
        if !matches!(class.kind, Kind::Src | Kind::SrcT16 | Kind::SrcT16Lo128) {
            continue;
        }
        match inst.raw(field).map(|r| r & 0x1ff) {
            Some(255) if row.size == 4 || !target.is_gfx9() => n = n.max(Some(1)),
            Some(254) if target == Target::Gfx1250 => n = n.max(Some(2)),
            _ => {}
        }
    }
    n
}
