//! A slot gets the memory that it lacks.

use std::ops::Range;
use std::time::{Duration, Instant};

use cupola_managers::Error;
use cupola_managers::vmm::{Access, PhysicalMemory};

use crate::error::{ResidencyError, Result};
use crate::evict::{Evicted, WorkWaits};
use crate::metrics::Metrics;
use crate::residency::{Engine, Inner};
use crate::slot::SlotCore;
use crate::source::Source;
use crate::table::Entry;

/// Pieces of the first chunk: its copy begins after few calls. Each later chunk has four times as many as
/// the one before, up to the configured size.
const FIRST: u64 = 1;

/// Bytes of a copy with a ticket of its own.
pub(crate) const PART: u64 = 32 << 20;

const GIB: f64 = (1_u64 << 30) as f64;

impl Inner {
    /// Maps and fills what the slot lacks, or the beginning of that. It is leased, so it keeps what it has. Work that
    /// uses a slot which is to give memory up is waited for so long.
    #[track_caller]
    pub(crate) fn load(
        &self,
        engine: &mut Engine,
        slot: &SlotCore,
        source: &Source,
        extent: Extent,
        work_wait: Duration,
    ) -> Result<()> {
        let began = Instant::now();
        let mut victims = Victims::waited_for(WorkWaits {
            patience: self.patience_for(slot.number),
            limit: work_wait,
        });
        // What a failure has left of them keeps memory. Should it fail again, the slot that is loaded there says so.
        let _ = engine.unmap_all_left();
        let loaded = self.load_chunks(engine, slot, source, extent, &mut victims);
        // While what was put is copied.
        let _ = engine.unmap_all_left();
        victims.note_in(&mut self.table().metrics, began);
        loaded
    }

    #[track_caller]
    fn load_chunks(
        &self,
        engine: &mut Engine,
        slot: &SlotCore,
        source: &Source,
        extent: Extent,
        victims: &mut Victims,
    ) -> Result<()> {
        let Some((mut at, rounded)) = self.extent(slot.number) else {
            return Ok(());
        };
        let mut size = FIRST * self.layout.unit();
        while at < rounded {
            let end = (at + size).min(rounded);
            self.load_chunk_or_none(engine, slot, source, at..end, victims)?;
            if extent == Extent::Beginning {
                return self.reserve(engine, slot, victims);
            }
            at = end;
            size = (size * 4).min(self.chunk);
        }
        Ok(())
    }

    /// Loads a chunk, or sets aside what a failure has left of it.
    #[track_caller]
    pub(crate) fn load_chunk_or_none(
        &self,
        engine: &mut Engine,
        slot: &SlotCore,
        source: &Source,
        chunk: Range<u64>,
        victims: &mut Victims,
    ) -> Result<()> {
        self.clear_place(engine, slot.number)?;
        self.set_remains(slot.number, true);
        let mut copy = Copy::NotPut;
        let loaded = self.load_chunk(engine, slot, source, chunk, victims, &mut copy);
        match loaded.is_ok() {
            true => self.set_remains(slot.number, false),
            false => self.give_up_chunk(engine, slot.number, copy),
        }
        loaded
    }

    fn set_remains(&self, number: usize, has_remains: bool) {
        if let Some(entry) = self.table().get_mut(number) {
            entry.has_remains = has_remains;
        }
    }

    /// The pieces of a chunk that could not be loaded are set aside, now or when they can.
    fn give_up_chunk(&self, engine: &mut Engine, number: usize, copy: Copy) {
        let is_over = match copy {
            Copy::NotPut => true,
            Copy::MayRun => {
                self.note_copy(number);
                self.copies
                    .ticket()
                    .and_then(|ticket| ticket.wait())
                    .is_ok()
            }
        };
        if is_over {
            // Should that fail they stay as they are, for the next that wants memory.
            let _ = self.unmap_remains(engine, number);
        }
    }

    /// The bytes that a slot has, and those that it needs.
    pub(crate) fn extent(&self, number: usize) -> Option<(u64, u64)> {
        let table = self.table();
        let entry = table.get(number)?;
        Some((entry.resident, entry.rounded))
    }

    /// Maps and fills a chunk of a slot, of whole pieces, behind what it has.
    #[track_caller]
    fn load_chunk(
        &self,
        engine: &mut Engine,
        slot: &SlotCore,
        source: &Source,
        chunk: Range<u64>,
        victims: &mut Victims,
        copy: &mut Copy,
    ) -> Result<()> {
        let rounded = self.extent(slot.number).map_or(0, |(_, rounded)| rounded);
        let mut at = chunk.start;
        while at < chunk.end {
            let bytes = self.layout.piece(at, rounded);
            if engine
                .space(slot.number)
                .is_some_and(|it| it.reserved.is_empty())
            {
                let piece = self.piece(engine, slot, bytes, rounded - at, victims)?;
                self.set_aside(engine, slot.number, piece);
            }
            let Some(space) = engine.space(slot.number) else {
                return Ok(());
            };
            let Some(piece) = space.reserved.pop_front() else {
                return Ok(());
            };
            if let Err(refused) = space.range.map(at, piece) {
                space.reserved.push_front(refused.memory);
                return Err(refused.error.into());
            }
            space.pieces.push(at);
            at += bytes;
        }
        let Some(space) = engine.space(slot.number) else {
            return Ok(());
        };
        space.range.set_access(chunk.start..at, Access::ReadWrite)?;
        // By parts, so that work can wait for some of them.
        let mut from = chunk.start;
        while from < at {
            let end = (from + PART).min(at);
            let whole = self.layout.end_within(chunk.start, rounded, end);
            self.upload_part(engine, slot, source, from..end, whole, copy)?;
            from = end;
        }
        Ok(())
    }

