//! The redirected tree: the driver's files of /sys, /proc and /dev as real files under the session's directory.
//!
//! It is written at the first touch of a claimed path, under a temporary name that is renamed when complete, so any
//! number of processes may start at once. Its directory is `$ROCJITSU_RUNTIME_DIR/fs`, with the paths' full names below.

use crate::{init, normal, sys};
use rj_kmd::sysfs::{self, Node};
use rj_kmd::{Config, ConfigError, GpuInstance};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};

/// A device of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Device number.
    pub major: u32,
    /// Device number.
    pub minor: u32,
    /// File system of the file that stands for it.
    pub dev: u64,
    /// Inode of the file that stands for it.
    pub ino: u64,
}

/// The tree of this session.
pub struct Tree {
    /// What the machine is.
    pub config: Config,
    /// Canonical path of the tree, without a slash at its end.
    pub root: Vec<u8>,
    /// Roots that the driver owns beyond `normal::OWNED`.
    more: Vec<Vec<u8>>,
    devices: Vec<Device>,
}

impl Tree {
    /// Where `path` (absolute) is answered from: normal form and real path.
    pub fn redirect(&self, path: &[u8]) -> Option<Vec<u8>> {
        let m = normal::find(path, |p| {
            normal::OWNED.contains(&p)
                || p.starts_with(normal::OWNED_BY_START)
                || self.more.iter().any(|m| m.as_slice() == p)
        })?;
        Some([&self.root, m.path()].concat())
    }

    /// The claimed path behind a real one.
    pub fn claimed<'a>(&self, real: &'a [u8]) -> Option<&'a [u8]> {
        real.strip_prefix(self.root.as_slice()).filter(|rest| rest.first() == Some(&b'/'))
    }

    /// Some device has this inode; the caller knows the file system.
    pub fn is_device_inode(&self, ino: u64) -> bool {
        self.devices.iter().any(|d| d.ino == ino)
    }

    /// The device that this file stands for.
    #[inline]
    pub fn device(&self, dev: u64, ino: u64) -> Option<Device> {
        self.devices.iter().find(|d| d.ino == ino && d.dev == dev).copied()
    }
}

// 0 untouched, 1 being built, 2 there, 3 there is none.
static STAGE: AtomicU32 = AtomicU32::new(0);
static BUILDER: AtomicI32 = AtomicI32::new(0);
static BUILDER_PID: AtomicI32 = AtomicI32::new(0);
static TREE: AtomicPtr<Tree> = AtomicPtr::new(std::ptr::null_mut());

/// The tree if this process has touched it already.
#[inline]
pub fn ready() -> Option<&'static Tree> {
    let p = TREE.load(Ordering::Acquire);
    // SAFETY: once set it is never freed or changed.
    unsafe { p.as_ref() }
}

/// The tree, made now if need be; none without a configuration.
pub fn get() -> Option<&'static Tree> {
    loop {
        match STAGE.load(Ordering::Acquire) {
            2 => return ready(),
            3 => return None,
            0 => {
                if STAGE.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                    continue;
                }
                BUILDER_PID.store(sys::getpid(), Ordering::Relaxed);
                BUILDER.store(sys::gettid(), Ordering::Release);
                let errno = sys::errno();
                let made = make();
                let there = made.is_some();
                if let Some(tree) = made {
                    TREE.store(Box::into_raw(Box::new(tree)), Ordering::Release);
                }
                BUILDER.store(0, Ordering::Release);
                STAGE.store(if there { 2 } else { 3 }, Ordering::Release);
                sys::set_errno(errno);
            }
            _ => {
                let builder = BUILDER.load(Ordering::Acquire);
                if builder == sys::gettid() {
                    // The builder itself looks at the host's files.
                    return None;
                }
                if builder != 0 && BUILDER_PID.load(Ordering::Relaxed) != sys::getpid() {
                    // A fork's child whose parent was building.
                    STAGE.store(0, Ordering::Release);
                }
                sys::yield_now();
            }
        }
    }
}

fn make() -> Option<Tree> {
    let runtime = init::RUNTIME_DIR.get()?;
    let (config, gpus) = match config(runtime) {
        Ok(found) => found?,
        Err(why) => {
            sys::say(&format!("no GPU: {why}"));
            return None;
        }
    };
    match build(runtime, config, &gpus) {
        Ok(tree) => Some(tree),
        Err((what, e)) => {
            sys::say(&format!("no GPU: cannot write {}: {e}", what.display()));
            None
        }
    }
}

