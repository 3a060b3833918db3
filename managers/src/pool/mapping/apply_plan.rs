//! The driver calls of a plan, under the mapper's lock alone.

use std::sync::atomic::Ordering;

use crate::error::Result;
use crate::pool::pages::handle_cache::PhysicalHandle;
use crate::pool::pages::handle_size::HandleSizes;
use crate::pool::pages::map_plan::MapPlan;
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::Vmm;
use crate::pool::state::Pool;

impl Pool {
    /// Makes the driver calls of a plan. False when there was no memory after all: another pool
    /// took it, or the driver has none.
    #[track_caller]
    pub(crate) fn apply_plan(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        plan: &mut MapPlan,
    ) -> Result<bool> {
        // Once for all calls of the plan.
        let _relaxed = (!plan.is_empty()).then(|| vmm.relaxed());
        for idle in &mut plan.idle {
            let bytes = u64::from(idle.extent.pages) * self.page;
            // SAFETY: the extent is mapped, in a free piece, and all work that used it is complete.
            unsafe { vmm.unmap(idle.address, bytes) }?;
            let pages = u64::from(idle.extent.pages);
            self.counters.remapped.fetch_add(pages, Ordering::Relaxed);
            idle.gone = true;
            mapper.cache.put(PhysicalHandle {
                handle: idle.handle,
                pages: idle.extent.pages,
            });
        }
        for run in &mut plan.bare {
            let mut size = plan.handles.pages(run.pages);
            while run.done < run.pages {
                let left = run.pages - run.done;
                let Some(memory) = self.acquire_handle(vmm, mapper, search, left, &mut size)?
                else {
                    return Ok(false);
                };
                let address = run.address + u64::from(run.done) * self.page;
                let bytes = u64::from(memory.pages) * self.page;
                // SAFETY: the pages are reserved and bare, and Busy keeps others from them.
                if let Err(error) = unsafe { vmm.map(address, bytes, memory.handle) } {
                    mapper.cache.put(memory);
                    return mapper.fail(search, error);
                }
                run.done += memory.pages;
                plan.mapped.push((address, memory));
            }
            if size < plan.handles.pages(run.pages) {
                // The next run would find too little for these sizes too.
                plan.handles = HandleSizes::default();
            }
        }
        // The call costs nearly the same for any number of pages.
        let mut sealed = std::mem::take(&mut plan.sealed);
        for &(address, memory) in &plan.mapped {
            sealed.extend((0..u64::from(memory.pages)).map(|page| address + page * self.page));
        }
        sealed.sort_unstable();
        for run in sealed.chunk_by(|a, b| a + self.page == *b) {
            // SAFETY: all pages of the run are mapped.
            let opened = unsafe { vmm.set_access(run[0], run.len() as u64 * self.page) };
            if let Err(error) = opened {
                return mapper.fail(search, error);
            }
            plan.opened.extend_from_slice(run);
        }
        Ok(true)
    }
}
