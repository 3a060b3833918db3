//! An item on its way out: whether it has arrived, and its end.

use std::task::{Poll, Waker};

use cupola_core::{Stage, Turn};

use super::engine::Engine;
use super::item::Item;
use super::telemetry::scope::Scope;
use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError, ItemStage, Result, Site};
use crate::stream::Ticket;

impl<I: DeviceCopy, O: DeviceCopy> Engine<I, O> {
    /// Whether an item, or a turn without one, is behind all that was put.
    pub(super) fn has_output(&self) -> bool {
        self.turns.oldest(Stage::Downloading).is_some()
    }

    /// Frees the turns without an item that come before the oldest item. Whether there is one.
    pub(super) fn find_item(&mut self) -> bool {
        while let Some(turn) = self.turns.oldest(Stage::Downloading) {
            if self.slots[self.turns.slot(turn)].has_item() {
                return true;
            }
            self.turns.advance(turn);
        }
        false
    }

    /// Number of the oldest item; that of the next one when none is in flight.
    #[cfg(feature = "futures")]
    pub(super) fn oldest_index(&self) -> u64 {
        let oldest = self.turns.oldest(Stage::Downloading);
        oldest.map_or(self.next, |turn| self.slots[self.turns.slot(turn)].index())
    }

    /// Whether the oldest item has arrived (`cuEventQuery`, unless it is known).
    #[track_caller]
    pub(super) fn has_arrived(&mut self) -> Result<bool, ItemError<Error>> {
        let Some(turn) = self.turns.oldest(Stage::Downloading) else {
            return Ok(false);
        };
        let place = self.turns.slot(turn);
        let index = self.slots[place].index();
        let failed = |error| ItemError::new(index, ItemStage::Download, error);
        self.is_usable().map_err(failed)?;
        // No closure, which would not know this function's caller.
        self.has_arrived_in(place).map_err(failed)
    }

    /// Waits until the download of a slot's item is on its stream, if a thread of its own puts it, or could
    /// not be put.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub(super) fn wait_until_put(&mut self, place: usize) -> Result<()> {
        let slot = &mut self.slots[place];
        if slot.download_state().is_handed()
            && let Some(thread) = self.downloads.thread()
        {
            self.streams.context.core().not_forked()?;
            slot.note_put(thread.wait(place));
        }
        Ok(())
    }

    /// Whether the download of a slot's item is on its stream, or could not be put; else `waker` is woken
    /// then.
    pub(super) fn is_put(&mut self, place: usize, waker: Option<&Waker>) -> bool {
        let slot = &mut self.slots[place];
        if slot.download_state().is_handed()
            && let Some(thread) = self.downloads.thread()
        {
            match thread.poll(place, waker) {
                Poll::Ready(put) => slot.note_put(put),
                Poll::Pending => return false,
            }
        }
        true
    }

    /// Whether the item of a slot has arrived, or never will because its download could not be put: taking it
    /// tells.
    #[track_caller]
    pub(super) fn has_arrived_in(&mut self, place: usize) -> Result<bool> {
        self.streams.context.core().not_forked()?;
        if !self.is_put(place, None) {
            return Ok(false);
        }
        let slot = &mut self.slots[place];
        match slot.download_state().has_failed() {
            true => Ok(true),
            false => slot.has_arrived(),
        }
    }

    /// Waits for the oldest turn's item, and ends the turn; `None` when it has no item.
    ///
    /// # Errors
    /// What the wait returned: the turn is not over then, and the next call waits again. That the
    /// download could not be put by the thread that was to, that the item's bytes are no values, or that its
    /// times could not be had: the turn is over, unless the context is lost.
    #[track_caller]
    pub(super) fn take<E: From<Error>>(&mut self) -> Result<Option<Item<'_, O>>, ItemError<E>> {
        let Some(turn) = self.turns.oldest(Stage::Downloading) else {
            return Ok(None);
        };
        let place = self.turns.slot(turn);
        let slot = &mut self.slots[place];
        let index = slot.index();
        let failed = |error: Error| ItemError::new(index, ItemStage::Download, error);
        if !slot.has_item() {
            self.turns.advance(turn);
            return Ok(None);
        }
        debug_assert!(slot.is_of(turn), "a slot belongs to its newest turn");
        if self.lost {
            return Err(failed(self.streams.lost()));
        }
        let scope = Scope::wait(index);
        self.wait_until_put(place).map_err(failed)?;
        if let Some(error) = self.slots[place].download_state().take_failure() {
            self.end_failed(turn, Site::here());
            return Err(failed(error));
        }
        let slot = &mut self.slots[place];
        slot.wait().map_err(failed)?;
        drop(scope);
        self.turns.advance(turn);
        slot.leave_out();
        if let Some(clock) = &mut self.clock {
            clock.take(slot.marks(), index, place).map_err(failed)?;
        }
        // SAFETY: the slot had an item, whose download has completed; the next one needs a new turn,
        // which the item's borrow of the engine forbids.
        unsafe { slot.item() }.map(Some).map_err(failed)
    }

    /// Ends the turn of an item whose download could not be put, once nothing that uses its slot can run.
    fn end_failed(&mut self, turn: Turn, site: Site) {
        self.wait_for_all(site);
        if !self.lost {
            self.slots[self.turns.slot(turn)].leave_out();
            self.turns.advance(turn);
        }
    }

    /// Waits for the oldest turn's item, if it has one, and gives it to `sink`.
    #[track_caller]
    pub(super) fn deliver<E: From<Error>>(
        &mut self,
        sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<(), ItemError<E>> {
        let Some(item) = self.take()? else {
            return Ok(());
        };
        let (index, stage) = (item.index, ItemStage::Sink);
        sink(item).map_err(|error| ItemError {
            index,
            stage,
            error,
        })
    }

    /// Delivers the items in flight.
    #[track_caller]
    pub(super) fn deliver_all<E: From<Error>>(
        &mut self,
        sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<(), ItemError<E>> {
        while self.has_output() {
            self.deliver(sink)?;
        }
        Ok(())
    }

    /// A ticket of the item that was put last, and of nothing later. Waits until its download is on its stream,
    /// if a thread of its own puts it.
    #[track_caller]
    pub(super) fn last_ticket(&mut self) -> Result<Ticket> {
        if let Some(last) = self.last {
            self.wait_until_put(last)?;
        }
        self.download_stream().ticket()
    }

    /// Whether the download of the item that was put last is with the thread that puts downloads.
    #[cfg(feature = "futures")]
    pub(super) fn is_last_handed(&mut self) -> bool {
        let last = self.last.map(|last| self.slots[last].download_state());
        last.is_some_and(|state| state.is_handed())
    }

    /// A ticket of the oldest item's download, once it is on its stream; `waker` is woken then. `None` when it
    /// could not be put: taking the item tells.
    #[cfg(feature = "futures")]
    pub(super) fn poll_put(&mut self, waker: &Waker) -> Poll<Option<Ticket>> {
        let Some(turn) = self.turns.oldest(Stage::Downloading) else {
            return Poll::Ready(None);
        };
        let place = self.turns.slot(turn);
        if !self.is_put(place, Some(waker)) {
            return Poll::Pending;
        }
        let slot = &mut self.slots[place];
        Poll::Ready(match slot.download_state().has_failed() {
            true => None,
            false => slot.fences().downloaded.ticket(),
        })
    }
}
