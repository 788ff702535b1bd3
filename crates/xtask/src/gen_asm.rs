//! Assembly templates: LLVM's, with the text that its printer adds by rule put in (suffixes, an implied VCC).

use super::{op_name, strings};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Which operations exist in a 32-bit encoding, and which in VOP3, by name and target.
pub struct Siblings {
    short: HashSet<(String, String)>,
    long: HashSet<(String, String)>,
}

impl Siblings {
    /// Reads all records.
    pub fn new(records: &[Value]) -> Siblings {
        let mut s = Siblings { short: HashSet::new(), long: HashSet::new() };
        for r in records {
            let name = r["n"].as_str().unwrap_or("");
            let flags = strings(r, "flags");
            let has = |f: &str| flags.contains(&f);
            if has("DPP") || has("SDWA") {
                continue;
            }
            let set = if has("VOP3") {
                &mut s.long
            } else if has("VOP1") || has("VOP2") || has("VOPC") {
                &mut s.short
            } else {
                continue;
            };
            for t in strings(r, "t") {
                set.insert((op_name(name), t.to_string()));
            }
        }
        s
    }
}

/// The suffix that LLVM's printVOPDst writes before the first operand.
fn suffix(r: &Value, op: &str, siblings: &Siblings) -> &'static str {
    let flags = strings(r, "flags");
    let has = |f: &str| flags.contains(&f);
    let in_set = |set: &HashSet<(String, String)>| {
        strings(r, "t").iter().any(|t| set.contains(&(op.to_string(), (*t).to_string())))
    };
    match () {
        // LLVM's own exceptions: both forms exist, and it prints neither suffix.
        () if !has("DPP") && ["V_CVT_PK_F16_FP8", "V_CVT_PK_F16_BF8"].contains(&op) => "",
        () if has("VOP3") && has("DPP") => "_e64_dpp",
        () if has("VOP3") && in_set(&siblings.short) => "_e64",
        () if has("VOP3") => "",
        () if has("DPP") => "_dpp",
        () if has("SDWA") => "_sdwa",
        () if (has("VOP1") || has("VOP2")) && in_set(&siblings.long) => "_e32",
        () => "",
    }
}

/// A template as bytes: text, and for an operand 1 and its field's number.
pub fn compile(
    r: &Value,
    op: &str,
    siblings: &Siblings,
    fields: &HashMap<&str, usize>,
    classes: &Map<String, Value>,
) -> Result<Vec<u8>, String> {
    let name = r["n"].as_str().unwrap_or("");
    let flags = strings(r, "flags");
    let gfx9 = strings(r, "t").iter().any(|t| t.starts_with("gfx9"));
    let vcc = if gfx9 { "vcc" } else { "vcc_lo" };
    let operands: Vec<(&str, &str)> = ["o", "i"]
        .iter()
        .flat_map(|side| r[side].as_array().into_iter().flatten())
        .map(|o| (o[0].as_str().unwrap_or(""), o[1].as_str().unwrap_or("")))
        .collect();
    let carry = ["V_ADD_CO_CI_U32", "V_SUB_CO_CI_U32", "V_SUBREV_CO_CI_U32"].contains(&op) && !flags.contains(&"VOP3");
    let select = op == "V_CNDMASK_B32" && !flags.contains(&"VOP3") && (!gfx9 || flags.contains(&"VOP2"));
    // The records of some 16-bit comparisons do not say that they write VCC.
    let compare = flags.contains(&"VOPC") && (strings(r, "defs").contains(&"VCC") || !op.starts_with("V_CMPX"));
    let mut out = Vec::new();
    let mut rest = r["asm"].as_str().unwrap_or("");
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '{' | '}' => {}
            '$' => {
                let n = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let field = &rest[..n];
                rest = &rest[n..];
                let at = operands.iter().position(|(_, f)| *f == field);
                let first = at == Some(0);
                // Templates have no blank before a result that LLVM prints with its suffix.
                let dst = first && classes.get(operands[0].0).is_some_and(|c| c["PrintMethod"] == "printVOPDst");
                if dst && out.last().is_some_and(u8::is_ascii_alphanumeric) {
                    out.extend(suffix(r, op, siblings).bytes());
                    out.push(b' ');
                }
                if compare && !dst && !out.contains(&1) {
                    out.extend(vcc.bytes().chain(*b", "));
                }
                let index = fields.get(field).ok_or_else(|| format!("{name}: no field {field}"))?;
                out.extend([1, *index as u8]);
                if first && carry {
                    out.extend(b", ".iter().copied().chain(vcc.bytes()));
                }
                if (carry || select) && field.strip_suffix("_modifiers").unwrap_or(field) == "src1" {
                    out.extend(b", ".iter().copied().chain(vcc.bytes()));
                }
            }
            _ => out.push(c as u8),
        }
    }
    Ok(out)
}
