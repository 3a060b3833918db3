//! `RegionHooks`: tells a driver that checks programs of blocks.
//!
//! Such a driver sees pages and chunks, and not the blocks that a pool cuts out of them. The
//! software device listens, and judges work by blocks; a GPU's driver does not, and nothing is
//! told: a pool looks once, when it is made. `docs/design/sim/strict.md` has the checks.

use std::ffi::c_char;
use std::panic::Location;
use std::ptr;

use cupola_sys::driver::hooks::{MemoryHooks, MemoryRegion};
use cupola_sys::driver::{CUcontext, CUdeviceptr, Driver};

use crate::pool::heap::block_header::BlockHeader;
use crate::pool::inspect::history::CallSite;
use crate::stream::Stream;

/// As long as it lives, this thread makes streams wait for a pool's own reasons.
pub(crate) struct OwnOrder<'a>(&'a MemoryHooks);

impl Drop for OwnOrder<'_> {
    fn drop(&mut self) {
        // SAFETY: the driver is there.
        unsafe { (self.0.own_order)(self.0.listener, 0) };
    }
}

/// A driver that listens.
pub(crate) struct RegionHooks(MemoryHooks);

impl RegionHooks {
    /// `None` if the driver does not listen. The driver must stay as long as the value.
    pub(crate) fn of(driver: &Driver) -> Option<Self> {
        driver.memory_hooks().map(Self)
    }

    /// A block is its user's from now on. A buffer ends where its elements do; the user of another
    /// piece may have all of it.
    #[cold]
    pub(crate) fn begin(
        &self,
        header: &BlockHeader,
        stream: &Stream,
        site: &'static Location<'static>,
    ) {
        let bytes = match header.is_buffer() {
            true => header.requested().unwrap_or_default(),
            false => header.bytes(),
        };
        let region = MemoryRegion {
            bytes,
            ..Self::region(header.address(), Some(stream), Some(site), header.name())
        };
        // SAFETY: the driver is there, and the strings outlive the call.
        self.tell(&region, |hooks, region| unsafe {
            (hooks.region_register)(hooks.listener, region);
        });
    }

    /// A block is its user's no more: before another user can have it.
    #[cold]
    pub(crate) fn end(&self, header: &BlockHeader, stream: &Stream, site: CallSite) {
        let region = Self::region(header.address(), Some(stream), site, None);
        // SAFETY: the driver is there, by the condition of `of`, and the region outlives the call.
        self.tell(&region, |hooks, region| unsafe {
            (hooks.region_unregister)(hooks.listener, region);
        });
    }

    /// A block's end, which is told next, comes after the work that is on `stream` now: no other
    /// user gets its memory before that is over.
    #[cold]
    pub(crate) fn behind(&self, header: &BlockHeader, stream: &Stream) {
        let region = Self::region(header.address(), Some(stream), None, None);
        // SAFETY: the driver is there, by the condition of `of`, and the region outlives the call.
        self.tell(&region, |hooks, region| unsafe {
            (hooks.region_behind)(hooks.listener, region);
        });
    }

    /// Until the value is dropped, `stream` is made to wait for a block's allocation. It then waits
    /// for other work too by accident, which the program's work must not count on.
    pub(crate) fn share(&self, address: CUdeviceptr, stream: &Stream) -> OwnOrder<'_> {
        let Self(hooks) = self;
        let region = Self::region(address, Some(stream), None, None);
        // SAFETY: the driver is there, by the condition of `of`, and the region outlives the call.
        unsafe {
            (hooks.region_share)(hooks.listener, &raw const region);
            (hooks.own_order)(hooks.listener, 1);
        }
        OwnOrder(hooks)
    }

    /// The host is about to read page-locked memory, or to write it.
    #[cold]
    pub(crate) fn host_access(
        &self,
        (start, bytes): (*const u8, usize),
        writes: bool,
        site: &'static Location<'static>,
    ) {
        let region = MemoryRegion {
            bytes: bytes as u64,
            ..Self::region(start.addr() as u64, None, Some(site), None)
        };
        // SAFETY: the driver is there, by the condition of `of`, and the region outlives the call.
        self.tell(&region, |hooks, region| unsafe {
            (hooks.host_access)(hooks.listener, region, u32::from(writes));
        });
    }

    fn tell(&self, region: &MemoryRegion, tell: impl FnOnce(&MemoryHooks, *const MemoryRegion)) {
        if region.address != 0 {
            tell(&self.0, ptr::from_ref(region));
        }
    }

    fn region(
        address: CUdeviceptr,
        stream: Option<&Stream>,
        site: CallSite,
        name: Option<&'static str>,
    ) -> MemoryRegion {
        let text = |text: Option<&'static str>| {
            text.map_or((ptr::null(), 0), |text| {
                (text.as_ptr().cast::<c_char>(), text.len())
            })
        };
        let (file, file_len) = text(site.map(Location::file));
        let (name, name_len) = text(name);
        let context: CUcontext = stream.map_or(ptr::null_mut(), |stream| stream.core().raw());
        MemoryRegion {
            address,
            bytes: 0,
            context,
            stream: stream.map_or(ptr::null_mut(), Stream::raw),
            file,
            file_len,
            name,
            name_len,
            line: site.map_or(0, Location::line),
        }
    }
}
