//! Which fds are open device files. Read without a lock by every ioctl, mmap and close; changed under one.
//!
//! The real fd is an O_PATH fd of the device's file in the tree: it dups, forks, passes over sockets and closes on
//! exec as any other, and the kernel answers EBADF to whatever does not come through here, as KFD does to a process
//! that is not the opener.

use crate::{claims, sys, tree};
use libc::c_int;
use rj_kmd::{FileId, Process};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const PER_BLOCK: usize = 1024;
const BLOCKS: usize = 1024;

type Block = [AtomicU32; PER_BLOCK];

/// The table: fd → file + 1, in blocks made on demand.
pub struct Fds {
    blocks: &'static [AtomicPtr<Block>; BLOCKS],
    uses: Mutex<BTreeMap<FileId, usize>>,
}

impl Fds {
    /// An empty table.
    pub fn new() -> Option<Fds> {
        let at = sys::map_anon(size_of::<[AtomicPtr<Block>; BLOCKS]>())?;
        // SAFETY: zeroed memory of that size is a table of null pointers; it is never unmapped.
        Some(Fds { blocks: unsafe { &*at.cast() }, uses: Mutex::default() })
    }

    fn slot(&self, fd: c_int, make: bool) -> Option<&AtomicU32> {
        let fd = usize::try_from(fd).ok()?;
        let block = self.blocks.get(fd / PER_BLOCK)?;
        let mut p = block.load(Ordering::Acquire);
        if p.is_null() && make {
            let fresh = sys::map_anon(size_of::<Block>())?.cast::<Block>();
            // Only called with `uses` held.
            block.store(fresh, Ordering::Release);
            p = fresh;
        }
        // SAFETY: a zeroed block, never unmapped.
        Some(&unsafe { p.as_ref() }?[fd % PER_BLOCK])
    }

    /// The file behind `fd`, if it is a device.
    #[inline]
    pub fn file(&self, fd: c_int) -> Option<FileId> {
        self.slot(fd, false)?.load(Ordering::Acquire).checked_sub(1).map(FileId)
    }

    /// The file behind `fd`, after a look at the fd itself: a program may close fds in ways that no libc call shows.
    pub fn verified(&self, fd: c_int, process: &Process) -> Option<FileId> {
        let file = self.file(fd)?;
        let same = claims::stat_fd(fd).zip(tree::ready()).and_then(|(st, tree)| tree.device(st.st_dev, st.st_ino));
        if same.is_none() {
            self.remove(fd, process);
            return None;
        }
        Some(file)
    }

    /// `fd` is now open on `file`.
    pub fn add(&self, fd: c_int, file: FileId, process: &Process) {
        self.remove(fd, process);
        let mut uses = self.lock();
        if let Some(slot) = self.slot(fd, true) {
            slot.store(file.0 + 1, Ordering::Release);
            *uses.entry(file).or_insert(0) += 1;
        }
    }

    /// `fd` is about to be closed. The file's last one closes the file.
    pub fn remove(&self, fd: c_int, process: &Process) {
        let mut uses = self.lock();
        let Some(slot) = self.slot(fd, false) else { return };
        let Some(file) = slot.swap(0, Ordering::AcqRel).checked_sub(1).map(FileId) else { return };
        let left = uses.get_mut(&file).map_or(0, |n| {
            *n -= 1;
            *n
        });
        if left == 0 {
            uses.remove(&file);
            drop(uses);
            process.close(file);
        }
    }

    /// All device fds in `first..=last`.
    pub fn between(&self, first: u32, last: u32) -> Vec<c_int> {
        let _held = self.lock();
        let mut found = Vec::new();
        for (b, block) in self.blocks.iter().enumerate() {
            // SAFETY: as in `slot`.
            let Some(block) = (unsafe { block.load(Ordering::Acquire).as_ref() }) else { continue };
            for (i, slot) in block.iter().enumerate() {
                let fd = (b * PER_BLOCK + i) as u32;
                if (first..=last).contains(&fd) && slot.load(Ordering::Acquire) != 0 {
                    found.push(fd as c_int);
                }
            }
        }
        found
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<FileId, usize>> {
        self.uses.lock().unwrap_or_else(|e| e.into_inner())
    }
}
