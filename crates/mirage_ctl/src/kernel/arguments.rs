//! The `--arg` values of `kernel run`: read, then checked against what the metadata says of each argument.

use super::output::{Number, numbers};
use mirage_core::Error;
use rj_code::{Arg, ValueKind};
use std::path::PathBuf;

/// What happens to a buffer after the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Forget,
    Print,
    Store(PathBuf),
}

/// A value for one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Bytes(Vec<u8>),
    Buffer(Vec<u8>, After),
}

/// Largest buffer: more is more likely a mistake.
const LARGEST: u64 = 64 << 30;

fn bad(text: &str, why: impl std::fmt::Display) -> Error {
    Error::new("kernel-argument", format!("--arg '{text}': {why}"))
        .hint("`mirage kernel run --help` shows the forms of arguments")
}

/// Reads one `--arg` for that argument.
pub(crate) fn read(text: &str, arg: &Arg) -> Result<Value, Error> {
    let pointer = matches!(arg.kind, ValueKind::GlobalBuffer);
    let value = if let Some(rest) = text.strip_prefix("buf:") {
        Value::Buffer(contents(text, rest)?, After::Forget)
    } else if let Some(rest) = text.strip_prefix("out:") {
        let (size, after) = match rest.split_once(':') {
            Some((size, "")) => (size, After::Print),
            Some((size, file)) => (size, After::Store(file.into())),
            None => (rest, After::Print),
        };
        Value::Buffer(zeros(text, size)?, after)
    } else if let Some(rest) = text.strip_prefix("inout:") {
        let Some(rest) = rest.strip_prefix('@') else { return Err(bad(text, "inout needs a file: inout:@FILE")) };
        let (from, after) = match rest.split_once(':') {
            Some((from, to)) => (from, After::Store(to.into())),
            None => (rest, After::Print),
        };
        Value::Buffer(file(text, from)?, after)
    } else if text == "null" {
        Value::Bytes(vec![0; arg.size as usize])
    } else {
        Value::Bytes(scalar(text, arg)?)
    };
    match (&value, arg.kind) {
        (Value::Buffer(..), ValueKind::ByValue) if arg.size != 8 => {
            Err(bad(text, format_args!("the kernel takes {arg} by value there, not a buffer")))
        }
        (_, ValueKind::ByValue | ValueKind::GlobalBuffer) => Ok(value),
        // The offset in dynamic LDS, as ROCm's runtimes pass it.
        (Value::Bytes(_), ValueKind::DynamicSharedPointer) => Ok(value),
        _ => Err(bad(text, format_args!("arguments of kind {} are not supported", arg.kind_name))),
    }
    .and_then(|v| match v {
        Value::Bytes(b) if pointer && text != "null" && b.iter().any(|&x| x != 0) => {
            Err(bad(text, format_args!("the kernel takes a buffer there ({arg}), not a number")))
        }
        v => Ok(v),
    })
}

fn contents(text: &str, rest: &str) -> Result<Vec<u8>, Error> {
    if let Some(path) = rest.strip_prefix('@') {
        return file(text, path);
    }
    if let Some((kind, list)) = rest.split_once(':') {
        let kind = Number::parse(kind).ok_or_else(|| bad(text, format_args!("'{kind}' is no type")))?;
        return numbers(kind, list).map_err(|e| bad(text, e));
    }
    zeros(text, rest)
}

fn file(text: &str, path: &str) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|e| bad(text, format_args!("cannot read {path}: {e}")))
}

fn zeros(text: &str, size: &str) -> Result<Vec<u8>, Error> {
    let digits = size.trim_end_matches(['K', 'M', 'G']);
    let shift = match &size[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => 64,
    };
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1u64.checked_shl(shift)?));
    match bytes.filter(|&n| (1..=LARGEST).contains(&n)).and_then(|n| usize::try_from(n).ok()) {
        Some(n) => Ok(vec![0; n]),
        None => Err(bad(text, format_args!("'{size}' is no size in bytes"))),
    }
}

