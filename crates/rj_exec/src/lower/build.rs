//! What every family's lowering needs: emitting micro-ops, resolving operands, modifiers, constants, temporaries.

use super::{Refusal, Result, raise};
use crate::code::{Block, Consts};
use crate::cross;
use crate::fault::FaultKind;
use crate::lanes::Backend;
use crate::memory::place::WIDE_PRIVATE;
use crate::ops::f32ops::{AbsF32, ClampF32, Div2F32, Mov, Mul2F32, Mul4F32, NegAbsF32, NegF32};
use crate::ops::wide::{AbsF64, ClampF64, Div2F64, LshlAddU64, Mov64, Mul2F64, Mul4F64, NegAbsF64, NegF64};
use crate::salu;
use crate::shapes::*;
use crate::uop::{Handler, Uop};
use crate::wave::{EXEC, M0, STEMP, TEMPS, VCC, s_off, t_off, v_off};
use rj_isa::{Field, Format, Inst, Operand, Special, Target};

/// A source: where it is, and whether one value serves all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Src {
    pub off: u32,
    pub scalar: bool,
}

/// A block under construction.
pub(crate) struct Lower<'a, 'c> {
    pub target: Target,
    pub backend: Backend,
    pub pc: u64,
    pub next: u64,
    pub count: u32,
    consts: &'a mut Consts<'c>,
    start: u64,
    uops: Vec<Uop>,
    /// Those whose handlers do runs.
    tris: Vec<usize>,
    at: Vec<u32>,
    traps: Vec<FaultKind>,
    temp: usize,
    stemp: usize,
    masked: bool,
}

impl<'a, 'c> Lower<'a, 'c> {
    pub fn new(target: Target, backend: Backend, consts: &'a mut Consts<'c>, pc: u64) -> Self {
        Lower {
            target,
            backend,
            pc,
            next: pc,
            count: 0,
            consts,
            start: pc,
            uops: Vec::new(),
            tris: Vec::new(),
            at: Vec::new(),
            traps: Vec::new(),
            temp: 0,
            stemp: 0,
            masked: false,
        }
    }

    /// Appends a micro-op.
    pub fn emit(&mut self, h: Handler, d: u32, a: u32, b: u32, c: u32, imm: u64) {
        self.uops.push(Uop { h, d, a, b, c, imm });
        self.at.push((self.pc - self.start) as u32);
    }

    /// Ends the block with a fault.
    pub fn trap(&mut self, kind: FaultKind) {
        let i = self.traps.len() as u64;
        self.traps.push(kind);
        self.emit(raise, 0, 0, 0, 0, i);
    }

    pub fn mark(&self) -> usize {
        self.uops.len()
    }

    pub fn rewind(&mut self, mark: usize) {
        self.uops.truncate(mark);
        self.at.truncate(mark);
        self.done();
    }

    /// The instruction is complete: its temporaries are free again.
    pub fn done(&mut self) {
        self.temp = 0;
        self.stemp = 0;
        self.masked = false;
    }

    /// Lets one dispatch do a run of micro-ops with the same handler: unrolled loops are full of them.
    pub fn join_runs(&mut self) {
        for pair in self.tris.windows(2).rev() {
            let (i, next) = (pair[0], pair[1]);
            if next == i + 1 && next < self.uops.len() && self.uops[i].h as usize == self.uops[next].h as usize {
                self.uops[i].imm = self.uops[next].imm + 1;
            }
        }
    }

    pub fn finish(self) -> Block {
        Block {
            uops: self.uops.into(),
            at: self.at.into(),
            start: self.start,
            count: self.count,
            consts: self.consts.used(),
            traps: self.traps,
        }
    }

    /// `n` free temporary planes in a row.
    pub fn temps(&mut self, n: usize) -> u32 {
        let t = self.temp;
        self.temp += n;
        assert!(self.temp <= TEMPS, "an instruction needs more temporaries than there are");
        t_off(t)
    }

    /// Two free scalar slots.
    pub fn stemp(&mut self) -> u32 {
        let s = STEMP + self.stemp;
        self.stemp += 2;
        assert!(self.stemp <= 8, "an instruction needs more scalar temporaries than there are");
        s_off(s)
    }

    /// A 32-bit constant as a scalar offset.
    pub fn const32(&mut self, x: u32) -> u32 {
        match self.consts.get32(x) {
            Some(slot) => s_off(slot),
            None => {
                let t = self.stemp();
                self.emit(salu::s_imm32, t, 0, 0, 0, u64::from(x));
                t
            }
        }
    }

