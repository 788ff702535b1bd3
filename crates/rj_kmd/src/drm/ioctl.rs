//! The DRM ioctls that only ask: version, client, capabilities, AMDGPU_INFO. Memory objects have their own.

use super::bytes::u64_at;
use super::{DATE, DESCRIPTION, INFO_SIZE, NAME, VERSION, client, info, query_name, truncated};
use crate::{Errno, GpuInstance, MemUsage, user};

/// Numbers of the ioctls (drm.h, amdgpu_drm.h), bits 7:0 of a command.
pub mod nr {
    /// DRM_IOCTL_VERSION.
    pub const VERSION: u64 = 0x00;
    /// DRM_IOCTL_GET_CLIENT.
    pub const GET_CLIENT: u64 = 0x05;
    /// DRM_IOCTL_GET_CAP.
    pub const GET_CAP: u64 = 0x0c;
    /// DRM_IOCTL_AMDGPU_INFO.
    pub const AMDGPU_INFO: u64 = 0x45;
}

/// What an ioctl came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, or refused as the driver would refuse it.
    Done(Result<i32, Errno>),
    /// Refused because we lack it: record this name.
    Unknown(String, Errno),
    /// Not one of these ioctls.
    Other,
}

/// Answers the ioctl `cmd` with the program's argument at address `arg`, if it only asks.
pub fn ioctl(gpu: &GpuInstance, usage: &MemUsage, cmd: u64, arg: u64) -> Answer {
    match cmd & 0xff {
        nr::VERSION => Answer::Done(version(arg)),
        nr::GET_CLIENT => Answer::Done(get_client(arg)),
        nr::GET_CAP => get_cap(arg),
        nr::AMDGPU_INFO => amdgpu_info(gpu, usage, arg),
        _ => Answer::Other,
    }
}

/// `struct drm_version`: three ints, then three lengths with pointers. A length that is too small cuts the text; each
/// becomes the text's own.
fn version(arg: u64) -> Result<i32, Errno> {
    let mut v = [0u8; 64];
    user::read(arg, &mut v)?;
    for (at, n) in [(0, VERSION.0), (4, VERSION.1), (8, VERSION.2)] {
        v[at..at + 4].copy_from_slice(&n.to_le_bytes());
    }
    for (at, text) in [(16, NAME), (32, DATE), (48, DESCRIPTION)] {
        let (room, to) = (u64_at(&v, at), u64_at(&v, at + 8));
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(text.len());
        if to != 0 {
            user::write(to, &text.as_bytes()[..fits])?;
        }
        v[at..at + 8].copy_from_slice(&(text.len() as u64).to_le_bytes());
    }
    user::write(arg, &v)?;
    Ok(0)
}

/// Only client 0 exists: the asking one.
fn get_client(arg: u64) -> Result<i32, Errno> {
    let mut index = [0u8; 4];
    user::read(arg, &mut index)?;
    if index != [0; 4] {
        return Err(Errno::EINVAL);
    }
    // SAFETY: getuid takes nothing and cannot fail.
    let uid = unsafe { libc::getuid() };
    user::write(arg, &client(std::process::id(), uid))?;
    Ok(0)
}

/// `struct drm_get_cap`: capability, value. Buffer sharing both ways; no display, no synchronisation objects.
fn get_cap(arg: u64) -> Answer {
    let mut c = [0u8; 16];
    if let Err(e) = user::read(arg, &mut c) {
        return Answer::Done(Err(e));
    }
    let value: u64 = match u64_at(&c, 0) {
        // DRM_CAP_PRIME: import and export.
        5 => 3,
        // DUMB_BUFFER, VBLANK_HIGH_CRTC, ASYNC_PAGE_FLIP, ADDFB2_MODIFIERS, SYNCOBJ, SYNCOBJ_TIMELINE.
        1 | 2 | 7 | 0x10 | 0x13 | 0x14 => 0,
        // TIMESTAMP_MONOTONIC.
        6 => 1,
        n => return Answer::Unknown(format!("DRM_IOCTL_GET_CAP {n:#x}"), Errno::EINVAL),
    };
    Answer::Done(user::write(arg.wrapping_add(8), &value.to_le_bytes()).map(|()| 0))
}

