//! The files of /sys, /proc and /dev that the driver answers, as a list of paths and contents.
//!
//! rj_preload writes the list as a real directory tree and redirects the program there. Only relative links that
//! stay in the tree, as sysfs itself has them. The contents are those of an idle GPU that this process has to itself:
//! memory in use and load are 0, and sensors that an emulator lacks (temperature, fan, power draw) are not there.

mod host;
mod kfd;
mod module;
mod pci;
mod power;

pub use host::Host;

use crate::GpuInstance;
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

/// Everything that exists for these GPUs on this machine, by absolute path.
pub fn tree(gpus: &[GpuInstance]) -> Vec<(PathBuf, Node)> {
    tree_on(gpus, &Host::here())
}

/// As [`tree`], on a machine of which `host` tells.
pub fn tree_on(gpus: &[GpuInstance], host: &Host) -> Vec<(PathBuf, Node)> {
    let mut t = Tree(Vec::new());
    kfd::write(&mut t, gpus, host);
    module::write(&mut t, gpus);
    for gpu in gpus {
        pci::write(&mut t, gpu, host);
        power::write(&mut t, gpu);
    }
    t.0
}

/// The list while it is being made.
struct Tree(Vec<(PathBuf, Node)>);

impl Tree {
    fn file(&mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) {
        self.0.push((path.into(), Node::File(content.into())));
    }

    fn line(&mut self, path: impl Into<PathBuf>, content: impl std::fmt::Display) {
        self.file(path, format!("{content}\n"));
    }

    fn dir(&mut self, path: impl Into<PathBuf>) {
        self.0.push((path.into(), Node::Dir));
    }

    fn link(&mut self, path: impl Into<PathBuf>, to: impl Into<PathBuf>) {
        self.0.push((path.into(), Node::Link(to.into())));
    }

    fn device(&mut self, path: impl Into<PathBuf>, major: u32, minor: u32) {
        self.0.push((path.into(), Node::CharDev { major, minor }));
    }
}
