//! `Cause`: a driver call that failed, and where in the program and on the device.

use core::fmt;
use core::panic::Location;
use std::sync::Arc;

use cupola_core::tag;
use cupola_sys::driver::{Driver, DriverError};

use super::explanation;

use crate::handle::ManagedHandle;

/// Where a call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Ordinal of the device, where the call was for one.
    pub device: Option<u32>,
    /// The stream, where the call was for one that has a name.
    pub stream: Option<ManagedHandle<tag::Stream>>,
    /// The caller of this crate.
    pub location: &'static Location<'static>,
}

impl Site {
    /// The caller's place in the program; on no device.
    #[track_caller]
    #[must_use]
    pub fn here() -> Self {
        Self {
            device: None,
            stream: None,
            location: Location::caller(),
        }
    }
}

/// A kernel launch that an error may be of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchSite {
    /// The kernel's name.
    pub kernel: String,
    /// Where it was launched.
    pub site: Site,
}

impl fmt::Display for LaunchSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, site } = self;
        write!(f, "kernel {kernel} launched at {}", site.location)?;
        match site.stream {
            Some(stream) => write!(f, " on {stream:?}"),
            None => Ok(()),
        }
    }
}

/// The work that an error is of: errors of a kernel are returned by some later call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blame {
    /// It was this launch: no other launch of this crate in this context may have run, other
    /// code was given no raw handle of it, and the process was not lost before to an error that
    /// another context of the execution manager met (two that meet one at the same moment may each
    /// name a launch). Launches of other contexts of the process, and of other code that shares a
    /// primary context, are not seen.
    Launch(LaunchSite),
    /// It was one of these launches, newest first, or work that is not known.
    OneOf(Vec<LaunchSite>),
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(launch) => write!(f, "caused by {launch}"),
            Self::OneOf(launches) => {
                f.write_str("possibly caused by ")?;
                for (n, launch) in launches.iter().enumerate() {
                    write!(f, "{}{launch}", if n == 0 { "" } else { ", or " })?;
                }
                Ok(())
            }
        }
    }
}

/// A driver call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The call and its code.
    pub call: DriverError,
    /// Where it was made.
    pub site: Site,
    /// The work that the error is of, if that is known and it is not the call itself.
    pub blame: Option<Arc<Blame>>,
    /// The driver's explanation. One word: errors are small.
    told: Option<Arc<Box<str>>>,
}

impl Cause {
    /// A call that failed at `site`.
    #[must_use]
    pub const fn new(call: DriverError, site: Site) -> Self {
        Self {
            call,
            site,
            blame: None,
            told: None,
        }
    }

    /// The driver's own explanation of the failure, in words, where it says more than its code: one
    /// for CUDA 12.9 or later (`cuLogsDumpToMemory`).
    #[doc(alias = "cuLogsDumpToMemory")]
    #[must_use]
    pub fn explanation(&self) -> Option<&str> {
        self.told.as_deref().map(AsRef::as_ref)
    }

    /// Asks the driver for its explanation of the failure, which was this thread's last call,
    /// unless it was asked and has answered.
    ///
    /// # Errors
    /// The error of asking.
    pub(crate) fn explain(&mut self, driver: &Driver) -> Result<(), DriverError> {
        if self.told.is_some() {
            return Ok(());
        }
        let told = explanation::ask(driver, self.call)?;
        self.told = told.map(|told| Arc::new(told.into_boxed_str()));
        Ok(())
    }

    /// Writes all but the driver's explanation.
    pub(crate) fn fmt_own(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(device) = self.site.device {
            write!(f, "device {device}: ")?;
        }
        write!(f, "{}", self.call)?;
        if let Some(blame) = &self.blame {
            write!(f, "; {blame}")?;
        }
        write!(f, " (called at {}", self.site.location)?;
        if let Some(stream) = self.site.stream {
            write!(f, ", {stream:?}")?;
        }
        f.write_str(")")
    }

    /// Writes the driver's explanation, as a line.
    pub(super) fn fmt_explanation(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.explanation() {
            Some(told) => write!(f, "\nthe driver says: {told}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_own(f)?;
        self.fmt_explanation(f)
    }
}

/// A cause within a longer text, which ends with the driver's explanation.
pub(super) struct Own<'c>(pub(super) &'c Cause);

impl fmt::Display for Own<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_own(f)
    }
}
