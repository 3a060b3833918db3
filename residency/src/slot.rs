//! `Slot`: a model's place, and its owner.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cupola_managers::Stream;

use crate::error::{ResidencyError, Result};
use crate::lease::Lease;
use crate::load::Extent;
use crate::obtain::RoomWait;
use crate::residency::{Inner, Residency};
use crate::source::Source;
use crate::sync::{Mutex, MutexGuard, lock};
use crate::table::Hold;

/// A slot of a [`Residency`]: addresses of its own, and a loader. Clones are the same slot; the last one
/// gives it up when it is dropped, with its host copy and its device memory, once no work uses that.
#[derive(Clone)]
pub struct Slot(pub(crate) Arc<SlotCore>);

pub(crate) struct SlotCore {
    pub(crate) inner: Arc<Inner>,
    pub(crate) number: usize,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) name: Arc<str>,
    pub(crate) source: Mutex<Source>,
    /// Whether its bytes are kept in host memory.
    pub(crate) is_kept: bool,
}

impl SlotCore {
    pub(crate) fn source(&self) -> MutexGuard<'_, Source> {
        lock(&self.source)
    }
}

impl Slot {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Bytes of its contents.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Where it is on the device, when it is there: the same as long as it lives.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.0.address
    }

    /// Bytes of it that are on the device, or on their way, from its beginning on; in whole pages.
    #[must_use]
    pub fn resident(&self) -> u64 {
        let table = self.0.inner.table();
        table.get(self.0.number).map_or(0, |entry| entry.resident)
    }

    /// Pins it to the device: from now on it gives no memory up. It is not loaded by that.
    pub fn pin(&self) {
        self.set_pinned(true);
    }

    /// Lets it give memory up again.
    pub fn unpin(&self) {
        self.set_pinned(false);
    }

    fn set_pinned(&self, is_pinned: bool) {
        self.0.inner.slots.release(|table| {
            if let Some(entry) = table.get_mut(self.0.number) {
                entry.is_pinned = is_pinned;
            }
        });
    }

    /// Slots of a lower priority give memory up before it, those of a higher one after it.
    pub fn set_priority(&self, priority: u8) {
        if let Some(entry) = self.0.inner.table().get_mut(self.0.number) {
            entry.priority = priority;
        }
    }
}

impl Residency {
    /// Leases a slot for work on `stream`: loads what it lacks, and makes the stream wait for that on the
    /// device. It keeps its memory until the lease has ended and the work that is on the stream by then is over.
    ///
    /// What it lacks is copied on a stream of the residency's, while this returns: a host thread is busy with
    /// the calls of the driver alone. It waits where memory is taken from a slot that work still uses, and, where
    /// leases keep all memory, for one of them to end: for [`wait`](crate::ResidencyConfig::wait) at most. Requests that
    /// lack memory are served in their order, so a thread that holds a lease and asks for another slot may wait for itself:
    /// it gets the error when its time is over.
    ///
    /// # Errors
    /// [`ResidencyError::NoRoom`] when other slots have given up all that they may, and the end of leases would
    /// not free enough; [`ResidencyError::TimedOut`] when it would, but none ended in time;
    /// [`ResidencyError::InUse`]; [`ResidencyError::HostLimit`] when the host copy does not fit;
    /// [`ResidencyError::Loader`]; [`ResidencyError::Invalid`] when the slot is another residency's;
    /// [`ResidencyError::Device`], among it a capture that is open on the stream while the slot is loaded.
    #[track_caller]
    pub fn lease(&self, slot: &Slot, stream: &Stream) -> Result<Lease> {
        self.lease_within(slot, stream, self.0.wait)
    }

    /// Like [`lease`](Self::lease), with a time of its own for the wait for memory.
    ///
    /// # Errors
    /// Those of [`lease`](Self::lease).
    #[track_caller]
    pub fn lease_within(&self, slot: &Slot, stream: &Stream, wait: Duration) -> Result<Lease> {
        let mut lease = self.obtain(slot, Some(stream), Extent::Whole, RoomWait::AtMost(wait))?;
        lease.wait_for(slot.bytes(), stream)?;
        Ok(lease)
    }

