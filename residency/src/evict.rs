//! Slots give memory up.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use cupola_managers::buffer::DeviceSlice;
use cupola_managers::vmm::PhysicalMemory;
use cupola_managers::{Error, ops};

use crate::error::{ResidencyError, Result};
use crate::residency::{Engine, Inner};
use crate::table::{Entry, Hold};

/// Between two questions whether work is over.
const PAUSE: Duration = Duration::from_micros(50);

/// How long a thread asks without a pause: an event behind work that is over is seen after some 10 us.
const SPIN: Duration = Duration::from_micros(50);

/// How long a thread waits for work that uses slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkWaits {
    /// For the slot that is to give memory up first, in all.
    pub(crate) patience: Duration,
    /// For any slot, each time.
    pub(crate) limit: Duration,
}

impl WorkWaits {
    /// For any slot.
    pub(crate) fn at_most(limit: Duration) -> Self {
        Self {
            patience: Duration::ZERO,
            limit,
        }
    }
}

/// Where memory goes that is unmapped.
#[derive(Clone, Copy)]
enum Destination {
    Stock,
    /// It is set aside for the slot that had it.
    Reserve,
}

/// Memory that a slot gave up.
#[derive(Debug)]
pub(crate) struct Evicted {
    pub(crate) slot: usize,
    /// For the caller, which its slot has mapped still; `None` where it went to the stock.
    pub(crate) moved: Option<PhysicalMemory>,
}

impl Evicted {
    fn to_stock(slot: usize) -> Self {
        Self { slot, moved: None }
    }
}

impl Inner {
    /// The last piece of the slot that is to give memory up first goes to the caller if it has `wanted` bytes,
    /// else to the stock. `None` where no slot may give any up. Where work uses that slot it is waited for as long as
    /// patience lasts, before another one is taken.
    #[track_caller]
    pub(crate) fn evict_piece(
        &self,
        engine: &mut Engine,
        wanted: Option<u64>,
        waits: &mut WorkWaits,
    ) -> Result<Option<Evicted>> {
        loop {
            let victims = self.table().victims();
            if victims.is_empty() {
                return Ok(None);
            }
            // What is set aside and loaded by none costs nothing, and no work uses it.
            for &victim in &victims {
                if self.take_reserved(engine, victim) > 0 {
                    return Ok(Some(Evicted::to_stock(victim)));
                }
            }
            let victim = self.wait_for_one(&victims, waits)?;
            self.clear_place(engine, victim)?;
            if self.take_reserved(engine, victim) > 0 {
                return Ok(Some(Evicted::to_stock(victim)));
            }
            self.write_back(engine, victim)?;
            let Some(last) = engine.space(victim).and_then(|it| it.last_piece()) else {
                continue;
            };
            // Else it was leased meanwhile.
            if !self.table().truncate(victim, last) {
                continue;
            }
            if let Some(moved) = engine.take_mapped(victim, wanted) {
                return Ok(Some(Evicted {
                    slot: victim,
                    moved: Some(moved),
                }));
            }
            self.unmap_evicted(engine, victim, last)?;
            return Ok(Some(Evicted::to_stock(victim)));
        }
    }

    /// All memory of a slot goes to the stock, once no work uses it: how many bytes that were.
    ///
    /// # Errors
    /// [`ResidencyError::InUse`], and where it was leased or pinned meanwhile [`ResidencyError::Leased`] and
    /// [`ResidencyError::Pinned`].
    #[track_caller]
    pub(crate) fn evict_whole(&self, engine: &mut Engine, number: usize) -> Result<u64> {
        let mut reserved = 0;
        loop {
            self.wait_for_one(&[number], &mut WorkWaits::at_most(self.wait))?;
            self.clear_place(engine, number)?;
            reserved += self.take_reserved(engine, number);
            self.write_back(engine, number)?;
            let mut table = self.table();
            let Some(entry) = table.get(number).filter(|entry| entry.resident > 0) else {
                return Ok(reserved);
            };
            let (resident, slot) = (entry.resident, || entry.name.to_string());
            match entry.hold() {
                Some(Hold::Leased) => {
                    let leases = entry.leases;
                    return Err(ResidencyError::Leased {
                        slot: slot(),
                        leases,
                    });
                }
                Some(Hold::Pinned) => return Err(ResidencyError::Pinned { slot: slot() }),
                None => {}
            }
            // Else a lease came and went meanwhile, and its work is waited for.
            if table.truncate(number, 0) {
                drop(table);
                self.unmap_evicted(engine, number, 0)?;
                return Ok(reserved + resident);
            }
        }
    }

