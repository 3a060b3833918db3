//! Pages are parts of files in memory; windows are reserved ranges of the process's
//! addresses. Both cost nothing until they are touched.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::device::memory::pages::free_extents::FreeExtents;
use crate::device::sync::lock;

/// The seals of a file that other processes get: no process can make it shorter under a
/// mapping, which would kill a process that touches the mapping.
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// The file that most pages are parts of: one for a machine, because a program may have
/// tens of thousands of physical allocations and a process few open files.
#[derive(Debug, Default)]
pub(in crate::device) struct Heap {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Made when first needed.
    file: Option<Arc<OwnedFd>>,
    len: u64,
    extents: FreeExtents,
}

impl Heap {
    /// Zeroed pages; `None` if the host has none. `len` is a multiple of the page size.
    pub(in crate::device) fn allocate(self: &Arc<Self>, len: u64) -> Option<Pages> {
        let mut state = lock(&self.state);
        let file = match &state.file {
            Some(file) => Arc::clone(file),
            None => {
                let file = memfd_create("cupola-device-memory", MemfdFlags::CLOEXEC).ok()?;
                let file = Arc::new(file);
                state.file = Some(Arc::clone(&file));
                file
            }
        };
        let start = state.extents.take(len)?;
        if state.extents.end() > state.len {
            if ftruncate(&*file, state.extents.end()).is_err() {
                state.extents.give(start, len);
                return None;
            }
            state.len = state.extents.end();
        }
        Some(Pages {
            len,
            start,
            file,
            heap: Some(Arc::clone(self)),
        })
    }
}

/// Bytes without an address. Dropping them frees the memory; every window must have
/// stopped to show them.
#[derive(Debug)]
pub(in crate::device) struct Pages {
    len: u64,
    /// Where they begin in the file.
    start: u64,
    file: Arc<OwnedFd>,
    /// Whose part they are, unless the file is theirs alone.
    heap: Option<Arc<Heap>>,
}

impl Pages {
    /// Zeroed pages in a file of their own, which can be given to other processes.
    pub(in crate::device) fn shared(len: u64, name: &str) -> Option<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create(name, flags).ok()?;
        ftruncate(&file, len).ok()?;
        fcntl_add_seals(&file, SEALS).ok()?;
        Some(Self {
            len,
            start: 0,
            file: Arc::new(file),
            heap: None,
        })
    }

    /// All pages of a file that `shared` made, here or in another process, and its name.
    /// `None` if it is no such file: one that could become shorter, or of another kind.
    pub(in crate::device) fn adopt(file: OwnedFd) -> Option<(Self, String)> {
        let sealed = fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SEALS));
        let len = u64::try_from(fstat(&file).ok()?.st_size).ok()?;
        let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
        // The kernel's own text: `/memfd:NAME (deleted)`.
        let name = link.to_str()?.strip_prefix("/memfd:")?;
        let name = name.strip_suffix(" (deleted)")?.to_owned();
        let pages = Self {
            len,
            start: 0,
            file: Arc::new(file),
            heap: None,
        };
        (sealed && len > 0).then_some((pages, name))
    }

    /// The same pages, of a file that is theirs alone, for another owner.
    pub(in crate::device) fn another(&self) -> Self {
        debug_assert!(self.heap.is_none(), "one owner frees a part of the heap");
        Self {
            len: self.len,
            start: self.start,
            file: Arc::clone(&self.file),
            heap: None,
        }
    }

    pub(in crate::device) fn len(&self) -> u64 {
        self.len
    }

    /// Whether other processes can have them.
    pub(in crate::device) fn is_shared(&self) -> bool {
        self.heap.is_none()
    }

    /// The file, if it is theirs alone.
    pub(in crate::device) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.heap.is_none().then(|| self.file.as_fd())
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let Some(heap) = &self.heap else { return };
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // Where no hole can be made, the bytes are never used again: they are not zeroed.
        if fallocate(&*self.file, punch, self.start, self.len).is_ok() {
            lock(&heap.state).extents.give(self.start, self.len);
        }
    }
}

