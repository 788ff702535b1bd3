//! Versions, clocks, apertures, modes.

use super::{Args, gpu};
use crate::process::{Driver, State};
use crate::{Errno, drm, raw, user};

/// Version 1.17 (rocm/README: below 1.16 virtual-memory management breaks).
pub fn version(a: &mut Args) -> Result<(), Errno> {
    a.set32(0, 1);
    a.set32(4, 17);
    Ok(())
}

/// Ioctls that set what has no effect on the engine's behaviour: caching, the trap handler's code (its effect is
/// produced, its code never runs), the place of scratch (queues carry it), the VM (the process has one anyway).
pub fn accept(driver: &Driver, name: &str, a: &Args) -> Result<(), Errno> {
    let at = match name {
        "ACQUIRE_VM" => 4,
        "SET_SCRATCH_BACKING_VA" => 8,
        _ => 16,
    };
    gpu(driver, a.u32(at)).map(|_| ())
}

/// GPU clock at 100 MHz, CPU clocks in nanoseconds.
pub fn clocks(driver: &Driver, a: &mut Args) -> Result<(), Errno> {
    // Id 0 asks for the CPU's clocks alone.
    if a.u32(32) != 0 {
        gpu(driver, a.u32(32))?;
    }
    a.set64(0, raw::gpu_clock());
    a.set64(8, raw::clock_ns(libc::CLOCK_MONOTONIC_RAW));
    a.set64(16, raw::clock_ns(libc::CLOCK_BOOTTIME));
    a.set64(24, 1_000_000_000);
    Ok(())
}

/// `struct kfd_process_device_apertures` (engine-abi §6): the same for every GPU.
fn aperture(id: u32) -> [u8; 56] {
    let mut b = [0; 56];
    let fields: [u64; 7] = [
        1 << 48,
        (1 << 48) + 0xffff_ffff,
        2 << 48,
        (2 << 48) + 0xffff_ffff,
        0x20_0000,
        0x7fff_ffff_ffff,
        u64::from(id),
    ];
    for (i, f) in fields.iter().enumerate() {
        b[8 * i..8 * i + 8].copy_from_slice(&f.to_le_bytes());
    }
    b
}

/// How many GPUs there are (asked with 0), or their apertures.
pub fn apertures(driver: &Driver, a: &mut Args) -> Result<(), Errno> {
    let (to, room) = (a.u64(0), a.u32(8) as usize);
    let n = driver.gpus.len();
    a.set32(8, n as u32);
    if room == 0 {
        return Ok(());
    }
    if to == 0 {
        return Err(Errno::EINVAL);
    }
    let n = n.min(room);
    a.set32(8, n as u32);
    let all: Vec<u8> = driver.gpus[..n].iter().flat_map(|g| aperture(g.gpu_id())).collect();
    user::write(to, &all)
}

/// The older form: room for seven in the argument itself.
pub fn apertures_old(driver: &Driver, arg: u64, room: usize) -> Result<i32, Errno> {
    let mut b = vec![0u8; 7 * 56 + 8];
    let n = driver.gpus.len().min(7);
    for (i, g) in driver.gpus[..n].iter().enumerate() {
        b[56 * i..56 * (i + 1)].copy_from_slice(&aperture(g.gpu_id()));
    }
    b[392..396].copy_from_slice(&(n as u32).to_le_bytes());
    let n = b.len().min(room);
    user::write(arg, &b[..n]).map(|()| 0)
}

/// Tiling is of no use to compute; gfx9 and later report zeros, and the one register that DRM tells, too.
pub fn tiles(driver: &Driver, a: &mut Args) -> Result<(), Errno> {
    let gpu = gpu(driver, a.u32(24))?;
    for (at, count, most) in [(0, 16, 32u32), (8, 20, 16)] {
        let n = a.u32(count).min(most);
        if n > 0 {
            user::write(a.u64(at), &vec![0; 4 * n as usize])?;
        }
        a.set32(count, n);
    }
    a.set32(28, drm::gb_addr_config(driver.gpus[gpu].gpu.target));
    a.set32(32, 0);
    a.set32(36, 0);
    Ok(())
}

/// XNACK is off and stays off (engine-abi §13).
pub fn xnack(a: &mut Args) -> Result<(), Errno> {
    match a.u32(0).cast_signed() {
        n if n < 0 => {
            a.set32(0, 0);
            Ok(())
        }
        0 => Ok(()),
        _ => Err(Errno::EPERM),
    }
}

/// RUNTIME_ENABLE: errors go to the exception payload from now on. Core dumps are the driver's (bit 31): ROCr then
/// writes none of its own.
pub fn runtime(driver: &Driver, state: &mut State, a: &mut Args) -> Result<(), Errno> {
    state.exceptions = a.u32(8) & 1 != 0;
    driver.shared.r_debug.store(a.u64(0), std::sync::atomic::Ordering::Relaxed);
    a.set32(12, 0x8000_0000);
    Ok(())
}
