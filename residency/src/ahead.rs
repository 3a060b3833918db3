//! Slots are loaded before the requests come that were announced.

use std::sync::Arc;
use std::time::Instant;

use crate::error::{ResidencyError, Result};
use crate::load::Victims;
use crate::residency::{Engine, Inner, Residency};
use crate::table::{AheadTarget, Cut, Entry};

/// What a call of [`Residency::load_ahead`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadAhead {
    /// It put the copy of so many bytes.
    Begun {
        /// Bytes of the copy.
        bytes: u64,
    },
    /// Nothing: the copy that was put before still runs.
    Copying,
    /// Nothing: a request is being served, or leases or work use the memory that is to be taken.
    Busy,
    /// Nothing: the slots that are announced next are there, or what they lack is needed sooner by others, or
    /// their bytes are not in host memory.
    Done,
}

impl Residency {
    /// Puts the copy of a chunk of the first announced slot that lacks some, if that takes no memory that is needed
    /// sooner: memory that is free, or that its slot would give up anyway before it is used again. Waits for nothing.
    ///
    /// Each lease, [`preload`](Self::preload) and [`announce`](Self::announce) does it once, at its end. A server calls it
    /// when it has put the work of a request, and again while that runs: a chunk is copied at a time, so that a
    /// request which was not announced finds the copies free soon.
    ///
    /// Slots without a [host copy](crate::SlotConfig::host_copy), or whose first load has not made it, are left to
    /// their requests: their loader would run here.
    ///
    /// # Errors
    /// [`ResidencyError::Device`]: slots are as they were, but for memory that some gave up. The error may be that of a
    /// lease's step, which does not fail the lease.
    #[track_caller]
    pub fn load_ahead(&self) -> Result<LoadAhead> {
        self.0.load_ahead()
    }

    /// Loads so many of the announced requests ahead from now on, as
    /// [`ResidencyConfig::load_ahead`](crate::ResidencyConfig::load_ahead) says.
    pub fn set_load_ahead(&self, requests: usize) {
        self.0.table().set_ahead(requests);
    }
}

/// What came of a slot that could be loaded ahead.
enum Step {
    Begun {
        bytes: u64,
    },
    /// Leases or work use the memory.
    Busy,
    /// It is left to its request.
    Left,
}

impl Inner {
    /// A step of loading ahead, for a caller that asked for something else and got it.
    #[track_caller]
    pub(crate) fn load_ahead_by_the_way(&self) {
        if let Err(error) = self.load_ahead() {
            self.engine().ahead_failure = Some(error);
        }
    }

    #[track_caller]
    pub(crate) fn load_ahead(&self) -> Result<LoadAhead> {
        {
            let table = self.table();
            if !table.wants_ahead() {
                return Ok(LoadAhead::Done);
            }
            if table.has_waiting() {
                return Ok(LoadAhead::Busy);
            }
        }
        let Some(mut engine) = self.try_engine() else {
            return Ok(LoadAhead::Busy);
        };
        if let Some(error) = engine.ahead_failure.take() {
            return Err(error);
        }
        if let Some(copy) = &engine.ahead
            && !copy.is_done()?
        {
            return Ok(LoadAhead::Copying);
        }
        engine.ahead = None;
        self.take_all_reserved(&mut engine);
        let limit = self.limit();
        let free = limit.limit().saturating_sub(limit.used()) + engine.stock.bytes();
        let targets = self.table().plan_ahead(free, self.layout);
        let mut outcome = LoadAhead::Done;
        for target in &targets {
            match self.load_target(&mut engine, target)? {
                Step::Begun { bytes } => return Ok(LoadAhead::Begun { bytes }),
                Step::Busy => outcome = LoadAhead::Busy,
                // What it will take is not free for the next one.
                Step::Left => break,
            }
        }
        Ok(outcome)
    }

    /// Loads a chunk of a slot.
    #[track_caller]
    fn load_target(&self, engine: &mut Engine, target: &AheadTarget) -> Result<Step> {
        let number = target.slot;
        let slot = engine.space(number).and_then(|it| it.slot.upgrade());
        let extent = (self.table().get(number))
            .filter(|entry| !entry.has_remains)
            .map(|entry| (entry.resident, entry.rounded));
        let (Some(slot), Some((at, rounded))) = (slot, extent) else {
            return Ok(Step::Left);
        };
        let Ok(source) = slot.source.try_lock() else {
            return Ok(Step::Busy);
        };
        if !source.is_in_memory() {
            return Ok(Step::Left);
        }
        let began = Instant::now();
        let wanted = self.chunk.min(rounded - at);
        let mut victims = Victims::none();
        let mut room = target.free;
        for cut in &target.cuts {
            if room >= wanted || !self.cut_idle(engine, cut)? {
                break;
            }
            room += cut.bytes;
            victims.note(cut.slot);
        }
        let end = self.layout.end_within(at, rounded, at + wanted.min(room));
        let mut step = Step::Busy;
        if end > at {
            match self.load_chunk_or_none(engine, &slot, &source, at..end, &mut victims) {
                Ok(()) => {
                    let bytes = end.min(slot.bytes) - at;
                    self.table().note_ahead(number, at, bytes);
                    step = Step::Begun { bytes };
                }
                // Another one has taken the memory meanwhile that was free.
                Err(ResidencyError::NoRoom { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let mut table = self.table();
        engine.ahead =
            (table.get(number).and_then(Entry::last_upload)).map(|it| Arc::clone(&it.ticket));
        victims.note_in(&mut table.metrics, began);
        Ok(step)
    }

    /// Takes the last piece of a slot that nothing holds and no work uses, and that was not changed: whether it has.
    #[track_caller]
    fn cut_idle(&self, engine: &mut Engine, cut: &Cut) -> Result<bool> {
        let is_cut = self.is_free(cut.slot)? && self.table().truncate(cut.slot, cut.at);
        if is_cut {
            self.unmap_evicted(engine, cut.slot, cut.at)?;
        }
        Ok(is_cut)
    }
}
