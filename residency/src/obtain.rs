//! A request gets its slot: at once where all of it is there, or in its turn.

use std::time::{Duration, Instant};

use cupola_managers::Stream;

use crate::error::{ResidencyError, Result};
use crate::lease::Lease;
use crate::load::Extent;
use crate::residency::{Inner, Residency};
use crate::slot::{Slot, SlotCore};
use crate::table::{Admission, Change, Entry, Place, Sharers, Turn};

/// What a request does that finds all memory leased.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RoomWait {
    /// It waits for leases to end.
    AtMost(Duration),
    /// It is refused at once.
    Refuse,
}

impl Residency {
    /// A lease of a slot that has all its memory, of which so much is loaded. Copies may still run.
    #[track_caller]
    pub(crate) fn obtain(
        &self,
        slot: &Slot,
        stream: Option<&Stream>,
        extent: Extent,
        wait: RoomWait,
    ) -> Result<Lease> {
        self.check(slot)?;
        let (inner, core) = (&self.0, &slot.0);
        let lease = match inner.slots.admit(core.number, inner.limit().limit()) {
            Admission::Leased {
                upload,
                wants_ahead,
            } => {
                let mut lease = Lease::of_counted(slot, stream);
                if upload.is_none() {
                    lease.note_all_there();
                }
                if !wants_ahead {
                    return Ok(lease);
                }
                lease
            }
            Admission::HeldBack => self.obtain_in_turn(slot, stream, extent, wait)?,
            Admission::Short => {
                core.source().fill(inner, &core.name, core.bytes)?;
                self.obtain_in_turn(slot, stream, extent, wait)?
            }
        };
        inner.load_ahead_by_the_way();
        Ok(lease)
    }

    #[track_caller]
    fn obtain_in_turn(
        &self,
        slot: &Slot,
        stream: Option<&Stream>,
        extent: Extent,
        wait: RoomWait,
    ) -> Result<Lease> {
        let core = &slot.0;
        let request = Request::new(&self.0, core, wait);
        match request.place.wait_for_turn(core.number, request.until) {
            Turn::Leased => Ok(Lease::of_counted(slot, stream)),
            Turn::Load => {
                let lease = Lease::of_counted(slot, stream);
                request.load(extent)?;
                Ok(lease)
            }
            Turn::Expired => Err(request.timed_out()),
        }
    }
}

/// A request that lacks memory.
struct Request<'r> {
    inner: &'r Inner,
    slot: &'r SlotCore,
    place: Place<'r>,
    wait: RoomWait,
    began: Instant,
    /// When its time is over.
    until: Instant,
}

impl<'r> Request<'r> {
    fn new(inner: &'r Inner, slot: &'r SlotCore, wait: RoomWait) -> Self {
        let began = Instant::now();
        let wait_at_most = match wait {
            RoomWait::AtMost(wait) => wait,
            RoomWait::Refuse => Duration::ZERO,
        };
        Self {
            inner,
            slot,
            place: inner.slots.queue(),
            wait,
            began,
            until: began.checked_add(wait_at_most).unwrap_or(began + FOR_EVER),
        }
    }

    /// Loads the slot, which is leased, once there is memory for it. What it has got it keeps meanwhile.
    #[track_caller]
    fn load(&self, extent: Extent) -> Result<()> {
        let Self { inner, slot, .. } = *self;
        loop {
            let seen = self.place.changes();
            let loaded = {
                let mut engine = inner.engine();
                inner.sweep(&mut engine);
                let source = slot.source();
                inner.load(&mut engine, slot, &source, extent, self.work_wait())
            };
            let Err(ResidencyError::NoRoom {
                lacking, others, ..
            }) = &loaded
            else {
                return loaded;
            };
            let sharers = match others {
                0 => Sharers::None,
                _ => Sharers::Some,
            };
            let change =
                (self.place).wait_for_change(seen, slot.number, *lacking, sharers, self.until);
            match (change, self.wait) {
                (Change::Happened, _) => {}
                (Change::Expired, RoomWait::AtMost(_)) => return Err(self.timed_out()),
                (Change::Expired, RoomWait::Refuse) | (Change::Hopeless, _) => return loaded,
            }
        }
    }

    /// How long work on the device is waited for.
    fn work_wait(&self) -> Duration {
        match self.wait {
            RoomWait::AtMost(_) => self.until.saturating_duration_since(Instant::now()),
            RoomWait::Refuse => self.inner.wait,
        }
    }

    fn timed_out(&self) -> ResidencyError {
        let before = self.place.before();
        let table = self.inner.table();
        let entry = table.get(self.slot.number);
        ResidencyError::TimedOut {
            slot: self.slot.name.to_string(),
            lacking: entry.map_or(0, Entry::lacking),
            waited: self.began.elapsed(),
            before,
            held: table.leased_slots(self.slot.number),
        }
    }
}

/// Longer than any wait.
const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);
