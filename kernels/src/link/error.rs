//! [`LinkError`]: why there is no linked code.

use std::sync::Arc;

use cupola_sys::nvjitlink::NvJitLinkError;
use cupola_sys::{ErrorClass, LoadError, Version};

use super::InputKind;

/// Why a link gave no device code.
///
/// Its text has the call, the code and what to do; where the linker wrote a log, the log.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// There is no nvJitLink on this machine.
    #[error(
        "{0}; install it with `pip install nvidia-nvjitlink` (in a checkout of cupola: `cargo xtask \
         cuda`), or set CUPOLA_NVJITLINK_LIBRARY to its file"
    )]
    NotFound(#[source] Arc<LoadError>),
    /// The linker cannot do what was asked.
    #[error("{linker} cannot {what}")]
    Unsupported {
        /// The linker.
        linker: &'static str,
        /// What it cannot do.
        what: String,
    },
    /// LTO-IR was made by a compiler that is newer than the linker.
    #[error(
        "{input:?} is LTO-IR of CUDA {made_by}, and nvJitLink of CUDA {have} reads none of a newer \
         compiler: use an nvJitLink that is at least as new"
    )]
    TooOld {
        /// The input.
        input: String,
        /// The compiler's version.
        made_by: Version,
        /// The linker's version.
        have: Version,
    },
    /// The linker does not take an input.
    #[error("{name:?}, given as {kind}: {call}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Input {
        /// The input.
        name: String,
        /// What it was given as.
        kind: InputKind,
        /// The call.
        call: NvJitLinkError,
        /// The linker's log; empty if it wrote none.
        log: String,
    },
    /// The inputs cannot be linked, or an option is wrong.
    #[error("{call}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Link {
        /// The call.
        call: NvJitLinkError,
        /// The linker's log; empty if it wrote none.
        log: String,
    },
    /// The driver's linker refused. Its messages are in
    /// [`Error::Load`](cupola_managers::Error::Load).
    #[error(transparent)]
    Driver(#[from] cupola_managers::Error),
    /// No linker of this machine can do it.
    #[error("no linker can do this: {}", reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    NoLinker {
        /// Why each cannot, in the order in which they were asked.
        reasons: Vec<LinkError>,
    },
    /// A text has a NUL inside, where the linker would take it to end.
    #[error("{what} has a NUL inside, where the linker would take it to end")]
    Nul {
        /// The text.
        what: String,
    },
}

impl LinkError {
    /// What a caller can do about it.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::NotFound(_) | Self::TooOld { .. } => ErrorClass::Environment,
            Self::Unsupported { .. } | Self::NoLinker { .. } => ErrorClass::Unsupported,
            Self::Input { call, .. } | Self::Link { call, .. } => call.class(),
            Self::Driver(error) => error.class(),
            Self::Nul { .. } => ErrorClass::Programmer,
        }
    }

    /// The linker's log; empty if it wrote none.
    #[must_use]
    pub fn log(&self) -> &str {
        match self {
            Self::Input { log, .. } | Self::Link { log, .. } => log,
            Self::Driver(cupola_managers::Error::Load { log, .. }) => log,
            _ => "",
        }
    }
}
