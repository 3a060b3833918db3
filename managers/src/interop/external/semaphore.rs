//! Semaphores of another API, by which its work and that of streams are put in order on the device.

use std::fmt;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cupola_sys::driver::{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st__bindgen_ty_1,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    CUexternalSemaphore, CUexternalSemaphoreHandleType_enum as HandleType, id,
};

use super::{call, give_back};
use crate::context::Context;
use crate::driver::{ContextCore, Kind};
use crate::error::{Error, Result, Site};
use crate::stream::{Stream, submit};
use crate::sync;

/// A semaphore of another API that is signalled or not (`VkSemaphore`): a wait takes a signal back, so that each signal is
/// for one wait, which is put after it.
///
/// Dropping it waits for the work on the streams that it was used on, so for the other API's signals too that they wait
/// for, and gives the import back (`cuDestroyExternalSemaphore`). Where no wait succeeds the import stays, and counts as
/// [abandoned](crate::Live::abandoned).
#[derive(Debug)]
#[doc(alias = "CUexternalSemaphore")]
pub struct ExternalSemaphore(Imported);

/// A semaphore of another API with a value that grows (`VkSemaphoreTypeCreateInfo` of a timeline): a signal sets it, a wait
/// is for a value at least, and any number of waits may be for one.
///
/// It ends as an [`ExternalSemaphore`] does.
#[derive(Debug)]
#[doc(alias = "CUexternalSemaphore")]
pub struct ExternalTimeline(Imported);

impl ExternalSemaphore {
    /// Imports a semaphore by an opaque file descriptor (`cuImportExternalSemaphore`). The descriptor is the driver's from then
    /// on; it is closed when this fails.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the driver lacks the function (CUDA 10.0); [`Error::Poisoned`], [`Error::Forked`]; what the
    /// driver returned, when it does not know the descriptor above all.
    ///
    /// # Safety
    /// The descriptor is one that another API has exported as an opaque one, of a binary semaphore; or it is of something that
    /// the driver refuses.
    #[doc(alias = "cuImportExternalSemaphore")]
    #[doc(alias = "CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD")]
    #[track_caller]
    pub unsafe fn import(context: &Context, file: OwnedFd) -> Result<Self> {
        let kind = HandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
        // SAFETY: a descriptor of this kind, by the condition of this function.
        unsafe { Imported::new(context, file, kind) }.map(Self)
    }

