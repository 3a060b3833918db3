//! The driver calls of a plan, under the mapper's lock alone.

use cupola_sys::driver::CUmemAccess_flags;

use crate::error::Result;
use crate::pool::pages::map_plan::MapPlan;
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::page_mapper::{Charges, PageMapper};
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::Vmm;

const READ_WRITE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

impl PageMapper {
    /// Makes the driver calls of a plan. False when there was no memory after all: another pool
    /// took it, or the driver has none.
    #[track_caller]
    pub(crate) fn apply_plan(
        &self,
        charges: &impl Charges,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        plan: &mut MapPlan,
    ) -> Result<bool> {
        // Once for all calls of the plan.
        let _relaxed = (!plan.is_empty()).then(|| vmm.relaxed());
        while let Some((address, bytes)) = plan.next_idle() {
            // SAFETY: the extent is mapped, in a free piece, and all work that used it is complete.
            unsafe { vmm.unmap(address, bytes) }?;
            charges.note_moved(bytes / self.page());
            if let Some(memory) = plan.note_unmapped() {
                mapper.keep(memory);
            }
        }
        while let Some(missing) = plan.next_missing() {
            let mut size = missing.size();
            let Some(memory) =
                self.acquire_handle(charges, vmm, mapper, search, missing.most(), &mut size)?
            else {
                return Ok(false);
            };
            if size < missing.size() {
                // The next pages would find too little for these sizes too.
                plan.use_single_pages();
            }
            let bytes = u64::from(memory.pages) * self.page();
            // SAFETY: the pages are reserved and bare, and Busy keeps others from them.
            if let Err(error) = unsafe { vmm.map(missing.address(), bytes, memory.handle) } {
                mapper.keep(memory);
                return mapper.fail(search, error);
            }
            plan.note_mapped(memory);
        }
        while let Some((address, bytes)) = plan.next_sealed() {
            // SAFETY: all pages of the run are mapped.
            let opened = unsafe { vmm.set_access(address, bytes, READ_WRITE, mapper.peers()) };
            if let Err(error) = opened {
                return mapper.fail(search, error);
            }
            plan.note_opened();
        }
        Ok(true)
    }
}
