//! What must be found: a box, with an allocator that has nothing to give.

extern crate alloc;

use alloc::boxed::Box;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

struct Nothing;

// SAFETY: it never gives out memory, so none of it is misused.
unsafe impl GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static NOTHING: Nothing = Nothing;

/// Keeps a box in the archive.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_allocate(number: u64) -> *mut u64 {
    Box::into_raw(Box::new(number))
}