    /// What a failure has left mapped of a slot is set aside for it. Copies to it are over.
    #[track_caller]
    pub(crate) fn unmap_remains(&self, engine: &mut Engine, number: usize) -> Result<()> {
        let at = {
            let table = self.table();
            match table.get(number) {
                Some(entry) if entry.has_remains => entry.resident,
                _ => return Ok(()),
            }
        };
        engine.unmap_from(number, at, Destination::Reserve)?;
        if let Some(entry) = self.table().get_mut(number) {
            entry.has_remains = false;
            // Else work that asks for these bytes later would wait for copies that brought them before.
            entry.forget_uploads();
        }
        Ok(())
    }

    /// Pieces from `at` on, which the table counts no more, go to the stock. Should one not, the table counts
    /// what is left again.
    #[track_caller]
    pub(crate) fn unmap_evicted(&self, engine: &mut Engine, number: usize, at: u64) -> Result<()> {
        let unmapped = engine.unmap_from(number, at, Destination::Stock);
        if unmapped.is_err() {
            let left = engine.space(number).map_or(0, |space| space.end());
            if let Some(entry) = self.table().get_mut(number) {
                entry.resident = left;
            }
        }
        unmapped
    }

    /// Slots that were given up, and that no work uses any more, end.
    pub(crate) fn sweep(&self, engine: &mut Engine) {
        let given_up: Vec<usize> = {
            let table = self.table();
            let given_up = table.each().filter(|(_, entry)| entry.is_given_up);
            given_up.map(|(number, _)| number).collect()
        };
        let mut has_ended = false;
        for number in given_up {
            // An error of the device is for the next call that can return one.
            let is_free = self.is_free(number).unwrap_or(false);
            if !is_free {
                continue;
            }
            if self.clear_place(engine, number).is_err() {
                continue;
            }
            self.take_reserved(engine, number);
            let has_some = self.table().get(number).is_some_and(|it| it.resident > 0);
            if has_some && !self.table().truncate(number, 0) {
                continue;
            }
            if self.unmap_evicted(engine, number, 0).is_ok() {
                self.table().remove(number);
                drop(engine.remove(number));
                has_ended = true;
            }
        }
        if has_ended {
            // Their host copies went before. What cannot be given back now is when it is needed.
            let _ = self.host.trim();
        }
    }

    /// Waits until one of these slots has no work: the first of them, as long as patience lasts.
    #[track_caller]
    fn wait_for_one(&self, slots: &[usize], waits: &mut WorkWaits) -> Result<usize> {
        let began = Instant::now();
        let mut has_waited = false;
        loop {
            let waited = began.elapsed();
            let among = match waited < waits.patience || !has_waited {
                true => slots.get(..1).unwrap_or(slots),
                false => slots,
            };
            for &slot in among {
                if self.is_free(slot)? {
                    waits.patience = waits.patience.saturating_sub(waited);
                    return Ok(slot);
                }
            }
            if !has_waited {
                self.table().metrics.waits += 1;
                has_waited = true;
                // Others are looked at before the first is waited for, where there is no patience.
                continue;
            }
            if waited >= waits.limit {
                let first = slots.first().copied();
                let table = self.table();
                let entry = first.and_then(|number| table.get(number));
                let slot = entry.map_or_else(String::new, |entry| entry.name.to_string());
                return Err(ResidencyError::InUse { slot, waited });
            }
            match waited < SPIN {
                true => std::hint::spin_loop(),
                false => thread::sleep(PAUSE),
            }
        }
    }

    /// Whether no work uses a slot that is not leased; the table knows it then too.
    #[track_caller]
    pub(crate) fn is_free(&self, number: usize) -> Result<bool> {
        let work = self.table().get(number).map(Entry::open_work);
        let is_done = match work.map_or(Ok(true), |work| work.is_done()) {
            // Work that a capture recorded cannot be asked for before the capture ends.
            Err(Error::Capturing { .. }) => false,
            other => other?,
        };
        if is_done && let Some(entry) = self.table().get_mut(number) {
            // Copies are put under the engine's lock: there are no later ones.
            entry.note_uploaded();
        }
        Ok(is_done)
    }