    /// A 64-bit constant as a scalar offset.
    pub fn const64(&mut self, x: u64) -> u32 {
        match self.consts.get64(x) {
            Some(slot) => s_off(slot),
            None => {
                let t = self.stemp();
                self.emit(salu::s_imm64, t, 0, 0, 0, x);
                t
            }
        }
    }

    /// The scalar index of a register operand that spans `dwords`.
    pub fn sreg(&self, op: Operand, dwords: usize) -> Result<usize> {
        let i = match op {
            Operand::Sgpr { reg } => {
                let reg = usize::from(reg);
                if reg + dwords > VCC + 2 {
                    return Err(Refusal::Operand);
                }
                return Ok(reg);
            }
            Operand::Ttmp { reg } => 108 + usize::from(reg),
            Operand::Special(s) => match s {
                Special::VccLo => VCC,
                Special::VccHi => VCC + 1,
                Special::M0 => M0,
                Special::ExecLo => EXEC,
                Special::ExecHi => EXEC + 1,
                Special::FlatScratchLo => 102,
                Special::FlatScratchHi => 103,
                Special::XnackMaskLo => 104,
                Special::XnackMaskHi => 105,
                _ => return Err(Refusal::Operand),
            },
            _ => return Err(Refusal::Operand),
        };
        if i + dwords > 128 { Err(Refusal::Operand) } else { Ok(i) }
    }

    /// A scalar destination as a byte offset; writes to null go to a temporary.
    pub fn sdst(&mut self, op: Operand, dwords: usize) -> Result<u32> {
        if op == Operand::Special(Special::Null) {
            return Ok(self.stemp());
        }
        Ok(s_off(self.sreg(op, dwords)?))
    }

    /// A source operand of 32 bits or less, before SDWA, DPP and modifiers.
    pub fn plain(&mut self, op: Operand) -> Result<Src> {
        let scalar = |off| Ok(Src { off, scalar: true });
        match op {
            Operand::Vgpr { reg, hi: false } => Ok(Src { off: v_off(usize::from(reg)), scalar: false }),
            Operand::Agpr { reg } => Ok(Src { off: v_off(256 + usize::from(reg)), scalar: false }),
            Operand::Const(x) => scalar(self.const32(x as u32)),
            Operand::Special(Special::Scc) => self.flag(0),
            Operand::Special(Special::Vccz) => self.flag(1),
            Operand::Special(Special::Execz) => self.flag(2),
            // The low dwords of the apertures' bases are 0.
            Operand::Special(
                Special::Null | Special::SharedBase | Special::PrivateBase | Special::PopsExitingWaveId,
            ) => scalar(self.const32(0)),
            Operand::Special(Special::SharedLimit | Special::PrivateLimit) => scalar(self.const32(u32::MAX)),
            Operand::Special(Special::FlatScratchBaseLo) => scalar(self.const32(WIDE_PRIVATE as u32)),
            Operand::Special(Special::FlatScratchBaseHi) => scalar(self.const32((WIDE_PRIVATE >> 32) as u32)),
            _ => scalar(s_off(self.sreg(op, 1)?)),
        }
    }

    fn flag(&mut self, which: u64) -> Result<Src> {
        let t = self.stemp();
        self.emit(salu::s_flag, t, 0, 0, 0, which);
        Ok(Src { off: t, scalar: true })
    }

    /// A 64-bit source operand, before modifiers.
    pub fn plain64(&mut self, op: Operand) -> Result<Src> {
        let scalar = |off| Ok(Src { off, scalar: true });
        match op {
            Operand::Vgpr { reg, hi: false } => Ok(Src { off: v_off(usize::from(reg)), scalar: false }),
            Operand::Agpr { reg } => Ok(Src { off: v_off(256 + usize::from(reg)), scalar: false }),
            Operand::Const(x) => scalar(self.const64(x)),
            Operand::Special(Special::Scc | Special::Vccz | Special::Execz) => {
                let s = self.plain(op)?;
                let t = self.stemp();
                self.emit(salu::s_imm64, t, 0, 0, 0, 0);
                self.emit(salu::s_mov_b32, t, s.off, s.off, 0, 0);
                scalar(t)
            }
            Operand::Special(Special::Null) => scalar(self.const64(0)),
            Operand::Special(Special::SharedBase) => scalar(self.const64(1 << 48)),
            Operand::Special(Special::SharedLimit) => scalar(self.const64(1 << 48 | 0xffff_ffff)),
            Operand::Special(Special::PrivateBase) => scalar(self.const64(2 << 48)),
            Operand::Special(Special::PrivateLimit) => scalar(self.const64(2 << 48 | 0xffff_ffff)),
            Operand::Special(Special::FlatScratchBaseLo) => scalar(self.const64(WIDE_PRIVATE)),
            _ => scalar(s_off(self.sreg(op, 2)?)),
        }
    }

