//! The text of an [`Error`], and its source.
//!
//! Written out: a derived `source` would be the box around a cause, which a caller cannot downcast
//! to the [`Cause`].

use core::fmt;

use super::cause::Own;
use super::{ArgumentMismatch, Cause, Error};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_own(f)?;
        match (self, self.cause()) {
            // The compiler's log says more.
            (Self::Load { log, .. }, _) if !log.is_empty() => Ok(()),
            (_, Some(cause)) => cause.fmt_explanation(f),
            (_, None) => Ok(()),
        }
    }
}

impl Error {
    /// Writes all but the driver's explanation.
    fn fmt_own(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver(cause) => cause.fmt_own(f),
            Self::Unsupported {
                symbol,
                needs,
                have,
            } => write!(
                f,
                "the driver, of CUDA {have}, lacks {symbol}, which came with CUDA {needs}"
            ),
            Self::UnsupportedByDevice {
                feature,
                needs,
                have,
            } => {
                let ((major, minor), (have_major, have_minor)) =
                    (needs.compute_capability(), have.compute_capability());
                write!(
                    f,
                    "the device, of compute capability {have_major}.{have_minor}, lacks {feature}, which \
                     came with {major}.{minor}"
                )
            }
            Self::StaleHandle { kind, bits } => write!(
                f,
                "{kind} handle {bits:#x} is stale: it was released, or belongs to another manager"
            ),
            Self::NotAlive { kind, bits } => write!(
                f,
                "{kind} handle {bits:#x} names nothing yet: use `ensure_alive`"
            ),
            Self::ShutDown { kind } => {
                write!(f, "{kind}: its manager was shut down; configure it again")
            }
            Self::Full { kind } => write!(
                f,
                "there is no room for another {kind}: release some, or configure a larger capacity"
            ),
            Self::Busy { what } => write!(
                f,
                "another thread is {what}: try again, or use the form that waits"
            ),
            Self::OverLimit(account) => write!(
                f,
                "over the limit: {account}; free buffers or raise the limit"
            ),
            Self::OutOfMemory { cause, account } => {
                write!(f, "out of memory: {account}; {}", Own(cause))
            }
            Self::Poisoned { first, before, .. } => {
                write!(f, "the context was lost to an earlier error: {}", Own(first))?;
                if let Some(before) = before {
                    write!(f, "; the process was lost before that: {}", Own(before))?;
                }
                write!(f, "; {}", self.advice().unwrap_or_default())
            }
            Self::Forked => f.write_str(
                "this process was forked after CUDA was initialised; start workers with exec instead",
            ),
            Self::Load { cause, log } if log.is_empty() => cause.fmt_own(f),
            Self::Load { cause, log } => write!(f, "{}\n{log}", Own(cause)),
            Self::Unverified { operation, cause } => write!(
                f,
                "the work of {operation} may be on its stream, and what becomes of it is not known: \
                 {}; do not put the work again; wait for its stream",
                Own(cause)
            ),
            Self::Tainted { first } => write!(
                f,
                "the memory was not written: {}; {}",
                Own(first),
                self.advice().unwrap_or_default()
            ),
            Self::Arguments { function, mismatch } => write!(f, "{function}: {mismatch}"),
            Self::Pointer(fault) => write!(f, "{fault}"),
            Self::Host(error) => write!(f, "{error}; {}", error.advice()),
            Self::Peer(error) => write!(f, "{error}; {}", error.advice()),
            Self::Invalid { field, problem } => write!(f, "{field}: {problem}"),
            Self::WrongContext { what } => write!(
                f,
                "{what} belongs to another context than the rest of the operation"
            ),
            Self::Capturing { operation } => write!(
                f,
                "{operation} cannot be part of a graph, and a capture is open on the stream; {}",
                self.advice().unwrap_or_default()
            ),
            Self::Item(item) => {
                item.fmt_place(f)?;
                item.error.fmt_own(f)
            }
            Self::NoRuntime => f.write_str(
                "no runtime context is entered on this thread; call `RuntimeContext::enter` first",
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Arguments { mismatch, .. } => Some(mismatch),
            _ => Some(self.cause()?),
        }
    }
}

impl fmt::Display for ArgumentMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (declared, given, at) = (&self.declared, &self.given, self.position());
        match (declared.get(at), given.get(at)) {
            (Some(of), Some(size)) if declared.len() == given.len() => {
                write!(f, "argument {at} has {of} bytes, not {size}")?;
            }
            _ => write!(
                f,
                "it takes {} arguments, not {}",
                declared.len(),
                given.len()
            )?,
        }
        write!(f, "; bytes declared: {declared:?}, given: {given:?}")
    }
}

impl std::error::Error for ArgumentMismatch {}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.call)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::error::Error as _;
    use std::sync::Arc;

    use cupola_sys::driver::{CUresult, DriverError, id};

    use super::super::{Account, Site};
    use super::*;

    // Without it code that walks the chain of an error, as reporters do, could not find the
    // failed call.
    #[test]
    fn the_chain_ends_in_the_failed_call() {
        let call = DriverError::Failed {
            symbol: id::cuMemAlloc_v2,
            code: CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        };
        let cause = Cause::new(call, Site::here());
        let account = Account {
            requested: 8,
            live: 4,
            limit: 10,
            blocks: 1,
            ..Account::default()
        };
        for error in [
            Error::Driver(cause.clone()),
            Error::OutOfMemory {
                cause: Box::new(cause.clone()),
                account: Box::new(account),
            },
            Error::Poisoned {
                first: Arc::new(cause.clone()),
                device: 0,
                before: None,
            },
            Error::Tainted {
                first: Arc::new(cause.clone()),
            },
            Error::Load {
                cause: Box::new(cause.clone()),
                log: String::new(),
            },
            Error::Unverified {
                operation: "cuLaunchKernel",
                cause: Box::new(cause.clone()),
            },
        ] {
            let found = error.source().and_then(|source| source.downcast_ref());
            assert_eq!(found, Some(&cause), "{error}");
            let end = error.source().and_then(std::error::Error::source);
            assert_eq!(end.and_then(|end| end.downcast_ref()), Some(&call));
        }
        assert!(Error::Forked.source().is_none());
    }

    // Without it a refused launch could name the wrong one of its two sides, or a part of them.
    #[test]
    fn a_mismatch_says_what_the_kernel_declares_and_what_was_given() {
        let mismatch = |declared: &[usize], given: &[usize]| ArgumentMismatch {
            declared: declared.into(),
            given: given.into(),
        };
        let count = mismatch(&[8, 4, 8, 8], &[8, 4]);
        assert_eq!(count.position(), 2);
        assert_eq!(
            count.to_string(),
            "it takes 4 arguments, not 2; bytes declared: [8, 4, 8, 8], given: [8, 4]"
        );
        let size = mismatch(&[8, 4, 8], &[8, 8, 4]);
        assert_eq!(size.position(), 1);
        assert_eq!(
            size.to_string(),
            "argument 1 has 4 bytes, not 8; bytes declared: [8, 4, 8], given: [8, 8, 4]"
        );
    }
}
