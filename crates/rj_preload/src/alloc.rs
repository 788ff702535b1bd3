//! The allocator of this library and of the engine in it: raw mmap, never the program's malloc.
//!
//! Sixteen arenas of free lists by size class; a thread prefers the one that its thread pointer picks and takes
//! another if that one is held, so neither a signal handler nor contention blocks for long. The locks lie in a page
//! that the kernel wipes in a fork's child, and a list is always consistent between two stores, so a child may use
//! it whatever its parent's threads were doing. Blocks are never returned to the kernel, large ones are.

use crate::sys;
use std::alloc::{GlobalAlloc, Layout};
use std::arch::asm;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering, compiler_fence};

struct Alloc;

#[global_allocator]
static GLOBAL: Alloc = Alloc;

const ARENAS: usize = 16;
const MAX_SMALL: usize = 1 << 20;
const CLASSES: usize = 66;
const SLAB: usize = 4 << 20;

struct Arena {
    lists: [AtomicPtr<Free>; CLASSES],
    // Unused part of the newest slab.
    bump: AtomicUsize,
    end: AtomicUsize,
}

struct Free {
    next: *mut Free,
}

#[repr(align(64))]
struct Lock(AtomicU32);

static ARENA: [Arena; ARENAS] = [const {
    Arena {
        lists: [const { AtomicPtr::new(std::ptr::null_mut()) }; CLASSES],
        bump: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
    }
}; ARENAS];
static LOCKS: AtomicPtr<Lock> = AtomicPtr::new(std::ptr::null_mut());

/// Size class and block size: 16, then four steps per doubling. Above 16 byte alignment only powers of two serve,
/// because their blocks are aligned to their size (to a page at most).
fn class(layout: &Layout) -> Option<(usize, usize)> {
    let mut size = layout.size().max(16);
    if layout.align() > 4096 {
        return None;
    }
    if layout.align() > 16 {
        size = size.max(layout.align()).checked_next_power_of_two()?;
    }
    if size > MAX_SMALL {
        return None;
    }
    if size <= 64 {
        let n = size.div_ceil(16);
        return Some((n - 1, n * 16));
    }
    let top = (size - 1).ilog2() as usize; // size in (2^top, 2^(top+1)], top >= 6
    let step = 1usize << (top - 2);
    let k = (size - (1 << top)).div_ceil(step); // 1..=4
    Some((4 + (top - 6) * 4 + (k - 1), (1 << top) + k * step))
}

struct Held {
    arena: &'static Arena,
    lock: &'static Lock,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.lock.0.store(0, Ordering::Release);
    }
}

fn locks() -> Option<&'static [Lock; ARENAS]> {
    let mut p = LOCKS.load(Ordering::Acquire);
    if p.is_null() {
        let fresh = sys::map_wiped_page()?.cast::<Lock>();
        p = match LOCKS.compare_exchange(std::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(other) => other,
        };
    }
    // SAFETY: the page is zeroed, never unmapped, and holds sixteen locks of 64 bytes.
    Some(unsafe { &*p.cast::<[Lock; ARENAS]>() })
}

fn hold() -> Option<Held> {
    let locks = locks()?;
    let thread: usize;
    // SAFETY: fs:0 holds the thread pointer by the x86-64 ABI.
    unsafe { asm!("mov {}, fs:0", out(reg) thread, options(nostack, readonly, preserves_flags)) };
    let first = (thread >> 12).wrapping_mul(0x9e37_79b9) >> 8;
    for turn in 0usize.. {
        let i = first.wrapping_add(turn) % ARENAS;
        if locks[i].0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return Some(Held { arena: &ARENA[i], lock: &locks[i] });
        }
        if turn > 4 * ARENAS {
            sys::yield_now();
        }
        std::hint::spin_loop();
    }
    None
}

