//! `cargo xtask gen`: the instruction table of rj_isa out of LLVM's records.
//!
//! Rows are packed integers and pool indices (no pointers: librocjitsu.so must load without relocating them).

#[path = "gen_asm.rs"]
mod asm;
#[path = "gen_index.rs"]
mod index;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::PathBuf;

const TARGETS: [&str; 7] = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250"];
const NAMESPACES: [&str; 14] = [
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
/// Flags kept as bits of a row, in this order.
const FLAGS: [&str; 20] = [
    "mayLoad",
    "mayStore",
    "VM_CNT",
    "LGKM_CNT",
    "EXP_CNT",
    "IsAtomicRet",
    "IsAtomicNoRet",
    "IsPacked",
    "IsDOT",
    "hasSideEffects",
    "TRANS",
    "FPAtomic",
    // Facts about the encoding; the records do not have the second and the last as flags.
    "VOP3",
    "VOP3P",
    "wave64",
    "packed",
    "mixed matrix",
    "literal inside",
    "literal behind",
    "signed 64",
];
/// Implicit registers kept as bits, in this order.
const IMPLICIT: [&str; 6] = ["SCC", "VCC", "EXEC", "M0", "MODE", "FLAT_SCR"];

/// Writes the generated files, or with `check` fails if they are stale.
pub fn run(check: bool) -> Result<(), String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../rj_isa");
    let gz = std::fs::read(root.join("data/llvm-records.json.gz")).map_err(|e| format!("records: {e}"))?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(&gz[..]).read_to_string(&mut text).map_err(|e| format!("records: {e}"))?;
    let data: Value = serde_json::from_str(&text).map_err(|e| format!("records: {e}"))?;
    let [names, table, index] = generate(&data)?;
    for (file, text) in [("names.rs", names), ("table.rs", table), ("index.rs", index)] {
        let path = root.join("src/gen").join(file);
        if check {
            if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                return Err(format!("src/gen/{file} of rj_isa is stale: run `cargo xtask gen`"));
            }
        } else {
            std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    Ok(())
}

/// The generation-neutral name: LLVM's record name without encoding and generation suffixes.
fn op_name(record: &str) -> String {
    const SUFFIXES: &[&str] = &[
        "vi",
        "gfx8",
        "gfx9",
        "gfx90a",
        "gfx908",
        "gfx940",
        "gfx950",
        "gfx10",
        "gfx11",
        "gfx12",
        "gfx1250",
        "gfx11_gfx12",
        "acd",
        "vcd",
        "mac",
        "twoaddr",
        "w32",
        "w64",
        "fake16",
        "t16",
        "e32",
        "e64",
        "e96",
        "sdwa",
        "dpp",
        "dpp8",
        "IMM",
        "SGPR",
        "alt",
        "SADDR",
        "SVS",
        "ST",
        "RTN",
        "OFFEN",
        "IDXEN",
        "BOTHEN",
        "OFFSET",
        "exact",
        "VBUFFER",
        "format",
        "opt",
        "VE",
        "agpr",
        "nsa",
        "sa",
        "a16",
        "opsel",
        "pseudo",
        "inreg",
        "f8",
        "f6",
        "f4",
        "d2",
        "d4",
    ];
    let mut n = record;
    // V_CVT_I16_F16V_CVT_I16_F16_t16_…: the record's own name stands in it twice.
    if let Some(i) = n[1..].find("V_") {
        let i = i + 1;
        if n[i..].starts_with(&n[..i]) {
            n = &n[i..];
        }
    }
    // Register counts of image instructions: V4_V2.
    let count = |tail: &str| {
        n.starts_with("IMAGE_") && tail.strip_prefix('V').is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit()))
    };
    while let Some((head, tail)) = n.rsplit_once('_') {
        if !SUFFIXES.contains(&tail) && !count(tail) {
            break;
        }
        n = head;
    }
    n.to_string()
}

