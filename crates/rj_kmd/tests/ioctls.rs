//! The driver as a program meets it: ioctls with hand-made structs (Linux uapi kfd_ioctl.h, amdgpu_drm.h), mappings.

use rj_kmd::{Config, Errno, FileId, Process};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

const VRAM: u32 = 0xd000_0001;
const GTT: u32 = 0xd000_0002;
const USERPTR: u32 = 0xd000_0004;
const DOORBELL: u32 = 0xd000_0008;
const MMIO: u32 = 0xd000_0010;
const MAP_SHARED: i32 = 1;
const RW: i32 = 3;

/// An ioctl's argument, by byte offset.
struct Arg(Vec<u8>);

impl Arg {
    fn new(size: usize) -> Arg {
        Arg(vec![0; size])
    }
    fn d(mut self, at: usize, x: u32) -> Arg {
        self.0[at..at + 4].copy_from_slice(&x.to_le_bytes());
        self
    }
    fn q(mut self, at: usize, x: u64) -> Arg {
        self.0[at..at + 8].copy_from_slice(&x.to_le_bytes());
        self
    }
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }
    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap())
    }
}

struct Bench {
    p: Arc<Process>,
    kfd: FileId,
    drm: FileId,
    gpu: u32,
    next: AtomicU64,
}

