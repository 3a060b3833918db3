//! `Lease`: a slot in use.

use std::fmt;
use std::ops::Range;

use cupola_managers::Stream;
use cupola_managers::buffer::{DeviceCopy, DeviceSlice};

use crate::error::{ResidencyError, Result};
use crate::slot::Slot;

/// A slot that keeps its memory. When it is dropped the work that is on its streams by then may still run:
/// the slot keeps its memory until that is over. Dropping it makes no call of the driver.
#[must_use = "a lease that is dropped holds nothing"]
pub struct Lease {
    slot: Slot,
    streams: Vec<Covered>,
}

/// A stream whose work a lease covers.
struct Covered {
    stream: Stream,
    /// Bytes that are known to be there for work on the stream, or to be waited for by it.
    ready: u64,
}

impl Lease {
    /// One that the table counts already.
    pub(crate) fn of_counted(slot: &Slot, stream: Option<&Stream>) -> Self {
        let covered = |stream: &Stream| Covered {
            stream: stream.clone(),
            ready: 0,
        };
        Self {
            slot: slot.clone(),
            streams: stream.map(covered).into_iter().collect(),
        }
    }

    /// All of the slot is there: no stream has to wait.
    pub(crate) fn note_all_there(&mut self) {
        for covered in &mut self.streams {
            covered.ready = self.slot.bytes();
        }
    }

    /// The slot.
    #[must_use]
    pub fn slot(&self) -> &Slot {
        &self.slot
    }

    /// Where it is on the device: the same for all leases of the slot.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.slot.address()
    }

    /// Makes later work on `stream` wait, on the device, for the first `bytes` bytes of the slot. From now
    /// on the lease covers work on that stream too.
    ///
    /// Of a [progressive](crate::Residency::lease_progressively) lease it loads them first, where that was not done, by
    /// chunks into the memory that is set aside: this thread is busy with the calls of the driver, and with
    /// the loader of a slot without a host copy, and waits for another request that is loading. Where all copies that were put
    /// before are over, the next chunk is put too, whose bytes nothing asks for yet, if no other request is loading: so loading
    /// goes on where the program waits for its work on the host.
    ///
    /// # Errors
    /// [`ResidencyError::Invalid`] when the slot has fewer; [`ResidencyError::Device`]: the stream is
    /// another context's, a capture is open on it, or the driver failed; [`ResidencyError::Loader`].
    #[track_caller]
    pub fn wait_for(&mut self, bytes: u64, stream: &Stream) -> Result<()> {
        if bytes > self.slot.bytes() {
            return Err(ResidencyError::Invalid {
                field: "bytes",
                problem: format!(
                    "{} has {}, not {bytes}",
                    self.slot.name(),
                    self.slot.bytes()
                ),
            });
        }
        let here = self.place_of(stream);
        if self.streams[here].ready >= bytes {
            return Ok(());
        }
        let slot = &self.slot.0;
        slot.inner.bring(slot, bytes)?;
        let upload = {
            let table = slot.inner.table();
            let entry = table.get(slot.number);
            entry.and_then(|entry| entry.upload_of(bytes))
        };
        if let Some(upload) = upload {
            if upload.ticket.is_done()? {
                // No later lease asks for it.
                if let Some(entry) = slot.inner.table().get_mut(slot.number) {
                    entry.note_over(&upload);
                }
            } else {
                upload.ticket.wait_on(stream)?;
            }
        }
        self.streams[here].ready = bytes;
        Ok(())
    }

    /// Where the stream is in the list.
    fn place_of(&mut self, stream: &Stream) -> usize {
        let known = self
            .streams
            .iter()
            .position(|it| it.stream.serial() == stream.serial());
        known.unwrap_or_else(|| {
            self.streams.push(Covered {
                stream: stream.clone(),
                ready: 0,
            });
            self.streams.len() - 1
        })
    }

    /// The elements in `range` of the slot.
    ///
    /// # Errors
    /// [`ResidencyError::Invalid`] when they are not in the slot.
    ///
    /// # Safety
    /// All work that is given the slice is on a stream that the lease was made for or has
    /// [waited on](Self::wait_for), and before the lease is dropped: the slot keeps its memory for that work, and
    /// for no other. Work that reads bytes which were not waited for finds any there; where the lease is
    /// [progressive](crate::Residency::lease_progressively) it may find no memory, which is a fault of the device.
    pub unsafe fn slice<T: DeviceCopy>(&self, range: Range<usize>) -> Result<DeviceSlice<'_, T>> {
        let size = size_of::<T>();
        let end = range.end.checked_mul(size).map(|end| end as u64);
        let is_inside = range.start <= range.end && end.is_some_and(|end| end <= self.slot.bytes());
        if !is_inside {
            return Err(ResidencyError::Invalid {
                field: "range",
                problem: format!(
                    "elements {range:?} of {size} bytes are not in the {} bytes of {}",
                    self.slot.bytes(),
                    self.slot.name()
                ),
            });
        }
        let address = self.address() + (range.start * size) as u64;
        // SAFETY: the bytes are the slot's, whose addresses begin on a page, and it keeps them for the work that
        // the slice is given to, by the condition of this function.
        Ok(unsafe { DeviceSlice::from_raw(address, range.end - range.start) })
    }

    /// Says that work writes to the slot. Before it gives memory up next, what it has is copied to its host copy.
    /// The whole slot must be there by then: work that writes waits for all of it.
    ///
    /// # Errors
    /// [`ResidencyError::NoHostCopy`].
    pub fn mark_changed(&self) -> Result<()> {
        let slot = &self.slot;
        if !slot.0.is_kept {
            return Err(ResidencyError::NoHostCopy {
                slot: slot.name().to_owned(),
            });
        }
        slot.0.inner.table().note_dirty(slot.0.number);
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let slot = &self.slot.0;
        slot.inner.slots.end_lease(slot.number, |entry| {
            for covered in &self.streams {
                entry.note_work(&covered.stream);
            }
        });
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("slot", &self.slot)
            .field("streams", &self.streams.len())
            .finish()
    }
}
