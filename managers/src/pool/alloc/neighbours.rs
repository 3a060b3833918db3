//! Memory that other pools keep for reuse, for a request that lacks it.

use std::collections::HashSet;
use std::iter;

use crate::error::Result;
use crate::pool::alloc::slow_path::SlowRequest;
use crate::pool::member::Member;
use crate::pool::pages::mapper::Found;
use crate::pool::pages::mapper_guard::MapperGuard;
use crate::pool::pages::search::Search;
use crate::pool::state::Pool;
use crate::sync::rundown::RundownGuard;

impl Pool {
    /// Whether this pool could have memory that others give up: not where its own limit is in the
    /// way.
    pub(crate) fn is_short_of_others(&self, search: &Search) -> bool {
        let shared = self.config.within.as_ref();
        let left = shared.map_or(u64::MAX, |shared| shared.budget().available());
        let own = self.budget.available();
        self.parent.is_some() || search.is_device_full() || left < own
    }

    /// Takes the bytes that the request lacks from one pool after the other, until they are
    /// there; then all that they do not use, for the place may need more than was thought.
    #[track_caller]
    pub(crate) fn find_at_others<'p>(
        &'p self,
        mut mapper: MapperGuard<'p>,
        search: &mut Search,
        request: SlowRequest,
    ) -> Result<(Option<Found>, MapperGuard<'p>)> {
        let is_full = search.is_device_full();
        let whole = request.want.bytes.div_ceil(self.pages.page());
        let room = if is_full { 0 } else { self.available_pages() };
        let lacking = whole.saturating_sub(room).max(1) * self.pages.page();
        for rest in [Some(lacking), None] {
            let mut left = rest;
            // Theirs and ours at once could wait for each other.
            drop(mapper);
            for other in self.others_on(is_full) {
                // Errors of their contexts are for their own callers.
                let Some(other) = Self::of_member(&*other) else {
                    continue;
                };
                let given = other.give_up_idle(left.unwrap_or(u64::MAX), request.wait);
                left = left.map(|left| left.saturating_sub(given.unwrap_or(0)));
                if left == Some(0) {
                    break;
                }
            }
            mapper = self.pages.lock_within(request.wait)?;
            // The driver has their memory now, and others may have searched meanwhile.
            *search = Search::default();
            let found = self.find(&mut mapper, search, request.want, self.idle(request))?;
            if found.is_some() {
                return Ok((found, mapper));
            }
        }
        Ok((None, mapper))
    }

    /// The pools that may have memory for a request: those that share a limit with this one, and on
    /// a full device those of the context.
    fn others_on(&self, is_full: bool) -> impl Iterator<Item = RundownGuard<dyn Member>> + use<> {
        let mut sharing = self.others();
        let mut siblings = is_full.then(|| self.table.others(self.number));
        let mut seen = HashSet::new();
        iter::from_fn(move || {
            let shared = sharing.find(|other| seen.insert(other.number()));
            // A graph's memory gives up nothing.
            let mut is_new = |other: &RundownGuard<dyn Member>| {
                !other.is_of_graph() && seen.insert(other.number())
            };
            shared.or_else(|| siblings.as_mut()?.find(&mut is_new))
        })
    }
}
