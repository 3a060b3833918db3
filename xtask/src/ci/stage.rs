//! A stage: a process of its own, what came of it, and the table of all.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::processes::{self, End};
use crate::skips::Skip;
use crate::tasks::target;

/// One part of `cargo xtask ci`, run by `cargo xtask stage NAME`: as a process of its own, so that what
/// it starts can be ended, and its output and its use of the processors told from another's.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    /// So many minutes after it began it is ended, and has failed.
    pub(crate) minutes: u64,
    /// What it builds in, below the target folder. Cargo locks each, so that of two stages with one
    /// in common the second would only wait.
    pub(crate) folders: &'static [&'static str],
    pub(crate) work: Work,
}

/// What a stage does.
pub(crate) enum Work {
    Check(fn() -> Result<()>),
    /// The tests, whose number is told beside whether they passed.
    Tests,
}

/// Where the output of a stage goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// To that of this process, as it comes.
    Live,
    /// Into a file, from which it is printed whole.
    Kept,
}

/// What the process of a stage tells the one that started it.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Report {
    /// Why it failed.
    pub(super) error: Option<String>,
    /// How many tests passed and how many did not, where it ran the tests.
    pub(super) tests: Option<String>,
    pub(super) skipped: Vec<Skip>,
    /// What it, and all that it started, had of the processors.
    pub(super) worked: Duration,
}

impl Report {
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string(self)?;
        fs::write(path, text).with_context(|| path.display().to_string())
    }
}

/// How a stage ended.
#[derive(Debug)]
pub(super) enum Verdict {
    Passed,
    Failed(anyhow::Error),
    /// By this program, because another stage had failed.
    Stopped,
}

/// A stage that has ended.
pub(super) struct Ended {
    pub(super) name: &'static str,
    pub(super) took: Duration,
    pub(super) verdict: Verdict,
    /// Without a part where the process was killed before it could tell it.
    pub(super) report: Report,
    /// The file that its output is in, where it is kept.
    output: Option<PathBuf>,
}

impl Stage {
    /// Runs its process until it ends, takes too long or `is_unneeded`.
    pub(super) fn run(
        &self,
        output: Output,
        start: &dyn Fn(&Self, &Path) -> Command,
        is_unneeded: &dyn Fn() -> bool,
    ) -> Ended {
        let began = Instant::now();
        let mut ended = Ended {
            name: self.name,
            took: Duration::ZERO,
            verdict: Verdict::Passed,
            report: Report::default(),
            output: None,
        };
        if let Err(error) = self.run_into(&mut ended, output, start, is_unneeded) {
            ended.verdict = Verdict::Failed(error);
        }
        ended.took = began.elapsed();
        ended
    }

    fn run_into(
        &self,
        ended: &mut Ended,
        output: Output,
        start: &dyn Fn(&Self, &Path) -> Command,
        is_unneeded: &dyn Fn() -> bool,
    ) -> Result<()> {
        let began = Instant::now();
        let folder = target().join("ci");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let file = self
            .name
            .replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        let report = folder.join(format!("{file}.json"));
        // That of an earlier run must not be taken for this one's.
        let _ = fs::remove_file(&report);
        let mut command = start(self, &report);
        command.stdin(Stdio::null());
        if output == Output::Kept {
            let path = folder.join(format!("{file}.log"));
            let file = File::create(&path).with_context(|| path.display().to_string())?;
            command.stdout(file.try_clone()?).stderr(file);
            ended.output = Some(path);
        }
        let mut child = command
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let limit = Duration::from_secs(60 * self.minutes);
        let must_end = || is_unneeded() || began.elapsed() > limit;
        let status = match processes::wait(&mut child, &must_end)? {
            End::Itself(status) => status,
            End::Killed(worked) => {
                ended.report.worked = worked;
                ended.verdict = Verdict::Stopped;
                ensure!(
                    began.elapsed() <= limit || is_unneeded(),
                    "not done in {} minutes: its processes were killed",
                    self.minutes
                );
                return Ok(());
            }
        };
        let told = fs::read(&report).ok();
        let told = told.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        ended.report = told.with_context(|| format!("{status}, and it did not say why"))?;
        if let Some(error) = ended.report.error.take() {
            bail!(error);
        }
        ensure!(status.success(), "{status}, and it said that it passed");
        Ok(())
    }
}