/// A number in the argument's bytes.
fn scalar(text: &str, arg: &Arg) -> Result<Vec<u8>, Error> {
    let size = arg.size as usize;
    if let Some(digits) = text.strip_prefix("hex:") {
        return hex(digits)
            .filter(|b| b.len() == size)
            .ok_or_else(|| bad(text, format_args!("it is not {size} bytes in hexadecimal")));
    }
    let (kind, number) = match text.split_once(':') {
        Some((kind, number)) => {
            (Number::parse(kind).ok_or_else(|| bad(text, format_args!("'{kind}' is no type")))?, number)
        }
        None => (
            guess(text, arg).ok_or_else(|| {
                bad(text, format_args!("it is no number, or none of {size} bytes, which the kernel takes there"))
            })?,
            text,
        ),
    };
    let bytes = numbers(kind, number).map_err(|e| bad(text, e))?;
    if bytes.len() != size {
        return Err(bad(text, format_args!("it has {} bytes, but the kernel takes {size} there ({arg})", bytes.len())));
    }
    Ok(bytes)
}

/// The type of a number without one: what the metadata says, else by its look.
fn guess(text: &str, arg: &Arg) -> Option<Number> {
    let float = match arg.size {
        2 => Some(Number::F16),
        4 => Some(Number::F32),
        8 => Some(Number::F64),
        _ => None,
    };
    if matches!(arg.type_name.as_deref(), Some("float" | "double" | "half")) {
        return float;
    }
    let digits = text.trim_start_matches(['-', '+']);
    let hexadecimal = digits.starts_with("0x");
    let looks_float =
        !hexadecimal && (digits.contains(['.', 'e', 'E']) || matches!(digits, "inf" | "nan" | "infinity"));
    if looks_float {
        return float;
    }
    let signed = text.starts_with('-');
    Some(match (arg.size, signed) {
        (1, true) => Number::I8,
        (1, false) => Number::U8,
        (2, true) => Number::I16,
        (2, false) => Number::U16,
        (4, true) => Number::I32,
        (4, false) => Number::U32,
        (8, true) => Number::I64,
        (8, false) => Number::U64,
        _ => return None,
    })
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = digits.chars().filter(|c| *c != '_').map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|p| (p[0] << 4 | p[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arg(kind: ValueKind, size: u32, type_name: Option<&str>) -> Arg {
        let kind_name = if kind == ValueKind::ByValue { "by_value" } else { "global_buffer" }.to_string();
        let type_name = type_name.map(str::to_string);
        Arg { name: None, type_name, offset: 0, size, kind, kind_name, address_space: None }
    }

    fn value(text: &str, size: u32, type_name: Option<&str>) -> Option<Vec<u8>> {
        match read(text, &arg(ValueKind::ByValue, size, type_name)).ok()? {
            Value::Bytes(b) => Some(b),
            Value::Buffer(..) => None,
        }
    }

    #[test]
    fn numbers_take_the_size_and_type_of_their_argument() {
        assert_eq!(value("5", 4, None), Some(vec![5, 0, 0, 0]));
        assert_eq!(value("-1", 2, None), Some(vec![255, 255]));
        assert_eq!(value("0x10", 8, None), Some(16u64.to_le_bytes().to_vec()));
        assert_eq!(value("1.5", 4, None), Some(1.5f32.to_le_bytes().to_vec()));
        assert_eq!(value("5", 4, Some("float")), Some(5f32.to_le_bytes().to_vec()));
        assert_eq!(value("f64:5", 8, None), Some(5f64.to_le_bytes().to_vec()));
        assert_eq!(value("1.5", 2, None), Some(vec![0, 0x3e]));
        assert_eq!(value("hex:00_ff_01", 3, None), Some(vec![0, 255, 1]));
        for (text, size) in [("300", 1), ("f32:1", 8), ("1.5", 3), ("hex:00", 2), ("x", 4), ("", 4), ("-129", 1)] {
            assert_eq!(value(text, size, None), None, "{text} in {size} bytes");
        }
    }

    #[test]
    fn buffers_have_sizes_contents_and_a_fate() {
        let pointer = arg(ValueKind::GlobalBuffer, 8, None);
        let buffer = |text: &str| match read(text, &pointer) {
            Ok(Value::Buffer(b, after)) => Some((b.len(), after)),
            _ => None,
        };
        assert_eq!(buffer("buf:2K"), Some((2048, After::Forget)));
        assert_eq!(buffer("buf:f32:1,2,3"), Some((12, After::Forget)));
        assert_eq!(buffer("out:16"), Some((16, After::Print)));
        assert_eq!(buffer("out:16:/tmp/x"), Some((16, After::Store("/tmp/x".into()))));
        for bad in ["buf:0", "buf:x", "buf:@/no/such/file", "buf:f33:1", "inout:5", "5", "buf:99999999999999G"] {
            assert_eq!(buffer(bad), None, "{bad}");
        }
        assert_eq!(read("null", &pointer), Ok(Value::Bytes(vec![0; 8])));
    }
}
