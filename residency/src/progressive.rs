//! Memory that is set aside for a slot, and loaded as its work asks for it.

use std::mem;
use std::time::Instant;

use cupola_managers::vmm::PhysicalMemory;

use crate::error::Result;
use crate::load::Victims;
use crate::residency::{Engine, Inner};
use crate::slot::SlotCore;

impl Inner {
    /// Sets aside what the slot lacks.
    #[track_caller]
    pub(crate) fn reserve(
        &self,
        engine: &mut Engine,
        slot: &SlotCore,
        victims: &mut Victims,
    ) -> Result<()> {
        loop {
            let extent = (self.table().get(slot.number))
                .map(|entry| (entry.held(), entry.rounded))
                .filter(|(at, rounded)| at < rounded);
            let Some((at, rounded)) = extent else {
                return Ok(());
            };
            let bytes = self.layout.piece(at, rounded);
            let piece = self.piece(engine, slot, bytes, rounded - at, victims)?;
            self.set_aside(engine, slot.number, piece);
        }
    }

    /// A piece is the slot's, for the next place that lacks one.
    pub(crate) fn set_aside(&self, engine: &mut Engine, number: usize, piece: PhysicalMemory) {
        let mut table = self.table();
        if let (Some(space), Some(entry)) = (engine.space(number), table.get_mut(number)) {
            entry.reserved += piece.bytes();
            space.reserved.push_back(piece);
        }
    }

    /// What was set aside for slots that nothing holds goes to the stock.
    pub(crate) fn take_all_reserved(&self, engine: &mut Engine) {
        let with_some: Vec<usize> = {
            let table = self.table();
            let with_some = table.each().filter(|(_, entry)| entry.reserved > 0);
            with_some.map(|(number, _)| number).collect()
        };
        for number in with_some {
            self.take_reserved(engine, number);
        }
    }

    /// What was set aside for a slot goes to the stock, unless that is held: how many bytes that were.
    pub(crate) fn take_reserved(&self, engine: &mut Engine, number: usize) -> u64 {
        let taken = self.table().take_reserved(number);
        if taken > 0
            && let Some(space) = engine.space(number)
        {
            for piece in mem::take(&mut space.reserved) {
                engine.stock.put(piece);
            }
        }
        taken
    }

    /// Puts the copies of what a leased slot lacks of its first `bytes` bytes. Where none runs it puts those of a
    /// chunk more.
    #[track_caller]
    pub(crate) fn bring(&self, slot: &SlotCore, bytes: u64) -> Result<()> {
        loop {
            let (resident, upload) = match self.table().get(slot.number) {
                Some(entry) if !entry.is_whole() => (entry.resident, entry.last_upload()),
                _ => return Ok(()),
            };
            let is_asked_for = resident < bytes;
            if !is_asked_for
                && let Some(upload) = upload
                && !upload.ticket.is_done()?
            {
                return Ok(());
            }
            if !is_asked_for {
                // An error is for the call that asks for these bytes.
                if let Some(mut engine) = self.try_engine() {
                    let _ = self.bring_chunk(&mut engine, slot, resident);
                }
                return Ok(());
            }
            let mut engine = self.engine();
            self.bring_chunk(&mut engine, slot, resident)?;
        }
    }

    /// Loads the next chunk of a leased slot, unless another thread has loaded what is behind `seen`.
    #[track_caller]
    fn bring_chunk(&self, engine: &mut Engine, slot: &SlotCore, seen: u64) -> Result<()> {
        let began = Instant::now();
        let source = slot.source();
        let extent = self.extent(slot.number);
        let Some((at, rounded)) = extent.filter(|&(at, rounded)| at == seen && at < rounded) else {
            return Ok(());
        };
        // As after a first piece, four times as much.
        let size = (3 * at + self.layout.unit()).min(self.chunk);
        let end = (at + size).min(rounded);
        // All of its memory is set aside.
        let mut victims = Victims::none();
        let loaded = self.load_chunk_or_none(engine, slot, &source, at..end, &mut victims);
        victims.note_in(&mut self.table().metrics, began);
        if end == rounded && loaded.is_ok() {
            // Requests that wait for their turn may need none now.
            self.slots.release(|_| {});
        }
        loaded
    }

    /// From now on nothing is mapped behind what the slot has.
    #[track_caller]
    pub(crate) fn clear_place(&self, engine: &mut Engine, number: usize) -> Result<()> {
        engine.unmap_left(number)?;
        if (self.table().get(number)).is_some_and(|it| it.has_remains) {
            self.copies.ticket()?.wait()?;
            self.unmap_remains(engine, number)?;
        }
        Ok(())
    }
}
