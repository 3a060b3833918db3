//! The stages of `cargo xtask ci`: what each takes, a limit for each, and what was skipped.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// What a machine may lack and still pass under `CUPOLA_STRICT=1`: the words with which it is
/// skipped, and why nothing can be done about it there. All else is installed by `.ci/run`.
const ALLOWED: &[(&str, &str)] = &[
    ("PTX of rustc", RUSTUP),
    ("the thread sanitizer, std as well", RUSTUP),
    ("compiling for aarch64-unknown-linux-gnu", RUSTUP),
    ("compiling for x86_64-pc-windows-gnu", RUSTUP),
];

/// Why a machine may lack parts of a toolchain.
const RUSTUP: &str = "only rustup's own server has it, which no package registry stands in for";

/// What no machine of CI does, and what stands in for it.
const NEVER: &[(&str, &str)] = &[
    (
        "the tests on a GPU",
        "there is none: `cargo xtask bundle` makes what a GPU machine runs",
    ),
    (
        "Miri",
        "there is no stage of it yet: the address and the thread sanitizer run instead",
    ),
];

/// What was skipped by now, and why.
static SKIPPED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Notes that something was not done. Under `CUPOLA_STRICT=1` that is an error, unless the machine
/// may lack it.
///
/// # Errors
/// It may not be skipped.
pub(crate) fn skip(what: &str, why: &str) -> Result<()> {
    let strict = std::env::var_os("CUPOLA_STRICT").is_some_and(|value| value == "1");
    if !may_skip(what, strict) {
        anyhow::bail!("{what} cannot be done: {why}");
    }
    // On standard error, so that it is not overlooked.
    eprintln!("\n==== SKIPPED: {what}\n==== because {why}\n");
    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    skipped.push((what.to_owned(), why.to_owned()));
    Ok(())
}

/// Whether a machine may go without `what`.
fn may_skip(what: &str, strict: bool) -> bool {
    !strict || ALLOWED.iter().any(|(allowed, _)| *allowed == what)
}

/// A stage that was done.
struct Stage {
    name: &'static str,
    took: Duration,
    /// What its processes had of the processors; less than it took where it waited.
    worked: Duration,
    right: bool,
}

/// The stages that were done.
pub(crate) struct Stages {
    start: Instant,
    done: Vec<Stage>,
}

impl Stages {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            done: Vec::new(),
        }
    }

    /// Does `work`, which may take `minutes`: then every process that it has started is killed,
    /// and what it was doing has failed.
    ///
    /// # Errors
    /// Those of `work`, or it took too long.
    pub(crate) fn run<T>(
        &mut self,
        name: &'static str,
        minutes: u64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let (start, before) = (Instant::now(), processor_time());
        let (done, over) = within(Duration::from_secs(60 * minutes), work);
        self.done.push(Stage {
            name,
            took: start.elapsed(),
            worked: processor_time().saturating_sub(before),
            right: done.is_ok() && !over,
        });
        let done = match over {
            true => done.and_then(|_| anyhow::bail!("its processes were killed")),
            false => done,
        };
        done.with_context(|| match over {
            true => format!("{name}: not done in {minutes} minutes"),
            false => name.to_owned(),
        })
    }

    /// The table: what each stage took, what was skipped, and how much of that.
    pub(crate) fn table(&self) -> String {
        let mut text = String::from("\nstage | seconds | of processors\n");
        // Writing to a text does not fail.
        for stage in &self.done {
            let failed = if stage.right { "" } else { " | FAILED" };
            let (took, worked) = (stage.took.as_secs_f64(), stage.worked.as_secs_f64());
            let _ = writeln!(text, "{} | {took:.0} | {worked:.0}{failed}", stage.name);
        }
        let all = self.start.elapsed().as_secs();
        let _ = writeln!(text, "all | {all} ({} min {} s)", all / 60, all % 60);
        let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
        for (what, why) in NEVER {
            let _ = writeln!(text, "not done here: {what}: {why}");
        }
        for (what, why) in skipped.iter() {
            let reason = ALLOWED.iter().find(|(allowed, _)| allowed == what);
            let reason = reason.map_or("", |(_, reason)| *reason);
            let _ = writeln!(text, "SKIPPED: {what}: {why} {reason}");
        }
        let _ = writeln!(text, "{} of this machine's checks skipped", skipped.len());
        text
    }
}

/// Does `work`; whether it took longer than `limit`, and all that it had started was killed.
fn within<T>(limit: Duration, work: impl FnOnce() -> Result<T>) -> (Result<T>, bool) {
    let (ended, end) = channel::<()>();
    thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let mut wait = limit;
            let mut over = false;
            // Again and again: what is killed may have started something just before, and what
            // waits for it may start the next.
            while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                over = true;
                kill_descendants();
                wait = Duration::from_millis(200);
            }
            over
        });
        let done = work();
        drop(ended);
        (done, watch.join().unwrap_or(true))
    })
}