    /// The operand of a field, or a refusal.
    pub fn operand(&self, inst: &Inst, field: Field) -> Result<Operand> {
        inst.operand(field).ok_or(Refusal::Operand)
    }

    /// A vector source as raw bits: DPP and SDWA selection applied, no float modifiers.
    pub fn bits32(&mut self, inst: &Inst, field: Field) -> Result<Src> {
        let op = self.operand(inst, field)?;
        self.select(inst, field, op)
    }

    /// [`Lower::bits32`] of an operand that the caller has resolved.
    pub fn select(&mut self, inst: &Inst, field: Field, op: Operand) -> Result<Src> {
        let mut s = self.plain(op)?;
        match inst.format() {
            Format::Dpp16 if field == Field::src0 => s = self.dpp(inst, s)?,
            Format::Dpp8 if field == Field::src0 => return Err(Refusal::Unsupported),
            Format::Sdwa => {
                let (sel, mods) = match field {
                    Field::src0 => (inst.get(Field::src0_sel), inst.mods(Field::src0_modifiers)),
                    _ => (inst.get(Field::src1_sel), inst.mods(Field::src1_modifiers)),
                };
                let int = !float_mods(inst);
                if sel != 6 {
                    let t = self.temps(1);
                    let v = self.vector(s);
                    let sext = u64::from(int && mods.sext());
                    self.emit(cross::sdwa_select, t, v, 0, 0, u64::from(sel) | sext << 8);
                    s = Src { off: t, scalar: false };
                }
            }
            _ => {}
        }
        Ok(s)
    }

    /// An f32 source with its modifiers.
    pub fn f32(&mut self, inst: &Inst, field: Field) -> Result<Src> {
        let s = self.bits32(inst, field)?;
        let mods = inst.mods(modifiers(field));
        Ok(match (mods.neg(), mods.abs()) {
            (false, false) => s,
            (true, false) => self.modify::<NegF32>(s),
            (false, true) => self.modify::<AbsF32>(s),
            (true, true) => self.modify::<NegAbsF32>(s),
        })
    }

    fn modify<O: Un>(&mut self, s: Src) -> Src {
        let t = self.temps(1);
        self.un::<O>(t, s);
        Src { off: t, scalar: false }
    }

    /// A 64-bit source as raw bits.
    pub fn bits64(&mut self, inst: &Inst, field: Field) -> Result<Src> {
        if matches!(inst.format(), Format::Sdwa | Format::Dpp8) {
            return Err(Refusal::Unsupported);
        }
        let op = self.operand(inst, field)?;
        let s = self.plain64(op)?;
        if inst.format() == Format::Dpp16 && field == Field::src0 {
            let lo = self.dpp(inst, Src { off: s.off, scalar: false })?;
            let hi = self.dpp(inst, Src { off: s.off + 256, scalar: false })?;
            if hi.off != lo.off + 256 {
                return Err(Refusal::Operand);
            }
            return Ok(lo);
        }
        Ok(s)
    }

    /// An f64 source with its modifiers.
    pub fn f64(&mut self, inst: &Inst, field: Field) -> Result<Src> {
        let s = self.bits64(inst, field)?;
        let mods = inst.mods(modifiers(field));
        Ok(match (mods.neg(), mods.abs()) {
            (false, false) => s,
            (true, false) => self.modify64::<NegF64>(s),
            (false, true) => self.modify64::<AbsF64>(s),
            (true, true) => self.modify64::<NegAbsF64>(s),
        })
    }

    fn modify64<O: Wide>(&mut self, s: Src) -> Src {
        let t = self.temps(2);
        self.wide::<O>(t, s.off, 0, 0);
        Src { off: t, scalar: false }
    }

    /// The source as a plane.
    pub fn vector(&mut self, s: Src) -> u32 {
        if s.scalar { self.modify::<Mov>(s).off } else { s.off }
    }

    /// The source as a plane whose every lane is filled, whatever EXEC is (for readlane).
    pub fn vector_for_read(&mut self, s: Src) -> u32 {
        if s.scalar {
            let t = self.temps(1);
            self.emit(cross::splat, t, s.off, 0, 0, 0);
            return t;
        }
        s.off
    }