/// A range of host addresses, which is the value's own until it is dropped. Where it
/// shows nothing, an access kills the process.
#[derive(Debug)]
pub(in crate::device) struct Window {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the addresses belong to the value; code that accesses what they show through
// a pointer answers for the access.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl Window {
    /// `None` if the host has no such range. `len` is a multiple of the page size.
    pub(in crate::device) fn reserve(len: u64) -> Option<Self> {
        let len = usize::try_from(len).ok()?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: without FIXED nothing that exists is replaced.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::empty(), flags) };
        Some(Self {
            start: NonNull::new(start.ok()?.cast())?,
            len,
        })
    }

    /// The first byte.
    pub(in crate::device) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The place of `len` bytes from `at`, if they are within.
    fn place(&self, at: u64, len: u64) -> Option<(*mut u8, usize)> {
        let (at, len) = (usize::try_from(at).ok()?, usize::try_from(len).ok()?);
        let within = at < self.len && len > 0 && self.len - at >= len;
        within.then(|| (self.start().wrapping_add(at), len))
    }

    /// Shows the pages from `at` on, readable and writable, instead of what was there.
    /// Another thread that accesses the place meanwhile sees the old bytes or the new
    /// ones. False if the host refuses, which it does before it changes anything.
    pub(in crate::device) fn show(&self, at: u64, pages: &Pages) -> bool {
        let Some((place, len)) = self.place(at, pages.len) else {
            return false;
        };
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: the place is within this window, so no other owner's mapping is replaced.
        // No reference to its bytes exists, and an access through a pointer there finds
        // bytes still.
        let shown = unsafe { mmap(place.cast(), len, access, flags, &*pages.file, pages.start) };
        shown.is_ok()
    }

    /// Shows nothing any more.
    ///
    /// # Safety
    /// No code accesses the place through a pointer until something is shown there again.
    pub(in crate::device) unsafe fn hide(&self, at: u64, len: u64) -> bool {
        let Some((place, len)) = self.place(at, len) else {
            return false;
        };
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: the place is within this window, and no code accesses it (`# Safety` above).
        unsafe { mmap_anonymous(place.cast(), len, ProtFlags::empty(), flags) }.is_ok()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the whole range is the window's own. Code that accesses it keeps the window.
        // It fails only if the host has no memory to split a mapping; the range then stays.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 2 << 20;

    fn byte(window: &Window, at: u64) -> *mut u8 {
        window.start().wrapping_add(at as usize)
    }

    /// Without it, memory mapped twice would be two memories, and freed memory would come
    /// back with what was in it.
    #[test]
    fn pages_are_one_memory_in_all_windows_and_come_back_empty() {
        let heap = Arc::new(Heap::default());
        let (a, b) = (Window::reserve(4 * PAGE), Window::reserve(2 * PAGE));
        let (a, b) = (a.unwrap(), b.unwrap());
        let pages = heap.allocate(PAGE).unwrap();
        assert!(a.show(0, &pages) && a.show(3 * PAGE, &pages) && b.show(PAGE, &pages));
        // SAFETY: all three places show the pages.
        unsafe {
            byte(&a, 5).write_volatile(7);
            assert_eq!(byte(&a, 3 * PAGE + 5).read_volatile(), 7);
            assert_eq!(byte(&b, PAGE + 5).read_volatile(), 7);
            assert!(a.hide(0, PAGE) && a.hide(3 * PAGE, PAGE) && b.hide(PAGE, PAGE));
        }
        drop(pages);
        let again = heap.allocate(PAGE).unwrap();
        assert!(a.show(PAGE, &again));
        // SAFETY: the place shows the pages.
        assert_eq!(unsafe { byte(&a, PAGE + 5).read_volatile() }, 0);
        assert!(!a.show(4 * PAGE, &again), "outside of the window");
    }

    /// Without it, a file that another process can shorten would be taken, and the first
    /// access after that would kill this process.
    #[test]
    fn only_sealed_files_are_adopted() {
        let pages = Pages::shared(PAGE, "cupola-test").unwrap();
        let file = pages.file().unwrap().try_clone_to_owned().unwrap();
        let (pages, name) = Pages::adopt(file).unwrap();
        assert_eq!((pages.len(), name.as_str()), (PAGE, "cupola-test"));
        let open = memfd_create("cupola-test", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&open, PAGE).unwrap();
        assert!(Pages::adopt(open).is_none());
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(Pages::adopt(reader.into()).is_none());
    }
}
