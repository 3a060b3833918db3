//! Two lanes, in each of which one stage runs at a time.
//!
//! A stage often has work for one processor only: one large crate is compiled, one test runs, a
//! program is linked. Cargo has one command at a time in a target folder, so what runs beside a
//! stage is one that builds elsewhere.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::stage::{Ended, Output, Stage, Verdict};

const LANES: usize = 2;

/// What the lanes take their stages from.
struct Plan<'s> {
    state: Mutex<State<'s>>,
    /// A stage has ended.
    changed: Condvar,
}

struct State<'s> {
    /// In the order in which they are begun, but for those whose folder is in use.
    waiting: VecDeque<&'s Stage>,
    running: Vec<&'s Stage>,
    ended: Vec<Ended>,
}

/// Runs `stages` until all have passed or one has failed, which stops the one beside it. Prints the
/// output of those that have passed, as each ends, then that of those that have not.
///
/// `start` makes the process of a stage, which writes its report to the path. `leave` is told of
/// folders when a stage has passed, and none of those to come builds in them.
pub(super) fn run(
    stages: &[Stage],
    start: &(dyn Fn(&Stage, &Path) -> Command + Sync),
    leave: &(dyn Fn(&[&str]) + Sync),
) -> Vec<Ended> {
    let plan = Plan {
        state: Mutex::new(State {
            waiting: stages.iter().collect(),
            running: Vec::new(),
            ended: Vec::new(),
        }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| Lane { plan: &plan }.run(start, leave));
        }
    });
    let state = plan.state.into_inner();
    let mut ended = state.unwrap_or_else(PoisonError::into_inner).ended;
    // Those that failed last: what broke is at the end.
    ended.sort_by_key(|ended| match ended.verdict {
        Verdict::Passed => 0,
        Verdict::Stopped => 1,
        Verdict::Failed(_) => 2,
    });
    for ended in &ended {
        if !matches!(ended.verdict, Verdict::Passed) {
            ended.print();
        }
    }
    ended
}

/// A thread that runs one stage at a time.
struct Lane<'p, 's> {
    plan: &'p Plan<'s>,
}

impl Lane<'_, '_> {
    fn run(&self, start: &dyn Fn(&Stage, &Path) -> Command, leave: &dyn Fn(&[&str])) {
        while let Some(stage) = self.plan.next() {
            eprintln!("==== begins: {}", stage.name);
            let is_unneeded = || self.plan.lock().has_failed();
            let ended = stage.run(Output::Kept, start, &is_unneeded);
            leave(&self.plan.end(stage, ended));
        }
    }
}

impl Drop for Lane<'_, '_> {
    fn drop(&mut self) {
        // Printing panics where the reader has gone. The other lane may wait for the folder of the
        // stage that this one has not ended.
        if thread::panicking() {
            self.plan.lock().waiting.clear();
            self.plan.changed.notify_all();
        }
    }
}

impl<'s> Plan<'s> {
    fn lock(&self) -> MutexGuard<'_, State<'s>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next stage of a lane, when its folders are free; none when all have begun, or one has
    /// failed.
    fn next(&self) -> Option<&'s Stage> {
        let mut state = self.lock();
        loop {
            if state.waiting.is_empty() || state.has_failed() {
                return None;
            }
            if let Some(stage) = state.begin() {
                return Some(stage);
            }
            let changed = self.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes that a stage has ended; its folders that none to come builds in.
    fn end(&self, stage: &Stage, ended: Ended) -> Vec<&'s str> {
        let mut state = self.lock();
        let unused = state.end(stage, ended);
        drop(state);
        self.changed.notify_all();
        unused
    }
}

impl<'s> State<'s> {
    fn has_failed(&self) -> bool {
        let failed = |ended: &Ended| matches!(ended.verdict, Verdict::Failed(_));
        self.ended.iter().any(failed)
    }

