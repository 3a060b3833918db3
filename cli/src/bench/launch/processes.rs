//! Processes that measure one after the other.

use std::num::NonZero;
use std::path::Path;
use std::process::Command;

use cupola::Backend;

use super::{LaunchError, Samples};
use crate::bench::device_word;

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
    /// Measures launches, as [`measure`](super::measure()) does: the median of each process.
    ///
    /// # Errors
    /// That a process could not be started, or what it ended with.
    pub fn measure(&self, quick: bool) -> Result<Samples, LaunchError> {
        let mut all = self.start(quick)?;
        for _ in 1..self.count.get() {
            let other = self.start(quick)?;
            if !all.append(other) {
                return Err(failed(
                    None,
                    "it measured other forms than the first".to_owned(),
                ));
            }
        }
        all.note(format!(
            "medians of {} processes, of the medians of their rounds; ranges are those of processes",
            all.count()
        ));
        Ok(all)
    }

    /// The medians of one.
    fn start(&self, quick: bool) -> Result<Samples, LaunchError> {
        let output = Command::new(self.program)
            .args([
                "bench",
                "launch",
                "--device",
                device_word(self.backend),
                "--one",
            ])
            .args(quick.then_some("--quick"))
            .output()
            .map_err(|error| failed(None, error.to_string()))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        // One that fails behind its figures has failed.
        if !output.status.success() {
            let problem = format!("{}: {}", output.status, errors.trim());
            return Err(failed(output.status.code(), problem));
        }
        let wrong = |problem: String| {
            let said = String::from_utf8_lossy(&output.stdout);
            failed(None, format!("{problem}: {}", said.trim()))
        };
        let samples: Samples =
            serde_json::from_slice(&output.stdout).map_err(|error| wrong(error.to_string()))?;
        match samples.count() {
            1 => Ok(samples),
            count => Err(wrong(format!("{count} figures of a launch"))),
        }
    }
}

fn failed(code: Option<i32>, problem: String) -> LaunchError {
    LaunchError::Process { code, problem }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// What `count` processes of this shell script are taken for.
    fn measured(script: &str, count: usize) -> Result<usize, String> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        // Written by another process: a child that another test starts would have this one's file open.
        let write = r#"printf '%s\n' '#!/bin/sh' "$1" > "$2" && chmod 700 "$2""#;
        let written = Command::new("sh")
            .args(["-c", write, "sh", script])
            .arg(&program)
            .status();
        assert!(written.unwrap().success());
        let processes = Processes {
            program: &program,
            backend: Backend::Software,
            count: NonZero::new(count).unwrap(),
        };
        match processes.measure(true) {
            Ok(samples) => Ok(samples.count()),
            Err(LaunchError::Process { code, problem }) => Err(format!("{code:?} {problem}")),
            Err(error) => panic!("{error}"),
        }
    }

    /// Without it the figures of a process that has failed could be taken, or those of one process for those of
    /// several.
    #[test]
    fn only_figures_of_processes_that_succeed_are_taken() {
        let form = r#"{"name":"cuLaunchKernel","times":[2.0],"ratios":[1.0],"beside":[0.0],"allocations":[0.0]}"#;
        let good =
            format!(r#"echo '{{"of":"Process","notes":[],"forms":[{form}],"check":[1.0]}}'"#);
        assert_eq!(measured(&good, 1), Ok(1));
        assert_eq!(measured(&good, 3), Ok(3));
        let dies = measured(&format!("{good}; kill -9 $$"), 1).unwrap_err();
        assert!(dies.contains("signal: 9"), "{dies}");
        let fails = measured("echo no memory >&2; exit 6", 1).unwrap_err();
        assert!(
            fails.contains("6") && fails.ends_with("no memory"),
            "{fails}"
        );
        let speaks = measured("echo good morning", 1).unwrap_err();
        assert!(speaks.contains("good morning"), "{speaks}");
        let empty = measured(
            r#"echo '{"of":"Process","notes":[],"forms":[],"check":[]}'"#,
            1,
        )
        .unwrap_err();
        assert!(empty.contains("0 figures"), "{empty}");
    }
}
