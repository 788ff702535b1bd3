//! Buffer objects: the bytes behind KFD handles, GEM handles and DMA-bufs, counted.
//!
//! An object is named by its GPU and by the offset at which the GPU's render node maps it: the offset in the GPU's
//! heap, or for another process's object a number past all heaps.

use crate::dmabuf::{self, Name};
use crate::process::{Driver, State};
use crate::{Errno, hostfd, raw};
use std::os::fd::RawFd;

/// Bytes of `struct drm_amdgpu_gem_metadata` after handle and operation: flags, tiling, length, 64 dwords, padding.
pub const METADATA: usize = 280;
/// Offsets of other processes' objects begin here.
const FOREIGN: u64 = 1 << 45;
/// KFD_IOC_ALLOC_MEM_FLAGS_VRAM.
pub const VRAM: u32 = 1;

/// A buffer object's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoId {
    /// Index of the GPU.
    pub gpu: usize,
    /// Offset for the render node's mmap.
    pub off: u64,
}

/// A buffer object.
#[derive(Debug)]
pub struct Bo {
    /// Bytes, a multiple of a page.
    pub size: u64,
    /// KFD_IOC_ALLOC_MEM_FLAGS.
    pub flags: u32,
    /// Metadata that the program attached.
    pub metadata: Option<Box<[u8; METADATA]>>,
    refs: u32,
    exported: bool,
    /// A DMA-buf fd that holds the metadata.
    kept: Option<RawFd>,
    foreign: Option<Foreign>,
}

/// Another process's object.
#[derive(Debug)]
struct Foreign {
    name: Name,
    fd: RawFd,
    host: usize,
}

impl State {
    /// A new object of zeros, with one reference.
    pub fn bo_alloc(&mut self, driver: &Driver, g: usize, size: u64, flags: u32) -> Result<BoId, Errno> {
        self.reap(driver);
        let vram = flags & VRAM != 0;
        let limit = if vram { driver.gpus[g].gpu.vram.bytes } else { driver.gtt_bytes };
        let used = if vram { self.usage[g].vram } else { self.gtt_used() };
        used.checked_add(size).filter(|n| *n <= limit).ok_or(Errno::ENOMEM)?;
        if !vram {
            self.pinnable(driver, size)?;
        }
        let off = self.heap(driver, g)?.alloc(size).ok_or(Errno::ENOMEM)?;
        *self.used(g, vram) += size;
        let id = BoId { gpu: g, off };
        self.bos.insert(id, Bo { size, flags, metadata: None, refs: 1, exported: false, kept: None, foreign: None });
        Ok(id)
    }

    /// System memory is one for all GPUs.
    fn gtt_used(&self) -> u64 {
        self.usage.iter().map(|u| u.gtt).sum()
    }

    /// ENOMEM if GPUs would hold more system memory than the host can spare.
    pub fn pinnable(&self, driver: &Driver, size: u64) -> Result<(), Errno> {
        let total = self.user_bytes.saturating_add(self.gtt_used()).saturating_add(size);
        if total <= driver.pinnable_bytes { Ok(()) } else { Err(Errno::ENOMEM) }
    }

    fn used(&mut self, g: usize, vram: bool) -> &mut u64 {
        let usage = &mut self.usage[g];
        if vram { &mut usage.vram } else { &mut usage.gtt }
    }

    /// One more reference.
    pub fn bo_get(&mut self, id: BoId) {
        if let Some(bo) = self.bos.get_mut(&id) {
            bo.refs += 1;
        }
    }

    /// One reference less. The last one, a DMA-buf fd of this process included, frees the memory.
    pub fn bo_put(&mut self, driver: &Driver, id: BoId) {
        let Some(bo) = self.bos.get_mut(&id) else { return };
        bo.refs = bo.refs.saturating_sub(1);
        if bo.refs == 0 {
            self.dead.push(id);
            self.reap(driver);
        }
    }

    /// Frees what has neither a handle nor a DMA-buf fd any more.
    fn reap(&mut self, driver: &Driver) {
        for id in std::mem::take(&mut self.dead) {
            let Some(bo) = self.bos.get_mut(&id) else { continue };
            if bo.refs > 0 {
                continue;
            }
            if let Some(fd) = bo.kept.take() {
                hostfd::drop_kept(fd);
            }
            let exported = bo.exported;
            if exported && self.bo_name(id).is_some_and(|n| dmabuf::find(&n).is_some()) {
                self.dead.push(id);
                continue;
            }
            let Some(bo) = self.bos.remove(&id) else { continue };
            match bo.foreign {
                Some(f) => {
                    raw::unmap(f.host, bo.size);
                    hostfd::drop_kept(f.fd);
                }
                None => {
                    let used = self.used(id.gpu, bo.flags & VRAM != 0);
                    *used = used.saturating_sub(bo.size);
                    if let Ok(heap) = self.heap(driver, id.gpu) {
                        heap.release(id.off, bo.size);
                    }
                }
            }
        }
    }