impl Bench {
    fn new(gpus: u32) -> Bench {
        let text = format!(r#"{{"gpu": "MI300X", "num_gpus": {gpus}, "cpu_thread_budget": 1}}"#);
        let p = Process::open(&Config::parse(&text).unwrap()).unwrap();
        let (kfd, drm) = (p.open_kfd().unwrap(), p.open_render(128).unwrap());
        let mut b = Bench { p, kfd, drm, gpu: 0, next: AtomicU64::new(1 << 40) };
        b.gpu = b.ids()[0];
        b
    }
    fn ids(&self) -> Vec<u32> {
        let mut all = vec![0u8; 56 * 64];
        let a = self.kfd(0x14, Arg::new(16).q(0, all.as_mut_ptr() as u64).d(8, 64)).unwrap();
        (0..a.u32(8) as usize).map(|i| u32::from_le_bytes(all[56 * i + 48..56 * i + 52].try_into().unwrap())).collect()
    }
    fn on(&self, file: FileId, kind: u64, nr: u64, mut a: Arg) -> (Result<i32, Errno>, Arg) {
        let cmd = 3 << 30 | (a.0.len() as u64) << 16 | kind << 8 | nr;
        let r = self.p.ioctl(file, cmd, a.0.as_mut_ptr());
        (r, a)
    }
    fn kfd(&self, nr: u64, a: Arg) -> Result<Arg, Errno> {
        let (r, a) = self.on(self.kfd, u64::from(b'K'), nr, a);
        r.map(|_| a)
    }
    fn drm(&self, nr: u64, a: Arg) -> Result<Arg, Errno> {
        let (r, a) = self.on(self.drm, u64::from(b'd'), nr, a);
        r.map(|_| a)
    }
    fn va(&self, size: u64) -> u64 {
        self.next.fetch_add(size.next_multiple_of(1 << 21), SeqCst)
    }
    /// Handle, mmap offset.
    fn alloc(&self, va: u64, size: u64, flags: u32) -> Result<(u64, u64), Errno> {
        let a = self.kfd(0x16, Arg::new(40).q(0, va).q(8, size).d(32, self.gpu).d(36, flags))?;
        Ok((a.u64(16), a.u64(24)))
    }
    fn map(&self, handle: u64, gpus: &[u32]) -> Result<u32, Errno> {
        self.mapping(0x18, handle, gpus)
    }
    fn unmap(&self, handle: u64, gpus: &[u32]) -> Result<u32, Errno> {
        self.mapping(0x19, handle, gpus)
    }
    fn mapping(&self, nr: u64, handle: u64, gpus: &[u32]) -> Result<u32, Errno> {
        let a = Arg::new(24).q(0, handle).q(8, gpus.as_ptr() as u64).d(16, gpus.len() as u32);
        self.kfd(nr, a).map(|a| a.u32(20))
    }
    fn free(&self, handle: u64) -> Result<(), Errno> {
        self.kfd(0x17, Arg::new(8).q(0, handle)).map(|_| ())
    }
    fn available(&self) -> u64 {
        self.kfd(0x23, Arg::new(16).d(8, self.gpu)).unwrap().u64(0)
    }
    fn mmap(&self, file: FileId, len: usize, off: u64) -> Result<*mut u8, Errno> {
        self.p.mmap(file, std::ptr::null_mut(), len, RW, MAP_SHARED, off)
    }
}

fn fds() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn maps() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

/// An AQL queue's memory and CREATE_QUEUE argument.
fn queue_args(b: &Bench) -> Arg {
    let (ring, control) = (b.va(4096), b.va(4096));
    for va in [ring, control] {
        let (h, _) = b.alloc(va, 4096, GTT).unwrap();
        assert_eq!(b.map(h, &[b.gpu]), Ok(1));
    }
    Arg::new(96)
        .q(0, ring)
        .q(8, control + 56)
        .q(16, control + 128)
        .d(32, 4096)
        .d(36, b.gpu)
        .d(40, 2)
        .d(44, 100)
        .d(48, 7)
}

#[test]
fn the_version_is_1_17_and_hostile_calls_are_refused_by_name() {
    let b = Bench::new(1);
    let v = b.kfd(1, Arg::new(8)).unwrap();
    assert_eq!((v.u32(0), v.u32(4)), (1, 17));
    assert_eq!(b.kfd(0x60, Arg::new(8)).err(), Some(Errno::ENOTTY));
    assert_eq!(b.kfd(0x26, Arg::new(64)).err(), Some(Errno::EINVAL));
    assert_eq!(b.drm(0x44, Arg::new(24)).err(), Some(Errno::EINVAL));
    let names: Vec<String> = b.p.counts().unknown_requests.into_keys().collect();
    assert_eq!(names, ["drm ioctl AMDGPU_CS", "kfd ioctl 0x60", "kfd ioctl DBG_TRAP"]);
    for nr in 0..256u64 {
        // Pointers to nowhere, with the size that the program claims.
        let cmd = 3 << 30 | 40 << 16 | u64::from(b'K') << 8 | nr;
        assert!(b.p.ioctl(b.kfd, cmd, 8 as *mut u8).is_err(), "kfd {nr:#x}");
        assert!(b.p.ioctl(b.drm, cmd, 8 as *mut u8).is_err(), "drm {nr:#x}");
        // All ones as arguments: sizes, pointers, ids.
        if nr != 0x0c {
            let _ = b.kfd(nr, Arg(vec![0xff; 96]));
            let _ = b.drm(nr, Arg(vec![0xff; 288]));
        }
    }
    assert_eq!(b.kfd(0x0c, Arg(vec![0xff; 24])).err(), Some(Errno::EINVAL));
    b.p.close(b.kfd);
    assert_eq!(b.kfd(1, Arg::new(8)).err(), Some(Errno::EBADF));
}

#[test]
fn a_larger_struct_has_its_rest_cleared_and_a_smaller_one_is_not_overrun() {
    let b = Bench::new(1);
    let (r, a) = b.on(b.kfd, u64::from(b'K'), 1, Arg(vec![0xaa; 16]));
    assert_eq!((r, &a.0[8..]), (Ok(0), &[0u8; 8][..]));
    let mut bytes = [0xaa_u8; 8];
    let cmd = 3 << 30 | 4 << 16 | u64::from(b'K') << 8 | 1;
    assert_eq!(b.p.ioctl(b.kfd, cmd, bytes.as_mut_ptr()), Ok(0));
    assert_eq!(bytes, [1, 0, 0, 0, 0xaa, 0xaa, 0xaa, 0xaa]);
}

#[test]
fn device_memory_is_zeroed_counted_and_shown_through_the_render_node() {
    let b = Bench::new(1);
    let before = b.available();
    assert!(before > 190 << 30);
    let va = b.va(4 << 20);
    let (h, off) = b.alloc(va, 4 << 20, VRAM).unwrap();
    assert_eq!(b.available(), before - (4 << 20));
    let p = b.mmap(b.drm, 4 << 20, off).unwrap();
    // SAFETY: just mapped.
    let bytes = unsafe { std::slice::from_raw_parts_mut(p, 4 << 20) };
    assert!(bytes.iter().all(|x| *x == 0));
    bytes.fill(7);
    assert_eq!(b.map(h, &[b.gpu]), Ok(1));
    assert_eq!(b.free(h), Err(Errno(libc::EBUSY)));
    assert_eq!(b.unmap(h, &[b.gpu]), Ok(1));
    assert_eq!(b.free(h), Ok(()));
    assert_eq!(b.free(h), Err(Errno::EINVAL));
    assert_eq!(b.available(), before);
    assert_eq!(b.mmap(b.drm, 4096, off).err(), Some(Errno::EINVAL));
    let (_, again) = b.alloc(va, 4 << 20, VRAM).unwrap();
    let p = b.mmap(b.drm, 4 << 20, again).unwrap();
    // SAFETY: just mapped.
    assert!(unsafe { std::slice::from_raw_parts(p, 4 << 20) }.iter().all(|x| *x == 0));
    // No more than there is, in one piece or in many.
    assert_eq!(b.alloc(b.va(0), before + 4096, VRAM).err(), Some(Errno::ENOMEM));
    let half = before / 2;
    let (h1, _) = b.alloc(1 << 42, half, VRAM).unwrap();
    assert_eq!(b.alloc(1 << 43, half + (1 << 21), VRAM).err(), Some(Errno::ENOMEM));
    b.free(h1).unwrap();
    // What is not an object cannot be mapped, nor more of it than there is.
    assert_eq!(b.mmap(b.drm, 8 << 20, again).err(), Some(Errno::EINVAL));
    assert_eq!(b.alloc(va + 1, 4096, VRAM).err(), Some(Errno::EINVAL));
    assert_eq!(b.alloc(va, 0, VRAM).err(), Some(Errno::EINVAL));
    assert_eq!(b.alloc(va, 4096, 0).err(), Some(Errno::EINVAL));
}

#[test]
fn doorbells_registers_and_pinned_memory_are_objects_too() {
    let b = Bench::new(1);
    let (h, off) = b.alloc(b.va(8192), 8192, DOORBELL).unwrap();
    assert_eq!(off, 3 << 62 | u64::from(b.gpu) << 46);
    assert_eq!(b.map(h, &[b.gpu]), Ok(1));
    assert!(b.mmap(b.kfd, 8192, off).is_ok());
    assert_eq!(b.mmap(b.kfd, 12288, off).err(), Some(Errno::EINVAL));
    let (_, off) = b.alloc(b.va(4096), 4096, MMIO).unwrap();
    assert_eq!(off, u64::from(b.gpu) << 46);
    assert!(b.mmap(b.kfd, 4096, off).is_ok());
    assert_eq!(b.alloc(b.va(4096), 8192, MMIO).err(), Some(Errno::EINVAL));
    let a = Arg::new(40).q(0, b.va(4096)).q(8, 4096).q(24, 0x1000).d(32, b.gpu).d(36, USERPTR);
    let a = b.kfd(0x16, a).unwrap();
    assert_eq!(b.kfd(0x24, Arg::new(16).q(0, a.u64(16))).err(), Some(Errno::EINVAL), "cannot be exported");
}

#[test]
fn mapping_for_a_list_of_gpus_says_how_far_it_came() {
    let b = Bench::new(2);
    let ids = b.ids();
    let (h, _) = b.alloc(b.va(4096), 4096, VRAM).unwrap();
    let list = [ids[0], 0xdead, ids[1]];
    let a = Arg::new(24).q(0, h).q(8, list.as_ptr() as u64).d(16, 3);
    let (r, a) = b.on(b.kfd, u64::from(b'K'), 0x18, a);
    assert_eq!((r, a.u32(20)), (Err(Errno::EINVAL), 1));
    assert_eq!(b.map(h, &ids), Ok(2));
    assert_eq!(b.map(h, &ids), Ok(2), "mapped already");
    // Another object at the same address is refused.
    let (other, _) = b.alloc(1 << 40, 4096, VRAM).unwrap();
    assert_eq!(b.map(other, &ids).err(), Some(Errno::EINVAL));
    assert_eq!(b.unmap(h, &ids), Ok(2));
    assert_eq!(b.map(other, &ids), Ok(2));
}

#[test]
fn the_event_page_is_filled_with_ones_and_stays() {
    let b = Bench::new(1);
    let (h, off) = b.alloc(b.va(32768), 32768, GTT).unwrap();
    let e = b.kfd(8, Arg::new(32).q(0, h).d(12, 0).d(16, 1)).unwrap();
    let p = b.mmap(b.drm, 32768, off).unwrap();
    // SAFETY: just mapped.
    assert!(unsafe { std::slice::from_raw_parts(p, 32768) }.iter().all(|x| *x == 0xff));
    assert_eq!(b.free(h), Err(Errno::EPERM));
    let id = e.u32(24);
    let wait = |timeout: u32, age: u64, id: u32| {
        let mut d = vec![0u8; 48];
        d[..8].copy_from_slice(&age.to_le_bytes());
        d[40..44].copy_from_slice(&id.to_le_bytes());
        let a = Arg::new(24).q(0, d.as_mut_ptr() as u64).d(8, 1).d(12, 1).d(16, timeout);
        b.kfd(0x0c, a).map(|a| (a.u32(20), u64::from_le_bytes(d[..8].try_into().unwrap())))
    };
    assert_eq!(wait(0, 0, id), Ok((1, 0)));
    b.kfd(0x0a, Arg::new(8).d(0, id)).unwrap();
    assert_eq!(wait(u32::MAX, 1, id), Ok((0, 2)));
    assert_eq!(wait(0, 2, id), Ok((1, 2)));
    b.kfd(0x0a, Arg::new(8).d(0, id)).unwrap();
    b.kfd(0x0b, Arg::new(8).d(0, id)).unwrap();
    assert_eq!(wait(0, 0, id), Ok((1, 0)));
    b.kfd(9, Arg::new(8).d(0, id)).unwrap();
    assert_eq!(wait(0, 0, id), Err(Errno::EINVAL));
    assert_eq!(b.kfd(9, Arg::new(8).d(0, id)).err(), Some(Errno::EINVAL));
}

#[test]
fn a_thousand_queues_come_and_go_and_leave_nothing() {
    let b = Bench::new(1);
    let args = queue_args(&b).0;
    let make = || b.kfd(2, Arg(args.clone())).unwrap();
    let first = make();
    assert_eq!(first.u64(24), 3 << 62 | u64::from(b.gpu) << 46 | 8);
    // One queue has the global wave sync.
    let other = make();
    assert_eq!(b.kfd(0x1e, Arg::new(16).d(0, first.u32(52)).d(4, 1)).unwrap().u32(8), 0);
    assert_eq!(b.kfd(0x1e, Arg::new(16).d(0, other.u32(52)).d(4, 1)).err(), Some(Errno(libc::EBUSY)));
    b.kfd(3, Arg::new(8).d(0, first.u32(52))).unwrap();
    b.kfd(0x1e, Arg::new(16).d(0, other.u32(52)).d(4, 1)).unwrap();
    b.kfd(3, Arg::new(8).d(0, other.u32(52))).unwrap();
    let before = (fds(), maps());
    for _ in 0..1000 {
        let q = make();
        assert_eq!(q.u64(24) & 0x1fff, 8);
        b.kfd(3, Arg::new(8).d(0, q.u32(52))).unwrap();
    }
    let after = (fds(), maps());
    // Other tests of this program run at the same time: a few are theirs.
    assert!(after.0 < before.0 + 100 && after.1 < before.1 + 200, "{before:?} {after:?}");
    assert_eq!(b.p.counts().queues, 1002);
    let gone = first.u32(52);
    assert_eq!(b.kfd(3, Arg::new(8).d(0, gone)).err(), Some(Errno::EINVAL));
    assert_eq!(b.kfd(7, Arg::new(24).d(8, gone)).err(), Some(Errno::EINVAL));
    assert_eq!(b.kfd(2, Arg(args.clone()).q(0, 0x5000)).err(), Some(Errno::EINVAL), "the ring is not mapped");
    assert_eq!(b.kfd(2, Arg(args.clone()).d(40, 9)).err(), Some(Errno::EINVAL));
}

#[test]
fn ten_thousand_objects_come_and_go_and_leave_nothing() {
    let b = Bench::new(1);
    let (keep, _) = b.alloc(b.va(4096), 4096, VRAM).unwrap();
    let free = b.available();
    let before = (fds(), maps());
    for i in 0..10_000u64 {
        let (h, _) = b.alloc(1 << 41, 4096 * (1 + i % 700), VRAM).unwrap();
        assert_eq!(b.map(h, &[b.gpu]), Ok(1));
        assert_eq!(b.unmap(h, &[b.gpu]), Ok(1));
        b.free(h).unwrap();
    }
    let after = (fds(), maps());
    assert!(after.0 < before.0 + 100 && after.1 < before.1 + 200, "{before:?} {after:?}");
    assert_eq!(b.available(), free);
    b.free(keep).unwrap();
}

/// What ROCr does for hipMallocAsync and the virtual memory calls.
#[test]
fn an_exported_object_is_mapped_through_its_gem_handle_and_lives_while_a_handle_does() {
    let b = Bench::new(1);
    let free = b.available();
    let size = 2u64 << 20;
    let (h, off) = b.alloc(0, size, 0xb000_0001).unwrap();
    let export = || b.kfd(0x24, Arg::new(16).q(0, h).d(8, 0x80000)).unwrap().u32(12).cast_signed();
    let fd = export();
    let import = |fd: i32| b.drm(0x2e, Arg::new(12).d(8, fd.cast_unsigned()));
    let gem = import(fd).unwrap().u32(0);
    assert_eq!(import(fd).unwrap().u32(0), gem);
    // SAFETY: integers.
    assert_eq!(unsafe { libc::lseek(fd, 0, libc::SEEK_END) }, size as i64);
    assert_eq!(b.drm(0x41, Arg::new(8).d(0, gem)).unwrap().u64(0), off);
    let va = b.va(size);
    let place = |op: u32, va: u64, off: u64, size: u64| {
        b.drm(0x48, Arg::new(40).d(0, gem).d(8, op).d(12, 0xe).q(16, va).q(24, off).q(32, size)).map(|_| ())
    };
    assert_eq!(place(1, va, 0, size), Ok(()));
    assert_eq!(place(1, va, 0, size), Err(Errno::EINVAL));
    assert_eq!(place(1, va + (8 << 20), 4096, size), Err(Errno::EINVAL));
    assert_eq!(place(4, va + 4096, 0, 4096), Ok(()));
    assert_eq!(place(2, va + 64 * 4096, 0, size), Err(Errno::ENOENT));
    assert_eq!(place(3, va, 0, size), Ok(()));
    assert_eq!(place(1, va, 0, size), Ok(()));
    let mut told = [0u64; 4];
    b.drm(0x50, Arg::new(16).d(0, gem).d(4, 0).q(8, told.as_mut_ptr() as u64)).unwrap();
    assert_eq!([told[0], told[2]], [size, 4]);
    // The KFD handle goes, the others hold the memory.
    b.free(h).unwrap();
    assert_eq!(b.available(), free - size);
    b.drm(0x09, Arg::new(8).d(0, gem)).unwrap();
    assert_eq!(b.available(), free - size);
    let again = import(fd).unwrap().u32(0);
    // SAFETY: this test's fd.
    unsafe { libc::close(fd) };
    b.drm(0x09, Arg::new(8).d(0, again)).unwrap();
    assert_eq!(b.available(), free);
    assert_eq!(b.drm(0x09, Arg::new(8).d(0, again)).err(), Some(Errno::EINVAL));
    assert_eq!(import(0).err(), Some(Errno::EINVAL));
    assert_eq!(import(-1).err(), Some(Errno::EBADF));
    // Closing the render node drops its handles.
    let made = b.drm(0x40, Arg::new(32).q(0, size).q(8, 4096).q(16, 4)).unwrap().u32(0);
    assert_eq!(b.available(), free - size);
    assert!(made > 0);
    b.p.close(b.drm);
    assert_eq!(b.available(), free);
}

#[test]
fn metadata_travels_with_the_dma_buf() {
    let b = Bench::new(1);
    let (h, _) = b.alloc(0, 8192, VRAM).unwrap();
    let fd = b.kfd(0x24, Arg::new(16).q(0, h)).unwrap().u32(12);
    let gem = b.drm(0x2e, Arg::new(12).d(8, fd)).unwrap().u32(0);
    b.drm(0x46, Arg::new(288).d(0, gem).d(4, 1).d(24, 8).q(28, 0x1122_3344_5566_7788)).unwrap();
    assert_eq!(b.drm(0x46, Arg::new(288).d(0, gem).d(4, 2)).unwrap().u64(28), 0x1122_3344_5566_7788);
    let mut text = [0u8; 8];
    let info = b.kfd(0x1c, Arg::new(32).q(8, text.as_mut_ptr() as u64).d(16, 8).d(28, fd)).unwrap();
    assert_eq!((info.u64(0), info.u32(16), info.u32(20), info.u32(24)), (8192, 8, b.gpu, VRAM));
    assert_eq!(u64::from_le_bytes(text), 0x1122_3344_5566_7788);
    // A second import of this process is the same memory under another handle and address.
    let two = b.kfd(0x1d, Arg::new(24).q(0, b.va(8192)).d(16, b.gpu).d(20, fd)).unwrap().u64(8);
    assert_ne!(two, h);
    assert_eq!(b.map(two, &[b.gpu]), Ok(1));
    b.unmap(two, &[b.gpu]).unwrap();
    b.free(two).unwrap();
    // SAFETY: this test's fd.
    unsafe { libc::close(fd.cast_signed()) };
}

#[test]
fn the_smi_event_fd_takes_masks_and_has_nothing_to_say() {
    let b = Bench::new(1);
    let fd = b.kfd(0x1f, Arg::new(8).d(0, b.gpu)).unwrap().u32(4).cast_signed();
    let mask = 5u64;
    // SAFETY: 8 valid bytes.
    assert_eq!(unsafe { libc::write(fd, (&raw const mask).cast(), 8) }, 8);
    let mut byte = 0u8;
    // SAFETY: one valid byte.
    assert_eq!(unsafe { libc::read(fd, (&raw mut byte).cast(), 1) }, -1);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN));
    // SAFETY: this test's fd.
    unsafe { libc::close(fd) };
    assert_eq!(b.kfd(0x1f, Arg::new(8).d(0, 1)).err(), Some(Errno::EINVAL));
}

