//! From instructions to LLVM's assembly text.
//!
//! The text is what llvm-mc 23 prints, without its comments. Printing never fails: bits that name nothing show as
//! numbers.

mod imm;
mod mods;
mod names;

use crate::gen_names::Field;
use crate::inst::Inst;
use crate::operand::{Operand, Special, scalar_register};
use crate::table::{Class, Format, Kind, Ty};
use crate::target::Target;
use std::fmt::Write as _;

impl std::fmt::Display for Inst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print(self))
    }
}

/// The assembly text of an instruction.
pub fn print(inst: &Inst) -> String {
    let mut p = Printer { inst, out: String::with_capacity(64) };
    let mut asm = inst.row().asm().iter();
    let image = inst.format() == Format::Mimg && inst.has(Field::dmask) && inst.has(Field::dim);
    while let Some(&b) = asm.next() {
        match b {
            b'[' if image => {
                p.address_list();
                asm.by_ref().find(|b| **b == b']');
            }
            // The generator's mark of an operand: the field's number follows.
            1 => {
                let field = asm.next().map_or(Field::ALL[0], |f| Field::ALL[usize::from(*f)]);
                p.operand(field);
            }
            _ => p.out.push(char::from(b)),
        }
    }
    p.out.truncate(p.out.trim_end().len());
    p.out
}

/// Writes one instruction.
struct Printer<'a> {
    inst: &'a Inst,
    out: String,
}

