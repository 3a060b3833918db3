//! [`CompileError`]: why there is no device code.

use std::path::PathBuf;
use std::sync::Arc;

use cupola_sys::nvrtc::{NvrtcError, nvrtcResult};
use cupola_sys::{ErrorClass, LoadError, Version};

use super::{Diagnostic, PtxVersion, Severity, TargetArchitecture};

/// Why a compile gave no device code.
///
/// Its text has the call, the code and what to do; where the compiler wrote a log, the log.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// There is no NVRTC on this machine.
    #[error(
        "CUDA C++ cannot be compiled: {0}; install it with `pip install nvidia-cuda-nvrtc` (in a \
         checkout of cupola: `cargo xtask cuda`), or set CUPOLA_NVRTC_LIBRARY to its file"
    )]
    NotFound(#[source] Arc<LoadError>),
    /// The source has errors.
    #[error("{call}\n{log}")]
    Source {
        /// The call.
        call: NvrtcError,
        /// The compiler's log, as it is.
        log: String,
        /// The messages in it.
        diagnostics: Vec<Diagnostic>,
    },
    /// The compiler does not know an option, or not its value.
    #[error("{call}\n{log}")]
    Option {
        /// The call.
        call: NvrtcError,
        /// The compiler's log, which names the option.
        log: String,
    },
    /// The compiler makes no code for the architecture.
    #[error(
        "NVRTC of CUDA {have} makes no code for {wanted}, but for {}; use one that does",
        names(supported)
    )]
    Architecture {
        /// What was asked for.
        wanted: TargetArchitecture,
        /// What the compiler makes code for.
        supported: Vec<TargetArchitecture>,
        /// The compiler's version.
        have: Version,
    },
    /// The library of the compiler's built-in headers is not where it looks for it.
    #[error(
        "{call} (the compiler is {}, its built-in headers {})",
        library.as_deref().map_or("of an unknown file".into(), std::path::Path::to_string_lossy),
        builtins.as_deref().map_or("are not beside it".into(), std::path::Path::to_string_lossy)
    )]
    Builtins {
        /// The call.
        call: NvrtcError,
        /// The compiler's file.
        library: Option<PathBuf>,
        /// The file of the built-in headers, if it is beside the compiler's.
        builtins: Option<PathBuf>,
    },
    /// The compile was cancelled.
    #[error("the compile was cancelled")]
    Cancelled,
    /// This version of NVRTC cannot do what was asked.
    #[error("{what} needs {function}, which NVRTC of CUDA {have} does not have; use a newer one")]
    Unsupported {
        /// What was asked.
        what: &'static str,
        /// The function that it lacks.
        function: &'static str,
        /// The compiler's version.
        have: Version,
    },
    /// The driver is older than the PTX, and no binary can be made for its device.
    #[error(
        "the driver, of CUDA {driver}, takes PTX up to version {takes}, and NVRTC of CUDA {have} \
         writes {writes}: compile a binary for the device's architecture, use an NVRTC that is no \
         newer than the driver, or update the driver"
    )]
    PtxTooNew {
        /// The version that the compiler writes.
        writes: PtxVersion,
        /// The newest that the driver takes.
        takes: PtxVersion,
        /// The driver's version.
        driver: Version,
        /// The compiler's version.
        have: Version,
    },
    /// A name expression names nothing in the source.
    #[error("name expression {expression:?}: {call}")]
    Name {
        /// The expression.
        expression: String,
        /// The call.
        call: NvrtcError,
    },
    /// A text has a NUL inside, where the compiler would take it to end.
    #[error("{what} has a NUL inside, where the compiler would take it to end")]
    Nul {
        /// The text.
        what: String,
    },
    /// Another call failed.
    #[error("{call}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Call {
        /// The call.
        call: NvrtcError,
        /// The compiler's log; empty if it wrote none.
        log: String,
    },
    /// A thread for compiles could not be started.
    #[error("a thread for compiles could not be started ({0}): allow fewer, or end others")]
    Thread(String),
    /// The compile panicked on a thread of a [`CompileQueue`](super::CompileQueue).
    #[error("the compile panicked, which is a mistake in cupola: report it with the request")]
    Panicked,
    /// The [`CompileQueue`](super::CompileQueue) was dropped before the compile began.
    #[error("the queue of the compile is gone")]
    QueueGone,
}

impl CompileError {
    /// What a caller can do about it.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::NotFound(_) | Self::Builtins { .. } => ErrorClass::Environment,
            Self::Source { .. } => ErrorClass::Program,
            Self::Option { .. } | Self::Name { .. } | Self::Nul { .. } | Self::QueueGone => {
                ErrorClass::Programmer
            }
            Self::Architecture { .. } | Self::Unsupported { .. } | Self::PtxTooNew { .. } => {
                ErrorClass::Unsupported
            }
            Self::Cancelled => ErrorClass::Transient,
            Self::Thread(_) => ErrorClass::Resource,
            Self::Panicked => ErrorClass::Unknown,
            Self::Call { call, .. } => call.class(),
        }
    }

    /// The compiler's log; empty if it wrote none.
    #[must_use]
    pub fn log(&self) -> &str {
        match self {
            Self::Source { log, .. } | Self::Option { log, .. } | Self::Call { log, .. } => log,
            _ => "",
        }
    }

    /// The messages about the source that made it fail; the first is usually the one to look at.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        let diagnostics = match self {
            Self::Source { diagnostics, .. } => diagnostics.as_slice(),
            _ => &[],
        };
        diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity >= Severity::Error)
    }

    /// The error of a call about no source.
    pub(super) fn of_call(call: NvrtcError, what: &'static str) -> Self {
        match call {
            NvrtcError::Missing { have, .. } => Self::Unsupported {
                what,
                function: call.symbol().as_str(),
                have,
            },
            NvrtcError::Failed { .. } => Self::Call {
                call,
                log: String::new(),
            },
        }
    }

    /// The error of a compile that failed, but for what only the compiler can tell of it.
    pub(super) fn of_compile(call: NvrtcError, log: String) -> Self {
        match call.status() {
            Some(nvrtcResult::NVRTC_ERROR_COMPILATION) => Self::Source {
                call,
                diagnostics: Diagnostic::parse_log(&log),
                log,
            },
            Some(nvrtcResult::NVRTC_ERROR_INVALID_OPTION) => Self::Option { call, log },
            Some(nvrtcResult::NVRTC_ERROR_CANCELLED) => Self::Cancelled,
            Some(_) => Self::Call { call, log },
            None => Self::of_call(call, "compiling"),
        }
    }
}

fn names(architectures: &[TargetArchitecture]) -> String {
    let names: Vec<_> = architectures.iter().map(ToString::to_string).collect();
    names.join(", ")
}
