//! The keeper's calls of the driver: memory of objects, and copies of it for their sleep.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut, PinnedBuffer};
use cupola_managers::host::{HostMemoryError, PinnedPool, PinnedPoolConfig};
use cupola_managers::pool::DeviceLimit;
use cupola_managers::stream::StreamConfig;
use cupola_managers::vmm::{Access, AddressRange, VirtualMemory};
use cupola_managers::{Context, Error, Stream, ops};

use crate::config::KeeperConfig;
use crate::protocol::Refusal;

/// Memory of an object, mapped in the keeper, which only copies use. The descriptors are made with it, so that
/// a guest's opening is no call of the driver here.
#[derive(Debug)]
pub(crate) struct Pieces {
    range: AddressRange,
    /// In order, with the bytes of each.
    files: Vec<(u64, OwnedFd)>,
}

impl Pieces {
    pub(crate) fn files(&self) -> &[(u64, OwnedFd)] {
        &self.files
    }
}

/// The bytes of an object that is asleep, by pieces.
#[derive(Debug)]
pub(crate) struct HostCopy(Vec<PinnedBuffer<u8>>);

impl HostCopy {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|piece| piece.len() as u64).sum()
    }
}

/// Makes both.
#[derive(Debug)]
pub(crate) struct Maker {
    memory: VirtualMemory,
    host: PinnedPool,
    /// Copies of one object at a time have all of the bus.
    stream: Mutex<Stream>,
    /// Whole pages.
    piece: u64,
    copied: Copied,
}

/// Bytes that were copied so far.
#[derive(Debug, Default)]
struct Copied {
    down: AtomicU64,
    up: AtomicU64,
}

impl Maker {
    pub(crate) fn new(
        context: &Context,
        config: &KeeperConfig,
        limit: &DeviceLimit,
    ) -> Result<Self, Error> {
        let memory = context.virtual_memory(limit)?;
        let page = memory.granularity();
        Ok(Self {
            host: context.pinned_pool(PinnedPoolConfig::limit(config.host_limit))?,
            stream: Mutex::new(context.streams().create(StreamConfig::default())?),
            piece: (config.piece / page * page).max(page),
            memory,
            copied: Copied::default(),
        })
    }

    /// Bytes that were copied to host memory, and back, so far.
    pub(crate) fn copied(&self) -> (u64, u64) {
        let Copied { down, up } = &self.copied;
        (down.load(Ordering::Relaxed), up.load(Ordering::Relaxed))
    }

    /// Bytes of page-locked memory.
    pub(crate) fn host_bytes(&self) -> u64 {
        self.host.usage().map_or(0, |usage| usage.locked)
    }

    pub(crate) fn device_uuid(&self) -> Result<[u8; 16], Error> {
        self.memory.device_uuid()
    }

    /// Whole pages for this many bytes. `None` where no device has as many.
    pub(crate) fn pages(&self, bytes: u64) -> Option<u64> {
        let pages = bytes.checked_next_multiple_of(self.memory.granularity())?;
        (pages > 0 && i64::try_from(pages).is_ok()).then_some(pages)
    }

    /// Memory of this many bytes, whole pages.
    pub(crate) fn make(&self, bytes: u64) -> Result<Pieces, Error> {
        let memory = &self.memory;
        let mut pieces = Pieces {
            range: memory.reserve(bytes)?,
            files: Vec::new(),
        };
        let mut offset = 0;
        while offset < bytes {
            let length = self.piece.min(bytes - offset);
            let piece = memory.create_exportable(length)?;
            pieces.files.push((length, piece.export()?));
            pieces.range.map(offset, piece)?;
            offset += length;
        }
        pieces.range.set_access(0..bytes, Access::ReadWrite)?;
        Ok(pieces)
    }

    /// The bytes of all pieces, in host memory. Nothing uses them any more when this fails.
    pub(crate) fn copy_down(&self, pieces: &Pieces) -> Result<HostCopy, Error> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let mut copies = Vec::new();
        let mut at = pieces.range.address();
        let ordered = pieces.files.iter().try_for_each(|&(bytes, _)| {
            let mut copy = self.host.allocate::<u8>(bytes as usize)?;
            // SAFETY: the piece is mapped here as long as `pieces` is borrowed, which is until the copies were
            // waited for; no guest has it mapped.
            let piece = unsafe { DeviceSlice::<u8>::from_raw(at, bytes as usize) };
            at += bytes;
            let ordered = ops::copy_to_host(piece, &mut copy, &stream);
            copies.push(copy);
            ordered
        });
        wait(ordered, &stream)?;
        let bytes = pieces.range.bytes();
        self.copied.down.fetch_add(bytes, Ordering::Relaxed);
        Ok(HostCopy(copies))
    }

    /// Copies these bytes to memory that was made for them. Nothing uses it any more when this fails.
    pub(crate) fn copy_up(&self, copy: &HostCopy, pieces: &Pieces) -> Result<(), Error> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = pieces.range.address();
        let ordered = copy.0.iter().try_for_each(|piece| {
            // SAFETY: the piece is mapped here as long as `pieces` is borrowed, which is until the copies were
            // waited for, and no guest has it yet.
            let to = unsafe { DeviceSliceMut::<u8>::from_raw(at, piece.len()) };
            at += piece.len() as u64;
            ops::copy_to_device(piece, to, &stream)
        });
        wait(ordered, &stream)?;
        self.copied.up.fetch_add(copy.bytes(), Ordering::Relaxed);
        Ok(())
    }

    /// Gives host memory back that no copy is in.
    pub(crate) fn trim(&self) {
        // What is not given back counts as abandoned, and for the limit on host memory no more.
        let _ = self.host.trim();
    }
}

/// Waits for copies, also where not all of them were ordered, so that nothing uses their memory any more.
fn wait(ordered: Result<(), Error>, stream: &Stream) -> Result<(), Error> {
    let waited = ops::synchronize(stream);
    if waited.is_err() {
        // A wait that failed was none. One that fails twice is a lost context's.
        let _ = ops::synchronize(stream);
    }
    ordered.and(waited)
}

/// Why memory was not made, or an object not changed.
#[derive(Debug)]
pub(crate) enum Failure {
    Refused(Refusal),
    Device(Error),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Device(error)
    }
}

impl Failure {
    /// What a guest is told.
    pub(crate) fn refusal(&self) -> Refusal {
        match self {
            Self::Refused(refusal) => *refusal,
            Self::Device(Error::OverLimit(account)) => {
                // All of the keeper's memory is charged to the ledger.
                let (used, limit) = account.processes.unwrap_or((account.mapped, account.limit));
                Refusal::OverLimit {
                    bytes: account.requested,
                    used,
                    limit,
                }
            }
            Self::Device(Error::OutOfMemory { .. }) => Refusal::OutOfMemory,
            Self::Device(Error::Host(error))
                if matches!(**error, HostMemoryError::OverLimit { .. }) =>
            {
                Refusal::HostLimit
            }
            Self::Device(other) => Refusal::Driver {
                status: other.status().map_or(0, |status| status.0),
            },
        }
    }
}