impl Printer<'_> {
    fn target(&self) -> Target {
        self.inst.target
    }

    fn put(&mut self, args: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.out.write_fmt(args);
    }

    /// The operand's class, and the operand after it.
    fn find(&self, field: Field) -> Option<(&'static Class, Option<(&'static Class, Field)>)> {
        let mut all = self.inst.row().operands().skip_while(|(_, f, _)| *f != field);
        let (class, _, _) = all.next()?;
        Some((class, all.next().map(|(c, f, _)| (c, f))))
    }

    fn operand(&mut self, field: Field) {
        let Some((class, next)) = self.find(field) else {
            self.put(format_args!("?{field:?}"));
            return;
        };
        match class.print {
            "" | "printVOPDst" | "printOperand" | "printRegularOperand" | "printAVLdSt32Align2RegOp" => {
                self.value(class, field);
                self.after(field);
            }
            "printOperandAndFPInputMods" => {
                if let Some((c, f)) = next {
                    self.fp(c, f, field);
                    self.after(f);
                }
            }
            "printOperandAndIntInputMods" => {
                if let Some((c, f)) = next {
                    let sext = self.inst.mods(field).sext();
                    self.out.push_str(if sext { "sext(" } else { "" });
                    self.value(c, f);
                    self.out.push_str(if sext { ")" } else { "" });
                    self.after(f);
                }
            }
            method => self.modifier(method, class, field),
        }
    }

    /// What LLVM prints behind some operands: a buffer format.
    fn after(&mut self, field: Field) {
        let row = self.inst.row();
        if field == Field::soffset && row.format == Format::Mtbuf {
            self.buffer_format();
        }
    }

    fn fp(&mut self, class: &'static Class, field: Field, mods: Field) {
        let m = self.inst.mods(mods);
        let constant = matches!(self.inst.operand(field), Some(Operand::Const(_)));
        let call = m.neg() && !m.abs() && constant;
        if call {
            self.out.push_str("neg(");
        } else if m.neg() {
            self.out.push('-');
        }
        self.out.push_str(if m.abs() { "|" } else { "" });
        self.value(class, field);
        self.out.push_str(if m.abs() { "|" } else { "" });
        self.out.push_str(if call { ")" } else { "" });
    }

    /// A register, constant or plain number.
    fn value(&mut self, class: &'static Class, field: Field) {
        let mut width = crate::width::bits(self.inst, class, field);
        // Data that begins at an odd register: LLVM has no such tuple on gfx90a, and prints what the record has.
        if field == Field::vdata && self.target() == Target::Gfx90a && self.inst.get(field) & 1 != 0 {
            width = class.bits;
        }
        let bits = if width == 0 && class.kind != Kind::Imm {
            if self.target().is_gfx9() || self.inst.row().wave64() { 64 } else { 32 }
        } else {
            width
        };
        match self.inst.operand(field) {
            Some(Operand::Vgpr { reg, hi }) => {
                self.range('v', reg, bits);
                if class.is_true16() {
                    self.out.push_str(if hi { ".h" } else { ".l" });
                }
            }
            Some(Operand::Agpr { reg }) => self.range('a', reg, bits),
            Some(Operand::Sgpr { reg }) => self.scalars(reg, bits),
            Some(Operand::Ttmp { reg }) => self.many("ttmp", u16::from(reg), bits),
            Some(Operand::Special(s)) => self.special(s, bits),
            Some(Operand::Const(c)) => self.constant(class, field, c),
            Some(Operand::Bad(x)) => self.put(format_args!("{x}")),
            None => {
                let x = self.inst.get(field);
                if class.kind == Kind::Imm && class.print.is_empty() {
                    self.put(format_args!("{x}"));
                } else {
                    imm::i32(&mut self.out, x);
                }
            }
        }
    }

    /// Image addresses in registers of their own; the last field takes what is left.
    fn address_list(&mut self) {
        const FIELDS: [Field; 5] = [Field::vaddr0, Field::vaddr1, Field::vaddr2, Field::vaddr3, Field::vaddr4];
        let n = crate::width::address_registers(self.inst);
        let most = if self.inst.is_gfx12() && self.inst.has(Field::samp) { 4 } else { 5 };
        let fields: Vec<Field> = FIELDS.into_iter().take(usize::from(n.min(most))).collect();
        self.out.push_str(if n > 1 { "[" } else { "" });
        for (i, field) in fields.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            let rest = if i + 1 == fields.len() && n > most { n - most + 1 } else { 1 };
            self.range('v', (self.inst.get(*field) & 0xff) as u16, 32 * rest);
        }
        self.out.push_str(if n > 1 { "]" } else { "" });
    }

    /// SGPRs; a range that runs into VCC is a list.
    fn scalars(&mut self, reg: u8, bits: u16) {
        let last = u16::from(reg) + bits.div_ceil(32).max(1) - 1;
        if last <= if self.target().is_gfx9() { 101 } else { 105 } {
            return self.range('s', u16::from(reg), bits);
        }
        self.out.push('[');
        for r in u16::from(reg)..=last {
            self.out.push_str(if r > u16::from(reg) { "," } else { "" });
            match scalar_register(self.target(), u32::from(r)) {
                Operand::Sgpr { reg } => self.range('s', u16::from(reg), 32),
                Operand::Ttmp { reg } => self.many("ttmp", u16::from(reg), 32),
                Operand::Special(s) => self.special(s, 32),
                _ => self.put(format_args!("{r}")),
            }
        }
        self.out.push(']');
    }

    fn range(&mut self, file: char, reg: u16, bits: u16) {
        let n = bits.div_ceil(32);
        if n <= 1 {
            self.put(format_args!("{file}{reg}"));
        } else {
            self.put(format_args!("{file}[{reg}:{}]", reg + n - 1));
        }
    }

    fn many(&mut self, file: &str, reg: u16, bits: u16) {
        let n = bits.div_ceil(32);
        if n <= 1 {
            self.put(format_args!("{file}{reg}"));
        } else {
            self.put(format_args!("{file}[{reg}:{}]", reg + n - 1));
        }
    }

    fn special(&mut self, s: Special, bits: u16) {
        let wide = bits >= 64;
        self.out.push_str(match s {
            Special::VccLo if wide => "vcc",
            Special::VccLo => "vcc_lo",
            Special::VccHi => "vcc_hi",
            Special::M0 => "m0",
            Special::ExecLo if wide => "exec",
            Special::ExecLo => "exec_lo",
            Special::ExecHi => "exec_hi",
            Special::Null => "null",
            Special::FlatScratchLo if wide => "flat_scratch",
            Special::FlatScratchLo => "flat_scratch_lo",
            Special::FlatScratchHi => "flat_scratch_hi",
            Special::XnackMaskLo if wide => "xnack_mask",
            Special::XnackMaskLo => "xnack_mask_lo",
            Special::XnackMaskHi => "xnack_mask_hi",
            Special::SharedBase => "src_shared_base",
            Special::SharedLimit => "src_shared_limit",
            Special::PrivateBase => "src_private_base",
            Special::PrivateLimit => "src_private_limit",
            Special::PopsExitingWaveId => "src_pops_exiting_wave_id",
            Special::Vccz => "src_vccz",
            Special::Execz => "src_execz",
            Special::Scc => "src_scc",
            Special::LdsDirect => "src_lds_direct",
            Special::FlatScratchBaseLo => "src_flat_scratch_base_lo",
            Special::FlatScratchBaseHi => "src_flat_scratch_base_hi",
        });
    }

    /// A constant as LLVM writes it: inline integers as such, inline floats as decimals, literals by value.
    fn constant(&mut self, class: &Class, field: Field, value: u64) {
        let raw = if class.kind == Kind::Kimm { 255 } else { self.inst.get(field) & 0xff };
        match raw {
            128..=192 => self.put(format_args!("{}", raw - 128)),
            193..=208 => self.put(format_args!("-{}", raw - 192)),
            240..=247 => {
                self.out.push_str(["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"][raw as usize - 240]);
            }
            248 if matches!(class.ty, Ty::F64 | Ty::I64) => self.out.push_str("0.15915494309189532"),
            248 => self.out.push_str("0.15915494"),
            _ => {
                let literal = self.inst.literal.unwrap_or(value);
                imm::literal(&mut self.out, class, literal, raw == 254);
            }
        }
    }
}
