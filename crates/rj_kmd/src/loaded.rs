//! The code objects that the runtime has loaded, from the list that it keeps for debuggers (`_amdgpu_r_debug`, whose
//! address RUNTIME_ENABLE passes; laid out as the C library's `r_debug` and `link_map`, names are URIs of the AMDGPU
//! ABI: `file://PATH#offset=N&size=N`, `memory://PID#offset=N&size=N`). Only for reports.

use crate::user;
use rj_vm::CodeFile;

/// Longest URI and most list entries that are believed.
const LONGEST: usize = 8192;
const MOST: usize = 100_000;
/// A code object larger than this is not read, bytes.
const LARGEST: u64 = 1 << 30;

/// The code object that was loaded at or next below `pc`.
pub fn find(r_debug: u64, pc: u64) -> Option<CodeFile> {
    let mut entry = quad(r_debug.checked_add(8)?)?;
    let mut best: Option<(u64, u64)> = None;
    for _ in 0..MOST {
        if entry == 0 {
            break;
        }
        let (base, name) = (quad(entry)?, quad(entry + 8)?);
        if base <= pc && best.is_none_or(|(b, _)| b < base) {
            best = Some((base, name));
        }
        entry = quad(entry + 24)?;
    }
    let (base, name) = best?;
    Some(CodeFile { bytes: fetch(&text(name)?)?, address: pc - base })
}

fn quad(at: u64) -> Option<u64> {
    let mut b = [0; 8];
    user::read(at, &mut b).ok()?;
    Some(u64::from_le_bytes(b))
}

/// The C string at an address.
fn text(at: u64) -> Option<String> {
    let mut all = Vec::new();
    while all.len() < LONGEST {
        let here = at.checked_add(all.len() as u64)?;
        // Up to the page's end: the next one may not be there.
        let mut b = vec![0; (4096 - here % 4096) as usize];
        user::read(here, &mut b).ok()?;
        if let Some(end) = b.iter().position(|&c| c == 0) {
            all.extend_from_slice(&b[..end]);
            return String::from_utf8(all).ok();
        }
        all.extend_from_slice(&b);
    }
    None
}

/// The bytes that a URI names.
fn fetch(uri: &str) -> Option<Vec<u8>> {
    let (place, part) = uri.split_once(['#', '?']).unwrap_or((uri, ""));
    let field = |name: &str| {
        let value = part.split('&').find_map(|f| f.strip_prefix(name)?.strip_prefix('='))?;
        match value.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => value.parse().ok(),
        }
    };
    let (offset, size) = (field("offset"), field("size"));
    if size.is_some_and(|n| n > LARGEST) {
        return None;
    }
    if place.starts_with("memory://") {
        let mut bytes = vec![0; usize::try_from(size?).ok()?];
        user::read(offset?, &mut bytes).ok()?;
        return Some(bytes);
    }
    let path = decode(place.strip_prefix("file://")?)?;
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(path).ok()?;
    let offset = offset.unwrap_or(0);
    let size = match size {
        Some(n) => n,
        None => file.metadata().ok()?.len().checked_sub(offset)?,
    };
    let mut bytes = vec![0; usize::try_from(size.min(LARGEST)).ok()?];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let mut byte = *first;
        if byte == b'%' {
            let hex = std::str::from_utf8(rest.get(..2)?).ok()?;
            byte = u8::from_str_radix(hex, 16).ok()?;
            rest = &rest[2..];
        }
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_followed_to_files_and_memory() {
        let here = *b"bytes of a code object";
        let path = std::env::temp_dir().join(format!("rj loaded {}", std::process::id()));
        std::fs::write(&path, b"xxxx from a file").unwrap();
        let encoded = path.display().to_string().replace(' ', "%20");
        let names = [
            format!("memory://{}#offset={:#x}&size={}\0", std::process::id(), here.as_ptr() as u64, 5),
            format!("file://{encoded}#offset=4&size=5\0"),
        ];
        // link_map: base, name, ld, next, previous.
        let mut second = [0x9000u64, names[1].as_ptr() as u64, 0, 0, 0];
        let first = [0x1000u64, names[0].as_ptr() as u64, 0, second.as_ptr() as u64, 0];
        let r_debug = [1u64, first.as_ptr() as u64];
        let at = r_debug.as_ptr() as u64;
        let found = find(at, 0x1234).unwrap();
        assert_eq!((found.bytes.as_slice(), found.address), (&b"bytes"[..], 0x234));
        let found = find(at, 0x9000).unwrap();
        assert_eq!((found.bytes.as_slice(), found.address), (&b" from"[..], 0));
        assert!(find(at, 0xfff).is_none());
        second[1] = 8;
        std::hint::black_box(&second);
        assert!(find(at, 0x9000).is_none());
        assert!(find(8, 0x9000).is_none());
        std::fs::remove_file(path).unwrap();
    }
}
