//! How a pool's operations come into its [history](super::history).

use std::ptr::NonNull;
use std::sync::Arc;

use super::flow::add;
use super::header::Header;
use super::history::{Action, CallSite, Note, Recording};
use super::lane::{Lane, RECORDED};
use super::pool::Pool;
use super::request::Ask;
use super::stamp::Stamp;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::sync::lock;

impl Pool {
    /// Begins to record: the last `capacity` events.
    pub(super) fn record(&self, capacity: usize) -> Result<()> {
        self.core.not_forked()?;
        let lanes = lock(&self.lanes);
        self.history.start(capacity);
        for lane in Lane::revoke_all(&lanes) {
            lane.set_flags(RECORDED);
        }
        drop(lanes);
        self.history.begin_live(self.live());
        Ok(())
    }

    /// Ends the recording.
    pub(super) fn take_recording(&self) -> Result<Recording> {
        self.core.not_forked()?;
        let lanes = lock(&self.lanes);
        let (recording, off) = self.history.stop();
        if off {
            for lane in lanes.iter() {
                lane.lock.clear_flags(RECORDED);
            }
        }
        Ok(recording)
    }

    /// The last events of the pool's life.
    pub(super) fn last_events(&self) -> Result<Recording> {
        self.core.not_forked()?;
        Ok(self.history.last())
    }

    /// Notes what came of a request.
    #[cold]
    pub(super) fn note_taken(
        &self,
        ask: Ask,
        stream: &Stream,
        taken: &Result<NonNull<Header>>,
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
        self.history.note(Note {
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

    /// Notes that a piece comes back, before anybody else can have it.
    pub(super) fn note_put(
        &self,
        header: &Header,
        action: Action,
        (stream, stamp): (u64, Stamp),
        site: CallSite,
    ) {
        if self.history.is_on() {
            self.history.note(Note {
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

    /// What a free would be without a recording. False when the lane is closed, or may keep
    /// nothing.
    pub(super) fn put_recorded(
        self: &Arc<Self>,
        lane: &Lane,
        piece: NonNull<Header>,
        site: CallSite,
    ) -> bool {
        // SAFETY: the piece is the caller's.
        let header = unsafe { piece.as_ref() };
        // SAFETY: the lane is this thread's, which is not within it; the pool and its lanes are
        // there as long as the caller's share of it.
        let done = unsafe {
            lane.with_open(|content| {
                if !lane.may_keep() {
                    return false;
                }
                let from = (lane.line.serial(), lane.line.stamp());
                self.note_put(header, Action::Free, from, site);
                let (slot, bytes) = (header.slot.get(), header.bytes());
                if !header.is_named() && content.push(slot, bytes, piece) {
                    lane.flow.note_in(header.end_life(), add);
                    add(&lane.flow.detours, 1);
                } else {
                    self.take_over(lane, content, piece);
                }
                true
            })
        };
        done == Some(true)
    }
}
