//! The streams of other code, which callers name by the driver's handle.
//!
//! The pool asks a stream how far it is when another one needs memory that was freed on it, long after the
//! call that named it. So a stream is leased at its first call and stays so, and whose stream it is must
//! not destroy it before it was released here. PyTorch never destroys its own; the example for CuPy keeps
//! its streams. A stream that was destroyed all the same is found out where its address comes again with
//! another one (`cuStreamGetId`, CUDA 12).

use std::collections::HashMap;
use std::ffi::c_ulonglong;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cupola_managers::{Context, Stream};
use cupola_sys::driver::{CUstream, CUstreamCaptureStatus};

use crate::error::Failure;

/// `CU_STREAM_LEGACY`, which null means too.
const LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`.
const PER_THREAD: usize = 2;

/// A stream that has been named.
pub(crate) struct KnownStream {
    stream: Stream,
    raw: CUstream,
    /// The driver's number of it, once it was told: no other stream of the process ever has it.
    id: OnceLock<u64>,
}

/// What the driver says of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    Number(u64),
    /// The default stream, which is always the same, or a driver that tells none.
    Unnumbered,
    /// It is captured, and must not be asked: `cuStreamGetId` is refused then and ends the capture, in every
    /// mode (driver 580).
    Captured,
}

// SAFETY: a CUstream may be used from any thread; the rest is Send and Sync.
unsafe impl Send for KnownStream {}
// SAFETY: a CUstream may be shared, because the driver does its own locking; the rest is Sync.
unsafe impl Sync for KnownStream {}

impl KnownStream {
    /// A stream of this library.
    pub(crate) fn own(stream: Stream) -> Arc<Self> {
        let raw = stream.as_raw();
        let id = OnceLock::new();
        Arc::new(Self { stream, raw, id })
    }

    /// Whether it is the stream of which the driver says this. One that is captured is taken for the one that was
    /// at its address before.
    fn is(&self, identity: Identity) -> bool {
        match identity {
            // Where it was captured when it was first named, this is the first answer.
            Identity::Number(number) => *self.id.get_or_init(|| number) == number,
            Identity::Unnumbered | Identity::Captured => true,
        }
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Whether a caller that names the stream of a block of this one means this one. It is not asked for its
    /// number: it may have been destroyed by now.
    pub(crate) fn is_called(&self, raw: CUstream) -> bool {
        self.raw.addr().max(LEGACY) == raw.addr().max(LEGACY)
    }
}

/// The streams of a device that have been named, by their addresses.
#[derive(Default)]
pub(crate) struct ForeignStreams {
    known: RwLock<HashMap<usize, Arc<KnownStream>>>,
}

/// What is known of the stream at an address.
enum Found {
    Same(Arc<KnownStream>),
    /// Another stream has come at its address.
    Replaced(Arc<KnownStream>),
    Nothing,
}

impl ForeignStreams {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<usize, Arc<KnownStream>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<usize, Arc<KnownStream>>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream that a caller names. `settle` waits for all work of the context: it is called where
    /// the address was another stream's, whose work may still run.
    ///
    /// # Safety
    /// `raw` is a stream of the context, which is current, and alive until it was
    /// [released](Self::release).
    pub(crate) unsafe fn get(
        &self,
        context: &Context,
        raw: CUstream,
        settle: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Arc<KnownStream>, Failure> {
        let address = match raw.addr() {
            0 => LEGACY,
            PER_THREAD => return Err(Failure::PerThreadStream),
            address => address,
        };
        // SAFETY: a live stream of the context, by the condition of this function.
        let identity = unsafe { identity_of(context, address, raw) }?;
        let look = |known: &HashMap<usize, Arc<KnownStream>>| match known.get(&address) {
            Some(same) if same.is(identity) => Found::Same(Arc::clone(same)),
            Some(other) => Found::Replaced(Arc::clone(other)),
            None => Found::Nothing,
        };
        let found = look(&self.read());
        if let Found::Same(known) = found {
            return Ok(known);
        }
        if let Found::Replaced(_) = found {
            settle()?;
        }
        let mut known = self.write();
        match look(&known) {
            Found::Same(known) => return Ok(known),
            Found::Replaced(old) => {
                // Its name ends, so that the manager does not take the new stream for it. One that
                // another thread has released has none.
                let _ = context.streams().release(old.stream.handle());
                known.remove(&address);
            }
            Found::Nothing => {}
        }
        // SAFETY: a live stream of the context, and alive until the lease is given up by `release`: by
        // the condition of this function. Contexts here are primary ones.
        let stream = unsafe { context.streams().borrow_raw(raw) }?;
        let id = match identity {
            Identity::Number(number) => OnceLock::from(number),
            Identity::Unnumbered | Identity::Captured => OnceLock::new(),
        };
        let new = Arc::new(KnownStream { stream, raw, id });
        known.insert(address, Arc::clone(&new));
        Ok(new)
    }

    /// Gives a stream up that its owner is about to destroy: the pool records an event on it, which tells
    /// when its work is over.
    pub(crate) fn release(&self, context: &Context, raw: CUstream) -> Result<(), Failure> {
        let address = raw.addr().max(LEGACY);
        let mut known = self.write();
        let Some(stream) = known.get(&address) else {
            return Err(Failure::UnknownStream(address));
        };
        // No thread gets another share without the lock.
        match Arc::strong_count(stream) - 1 {
            0 => {}
            blocks => {
                return Err(Failure::StreamInUse {
                    stream: address,
                    blocks,
                });
            }
        }
        context.streams().release(stream.stream.handle())?;
        known.remove(&address);
        Ok(())
    }
}

/// What the driver says of a stream (`cuStreamIsCapturing`, `cuStreamGetId`).
///
/// # Safety
/// `raw` is a live stream of the context, which is current.
unsafe fn identity_of(
    context: &Context,
    address: usize,
    raw: CUstream,
) -> Result<Identity, Failure> {
    if address == LEGACY {
        return Ok(Identity::Unnumbered);
    }
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: a live stream, by the condition of this function; `status` outlives the call.
    let asked = unsafe { context.driver().cuStreamIsCapturing(raw, &raw mut status) };
    match asked {
        Err(missing) if missing.status().is_none() => {}
        other => other?,
    }
    if status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
        return Ok(Identity::Captured);
    }
    let mut number: c_ulonglong = 0;
    // SAFETY: a live stream, by the condition of this function; `number` outlives the call.
    match unsafe { context.driver().cuStreamGetId(raw, &raw mut number) } {
        Ok(()) => Ok(Identity::Number(number)),
        Err(missing) if missing.status().is_none() => Ok(Identity::Unnumbered),
        Err(error) => Err(error.into()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
