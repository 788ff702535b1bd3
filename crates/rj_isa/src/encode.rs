//! From instructions to bytes.
//!
//! Only decoded fields count: bits that the record ignores get llvm-mc's fill, whatever they were when decoded.

use crate::decode::{literal_words, matches};
use crate::gen_names::Field;
use crate::inst::Inst;
use crate::table::{Format, Row};

/// Bytes of one instruction, at most 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    bytes: [u8; 20],
    len: u8,
}

impl std::ops::Deref for Code {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Encodes an instruction for the target that it was decoded for.
pub fn encode(inst: &Inst) -> Code {
    let row = inst.row();
    let mut words = [0u32; 5];
    words[..4].copy_from_slice(&row.value);
    for &[f, field_bit, at, n] in row.spans() {
        let field = Field::ALL[usize::from(f)];
        let bits = if field_bit >= 32 {
            inst.literal.unwrap_or(0) >> field_bit
        } else {
            u64::from(inst.get(field)) >> field_bit
        };
        put(&mut words, u32::from(at), u32::from(n), bits as u32);
    }
    fill(inst, row, &mut words);
    let mut n = usize::from(row.size) / 4;
    if let Some(more) = literal_words(inst.target, row, inst) {
        let literal = inst.literal.unwrap_or(0);
        words[n] = literal as u32;
        if more == 2 {
            words[n + 1] = (literal >> 32) as u32;
        }
        n += more;
    }
    let mut code = Code { bytes: [0; 20], len: 4 * n as u8 };
    for (b, w) in code.bytes.chunks_exact_mut(4).zip(words) {
        b.copy_from_slice(&w.to_le_bytes());
    }
    code
}

fn put(words: &mut [u32; 5], at: u32, n: u32, bits: u32) {
    let (word, bit) = ((at / 32) as usize, at % 32);
    let bits = u64::from(bits & (u32::MAX >> (32 - n))) << bit;
    words[word] |= bits as u32;
    if bits >> 32 != 0 {
        words[word + 1] |= (bits >> 32) as u32;
    }
}

/// The bits that neither the row nor a field decides.
fn ignored(row: &Row) -> [u32; 4] {
    let mut known = row.mask;
    let mut spans = [0u32; 5];
    for &[_, _, at, n] in row.spans() {
        put(&mut spans, u32::from(at), u32::from(n), u32::MAX);
    }
    for (i, k) in known.iter_mut().enumerate() {
        let inside = if 4 * i < usize::from(row.size) { u32::MAX } else { 0 };
        *k = !(*k | spans[i]) & inside;
    }
    known
}

/// llvm-mc's fill of ignored bits. From gfx11 on, unused sources of VOP3 are the constant 0 (with DPP in V_CMPX
/// alone), which names EXEC as its result; unused `op_sel_hi` bits of VOP3P are set; the rest is 0.
fn fill(inst: &Inst, row: &Row, words: &mut [u32; 5]) {
    let ignored = ignored(row);
    let dpp = matches!(row.format, Format::Dpp16 | Format::Dpp8);
    if row.vop3() && !inst.target.is_gfx9() && (!dpp || row.exec_result()) {
        words[1] |= ignored[1] & (1 << 25 | 1 << 16 | 1 << 7);
        if ignored[0] & 0xff == 0xff && row.exec_result() {
            words[0] |= 0x7e;
        }
    }
    if row.vop3p() && row.size < 16 {
        words[0] |= ignored[0] & 1 << 14;
        words[1] |= ignored[1] & (1 << 27 | 1 << 28);
    }
    if matches(inst.target, words) != Some(inst.row) {
        distinguish(inst, &ignored, words);
    }
}

/// Another row, tried earlier, matches: one of the ignored bits must differ.
fn distinguish(inst: &Inst, ignored: &[u32; 4], words: &mut [u32; 5]) {
    for (i, bits) in ignored.iter().enumerate() {
        for b in (0..32).filter(|b| bits >> b & 1 != 0) {
            words[i] ^= 1 << b;
            if matches(inst.target, words) == Some(inst.row) {
                return;
            }
            words[i] ^= 1 << b;
        }
    }
}
