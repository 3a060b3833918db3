//! The processes below a stage: what they have had of the processors, and their end.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Between two looks at a process.
const LOOK: Duration = Duration::from_millis(50);

/// A process of a tree that does not stand still by then, as it waits for a disk, is killed as it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a process ended.
#[derive(Debug)]
pub(super) enum End {
    Itself(ExitStatus),
    /// It was killed with all that it had started, which had so much of the processors.
    Killed(Duration),
}

/// Waits until a process ends, or `must_end`: then it is killed, and all that it has started.
pub(super) fn wait(child: &mut Child, must_end: &dyn Fn() -> bool) -> Result<End> {
    loop {
        let status = child.try_wait().context("waiting for a stage")?;
        if let Some(status) = status {
            return Ok(End::Itself(status));
        }
        if must_end() {
            let worked = kill_tree(child.id());
            // Where there is no `/proc`, it alone. It fails where the process is gone already.
            let _ = child.kill();
            child
                .wait()
                .context("waiting for a stage that was killed")?;
            return Ok(End::Killed(worked));
        }
        thread::sleep(LOOK);
    }
}

/// A process, as `/proc` tells.
#[derive(Clone, Copy)]
struct Process {
    id: u32,
    parent: u32,
    /// Whether it can start nothing: it is stopped, or has ended.
    is_still: bool,
    /// What it, and those that it started and waited for, have had of the processors.
    worked: Duration,
}

impl Process {
    /// The process `id`, a number or `self`.
    fn read(id: &str) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // PID (NAME) STATE PARENT, and a name may hold anything; nine more, then the times in the
        // program and in the kernel, of the process and of its children.
        let (start, rest) = stat.rsplit_once(')')?;
        let fields: Vec<_> = rest.split_whitespace().collect();
        let ticks = fields.iter().skip(11).take(4);
        // Linux tells all programs of ticks of 10 ms.
        let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Some(Self {
            id: start.split_whitespace().next()?.parse().ok()?,
            parent: fields.get(1)?.parse().ok()?,
            is_still: ["T", "t", "Z", "X"].contains(fields.first()?),
            worked: Duration::from_millis(10 * ticks),
        })
    }

    /// This process and all below it.
    fn tree(id: u32) -> Vec<Self> {
        let mut children: BTreeMap<u32, Vec<Self>> = BTreeMap::new();
        let folder = fs::read_dir("/proc").into_iter().flatten();
        let names = folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names = names.filter(|name| name.starts_with(|first: char| first.is_ascii_digit()));
        for process in names.filter_map(|name| Self::read(&name)) {
            children.entry(process.parent).or_default().push(process);
        }
        let mut found = Vec::from_iter(Self::read(&id.to_string()));
        let mut next = 0;
        while let Some(process) = found.get(next) {
            found.extend(children.remove(&process.id).unwrap_or_default());
            next += 1;
        }
        found
    }
}

/// Kills a process and all that it, and what it started, has started; what they had of the processors.
///
/// All are stopped first: one that is killed while its parent runs may be started anew, and one that
/// was just started would be missed, and outlive its parent.
fn kill_tree(id: u32) -> Duration {
    let start = Instant::now();
    let tree = loop {
        let tree = Process::tree(id);
        if tree.iter().all(|process| process.is_still) || start.elapsed() > PATIENCE {
            break tree;
        }
        signal("-STOP", &tree);
        thread::sleep(LOOK / 10);
    };
    signal("-KILL", &tree);
    tree.iter().map(|process| process.worked).sum()
}

fn signal(signal: &str, processes: &[Process]) {
    if !processes.is_empty() {
        let ids = processes.iter().map(|process| process.id.to_string());
        // It complains of those that have ended by themselves, which is what is wanted.
        let _ = Command::new("kill").arg(signal).args(ids).output();
    }
}

/// What this process, and those that it started and waited for, have had of the processors. Zero
/// where there is no `/proc`.
pub(super) fn processor_time() -> Duration {
    Process::read("self").map_or(Duration::ZERO, |process| process.worked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a test that never ends would hold CI until a person looks.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_hangs_is_killed_with_all_that_it_started() {
        let start = Instant::now();
        let hang = |script: &str| {
            let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
            let tree = || Process::tree(child.id());
            while tree().len() < 2 {
                thread::sleep(LOOK);
            }
            let below = tree();
            let end = wait(&mut child, &|| true).unwrap();
            assert!(matches!(end, End::Killed(_)), "{end:?}");
            // One that was only stopped goes on then.
            signal("-CONT", &below);
            let goes_on = |process: &Process| {
                let now = Process::read(&process.id.to_string());
                now.is_some_and(|process| !process.is_still)
            };
            while below.iter().any(goes_on) {
                assert!(start.elapsed() < Duration::from_secs(300));
                thread::sleep(LOOK);
            }
        };
        hang("sleep 1000 & wait");
        // What is killed is started anew.
        hang("while :; do sleep 1000; done");
        let mut child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let end = wait(&mut child, &|| start.elapsed() > Duration::from_secs(300)).unwrap();
        assert!(
            matches!(end, End::Itself(status) if status.code() == Some(7)),
            "{end:?}"
        );
    }

    /// Without it a stage that waits would look as one that works, and be shortened in vain.
    #[cfg(target_os = "linux")]
    #[test]
    fn work_of_processes_that_were_started_is_counted() {
        let before = processor_time();
        let count = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
        let status = Command::new("sh").args(["-c", count]).status().unwrap();
        assert!(status.success() && processor_time() > before);
    }
}