/// The upper nine bits of a packed encoding: 0xd380_0000 on gfx9, 0xcc00_0000 later.
fn is_vop3p(mask: u32, value: u32) -> bool {
    mask & 0x1fe == 0x1fe && (value == 0x1a7 || value & 0x1fe == 0x198)
}

/// For a dual-issue record the two operations.
fn ops_of(record: &str) -> (String, Option<String>) {
    if let Some(rest) = record.strip_prefix("V_DUAL_")
        && let Some((x, y)) = rest.split_once("_X_")
    {
        return (op_name(&format!("V_{x}")), Some(op_name(&format!("V_{y}"))));
    }
    (op_name(record), None)
}

fn format_of(r: &Value, flags: &BTreeSet<&str>) -> &'static str {
    let name = r["n"].as_str().unwrap_or("");
    let has = |f: &str| flags.contains(f);
    if name.starts_with("V_DUAL_") {
        return "Vopd";
    }
    if name.contains("_dpp8") {
        return "Dpp8";
    }
    if has("DPP") {
        return "Dpp16";
    }
    if has("SDWA") {
        return "Sdwa";
    }
    for (flag, format) in [
        ("SOP1", "Sop1"),
        ("SOP2", "Sop2"),
        ("SOPC", "Sopc"),
        ("SOPK", "Sopk"),
        ("SOPP", "Sopp"),
        ("SMRD", "Smem"),
        ("VOP3P", "Vop3p"),
        ("VOP3", "Vop3"),
        ("VOPC", "Vopc"),
        ("VOP1", "Vop1"),
        ("VOP2", "Vop2"),
        ("DS", "Ds"),
        ("MTBUF", "Mtbuf"),
        ("MUBUF", "Mubuf"),
        ("MIMG", "Mimg"),
        ("VIMAGE", "Mimg"),
        ("VSAMPLE", "Mimg"),
        ("EXP", "Exp"),
    ] {
        if has(flag) {
            return format;
        }
    }
    if has("FLAT") {
        let n = name.to_ascii_lowercase();
        return if n.starts_with("global") || n.starts_with("cluster") || n.starts_with("tensor") {
            "Global"
        } else if n.starts_with("scratch") {
            "Scratch"
        } else {
            "Flat"
        };
    }
    "Other"
}

/// What the bits of an operand field mean.
fn kind_of(class: &str, v: &Value) -> &'static str {
    let s = |k: &str| v[k].as_str().unwrap_or("");
    let decoder = s("DecoderMethod").split('<').next().unwrap_or("");
    let rc = s("rc");
    match decoder {
        "decodeSrcRegOrImm9" | "decodeOperand_VSrc_f64" => return "Src",
        "decodeSrcRegOrImmA9" => return "SrcA",
        "decodeSrcA9" => return "SrcA",
        "decodeSrcReg9" => return "Src",
        "decodeSrcAV10" => return "SrcAv",
        "decodeAVLdSt" | "decodeAV10" => return "Av",
        "decodeOperand_VSrcT16" | "decodeOperand_VGPR_16" => return "SrcT16",
        "decodeOperand_VSrcT16_Lo128" => return "SrcT16Lo128",
        "DecodeVGPR_16_Lo128RegisterClass" => return "T16Lo128",
        "DecodeVGPR_16RegisterClass" => return "T16",
        "decodeSDWASrc16" | "decodeSDWASrc32" => return "Sdwa",
        "decodeSDWAVopcDst" => return "SdwaDst",
        "decodeBoolReg" => return "Sreg",
        "decodeOperand_KImmFP" => return "Kimm",
        "decodeOperand_KImmFP64" => return "Kimm",
        "decodeOperandVOPDDstY" => return "VopdDstY",
        _ => {}
    }
    if rc.starts_with("AV_LdSt") {
        "Av"
    } else if rc.starts_with("AReg") || rc.starts_with("AGPR") {
        "Agpr"
    } else if rc.starts_with("VReg") || rc.starts_with("VGPR") || class.starts_with("VReg_") {
        "Vgpr"
    } else if rc.starts_with("SReg") || rc.starts_with("SGPR") {
        "Sreg"
    } else {
        "Imm"
    }
}

