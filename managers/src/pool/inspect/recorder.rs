//! How a pool's operations come into its [history](super::history).

use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::pool::cache::counters::add;
use crate::pool::cache::thread_cache::{RECORDED, ThreadCache};
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::inspect::history::{Action, CallSite, Note, Recording};
use crate::pool::request::AllocRequest;
use crate::pool::state::Pool;
use crate::pool::streams::free_stamp::Stamp;
use crate::stream::Stream;

impl Pool {
    /// Begins to record: the last `capacity` events.
    pub(crate) fn record(&self, capacity: usize) -> Result<()> {
        self.core.not_forked()?;
        let caches = self.caches.lock();
        self.observer.history().start(capacity);
        for cache in ThreadCache::revoke_all(&caches) {
            cache.set_flags(RECORDED);
        }
        drop(caches);
        self.observer.history().begin_live(self.live());
        Ok(())
    }

    /// Ends the recording.
    pub(crate) fn take_recording(&self) -> Result<Recording> {
        self.core.not_forked()?;
        let caches = self.caches.lock();
        let (recording, off) = self.observer.history().stop();
        if off {
            for cache in caches.iter() {
                cache.clear_flags(RECORDED);
            }
        }
        Ok(recording)
    }

    /// The last events of the pool's life.
    pub(crate) fn last_events(&self) -> Result<Recording> {
        self.core.not_forked()?;
        Ok(self.observer.history().last())
    }

    /// Notes the result of a request.
    #[cold]
    pub(crate) fn note_allocation(
        &self,
        ask: AllocRequest,
        stream: &Stream,
        taken: &Result<NonNull<BlockHeader>>,
        site: CallSite,
    ) {
        let (action, address, block, device_free) = match taken {
            Ok(piece) => {
                // SAFETY: the piece is the caller's.
                let header = unsafe { piece.as_ref() };
                (Action::Allocate, header.address(), header.bytes(), 0)
            }
            Err(Error::OverLimit(account) | Error::OutOfMemory { account, .. }) => {
                (Action::Refuse, 0, 0, account.device_free)
            }
            Err(_) => return,
        };
        self.observer.history().note(Note {
            action,
            address,
            bytes: ask.bytes,
            block,
            stream: stream.serial(),
            ticket: 0,
            device_free,
            name: ask.name.copied(),
            site,
        });
    }

    /// Notes that a piece comes back, before another user can have it.
    pub(crate) fn note_free(
        &self,
        header: &BlockHeader,
        action: Action,
        (stream, stamp): (u64, Stamp),
        site: CallSite,
    ) {
        if self.observer.history().is_on() {
            self.observer.history().note(Note {
                action,
                address: header.address(),
                bytes: header.requested().unwrap_or_default(),
                block: header.bytes(),
                stream,
                ticket: stamp.ticket(),
                device_free: 0,
                name: header.name(),
                site,
            });
        }
    }

    /// Frees a piece into the cache, as a free without a recording does. False when the cache is
    /// closed, or may keep nothing.
    pub(crate) fn free_recorded(
        self: &Arc<Self>,
        cache: &ThreadCache,
        piece: NonNull<BlockHeader>,
        site: CallSite,
    ) -> bool {
        // SAFETY: the piece is the caller's.
        let header = unsafe { piece.as_ref() };
        // SAFETY: the cache is this thread's, which is not within it; the pool and its caches are
        // there as long as the caller's share of it.
        let done = unsafe {
            cache.with_open(|content| {
                if !cache.may_keep() {
                    return false;
                }
                let from = (cache.state().serial(), cache.state().stamp());
                self.note_free(header, Action::Free, from, site);
                let (slot, bytes) = (header.slot(), header.bytes());
                if !header.is_named() && content.push(slot, bytes, piece) {
                    cache.counters().note_in(header.end_life(), add);
                    cache.counters().note_detour(add);
                } else {
                    self.free_overflow_inside(cache, content, piece);
                }
                true
            })
        };
        done == Some(true)
    }
}
