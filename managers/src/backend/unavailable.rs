//! `Unavailable`: why a backend has nothing to offer.

use std::any::Any;
use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cupola_sys::LoadError;
use cupola_sys::driver::{Driver, LIBRARY_VARIABLE};

use super::availability::{Availability, Missing};
use super::kind::SourceError;
use crate::error::Error;

/// Why a backend has nothing to offer. `Display` writes the reason, [`advice`](Self::advice) the
/// remedy. Clones share the cause.
#[derive(Clone, Debug)]
pub struct Unavailable {
    cause: Arc<Cause>,
    library: Option<Arc<str>>,
}

/// The reason why a backend has nothing to offer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The driver's library could not be loaded.
    Load(LoadError),
    /// The source failed with an error of its own.
    Source {
        /// Its text when it failed.
        text: String,
        /// The error, to be looked at closely.
        error: SourceError,
    },
    /// The source panicked.
    Panicked {
        /// The panic's message, if that was text.
        text: String,
    },
    /// The source, or code that it called, opened the backend that it is the source of.
    OpensItself,
    /// Another thread is just opening the backend, and this one is in the source of a backend:
    /// two that waited for each other would never end.
    OpenedElsewhere,
    /// The driver would not start.
    Start {
        /// The error of the start.
        error: Error,
        /// The missing part that explains it, as far as the system tells.
        missing: Option<Missing>,
    },
    /// The driver started and shows no device.
    NoDevices,
    /// The backend was opened before this process was forked.
    Forked,
    /// The backend's execution manager was shut down.
    ShutDown,
}

impl Unavailable {
    pub(super) fn new(cause: Cause) -> Self {
        Self {
            cause: Arc::new(cause),
            library: None,
        }
    }

    /// Adds the library that the driver came from.
    pub(super) fn from(mut self, library: &str) -> Self {
        self.library = Some(library.into());
        self
    }

    /// The reason.
    #[must_use]
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// The library that the driver came from, if there was one.
    #[must_use]
    pub fn library(&self) -> Option<&str> {
        self.library.as_deref()
    }

    /// The remedy, as advice for a user.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match &*self.cause {
            Cause::Load(_) => {
                let named = std::env::var_os(LIBRARY_VARIABLE).is_some_and(|path| !path.is_empty());
                Missing::library_advice(named)
            }
            Cause::Start {
                missing: Some(missing),
                ..
            } => missing.advice(),
            Cause::Start { .. } | Cause::NoDevices => Missing::Devices.advice(),
            Cause::Source { .. } => "see what the backend's source says",
            Cause::Panicked { .. } => "mend the backend's source: it has to return an error",
            Cause::OpenedElsewhere => "open other backends before or after, not in a source",
            Cause::OpensItself => "give the driver out of the source, and open it elsewhere",
            Cause::Forked => Missing::Forked.advice(),
            Cause::ShutDown => "configure its execution manager again, or close the backend first",
        }
    }
}

impl Cause {
    /// The error of a source. Asked for its text once, here, where a panic does no harm.
    pub(super) fn source(error: SourceError) -> Unavailable {
        Unavailable::new(match error.downcast::<LoadError>() {
            Ok(error) => Self::Load(*error),
            Err(error) => Self::Source {
                text: error.to_string(),
                error,
            },
        })
    }

    /// The error of a driver that would not start.
    pub(super) fn start(driver: &Driver, error: Error) -> Unavailable {
        // Only of a library does the system know anything.
        let of_library = driver.library_path().is_some();
        let missing = of_library.then(|| Availability::explain(driver, &error));
        let missing = missing.flatten();
        Unavailable::new(Self::Start { error, missing })
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(library) = &self.library {
            write!(f, "the driver was loaded from {library}, but ")?;
        }
        match &*self.cause {
            Cause::Load(error) => error.fmt(f),
            Cause::Source { text, .. } => f.write_str(text),
            Cause::Panicked { text } => write!(f, "its source panicked: {text}"),
            Cause::OpenedElsewhere => {
                f.write_str("another thread is opening it, and a source must not wait for that")
            }
            Cause::OpensItself => f.write_str("its source opens the backend itself"),
            Cause::Start { error, missing } => {
                error.fmt(f)?;
                match missing {
                    Some(missing) => write!(f, "; {missing}"),
                    None => Ok(()),
                }
            }
            Cause::NoDevices => f.write_str("it shows no device"),
            Cause::Forked => Error::Forked.fmt(f),
            Cause::ShutDown => f.write_str("its execution manager was shut down"),
        }
    }
}

impl std::error::Error for Unavailable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.cause {
            Cause::Load(error) => Some(error),
            Cause::Source { error, .. } => Some(&**error),
            Cause::Start { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Calls code of another author, and makes its panic an error.
pub(super) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Unavailable> {
    // Nothing of ours is changed by the call, so a panic leaves nothing half done.
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let text = text_of(payload);
        Unavailable::new(Cause::Panicked { text })
    })
}

fn text_of(payload: Box<dyn Any + Send>) -> String {
    payload
        .downcast::<String>()
        .map(|text| *text)
        .or_else(|payload| {
            payload
                .downcast::<&'static str>()
                .map(|text| text.to_string())
        })
        .unwrap_or_else(|payload| {
            // Left alone: its own drop might panic too.
            let _ = ManuallyDrop::new(payload);
            "it gave no text".into()
        })
}