/// How constants of an operand expand.
fn type_of(v: &Value) -> &'static str {
    let t = v["OperandType"].as_str().unwrap_or("");
    for (tail, ty) in [
        ("V2FP16", "V2F16"),
        ("V2FP16_SPLAT", "V2F16"),
        ("V2BF16", "V2Bf16"),
        ("V2INT16", "V2I16"),
        ("V2FP32", "F32x2"),
        ("V2INT32", "I32x2"),
        ("BF16", "Bf16"),
        ("FP16", "F16"),
        ("FP32", "F32"),
        ("FP64", "F64"),
        ("INT16", "I16"),
        ("INT32", "I32"),
        ("INT64", "I64"),
        ("KIMM16", "F16"),
        ("KIMM32", "I32"),
        ("KIMM64", "I64"),
    ] {
        if t.ends_with(tail) {
            return ty;
        }
    }
    "I32"
}

struct Pool<T> {
    items: Vec<T>,
    index: HashMap<T, usize>,
}
impl<T: Clone + Eq + std::hash::Hash> Pool<T> {
    fn new() -> Self {
        Pool { items: Vec::new(), index: HashMap::new() }
    }
    fn add(&mut self, x: T) -> usize {
        if let Some(&i) = self.index.get(&x) {
            return i;
        }
        self.items.push(x.clone());
        self.index.insert(x, self.items.len() - 1);
        self.items.len() - 1
    }
}

