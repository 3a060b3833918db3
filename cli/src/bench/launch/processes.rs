//! Processes that measure one after the other.

use std::num::NonZero;
use std::path::Path;
use std::process::Command;

use cupola::Backend;

use super::{LaunchError, Samples};
use crate::bench::word;

/// So many processes that measure, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Processes<'p> {
    /// The command line, to be started.
    pub program: &'p Path,
    /// What their device is of.
    pub backend: Backend,
    /// How many.
    pub count: NonZero<usize>,
}

impl Processes<'_> {
    /// The medians of all.
    pub(super) fn measure(&self, quick: bool) -> Result<Samples, LaunchError> {
        let mut all = self.start(quick)?;
        for _ in 1..self.count.get() {
            let other = self.start(quick)?;
            if !all.append(other) {
                let problem = "they did not measure the same forms".to_owned();
                return Err(LaunchError::Process(problem));
            }
        }
        all.note(format!(
            "medians of {} processes, of the medians of their rounds; ranges are those of processes",
            self.count
        ));
        Ok(all)
    }

    /// The medians of one.
    fn start(&self, quick: bool) -> Result<Samples, LaunchError> {
        let output = Command::new(self.program)
            .args(["bench", "launch", "--device", word(self.backend), "--one"])
            .args(quick.then_some("--quick"))
            .output()
            .map_err(|error| LaunchError::Process(error.to_string()))?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let errors = String::from_utf8_lossy(&output.stderr);
            LaunchError::Process(format!("{}: {error}: {errors}", output.status))
        })
    }
}
