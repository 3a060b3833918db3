//! A number for each thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(not(loom))]
std::thread_local! {
    /// The thread's number, plus one; 0 before it has one.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}
#[cfg(loom)]
loom::thread_local! {
    static NUMBER: Cell<usize> = Cell::new(0);
}

/// The number of the thread that asks: small ones first, each given once.
#[inline]
pub(crate) fn this() -> usize {
    match NUMBER.with(Cell::get) {
        0 => first(),
        number => number - 1,
    }
}

/// The same plus one; 0 if the thread never asked.
#[inline]
pub(crate) fn known() -> usize {
    NUMBER.with(Cell::get)
}

/// Has this thread given another number when it asks next: it is that of a child, which was forked from the
/// thread that has this one.
#[cfg(unix)]
pub(crate) fn forget() {
    NUMBER.with(|own| own.set(0));
}

#[cold]
fn first() -> usize {
    // Of std under loom too: the order in which threads come does not matter to any model.
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    NUMBER.with(|own| own.set(number));
    number - 1
}
