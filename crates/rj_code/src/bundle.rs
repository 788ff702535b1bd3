//! Clang's offload bundles and their compressed form (LLVM documentation, "Clang Offload Bundler").

use crate::Error;
use std::io::Read;

/// Start of a bundle.
pub(crate) const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Start of a compressed bundle.
pub(crate) const COMPRESSED: &[u8] = b"CCOB";

/// Bundles that unpack to more than this are refused.
const LARGEST: u64 = 8 << 30;

/// One entry of a bundle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// Entry id, such as `hipv4-amdgcn-amd-amdhsa--gfx942`.
    pub id: &'a str,
    pub bytes: &'a [u8],
}

/// Reads the bundle at the start of `data`; also gives its length.
pub(crate) fn parse(data: &[u8]) -> Result<(Vec<Part<'_>>, usize), Error> {
    let damaged = |what: &str| Error::new(format!("the offload bundle is damaged: {what}"));
    let mut at = MAGIC.len();
    let mut number = || {
        let n = data.get(at..)?.first_chunk::<8>()?;
        at += 8;
        usize::try_from(u64::from_le_bytes(*n)).ok()
    };
    let count = number().ok_or_else(|| damaged("cut off before its entry count"))?;
    // An entry's header takes at least 24 bytes.
    if count > data.len() / 24 {
        return Err(damaged(&format!("{count} entries cannot fit in {} bytes", data.len())));
    }
    let mut parts = Vec::new();
    let mut end = at;
    for i in 0..count {
        let mut number = || {
            let n = data.get(at..)?.first_chunk::<8>()?;
            at += 8;
            usize::try_from(u64::from_le_bytes(*n)).ok()
        };
        let cut = || damaged(&format!("entry {i} is cut off"));
        let (offset, size, id_size) = (number().ok_or_else(cut)?, number().ok_or_else(cut)?, number().ok_or_else(cut)?);
        let id = at.checked_add(id_size).and_then(|end| data.get(at..end)).ok_or_else(cut)?;
        at += id_size;
        let id = std::str::from_utf8(id).map_err(|_| damaged(&format!("the id of entry {i} is not text")))?;
        let bytes = offset
            .checked_add(size)
            .and_then(|end| data.get(offset..end))
            .ok_or_else(|| damaged(&format!("{id} lies outside the file")))?;
        end = end.max(at).max(offset + size);
        parts.push(Part { id, bytes });
    }
    Ok((parts, end))
}

/// Unpacks the compressed bundle at the start of `data`; also gives its packed length.
pub(crate) fn decompress(data: &[u8]) -> Result<(Vec<u8>, usize), Error> {
    let damaged = |what: String| Error::new(format!("the compressed offload bundle is damaged: {what}"));
    let cut = || damaged("its header is cut off".into());
    let u16_at = |at: usize| data.get(at..)?.first_chunk::<2>().map(|b| u16::from_le_bytes(*b));
    let u32_at = |at: usize| data.get(at..)?.first_chunk::<4>().map(|b| u64::from(u32::from_le_bytes(*b)));
    let u64_at = |at: usize| data.get(at..)?.first_chunk::<8>().map(|b| u64::from_le_bytes(*b));
    let version = u16_at(4).ok_or_else(cut)?;
    let method = u16_at(6).ok_or_else(cut)?;
    // Version 1 does not say how long the packed form is: all that follows.
    let (header, total, size) = match version {
        1 => (20, data.len() as u64, u32_at(8).ok_or_else(cut)?),
        2 => (24, u32_at(8).ok_or_else(cut)?, u32_at(12).ok_or_else(cut)?),
        3 => (32, u64_at(8).ok_or_else(cut)?, u64_at(16).ok_or_else(cut)?),
        n => {
            return Err(Error::new(format!(
                "compressed offload bundles of version {n} are not supported, only 1 to 3"
            )));
        }
    };
    let total = usize::try_from(total).ok().filter(|&t| t >= header && t <= data.len());
    let total =
        total.ok_or_else(|| damaged(format!("it claims to be longer than the {} bytes there are", data.len())))?;
    if size > LARGEST {
        return Err(damaged(format!("it claims to unpack to {size} bytes")));
    }
    let packed = &data[header..total];
    // One byte more than promised shows a bundle that lies about its size.
    let mut out = Vec::new();
    let read = match method {
        0 => flate2::read::ZlibDecoder::new(packed).take(size + 1).read_to_end(&mut out).map_err(|e| e.to_string()),
        1 => zstd::stream::read::Decoder::with_buffer(packed)
            .and_then(|mut d| {
                // Clang's long-distance matching asks for more than the library grants by itself.
                d.window_log_max(31)?;
                d.take(size + 1).read_to_end(&mut out)
            })
            .map_err(|e| e.to_string()),
        n => return Err(Error::new(format!("compression method {n} of an offload bundle is not supported"))),
    };
    read.map_err(damaged)?;
    if out.len() as u64 != size {
        return Err(damaged(format!("it unpacks to {} bytes, not {size}", out.len())));
    }
    Ok((out, total))
}