fn amdgpu_info(gpu: &GpuInstance, usage: &MemUsage, arg: u64) -> Answer {
    let mut request = [0u8; INFO_SIZE];
    if let Err(e) = user::read(arg, &mut request) {
        return Answer::Done(Err(e));
    }
    match info(gpu, usage, &request) {
        Ok(answer) => Answer::Done(user::write(u64_at(&request, 0), truncated(&answer, &request)).map(|()| 0)),
        Err(e) => Answer::Unknown(query_name(&request), e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu() -> GpuInstance {
        GpuInstance { gpu: rj_hw::find("MI210").unwrap(), index: 0 }
    }

    fn ask(cmd: u64, arg: &mut [u8]) -> Answer {
        ioctl(&gpu(), &MemUsage::default(), cmd, arg.as_mut_ptr() as u64)
    }

    /// libdrm asks twice: for the lengths, then with room for the texts.
    #[test]
    fn the_version_says_how_long_its_texts_are_and_fills_what_fits() {
        let mut v = [0u8; 64];
        assert_eq!(ask(nr::VERSION, &mut v), Answer::Done(Ok(0)));
        assert_eq!((u64_at(&v, 16), u64_at(&v, 32), u64_at(&v, 48)), (6, 8, 7));
        let mut name = *b"........";
        v[16..24].copy_from_slice(&3u64.to_le_bytes());
        v[24..32].copy_from_slice(&(name.as_mut_ptr() as u64).to_le_bytes());
        assert_eq!(ask(nr::VERSION, &mut v), Answer::Done(Ok(0)));
        assert_eq!(&name, b"amd.....");
        assert_eq!((i32::from(v[0]), i32::from(v[4])), (VERSION.0, VERSION.1));
    }

    #[test]
    fn there_is_one_client_and_it_is_authenticated() {
        let mut c = [0u8; 40];
        assert_eq!(ask(nr::GET_CLIENT, &mut c), Answer::Done(Ok(0)));
        assert_eq!(c[4], 1);
        assert_eq!(u64_at(&c, 8), u64::from(std::process::id()));
        c[0] = 1;
        assert_eq!(ask(nr::GET_CLIENT, &mut c), Answer::Done(Err(Errno::EINVAL)));
    }

    #[test]
    fn an_info_answer_goes_where_the_program_wants_it() {
        let mut accel = [0xaau8; 8];
        let mut request = [0u8; INFO_SIZE];
        request[..8].copy_from_slice(&(accel.as_mut_ptr() as u64).to_le_bytes());
        request[8] = 8;
        assert_eq!(ask(nr::AMDGPU_INFO, &mut request), Answer::Done(Ok(0)));
        // Four bytes are the answer, the others stay.
        assert_eq!(accel, [1, 0, 0, 0, 0xaa, 0xaa, 0xaa, 0xaa]);
        request[12] = 0x77;
        let unknown = Answer::Unknown("AMDGPU_INFO query 0x77".into(), Errno::EINVAL);
        assert_eq!(ask(nr::AMDGPU_INFO, &mut request), unknown);
    }

    #[test]
    fn other_ioctls_are_left_to_others_and_bad_pointers_are_faults() {
        assert_eq!(ask(0x41, &mut [0; 8]), Answer::Other);
        assert_eq!(ioctl(&gpu(), &MemUsage::default(), nr::AMDGPU_INFO, 16), Answer::Done(Err(Errno::EFAULT)));
        let mut cap = [0u8; 16];
        cap[0] = 0x99;
        assert_eq!(ask(nr::GET_CAP, &mut cap), Answer::Unknown("DRM_IOCTL_GET_CAP 0x99".into(), Errno::EINVAL));
    }
}