    /// Like [`lease`](Self::lease), but it waits for no lease of another request to end: where leases keep the
    /// memory, or requests that came before wait for some, it is refused at once. Work on the device that uses a slot
    /// which is to give memory up is waited for still.
    ///
    /// # Errors
    /// Those of [`lease`](Self::lease); [`ResidencyError::TimedOut`] where other requests wait already.
    #[track_caller]
    pub fn try_lease(&self, slot: &Slot, stream: &Stream) -> Result<Lease> {
        let mut lease = self.obtain(slot, Some(stream), Extent::Whole, RoomWait::Refuse)?;
        lease.wait_for(slot.bytes(), stream)?;
        Ok(lease)
    }

    /// Like [`lease`](Self::lease), but most of the slot is loaded later: before each kernel the program says which bytes it
    /// uses ([`Lease::wait_for`]), which puts their copies, so that the first layers of a model compute while
    /// the last are copied.
    ///
    /// The slot has all the memory that it needs when this returns, set aside for what is not loaded yet; its first bytes
    /// are being copied. All at once would keep the host: the driver gives access to memory behind copies that run
    /// (0.6 ms for 32 MiB on some machines with H100s, as long as their copy).
    ///
    /// # Errors
    /// Those of [`lease`](Self::lease).
    #[track_caller]
    pub fn lease_progressively(&self, slot: &Slot, stream: &Stream) -> Result<Lease> {
        let wait = RoomWait::AtMost(self.0.wait);
        self.obtain(slot, Some(stream), Extent::Beginning, wait)
    }

    /// Loads what a slot lacks, for a lease to come. Copies are not waited for; memory is, in the order of requests.
    ///
    /// # Errors
    /// Those of [`lease`](Self::lease).
    #[track_caller]
    pub fn preload(&self, slot: &Slot) -> Result<()> {
        let wait = RoomWait::AtMost(self.0.wait);
        self.obtain(slot, None, Extent::Whole, wait).map(drop)
    }

    /// Takes all memory of a slot, which is kept for the next one: how many bytes that were. Nothing is copied,
    /// unless the slot was [changed](Lease::mark_changed). Work that uses it is waited for.
    ///
    /// # Errors
    /// [`ResidencyError::NotResident`], [`ResidencyError::Leased`], [`ResidencyError::Pinned`]: it has
    /// nothing to give up, or may not. [`ResidencyError::InUse`], [`ResidencyError::Device`].
    #[track_caller]
    pub fn evict(&self, slot: &Slot) -> Result<u64> {
        self.check(slot)?;
        let inner = &self.0;
        let mut engine = inner.engine();
        let name = || slot.name().to_owned();
        {
            let table = inner.table();
            let Some(entry) = table.get(slot.0.number) else {
                return Err(ResidencyError::NotResident { slot: name() });
            };
            match entry.hold() {
                Some(Hold::Leased) => {
                    let leases = entry.leases;
                    return Err(ResidencyError::Leased {
                        slot: name(),
                        leases,
                    });
                }
                Some(Hold::Pinned) => return Err(ResidencyError::Pinned { slot: name() }),
                None if entry.held() == 0 => {
                    return Err(ResidencyError::NotResident { slot: name() });
                }
                None => {}
            }
        }
        inner.evict_whole(&mut engine, slot.0.number)
    }
}

impl Drop for SlotCore {
    fn drop(&mut self) {
        self.source().drop_copy();
        self.inner.slots.release(|table| {
            if let Some(entry) = table.get_mut(self.number) {
                entry.is_given_up = true;
            }
        });
        // Else the thread that has the engine, or the next one, ends it.
        if let Some(mut engine) = self.inner.try_engine() {
            self.inner.sweep(&mut engine);
        }
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("name", &self.name())
            .field("bytes", &self.bytes())
            .field("address", &format_args!("{:#x}", self.address()))
            .finish_non_exhaustive()
    }
}