    /// Puts the copy of a part of a slot, which is mapped. Its pieces are whole up to `whole` then.
    #[track_caller]
    fn upload_part(
        &self,
        engine: &mut Engine,
        slot: &SlotCore,
        source: &Source,
        part: Range<u64>,
        whole: u64,
        copy: &mut Copy,
    ) -> Result<()> {
        let filled = part.start..part.end.min(slot.bytes);
        let bytes = filled.end - filled.start;
        *copy = Copy::MayRun;
        // SAFETY: these bytes were mapped just now, in a slot that is this context's, and have no user.
        unsafe {
            let address = slot.address + part.start;
            source.upload(&mut engine.staging, self, &slot.name, filled, address)
        }?;
        let ticket = self.copies.ticket()?;
        let mut table = self.table();
        table.metrics.bytes_loaded += bytes;
        if let Some(entry) = table.get_mut(slot.number) {
            entry.extend(part.end, whole, ticket);
        }
        Ok(())
    }

    /// Memory of `bytes` bytes for a slot that lacks `lacking`: what is kept, new memory, or another
    /// slot's.
    #[track_caller]
    pub(crate) fn piece(
        &self,
        engine: &mut Engine,
        slot: &SlotCore,
        bytes: u64,
        lacking: u64,
        victims: &mut Victims,
    ) -> Result<PhysicalMemory> {
        loop {
            if let Some(piece) = engine.stock.take(bytes) {
                return Ok(piece);
            }
            let refusal = match self.memory.create(bytes) {
                Ok(piece) => return Ok(piece),
                Err(full @ (Error::OverLimit(_) | Error::OutOfMemory { .. })) => full,
                Err(other) => return Err(other.into()),
            };
            if let Some(other) = engine.stock.take_instead(bytes) {
                drop(other);
                continue;
            }
            let evicted = match &mut victims.waits {
                Some(waits) => self.evict_piece(engine, Some(bytes), waits)?,
                None => None,
            };
            match evicted {
                Some(Evicted { slot, moved }) => {
                    victims.note(slot);
                    if let Some(piece) = moved {
                        return Ok(piece);
                    }
                }
                None if !victims.has_trimmed && self.trim_pools() => victims.has_trimmed = true,
                None => return Err(self.no_room(slot, lacking, refusal)),
            }
        }
    }

    /// How long a load may wait for the slots that it had best take memory from.
    fn patience_for(&self, number: usize) -> Duration {
        let lacking = self.table().get(number).map_or(0, Entry::lacking);
        self.patience.mul_f64(lacking as f64 / GIB)
    }

    fn no_room(&self, slot: &SlotCore, lacking: u64, refusal: Error) -> ResidencyError {
        let table = self.table();
        let held = table.held();
        let limit = self.limit();
        ResidencyError::NoRoom {
            slot: slot.name.to_string(),
            lacking,
            limit: limit.limit(),
            leased: held.leased,
            pinned: held.pinned,
            others: limit.used().saturating_sub(self.memory.bytes()),
            source: Box::new(refusal),
        }
    }
}

/// How much of a slot is loaded for a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// A first chunk. Memory for the rest is set aside.
    Beginning,
}

/// How far a chunk's copy has come.
#[derive(Clone, Copy)]
enum Copy {
    NotPut,
    /// All or a part of it may be on the stream.
    MayRun,
}

/// The slots that gave memory up for one that is loaded.
pub(crate) struct Victims {
    slots: Vec<usize>,
    /// How long work of those that the policy names is waited for. `None` where no slot is asked.
    waits: Option<WorkWaits>,
    /// Pools have given up what they can.
    has_trimmed: bool,
}

impl Victims {
    pub(crate) fn waited_for(waits: WorkWaits) -> Self {
        Self {
            slots: Vec::new(),
            waits: Some(waits),
            has_trimmed: false,
        }
    }

    /// Neither slots nor pools are asked for memory.
    pub(crate) fn none() -> Self {
        Self {
            slots: Vec::new(),
            waits: None,
            has_trimmed: true,
        }
    }

    /// Counts them, and the time of a load that began then.
    pub(crate) fn note_in(&self, metrics: &mut Metrics, began: Instant) {
        metrics.evictions += self.slots.len() as u64;
        metrics.time_loading += began.elapsed();
    }

    pub(crate) fn note(&mut self, slot: usize) {
        if !self.slots.contains(&slot) {
            self.slots.push(slot);
        }
    }
}