/// The session's configuration; none if there is no session (no `config_path`).
fn config(runtime: &Path) -> Result<Option<(Config, Vec<GpuInstance>)>, String> {
    let pointer = runtime.join("config_path");
    let line = match std::fs::read(&pointer) {
        Ok(bytes) => bytes,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => return Err(format!("cannot read {}: {e}", pointer.display())),
    };
    let line = line.split(|&c| c == b'\n').next().unwrap_or_default();
    let path = runtime.join(std::ffi::OsStr::from_bytes(line.strip_suffix(b"\r").unwrap_or(line)));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let read = || {
        let config = Config::parse(&text)?;
        let gpus = GpuInstance::all_of(&config)?;
        Ok((config, gpus))
    };
    read().map(Some).map_err(|e: ConfigError| format!("{}: {e}", path.display()))
}

type Failed = (PathBuf, io::Error);

fn build(runtime: &Path, config: Config, gpus: &[GpuInstance]) -> Result<Tree, Failed> {
    let nodes = sysfs::tree(gpus);
    let root = runtime.join("fs");
    if !root.is_dir() {
        let temporary = runtime.join(format!(".fs-{}", sys::getpid()));
        let written =
            write(&temporary, &nodes).and_then(|()| std::fs::rename(&temporary, &root).map_err(|e| (root.clone(), e)));
        if let Err(failed) = written {
            let _ = std::fs::remove_dir_all(&temporary);
            // Another process was faster: its tree is the same.
            if !root.is_dir() {
                return Err(failed);
            }
        }
    }
    let root = root.canonicalize().map_err(|e| (root, e))?;
    let mut devices = Vec::new();
    for (path, node) in &nodes {
        if let Node::CharDev { major, minor } = node {
            let real = below(&root, path);
            let meta = std::fs::metadata(&real).map_err(|e| (real, e))?;
            devices.push(Device { major: *major, minor: *minor, dev: meta.dev(), ino: meta.ino() });
        }
    }
    let mut more: Vec<Vec<u8>> = Vec::new();
    for (path, _) in &nodes {
        if let Some(owned) = owned_beyond(path).filter(|o| !more.contains(o)) {
            more.push(owned);
        }
    }
    Ok(Tree { config, root: root.into_os_string().into_vec(), more, devices })
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The shortest beginning of `path` that the host does not have, unless a static root owns it already.
fn owned_beyond(path: &Path) -> Option<Vec<u8>> {
    let bytes = path.as_os_str().as_bytes();
    if normal::find(bytes, |p| normal::OWNED.contains(&p) || p.starts_with(normal::OWNED_BY_START)).is_some() {
        return None;
    }
    let mut all: Vec<&Path> = path.ancestors().filter(|a| a.parent().is_some()).collect();
    all.reverse();
    let first = all.iter().find(|a| std::fs::symlink_metadata(a).is_err()).copied().unwrap_or(path);
    Some(first.as_os_str().as_bytes().to_vec())
}

fn write(root: &Path, nodes: &[(PathBuf, Node)]) -> Result<(), Failed> {
    let mkdir = |p: &Path| std::fs::create_dir_all(p).map_err(|e| (p.to_owned(), e));
    mkdir(root)?;
    for (path, node) in nodes {
        let real = below(root, path);
        if let Some(parent) = real.parent() {
            mkdir(parent)?;
        }
        let done = match node {
            Node::Dir => std::fs::create_dir_all(&real),
            Node::Link(to) => symlink(to, &real),
            Node::CharDev { .. } => file(&real, b"", 0o666),
            Node::File(content) if path == Path::new("/proc/modules") => {
                let host = std::fs::read(path).unwrap_or_default();
                file(&real, &[content.as_slice(), &host].concat(), 0o444)
            }
            Node::File(content) => file(&real, content, 0o444),
        };
        done.map_err(|e| (real, e))?;
    }
    host_links(root, Path::new("/sys/bus/pci/devices"))
}

fn file(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut f = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    io::Write::write_all(&mut f, content)?;
    // Whatever the program's umask is.
    f.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Links to the host's entries of a directory that the driver shares with others.
fn host_links(root: &Path, dir: &Path) -> Result<(), Failed> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(()) };
    let into = below(root, dir);
    std::fs::create_dir_all(&into).map_err(|e| (into.clone(), e))?;
    for entry in entries.flatten() {
        if let Ok(target) = entry.path().canonicalize() {
            let link = into.join(entry.file_name());
            if link.symlink_metadata().is_err() {
                symlink(target, &link).map_err(|e| (link, e))?;
            }
        }
    }
    Ok(())
}
