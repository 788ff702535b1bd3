//! Names of field values, and the immediates of scalar control instructions. Source: LLVM's AMDGPUAsmUtils and SIDefines.

use super::Printer;
use crate::target::Target;

/// Image dimensions.
pub const DIM: [&str; 8] = ["1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"];
/// SDWA selections.
pub const SDWA_SEL: [&str; 7] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];
/// What SDWA does with the bits that it does not write.
pub const DST_UNUSED: [&str; 3] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];
/// Formats of gfx1250 matrices.
pub const MATRIX_FMT: [&str; 5] = ["FP8", "BF8", "FP6", "BF6", "FP4"];
/// Where gfx1250 matrix scales are.
pub const MATRIX_SCALE: [&str; 2] = ["ROW0", "ROW1"];
/// Formats of gfx1250 matrix scales.
pub const MATRIX_SCALE_FMT: [&str; 3] = ["E8", "E5M3", "E4M3"];
/// Typed buffer data formats of gfx9.
pub const DATA_FORMAT: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
/// Typed buffer number formats of gfx9.
pub const NUMBER_FORMAT: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];
/// Typed buffer formats of gfx11 and gfx12.
pub const UNIFIED_FORMAT: [&str; 64] = [
    "INVALID",
    "8_UNORM",
    "8_SNORM",
    "8_USCALED",
    "8_SSCALED",
    "8_UINT",
    "8_SINT",
    "16_UNORM",
    "16_SNORM",
    "16_USCALED",
    "16_SSCALED",
    "16_UINT",
    "16_SINT",
    "16_FLOAT",
    "8_8_UNORM",
    "8_8_SNORM",
    "8_8_USCALED",
    "8_8_SSCALED",
    "8_8_UINT",
    "8_8_SINT",
    "32_UINT",
    "32_SINT",
    "32_FLOAT",
    "16_16_UNORM",
    "16_16_SNORM",
    "16_16_USCALED",
    "16_16_SSCALED",
    "16_16_UINT",
    "16_16_SINT",
    "16_16_FLOAT",
    "10_11_11_FLOAT",
    "11_11_10_FLOAT",
    "10_10_10_2_UNORM",
    "10_10_10_2_SNORM",
    "10_10_10_2_UINT",
    "10_10_10_2_SINT",
    "2_10_10_10_UNORM",
    "2_10_10_10_SNORM",
    "2_10_10_10_USCALED",
    "2_10_10_10_SSCALED",
    "2_10_10_10_UINT",
    "2_10_10_10_SINT",
    "8_8_8_8_UNORM",
    "8_8_8_8_SNORM",
    "8_8_8_8_USCALED",
    "8_8_8_8_SSCALED",
    "8_8_8_8_UINT",
    "8_8_8_8_SINT",
    "32_32_UINT",
    "32_32_SINT",
    "32_32_FLOAT",
    "16_16_16_16_UNORM",
    "16_16_16_16_SNORM",
    "16_16_16_16_USCALED",
    "16_16_16_16_SSCALED",
    "16_16_16_16_UINT",
    "16_16_16_16_SINT",
    "16_16_16_16_FLOAT",
    "32_32_32_UINT",
    "32_32_32_SINT",
    "32_32_32_FLOAT",
    "32_32_32_32_UINT",
    "32_32_32_32_SINT",
    "32_32_32_32_FLOAT",
];

