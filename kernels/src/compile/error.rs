//! [`CompileError`]: why there is no device code.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use cupola_sys::nvrtc::{NvrtcError, nvrtcResult};
use cupola_sys::{ErrorClass, LoadError, Version};

use super::{ClangVersion, CompilerVersion, Diagnostic, PtxVersion, Severity, TargetArchitecture};

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
    /// There is no clang on this machine that makes PTX.
    #[error(
        "CUDA C++ cannot be compiled by clang (tried {}): install clang 14 or later with LLVM's NVPTX \
         target (Debian and Ubuntu: `apt install clang-19` or `clang-14`; Fedora: `dnf install clang`; \
         macOS: `brew install llvm`, as Apple's has no NVPTX), or set CUPOLA_CLANG to its file",
        attempts(tried)
    )]
    ClangNotFound {
        /// The programs that were tried, in order.
        tried: Vec<ClangAttempt>,
    },
    /// The source has errors.
    #[error("{call}\n{log}")]
    Source {
        /// The call.
        call: CompilerCall,
        /// The compiler's log, as it is.
        log: String,
        /// The messages in it.
        diagnostics: Vec<Diagnostic>,
    },
    /// The compiler does not know an option, or not its value.
    #[error("{call}\n{log}")]
    Option {
        /// The call.
        call: CompilerCall,
        /// The compiler's log, which names the option.
        log: String,
    },
    /// The compiler makes no code for the architecture.
    #[error(
        "{have} makes no code for {wanted}, but for {}; use one that does",
        names(supported)
    )]
    Architecture {
        /// What was asked for.
        wanted: TargetArchitecture,
        /// What the compiler makes code for.
        supported: Vec<TargetArchitecture>,
        /// The compiler.
        have: CompilerVersion,
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
    /// clang has no equivalent of what was asked.
    #[error("clang {have} has no equivalent of {what}: leave it out, or compile with NVRTC")]
    NotInClang {
        /// What was asked.
        what: String,
        /// The compiler's version.
        have: ClangVersion,
    },
    /// clang took longer than it may, and was stopped.
    #[error(
        "clang {have} was stopped after {limit:?}: raise the limit \
         (`ClangCompiler::with_time_limit`), or compile less at a time"
    )]
    TimedOut {
        /// The most that it may take.
        limit: Duration,
        /// The compiler's version.
        have: ClangVersion,
    },
    /// The operating system did not do what a compile by clang needs.
    #[error("{what}: {error}")]
    Process {
        /// What was to be done.
        what: String,
        /// Why it was not.
        #[source]
        error: Arc<std::io::Error>,
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
    #[error("name expression {expression:?}: {call}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Name {
        /// The expression.
        expression: String,
        /// The call.
        call: CompilerCall,
        /// What clang said of it; empty by NVRTC, which says nothing more.
        log: String,
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
        call: CompilerCall,
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
            Self::NotFound(_)
            | Self::ClangNotFound { .. }
            | Self::Builtins { .. }
            | Self::Process { .. } => ErrorClass::Environment,
            Self::Source { .. } => ErrorClass::Program,
            Self::Option { .. } | Self::Name { .. } | Self::Nul { .. } | Self::QueueGone => {
                ErrorClass::Programmer
            }
            Self::Architecture { .. }
            | Self::Unsupported { .. }
            | Self::NotInClang { .. }
            | Self::PtxTooNew { .. } => ErrorClass::Unsupported,
            Self::Cancelled => ErrorClass::Transient,
            Self::Thread(_) | Self::TimedOut { .. } => ErrorClass::Resource,
            Self::Panicked => ErrorClass::Unknown,
            Self::Call { call, .. } => call.class(),
        }
    }

    /// The compiler's log; empty if it wrote none.
    #[must_use]
    pub fn log(&self) -> &str {
        match self {
            Self::Source { log, .. }
            | Self::Option { log, .. }
            | Self::Name { log, .. }
            | Self::Call { log, .. } => log,
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
                call: CompilerCall::Nvrtc(call),
                log: String::new(),
            },
        }
    }

    /// The error of a compile that failed, but for what only the compiler can tell of it.
    pub(super) fn of_compile(call: NvrtcError, log: String) -> Self {
        let status = call.status();
        if status.is_none() {
            return Self::of_call(call, "compiling");
        }
        let call = CompilerCall::Nvrtc(call);
        match status {
            Some(nvrtcResult::NVRTC_ERROR_COMPILATION) => Self::Source {
                call,
                diagnostics: Diagnostic::parse_log(&log),
                log,
            },
            Some(nvrtcResult::NVRTC_ERROR_INVALID_OPTION) => Self::Option { call, log },
            Some(nvrtcResult::NVRTC_ERROR_CANCELLED) => Self::Cancelled,
            _ => Self::Call { call, log },
        }
    }
}

/// What failed of a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompilerCall {
    /// A call of NVRTC.
    Nvrtc(NvrtcError),
    /// A run of clang.
    Clang {
        /// Which.
        version: ClangVersion,
        /// How it ended.
        status: ExitStatus,
    },
}

impl CompilerCall {
    /// What a caller can do about it.
    fn class(self) -> ErrorClass {
        match self {
            Self::Nvrtc(call) => call.class(),
            Self::Clang { .. } => ErrorClass::Unknown,
        }
    }
}

impl fmt::Display for CompilerCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nvrtc(call) => call.fmt(f),
            Self::Clang { version, status } => write!(f, "clang {version} ended with {status}"),
        }
    }
}

/// A program that was tried as clang, and why it is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClangAttempt {
    /// Its name or path.
    pub program: PathBuf,
    /// Why it is not taken: it is absent, too old, or makes no PTX.
    pub problem: String,
}

impl fmt::Display for ClangAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.program.display(), self.problem)
    }
}

fn attempts(tried: &[ClangAttempt]) -> String {
    let tried: Vec<_> = tried.iter().map(ToString::to_string).collect();
    tried.join("; ")
}

fn names(architectures: &[TargetArchitecture]) -> String {
    let names: Vec<_> = architectures.iter().map(ToString::to_string).collect();
    names.join(", ")
}