    /// Takes the first stage that shares no folder with one that runs.
    fn begin(&mut self) -> Option<&'s Stage> {
        let is_free = |stage: &&Stage| !self.running.iter().any(|other| other.shares(stage));
        let at = self.waiting.iter().position(is_free)?;
        let stage = self.waiting.remove(at)?;
        self.running.push(stage);
        Some(stage)
    }

    fn end(&mut self, stage: &Stage, ended: Ended) -> Vec<&'s str> {
        let at = self.running.iter().position(|it| it.name == stage.name);
        let Some(stage) = at.map(|at| self.running.remove(at)) else {
            return Vec::new();
        };
        let has_passed = matches!(ended.verdict, Verdict::Passed);
        if has_passed {
            // Under the lock, so that no two are mixed.
            ended.print();
        }
        self.ended.push(ended);
        let unused = |folder: &&str| !self.waiting.iter().any(|it| it.folders.contains(folder));
        let folders = stage.folders.iter().copied().filter(unused);
        folders.filter(|_| has_passed).collect()
    }
}

impl Stage {
    /// Whether two stages build in one folder.
    fn shares(&self, other: &Self) -> bool {
        self.folders
            .iter()
            .any(|folder| other.folders.contains(folder))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::ci::stage::Work;

    const fn stage(name: &'static str, folders: &'static [&'static str]) -> Stage {
        Stage {
            name,
            minutes: 10,
            folders,
            work: Work::Tests,
        }
    }

    /// A process that runs `script` as a stage that passes where the script does.
    fn script(script: &str, report: &Path) -> Command {
        let passed = r#"{"error":null,"tests":null,"skipped":[],"worked":{"secs":0,"nanos":0}}"#;
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{script} && echo '{passed}' > \"$REPORT\"")])
            .env("REPORT", report);
        command
    }

    fn verdict<'e>(ended: &'e [Ended], name: &str) -> Option<&'e Verdict> {
        let ended = ended.iter().find(|ended| ended.name == name)?;
        Some(&ended.verdict)
    }

    /// Without it a failure could be told when everything else is done, or not at all, or be taken
    /// for one of the stage beside it.
    #[test]
    fn a_failure_stops_the_stage_beside_it() {
        let stages = [
            stage("test: is beside", &["a"]),
            stage("test: breaks", &["b"]),
            stage("test: does not begin", &["b"]),
        ];
        let start = |stage: &Stage, report: &Path| match stage.name {
            "test: breaks" => script("sleep 0.2; exit 3", report),
            _ => script("sleep 1000", report),
        };
        let began = Instant::now();
        let ended = run(&stages, &start, &|folders| {
            assert!(folders.is_empty(), "{folders:?}: nothing passed");
        });
        assert!(began.elapsed() < Duration::from_secs(300));
        assert!(matches!(
            verdict(&ended, "test: is beside"),
            Some(Verdict::Stopped)
        ));
        assert!(matches!(ended.last(), Some(last) if last.name == "test: breaks"));
        assert!(matches!(
            verdict(&ended, "test: breaks"),
            Some(Verdict::Failed(_))
        ));
        assert_eq!(ended.len(), 2);
    }

    /// Without it stages could wait for one another although they need not, or two build in one
    /// folder, or a folder be removed that a later stage uses.
    #[test]
    fn stages_overlap_where_they_share_no_folder() {
        let place = crate::tasks::target().join("lanes-test");
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap();
        let stages = [
            stage("test: first of a", &["a"]),
            stage("test: second of a", &["a", "c"]),
            stage("test: of b", &["b"]),
        ];
        // Each of the first and the last waits for the other one; those of `a` hold a lock.
        let start = |stage: &Stage, report: &Path| {
            let mut command = match stage.name {
                "test: of b" => script("touch b; until [ -e a1 ]; do sleep 0.05; done", report),
                "test: first of a" => script(
                    "mkdir a && touch a1 && until [ -e b ]; do sleep 0.05; done && rmdir a",
                    report,
                ),
                _ => script("mkdir a && sleep 0.2 && rmdir a", report),
            };
            command.current_dir(&place);
            command
        };
        let left = Mutex::new(Vec::new());
        let leave = |folders: &[&str]| {
            let mut left = left.lock().unwrap();
            left.extend(folders.iter().map(|&folder| folder.to_owned()));
        };
        let ended = run(&stages, &start, &leave);
        let passed = |ended: &Ended| matches!(ended.verdict, Verdict::Passed);
        assert!(ended.len() == 3 && ended.iter().all(passed));
        let mut left = left.into_inner().unwrap();
        left.sort();
        assert_eq!(left, ["a", "b", "c"]);
    }
}
