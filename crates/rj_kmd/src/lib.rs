//! The kernel driver's behaviour: what /dev/kfd, the DRM render nodes and the driver's part of /sys answer.
//!
//! It knows no interposition: rj_preload tells it about opens, ioctls and mappings and passes its answers on.

mod allocs;
mod bell;
mod bo;
pub mod config;
mod dmabuf;
pub mod drm;
pub mod errno;
mod events;
mod gem;
mod heap;
mod host;
pub mod hostfd;
mod kfd;
mod loaded;
pub mod process;
mod raw;
pub mod record;
pub mod sysfs;
pub mod topology;
mod trace;
pub mod user;

pub use config::{Config, ConfigError};
pub use errno::Errno;
pub use process::{FileId, Process};
pub use record::Counts;
pub use topology::{GpuInstance, MemUsage};
