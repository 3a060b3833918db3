//! `Source`: where a slot's bytes come from when it is loaded, and `Staging`, the way for those that are
//! not kept in host memory.

mod loader;

use std::fmt;
use std::ops::Range;

use cupola_managers::buffer::DeviceSliceMut;
use cupola_managers::host::HostMemoryError;
use cupola_managers::{Error, PinnedBuffer, Stream, ops};

use crate::error::{ResidencyError, Result};
use crate::load::PART;
use crate::residency::Inner;

pub use loader::Loader;

/// The bytes of a slot.
pub(crate) struct Source {
    loader: Box<dyn Loader>,
    is_kept: bool,
    /// Once it was filled.
    copy: Option<PinnedBuffer<u8>>,
}

impl Source {
    pub(crate) fn new(loader: Box<dyn Loader>, is_kept: bool) -> Self {
        Self {
            loader,
            is_kept,
            copy: None,
        }
    }

    /// Whether its bytes are in host memory, so that no loader has to run.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.copy.is_some()
    }

    pub(crate) fn copy_mut(&mut self) -> Option<&mut PinnedBuffer<u8>> {
        self.copy.as_mut()
    }

    /// Lets the host copy go, without a wait: a copy from it may still run.
    pub(crate) fn drop_copy(&mut self) {
        self.copy = None;
    }

    /// Reads what is to be kept, once.
    #[track_caller]
    pub(crate) fn fill(&mut self, inner: &Inner, slot: &str, bytes: u64) -> Result<()> {
        if !self.is_kept || self.copy.is_some() {
            return Ok(());
        }
        let mut copy = allocate(inner, slot, bytes)?;
        read(&*self.loader, slot, 0, copy.as_mut_slice()?)?;
        self.copy = Some(copy);
        Ok(())
    }

    /// Puts the copy of a part of the slot to `address` on `stream`; without a host copy, the loader is
    /// asked for it here.
    ///
    /// # Safety
    /// There are as many bytes at the address, which is the stream's context's, and nothing else uses them
    /// before what is on the stream.
    #[track_caller]
    pub(crate) unsafe fn upload(
        &self,
        staging: &mut Option<Staging>,
        inner: &Inner,
        slot: &str,
        part: Range<u64>,
        address: u64,
    ) -> Result<()> {
        let stream = &inner.copies;
        let (from, to) = (part.start as usize, part.end as usize);
        if let Some(buffer) = &self.copy {
            // SAFETY: as many bytes at that address: a condition of this function.
            let there = unsafe { DeviceSliceMut::<u8>::from_raw(address, to - from) };
            ops::copy_to_device(buffer.slice(from..to)?, there, stream)?;
            return Ok(());
        }
        if staging.is_none() {
            *staging = Some(Staging::new(inner, slot)?);
        }
        let Some(staging) = staging else {
            return Ok(());
        };
        let mut at = part.start;
        while at < part.end {
            let bytes = (part.end - at).min(staged(inner));
            let there = address + (at - part.start);
            // SAFETY: a part of the bytes at the address: a condition of this function.
            let there = unsafe { DeviceSliceMut::<u8>::from_raw(there, bytes as usize) };
            staging.upload(&*self.loader, slot, at, there, stream)?;
            at += bytes;
        }
        Ok(())
    }
}

/// Pinned memory under the host's limit.
#[track_caller]
fn allocate(inner: &Inner, slot: &str, bytes: u64) -> Result<PinnedBuffer<u8>> {
    let len = usize::try_from(bytes).unwrap_or(usize::MAX);
    inner.host.allocate::<u8>(len).map_err(|error| match error {
        Error::Host(refused) => match *refused {
            HostMemoryError::OverLimit { usage, .. } => ResidencyError::HostLimit {
                slot: slot.to_owned(),
                bytes,
                left: usage.limit.saturating_sub(usage.locked),
            },
            other => Error::Host(Box::new(other)).into(),
        },
        other => other.into(),
    })
}

fn read(loader: &dyn Loader, slot: &str, offset: u64, into: &mut [u8]) -> Result<()> {
    let read = loader.read(offset, into);
    read.map_err(|source| ResidencyError::Loader {
        slot: slot.to_owned(),
        source,
    })
}

/// Bytes that the loader is asked for at once.
fn staged(inner: &Inner) -> u64 {
    inner.layout.unit().min(PART)
}

/// Two pieces of pinned memory by turns: while one is copied the loader fills the other.
#[derive(Debug)]
pub(crate) struct Staging {
    pieces: [PinnedBuffer<u8>; 2],
    next: usize,
}

impl Staging {
    #[track_caller]
    fn new(inner: &Inner, slot: &str) -> Result<Self> {
        let piece = || allocate(inner, slot, staged(inner));
        Ok(Self {
            pieces: [piece()?, piece()?],
            next: 0,
        })
    }

    #[track_caller]
    fn upload(
        &mut self,
        loader: &dyn Loader,
        slot: &str,
        offset: u64,
        to: DeviceSliceMut<'_, u8>,
        stream: &Stream,
    ) -> Result<()> {
        let buffer = &mut self.pieces[self.next];
        self.next = 1 - self.next;
        // Waits for the copy before the last.
        let part = &mut buffer.as_mut_slice()?[..to.len()];
        read(loader, slot, offset, part)?;
        ops::copy_to_device(buffer.slice(..to.len())?, to, stream)?;
        Ok(())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("is_kept", &self.is_kept)
            .field("copy", &self.copy)
            .finish_non_exhaustive()
    }
}