    /// DPP16 on a 32-bit source; from here to the end of the instruction EXEC has only the lanes that it writes.
    fn dpp(&mut self, inst: &Inst, s: Src) -> Result<Src> {
        let a = self.vector(s);
        let t = self.temps(1);
        let imm = u64::from(inst.get(Field::dpp_ctrl))
            | u64::from(inst.get(Field::row_mask)) << 16
            | u64::from(inst.get(Field::bank_mask)) << 20
            | u64::from(inst.get(Field::bound_ctrl)) << 24
            | u64::from(inst.get(Field::fi)) << 25
            | u64::from(self.masked) << 26;
        self.emit(cross::dpp16, t, a, 0, 0, imm);
        self.masked = true;
        Ok(Src { off: t, scalar: false })
    }

    /// Restores EXEC after a DPP operation. To be called once the result is written.
    pub fn unmask(&mut self) {
        if self.masked {
            self.emit(cross::dpp_end, 0, 0, 0, 0, 0);
            self.masked = false;
        }
    }

    /// The vector destination.
    pub fn vdst(&mut self, inst: &Inst) -> Result<u32> {
        match self.operand(inst, Field::vdst)? {
            Operand::Vgpr { reg, hi: false } => Ok(v_off(usize::from(reg))),
            Operand::Agpr { reg } => Ok(v_off(256 + usize::from(reg))),
            _ => Err(Refusal::Operand),
        }
    }

    // Emitting by shape.

    pub fn un<O: Un>(&mut self, d: u32, a: Src) {
        let h = if a.scalar { un_h::<O, true>(self.backend) } else { un_h::<O, false>(self.backend) };
        self.emit(h, d, a.off, 0, 0, 0);
    }

    pub fn bin<O: Bin>(&mut self, d: u32, a: Src, b: Src) {
        let k = self.backend;
        let b = if a.scalar && b.scalar { Src { off: self.vector(b), scalar: false } } else { b };
        let h = match (a.scalar, b.scalar) {
            (false, false) => bin_h::<O, false, false>(k),
            (true, _) => bin_h::<O, true, false>(k),
            (false, true) => bin_h::<O, false, true>(k),
        };
        self.emit(h, d, a.off, b.off, 0, 0);
    }

    pub fn tri<O: Tri>(&mut self, d: u32, a: Src, b: Src, c: Src) {
        let k = self.backend;
        // One scalar at most.
        let mut s = [a, b, c];
        let mut seen = false;
        for x in &mut s {
            if x.scalar && seen {
                *x = Src { off: self.vector(*x), scalar: false };
            }
            seen |= x.scalar;
        }
        let h = match (s[0].scalar, s[1].scalar, s[2].scalar) {
            (true, _, _) => tri_h::<O, true, false, false>(k),
            (_, true, _) => tri_h::<O, false, true, false>(k),
            (_, _, true) => tri_h::<O, false, false, true>(k),
            _ => tri_h::<O, false, false, false>(k),
        };
        self.tris.push(self.uops.len());
        self.emit(h, d, s[0].off, s[1].off, s[2].off, 0);
    }

    /// `flags`: see `shapes::finish_test`.
    pub fn test<O: Test>(&mut self, d: u32, a: Src, b: Src, x: bool, flags: u64) {
        let k = self.backend;
        let b = if a.scalar && b.scalar { Src { off: self.vector(b), scalar: false } } else { b };
        let h = match (a.scalar, b.scalar, x) {
            (false, false, false) => test_h::<O, false, false, false>(k),
            (true, _, false) => test_h::<O, true, false, false>(k),
            (false, true, false) => test_h::<O, false, true, false>(k),
            (false, false, true) => test_h::<O, false, false, true>(k),
            (true, _, true) => test_h::<O, true, false, true>(k),
            (false, true, true) => test_h::<O, false, true, true>(k),
        };
        self.emit(h, d, a.off, b.off, 0, flags);
    }

    /// 64-bit shapes take scalars and planes alike.
    pub fn wide<O: Wide>(&mut self, d: u32, a: u32, b: u32, c: u32) {
        let k = self.backend;
        let h = match (O::A, O::B, O::C) {
            (64, 0, 0) => wide_h::<O, 64, 0, 0>(k),
            (32, 0, 0) => wide_h::<O, 32, 0, 0>(k),
            (64, 64, 0) => wide_h::<O, 64, 64, 0>(k),
            (64, 32, 0) => wide_h::<O, 64, 32, 0>(k),
            (32, 64, 0) => wide_h::<O, 32, 64, 0>(k),
            (32, 32, 64) => wide_h::<O, 32, 32, 64>(k),
            (64, 32, 64) => wide_h::<O, 64, 32, 64>(k),
            _ => wide_h::<O, 64, 64, 64>(k),
        };
        self.emit(h, d, a, b, c, 0);
    }