fn strings<'a>(v: &'a Value, what: &str) -> Vec<&'a str> {
    v[what].as_array().map(|a| a.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

fn generate(data: &Value) -> Result<[String; 3], String> {
    let records = data["records"].as_array().ok_or("no records")?;
    let classes = data["operands"].as_object().ok_or("no operands")?;
    let mut ops = BTreeSet::new();
    let mut fields = BTreeSet::new();
    for r in records {
        let (x, y) = ops_of(r["n"].as_str().ok_or("no name")?);
        ops.insert(x);
        ops.extend(y);
        fields.extend(r["f"].as_object().ok_or("no fields")?.keys().cloned());
        for side in ["o", "i"] {
            for o in r[side].as_array().ok_or("no operands")? {
                fields.insert(o[1].as_str().ok_or("no operand name")?.to_string());
            }
        }
    }
    let ops: Vec<String> = ops.into_iter().collect();
    let fields: Vec<String> = fields.into_iter().collect();
    let op_index: HashMap<&str, usize> = ops.iter().enumerate().map(|(i, s)| (s.as_str(), i)).collect();
    let field_index: HashMap<&str, usize> = fields.iter().enumerate().map(|(i, s)| (s.as_str(), i)).collect();

    let mut names = String::from("//! Generated by `cargo xtask gen` from data/llvm-records.json.gz. Do not edit.\n\n");
    names.push_str("/// A generation-neutral operation, named as LLVM's pseudo instructions.\n#[allow(missing_docs, non_camel_case_types, clippy::upper_case_acronyms)]\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\n#[repr(u16)]\npub enum Op {\n");
    for o in &ops {
        let _ = writeln!(names, "    {o},");
    }
    names.push_str("}\n\nimpl Op {\n    /// Number of operations.\n");
    let _ = writeln!(names, "    pub const COUNT: usize = {};", ops.len());
    names.push_str("    /// Every operation.\n    pub const ALL: [Op; Op::COUNT] = [\n");
    for o in &ops {
        let _ = writeln!(names, "        Op::{o},");
    }
    let all: String = ops.iter().map(|o| format!("{o}\\n\\\n         ")).collect();
    let mut at = 0;
    let starts: Vec<String> = ops
        .iter()
        .map(|o| {
            at += o.len() + 1;
            (at - o.len() - 1).to_string()
        })
        .collect();
    let _ = write!(
        names,
        "    ];\n\n    /// All names, one a line.\n    pub(crate) const NAMES: &'static str = \"{all}\";\n\n    /// Where they begin.\n    pub(crate) const NAMES_AT: [u32; Op::COUNT] = [{}];\n",
        starts.join(", ")
    );
    names.push_str("}\n\n/// A named field of an instruction.\n#[allow(missing_docs, non_camel_case_types, non_upper_case_globals)]\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\n#[repr(u8)]\npub enum Field {\n");
    let ident = |f: &str| if f == "null" { "null_".to_string() } else { f.to_string() };
    for f in &fields {
        let _ = writeln!(names, "    {},", ident(f));
    }
    names.push_str(
        "}\n\nimpl Field {\n    /// The field of that index.\n    pub(crate) const ALL: &'static [Field] = &[\n",
    );
    for f in &fields {
        let _ = writeln!(names, "        Field::{},", ident(f));
    }
    names.push_str("    ];\n}\n");

    // Operand classes.
    let mut class_ids: BTreeMap<&str, usize> = BTreeMap::new();
    let mut class_rows = String::new();
    for r in records {
        for side in ["o", "i"] {
            for o in r[side].as_array().into_iter().flatten() {
                let c = o[0].as_str().ok_or("class")?;
                class_ids.insert(c, 0);
            }
        }
    }
    for (i, (c, id)) in class_ids.iter_mut().enumerate() {
        *id = i;
        let v = classes.get(*c).unwrap_or(&Value::Null);
        let bits = v["bits"]
            .as_u64()
            .or(match *c {
                "VReg_64_AlignTarget" => Some(64),
                _ => None,
            })
            .unwrap_or(0);
        let name = if c.starts_with("anonymous") { v["rc"].as_str().unwrap_or("") } else { c };
        let print = v["PrintMethod"].as_str().unwrap_or("");
        let print = match print.split_once("O, \"").and_then(|(_, r)| r.split_once('"')) {
            Some((n, _)) if print.contains("printNamedBit") => format!("bit:{n}"),
            Some((n, _)) if print.contains("printNamedInt") => format!(
                "int:{n}:{}",
                if print.contains("true, true") {
                    "hex,always"
                } else if print.contains("true, false") {
                    "hex"
                } else if print.contains("false, true") {
                    "always"
                } else {
                    ""
                }
            ),
            _ if *c == "SplitBarrier" => "barrier".to_string(),
            _ if v["DecoderMethod"] == "decodeSOPPBrTarget" => "decimal".to_string(),
            _ => print.to_string(),
        };
        let _ = writeln!(
            class_rows,
            "    Class {{ kind: Kind::{}, ty: Ty::{}, bits: {bits}, name: {:?}, print: {print:?} }},",
            kind_of(c, v),
            type_of(v),
            name
        );
    }

    // Rows.
    let mut layouts: Pool<Vec<(usize, u32, u32, u32)>> = Pool::new();
    let mut operands: Pool<Vec<(usize, usize, bool)>> = Pool::new();
    let mut asms: Pool<Vec<u8>> = Pool::new();
    let siblings = asm::Siblings::new(records);
    let mut rows = String::new();
    let mut row_names = String::new();
    let mut keys = Vec::new();
    let mut name_at = 0;
    for r in records {
        let name = r["n"].as_str().unwrap_or("");
        let (x, y) = ops_of(name);
        let flags: BTreeSet<&str> = strings(r, "flags").into_iter().collect();
        let bits = r["bits"].as_str().ok_or("bits")?;
        // The records leave out the dword with the further addresses of gfx11 images.
        let further = name.starts_with("IMAGE") && name.ends_with("nsa_gfx11");
        let size = r["sz"].as_u64().ok_or("size")? + if further { 4 } else { 0 };
        let (mut mask, mut value) = (0u128, 0u128);
        for (i, c) in bits.chars().rev().enumerate() {
            if c == '0' || c == '1' {
                mask |= 1 << i;
                value |= u128::from(c == '1') << i;
            }
        }
        let mut layout = Vec::new();
        for (f, spans) in r["f"].as_object().ok_or("fields")? {
            let mut runs: Vec<(u32, u32, u32)> = Vec::new();
            for s in spans.as_array().ok_or("spans")? {
                let (fb, ib) = (s[0].as_u64().unwrap_or(0) as u32, s[1].as_u64().unwrap_or(0) as u32);
                match runs.last_mut() {
                    Some((f0, i0, n)) if *f0 + *n == fb && *i0 + *n == ib && fb % 32 != 0 => *n += 1,
                    _ => runs.push((fb, ib, 1)),
                }
            }
            layout.extend(runs.into_iter().map(|(f0, i0, n)| (field_index[f.as_str()], f0, i0, n)));
        }
        if further {
            layout.extend((1..5).map(|i| (field_index[format!("vaddr{i}").as_str()], 0, 56 + 8 * i, 8)));
        }
        let mut list = Vec::new();
        for (side, out) in [("o", true), ("i", false)] {
            for o in r[side].as_array().into_iter().flatten() {
                list.push((class_ids[o[0].as_str().unwrap_or("")], field_index[o[1].as_str().unwrap_or("")], out));
            }
        }
        let mut flags = flags;
        if is_vop3p((mask >> 23) as u32 & 0x1ff, (value >> 23) as u32 & 0x1ff) && flags.contains("VOP3") {
            flags.insert("VOP3P");
        } else {
            flags.remove("VOP3P");
        }
        if ["_w64", "_W64"].iter().any(|w| name.contains(w)) || r["ns"] == "GFX11W64" {
            flags.insert("wave64");
        }
        if flags.contains("VOP3P") && !["V_FMA_MIX", "V_MAD_MIX"].iter().any(|m| name.starts_with(m)) {
            flags.insert("packed");
        }
        // The literal is a field of the row, or a source may ask for one that follows.
        let kinds: Vec<&str> = ["o", "i"]
            .iter()
            .flat_map(|side| r[*side].as_array().into_iter().flatten())
            .map(|o| o[0].as_str().map_or("Imm", |c| kind_of(c, classes.get(c).unwrap_or(&Value::Null))))
            .collect();
        if kinds.contains(&"Kimm") {
            flags.insert("literal inside");
        } else if kinds.iter().any(|k| ["Src", "SrcT16", "SrcT16Lo128"].contains(k)) && !flags.contains("SMRD") {
            flags.insert("literal behind");
        }
        if x.contains("_I64") {
            flags.insert("signed 64");
        }
        if name.contains("F8F6F4") {
            flags.insert("mixed matrix");
        }
        let fl = FLAGS.iter().enumerate().fold(0u32, |m, (i, f)| m | u32::from(flags.contains(f)) << i);
        // The records of some 16-bit comparisons do not say that they write VCC.
        let compares = flags.contains("VOPC") && !x.starts_with("V_CMPX");
        let imp = |what| {
            let mut l = strings(r, what);
            if what == "defs" && compares && !flags.contains("SDWA") {
                l.push("VCC");
            }
            IMPLICIT.iter().enumerate().fold(0u8, |m, (i, f)| m | u8::from(l.iter().any(|x| x.starts_with(f))) << i)
        };
        let t = strings(r, "t")
            .iter()
            .fold(0u8, |m, x| m | u8::from(TARGETS.contains(x)) << TARGETS.iter().position(|y| y == x).unwrap_or(0));
        let ns = NAMESPACES
            .iter()
            .position(|n| *n == r["ns"].as_str().unwrap_or(""))
            .ok_or_else(|| format!("namespace of {name}"))?;
        keys.push(index::Key { ns: NAMESPACES[ns], size, targets: t, mask, value });
        let words: Vec<String> = (0..4).map(|i| format!("{:#x}", (value >> (32 * i)) as u32)).collect();
        let masks: Vec<String> = (0..4).map(|i| format!("{:#x}", (mask >> (32 * i)) as u32)).collect();
        let _ = writeln!(
            rows,
            "    Row {{ op: Op::{x}, op_y: {}, format: Format::{}, size: {size}, targets: {t}, uses: {}, defs: {}, flags: {fl}, mask: [{}], value: [{}], layout: {}, operands: {}, asm: {}, name: {name_at} }},",
            y.map_or("NO_OP".to_string(), |y| op_index[y.as_str()].to_string()),
            format_of(r, &flags),
            imp("uses"),
            imp("defs"),
            masks.join(", "),
            words.join(", "),
            layouts.add(layout),
            operands.add(list),
            asms.add(asm::compile(r, &x, &siblings, &field_index, classes)?),
        );
        row_names.push_str(name);
        row_names.push('\n');
        name_at += name.len() + 1;
    }
    let mut t = String::from(
        "//! Generated by `cargo xtask gen` from data/llvm-records.json.gz. Do not edit.\n\nuse crate::gen_names::Op;\nuse crate::table::{Class, Format, Kind, NO_OP, Row, Ty};\n\n",
    );
    let _ = writeln!(t, "pub static CLASSES: [Class; {}] = [\n{class_rows}];\n", class_ids.len());
    let _ = writeln!(t, "pub static ROWS: [Row; {}] = [\n{rows}];\n", records.len());
    // Pools: start indices, then the items end to end.
    let (mut starts, mut items) = (vec![0], String::new());
    let mut n = 0;
    for l in &layouts.items {
        for (f, f0, i0, w) in l {
            let _ = writeln!(items, "    [{f}, {f0}, {i0}, {w}],");
        }
        n += l.len();
        starts.push(n);
    }
    let _ = writeln!(
        t,
        "/// Field, first bit in it, first bit in the instruction, bits.\npub static SPANS: [[u8; 4]; {n}] = [\n{items}];\npub static LAYOUTS: [u16; {}] = {starts:?};\n",
        starts.len()
    );
    let (mut starts, mut items) = (vec![0], String::new());
    let mut n = 0;
    for l in &operands.items {
        for (c, f, out) in l {
            let _ = writeln!(items, "    ({c}, {f}, {out}),");
        }
        n += l.len();
        starts.push(n);
    }
    let _ = writeln!(
        t,
        "/// Class, field, is a result.\npub static OPERANDS: [(u16, u8, bool); {n}] = [\n{items}];\npub static OPERAND_LISTS: [u16; {}] = {starts:?};\n",
        starts.len()
    );
    let mut starts = vec![0];
    let mut all = Vec::new();
    for a in &asms.items {
        all.extend(a);
        starts.push(all.len());
    }
    let all = all.escape_ascii();
    let _ = writeln!(
        t,
        "/// Assembly templates: text, and 1 and a field's number for an operand.\npub static ASM: &[u8] = b\"{all}\";\npub static ASM_AT: [u32; {}] = {starts:?};\n",
        starts.len()
    );
    let _ = writeln!(t, "/// Record names, one a line.\npub static NAMES: &str = {row_names:?};");
    Ok([names, t, index::generate(&TARGETS, &keys)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_not_stale() {
        run(true).expect("cargo xtask gen");
    }

    #[test]
    fn names_lose_encodings_and_generations() {
        for (record, op) in [
            ("V_ADD_F32_e64_vi", "V_ADD_F32"),
            ("V_ADD_F32_sdwa_gfx9", "V_ADD_F32"),
            ("V_FREXP_EXP_I16_F16V_FREXP_EXP_I16_F16_t16_e64_gfx12", "V_FREXP_EXP_I16_F16"),
            ("GLOBAL_LOAD_DWORD_SADDR_vi", "GLOBAL_LOAD_DWORD"),
            ("SCRATCH_LOAD_DWORD_VE_gfx940", "SCRATCH_LOAD_DWORD"),
            ("IMAGE_SAMPLE_D_V3_V3_nsa_gfx11", "IMAGE_SAMPLE_D"),
            ("V_MFMA_F32_16X16X128_F8F6F4_f8_f8_gfx940_acd", "V_MFMA_F32_16X16X128_F8F6F4"),
        ] {
            assert_eq!(op_name(record), op);
        }
    }
}