    /// A copy on the residency's stream may use the slot's memory.
    pub(crate) fn note_copy(&self, number: usize) {
        if let Some(entry) = self.table().get_mut(number) {
            entry.note_work(&self.copies);
        }
    }

    /// What a slot's work has changed goes into its host copy, before its memory goes.
    #[track_caller]
    fn write_back(&self, engine: &mut Engine, number: usize) -> Result<()> {
        let (since, bytes) = {
            let table = self.table();
            let entry = table.get(number).filter(|entry| !entry.is_given_up);
            let Some((entry, since)) = entry.and_then(|it| Some((it, it.dirty_since()?))) else {
                return Ok(());
            };
            (since, entry.resident.min(entry.bytes))
        };
        let Some(space) = engine.space(number) else {
            return Ok(());
        };
        let (address, slot) = (space.range.address(), space.slot.upgrade());
        let Some(slot) = slot else {
            return Ok(());
        };
        let mut source = slot.source();
        let Some(buffer) = source.copy_mut() else {
            return Ok(());
        };
        let len = bytes as usize;
        // SAFETY: the slot has so many bytes there, and the engine's lock, held here, keeps them until
        // the copy is waited for.
        let there = unsafe { DeviceSlice::<u8>::from_raw(address, len) };
        let copied = ops::copy_to_host(there, buffer.slice_mut(..len)?, &self.copies);
        // Whatever comes of it, and of the wait: it may run.
        self.note_copy(number);
        copied?;
        self.copies.ticket()?.wait()?;
        let mut table = self.table();
        table.metrics.bytes_written_back += bytes;
        if let Some(entry) = table.get_mut(number) {
            entry.note_written_back(since);
        }
        Ok(())
    }
}

impl Engine {
    /// Pieces from `at` on, which no work uses, are unmapped.
    #[track_caller]
    fn unmap_from(&mut self, number: usize, at: u64, to: Destination) -> Result<()> {
        loop {
            let Some(space) = self.space(number) else {
                return Ok(());
            };
            let Some(&last) = space.pieces.last().filter(|&&last| last >= at) else {
                return Ok(());
            };
            // SAFETY: the slot was idle when the table was told that it has this piece no more, or no
            // work was ever put for it. Whichever work of the program's uses the slot's addresses has a
            // lease, which is refused or loads them again under the engine's lock, held here.
            let piece = unsafe { space.range.unmap(last) }?;
            space.pieces.pop();
            match to {
                Destination::Stock => self.stock.put(piece),
                Destination::Reserve => space.reserved.push_front(piece),
            }
        }
    }

    /// The last piece of a slot, if it has `wanted` bytes, for another one: it stays mapped here until
    /// [`unmap_left`](Self::unmap_left), while its next slot fills it already.
    fn take_mapped(&mut self, number: usize, wanted: Option<u64>) -> Option<PhysicalMemory> {
        let space = self.space(number)?;
        let last = space.last_piece()?;
        let piece = space.range.piece(last)?;
        if Some(piece.bytes()) != wanted {
            return None;
        }
        let piece = piece.clone();
        space.pieces.pop();
        space.left.push(last);
        if !self.leaving.contains(&number) {
            self.leaving.push(number);
        }
        Some(piece)
    }

    /// Memory that has gone to other slots is unmapped where it was before. Where that fails the next call tries
    /// again.
    #[track_caller]
    pub(crate) fn unmap_all_left(&mut self) -> Result<()> {
        let mut result = Ok(());
        for number in mem::take(&mut self.leaving) {
            if let Err(error) = self.unmap_left(number) {
                self.leaving.push(number);
                result = Err(error);
            }
        }
        result
    }

    /// The same of one slot.
    #[track_caller]
    pub(crate) fn unmap_left(&mut self, number: usize) -> Result<()> {
        loop {
            let Some(space) = self.space(number) else {
                return Ok(());
            };
            let Some(&last) = space.left.last() else {
                return Ok(());
            };
            // SAFETY: the slot was idle when the table was told that it has this piece no more. Whichever work of the
            // program's uses the slot's addresses has a lease, which loads them again under the engine's lock, held
            // here.
            let piece = unsafe { space.range.unmap(last) }?;
            space.left.pop();
            self.stock.put(piece);
        }
    }
}
