//! `Error`: the refusals and failures of this crate.
//!
//! A driver code is kept as the call that returned it; its name, meaning and remedy are
//! looked up when the error is printed, so it costs nothing until then.

mod account;
mod cause;
mod class;
mod explanation;
mod free;
mod item;
mod latch;
mod launches;
mod loss;
mod pointer;
mod policy;
mod taint;
mod text;

use core::panic::Location;
use std::sync::Arc;

use cupola_core::{HandleError, InsertError};
use cupola_sys::driver::{CUresult, DriverError, SYMBOLS};
use cupola_sys::{SymbolId, Version};

pub use account::Account;
pub use cause::{Blame, Cause, LaunchSite, Site};
pub use free::FreeError;
pub use item::{ItemError, ItemStage};
pub(crate) use latch::Latch;
pub(crate) use launches::{Launch, Launches, Mark, Rings};
pub use loss::LossWatch;
pub(crate) use loss::{OnLoss, Once, contain};
pub use pointer::{BlockEvent, BlockFate, PointerFault, PointerProblem};
pub(crate) use policy::Loss;
pub use policy::PoisonPolicy;
pub(crate) use taint::{Taints, Written};

pub use cupola_sys::{ErrorClass, ErrorGroup};

use crate::device::Architecture;
use crate::host::HostMemoryError;
use crate::peer::PeerError;

/// A result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Why an operation was not done.
///
/// Its text has all that is known, that of its [`source`](std::error::Error::source)
/// included: the [`Cause`], which [`cause`](Self::cause) returns too. Errors of a driver call name
/// the call, the code with its meaning and remedy, the device, the stream if it was for one, and
/// the line that called this crate:
///
/// ```text
/// device 0: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): ...; possibly caused
/// by kernel scale launched at src/main.rs:41:14 on Stream#1.0@1 (called at src/main.rs:52:5, Stream#1.0@1)
/// ```
///
/// A driver for CUDA 12.9 or later may say more, which is the last line:
/// [`Cause::explanation`].
///
/// # Errors of kernels
///
/// A kernel runs after its launch, so its error is returned by a later call: the next one, in the
/// whole context. CUDA does not say which kernel's error it is. With the first error after which a
/// context is lost, [`Cause::blame`] names the launches that were not known to be complete, newest
/// first: one is likely the culprit, but work that other code puts on the device is not seen. A
/// launch is known to be complete when a wait for its stream
/// ([`synchronize`](crate::ops::synchronize), [`query`](crate::ops::query)) has succeeded; waits
/// for events do not tell. [Checked mode](crate::Context::set_checked) narrows it down to one,
/// where that can be known of the launches of this crate in this context: work of other contexts of
/// the process and of other code is never seen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A driver function returned a code other than success.
    Driver(Cause),
    /// The driver lacks a function that this needs.
    Unsupported {
        /// The function.
        symbol: &'static str,
        /// The CUDA version that introduced it.
        needs: Version,
        /// The newest CUDA version that the driver supports.
        have: Version,
    },
    /// The device lacks a feature that this needs.
    UnsupportedByDevice {
        /// The feature.
        feature: &'static str,
        /// The oldest generation of GPUs that has it.
        needs: Architecture,
        /// That of the device.
        have: Architecture,
    },
    /// A handle names nothing that is alive: it was released, or is another manager's.
    StaleHandle {
        /// The kind of object that it names.
        kind: &'static str,
        /// The handle as a number.
        bits: u64,
    },
    /// A handle names an object that is not there yet: it is made when it is first asked for with
    /// `ensure_alive`, or another thread is just making it.
    NotAlive {
        /// The kind of object that it names.
        kind: &'static str,
        /// The handle as a number.
        bits: u64,
    },
    /// The manager was shut down.
    ShutDown {
        /// The kind of object that was asked for.
        kind: &'static str,
    },
    /// A manager has as many objects as it may have.
    Full {
        /// The kind of object.
        kind: &'static str,
    },
    /// Another thread is at it, and the caller was not to wait.
    Busy {
        /// The work of the other thread.
        what: &'static str,
    },
    /// The request does not fit the pool's limit. Nothing was created.
    OverLimit(Box<Account>),
    /// The request fits the pool's limit, but the device has too little left, even after
    /// unused memory was given back.
    OutOfMemory {
        /// The call that failed last.
        cause: Box<Cause>,
        /// The pool's account.
        account: Box<Account>,
    },
    /// An earlier error made the context unusable; this is that error. Start a new process: a
    /// driver makes no other context in this one.
    Poisoned {
        /// The first error after which the context was lost.
        first: Arc<Cause>,
        /// Ordinal of the device.
        device: u32,
        /// The error that the process was lost to before, in another context: this one's may have
        /// come of that.
        before: Option<Arc<Cause>>,
    },
    /// The process was forked after CUDA was initialised; CUDA works in the parent only.
    Forked,
    /// PTX or a binary, or a kernel of it, could not be loaded or linked.
    Load {
        /// The call that failed.
        cause: Box<Cause>,
        /// The messages of the driver's compiler; empty if it wrote none.
        log: String,
    },
    /// The work was put on its stream, or may have been, and its fate is not known: in [checked
    /// mode](crate::Context::set_checked) it could not be waited for; a host function was answered
    /// with a code that says to try again, and not that it was refused. Do not put it again.
    Unverified {
        /// The driver function that put the work.
        operation: &'static str,
        /// The call that failed.
        cause: Box<Cause>,
    },
    /// The memory was to be written by an operation that failed, and has not been since: what it
    /// holds is no result. See [`Buffer`](crate::Buffer#failed-operations).
    Tainted {
        /// The failure of that operation.
        first: Arc<Cause>,
    },
    /// The arguments of a launch are not those that the kernel declares.
    Arguments {
        /// The kernel.
        function: String,
        /// The mismatch.
        mismatch: ArgumentMismatch,
    },
    /// There is no memory, or too little, at an address that an operation was given: see
    /// [`Context::set_pointer_checks`](crate::Context::set_pointer_checks).
    Pointer(Box<PointerFault>),
    /// Host memory was refused: see [`host`](crate::host).
    Host(Box<HostMemoryError>),
    /// A device does not reach another's memory, or not rightly: see [`peer`](crate::peer).
    Peer(Box<PeerError>),
    /// An argument is not one that the operation takes.
    Invalid {
        /// The argument or field.
        field: &'static str,
        /// The reason why it is refused.
        problem: String,
    },
    /// Two objects of one operation belong to different contexts, or to different drivers.
    WrongContext {
        /// The object that belongs to another context.
        what: &'static str,
    },
    /// An operation that cannot be part of a graph was given a stream on which a capture is open: one
    /// that waits on the host, now or later, which would break the capture, or a function that is
    /// called once. Nothing was put on the stream.
    Capturing {
        /// The operation.
        operation: &'static str,
    },
    /// An operation that works in the current [runtime context](crate::runtime) was called
    /// on a thread that has none.
    NoRuntime,
    /// An error of a pipeline, with its item and stage. [`cause`](Self::cause), its class and its
    /// advice are those of the error inside.
    Item(Box<ItemError<Self>>),
}

