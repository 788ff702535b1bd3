//! What amdgpu's DRM node answers to questions about the GPU, as the bytes of the kernel's structs.
//!
//! All but [`ioctl`] are pure functions: no file, no memory object, no pointer of the program.

mod bytes;
mod device;
mod info;
pub mod ioctl;
mod query;

pub use info::{gb_addr_config, info, info_on};
pub use query::query_name;

/// Driver name of DRM_IOCTL_VERSION.
pub const NAME: &str = "amdgpu";
/// Driver date of DRM_IOCTL_VERSION.
pub const DATE: &str = "20150101";
/// Driver description of DRM_IOCTL_VERSION.
pub const DESCRIPTION: &str = "AMD GPU";
/// Version of DRM_IOCTL_VERSION: major, minor, patch level. 3.61 is Linux 6.13's: the AMDGPU_INFO queries and struct
/// sizes here are of that age.
pub const VERSION: (i32, i32, i32) = (3, 61, 0);

/// Size of the kernel's `struct drm_amdgpu_info`, bytes: what [`info`] reads of its request.
pub const INFO_SIZE: usize = 32;

/// `struct drm_client` as DRM_IOCTL_GET_CLIENT answers for the first client; others do not exist (EINVAL). Its `auth`
/// is 1, as on a render node. 40 bytes.
pub fn client(pid: u32, uid: u32) -> Vec<u8> {
    let mut b = bytes::Bytes::default();
    b.u32(0).u32(1).u64(u64::from(pid)).u64(u64::from(uid)).u64(0).u64(0);
    b.finish()
}

/// The part of an answer that the program has room for, by its `return_size`. The kernel copies the smaller of both
/// and leaves the rest of a larger buffer alone.
pub fn truncated<'a>(answer: &'a [u8], request: &[u8]) -> &'a [u8] {
    let room = query::Request::read(request).map_or(0, |r| r.return_size as usize);
    &answer[..room.min(answer.len())]
}