    /// `d = (a << b) + c` in 64 bits.
    pub fn shift_add(&mut self, d: u32, a: Src, b: Src, c: Src) {
        let k = self.backend;
        let h = match (a.scalar, b.scalar, c.scalar) {
            (_, false, _) => return self.wide::<LshlAddU64>(d, a.off, b.off, c.off),
            (false, _, false) => shift_add_h::<false, false>(k),
            (false, _, true) => shift_add_h::<false, true>(k),
            (true, _, false) => shift_add_h::<true, false>(k),
            (true, _, true) => shift_add_h::<true, true>(k),
        };
        self.emit(h, d, a.off, b.off, c.off, 0);
    }

    /// Where an f32 result goes before output modifiers, and what to do afterwards.
    pub fn out_f32(&mut self, inst: &Inst) -> Result<Out> {
        self.out(inst, 1)
    }

    /// The same for f64.
    pub fn out_f64(&mut self, inst: &Inst) -> Result<Out> {
        self.out(inst, 2)
    }

    /// The same for a result without float modifiers.
    pub fn out_bits(&mut self, inst: &Inst) -> Result<Out> {
        let mut out = self.out(inst, 1)?;
        (out.omod, out.clamp) = (0, false);
        if out.sdwa.is_none() {
            out.temp = out.dst;
        }
        Ok(out)
    }

    fn out(&mut self, inst: &Inst, planes: usize) -> Result<Out> {
        let dst = self.vdst(inst)?;
        let (omod, clamp) = (inst.get(Field::omod), inst.is(Field::clamp));
        let sdwa = match inst.format() {
            // Some conversions have no destination select.
            Format::Sdwa if inst.raw(Field::dst_sel).is_some_and(|s| s != 6) => {
                Some(inst.get(Field::dst_sel) | inst.get(Field::dst_unused) << 8)
            }
            _ => None,
        };
        let temp = if omod != 0 || clamp || sdwa.is_some() { self.temps(planes) } else { dst };
        Ok(Out { temp, dst, omod, clamp, sdwa })
    }

    /// Applies output modifiers of an f32 result.
    pub fn close_f32(&mut self, out: Out) {
        let t = Src { off: out.temp, scalar: false };
        match out.omod {
            1 => self.un::<Mul2F32>(out.temp, t),
            2 => self.un::<Mul4F32>(out.temp, t),
            3 => self.un::<Div2F32>(out.temp, t),
            _ => {}
        }
        if out.clamp {
            self.un::<ClampF32>(out.temp, t);
        }
        self.close_bits(out);
    }

    /// Moves a result to its place: SDWA selection, end of a DPP mask.
    pub fn close_bits(&mut self, out: Out) {
        let t = Src { off: out.temp, scalar: false };
        if let Some(sdwa) = out.sdwa {
            self.emit(cross::sdwa_store, out.dst, out.temp, 0, 0, u64::from(sdwa));
        } else if out.temp != out.dst {
            self.un::<Mov>(out.dst, t);
        }
        self.unmask();
    }

    /// Applies output modifiers of an f64 result.
    pub fn close_f64(&mut self, out: Out) {
        match out.omod {
            1 => self.wide::<Mul2F64>(out.temp, out.temp, 0, 0),
            2 => self.wide::<Mul4F64>(out.temp, out.temp, 0, 0),
            3 => self.wide::<Div2F64>(out.temp, out.temp, 0, 0),
            _ => {}
        }
        if out.clamp {
            self.wide::<ClampF64>(out.temp, out.temp, 0, 0);
        }
        if out.temp != out.dst {
            self.wide::<Mov64>(out.dst, out.temp, 0, 0);
        }
        self.unmask();
    }
}

/// Where a result goes, and what is still to be done to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    /// The operation writes here.
    pub temp: u32,
    /// The result belongs here.
    pub dst: u32,
    omod: u32,
    clamp: bool,
    sdwa: Option<u32>,
}

/// The modifiers' field of a source.
pub(crate) fn modifiers(field: Field) -> Field {
    match field {
        Field::src0 => Field::src0_modifiers,
        Field::src1 => Field::src1_modifiers,
        _ => Field::src2_modifiers,
    }
}

/// SDWA modifiers are neg and abs (else: sign extension).
fn float_mods(inst: &Inst) -> bool {
    let name = format!("{:?}", inst.op);
    (name.contains("_F32") || name.contains("_F16"))
        && !name.contains("CVT_F32_U")
        && !name.contains("CVT_F32_I")
        && !name.contains("CVT_F16_U")
        && !name.contains("CVT_F16_I")
}