impl Arena {
    fn take(&self, class: usize, size: usize) -> *mut u8 {
        let head = self.lists[class].load(Ordering::Relaxed);
        if !head.is_null() {
            // SAFETY: a listed block is free memory that starts with its link.
            self.lists[class].store(unsafe { (*head).next }, Ordering::Relaxed);
            return head.cast();
        }
        let align = if size.is_power_of_two() { size.min(4096) } else { 16 };
        let mut at = self.bump.load(Ordering::Relaxed).next_multiple_of(align);
        if at == 0 || at + size > self.end.load(Ordering::Relaxed) {
            let Some(slab) = sys::map_anon(SLAB) else { return std::ptr::null_mut() };
            // The end goes last to zero and first to its value: a fork in between leaves an empty slab.
            self.end.store(0, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            at = slab as usize;
            self.bump.store(at, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            self.end.store(at + SLAB, Ordering::Relaxed);
        }
        self.bump.store(at + size, Ordering::Relaxed);
        at as *mut u8
    }

    fn give(&self, class: usize, block: *mut u8) {
        let block = block.cast::<Free>();
        // SAFETY: the block is free, at least 16 bytes and 16-aligned.
        unsafe { (*block).next = self.lists[class].load(Ordering::Relaxed) };
        compiler_fence(Ordering::SeqCst);
        self.lists[class].store(block, Ordering::Relaxed);
    }
}

fn large(layout: &Layout) -> *mut u8 {
    let len = layout.size().max(1).next_multiple_of(4096);
    let extra = layout.align().saturating_sub(4096);
    let Some(p) = sys::map_anon(len + extra) else { return std::ptr::null_mut() };
    let at = (p as usize).next_multiple_of(layout.align().max(4096));
    let (front, back) = (at - p as usize, p as usize + extra - at);
    for (start, n) in [(p as usize, front), (at + len, back)] {
        if n > 0 {
            // SAFETY: the surplus at either end of our own mapping.
            unsafe { sys::call(libc::SYS_munmap, [start, n, 0, 0, 0, 0]) };
        }
    }
    at as *mut u8
}

// SAFETY: blocks are disjoint, as large and aligned as asked (see `class`), and stay valid until given back.
unsafe impl GlobalAlloc for Alloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match class(&layout) {
            Some((class, size)) => hold().map_or(std::ptr::null_mut(), |h| h.arena.take(class, size)),
            None => large(&layout),
        }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        match class(&layout) {
            Some((class, _)) => {
                if let Some(h) = hold() {
                    h.arena.give(class, ptr);
                }
            }
            None => {
                let len = layout.size().max(1).next_multiple_of(4096);
                // SAFETY: the mapping that `large` made.
                unsafe { sys::call(libc::SYS_munmap, [ptr as usize, len, 0, 0, 0, 0]) };
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout; fresh mappings are zero.
        unsafe {
            let p = self.alloc(layout);
            if !p.is_null() && class(&layout).is_some() {
                std::ptr::write_bytes(p, 0, layout.size());
            }
            p
        }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises a valid size for this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (class(&layout), class(&new)) {
            (Some((a, _)), Some((b, _))) if a == b => return ptr,
            (None, None) if layout.align() <= 4096 => {
                let (old, len) = (layout.size().next_multiple_of(4096), new_size.next_multiple_of(4096));
                let args = [ptr as usize, old, len, libc::MREMAP_MAYMOVE as usize, 0, 0];
                // SAFETY: the mapping that `large` made.
                let r = unsafe { sys::call(libc::SYS_mremap, args) };
                return if r > 0 { r as *mut u8 } else { std::ptr::null_mut() };
            }
            _ => {}
        }
        // SAFETY: both blocks are valid for the smaller size and distinct.
        unsafe {
            let p = self.alloc(new);
            if !p.is_null() {
                std::ptr::copy_nonoverlapping(ptr, p, layout.size().min(new_size));
                self.dealloc(ptr, layout);
            }
            p
        }
    }
}
