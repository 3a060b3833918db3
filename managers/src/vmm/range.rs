//! `AddressRange`: addresses of a device, and the memory behind some of them.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::ops::Range;

use cupola_sys::driver::{CUdeviceptr, CUmemAccess_flags};

use super::{PhysicalMemory, VirtualMemory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::peer::require_access;

/// What the device may do with mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it. A write is a fault of the device, which loses the context.
    Read,
    /// Read and write it.
    ReadWrite,
}

impl Access {
    fn flags(self) -> CUmemAccess_flags {
        match self {
            Self::Read => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ,
            Self::ReadWrite => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        }
    }
}

/// Why memory was not mapped, with the memory.
#[derive(Debug)]
pub struct MapError {
    /// The memory, unchanged.
    pub memory: PhysicalMemory,
    /// The reason.
    pub error: Error,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for MapError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<MapError> for Error {
    fn from(refused: MapError) -> Self {
        refused.error
    }
}

/// Reserved addresses of a device (`cuMemAddressReserve`), with the physical memory that is mapped in
/// them. They stay the same as long as this value lives, whatever is mapped.
///
/// Dropping it unmaps what is mapped and gives all of it back. As with any raw address, work that uses
/// the memory must be over by then: unmapping is not ordered on streams, and work that comes later is a
/// fault of the device.
#[doc(alias = "cuMemAddressFree")]
pub struct AddressRange {
    memory: VirtualMemory,
    base: CUdeviceptr,
    bytes: u64,
    /// By offset.
    mapped: BTreeMap<u64, PhysicalMemory>,
}

impl AddressRange {
    pub(super) fn new(memory: VirtualMemory, base: CUdeviceptr, bytes: u64) -> Self {
        Self {
            memory,
            base,
            bytes,
            mapped: BTreeMap::new(),
        }
    }

    /// The first address.
    #[must_use]
    pub fn address(&self) -> CUdeviceptr {
        self.base
    }

    /// How many addresses, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes behind which there is memory.
    #[must_use]
    pub fn mapped(&self) -> u64 {
        self.mapped.values().map(PhysicalMemory::bytes).sum()
    }

    /// The pieces that are mapped, by offset.
    pub fn pieces(&self) -> impl Iterator<Item = (u64, &PhysicalMemory)> {
        self.mapped.iter().map(|(&offset, piece)| (offset, piece))
    }

    /// The piece that is mapped from `offset` on.
    #[must_use]
    pub fn piece(&self, offset: u64) -> Option<&PhysicalMemory> {
        self.mapped.get(&offset)
    }

    /// Puts memory behind the addresses from `offset` on (`cuMemMap`). The device may not access it
    /// before [`set_access`](Self::set_access).
    ///
    /// # Errors
    /// With the memory: [`Error::Invalid`] when the offset is no multiple of the granularity, the memory
    /// reaches beyond the end or over a piece that is mapped; [`Error::WrongContext`] when it is of
    /// another [`VirtualMemory`]; [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuMemMap")]
    #[track_caller]
    pub fn map(&mut self, offset: u64, memory: PhysicalMemory) -> Result<(), MapError> {
        if let Err(error) = self.try_map(offset, &memory) {
            return Err(MapError { memory, error });
        }
        self.mapped.insert(offset, memory);
        Ok(())
    }

    #[track_caller]
    fn try_map(&self, offset: u64, piece: &PhysicalMemory) -> Result<()> {
        if !piece.is_of(&self.memory) {
            return Err(Error::WrongContext {
                what: "the physical memory",
            });
        }
        let bytes = piece.bytes();
        let end = self.check(offset, bytes)?;
        let before = self.mapped.range(..end).next_back();
        if before.is_some_and(|(at, piece)| at + piece.bytes() > offset) {
            return Err(Error::invalid(
                "offset",
                format!("memory is mapped in {offset}..{end} already: unmap it first"),
            ));
        }
        // SAFETY: the addresses are reserved, with as many bytes as the handle has, and nothing is
        // mapped there: all pieces are in `mapped`.
        unsafe {
            self.memory
                .vmm()
                .map(self.base + offset, bytes, piece.as_raw())
        }
    }

    /// Lets the device access the memory behind `range`, in bytes (`cuMemSetAccess`): one call for any
    /// number of pieces, whose cost is nearly the same for all.
    ///
    /// # Errors
    /// [`Error::Invalid`] when not all of it is mapped, or not whole pieces; [`Error::Poisoned`],
    /// [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuMemSetAccess")]
    #[track_caller]
    pub fn set_access(&self, range: Range<u64>, access: Access) -> Result<()> {
        let bytes = self.check_mapped(&range)?;
        // SAFETY: all of them are mapped, as was just seen.
        unsafe {
            self.memory
                .vmm()
                .set_access(self.base + range.start, bytes, access.flags(), &[])
        }
    }

