//! The end of a pool: everything goes back to the driver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cupola_sys::driver::CUdeviceptr;

use crate::driver::Kind;
use crate::error::{Result, Site};
use crate::pool::heap::block_header::Withheld;
use crate::pool::member::Member;
use crate::pool::pages::handle_cache::PhysicalHandle;
use crate::pool::pages::page_mapper::Charges;
use crate::pool::state::{Kept, Pool};
use crate::stream::timeline::Closed;
use crate::sync::deferred::DeferCallbacks;

/// How long one look at a timeline may take. The look is repeated: memory that work uses must not
/// be unmapped under it.
const TURN: Duration = Duration::from_secs(1);

impl Pool {
    /// The last handle is gone. The pool lives on as long as a piece of it is out.
    pub(crate) fn close(self: &Arc<Self>) {
        if self.core.not_forked().is_err() {
            // The child cannot see whether a piece is out: another thread may have left a lock
            // taken.
            let _for_ever = Arc::into_raw(Arc::clone(self));
            return;
        }
        // Before this handle goes: else the pool could end on a thread that just ends.
        self.caches.exit().close();
        let leases = {
            let caches = self.caches.lock();
            self.orphan.close();
            // They stay: threads that have pieces look for them.
            self.close_caches(&caches)
        };
        drop(leases);
        self.drain_transfer_caches(&self.all_states());
        self.orphan.hold(Kept::new(self), || self.is_over());
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.orphan.is_closed()
    }
}

/// Gives everything back: no piece is out any more.
impl Drop for Pool {
    fn drop(&mut self) {
        end(self);
    }
}

/// No piece of the pool is out any more, and no other thread can reach it.
fn end(pool: &Pool) {
    if pool.core.not_forked().is_err() {
        // All of it is the parent's.
        return;
    }
    // A callback for a lost context may use a pool that waits for this one.
    let _defer = DeferCallbacks::new();
    give_back(pool);
    pool.table.note_empty();
    if pool.rundown.has_begun() {
        pool.note_ended();
    }
}

fn give_back(pool: &Pool) {
    let ledger = pool.core.ledger();
    ledger.remove(Kind::Pool, 1);
    pool.table.leave(Member::buffers_made(pool));
    // As all cleanup, twice; then for all work of the context.
    let waited = wait(pool).or_else(|_| wait(pool));
    let waited = waited.or_else(|_| pool.core.synchronize(Site::here()).map(|()| true));
    // Until when work uses abandoned blocks cannot be known. In a lost context nothing runs.
    let lost = abandoned(pool);
    ledger.remove(Kind::AbandonedBytes, bytes_of(&lost));
    let stays = match pool.core.is_healthy() {
        true if waited == Ok(true) => Stays::With(&lost),
        // Nor whether work still uses the rest: all of it is left alone.
        true => Stays::All,
        false => Stays::With(&[]),
    };
    let (left, released) = release(pool, &stays);
    if pool.core.is_healthy() {
        ledger.add(Kind::AbandonedBytes, left);
    }
    // Abandoned blocks were counted when they were given up.
    if released.is_err() || matches!(stays, Stays::All) {
        ledger.add(Kind::Abandoned, 1);
    }
}

/// Addresses, and how many bytes there.
type Range = (CUdeviceptr, u64);

fn bytes_of(ranges: &[Range]) -> u64 {
    ranges.iter().map(|(_, bytes)| bytes).sum()
}

/// The addresses of blocks that no user will bring back.
fn abandoned(pool: &Pool) -> Vec<Range> {
    let mut lost = Vec::new();
    if !pool.central.lock().has_abandoned() {
        return lost;
    }
    pool.with_headers(|header| {
        if header.withheld() == Some(Withheld::Abandoned) {
            lost.push((header.address(), header.bytes()));
        }
    });
    lost
}

/// The memory that is not given back at the end.
pub(crate) enum Stays<'a> {
    /// Memory that the driver would take back together with any of these.
    With(&'a [Range]),
    All,
}

impl Stays<'_> {
    /// Whether these addresses stay, which the driver takes back together.
    pub(crate) fn has(&self, address: CUdeviceptr, bytes: u64) -> bool {
        match self {
            Self::All => true,
            Self::With(lost) => {
                let touches = |&(at, size): &Range| at < address + bytes && address < at + size;
                lost.iter().any(touches)
            }
        }
    }
}

/// Waits for work that still uses freed memory: unmapping is not ordered on streams. False where
/// nothing tells when that is over: in a capture, which may not end before this does.
fn wait(pool: &Pool) -> Result<bool> {
    for state in pool.all_states() {
        let timeline = state.timeline();
        let last = pool.central.lock().rules().last_freed(state.index());
        while !timeline.wait_on_host(&pool.core, last, Instant::now() + TURN)? {
            pool.core.healthy()?;
            if timeline.close(&pool.core, last)? != Closed::Covered {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Gives all but `stays` back, even where some of it fails. How many bytes did not go, and the
/// first error.
fn release(pool: &Pool, stays: &Stays<'_>) -> (u64, Result<()>) {
    let mut first = Ok(());
    let mut kept = 0;
    let mut note = |result: Result<()>| {
        if first.is_ok() {
            first = result;
        }
    };
    // Memory that the driver does not take back counts for the limit as long as it is there: a
    // lost context has nothing any more.
    let lose = |bytes| {
        if !pool.core.is_healthy() {
            pool.release_charge(bytes);
        }
    };
    let mut mapper = pool.pages.lock();
    if let Some(vmm) = pool.pages.vmm() {
        let regions = pool.central.lock().take_regions();
        let _relaxed = (!regions.is_empty()).then(|| vmm.relaxed());
        for mut region in regions {
            let mut extents = Vec::new();
            for extent in region.extents() {
                extents.push(extent);
            }
            let mut left = 0;
            for &extent in &extents {
                let bytes = u64::from(extent.pages) * pool.pages.page();
                if stays.has(region.address(extent.first), bytes) {
                    left += 1;
                    kept += bytes;
                    continue;
                }
                let Some(handle) = region.begin_unmap(extent) else {
                    continue;
                };
                // SAFETY: the extent is mapped, and nothing that runs uses it.
                match unsafe { vmm.unmap(region.address(extent.first), bytes) } {
                    Ok(()) => mapper.keep(PhysicalHandle {
                        handle,
                        pages: extent.pages,
                    }),
                    Err(error) => {
                        left += 1;
                        kept += bytes;
                        lose(bytes);
                        note(Err(error));
                    }
                }
            }
            if left == 0 {
                // SAFETY: nothing is mapped there any more.
                note(unsafe { vmm.unreserve(region.base(), region.bytes()) });
            }
        }
        while let Some(memory) = mapper.take_kept() {
            // SAFETY: a handle of the cache is mapped nowhere, and it was taken out of there.
            let released = unsafe { vmm.release(memory.handle) };
            let bytes = u64::from(memory.pages) * pool.pages.page();
            match released {
                Ok(()) => pool.release_charge(bytes),
                Err(_) => {
                    kept += bytes;
                    lose(bytes);
                }
            }
            note(released);
        }
    }
    let (left, freed) = pool.free_all_chunks(&mut mapper, stays);
    note(freed);
    (kept + left, first)
}

#[cfg(all(test, not(loom)))]
mod tests;
