//! Where the mapper's memory comes from: its cache, and the driver.

use crate::error::{Error, Result};
use crate::pool::pages::handle_cache::PhysicalHandle;
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::page_mapper::{Charges, PageMapper};
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::{Vmm, is_out_of_memory};

impl PageMapper {
    /// The driver's error when it has not enough: it is asked for more than the device has.
    ///
    /// # Errors
    /// Another error of the driver.
    #[track_caller]
    pub(crate) fn device_refusal(&self) -> Result<Option<Error>> {
        let Some(vmm) = self.vmm() else {
            return Ok(None);
        };
        let (_, total) = self.free_memory()?;
        let beyond = total.checked_next_multiple_of(self.page());
        let Some(beyond) = beyond.and_then(|bytes| bytes.checked_add(self.page())) else {
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
    pub(super) fn acquire_handle(
        &self,
        charges: &impl Charges,
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
            if let Some(memory) = self.create(charges, vmm, mapper, search, (*size).min(left))? {
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
            charges.release_charge(u64::from(larger.pages) * self.page());
            search.full = None;
        }
    }

    /// New memory, charged. `None` when there is none to be had.
    #[track_caller]
    fn create(
        &self,
        charges: &impl Charges,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        pages: u32,
    ) -> Result<Option<PhysicalHandle>> {
        let bytes = u64::from(pages) * self.page();
        if search.full.is_some() || !charges.charge(bytes) {
            return Ok(None);
        }
        let created = vmm.create(bytes);
        if created.is_err() {
            charges.undo_charge(bytes);
        }
        if is_out_of_memory(&created) {
            mapper.note_full(search, created.err());
            return Ok(None);
        }
        let handle = created?;
        charges.note_mapped();
        Ok(Some(PhysicalHandle { handle, pages }))
    }

    /// Gives memory of the cache back to the driver until `keep` pages are left.
    ///
    /// # Errors
    /// The driver's first error; that page stays in the cache, and charged.
    #[track_caller]
    pub(crate) fn release_cache(
        &self,
        charges: &impl Charges,
        mapper: &mut Mapper,
        keep: usize,
    ) -> Result<()> {
        let Some(vmm) = self.vmm() else {
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
            charges.release_charge(u64::from(memory.pages) * self.page());
        }
        Ok(())
    }
}