/// How the arguments of a launch, or the types of a [`Kernel`](crate::ops::Kernel), differ from the
/// parameters that the kernel declares: all sizes of both in bytes, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentMismatch {
    /// The size of each parameter that the kernel declares.
    pub declared: Box<[usize]>,
    /// The size of each argument, or type, that was given.
    pub given: Box<[usize]>,
}

impl ArgumentMismatch {
    /// The position, from 0, of the first of which the sizes differ, or that one side lacks.
    #[must_use]
    pub fn position(&self) -> usize {
        let mut pairs = self.declared.iter().zip(&self.given);
        let differs = pairs.position(|(declared, given)| declared != given);
        differs.unwrap_or(self.declared.len().min(self.given.len()))
    }
}

impl Error {
    /// The error of a call that was made at `site`, for a device.
    pub(crate) fn at(call: DriverError, device: Option<u32>, site: Site) -> Self {
        Self::of_cause(Cause::new(call, Site { device, ..site }))
    }

    /// The error of a call that failed; a function that the driver lacks is unsupported.
    pub(crate) fn of_cause(cause: Cause) -> Self {
        let call = cause.call;
        match call {
            DriverError::Missing { have, .. } => Self::Unsupported {
                symbol: call.symbol().as_str(),
                needs: call.symbol().introduced,
                have,
            },
            DriverError::Failed { .. } => Self::Driver(cause),
        }
    }

    /// The error of a call that does not tell whether the work of `operation` is well.
    pub(crate) fn unverified(self, operation: SymbolId) -> Self {
        match self {
            Self::Driver(cause) if !cause.call.class().is_sticky() => Self::Unverified {
                operation: SYMBOLS[usize::from(operation.0)].as_str(),
                cause: Box::new(cause),
            },
            other => other,
        }
    }

    pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            problem: problem.into(),
        }
    }

    pub(crate) fn stale(kind: &'static str, bits: u64) -> Self {
        Self::StaleHandle { kind, bits }
    }

    /// Why a store refused a handle.
    pub(crate) fn handle(refusal: HandleError, kind: &'static str, bits: u64) -> Self {
        match refusal {
            HandleError::Saturated => Self::Full { kind },
            HandleError::NotReady => Self::NotAlive { kind, bits },
            _ => Self::StaleHandle { kind, bits },
        }
    }

    /// Why a store refused a value.
    pub(crate) fn insert<T>(_: &InsertError<T>, kind: &'static str) -> Self {
        Self::Full { kind }
    }

    /// The driver call behind the error, if there is one.
    #[must_use]
    pub fn call(&self) -> Option<DriverError> {
        Some(self.cause()?.call)
    }

    /// The failed call with its place, for the errors that have one.
    #[must_use]
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Self::Driver(cause) => Some(cause),
            Self::OutOfMemory { cause, .. }
            | Self::Load { cause, .. }
            | Self::Unverified { cause, .. } => Some(cause),
            Self::Poisoned { first, .. } | Self::Tainted { first } => Some(first),
            Self::Item(item) => item.error.cause(),
            Self::Host(error) => error.cause(),
            Self::Peer(error) => error.cause(),
            _ => None,
        }
    }

    /// Where in the program the failed call was made: the line that called this crate.
    #[must_use]
    pub fn location(&self) -> Option<&'static Location<'static>> {
        Some(self.cause()?.site.location)
    }

    /// The code that the driver returned, if it is behind the error.
    #[must_use]
    pub fn status(&self) -> Option<CUresult> {
        self.call()?.status()
    }
}

/// Every operation may return an error: it goes through a few registers or a cache line.
const _: () = assert!(size_of::<Error>() <= 64);

/// An error can be sent to another thread and put in a box.
const _: fn() = || {
    fn is<T: std::error::Error + Send + Sync + 'static>() {}
    is::<Error>();
};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use cupola_sys::driver::id;

    fn failed(code: CUresult) -> DriverError {
        DriverError::Failed {
            symbol: id::cuStreamCreateWithPriority,
            code,
        }
    }

    // Without it a message could lose the device, the function or the remedy.
    #[test]
    fn messages_name_the_device_the_call_and_what_to_do() {
        let call = failed(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        let text = Error::at(call, Some(3), Site::here()).to_string();
        assert!(
            text.starts_with("device 3: cuStreamCreateWithPriority failed"),
            "{text}"
        );
        assert!(
            text.contains("CUDA_ERROR_OUT_OF_MEMORY") && text.contains("free memory"),
            "{text}"
        );
        let missing = DriverError::Missing {
            symbol: id::cuFuncGetParamInfo,
            have: Version::new(12, 2),
        };
        let text = Error::at(missing, None, Site::here()).to_string();
        assert!(
            text.contains("cuFuncGetParamInfo") && text.contains("12.4") && text.contains("12.2"),
            "{text}"
        );
    }

    // Without it a code from a newer driver could end the program that prints it.
    #[test]
    fn every_code_has_a_text() {
        fn property(code: u32, symbol: u16, version: u32, device: Option<u32>) -> bool {
            use cupola_sys::SymbolId;
            let calls = [
                DriverError::Failed {
                    symbol: SymbolId::new(symbol),
                    code: CUresult(code % 1200),
                },
                DriverError::Failed {
                    symbol: SymbolId::new(symbol % 600),
                    code: CUresult(code),
                },
                DriverError::Missing {
                    symbol: SymbolId::new(symbol % 700),
                    have: Version(version),
                },
            ];
            calls.into_iter().all(|call| {
                let error = Error::at(call, device, Site::here());
                let known = call
                    .status()
                    .is_some_and(|code| CUresult::KNOWN.contains(&code));
                let told = error.to_string();
                let advised = error.advice();
                !told.is_empty()
                    && !format!("{error:?}").is_empty()
                    && (!known || advised.is_some_and(|advice| told.contains(advice)))
            })
        }
        quickcheck::QuickCheck::new()
            .tests(2000)
            .quickcheck(property as fn(u32, u16, u32, Option<u32>) -> bool);
        for &code in CUresult::KNOWN {
            assert!(
                Error::at(failed(code), None, Site::here())
                    .advice()
                    .is_some()
            );
        }
    }
}
