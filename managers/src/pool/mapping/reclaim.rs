//! Taking the memory of pages that nothing uses, without a place in mind.

use crate::error::Result;
use crate::pool::pages::map_plan::MapPlan;
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::Vmm;
use crate::pool::state::Pool;

impl Pool {
    /// Unmaps all idle memory whose handles have several pages, if a request that misses so many
    /// pages might then be had: a place can be such that these are the only ones there are, and
    /// lie half in it. Whether there were any.
    #[cold]
    #[track_caller]
    pub(crate) fn unmap_large(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        missing: u64,
    ) -> Result<bool> {
        let there = mapper.cached() + self.available_pages();
        let plan = (self.central.lock()).begin_unmapping_large(missing, there, self.pages.page());
        let Some(mut plan) = plan else {
            return Ok(false);
        };
        self.unmap(vmm, mapper, search, &mut plan).map(|()| true)
    }

    /// Unmaps pages that nothing uses until `wanted` were found, or all. How many were.
    ///
    /// # Errors
    /// The driver's first error; the pages before it are in the cache.
    #[track_caller]
    pub(crate) fn unmap_idle(&self, mapper: &mut Mapper, wanted: usize) -> Result<usize> {
        let Some(vmm) = self.pages.vmm() else {
            return Ok(0);
        };
        let mut plan = self
            .central
            .lock()
            .begin_unmapping(wanted, self.pages.page());
        self.unmap(vmm, mapper, &mut Search::default(), &mut plan)?;
        Ok(plan.idle_pages())
    }

    #[track_caller]
    fn unmap(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        plan: &mut MapPlan,
    ) -> Result<()> {
        let done = self.pages.apply_plan(self, vmm, mapper, search, plan);
        self.central.lock().finish_unmapping(plan);
        done.map(drop)
    }
}
