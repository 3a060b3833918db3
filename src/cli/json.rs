//! `--json`: where a command's report goes as one JSON document. It means the same for every
//! command.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use serde::Serialize;

use super::destination::Destination;
use super::exit::Failure;
use super::output::say;

/// The option.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct JsonArgs {
    /// Write the report to this file, as one JSON document; `-` is standard output, which then
    /// has no text besides, and has a document of the failure if there is one
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
    Both(Destination),
}

/// Whether standard output has its document.
static SAID: AtomicBool = AtomicBool::new(false);

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
            Some(path) => Destination::new(path).map(Report::Both),
        }
    }
}

impl Report {
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
            Self::Both(file) => file.write_json(report),
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

/// The document of a failure on standard output, where no report is.
pub(crate) fn say_failure(failure: &Failure) {
    if SAID.load(Ordering::Relaxed) {
        return;
    }
    let error = FailureReport {
        message: failure.to_string(),
        exit_code: failure.exit as u8,
    };
    if let Ok(text) = serde_json::to_string_pretty(&FailureDocument { error }) {
        // The failure itself is said on standard error, and the exit code stays.
        let _ = say(&(text + "\n"));
    }
}
