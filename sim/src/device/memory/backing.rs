//! The host memory behind one allocation in device memory.
//!
//! Large blocks are mappings of their own, committed page by page when they are touched:
//! a program may hold gigabytes of device memory and write little of it. The host's heap
//! would fill memory that it reuses with zeros, all of it, before a byte is read.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use memmap2::MmapMut;

use crate::device::memory::pages::{Pages, Window};

/// From this size on a block has a mapping of its own.
const MAPPED_FROM: usize = 64 << 10;

/// Alignment of small blocks. The heap's own: for a larger one it would fill by hand.
const ALIGN: usize = 16;

/// Zeroed host memory, given back when dropped. It is only ever accessed through raw
/// pointers, because kernels and copies of a racing program may touch the same bytes.
#[derive(Debug)]
pub(super) struct Backing {
    start: NonNull<u8>,
    owner: Owner,
}

#[derive(Debug)]
enum Owner {
    Heap(Layout),
    /// Held for its drop alone.
    Mapping(#[allow(dead_code)] MmapMut),
    /// A file that other processes may have too, and the window that shows it, which goes
    /// first.
    File(#[allow(dead_code)] Window, Pages),
}

// SAFETY: the memory belongs to the value; there is no reference to it, and code
// that accesses it through the pointer answers for the access.
unsafe impl Send for Backing {}
// SAFETY: as above.
unsafe impl Sync for Backing {}

impl Backing {
    /// `None` if the host has no such memory.
    pub(super) fn new(len: u64) -> Option<Self> {
        let len = usize::try_from(len).ok()?.max(1);
        if len >= MAPPED_FROM {
            return Self::pages(len);
        }
        let layout = Layout::from_size_align(len, ALIGN).ok()?;
        // SAFETY: the layout has at least one byte.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self {
            start,
            owner: Owner::Heap(layout),
        })
    }

    /// Whole pages of their own; `None` if the host has no such memory.
    pub(super) fn pages(len: usize) -> Option<Self> {
        let mut mapping = MmapMut::map_anon(len.max(1)).ok()?;
        let start = NonNull::new(mapping.as_mut_ptr())?;
        Some(Self {
            start,
            owner: Owner::Mapping(mapping),
        })
    }

    /// Pages that other processes may have; `None` if the host has no room for a mapping.
    pub(super) fn file(pages: Pages) -> Option<Self> {
        let window = Window::reserve(pages.len())?;
        let start = NonNull::new(window.start())?;
        window.show(0, &pages).then_some(Self {
            start,
            owner: Owner::File(window, pages),
        })
    }

    /// A part of pages that other processes have too, from `offset` on; `None` if the host has no room for a
    /// mapping.
    pub(super) fn file_from(pages: Pages, offset: u64) -> Option<Self> {
        let offset = usize::try_from(offset).ok()?;
        let mut backing = Self::file(pages)?;
        backing.start = NonNull::new(backing.start().wrapping_add(offset))?;
        Some(backing)
    }

    /// The pages, if other processes may have them.
    pub(super) fn shared(&self) -> Option<&Pages> {
        match &self.owner {
            Owner::File(_, pages) => Some(pages),
            Owner::Heap(_) | Owner::Mapping(_) => None,
        }
    }

    /// The first byte.
    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        if let Owner::Heap(layout) = self.owner {
            // SAFETY: allocated in `new` with this layout, and freed only here.
            unsafe { dealloc(self.start.as_ptr(), layout) };
        }
    }
}