/// The hardware register of that number, without its `HW_REG_`.
fn hw_register(t: Target, id: u32) -> Option<&'static str> {
    let (gfx9, gfx940) = (t.is_gfx9(), matches!(t, Target::Gfx942 | Target::Gfx950));
    let gfx11 = matches!(t, Target::Gfx1100 | Target::Gfx1151);
    let gfx1250 = t == Target::Gfx1250;
    Some(if gfx9 || gfx11 {
        match id {
            1 => "MODE",
            2 => "STATUS",
            3 => "TRAPSTS",
            4 if gfx9 => "HW_ID",
            5 => "GPR_ALLOC",
            6 => "LDS_ALLOC",
            7 => "IB_STS",
            15 => "SH_MEM_BASES",
            16 if gfx9 => "TBA_LO",
            17 if gfx9 => "TBA_HI",
            18 if gfx9 => "TMA_LO",
            19 if gfx9 => "TMA_HI",
            18 => "PERF_SNAPSHOT_PC_LO",
            19 => "PERF_SNAPSHOT_PC_HI",
            20 if gfx940 => "XCC_ID",
            21 if gfx940 => "SQ_PERF_SNAPSHOT_DATA",
            22 if gfx940 => "SQ_PERF_SNAPSHOT_DATA1",
            23 if gfx940 => "SQ_PERF_SNAPSHOT_PC_LO",
            24 if gfx940 => "SQ_PERF_SNAPSHOT_PC_HI",
            20 if gfx11 => "FLAT_SCR_LO",
            21 if gfx11 => "FLAT_SCR_HI",
            23 if gfx11 => "HW_ID1",
            24 if gfx11 => "HW_ID2",
            27 if gfx11 => "PERF_SNAPSHOT_DATA",
            29 if gfx11 => "SHADER_CYCLES",
            _ => return None,
        }
    } else {
        match id {
            1 => "WAVE_MODE",
            2 => "WAVE_STATUS",
            4 => "WAVE_STATE_PRIV",
            5 => "WAVE_GPR_ALLOC",
            6 => "WAVE_LDS_ALLOC",
            7 => "IB_STS",
            10 => "PERF_SNAPSHOT_DATA",
            11 => "PERF_SNAPSHOT_PC_LO",
            12 => "PERF_SNAPSHOT_PC_HI",
            15 => "PERF_SNAPSHOT_DATA1",
            16 => "PERF_SNAPSHOT_DATA2",
            17 => "WAVE_EXCP_FLAG_PRIV",
            18 => "WAVE_EXCP_FLAG_USER",
            19 => "WAVE_TRAP_CTRL",
            20 => "WAVE_SCRATCH_BASE_LO",
            21 => "WAVE_SCRATCH_BASE_HI",
            23 => "WAVE_HW_ID1",
            24 => "WAVE_HW_ID2",
            26 => "WAVE_SCHED_MODE",
            28 if gfx1250 => "IB_STS2",
            29 => "SHADER_CYCLES_LO",
            30 => "SHADER_CYCLES_HI",
            31 => "WAVE_DVGPR_ALLOC_LO",
            32 => "WAVE_DVGPR_ALLOC_HI",
            33 if gfx1250 => "XNACK_STATE_PRIV",
            34 if gfx1250 => "XNACK_MASK",
            _ => return None,
        }
    })
}

fn message(t: Target, id: u32) -> Option<&'static str> {
    let gfx12 = matches!(t, Target::Gfx1201 | Target::Gfx1250);
    let gfx1250 = t == Target::Gfx1250;
    Some(if t.is_gfx9() {
        match id {
            1 => "MSG_INTERRUPT",
            2 => "MSG_GS",
            3 => "MSG_GS_DONE",
            4 => "MSG_SAVEWAVE",
            5 => "MSG_STALL_WAVE_GEN",
            6 => "MSG_HALT_WAVES",
            7 => "MSG_ORDERED_PS_DONE",
            8 => "MSG_EARLY_PRIM_DEALLOC",
            9 => "MSG_GS_ALLOC_REQ",
            10 => "MSG_GET_DOORBELL",
            15 => "MSG_SYSMSG",
            _ => return None,
        }
    } else {
        match id {
            1 => "MSG_INTERRUPT",
            2 => "MSG_HS_TESSFACTOR",
            3 => "MSG_DEALLOC_VGPRS",
            5 if !gfx12 => "MSG_STALL_WAVE_GEN",
            6 if !gfx12 => "MSG_HALT_WAVES",
            9 => "MSG_GS_ALLOC_REQ",
            15 => "MSG_SYSMSG",
            128 => "MSG_RTN_GET_DOORBELL",
            129 => "MSG_RTN_GET_DDID",
            130 => "MSG_RTN_GET_TMA",
            131 => "MSG_RTN_GET_REALTIME",
            132 => "MSG_RTN_SAVE_WAVE",
            133 => "MSG_RTN_GET_TBA",
            134 => "MSG_RTN_GET_TBA_TO_PC",
            135 if gfx12 => "MSG_RTN_GET_SE_AID_ID",
            136 if gfx1250 => "MSG_RTN_GET_CLUSTER_BARRIER_STATE",
            152 if gfx1250 => "MSG_RTN_SAVE_WAVE_HAS_TDM",
            _ => return None,
        }
    })
}