/// Kills every process that this one, or one that it started, has started.
fn kill_descendants() {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (process, parent) in parents() {
        children.entry(parent).or_default().push(process);
    }
    let mut found = vec![std::process::id()];
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children.remove(process).unwrap_or_default());
        next += 1;
    }
    for process in &found[1..] {
        // One that has ended by itself is what is wanted.
        let _ = Command::new("kill")
            .args(["-9", &process.to_string()])
            .output();
    }
}

/// What the processes that this one started, and waited for, have had of the processors. Zero where
/// there is no `/proc`.
fn processor_time() -> Duration {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else {
        return Duration::ZERO;
    };
    // PID (NAME) STATE and 12 more, then the time of children in the program and in the kernel.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = rest.split_whitespace().skip(13).take(2);
    // Linux tells all programs of ticks of 10 ms.
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Every process and the one that started it. Nothing where there is no `/proc`: there a stage
/// that hangs is ended by hand.
fn parents() -> Vec<(u32, u32)> {
    let Ok(folder) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let parent = |process: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // PID (NAME) STATE PARENT, and a name may hold anything.
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(1)?.parse().ok()
    };
    let processes = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes
        .filter_map(|process| Some((process, parent(process)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a test that never ends would hold CI until a person looks.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_hangs_is_killed_with_all_that_it_started() {
        let start = Instant::now();
        let hang = || {
            let status = Command::new("sh")
                .args(["-c", "sleep 1000 & wait"])
                .status()?;
            anyhow::ensure!(status.success(), "{status}");
            Ok(())
        };
        let (done, over) = within(Duration::from_millis(200), hang);
        assert!(over && done.is_err());
        let (done, over) = within(Duration::from_secs(600), || Ok(7));
        assert!(!over && done.is_ok_and(|seven| seven == 7));
        // Far less than either waits for.
        assert!(start.elapsed() < Duration::from_secs(300));
    }

    /// Without it CI could pass although a check was not done that it can do.
    #[test]
    fn strict_ci_goes_without_what_is_listed_alone() {
        assert!(may_skip("a new check", false) && !may_skip("a new check", true));
        assert!(!may_skip("", true) && !may_skip("PTX of rustc ", true));
        for (listed, _) in ALLOWED {
            assert!(may_skip(listed, true), "{listed}");
        }
        let ci = std::fs::read_to_string(crate::root().join(".ci/run")).unwrap();
        let mut lines = ci.lines();
        assert!(lines.any(|line| line == "export CUPOLA_STRICT=1"), "{ci}");
        assert!(
            lines.any(|line| line.starts_with("exec cargo run ")),
            "{ci}"
        );
    }

    /// Without it a name could stay on the list when its check is gone, and excuse another check.
    #[test]
    fn every_listed_skip_is_a_check_that_is_there() {
        let mut names: Vec<_> = [
            include_str!("corpus.rs"),
            include_str!("ci.rs"),
            include_str!("sanitize.rs"),
        ]
        .iter()
        .flat_map(|source| source.split("skip(").skip(1))
        .filter_map(|call| call.split('"').nth(1))
        .map(str::to_owned)
        .collect();
        // Those that are put together.
        let fill = |names: &mut Vec<String>, hole: &str, parts: &[&str]| {
            let at = names.iter().position(|name| name.contains(hole));
            let name = names.remove(at.unwrap_or_else(|| panic!("{hole}: {names:?}")));
            names.extend(parts.iter().map(|part| name.replace(hole, part)));
        };
        let triples: Vec<_> = crate::ci::TARGETS
            .iter()
            .map(|(triple, _)| *triple)
            .collect();
        fill(&mut names, "{triple}", &triples);
        fill(&mut names, "{}", &crate::sanitize::NAMES);
        for (listed, _) in ALLOWED {
            let calls = names.iter().filter(|name| name == listed).count();
            assert_eq!(calls, 1, "{listed}: {names:?}");
        }
    }

    /// Without it a stage that waits would look as one that works, and be shortened in vain.
    #[cfg(target_os = "linux")]
    #[test]
    fn work_of_processes_that_were_started_is_counted() {
        let before = processor_time();
        let count = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
        let count = || Command::new("sh").args(["-c", count]).status().unwrap();
        // Another test kills all that this process has started.
        while !count().success() {}
        assert!(processor_time() > before);
    }

    /// Without it the last lines could hide which stage failed, or that something was skipped.
    #[test]
    fn the_table_names_stages_and_skips() {
        let mut stages = Stages::new();
        stages.run("good", 1, || Ok(())).unwrap();
        let error = stages.run::<()>("bad", 1, || anyhow::bail!("broken"));
        assert!(format!("{:#}", error.unwrap_err()).contains("bad: broken"));
        let table = stages.table();
        for part in [
            "good | 0 | 0\n",
            "bad | 0 | 0 | FAILED\n",
            "not done here: Miri",
            "checks skipped",
        ] {
            assert!(table.contains(part), "{table}");
        }
    }
}
