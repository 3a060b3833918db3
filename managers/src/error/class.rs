//! The classes of errors, by a caller's remedy.

use super::{Error, ErrorClass};

impl Error {
    /// The remedy; `None` for codes that this crate does not know. The text of the error has it
    /// too.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        use cupola_sys::Status as _;
        Some(match self {
            Self::Driver(_) | Self::Load { .. } => return self.status()?.advice(),
            Self::Unsupported { .. } => "update the driver, or do without the feature",
            Self::UnsupportedByDevice { .. } => "use a newer device, or do without the feature",
            Self::StaleHandle { .. } => "lease before release; ask the manager that made it",
            Self::ShutDown { .. } => "configure the manager again",
            Self::Full { .. } => "release some, or configure a larger capacity",
            Self::Busy { .. } => "try again, or wait",
            Self::OverLimit(_) => "free buffers or raise the limit",
            Self::OutOfMemory { .. } => "free memory on the device, then try again",
            Self::Poisoned { .. } => "start a new process",
            Self::Unverified { .. } => "do not put the work again; wait for its stream",
            Self::Tainted { .. } => "write the memory again, or clear its taint",
            Self::Forked => "start workers with exec instead",
            Self::Arguments { .. } => "pass what the kernel declares",
            Self::Host(error) => error.advice(),
            Self::Peer(error) => error.advice(),
            Self::Pointer(_) => "keep the memory until all work with it is over",
            Self::Invalid { .. } => "correct the argument that is named",
            Self::WrongContext { .. } => "use things of one context in one operation",
            Self::Capturing { .. } => "end the capture first, or use another stream",
            Self::NotAlive { .. } => "make it first: `ensure_alive`",
            Self::NoRuntime => "enter a runtime context on this thread first",
            Self::Item(item) => return item.error.advice(),
        })
    }

    /// The class of the error, which says what a caller can do about it.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Unsupported { .. } | Self::UnsupportedByDevice { .. } => ErrorClass::Unsupported,
            Self::Full { .. }
            | Self::Busy { .. }
            | Self::OverLimit(_)
            | Self::OutOfMemory { .. } => ErrorClass::Resource,
            Self::Forked => ErrorClass::StickyProcess,
            Self::Host(error) => error.class(),
            Self::Peer(error) => error.class(),
            Self::Item(item) => item.error.class(),
            Self::Capturing { .. } => ErrorClass::Capture,
            // The code is about the wait, and says nothing about the work.
            Self::Unverified { .. } => ErrorClass::Unknown,
            // The code is the earlier operation's. Another attempt to read fails as this one did.
            Self::Tainted { .. } => ErrorClass::Programmer,
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

    /// Whether the same call may succeed later, at once or after memory or an object was freed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.class().is_retryable()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use cupola_sys::driver::{CUresult, DriverError, id};

    use super::super::{Account, Site};
    use super::*;

    fn failed(code: u32) -> Error {
        let call = DriverError::Failed {
            symbol: id::cuStreamCreateWithPriority,
            code: CUresult(code),
        };
        Error::at(call, None, Site::here())
    }

    // Without it an error could be retried in a context that is lost, a launch that can never
    // work be repeated, or a full pool be reported as a mistake of the caller.
    #[test]
    fn classes_say_what_a_caller_can_do() {
        for code in [
            226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911,
        ] {
            let error = failed(code);
            assert!(error.is_sticky() && !error.is_retryable(), "{code}");
        }
        for code in [1, 2, 201, 400, 600, 999] {
            assert!(!failed(code).is_sticky(), "{code}");
        }
        // The same launch or mapping fails again, even if memory is freed.
        for code in [205, 701, 720] {
            let error = failed(code);
            assert_eq!(error.class(), ErrorClass::Programmer, "{code}");
            assert!(!error.is_retryable(), "{code}");
        }
        let account = Account {
            requested: 8,
            live: 4,
            limit: 10,
            blocks: 1,
            ..Account::default()
        };
        assert!(Error::OverLimit(Box::new(account)).is_retryable());
        assert!(Error::Forked.is_sticky());
        assert!(Error::invalid("grid", "is empty").call().is_none());
    }
}
