//! The name of a kernel, found in the code object's image in guest memory: its first segment holds the ELF header and
//! the dynamic symbols. Only for reports: it walks memory, so nothing asks it per dispatch.

use rj_exec::Snapshot;

/// How far below a descriptor the image may begin, bytes.
const FAR: u64 = 256 << 20;
const PAGE: u64 = 4096;
/// Elf64_Sym.
const SYMBOL: u64 = 24;
/// Symbols looked at, at most.
const MOST: u64 = 1 << 20;

/// The kernel whose descriptor lies at `object`.
pub fn kernel_name(map: &Snapshot, object: u64) -> Option<String> {
    let region = map.find(object)?;
    let lowest = region.va.max(object.saturating_sub(FAR));
    let mut base = object & !(PAGE - 1);
    while base >= lowest {
        let header = word(map, base)? == u32::from_le_bytes(*b"\x7fELF");
        if let Some(name) = header.then(|| symbol(map, base, object - base)).flatten() {
            return Some(name);
        }
        base = base.checked_sub(PAGE)?;
    }
    None
}

/// The dynamic symbol of this value in the image at `base`.
fn symbol(map: &Snapshot, base: u64, value: u64) -> Option<String> {
    let headers = base.checked_add(quad(map, base + 32)?)?;
    let (size, count) = (word(map, base + 54)? & 0xffff, word(map, base + 56)? & 0xffff);
    let mut headers = (0..u64::from(count)).map(|i| headers.wrapping_add(i * u64::from(size)));
    let dynamic = headers.find(|&h| word(map, h) == Some(2))?;
    let (at, len) = (base.wrapping_add(quad(map, dynamic + 16)?), quad(map, dynamic + 40)?);
    let entry = |tag: u64| {
        let mut entries = (0..len / 16).map(|i| at.wrapping_add(16 * i));
        let found = entries.find(|&e| quad(map, e) == Some(tag))?;
        Some(base.wrapping_add(quad(map, found + 8)?))
    };
    let (hash, strings, symbols) = (entry(4), entry(5)?, entry(6)?);
    // DT_HASH counts the symbols; without it the strings follow them.
    let count = match hash {
        Some(hash) => u64::from(word(map, hash + 4)?),
        None => strings.checked_sub(symbols)? / SYMBOL,
    };
    let mut all = (0..count.min(MOST)).map(|i| symbols.wrapping_add(SYMBOL * i));
    let found = all.find(|&s| quad(map, s + 8) == Some(value))?;
    let mut name = Vec::new();
    for at in strings.wrapping_add(u64::from(word(map, found)?)).. {
        let mut byte = [0];
        map.read(at, &mut byte).ok()?;
        if byte[0] == 0 || name.len() > 4096 {
            break;
        }
        name.push(byte[0]);
    }
    let name = String::from_utf8(name).ok()?;
    Some(name.strip_suffix(".kd").unwrap_or(&name).to_string()).filter(|n| !n.is_empty())
}

fn word(map: &Snapshot, va: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    map.read(va, &mut bytes).ok()?;
    Some(u32::from_le_bytes(bytes))
}

fn quad(map: &Snapshot, va: u64) -> Option<u64> {
    Some(u64::from(word(map, va)?) | u64::from(word(map, va.checked_add(4)?)?) << 32)
}