    /// Where the engine sees the object's first byte.
    pub fn bo_host(&self, id: BoId) -> Result<usize, Errno> {
        let bo = self.bos.get(&id).ok_or(Errno::EINVAL)?;
        match &bo.foreign {
            Some(f) => Ok(f.host),
            None => self.heaps[id.gpu].as_ref().map(|h| h.host(id.off)).ok_or(Errno::EINVAL),
        }
    }

    /// The file and offset that a render node's mmap of this range shows.
    pub fn bo_file(&self, g: usize, off: u64, len: u64) -> Result<(RawFd, u64), Errno> {
        let within = BoId { gpu: g, off: 0 }..=BoId { gpu: g, off };
        let (id, bo) = self.bos.range(within).next_back().ok_or(Errno::EINVAL)?;
        let into = off - id.off;
        let len = len.checked_next_multiple_of(4096).ok_or(Errno::EINVAL)?;
        if into.checked_add(len).is_none_or(|end| end > bo.size) {
            return Err(Errno::EINVAL);
        }
        match &bo.foreign {
            Some(f) => Ok((f.fd, f.name.off + into)),
            None => self.heaps[g].as_ref().map(|h| (h.fd(), off)).ok_or(Errno::EINVAL),
        }
    }

    fn bo_name(&self, id: BoId) -> Option<Name> {
        let bo = self.bos.get(&id)?;
        if let Some(f) = &bo.foreign {
            return Some(f.name.clone());
        }
        let fd = self.heaps[id.gpu].as_ref()?.fd();
        let inode = raw::inode(fd).ok()?;
        let pid = std::process::id();
        Some(Name { pid, fd, inode, off: id.off, size: bo.size, gpu: id.gpu, flags: bo.flags })
    }

    /// A DMA-buf fd of the object, for the program.
    pub fn bo_export(&mut self, id: BoId) -> Result<RawFd, Errno> {
        use std::os::fd::IntoRawFd;
        let name = self.bo_name(id).ok_or(Errno::EINVAL)?;
        let bo = self.bos.get_mut(&id).ok_or(Errno::EINVAL)?;
        bo.exported = true;
        match bo.kept {
            Some(fd) => dmabuf::again(fd),
            None => dmabuf::make(&name),
        }
        .map(IntoRawFd::into_raw_fd)
    }

    /// The object that a DMA-buf fd stands for, with one more reference.
    pub fn bo_import(&mut self, driver: &Driver, fd: RawFd) -> Result<BoId, Errno> {
        let name = dmabuf::name(fd)?;
        let ours = BoId { gpu: name.gpu, off: name.off };
        if name.gpu < driver.gpus.len() && self.bo_name(ours).as_ref() == Some(&name) {
            self.bo_get(ours);
            return Ok(ours);
        }
        let known = self.bos.iter().find(|(_, b)| b.foreign.as_ref().is_some_and(|f| f.name == name));
        if let Some((&id, _)) = known {
            self.bo_get(id);
            return Ok(id);
        }
        if name.gpu >= driver.gpus.len() || name.pid == std::process::id() {
            return Err(Errno::EINVAL);
        }
        let mut metadata = Box::new([0; METADATA]);
        dmabuf::metadata(fd, &mut *metadata)?;
        let fd = hostfd::keep(dmabuf::heap(&name)?)?;
        let host = raw::map_shared_at(fd, name.size, name.off).inspect_err(|_| hostfd::drop_kept(fd))?;
        let id = BoId { gpu: name.gpu, off: FOREIGN + self.next_foreign };
        self.next_foreign += name.size;
        let (size, flags) = (name.size, name.flags);
        let foreign = Some(Foreign { name, fd, host });
        let bo = Bo { size, flags, metadata: Some(metadata), refs: 1, exported: true, kept: None, foreign };
        self.bos.insert(id, bo);
        Ok(id)
    }

    /// Attaches metadata; whoever has or gets a DMA-buf fd of the object reads it.
    pub fn bo_set_metadata(&mut self, id: BoId, metadata: &[u8; METADATA]) -> Result<(), Errno> {
        let name = self.bo_name(id).ok_or(Errno::EINVAL)?;
        let bo = self.bos.get_mut(&id).ok_or(Errno::EINVAL)?;
        bo.metadata = Some(Box::new(*metadata));
        if bo.foreign.is_some() {
            return Ok(());
        }
        if bo.kept.is_none() {
            let fd = match dmabuf::find(&name) {
                Some(fd) => dmabuf::again(fd)?,
                None => dmabuf::make(&name)?,
            };
            bo.kept = Some(hostfd::keep(fd)?);
            bo.exported = true;
        }
        bo.kept.map_or(Ok(()), |fd| dmabuf::put_metadata(fd, metadata))
    }
}
