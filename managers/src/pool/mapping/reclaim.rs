//! Taking the memory of pages that nothing uses, without a place in mind.

use crate::error::Result;
use crate::pool::pages::map_plan::MapPlan;
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::Vmm;
use crate::pool::state::Pool;

impl Pool {
    /// Unmaps all idle memory whose handles have several pages, if a request that misses `rank`
    /// pages might then be had: a place can be such that these are the only ones there are, and
    /// lie half in it. Whether there were any.
    #[cold]
    #[track_caller]
    pub(crate) fn unmap_large(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        rank: u64,
    ) -> Result<bool> {
        let mut plan = MapPlan::default();
        {
            let heap = &mut self.central.lock().heap;
            let mut idle = heap.idle(usize::MAX);
            let pages: u64 = idle.iter().map(|(_, it)| u64::from(it.pages)).sum();
            idle.retain(|(_, extent)| extent.pages > 1);
            if idle.is_empty() || rank > mapper.cached() + self.available_pages() + pages {
                return Ok(false);
            }
            plan.begin_unmap(heap, idle);
        }
        self.unmap(vmm, mapper, search, &mut plan).map(|()| true)
    }

    /// Unmaps pages that nothing uses until `wanted` were found, or all. How many were.
    ///
    /// # Errors
    /// The driver's first error; the pages before it are in the cache.
    #[track_caller]
    pub(crate) fn unmap_idle(&self, mapper: &mut Mapper, wanted: usize) -> Result<usize> {
        let Some(vmm) = &self.vmm else {
            return Ok(0);
        };
        let mut plan = MapPlan::default();
        {
            let mut central = self.central.lock();
            let idle = central.heap.idle(wanted);
            plan.begin_unmap(&mut central.heap, idle);
        }
        self.unmap(vmm, mapper, &mut Search::default(), &mut plan)?;
        let pages = plan.idle.iter().map(|idle| idle.extent.pages as usize);
        Ok(pages.sum())
    }

    #[track_caller]
    fn unmap(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        plan: &mut MapPlan,
    ) -> Result<()> {
        let done = self.apply_plan(vmm, mapper, search, plan);
        plan.write_back(&mut self.central.lock().heap);
        done.map(drop)
    }
}