impl Printer<'_> {
    pub(super) fn hwreg(&mut self, x: u32) {
        let (id, offset, width) = (x & 63, x >> 6 & 31, (x >> 11 & 31) + 1);
        match hw_register(self.target(), id) {
            Some(n) => self.put(format_args!("hwreg(HW_REG_{n}")),
            None => self.put(format_args!("hwreg({id}")),
        }
        if (offset, width) != (0, 32) {
            self.put(format_args!(", {offset}, {width}"));
        }
        self.out.push(')');
    }

    pub(super) fn send_msg(&mut self, x: u32) {
        let gfx9 = self.target().is_gfx9();
        let (id, op, stream) = if gfx9 { (x & 15, x >> 4 & 7, x >> 8 & 3) } else { (x & 0xff, 0, 0) };
        let op_name = match (id, op) {
            (2 | 3, 0..=3) if gfx9 => Some(["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"][op as usize]),
            (15, 1) if gfx9 => Some("SYSMSG_OP_ECC_ERR_INTERRUPT"),
            (15, 2) if gfx9 => Some("SYSMSG_OP_REG_RD"),
            (15, 4) if gfx9 => Some("SYSMSG_OP_TTRACE_PC"),
            _ => None,
        };
        let needs_op = gfx9 && matches!(id, 2 | 3 | 15);
        let streams = gfx9 && matches!(id, 2 | 3) && op != 0;
        let sound = match message(self.target(), id) {
            Some(_) if needs_op => op_name.is_some() && (streams || stream == 0) && (id != 2 || op != 0),
            Some(_) => op == 0 && stream == 0,
            None => false,
        };
        if sound {
            self.put(format_args!("sendmsg({}", message(self.target(), id).unwrap_or("")));
            if let Some(n) = op_name {
                self.put(format_args!(", {n}"));
            }
            if streams {
                self.put(format_args!(", {stream}"));
            }
            self.out.push(')');
        } else if id | op << 4 | stream << 8 == x {
            self.put(format_args!("sendmsg({id}, {op}, {stream})"));
        } else {
            self.put(format_args!("{x}"));
        }
    }

    pub(super) fn wait_count(&mut self, x: u32) {
        let (vm, exp, lgkm, vm_max, lgkm_max) = if self.target().is_gfx9() {
            ((x & 15) | (x >> 14 & 3) << 4, x >> 4 & 7, x >> 8 & 15, 63, 15)
        } else {
            (x >> 10 & 63, x & 7, x >> 4 & 63, 63, 63)
        };
        let all = (vm, exp, lgkm) == (vm_max, 7, lgkm_max);
        let mut parts = Vec::new();
        if vm != vm_max || all {
            parts.push(format!("vmcnt({vm})"));
        }
        if exp != 7 || all {
            parts.push(format!("expcnt({exp})"));
        }
        if lgkm != lgkm_max || all {
            parts.push(format!("lgkmcnt({lgkm})"));
        }
        self.out.push_str(&parts.join(" "));
    }

    pub(super) fn delay_alu(&mut self, x: u32) {
        const IDS: [&str; 12] = [
            "NO_DEP",
            "VALU_DEP_1",
            "VALU_DEP_2",
            "VALU_DEP_3",
            "VALU_DEP_4",
            "TRANS32_DEP_1",
            "TRANS32_DEP_2",
            "TRANS32_DEP_3",
            "FMA_ACCUM_CYCLE_1",
            "SALU_CYCLE_1",
            "SALU_CYCLE_2",
            "SALU_CYCLE_3",
        ];
        const SKIPS: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
        let id = |n: u32| IDS.get(n as usize).copied().unwrap_or("");
        let mut parts = Vec::new();
        if x & 15 != 0 {
            parts.push(format!("instid0({})", id(x & 15)));
        }
        if x >> 4 & 7 != 0 {
            parts.push(format!("instskip({})", SKIPS.get((x >> 4 & 7) as usize).copied().unwrap_or("")));
        }
        if x >> 7 & 15 != 0 {
            parts.push(format!("instid1({})", id(x >> 7 & 15)));
        }
        self.out.push_str(&if parts.is_empty() { "0".to_string() } else { parts.join(" | ") });
    }

    pub(super) fn dep_ctr(&mut self, x: u32) {
        const FIELDS: [(&str, u32, u32); 7] = [
            ("hold_cnt", 7, 1),
            ("sa_sdst", 0, 1),
            ("va_vdst", 12, 4),
            ("va_sdst", 9, 3),
            ("va_ssrc", 8, 1),
            ("va_vcc", 1, 1),
            ("vm_vsrc", 2, 3),
        ];
        if x & 0x60 != 0 {
            return self.put(format_args!("{x:#x}"));
        }
        let default = |bits: u32| (1u32 << bits) - 1;
        let all: Vec<(&str, u32, bool)> = FIELDS
            .iter()
            .map(|(n, at, bits)| (*n, x >> at & default(*bits), x >> at & default(*bits) == default(*bits)))
            .collect();
        let none = all.iter().all(|f| f.2);
        let parts: Vec<String> =
            all.iter().filter(|f| none || !f.2).map(|(n, v, _)| format!("depctr_{n}({v})")).collect();
        self.out.push_str(&parts.join(" "));
    }

    pub(super) fn gpr_index(&mut self, x: u32) {
        if x & !15 != 0 {
            return self.put(format_args!("{x:#x}"));
        }
        let names: Vec<&str> = ["SRC0", "SRC1", "SRC2", "DST"]
            .into_iter()
            .enumerate()
            .filter(|(i, _)| x >> i & 1 != 0)
            .map(|(_, n)| n)
            .collect();
        self.put(format_args!("gpr_idx({})", names.join(",")));
    }

    pub(super) fn wait_event(&mut self, x: u32) {
        let gfx11 = matches!(self.target(), Target::Gfx1100 | Target::Gfx1151);
        match (gfx11, x) {
            (true, 0 | 1) => self.put(format_args!("{{ dont_wait_export_ready: {x} }}")),
            (false, 0 | 2) => self.put(format_args!("{{ export_ready: {} }}", x >> 1)),
            _ => self.put(format_args!("{x:#x}")),
        }
    }

    pub(super) fn swizzle(&mut self, x: u32) {
        if x == 0 {
            return;
        }
        self.out.push_str(" offset:");
        let gfx9_on = x >> 14 == 3;
        if gfx9_on && x & 0xe000 == 0xe000 {
            return self.put(format_args!("swizzle(FFT,{})", x & 31));
        }
        if gfx9_on && x & 0xf000 == 0xc000 || x & 0xf000 == 0xd000 {
            // 0xc000: rotate; bit 10 is the direction, bits 9:5 the distance.
            return self.put(format_args!("swizzle(ROTATE,{},{})", x >> 10 & 1, x >> 5 & 31));
        }
        if x & 0xff00 == 0x8000 {
            return self.put(format_args!("swizzle(QUAD_PERM,{},{},{},{})", x & 3, x >> 2 & 3, x >> 4 & 3, x >> 6 & 3));
        }
        if x & 0x8000 != 0 {
            return self.put(format_args!("{x}"));
        }
        let (and, or, xor) = (x & 31, x >> 5 & 31, x >> 10 & 31);
        let group = 32 - and;
        if and == 31 && or == 0 && xor.is_power_of_two() {
            self.put(format_args!("swizzle(SWAP,{xor})"));
        } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
            self.put(format_args!("swizzle(REVERSE,{})", xor + 1));
        } else if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
            self.put(format_args!("swizzle(BROADCAST,{group},{or})"));
        } else {
            let (p0, p1) = (or ^ xor, (and | or) ^ xor);
            let mask: String = (0..5)
                .rev()
                .map(|i| match (p0 >> i & 1, p1 >> i & 1) {
                    (0, 0) => '0',
                    (1, 1) => '1',
                    (0, _) => 'p',
                    _ => 'i',
                })
                .collect();
            self.put(format_args!("swizzle(BITMASK_PERM,\"{mask}\")"));
        }
    }
}
