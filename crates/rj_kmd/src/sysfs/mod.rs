//! The files of /sys, /proc and /dev that the driver answers, as a list of paths and contents.
//!
//! rj_preload writes the list as a real directory tree and redirects the program there. Only relative links that
//! stay in the tree, as sysfs itself has them.

use crate::Config;
use std::path::PathBuf;

/// One entry of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A file with this content.
    File(Vec<u8>),
    /// A directory; parents of other entries need not be listed.
    Dir,
    /// A symbolic link.
    Link(PathBuf),
    /// A device that can be opened.
    CharDev {
        /// Device number's major part.
        major: u32,
        /// Device number's minor part.
        minor: u32,
    },
}

/// Major device number of /dev/kfd (the kernel picks one; programs do not rely on it).
pub const KFD_MAJOR: u32 = 511;
/// Major device number of DRM.
pub const DRM_MAJOR: u32 = 226;

/// Everything that exists for the configured GPUs, by absolute path.
pub fn tree(cfg: &Config) -> Vec<(PathBuf, Node)> {
    let mut out = vec![
        (PathBuf::from("/dev/kfd"), Node::CharDev { major: KFD_MAJOR, minor: 0 }),
        (PathBuf::from("/sys/devices/virtual/kfd/kfd/topology/generation_id"), Node::File(b"1\n".to_vec())),
        (PathBuf::from("/sys/class/kfd/kfd"), Node::Link("../../devices/virtual/kfd/kfd".into())),
        (PathBuf::from("/sys/module/amdgpu/initstate"), Node::File(b"live\n".to_vec())),
    ];
    for i in 0..cfg.num_gpus {
        out.push((format!("/dev/dri/card{i}").into(), Node::CharDev { major: DRM_MAJOR, minor: i }));
        out.push((format!("/dev/dri/renderD{}", 128 + i).into(), Node::CharDev { major: DRM_MAJOR, minor: 128 + i }));
    }
    out
}
