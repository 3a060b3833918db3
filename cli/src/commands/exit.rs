//! How the program ends: exit codes, and failures with the code that they mean.

use std::fmt;
use std::process::ExitCode;

use cupola::OpenError;
use cupola::managers::ItemError;
use cupola_cli::trace::TraceError;

/// The program's exit codes, as `--help` documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, everything verified.
    Done = 0,
    /// A result was wrong or something leaked.
    Wrong = 1,
    /// The command line was wrong. Most of that is said by clap.
    Usage = 2,
    /// The device is not there.
    NoDevice = 3,
    /// The driver or the device failed.
    Device = 4,
    /// A file could not be read or written.
    File = 5,
    /// Memory was refused: the limit, or the device, is too small for what was asked for.
    Refused = 6,
}

impl Exit {
    /// Of a process of this program that has failed.
    fn of(code: Option<i32>) -> Self {
        let all = [
            Self::Wrong,
            Self::Usage,
            Self::NoDevice,
            Self::File,
            Self::Refused,
        ];
        let exit = all.into_iter().find(|exit| code == Some(*exit as i32));
        exit.unwrap_or(Self::Device)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why the program could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    message: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: String) -> Self {
        Self { exit, message }
    }

    /// A file, by name, and what is wrong with it.
    pub(crate) fn file(path: &std::path::Path, error: impl fmt::Display) -> Self {
        Self {
            exit: Exit::File,
            message: format!("{}: {error}", path.display()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self {
            exit: Exit::NoDevice,
            message: error.to_string(),
        }
    }
}

impl From<cupola_cli::bench::alloc::Error> for Failure {
    fn from(error: cupola_cli::bench::alloc::Error) -> Self {
        use cupola_cli::bench::alloc::Error;
        let exit = match error {
            Error::Trace(..) | Error::Output(..) => Exit::File,
            Error::Wrong(..) => Exit::Wrong,
            Error::SameName(..) => Exit::Usage,
            _ => Exit::Device,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<cupola_cli::bench::tight::Error> for Failure {
    fn from(error: cupola_cli::bench::tight::Error) -> Self {
        use cupola_cli::bench::tight::Error;
        let exit = match error {
            Error::Trace(..) => Exit::File,
            Error::SameName(..) => Exit::Usage,
            Error::Device(error) => return error.into(),
        };
        Self::new(exit, error.to_string())
    }
}

impl From<cupola_cli::bench::pipeline::PipelineError> for Failure {
    fn from(error: cupola_cli::bench::pipeline::PipelineError) -> Self {
        use cupola_cli::bench::pipeline::PipelineError;
        match error {
            PipelineError::Failed(error) => error.into(),
            PipelineError::Driver(error) => error.into(),
            PipelineError::Wrong(_) => Self::new(Exit::Wrong, error.to_string()),
        }
    }
}

impl From<cupola_residency::ResidencyError> for Failure {
    fn from(error: cupola_residency::ResidencyError) -> Self {
        use cupola_residency::ResidencyError;
        match error {
            ResidencyError::Device(error) => error.into(),
            other => Self::new(Exit::Device, other.to_string()),
        }
    }
}

impl From<cupola_cli::bench::copies::CopiesError> for Failure {
    fn from(error: cupola_cli::bench::copies::CopiesError) -> Self {
        use cupola_cli::bench::copies::CopiesError;
        match error {
            CopiesError::Failed(error) => error.into(),
            CopiesError::Driver(error) => error.into(),
        }
    }
}

impl From<cupola_cli::bench::pinned::PinnedError> for Failure {
    fn from(error: cupola_cli::bench::pinned::PinnedError) -> Self {
        use cupola_cli::bench::pinned::PinnedError;
        match error {
            PinnedError::Failed(error) => error.into(),
            PinnedError::Driver(error) => error.into(),
        }
    }
}

impl From<cupola_cli::bench::peer::PeerBenchError> for Failure {
    fn from(error: cupola_cli::bench::peer::PeerBenchError) -> Self {
        use cupola_cli::bench::peer::PeerBenchError;
        match error {
            PeerBenchError::Failed(error) => error.into(),
            PeerBenchError::Driver(error) => error.into(),
        }
    }
}

impl From<cupola_cli::bench::graph::GraphError> for Failure {
    fn from(error: cupola_cli::bench::graph::GraphError) -> Self {
        use cupola_cli::bench::graph::GraphError;
        match error {
            GraphError::Failed(error) => error.into(),
            GraphError::Driver(error) => error.into(),
            GraphError::Wrong(what) => Self::new(Exit::Wrong, what.to_owned()),
        }
    }
}

impl From<cupola_cli::bench::kernels::KernelsError> for Failure {
    fn from(error: cupola_cli::bench::kernels::KernelsError) -> Self {
        use cupola_cli::bench::kernels::KernelsError;
        match error {
            KernelsError::Failed(error) => error.into(),
            wrong @ KernelsError::Wrong { .. } => Self::new(Exit::Wrong, wrong.to_string()),
        }
    }
}

impl From<cupola_cli::bench::launch::LaunchError> for Failure {
    fn from(error: cupola_cli::bench::launch::LaunchError) -> Self {
        use cupola_cli::bench::launch::LaunchError;
        match error {
            LaunchError::Failed(error) => error.into(),
            LaunchError::Driver(error) => error.into(),
            LaunchError::Peer(..) => Self::new(Exit::Device, error.to_string()),
            // It is this program, and ends as this one would have.
            LaunchError::Process { code, .. } => Self::new(Exit::of(code), error.to_string()),
        }
    }
}

#[cfg(unix)]
impl From<cupola_cli::bench::cache::Error> for Failure {
    fn from(error: cupola_cli::bench::cache::Error) -> Self {
        use cupola_cli::bench::cache::Error;
        let exit = match error {
            Error::Folder(_) => Exit::File,
            Error::NotFound(_) => Exit::Wrong,
            Error::Process(_) => Exit::Device,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<cupola_cli::bench::lifecycle::Error> for Failure {
    fn from(error: cupola_cli::bench::lifecycle::Error) -> Self {
        Self::new(Exit::Device, error.to_string())
    }
}

impl From<cupola::Error> for Failure {
    fn from(error: cupola::Error) -> Self {
        use cupola::Error;
        let exit = match error {
            Error::OverLimit(_) | Error::OutOfMemory { .. } => Exit::Refused,
            _ => Exit::Device,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<ItemError<Self>> for Failure {
    fn from(item: ItemError<Self>) -> Self {
        Self::new(item.error.exit, item.to_string())
    }
}

impl From<cupola::sys::driver::DriverError> for Failure {
    fn from(error: cupola::sys::driver::DriverError) -> Self {
        Self {
            exit: Exit::Device,
            message: error.to_string(),
        }
    }
}

#[cfg(feature = "sim")]
impl From<cupola_cli::bench::sim::Error> for Failure {
    fn from(error: cupola_cli::bench::sim::Error) -> Self {
        let exit = match error {
            cupola_cli::bench::sim::Error::Wrong(..) => Exit::Wrong,
            cupola_cli::bench::sim::Error::NoKernel(..) => Exit::Usage,
            _ => Exit::Device,
        };
        Self {
            exit,
            message: error.to_string(),
        }
    }
}

impl From<cupola_cli::bench::slots::Error> for Failure {
    fn from(error: cupola_cli::bench::slots::Error) -> Self {
        let exit = match error {
            cupola_cli::bench::slots::Error::Trace(..) => Exit::File,
            cupola_cli::bench::slots::Error::NoRow(..)
            | cupola_cli::bench::slots::Error::SameName(..) => Exit::Usage,
            _ => Exit::Wrong,
        };
        Self {
            exit,
            message: error.to_string(),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self {
            exit: Exit::File,
            message: format!("the report cannot be written: {error}"),
        }
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self {
            exit: Exit::File,
            message: error.to_string(),
        }
    }
}
