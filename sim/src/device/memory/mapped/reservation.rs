//! A reserved range of device addresses, and the range of host addresses that shadows it.
//!
//! Whatever is mapped at device address `base + n` is at host address `start + n`: memory
//! over adjacent mappings is one piece on the host too.
//!
//! Why no access of ours can hit a hole in the shadow: every pointer into it comes from a
//! [`View`], which holds a [`Use`] for as long as the pointer is used. A view is made under
//! the lock of the table of mappings, of places where pages are shown at that moment.
//! While there is a use, nothing is hidden: an unmapped place goes on showing its pages,
//! which stay allocated, until the last use ends. A new mapping may replace them in one
//! step, as on hardware: work that still uses the address then accesses the new pages.

use std::sync::{Arc, Mutex};

use crate::device::memory::access::Access;
use crate::device::memory::mapped::permissions::Permissions;
use crate::device::memory::mapped::runs::Run;
use crate::device::memory::mapped::table::Mapping;
use crate::device::memory::pages::{Pages, Window};
use crate::device::strict::Here;
use crate::device::sync::lock;

/// What a program got from `cuMemAddressReserve`.
#[derive(Debug)]
pub(in crate::device) struct Reservation {
    pub(in crate::device) base: u64,
    pub(in crate::device) len: u64,
    /// The call that reserved it.
    pub(super) made: Here,
    window: Window,
    shown: Mutex<Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    /// How many [`Use`]s there are.
    uses: usize,
    /// Unmapped, and still shown.
    stale: Vec<Stale>,
}

/// Pages that are shown from `at` to `at + len`, counted from the window's start.
#[derive(Debug)]
struct Stale {
    at: u64,
    len: u64,
    pages: Arc<Pages>,
}

impl Reservation {
    /// `None` if the host has no such range of addresses.
    pub(super) fn new(base: u64, len: u64) -> Option<Self> {
        Some(Self {
            base,
            len,
            made: Here::now(),
            window: Window::reserve(len)?,
            shown: Mutex::default(),
        })
    }

    pub(super) fn end(&self) -> u64 {
        self.base + self.len
    }

    /// Whether `len` bytes from `address` lie within.
    pub(super) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset < self.len && self.len - offset >= len
    }

    /// Shows the pages from `address` on. False if the host refuses.
    pub(super) fn show(&self, address: u64, pages: &Pages) -> bool {
        let at = address - self.base;
        let mut shown = lock(&self.shown);
        if !self.window.show(at, pages) {
            return false;
        }
        // What was stale there has been replaced.
        let end = at + pages.len();
        let old = std::mem::take(&mut shown.stale);
        for stale in old {
            let stale_end = stale.at + stale.len;
            let parts = [
                (stale.at, stale_end.min(at)),
                (stale.at.max(end), stale_end),
            ];
            for (from, to) in parts.into_iter().filter(|(from, to)| from < to) {
                shown.stale.push(Stale {
                    at: from,
                    len: to - from,
                    pages: Arc::clone(&stale.pages),
                });
            }
        }
        true
    }

    /// Stops to show the pages, which are at `address`, as soon as nothing uses the range.
    pub(super) fn hide(&self, address: u64, pages: Arc<Pages>) {
        let mut shown = lock(&self.shown);
        shown.stale.push(Stale {
            at: address - self.base,
            len: pages.len(),
            pages,
        });
        self.sweep(&mut shown);
    }

    /// Hides what is stale, unless something uses the range.
    fn sweep(&self, shown: &mut Shown) {
        if shown.uses > 0 {
            return;
        }
        shown.stale.retain(|stale| {
            // SAFETY: there is no use, so no code has a pointer into the window; and none
            // gets one to this place, because a view is made of mapped places only.
            let hidden = unsafe { self.window.hide(stale.at, stale.len) };
            // If the host refuses, the next use's end tries again.
            !hidden
        });
    }
}

/// Keeps what a reservation shows accessible.
#[derive(Debug)]
struct Use(Arc<Reservation>);

impl Use {
    fn new(reservation: &Arc<Reservation>) -> Self {
        lock(&reservation.shown).uses += 1;
        Self(Arc::clone(reservation))
    }
}

impl Clone for Use {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut shown = lock(&self.0.shown);
        shown.uses -= 1;
        self.0.sweep(&mut shown);
    }
}

