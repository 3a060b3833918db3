//! `Failure`: what is left of a handler's error once it has crossed to the supervisor.

use core::error::Error as StdError;
use core::fmt;

use cupola_managers::{Cause, Error};
use cupola_sys::ErrorClass;
use cupola_sys::driver::{CUresult, DriverError};

use crate::frame::Trouble;

/// An error of a worker, as text with what the supervisor must know about it.
///
/// Every error type converts to it with `?`. If an [`Error`] of the managers, its [`Cause`] or a
/// [`DriverError`] is the error or among its [sources](StdError::source), its code, its class
/// and whether it is sticky are taken over, so wrapping an error does not hide that the
/// process is lost. A wrapper that names no source does hide it: say [`sticky`](Self::sticky)
/// then. For that reason `Failure` is itself no [`core::error::Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    text: String,
    status: Option<CUresult>,
    class: ErrorClass,
    sticky: bool,
}

impl Failure {
    /// A failure that is not CUDA's. The worker goes on after it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            status: None,
            class: ErrorClass::Unknown,
            sticky: false,
        }
    }

    /// The failure that an error is; what `?` does, for errors behind a `dyn Error`.
    #[must_use]
    pub fn of(error: &(dyn StdError + 'static)) -> Self {
        let mut failure = Self::new(error.to_string());
        let mut next = Some(error);
        let mut known = false;
        while let Some(error) = next {
            // Many errors say their source themselves.
            let text = error.to_string();
            if !failure.text.contains(&text) {
                failure.text = format!("{}: {text}", failure.text);
            }
            if let Some((status, class)) = known_by(error)
                && !known
            {
                (failure.status, failure.class, known) = (status, class, true);
                failure.sticky = class.is_sticky();
            }
            next = error.source();
        }
        failure
    }

    /// The same, and the worker is of no use any more: the supervisor starts another one and
    /// gives it the item again.
    #[must_use]
    pub fn sticky(mut self) -> Self {
        self.sticky = true;
        self
    }

    /// The text of the error.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The code that the driver returned, if it is behind the error.
    #[must_use]
    pub fn status(&self) -> Option<CUresult> {
        self.status
    }

    /// The class of the error.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// Whether the worker was of no use any more after it.
    #[must_use]
    pub fn is_sticky(&self) -> bool {
        self.sticky
    }

    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no workers"))]
    pub(super) fn into_trouble(self, panicked: bool) -> Trouble {
        Trouble {
            lost: self.sticky,
            panicked,
            class: self.class,
            code: self.status.map(|status| status.0),
            text: self.text,
        }
    }

    pub(super) fn from_trouble(trouble: Trouble) -> Self {
        Self {
            text: trouble.text,
            status: trouble.code.map(CUresult),
            class: trouble.class,
            sticky: trouble.lost,
        }
    }
}

/// Code and class of an error that is of CUDA. A transparent wrapper does not show its
/// [`Error`], but what that was caused by.
fn known_by(error: &(dyn StdError + 'static)) -> Option<(Option<CUresult>, ErrorClass)> {
    if let Some(error) = error.downcast_ref::<Error>() {
        return Some((error.status(), error.class()));
    }
    let cause = error.downcast_ref::<Cause>().map(|cause| &cause.call);
    let call = cause.or_else(|| error.downcast_ref::<DriverError>())?;
    Some((call.status(), call.class()))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<E: StdError + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::of(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use cupola_managers::ExecutionManager;
    use cupola_managers::ops;
    use cupola_managers::retry::{GaveUp, RetryError};
    use cupola_sim::Machine;
    use cupola_sim::fault::FaultTable;
    use cupola_sys::driver::id;

    #[derive(Debug, thiserror::Error)]
    #[error("frame 7 was not scaled")]
    struct Wrapped(#[source] Error);

    #[derive(Debug, thiserror::Error)]
    enum Transparent {
        #[error(transparent)]
        Cuda(#[from] Error),
        #[error(transparent)]
        Retry(#[from] RetryError),
    }

    fn illegal_address() -> Error {
        let table = FaultTable::new(Machine::builder().worker_threads(1).build().driver());
        let execution = ExecutionManager::new(table.driver()).expect("cuInit");
        let context = execution
            .devices()
            .get(0)
            .and_then(|device| device.primary());
        let context = context.expect("a context");
        let stream = context.streams().create(Default::default());
        let stream = stream.expect("a stream");
        let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        table.fail(id::cuStreamSynchronize, 1, code);
        ops::synchronize(&stream).expect_err("the call fails")
    }

    fn retried(last: Error) -> RetryError {
        RetryError {
            last,
            attempts: 2,
            elapsed: Duration::ZERO,
            why: GaveUp::NotRetryable,
        }
    }

    // Without it a wrapper that forwards to the source of our error, or the error of a retry,
    // would hide that the process is lost.
    #[test]
    fn wrappers_that_hide_the_error_itself_hide_no_sticky_one() {
        let poisoned = || Error::Poisoned {
            first: illegal_address()
                .cause()
                .cloned()
                .expect("a call failed")
                .into(),
            device: 0,
            before: None,
        };
        for error in [illegal_address, poisoned] as [fn() -> Error; 2] {
            let wrapped: [Box<dyn StdError>; 5] = [
                Box::new(error()),
                Box::new(Transparent::from(error())),
                Box::new(retried(error())),
                Box::new(Transparent::from(retried(error()))),
                Box::new(Wrapped(error())),
            ];
            for error in wrapped {
                let failure = Failure::of(&*error);
                assert!(failure.is_sticky(), "{error:?}");
                assert_eq!(
                    failure.status().map(|status| status.0),
                    Some(700),
                    "{error:?}"
                );
                assert_eq!(failure.class(), ErrorClass::StickyProcess);
            }
        }
        let other = Transparent::from(retried(Error::Invalid {
            field: "grid",
            problem: "is empty".into(),
        }));
        assert!(!Failure::from(other).is_sticky());
    }

    // Without it a user who wraps errors in a type of their own would have a lost worker go
    // on, and every later item fail.
    #[test]
    fn a_wrapped_sticky_error_is_sticky() {
        let failure = Failure::from(Wrapped(illegal_address()));
        assert!(failure.is_sticky());
        assert_eq!(failure.status().map(|status| status.0), Some(700));
        assert_eq!(failure.class(), ErrorClass::StickyProcess);
        assert!(failure.text().starts_with("frame 7"), "{failure}");
        assert!(failure.text().contains("cuStreamSynchronize"), "{failure}");
        let back = Failure::from_trouble(failure.clone().into_trouble(false));
        assert_eq!(back, failure);
    }

    // Without it a mistake of one item would cost a restart.
    #[test]
    fn another_error_is_not() {
        let failure = Failure::from("x".parse::<u8>().unwrap_err());
        assert!(!failure.is_sticky() && failure.status().is_none());
        assert!(failure.sticky().is_sticky());
    }
}
