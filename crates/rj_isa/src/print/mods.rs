//! Operands that are no registers: offsets, cache policies, lane selections, waits.

use super::{Printer, imm, names};
use crate::gen_names::{Field, Op};
use crate::table::{Class, Format, Kind};
use crate::target::Target;

const SRC: [(Field, Field); 3] =
    [(Field::src0, Field::src0_modifiers), (Field::src1, Field::src1_modifiers), (Field::src2, Field::src2_modifiers)];

impl Printer<'_> {
    /// An operand with a printing rule of its own.
    pub(super) fn modifier(&mut self, method: &str, class: &'static Class, field: Field) {
        let x = self.inst.get(field);
        if let Some(name) = method.strip_prefix("bit:") {
            // BVH instructions have the bit in their opcode.
            if x != 0 || name == "a16" && self.inst.row().name().contains("_a16_") {
                self.put(format_args!(" {name}"));
            }
            return;
        }
        if let Some((name, how)) = method.strip_prefix("int:").and_then(|m| m.split_once(':')) {
            self.named_int(name, how, x);
            return;
        }
        match method {
            "decimal" => self.put(format_args!("{x}")),
            "printCPol" => self.cache_policy(class, field),
            "printOffset" => self.buffer_offset(x),
            "printFlatOffset" => self.flat_offset(x),
            "printSMEMOffset" => self.smem_offset(),
            "printDppFI" => {
                let on = if self.inst.format() == Format::Dpp8 { x == 0xea } else { x != 0 };
                self.out.push_str(if on { " fi:1" } else { "" });
            }
            "printDppBoundCtrl" => self.out.push_str(if x != 0 { " bound_ctrl:1" } else { "" }),
            "printDPPCtrl" if self.inst.bits(Field::src0) == 64 && !(0x150..=0x15f).contains(&x) => {
                self.out.push(' ');
            }
            "printDPPCtrl" => self.dpp_ctrl(x),
            "printDPP8" => {
                let lane = |i: u32| x >> (3 * i) & 7;
                self.put(format_args!("dpp8:[{}", lane(0)));
                for i in 1..8 {
                    self.put(format_args!(",{}", lane(i)));
                }
                self.out.push(']');
            }
            "printOpSel" => self.op_sel(),
            "printOpSelHi" => self.packed(" op_sel_hi:[", 8),
            "printNegLo" => self.packed(" neg_lo:[", 1),
            "printNegHi" => self.packed(" neg_hi:[", 2),
            "printOModSI" => self.out.push_str(["", " mul:2", " mul:4", " div:2"][(x & 3) as usize]),
            "printR128A16" => {
                let name = if self.target().is_gfx9() { " a16" } else { " r128" };
                self.out.push_str(if x != 0 { name } else { "" });
            }
            "printDim" => self.put(format_args!(" dim:SQ_RSRC_IMG_{}", names::DIM[(x & 7) as usize])),
            "printSDWASrc0Sel" => self.sdwa("src0_sel", x),
            "printSDWASrc1Sel" => self.sdwa("src1_sel", x),
            "printSDWADstSel" => self.sdwa("dst_sel", x),
            "printSDWADstUnused" => {
                let n = names::DST_UNUSED.get(x as usize).copied().unwrap_or("?");
                self.put(format_args!("dst_unused:{n}"));
            }
            "printFORMAT" => {}
            "printBLGP" => self.blgp(x),
            "barrier" => match x {
                193..=208 => self.put(format_args!("-{}", x - 192)),
                _ => self.put(format_args!("{}", i64::from(x) - 128)),
            },
            "printU16ImmOperand" => self.u16(class, x),
            "printU32ImmOperand" => {
                let x = if class.kind == Kind::Kimm { self.inst.literal.unwrap_or(0) as u32 } else { x };
                self.put(format_args!("{x:#x}"));
            }
            "printFP64ImmOperand" => {
                imm::literal(&mut self.out, class, self.inst.literal.unwrap_or(u64::from(x)), true);
            }
            "printBitOp3" => {
                if x != 0 {
                    self.put(format_args!(" bitop3:{}", hex_or_dec(x)));
                }
            }
            "printIndexKey16bit" | "printIndexKey32bit" => {
                if x != 0 {
                    self.put(format_args!(" index_key:{x}"));
                }
            }
            "printSendMsg" => self.send_msg(x),
            "printHwreg" => self.hwreg(x),
            "printExpTgt" => self.export_target(x),
            "printExpSrc0" => self.export_source(0, field),
            "printExpSrc1" => self.export_source(1, field),
            "printExpSrc2" => self.export_source(2, field),
            "printExpSrc3" => self.export_source(3, field),
            "printSwizzle" => self.swizzle(x),
            "printEndpgm" => {
                if x != 0 {
                    self.put(format_args!(" {x}"));
                }
            }
            "printSWaitCnt" => self.wait_count(x),
            "printSDelayALU" => self.delay_alu(x),
            "printDepCtr" => self.dep_ctr(x),
            "printGPRIdxMode" => self.gpr_index(x),
            "printWaitEvent" => self.wait_event(x),
            "printInterpAttr" => self.put(format_args!("attr{x}")),
            "printInterpAttrChan" => self.put(format_args!(".{}", ["x", "y", "z", "w"][(x & 3) as usize])),
            "printMatrixAFMT" => self.matrix("matrix_a_fmt", "MATRIX_FMT_", &names::MATRIX_FMT, x),
            "printMatrixBFMT" => self.matrix("matrix_b_fmt", "MATRIX_FMT_", &names::MATRIX_FMT, x),
            "printMatrixAScale" => self.matrix("matrix_a_scale", "MATRIX_SCALE_", &names::MATRIX_SCALE, x),
            "printMatrixBScale" => self.matrix("matrix_b_scale", "MATRIX_SCALE_", &names::MATRIX_SCALE, x),
            "printMatrixAScaleFmt" => {
                self.matrix("matrix_a_scale_fmt", "MATRIX_SCALE_FMT_", &names::MATRIX_SCALE_FMT, x);
            }
            "printMatrixBScaleFmt" => {
                self.matrix("matrix_b_scale_fmt", "MATRIX_SCALE_FMT_", &names::MATRIX_SCALE_FMT, x);
            }
            _ => self.put(format_args!("{x:#x}")),
        }
    }

    fn named_int(&mut self, name: &str, how: &str, x: u32) {
        let smem = name == "offset" && self.inst.format() == Format::Smem;
        let x = if smem { self.inst.offset() } else { i64::from(x) };
        let always = how.contains("always");
        if x == 0 && !always {
            return;
        }
        if how.contains("hex") {
            let (sign, n) = if x < 0 { ("-", -x) } else { ("", x) };
            self.put(format_args!(" {name}:{sign}{n:#x}"));
        } else {
            self.put(format_args!(" {name}:{x}"));
        }
    }

    fn u16(&mut self, class: &Class, x: u32) {
        let x = if class.kind == Kind::Kimm { self.inst.literal.unwrap_or(0) as u32 } else { x };
        if class.name == "VersionImm" {
            return self.version(x);
        }
        self.put(format_args!("{x:#x}"));
    }

    /// `s_version`: the code's generation and bits, as an expression.
    fn version(&mut self, x: u32) {
        let mut text = match x & 0x1fff {
            n if n > 0xff => return self.put(format_args!("{x:#x}")),
            4 => "UC_VERSION_GFX10".to_string(),
            6 => "UC_VERSION_GFX11".to_string(),
            9 => "UC_VERSION_GFX12".to_string(),
            n if x & 0xe000 == 0 => format!("{n:#x}"),
            n => n.to_string(),
        };
        for (bit, name) in [(0x2000, "W64"), (0x4000, "W32"), (0x8000, "MDP")] {
            if x & bit != 0 {
                let plain = !text.contains('|');
                text = if plain {
                    format!("{text}|UC_VERSION_{name}_BIT")
                } else {
                    format!("({text})|UC_VERSION_{name}_BIT")
                };
            }
        }
        self.out.push_str(&text);
    }

    fn blgp(&mut self, x: u32) {
        if x == 0 {
            return;
        }
        let f64 = matches!(self.inst.op, Op::V_MFMA_F64_16X16X4F64 | Op::V_MFMA_F64_4X4X4F64);
        if f64 && self.target() != Target::Gfx90a {
            self.put(format_args!(" neg:[{},{},{}]", x & 1, x >> 1 & 1, x >> 2 & 1));
        } else {
            self.put(format_args!(" blgp:{x}"));
        }
    }

    fn sdwa(&mut self, what: &str, x: u32) {
        let n = names::SDWA_SEL.get(x as usize).copied().unwrap_or("?");
        self.put(format_args!("{what}:{n}"));
    }

    fn matrix(&mut self, what: &str, prefix: &str, table: &[&str], x: u32) {
        if x == 0 {
            return;
        }
        match table.get(x as usize) {
            Some(n) => self.put(format_args!(" {what}:{prefix}{n}")),
            None => self.put(format_args!(" {what}:{x}")),
        }
    }

    fn cache_policy(&mut self, class: &Class, field: Field) {
        // Atomics that return have a bit of the policy in their encoding instead of in the field.
        let x = self.inst.get(field) | u32::from(class.name.starts_with("CPol_GLC"));
        if self.inst.is_gfx12() {
            let (th, scope) = (x & 7, x >> 3 & 3);
            self.out.push_str(if x & 0x800 != 0 { " scale_offset" } else { "" });
            if th != 0 {
                self.temporal_hint(th, scope);
            }
            self.out.push_str(["", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS"][scope as usize]);
            self.out.push_str(if x & 0x20 != 0 { " nv" } else { "" });
            return;
        }
        let gfx940 = matches!(self.target(), Target::Gfx942 | Target::Gfx950);
        let smem = self.inst.format() == Format::Smem;
        let names = [
            if gfx940 && !smem { " sc0" } else { " glc" },
            if gfx940 { " nt" } else { " slc" },
            if self.target().is_gfx9() { "" } else { " dlc" },
            "",
            if gfx940 { " sc1" } else { " scc" },
        ];
        for (i, n) in names.iter().enumerate() {
            self.out.push_str(if x >> i & 1 != 0 { n } else { "" });
        }
    }

    fn temporal_hint(&mut self, th: u32, scope: u32) {
        let row = self.inst.row();
        self.out.push_str(" th:");
        if row.is_atomic() {
            let name = match (th & 4 != 0, th & 2 != 0, th & 1 != 0) {
                (true, nt, _) if scope >= 2 => {
                    if nt {
                        "TH_ATOMIC_CASCADE_NT"
                    } else {
                        "TH_ATOMIC_CASCADE_RT"
                    }
                }
                (false, true, true) => "TH_ATOMIC_NT_RETURN",
                (false, true, false) => "TH_ATOMIC_NT",
                (false, false, true) => "TH_ATOMIC_RETURN",
                _ => return self.put(format_args!("TH_ATOMIC_{th:#x}")),
            };
            self.out.push_str(name);
            return;
        }
        // Loads to LDS write memory, but their hints are those of loads.
        let load = ["_LOAD_", "PREFETCH"].iter().any(|n| row.name().contains(n));
        let store = row.stores() && !load;
        if !store && th == 7 {
            return self.put(format_args!("{th:#x}"));
        }
        let name = match th {
            1 => "NT",
            2 => "HT",
            3 if scope == 3 => "BYPASS",
            3 if store => "WB",
            3 => "LU",
            4 => "NT_RT",
            5 => "RT_NT",
            6 => "NT_HT",
            _ => "NT_WB",
        };
        self.put(format_args!("{}{name}", if store { "TH_STORE_" } else { "TH_LOAD_" }));
    }

    fn buffer_offset(&mut self, x: u32) {
        if x == 0 {
            return;
        }
        let signed = self.inst.is_gfx12() && matches!(self.inst.format(), Format::Mubuf | Format::Mtbuf);
        let n = if signed { self.inst.offset() } else { i64::from(x & 0xffff) };
        self.put(format_args!(" offset:{n}"));
    }

    fn flat_offset(&mut self, x: u32) {
        if x == 0 {
            return;
        }
        let signed = self.inst.format() != Format::Flat || self.inst.is_gfx12();
        let n = if signed { self.inst.offset() } else { i64::from(x & 0xffff) };
        self.put(format_args!(" offset:{n}"));
    }

    fn smem_offset(&mut self) {
        let n = self.inst.offset();
        self.put(format_args!("{}{:#x}", if n < 0 { "-" } else { "" }, n.unsigned_abs()));
    }

    fn dpp_ctrl(&mut self, x: u32) {
        let gfx9 = self.target().is_gfx9();
        let n = x & 15;
        match x {
            0..=0xff => self.put(format_args!("quad_perm:[{},{},{},{}]", x & 3, x >> 2 & 3, x >> 4 & 3, x >> 6)),
            0x101..=0x10f => self.put(format_args!("row_shl:{n}")),
            0x111..=0x11f => self.put(format_args!("row_shr:{n}")),
            0x121..=0x12f => self.put(format_args!("row_ror:{n}")),
            0x130 if gfx9 => self.out.push_str("wave_shl:1"),
            0x134 if gfx9 => self.out.push_str("wave_rol:1"),
            0x138 if gfx9 => self.out.push_str("wave_shr:1"),
            0x13c if gfx9 => self.out.push_str("wave_ror:1"),
            0x140 => self.out.push_str("row_mirror"),
            0x141 => self.out.push_str("row_half_mirror"),
            0x142 if gfx9 => self.out.push_str("row_bcast:15"),
            0x143 if gfx9 => self.out.push_str("row_bcast:31"),
            0x150..=0x15f if gfx9 => self.put(format_args!("row_newbcast:{n}")),
            0x150..=0x15f => self.put(format_args!("row_share:{n}")),
            0x160..=0x16f if !gfx9 => self.put(format_args!("row_xmask:{n}")),
            // LLVM prints a comment alone.
            _ => {}
        }
    }

    fn op_sel(&mut self) {
        let permlane = self.inst.row().name().starts_with("V_PERMLANE") && self.inst.has(Field::src1_modifiers);
        if permlane {
            let fi = self.inst.get(Field::src0_modifiers) >> 2 & 1;
            let bc = self.inst.get(Field::src1_modifiers) >> 2 & 1;
            if fi | bc != 0 {
                self.put(format_args!(" op_sel:[{fi},{bc}]"));
            }
            return;
        }
        self.packed(" op_sel:[", 4);
    }

    /// A list with one bit of every source's modifiers.
    fn packed(&mut self, name: &str, bit: u32) {
        let row = self.inst.row();
        let default = u32::from(bit == 8);
        let mut bits = Vec::new();
        for (src, mods) in SRC {
            if !self.inst.has(src) {
                break;
            }
            let m = if self.inst.has(mods) { self.inst.get(mods) & bit != 0 } else { default != 0 };
            bits.push(u32::from(m));
        }
        let usual = u32::from(bit == 8 && row.packed());
        if self.inst.row().name().starts_with("V_MFMA_SCALE") && bit == 8 {
            bits[2] = 0;
        }
        let dpp = matches!(row.format, Format::Dpp16 | Format::Dpp8);
        let half_result = self.inst.has(Field::vdst) || self.inst.has(Field::sdst) && !dpp;
        if bit == 4 && row.vop3() && !row.vop3p() && half_result {
            bits.push(self.inst.get(Field::src0_modifiers) >> 3 & 1);
        }
        if bits.iter().all(|b| *b == usual) {
            return;
        }
        let list: Vec<String> = bits.iter().map(u32::to_string).collect();
        self.put(format_args!("{name}{}]", list.join(",")));
    }

    fn export_target(&mut self, x: u32) {
        match x & 0x3f {
            n @ 0..=7 => self.put(format_args!(" mrt{n}")),
            8 => self.out.push_str(" mrtz"),
            9 if self.target().is_gfx9() => self.out.push_str(" null"),
            n @ 12..=15 => self.put(format_args!(" pos{}", n - 12)),
            16 if !self.target().is_gfx9() => self.out.push_str(" pos4"),
            20 if !self.target().is_gfx9() => self.out.push_str(" prim"),
            n @ 21..=22 if !self.target().is_gfx9() => self.put(format_args!(" dual_src_blend{}", n - 21)),
            n @ 32..=63 if self.target().is_gfx9() => self.put(format_args!(" param{}", n - 32)),
            n => self.put(format_args!(" invalid_target_{n}")),
        }
    }

    fn export_source(&mut self, n: u32, field: Field) {
        let field = if self.inst.is(Field::compr) {
            [Field::src0, Field::src0, Field::src1, Field::src1][n as usize]
        } else {
            field
        };
        if self.inst.get(Field::en) >> n & 1 != 0 {
            let r = self.inst.get(field) & 0xff;
            self.put(format_args!("v{r}"));
        } else {
            self.out.push_str("off");
        }
    }

    pub(super) fn buffer_format(&mut self) {
        let x = self.inst.get(Field::format);
        if !self.target().is_gfx9() {
            match names::UNIFIED_FORMAT.get(x as usize) {
                _ if x == 1 => {}
                Some(n) => self.put(format_args!(" format:[BUF_FMT_{n}]")),
                None => self.put(format_args!(" format:{x}")),
            }
            return;
        }
        let (data, number) = ((x & 15) as usize, (x >> 4 & 7) as usize);
        if (data, number) == (1, 0) {
            return;
        }
        self.out.push_str(" format:[");
        if data != 1 {
            self.put(format_args!("BUF_DATA_FORMAT_{}", names::DATA_FORMAT[data]));
        }
        if data != 1 && number != 0 {
            self.out.push(',');
        }
        if number != 0 {
            self.put(format_args!("BUF_NUM_FORMAT_{}", names::NUMBER_FORMAT[number]));
        }
        self.out.push(']');
    }
}

fn hex_or_dec(x: u32) -> String {
    if x <= 9 { x.to_string() } else { format!("{x:#x}") }
}