/// Mapped memory that is one piece, with the same permissions everywhere. It stays accessible
/// to the host while the view lives, whatever the program unmaps.
#[derive(Clone, Debug)]
pub(in crate::device) struct View {
    pub(in crate::device) base: u64,
    pub(in crate::device) len: u64,
    /// Ordinal of the device that the memory is on, or the first part of it.
    pub(in crate::device) device: usize,
    /// The mapping's id, or the first one's.
    pub(in crate::device) id: u64,
    /// The call that mapped it.
    pub(in crate::device) made: Here,
    permissions: Permissions,
    held: Use,
}

impl View {
    /// A view of a run, which must be mapped until this has returned.
    pub(super) fn new(
        reservation: &Arc<Reservation>,
        run: Run,
        (device, mapping): (usize, Mapping),
    ) -> Self {
        Self {
            base: run.start,
            len: run.end - run.start,
            device,
            id: mapping.id,
            made: mapping.made,
            permissions: run.permissions,
            held: Use::new(reservation),
        }
    }

    /// Whether `len` bytes from `address` lie within.
    pub(in crate::device) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset < self.len && self.len - offset >= len
    }

    /// Host address of the byte at `address`, which must lie within the view.
    pub(in crate::device) fn host(&self, address: u64) -> *mut u8 {
        let offset = address.wrapping_sub(self.base).min(self.len);
        let reservation = &self.held.0;
        let offset = self.base - reservation.base + offset;
        let start = reservation.window.start();
        start.wrapping_add(usize::try_from(offset).unwrap_or(0))
    }

    /// What a device may do with it.
    pub(in crate::device) fn access(&self, device: usize) -> Access {
        self.permissions.of(device)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::device::memory::pages::Heap;

    const PAGE: u64 = 2 << 20;
    const BASE: u64 = 1 << 40;

    fn view(reservation: &Arc<Reservation>, pages: u64) -> View {
        let run = Run {
            start: BASE,
            end: BASE + pages * PAGE,
            permissions: Permissions::default(),
        };
        let mapping = Mapping {
            len: pages * PAGE,
            handle: 1,
            id: 1,
            made: Here::now(),
        };
        View::new(reservation, run, (0, mapping))
    }

    /// Without it, unmapping memory that a kernel uses would kill the process, or keep the
    /// memory for ever.
    #[test]
    fn unmapped_pages_stay_until_the_last_use_ends() {
        let heap = Arc::new(Heap::default());
        let reservation = Arc::new(Reservation::new(BASE, 4 * PAGE).unwrap());
        let pages = Arc::new(heap.allocate(2 * PAGE).unwrap());
        assert!(reservation.show(BASE, &pages));
        let first = view(&reservation, 2);
        let second = first.clone();
        let weak = Arc::downgrade(&pages);
        reservation.hide(BASE, pages);
        drop(first);
        let byte = second.host(BASE + PAGE);
        // SAFETY: the view keeps the place accessible.
        unsafe { byte.write_volatile(3) };
        assert!(weak.upgrade().is_some());
        drop(second);
        assert!(weak.upgrade().is_none(), "no use of them is left");
    }

    /// Without it, a mapping made over one that is still used would be hidden when the old
    /// one's time comes.
    #[test]
    fn a_new_mapping_over_a_used_one_stays() {
        let heap = Arc::new(Heap::default());
        let reservation = Arc::new(Reservation::new(BASE, 4 * PAGE).unwrap());
        let old = Arc::new(heap.allocate(3 * PAGE).unwrap());
        assert!(reservation.show(BASE, &old));
        let used = view(&reservation, 3);
        let weak = Arc::downgrade(&old);
        reservation.hide(BASE, old);
        let new = heap.allocate(PAGE).unwrap();
        assert!(reservation.show(BASE + PAGE, &new));
        // SAFETY: the view keeps the place accessible.
        unsafe { used.host(BASE + PAGE).write_volatile(9) };
        assert!(
            weak.upgrade().is_some(),
            "both ends of the old one are used"
        );
        drop(used);
        assert!(weak.upgrade().is_none());
        let again = view(&reservation, 3);
        // SAFETY: the new pages are still shown there.
        assert_eq!(unsafe { again.host(BASE + PAGE).read_volatile() }, 9);
    }
}
