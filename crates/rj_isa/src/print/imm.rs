//! Numbers in LLVM's notation.

use crate::table::{Class, Kind, Ty};
use std::fmt::Write as _;

/// Small integers in decimal, inline floats by value, all else in hexadecimal.
pub fn i32(out: &mut String, x: u32) {
    let s = x.cast_signed();
    let _ = match f32_name(x) {
        _ if (-16..=64).contains(&s) => write!(out, "{s}"),
        Some(n) => write!(out, "{n}"),
        None => write!(out, "{x:#x}"),
    };
}

fn f32_name(x: u32) -> Option<&'static str> {
    Some(match x {
        0x3f00_0000 => "0.5",
        0xbf00_0000 => "-0.5",
        0x3f80_0000 => "1.0",
        0xbf80_0000 => "-1.0",
        0x4000_0000 => "2.0",
        0xc000_0000 => "-2.0",
        0x4080_0000 => "4.0",
        0xc080_0000 => "-4.0",
        0x3e22_f983 => "0.15915494",
        _ => return None,
    })
}

/// A literal of a dword, or of two (`long`). One that an inline constant could say is marked.
pub fn literal(out: &mut String, class: &Class, x: u64, long: bool) {
    let dword = x as u32;
    let small = (-16..=64).contains(&dword.cast_signed());
    let inline = match class.ty {
        Ty::F64 => f64_high(dword),
        Ty::I64 => x <= 64,
        Ty::F16 => small || f16(dword),
        Ty::V2F16 => small || class.name == "VSrc_v2f16" && f16(dword),
        Ty::Bf16 | Ty::V2Bf16 => small || dword <= 0xffff && f32_name(dword << 16).is_some(),
        _ => small || f32_name(dword).is_some(),
    };
    let double = class.ty == Ty::F64 || class.print == "printFP64ImmOperand";
    let _ = match class.kind {
        _ if long && double && dword == 0 => write!(out, "{:#x}", x >> 32),
        _ if long && x >> 32 == 0 => write!(out, "lit64({x:#x})"),
        Kind::Kimm => write!(out, "{x:#x}"),
        _ if small && class.name.contains("NoInline") => write!(out, "{}", dword.cast_signed()),
        _ if !long && inline => write!(out, "lit({x:#x})"),
        _ => write!(out, "{x:#x}"),
    };
}

fn f64_high(x: u32) -> bool {
    matches!(x & 0x7fff_ffff, 0x3fe0_0000 | 0x3ff0_0000 | 0x4000_0000 | 0x4010_0000)
}

fn f16(x: u32) -> bool {
    matches!(x & !0x8000, 0x3800 | 0x3c00 | 0x4000 | 0x4400)
}
