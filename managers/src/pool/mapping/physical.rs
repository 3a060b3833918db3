//! Where the mapper's memory comes from: the limits, the cache, the driver.

use std::sync::atomic::Ordering;

use cupola_core::Budget;

use crate::error::{Error, Result};
use crate::pool::limit::budget;
use crate::pool::limit::device_limit::DeviceLimit;
use crate::pool::pages::handle_cache::PhysicalHandle;
use crate::pool::pages::handle_size::{Device, HandleSizes};
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::{Vmm, is_out_of_memory, memory_info};
use crate::pool::state::Pool;

impl Pool {
    /// Free and total bytes of the device.
    #[track_caller]
    pub(crate) fn device_memory(&self) -> Result<(u64, u64)> {
        let (free, total) = memory_info(&self.core, &self.calls)?;
        Ok((self.device_memory.free((free, total)), total))
    }

    /// Pages that the limits would let the pool have more.
    pub(crate) fn available_pages(&self) -> u64 {
        let shared = self.shared().map_or(u64::MAX, Budget::available);
        self.budget.available().min(shared) / self.page
    }

    /// How large handles may be when so many more pages are mapped.
    pub(crate) fn handle_sizes(&self, pages: u64, device: Device) -> HandleSizes {
        let limits = [Some(&**self.budget), self.shared()];
        let limits: Vec<_> = limits.into_iter().flatten().collect();
        HandleSizes::new(pages, self.page, self.available_pages(), device, &limits)
    }

    /// Charges pages to all limits: all of them or none.
    pub(crate) fn charge(&self, pages: u64) -> bool {
        budget::charge(&self.budget, self.shared(), pages * self.page)
    }

    /// The driver has given the charged bytes.
    pub(crate) fn note_mapped(&self) {
        let pool = self.parent.as_deref().unwrap_or(self);
        let peak = &pool.counters.peak_mapped;
        peak.fetch_max(self.budget.used(), Ordering::Relaxed);
    }

    /// Ends the charge of bytes that went back to the driver.
    pub(crate) fn release_charge(&self, bytes: u64) {
        budget::release(&self.budget, self.shared(), bytes);
        self.progress.note_room();
        if let Some(parent) = &self.parent {
            parent.progress.note_room();
        }
        if let Some(shared) = &self.config.within {
            shared.note_room();
        }
    }

    /// Ends the charge of bytes that the driver has not given.
    pub(crate) fn undo_charge(&self, bytes: u64) {
        budget::release(&self.budget, self.shared(), bytes);
        self.progress.note_undone();
        if let Some(parent) = &self.parent {
            parent.progress.note_room();
        }
    }

    pub(crate) fn shared(&self) -> Option<&Budget> {
        self.config.within.as_ref().map(DeviceLimit::budget)
    }

    /// The driver's error when it has not enough: it is asked for more than the device has.
    ///
    /// # Errors
    /// Another error of the driver.
    #[track_caller]
    pub(crate) fn device_refusal(&self) -> Result<Option<Error>> {
        let Some(vmm) = &self.vmm else {
            return Ok(None);
        };
        let (_, total) = self.device_memory()?;
        let beyond = total.checked_next_multiple_of(self.page);
        let Some(beyond) = beyond.and_then(|bytes| bytes.checked_add(self.page)) else {
            return Ok(None);
        };
        let created = vmm.create(beyond);
        if is_out_of_memory(&created) {
            return Ok(created.err());
        }
        // SAFETY: `create` has just returned the handle: it is mapped nowhere, and used by no
        // other.
        let _ = unsafe { vmm.release(created?) };
        Ok(None)
    }

    /// Memory of at most `left` pages: from the cache, else new memory of `size` pages or fewer.
    /// `None` when there is none to be had. `size` becomes 1 where there was none of that size.
    ///
    /// Where new memory has single pages a larger handle in the cache is not used as it is: given
    /// back, it becomes single pages too.
    #[track_caller]
    pub(crate) fn acquire_handle(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        left: u32,
        size: &mut u32,
    ) -> Result<Option<PhysicalHandle>> {
        let most = if *size == 1 { 1 } else { left };
        if let Some(memory) = mapper.take_kept_up_to(most) {
            return Ok(Some(memory));
        }
        loop {
            if let Some(memory) = self.create(vmm, mapper, search, (*size).min(left))? {
                return Ok(Some(memory));
            }
            if *size > 1 {
                // The device may have memory left, but not in one piece, or not as much.
                search.full = None;
                *size = 1;
                continue;
            }
            // Too large for this place: given back, it is memory for smaller ones.
            let Some(larger) = mapper.take_kept() else {
                return Ok(None);
            };
            // SAFETY: a handle of the cache is mapped nowhere, and it was taken out of there.
            if let Err(error) = unsafe { vmm.release(larger.handle) } {
                mapper.keep(larger);
                return Err(error);
            }
            self.release_charge(u64::from(larger.pages) * self.page);
            search.full = None;
        }
    }

    /// New memory, charged. `None` when there is none to be had.
    #[track_caller]
    pub(crate) fn create(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        pages: u32,
    ) -> Result<Option<PhysicalHandle>> {
        if search.full.is_some() || !self.charge(u64::from(pages)) {
            return Ok(None);
        }
        let bytes = u64::from(pages) * self.page;
        let created = vmm.create(bytes);
        if created.is_err() {
            self.undo_charge(bytes);
        }
        if is_out_of_memory(&created) {
            mapper.note_full(search, created.err());
            return Ok(None);
        }
        let handle = created?;
        self.note_mapped();
        Ok(Some(PhysicalHandle { handle, pages }))
    }

    /// Gives memory of the cache back to the driver until `keep` pages are left.
    ///
    /// # Errors
    /// The driver's first error; that page stays in the cache, and charged.
    #[track_caller]
    pub(crate) fn release_cache(&self, mapper: &mut Mapper, keep: usize) -> Result<()> {
        let Some(vmm) = &self.vmm else {
            return Ok(());
        };
        let _relaxed = (mapper.cached() > keep as u64).then(|| vmm.relaxed());
        while mapper.cached() > keep as u64 {
            let Some(memory) = mapper.take_kept() else {
                break;
            };
            // SAFETY: a handle of the cache is mapped nowhere, and it was taken out of there.
            if let Err(error) = unsafe { vmm.release(memory.handle) } {
                mapper.keep(memory);
                return Err(error);
            }
            self.release_charge(u64::from(memory.pages) * self.page);
        }
        Ok(())
    }
}
