//! `Source`: where a slot's bytes come from when it is loaded, and `Staging`, the way for those that are
//! not kept in host memory.

use std::fmt;
use std::ops::Range;

use cupola_managers::buffer::DeviceSliceMut;
use cupola_managers::{Context, Stream, ops};

use crate::error::{ResidencyError, Result};
use crate::host_copy::HostMemory;
use crate::loader::Loader;
use crate::residency::Inner;

/// The bytes of a slot.
pub(crate) struct Source {
    loader: Box<dyn Loader>,
    is_kept: bool,
    /// Once it was filled.
    copy: Option<HostMemory>,
}

impl Source {
    pub(crate) fn new(loader: Box<dyn Loader>, is_kept: bool) -> Self {
        Self {
            loader,
            is_kept,
            copy: None,
        }
    }

    pub(crate) fn copy_mut(&mut self) -> Option<&mut HostMemory> {
        self.copy.as_mut()
    }

    /// Reads what is to be kept, once.
    #[track_caller]
    pub(crate) fn fill(&mut self, inner: &Inner, slot: &str, bytes: u64) -> Result<()> {
        if !self.is_kept || self.copy.is_some() {
            return Ok(());
        }
        let mut memory = HostMemory::new(&inner.context, &inner.host, bytes, slot)?;
        if let Some(buffer) = memory.buffer_mut() {
            read(&*self.loader, slot, 0, buffer.as_mut_slice()?)?;
        }
        self.copy = Some(memory);
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
        if let Some(buffer) = self.copy.as_ref().and_then(HostMemory::buffer) {
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
            let bytes = (part.end - at).min(inner.layout.unit());
            let there = address + (at - part.start);
            // SAFETY: a part of the bytes at the address: a condition of this function.
            let there = unsafe { DeviceSliceMut::<u8>::from_raw(there, bytes as usize) };
            staging.upload(&*self.loader, slot, at, there, stream)?;
            at += bytes;
        }
        Ok(())
    }
}

fn read(loader: &dyn Loader, slot: &str, offset: u64, into: &mut [u8]) -> Result<()> {
    let read = loader.read(offset, into);
    read.map_err(|source| ResidencyError::Loader {
        slot: slot.to_owned(),
        source,
    })
}

/// Two pieces of pinned memory by turns: while one is copied the loader fills the other.
#[derive(Debug)]
pub(crate) struct Staging {
    pieces: [HostMemory; 2],
    next: usize,
}

impl Staging {
    #[track_caller]
    fn new(inner: &Inner, slot: &str) -> Result<Self> {
        let context: &Context = &inner.context;
        let piece = || HostMemory::new(context, &inner.host, inner.layout.unit(), slot);
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
        let Some(buffer) = self.pieces[self.next].buffer_mut() else {
            return Ok(());
        };
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