impl Ended {
    /// Prints what was kept of its output.
    pub(super) fn print(&self) {
        let (name, took) = (self.name, self.took.as_secs_f64());
        let how = match self.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed(_) => "FAILED",
            Verdict::Stopped => "was stopped, because another stage had failed",
        };
        let output = match (&self.output, &self.verdict) {
            (None, _) | (_, Verdict::Stopped) => String::new(),
            // What a test program writes need not be text.
            (Some(path), _) => fs::read(path).map_or_else(
                |error| format!("{}: {error}\n", path.display()),
                |bytes| String::from_utf8_lossy(&bytes).into_owned(),
            ),
        };
        println!("\n#### {name}\n{output}#### {name} {how}, {took:.1} s");
    }
}

/// The table: what each stage took of time and of the processors, and how it ended.
pub(super) fn table(all: &[Ended], took: Duration) -> String {
    let mut text = String::from("\nstage | seconds | of processors\n");
    // Writing to a text does not fail.
    for ended in all {
        let how = match ended.verdict {
            Verdict::Passed => "",
            Verdict::Failed(_) => " | FAILED",
            Verdict::Stopped => " | stopped",
        };
        let (took, worked) = (ended.took, ended.report.worked);
        let (took, worked) = (took.as_secs_f64(), worked.as_secs_f64());
        let _ = writeln!(text, "{} | {took:.0} | {worked:.0}{how}", ended.name);
    }
    let worked: Duration = all.iter().map(|ended| ended.report.worked).sum();
    let (all, worked) = (took.as_secs(), worked.as_secs());
    let _ = writeln!(
        text,
        "all | {all} ({} min {} s) | {worked}",
        all / 60,
        all % 60
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Stage = Stage {
        name: "a stage of a test",
        minutes: 1,
        folders: &[],
        work: Work::Tests,
    };

    fn run(stage: &Stage, script: &'static str) -> Ended {
        let start = |_: &Stage, report: &Path| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).env("REPORT", report);
            command
        };
        stage.run(Output::Kept, &start, &|| false)
    }

    fn why(ended: &Ended) -> String {
        match &ended.verdict {
            Verdict::Failed(error) => format!("{error:#}"),
            other => panic!("{other:?}"),
        }
    }

    /// Without it a stage could pass that was not done, or a report of an earlier one be its own.
    #[cfg(unix)]
    #[test]
    fn a_stage_passes_that_says_so() {
        let said = "{\"error\":null,\"tests\":\"7 passed\",\"skipped\":[],\
                    \"worked\":{\"secs\":2,\"nanos\":0}}";
        assert!(serde_json::from_str::<Report>(said).is_ok());
        let stage = |name| Stage { name, ..QUICK };
        let passed = run(
            &stage("passes"),
            "echo '{\"error\":null,\"tests\":\"7 passed\",\"skipped\":[],\
             \"worked\":{\"secs\":2,\"nanos\":0}}' > \"$REPORT\"",
        );
        assert!(matches!(passed.verdict, Verdict::Passed));
        assert_eq!(passed.report.tests.as_deref(), Some("7 passed"));
        let silent = why(&run(&stage("passes"), "echo and says nothing"));
        assert!(silent.contains("did not say why"), "{silent}");
        let failed = run(
            &stage("fails"),
            "echo '{\"error\":\"broken\",\"tests\":null,\"skipped\":[],\
             \"worked\":{\"secs\":0,\"nanos\":0}}' > \"$REPORT\"",
        );
        assert_eq!(why(&failed), "broken");
        let table = table(&[passed, failed], Duration::from_secs(90));
        for line in [
            "passes | 0 | 2\n",
            "fails | 0 | 0 | FAILED\n",
            "all | 90 (1 min 30 s) | 2\n",
        ] {
            assert!(table.contains(line), "{table}");
        }
    }

    /// Without it a stage that hangs would not end, or end as if another one had failed.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_stage_that_takes_too_long_has_failed() {
        let stage = Stage {
            name: "hangs",
            minutes: 0,
            ..QUICK
        };
        let hung = why(&run(&stage, "sleep 1000 & wait"));
        assert!(hung.contains("not done in 0 minutes"), "{hung}");
    }
}
