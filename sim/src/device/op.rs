//! What a stream executes.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;

use cupola_sys::driver::{CUhostFn, CUresult, CUstream, CUstreamCallback};

use super::event::Record;
use super::health::{Fault, Health};
use super::launch::Launch;
use super::machine::Device;
use super::memory::{Block, Fill, Transfer};

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a user's function for a stream or a kernel: driver calls are
/// not permitted then.
pub(super) fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// A user's pointer, handed back to the user's function.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserData(pub(super) *mut c_void);

// SAFETY: it is never dereferenced here; the contract of `cuLaunchHostFunc` is that the
// function may be called with it on another thread.
unsafe impl Send for UserData {}

/// One operation in a stream.
#[derive(Debug)]
pub(super) enum Op {
    Copy(Transfer),
    Fill(Fill),
    Launch(Box<Launch>),
    Record(Arc<Record>),
    Wait(Arc<Record>),
    /// `cuLaunchHostFunc`.
    Host(CUhostFn, UserData),
    /// `cuStreamAddCallback`: the handle is an argument of the function.
    Callback(CUstreamCallback, u64, UserData),
    /// `cuMemFreeAsync`; the account was settled at the call.
    Free(Arc<Block>),
}

impl Op {
    /// Whether it takes so little that an idle stream need not wake its thread for it.
    pub(super) fn is_instant(&self) -> bool {
        match self {
            Self::Record(_) | Self::Free(_) => true,
            Self::Wait(record) => record.is_settled(),
            _ => false,
        }
    }

    /// Whether it is work, which configured delays apply to, and not a mark.
    pub(super) fn is_work(&self) -> bool {
        matches!(
            self,
            Self::Copy(_) | Self::Fill(_) | Self::Launch(_) | Self::Host(..)
        )
    }

    pub(super) fn run(self, device: &Device, health: &Health) -> Result<(), Fault> {
        match self {
            Self::Copy(copy) => copy.run(&device.space, &device.engines, health)?,
            Self::Fill(fill) => fill.run(&device.space)?,
            Self::Launch(launch) => launch.run(device, health)?,
            Self::Record(record) => record.complete(),
            Self::Wait(record) => record.wait(),
            Self::Host(Some(function), data) => in_user_code(|| {
                // SAFETY: the caller of `cuLaunchHostFunc` promised that the function may
                // be called with this argument, once, when the stream gets here.
                unsafe { function(data.0) }
            }),
            Self::Callback(function, stream, data) => {
                call_back(function, stream, CUresult::CUDA_SUCCESS, data);
            }
            Self::Free(block) => device.space.remove(&block),
            Self::Host(None, _) => {}
        }
        Ok(())
    }

    /// Ends the operation without doing it, because the context faulted or ends.
    pub(super) fn abandon(self, device: &Device, code: CUresult) {
        match self {
            Self::Record(record) => record.abandon(),
            Self::Callback(function, stream, data) => call_back(function, stream, code, data),
            Self::Free(block) => device.space.remove(&block),
            Self::Copy(_) | Self::Fill(_) | Self::Launch(_) | Self::Wait(_) | Self::Host(..) => {}
        }
    }
}

fn call_back(function: CUstreamCallback, stream: u64, code: CUresult, data: UserData) {
    let Some(function) = function else { return };
    let stream: CUstream = std::ptr::without_provenance_mut(stream as usize);
    in_user_code(|| {
        // SAFETY: the caller of `cuStreamAddCallback` promised that the function may be
        // called with these arguments, once, when the stream gets here or stops.
        unsafe { function(stream, code, data.0) }
    });
}

/// Calls a user's function.
pub(super) fn in_user_code(call: impl FnOnce()) {
    /// Also on the way of a panic.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_HOST_FUNCTION.set(self.0);
        }
    }
    let _restore = Restore(IN_HOST_FUNCTION.replace(true));
    call();
}