    /// Lets the work of a context on another device access the memory behind `range`, in bytes
    /// (`cuMemSetAccess`), besides the range's own device. It holds for the pieces that are mapped now,
    /// until they are unmapped. The first time of two devices checks their link, as
    /// [`Context::peer_access`], for which the access is enabled and disabled again: that waits for the
    /// work of `peer` on the host.
    ///
    /// # Errors
    /// As [`set_access`](Self::set_access); as [`Context::peer_access`].
    #[doc(alias = "cuMemSetAccess")]
    #[track_caller]
    pub fn grant_peer(&self, range: Range<u64>, peer: &Context, access: Access) -> Result<()> {
        let bytes = self.check_mapped(&range)?;
        require_access(peer.core(), self.memory.core())?;
        let (at, device) = (self.base + range.start, peer.core().device());
        // SAFETY: all of them are mapped, as was just seen.
        unsafe {
            self.memory
                .vmm()
                .set_peer_access(at, bytes, device, access.flags())
        }
    }

    /// Takes the access of another device's contexts to `range` away. Their work that uses it must be
    /// over: what comes later is a fault of that device.
    ///
    /// # Errors
    /// As [`set_access`](Self::set_access); [`Error::Invalid`] for a context of the range's own device.
    #[doc(alias = "cuMemSetAccess")]
    #[track_caller]
    pub fn revoke_peer(&self, range: Range<u64>, peer: &Context) -> Result<()> {
        let bytes = self.check_mapped(&range)?;
        let (at, device) = (self.base + range.start, peer.core().device());
        if device == self.memory.core().device() {
            return Err(Error::invalid("peer", "it is on the range's own device"));
        }
        let none = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
        // SAFETY: all of them are mapped, as was just seen.
        unsafe { self.memory.vmm().set_peer_access(at, bytes, device, none) }
    }

    /// How many bytes a range has that is whole pieces that are mapped.
    fn check_mapped(&self, range: &Range<u64>) -> Result<u64> {
        let bytes = range.end.saturating_sub(range.start);
        self.check(range.start, bytes)?;
        let mut at = range.start;
        for (&offset, piece) in self.mapped.range(range.clone()) {
            if offset != at {
                break;
            }
            at += piece.bytes();
        }
        if at != range.end {
            return Err(Error::invalid(
                "range",
                format!("bytes {range:?} are not whole pieces that are mapped"),
            ));
        }
        Ok(bytes)
    }

    /// Takes the piece that is mapped at `offset` out (`cuMemUnmap`); its contents stay.
    ///
    /// # Errors
    /// [`Error::Invalid`] when no piece begins there; what the driver returned: it stays mapped then.
    ///
    /// # Safety
    /// No work that uses these addresses runs, is on a stream, or comes before they are mapped again.
    #[doc(alias = "cuMemUnmap")]
    #[track_caller]
    pub unsafe fn unmap(&mut self, offset: u64) -> Result<PhysicalMemory> {
        let Some(piece) = self.mapped.remove(&offset) else {
            let problem = format!("no piece is mapped at {offset}");
            return Err(Error::invalid("offset", problem));
        };
        // SAFETY: the piece is mapped there as a whole; no work uses it, by the condition of this
        // function.
        match unsafe {
            self.memory
                .vmm()
                .take_out(self.base + offset, piece.bytes())
        } {
            Ok(()) => Ok(piece),
            Err(error) => {
                self.mapped.insert(offset, piece);
                Err(error)
            }
        }
    }

    /// The end of `bytes` bytes from `offset` on, if they are addresses of this range.
    fn check(&self, offset: u64, bytes: u64) -> Result<u64> {
        let granularity = self.memory.granularity();
        let end = offset.checked_add(bytes);
        match end {
            Some(end) if offset.is_multiple_of(granularity) && bytes > 0 && end <= self.bytes => {
                Ok(end)
            }
            _ => Err(Error::invalid(
                "offset",
                format!(
                    "{bytes} bytes from {offset} on: not from a multiple of {granularity}, none, or beyond the {} bytes of the range",
                    self.bytes
                ),
            )),
        }
    }
}

impl Drop for AddressRange {
    fn drop(&mut self) {
        let mut is_empty = true;
        for (offset, piece) in mem::take(&mut self.mapped) {
            // SAFETY: the piece is mapped there as a whole, and work that uses it is over, as the
            // type's documentation demands of those who give its addresses to work.
            let unmapped = unsafe { self.memory.vmm().unmap(self.base + offset, piece.bytes()) };
            if unmapped.is_err() {
                is_empty = false;
                piece.abandon();
            }
        }
        if !is_empty {
            return;
        }
        // SAFETY: the range was reserved as a whole, nothing is mapped in it, and nothing uses it.
        let freed = unsafe { self.memory.vmm().unreserve(self.base, self.bytes) };
        if freed.is_err() {
            self.memory.vmm().note_abandoned();
        }
    }
}

impl fmt::Debug for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressRange")
            .field("address", &format_args!("{:#x}", self.base))
            .field("bytes", &self.bytes)
            .field("mapped", &self.mapped())
            .finish_non_exhaustive()
    }
}