/// A child sees the bytes that its parent shared, as another process does that got the fd over a socket.
#[test]
fn a_child_opens_its_own_driver_and_imports_what_its_parent_exported() {
    let b = Bench::new(1);
    let (h, off) = b.alloc(0, 4096, VRAM).unwrap();
    let p = b.mmap(b.drm, 4096, off).unwrap();
    // SAFETY: just mapped.
    unsafe { p.write(42) };
    let fd = b.kfd(0x24, Arg::new(16).q(0, h)).unwrap().u32(12);
    // SAFETY: the child uses its own driver state, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        rj_kmd::hostfd::forget_all();
        let c = Bench::new(1);
        let status = (|| {
            let gem = c.drm(0x2e, Arg::new(12).d(8, fd)).ok()?.u32(0);
            let off = c.drm(0x41, Arg::new(8).d(0, gem)).ok()?.u64(0);
            let p = c.mmap(c.drm, 4096, off).ok()?;
            // SAFETY: just mapped.
            unsafe {
                p.add(1).write(43);
                (p.read() == 42).then_some(())
            }
        })();
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(status.is_none())) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    // SAFETY: mapped above.
    assert_eq!((status, unsafe { p.add(1).read() }), (0, 43));
    assert_eq!(b.kfd(1, Arg::new(8)).unwrap().u32(0), 1, "the parent goes on");
}

