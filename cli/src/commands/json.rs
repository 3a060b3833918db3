//! `--json`: where a command's report goes as one JSON document. It means the same for every
//! command.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use serde::Serialize;

use super::destination::Destination;
use super::exit::Failure;
use super::output::say;

/// The option.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct JsonArgs {
    /// Write the report to this file, as one JSON document; `-` is standard output, which then
    /// has no text besides. If the command fails it is a document of the failure
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Where text and report go.
pub(crate) enum Report {
    /// Text alone.
    Text,
    /// The document alone, on standard output.
    Json,
    /// Text, and the document in a file.
    Both(Arc<Destination>),
}

/// Whether the document is written: what fails after that leaves it alone.
static SAID: AtomicBool = AtomicBool::new(false);

/// The file, once it is known that the command neither reads it nor writes anything else there.
static CLAIMED: Mutex<Option<Arc<Destination>>> = Mutex::new(None);

impl JsonArgs {
    /// Whether standard output is for the document alone.
    pub(crate) fn is_alone(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// Finds out whether the report can be written where it is wanted.
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        match &self.json {
            None => Ok(Report::Text),
            Some(_) if self.is_alone() => Ok(Report::Json),
            Some(path) => Ok(Report::Both(Arc::new(Destination::new(path)?))),
        }
    }

    /// Writes the document of a failure, where no report is. Without it an old report would pass
    /// for that of the command that has failed.
    pub(crate) fn fail(&self, failure: &Failure) {
        let claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        let to = match claimed.as_ref() {
            _ if SAID.load(Ordering::Relaxed) => return,
            _ if self.is_alone() => Report::Json,
            Some(file) => Report::Both(Arc::clone(file)),
            None => return,
        };
        let error = FailureReport {
            message: failure.to_string(),
            exit_code: failure.exit as u8,
        };
        // The failure itself is said on standard error, and the exit code stays.
        let _ = to.write(&FailureDocument { error });
    }
}

impl Report {
    /// The file is this command's to write, whatever becomes of the command: nothing that it reads,
    /// and no other of its files.
    pub(crate) fn claim(&self) {
        if let Self::Both(file) = self {
            let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
            *claimed = Some(Arc::clone(file));
        }
    }

    /// The file, if there is one.
    pub(crate) fn file(&self) -> Option<&Destination> {
        match self {
            Self::Both(file) => Some(file),
            Self::Text | Self::Json => None,
        }
    }

    /// Whether standard output is for the document alone.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self, Self::Json)
    }

    /// Says a text, unless standard output is for the document.
    pub(crate) fn say(&self, text: &str) -> Result<(), Failure> {
        if self.is_alone() {
            return Ok(());
        }
        say(text)
    }

    /// Writes the document, if one is wanted.
    pub(crate) fn write(&self, report: &impl Serialize) -> Result<(), Failure> {
        match self {
            Self::Text => Ok(()),
            Self::Json => {
                SAID.store(true, Ordering::Relaxed);
                say(&(serde_json::to_string_pretty(report)? + "\n"))
            }
            Self::Both(file) => {
                file.write_json(report)?;
                SAID.store(true, Ordering::Relaxed);
                Ok(())
            }
        }
    }
}

#[derive(Serialize)]
struct FailureDocument {
    error: FailureReport,
}

#[derive(Serialize)]
struct FailureReport {
    message: String,
    exit_code: u8,
}