    /// Signals the semaphore when the stream has come so far (`cuSignalExternalSemaphoresAsync`).
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Capturing`]; [`Error::Unsupported`]; [`Error::Poisoned`], [`Error::Forked`]; in
    /// [checked mode](crate::Context::set_checked) [`Error::Unverified`]; what the driver returned.
    #[doc(alias = "cuSignalExternalSemaphoresAsync")]
    #[track_caller]
    pub fn signal(&self, stream: &Stream) -> Result<()> {
        self.0.signal(0, stream)
    }

    /// Makes later work on the stream wait, on the device, for a signal, which it takes back
    /// (`cuWaitExternalSemaphoresAsync`). The other API, or a stream, has put the signal before, as a driver may demand.
    ///
    /// # Errors
    /// Those of [`signal`](Self::signal).
    #[doc(alias = "cuWaitExternalSemaphoresAsync")]
    #[track_caller]
    pub fn wait(&self, stream: &Stream) -> Result<()> {
        self.0.wait(0, stream)
    }

    /// The driver's handle.
    #[must_use]
    pub fn as_raw(&self) -> CUexternalSemaphore {
        self.0.raw
    }
}

impl ExternalTimeline {
    /// Imports a timeline semaphore by a file descriptor (`cuImportExternalSemaphore`). The descriptor is the driver's from
    /// then on; it is closed when this fails.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the driver lacks the function (CUDA 10.0); [`Error::Poisoned`], [`Error::Forked`]; what the
    /// driver returned: when it does not know the descriptor, or such semaphores (CUDA 11.2).
    ///
    /// # Safety
    /// The descriptor is one that another API has exported as an opaque one, of a timeline semaphore; or it is of something
    /// that the driver refuses.
    #[doc(alias = "cuImportExternalSemaphore")]
    #[doc(alias = "CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD")]
    #[track_caller]
    pub unsafe fn import(context: &Context, file: OwnedFd) -> Result<Self> {
        let kind = HandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
        // SAFETY: a descriptor of this kind, by the condition of this function.
        unsafe { Imported::new(context, file, kind) }.map(Self)
    }

    /// Sets the value when the stream has come so far (`cuSignalExternalSemaphoresAsync`). It is greater than the value by
    /// then: what becomes of it otherwise is the other API's to say.
    ///
    /// # Errors
    /// Those of [`ExternalSemaphore::signal`].
    #[doc(alias = "cuSignalExternalSemaphoresAsync")]
    #[track_caller]
    pub fn signal(&self, value: u64, stream: &Stream) -> Result<()> {
        self.0.signal(value, stream)
    }

    /// Makes later work on the stream wait, on the device, until the value is at least this one
    /// (`cuWaitExternalSemaphoresAsync`).
    ///
    /// # Errors
    /// Those of [`ExternalSemaphore::signal`].
    #[doc(alias = "cuWaitExternalSemaphoresAsync")]
    #[track_caller]
    pub fn wait(&self, value: u64, stream: &Stream) -> Result<()> {
        self.0.wait(value, stream)
    }

    /// The driver's handle.
    #[must_use]
    pub fn as_raw(&self) -> CUexternalSemaphore {
        self.0.raw
    }
}

/// The driver's import.
struct Imported {
    core: Arc<ContextCore>,
    raw: CUexternalSemaphore,
    /// The streams that it was used on.
    users: Mutex<Vec<Stream>>,
}

// SAFETY: the driver's handle may be used on any thread.
unsafe impl Send for Imported {}
// SAFETY: as above; calls about it do not change it.
unsafe impl Sync for Imported {}

impl Imported {
    /// # Safety
    /// The descriptor is of a semaphore of this kind, or of something that the driver refuses.
    #[track_caller]
    unsafe fn new(context: &Context, file: OwnedFd, kind: HandleType) -> Result<Self> {
        let description = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
            type_: kind,
            handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st__bindgen_ty_1 {
                fd: file.as_raw_fd(),
            },
            flags: 0,
            reserved: [0; 16],
        };
        let mut raw: CUexternalSemaphore = ptr::null_mut();
        let core = context.core();
        call(core, |driver| {
            // SAFETY: `cuImportExternalSemaphore` needs a description of a semaphore as it was exported: condition of this
            // function. Both places outlive the call.
            unsafe { driver.cuImportExternalSemaphore(&raw mut raw, &raw const description) }
        })?;
        // The driver closes it.
        let _ = file.into_raw_fd();
        Ok(Self {
            core: Arc::clone(core),
            raw,
            users: Mutex::default(),
        })
    }

    #[track_caller]
    fn signal(&self, value: u64, stream: &Stream) -> Result<()> {
        self.note(stream, "a signal of a semaphore")?;
        let mut signal = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::default();
        signal.params.fence.value = value;
        let call = id::cuSignalExternalSemaphoresAsync;
        stream.submit(call, |driver, stream| {
            // SAFETY: the call needs a live import, which this value is until its drop, and a stream of its context, as was
            // checked. Both places outlive the call.
            unsafe {
                driver.cuSignalExternalSemaphoresAsync(
                    &raw const self.raw,
                    &raw const signal,
                    1,
                    stream,
                )
            }
        })
    }

    #[track_caller]
    fn wait(&self, value: u64, stream: &Stream) -> Result<()> {
        self.note(stream, "a wait for a semaphore")?;
        let mut wait = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::default();
        wait.params.fence.value = value;
        let call = id::cuWaitExternalSemaphoresAsync;
        stream.submit(call, |driver, stream| {
            // SAFETY: the call needs a live import, which this value is until its drop, and a stream of its context, as was
            // checked. Both places outlive the call.
            unsafe {
                driver.cuWaitExternalSemaphoresAsync(
                    &raw const self.raw,
                    &raw const wait,
                    1,
                    stream,
                )
            }
        })
    }

    /// Notes that work on the stream uses it.
    #[track_caller]
    fn note(&self, stream: &Stream, operation: &'static str) -> Result<()> {
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext {
                what: "the semaphore",
            });
        }
        self.core.healthy()?;
        // Nothing would tell when the launches of the graph are over.
        stream.refuse_captured(operation)?;
        let mut users = sync::lock(&self.users);
        if !users.iter().any(|user| user.is(stream)) {
            users.push(stream.clone());
        }
        Ok(())
    }
}

impl fmt::Debug for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Imported").finish_non_exhaustive()
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        let users = self.users.get_mut();
        let users = std::mem::take(users.unwrap_or_else(PoisonError::into_inner));
        let site = Site::here();
        let is_over = users.iter().all(|stream| submit::settle(stream, site));
        if !is_over && self.core.poison().is_none() {
            self.core.ledger().add(Kind::Abandoned, 1);
            return;
        }
        // Counted where the driver refuses it.
        let _ = give_back(&self.core, |driver| {
            // SAFETY: `cuDestroyExternalSemaphore` needs an import that no work uses: the work was waited for, or nothing begins
            // in a lost context.
            unsafe { driver.cuDestroyExternalSemaphore(self.raw) }
        });
    }
}
