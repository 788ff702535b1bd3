//! The steps of a division: `v_div_scale`, `v_div_fmas`; and the carry of 64-bit multiply-add.
//!
//! Rules from the CDNA3 ISA manual with the corrections of isa/semantics-notes (hardware-checked by others): VCC is set
//! exactly where a quotient needs scaling; fmas scales by 2^±64 (f64: 2^±128).

use crate::uop::{NEXT, Uop, at, wr64};
use crate::wave::{VCC, Wave};

fn f(x: u32) -> f32 {
    f32::from_bits(x)
}
fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

/// One lane of `v_div_scale_f32`: which operand (`s0` is the denominator `s1` or the numerator `s2`), result and flag.
fn scale32(s0: u32, s1: u32, s2: u32) -> (u32, bool) {
    let exp = |x: u32| (x >> 23 & 0xff).cast_signed();
    let up = |x: u32| (f(x) * f(0x5f80_0000)).to_bits();
    let (den, num) = (f(s1), f(s2));
    if den == 0.0 || num == 0.0 {
        return (0x7fc0_0000, false);
    }
    if exp(s2) - exp(s1) >= 96 {
        // The quotient would overflow: scale the denominator up.
        return (if s0 == s1 { up(s0) } else { s0 }, true);
    }
    if den.is_subnormal() {
        return (up(s0), false);
    }
    let (rcp_sub, quo_sub) = ((1.0 / f64::from(den)).abs() < f64::from(f32::MIN_POSITIVE), {
        (f64::from(num) / f64::from(den)).abs() < f64::from(f32::MIN_POSITIVE)
    });
    if rcp_sub && quo_sub {
        return (if s0 == s1 { up(s0) } else { s0 }, true);
    }
    if rcp_sub {
        return (up(s0), false);
    }
    if quo_sub {
        return (if s0 == s2 { up(s0) } else { s0 }, true);
    }
    if exp(s2) <= 23 {
        return (up(s0), false);
    }
    (s0, false)
}

fn scale64(s0: u64, s1: u64, s2: u64) -> (u64, bool) {
    let exp = |x: u64| (x >> 52 & 0x7ff) as i32;
    let up = |x: u64| (d(x) * d((1023 + 128) << 52)).to_bits();
    let (den, num) = (d(s1), d(s2));
    if den == 0.0 || num == 0.0 {
        return (0x7ff8_0000_0000_0000, false);
    }
    if exp(s2) - exp(s1) >= 768 {
        return (if s0 == s1 { up(s0) } else { s0 }, true);
    }
    if den.is_subnormal() {
        return (up(s0), false);
    }
    let rcp_sub = (1.0 / den).abs() < f64::MIN_POSITIVE;
    let quo_sub = (num / den).abs() < f64::MIN_POSITIVE;
    if rcp_sub && quo_sub {
        return (if s0 == s1 { up(s0) } else { s0 }, true);
    }
    if rcp_sub {
        return (up(s0), false);
    }
    if quo_sub {
        return (if s0 == s2 { up(s0) } else { s0 }, true);
    }
    if exp(s2) <= 53 {
        return (up(s0), false);
    }
    (s0, false)
}

unsafe fn quad(w: *mut Wave, off: u32, i: usize) -> u64 {
    // SAFETY: the handler's contract.
    unsafe {
        let p = at(w, off);
        u64::from(p.add(i).read()) | u64::from(p.add(64 + i).read()) << 32
    }
}

unsafe fn set_quad(w: *mut Wave, off: u32, i: usize, x: u64) {
    // SAFETY: the handler's contract.
    unsafe {
        let p = at(w, off);
        p.add(i).write(x as u32);
        p.add(64 + i).write((x >> 32) as u32);
    }
}

/// Calls `f` for each active lane.
unsafe fn active(w: *mut Wave, mut f: impl FnMut(usize)) {
    // SAFETY: the handler's contract.
    let exec = unsafe { (*w).exec() };
    (0..64).filter(|i| exec >> i & 1 != 0).for_each(&mut f);
}

/// `v_div_scale_f32`: planes a, b, c; mask to the scalar pair imm.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn div_scale_f32(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let mut mask = 0u64;
        active(w, |i| {
            let (r, c) = scale32(at(w, u.a).add(i).read(), at(w, u.b).add(i).read(), at(w, u.c).add(i).read());
            at(w, u.d).add(i).write(r);
            mask |= u64::from(c) << i;
        });
        wr64(w, u.imm as u32, mask);
        NEXT
    }
}

/// `v_div_scale_f64`.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn div_scale_f64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let mut mask = 0u64;
        active(w, |i| {
            let (r, c) = scale64(quad(w, u.a, i), quad(w, u.b, i), quad(w, u.c, i));
            set_quad(w, u.d, i, r);
            mask |= u64::from(c) << i;
        });
        wr64(w, u.imm as u32, mask);
        NEXT
    }
}

/// `v_div_fmas_f32`: a b + c, scaled where VCC says so.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn div_fmas_f32(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let vcc = (*w).get64(VCC);
        active(w, |i| {
            let (a, b, c) = (at(w, u.a).add(i).read(), at(w, u.b).add(i).read(), at(w, u.c).add(i).read());
            let mut r = f(a).mul_add(f(b), f(c));
            if vcc >> i & 1 != 0 {
                r *= if c >> 23 & 0xff > 127 { f(0x5f80_0000) } else { f(0x1f80_0000) };
            }
            at(w, u.d).add(i).write(r.to_bits());
        });
        NEXT
    }
}

/// `v_div_fmas_f64`.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn div_fmas_f64(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let vcc = (*w).get64(VCC);
        active(w, |i| {
            let (a, b, c) = (quad(w, u.a, i), quad(w, u.b, i), quad(w, u.c, i));
            let mut r = d(a).mul_add(d(b), d(c));
            if vcc >> i & 1 != 0 {
                r *= if c >> 52 & 0x7ff > 1023 { d((1023 + 128) << 52) } else { d((1023 - 128) << 52) };
            }
            set_quad(w, u.d, i, r.to_bits());
        });
        NEXT
    }
}

/// The carry (imm 0) or signed overflow (imm 1) of a b + c to the scalar pair d.
///
/// # Safety
/// As for [`crate::uop::Handler`].
pub unsafe fn mad64_carry(u: *const Uop, w: *mut Wave) -> u32 {
    // SAFETY: the handler's contract.
    unsafe {
        let u = &*u;
        let mut mask = 0u64;
        active(w, |i| {
            let (a, b, c) = (at(w, u.a).add(i).read(), at(w, u.b).add(i).read(), quad(w, u.c, i));
            let over = if u.imm == 0 {
                (u64::from(a) * u64::from(b)).overflowing_add(c).1
            } else {
                let p = i64::from(a.cast_signed()) * i64::from(b.cast_signed());
                p.overflowing_add(c.cast_signed()).1
            };
            mask |= u64::from(over) << i;
        });
        wr64(w, u.d, mask);
        NEXT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_flags_quotients_that_leave_the_range() {
        let b = |x: f32| x.to_bits();
        assert_eq!(scale32(b(3.0), b(3.0), b(7.0)), (b(3.0), false));
        assert!(scale32(b(1e-38), b(1e-38), b(1e30)).1);
        assert!(scale32(b(1e38), b(1e38), b(1e-10)).1);
        assert_eq!(scale32(b(0.0), b(0.0), b(1.0)), (0x7fc0_0000, false));
    }
}