/// SET_ATTR (0) or GET_ATTR (1) of shared memory; the attributes as they come back.
fn svm(b: &Bench, op: u32, at: u64, len: u64, list: &[(u32, u32)]) -> Result<Vec<(u32, u32)>, Errno> {
    let mut a = Arg::new(24 + 8 * list.len()).q(0, at).q(8, len).d(16, op).d(20, list.len() as u32);
    for (i, (kind, value)) in list.iter().enumerate() {
        a = a.d(24 + 8 * i, *kind).d(28 + 8 * i, *value);
    }
    let a = b.kfd(0x20, a)?;
    Ok((0..list.len()).map(|i| (a.u32(24 + 8 * i), a.u32(28 + 8 * i))).collect())
}

#[test]
fn shared_memory_keeps_its_attributes_until_it_is_unmapped() {
    const PAGE: u64 = 4096;
    let b = Bench::new(2);
    let gpus = b.ids();
    // SAFETY: a fresh mapping.
    let p = unsafe {
        libc::mmap(std::ptr::null_mut(), 4 * PAGE as usize, RW, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    let at = p as u64;
    let access = |at: u64, len: u64, gpu: u32| svm(&b, 1, at, len, &[(2, gpu)]).unwrap()[0].0;
    assert_eq!(access(at, PAGE, gpus[0]), 4, "no access before it is given");
    // Access for one GPU, in place for the other, on the two middle pages; a preferred place; read-only.
    svm(&b, 0, at + PAGE, 2 * PAGE, &[(2, gpus[0]), (3, gpus[1]), (0, gpus[1]), (5, 8), (7, 200)]).unwrap();
    assert_eq!((access(at + PAGE, 2 * PAGE, gpus[0]), access(at + PAGE, PAGE, gpus[1])), (2, 3));
    assert_eq!(access(at, 2 * PAGE, gpus[0]), 4, "not all of the range has it");
    let told = svm(&b, 1, at + PAGE, PAGE, &[(0, 0), (5, 0), (6, 0), (7, 0)]).unwrap();
    assert_eq!(told, [(0, gpus[1]), (5, 1 | 2 | 8), (6, !(1 | 2 | 8)), (7, 0x3f)]);
    assert_eq!(svm(&b, 1, at, 2 * PAGE, &[(0, 0)]).unwrap(), [(0, u32::MAX)], "they differ");
    // Half of it is unmapped and mapped anew: a fresh page, which no GPU sees.
    b.p.munmap_notify((at + PAGE) as *mut u8, PAGE as usize);
    assert_eq!((access(at + PAGE, PAGE, gpus[0]), access(at + 2 * PAGE, PAGE, gpus[0])), (4, 2));
    // An object takes over what the C library unmapped in silence; shared memory cannot lie over an object.
    let (h, _) = b.alloc(at + 2 * PAGE, PAGE, VRAM).unwrap();
    assert_eq!(b.map(h, &gpus[..1]), Ok(1));
    assert_eq!(access(at + 2 * PAGE, PAGE, gpus[0]), 4);
    assert_eq!(svm(&b, 0, at, 4 * PAGE, &[(2, gpus[0])]).err(), Some(Errno(libc::EADDRINUSE)));
    for (at, len, list, errno) in [
        (at, 0, (2, gpus[0]), libc::EINVAL),
        (at + 1, PAGE, (2, gpus[0]), libc::EINVAL),
        (at, PAGE, (2, 77), libc::EINVAL),
        (at, PAGE, (8, 0), libc::EINVAL),
        (PAGE, PAGE, (2, gpus[0]), libc::EFAULT),
    ] {
        assert_eq!(svm(&b, 0, at, len, &[list]).err(), Some(Errno(errno)), "{at:#x} {len} {list:?}");
    }
}
