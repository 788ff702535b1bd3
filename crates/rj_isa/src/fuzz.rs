//! What must hold for any bytes: nothing panics, and an instruction survives encoding.

use crate::{Field, Target, decode, encode, print};

/// Decodes the bytes after the first, which chooses the target; prints, encodes and decodes again. Answers whether they were an instruction.
///
/// # Panics
///
/// If the second instruction is not the first: a defect of this crate. Meant for fuzzers.
pub fn fuzz_one(data: &[u8]) -> bool {
    let Some((&choice, bytes)) = data.split_first() else { return false };
    let target = Target::ALL[usize::from(choice) % Target::ALL.len()];
    let Ok(first) = decode(target, bytes) else { return false };
    assert!(usize::from(first.len) <= bytes.len(), "{}: longer than its bytes", target.name());
    let text = print(&first);
    assert!(text.is_ascii() && !text.is_empty(), "{}: {text:?}", target.name());
    for field in [Field::src0, Field::src1, Field::src2, Field::vdst, Field::sdst, Field::vdata, Field::vaddr] {
        let _ = (first.operand(field), first.bits(field), first.mods(field));
    }
    let _ = first.offset();
    let code = encode(&first);
    let second = decode(target, &code);
    assert!(second.as_ref() == Ok(&first), "{} {bytes:02x?}: {first:?}, again {code:02x?}: {second:?}", target.name());
    true
}
