//! `Error`: everything that this crate can refuse or fail with.
//!
//! A driver code is kept as the call that returned it; its name, meaning and remedy are
//! looked up when somebody prints it, so an error costs nothing until then.

mod account;
mod latch;

use cupola_core::{HandleError, InsertError};
use cupola_sys::Version;
use cupola_sys::driver::{CUresult, DriverError};

pub use account::Account;
pub(crate) use latch::Latch;

pub use cupola_sys::ErrorClass;

/// A result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A driver function returned a code other than success.
    #[error("{}{call}", on_device(*.device))]
    Driver {
        /// The call and its code.
        call: DriverError,
        /// Ordinal of the device, where the call was for one.
        device: Option<u32>,
    },
    /// The driver lacks a function that this needs.
    #[error("the driver, of CUDA {have}, lacks {symbol}, which came with CUDA {needs}")]
    Unsupported {
        /// The function.
        symbol: &'static str,
        /// The CUDA version that introduced it.
        needs: Version,
        /// The newest CUDA version that the driver supports.
        have: Version,
    },
    /// A handle names nothing that is alive: it was released, or is another manager's.
    #[error("{kind} handle {bits:#x} is stale: it was released, or belongs to another manager")]
    StaleHandle {
        /// What it is a handle of.
        kind: &'static str,
        /// The handle as a number.
        bits: u64,
    },
    /// A manager has as many objects as it can name.
    #[error("there is no room for another {kind}: release some")]
    Full {
        /// What the object is.
        kind: &'static str,
    },
    /// The request does not fit the pool's limit. Nothing was created.
    #[error("over the limit: {0}; free buffers or raise the limit")]
    OverLimit(Account),
    /// The request fits the pool's limit, but the device has too little left, even after
    /// unused memory was given back.
    #[error("{}out of memory: {account}; {call}", on_device(Some(*.device)))]
    OutOfMemory {
        /// The call that failed last.
        call: DriverError,
        /// The pool's account.
        account: Account,
        /// Ordinal of the device.
        device: u32,
    },
    /// An earlier error made the context unusable; this is that error. Start a new process,
    /// or at least drop the context and everything in it.
    #[error("{}the context was lost to an earlier error: {first}", on_device(Some(*.device)))]
    Poisoned {
        /// The first error after which the context was lost.
        first: DriverError,
        /// Ordinal of the device.
        device: u32,
    },
    /// The process was forked after CUDA was initialised; CUDA works in the parent only.
    #[error("this process was forked after CUDA was initialised; start workers with exec instead")]
    Forked,
    /// PTX or a binary could not be loaded.
    #[error("{}{call}{}", on_device(Some(*.device)), log_lines(.log))]
    Load {
        /// The call and its code.
        call: DriverError,
        /// What the driver's compiler said; empty if it said nothing.
        log: String,
        /// Ordinal of the device.
        device: u32,
    },
    /// The arguments of a launch are not those that the kernel declares.
    #[error("{function}: {mismatch}")]
    Arguments {
        /// The kernel.
        function: String,
        /// What is wrong.
        mismatch: ArgumentMismatch,
    },
    /// An argument is outside of what the operation takes.
    #[error("{field}: {problem}")]
    Invalid {
        /// The argument or field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Two things of one operation belong to different contexts, or to execution managers
    /// whose drivers may be different ones.
    #[error("{what} belongs to another context than the rest of the operation")]
    WrongContext {
        /// The thing.
        what: &'static str,
    },
}

/// How the arguments of a launch differ from what the kernel declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentMismatch {
    /// Too few or too many.
    #[error("it takes {declared} arguments, not {given}")]
    Count {
        /// How many the kernel declares.
        declared: usize,
        /// How many the launch gave.
        given: usize,
    },
    /// One has another size.
    #[error("argument {index} has {declared} bytes, not {given}")]
    Size {
        /// Position of the argument, from 0.
        index: usize,
        /// Bytes that the kernel declares.
        declared: usize,
        /// Bytes that the launch gave.
        given: usize,
    },
}

impl Error {
    /// The error of a call that was for no device.
    pub(crate) fn of_call(call: DriverError) -> Self {
        Self::on(call, None)
    }

    /// The error of a call for a device.
    pub(crate) fn on(call: DriverError, device: Option<u32>) -> Self {
        match call {
            DriverError::Missing { have, .. } => Self::Unsupported {
                symbol: call.symbol().as_str(),
                needs: call.symbol().introduced,
                have,
            },
            DriverError::Failed { .. } => Self::Driver { call, device },
        }
    }

    pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            problem: problem.into(),
        }
    }

    /// Why a store refused a handle.
    pub(crate) fn handle(refusal: HandleError, kind: &'static str, bits: u64) -> Self {
        match refusal {
            HandleError::Saturated => Self::Full { kind },
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
        match self {
            Self::Driver { call, .. }
            | Self::OutOfMemory { call, .. }
            | Self::Load { call, .. } => Some(*call),
            Self::Poisoned { first, .. } => Some(*first),
            _ => None,
        }
    }

    /// The code that the driver returned, if it is behind the error.
    #[must_use]
    pub fn status(&self) -> Option<CUresult> {
        self.call()?.status()
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Unsupported { .. } => ErrorClass::Unsupported,
            Self::Full { .. } | Self::OverLimit(_) | Self::OutOfMemory { .. } => {
                ErrorClass::Resource
            }
            Self::Forked => ErrorClass::StickyProcess,
            _ => self
                .call()
                .map_or(ErrorClass::Programmer, |call| call.class()),
        }
    }

    /// Whether the context is lost, so that every later call in it fails too.
    #[must_use]
    pub fn is_sticky(&self) -> bool {
        self.class().is_sticky()
    }

    /// Whether the same call may succeed later, at once or after something was freed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.class().is_retryable()
    }
}

/// "device 0: ", or nothing.
fn on_device(device: Option<u32>) -> String {
    device.map_or_else(String::new, |ordinal| format!("device {ordinal}: "))
}

fn log_lines(log: &str) -> String {
    if log.is_empty() {
        String::new()
    } else {
        format!("\n{log}")
    }
}

#[cfg(test)]
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
        let text = Error::on(call, Some(3)).to_string();
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
        let text = Error::of_call(missing).to_string();
        assert!(
            text.contains("cuFuncGetParamInfo") && text.contains("12.4") && text.contains("12.2"),
            "{text}"
        );
    }

    // Without it an error could be retried in a context that is lost, or a full pool be
    // reported as a mistake of the caller.
    #[test]
    fn classes_say_what_a_caller_can_do() {
        for code in [
            226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911,
        ] {
            let error = Error::of_call(failed(CUresult(code)));
            assert!(error.is_sticky() && !error.is_retryable(), "{code}");
        }
        for code in [1, 2, 201, 400, 600, 999] {
            assert!(
                !Error::of_call(failed(CUresult(code))).is_sticky(),
                "{code}"
            );
        }
        let account = Account {
            requested: 8,
            live: 4,
            peak: 4,
            limit: 10,
            blocks: 1,
        };
        assert!(Error::OverLimit(account).is_retryable());
        assert!(Error::Forked.is_sticky());
        assert!(Error::invalid("grid", "is empty").call().is_none());
    }
}
