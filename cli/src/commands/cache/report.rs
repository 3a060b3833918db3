//! What `cupola cache` says, as text and as documents.

use std::fmt::{self, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cupola::kernels::cache::{Key, Listed, Usage};
use serde::Serialize;

use super::recompile::Outcome;

use crate::commands::output::{bytes, count, verdict};

/// Every entry.
#[derive(Serialize)]
pub(super) struct Listing {
    folder: String,
    entries: Vec<EntryReport>,
}

#[derive(Serialize)]
struct EntryReport {
    key: String,
    bytes: u64,
    /// Seconds since 1970.
    used: u64,
}

impl Listing {
    pub(super) fn new(folder: &Path, entries: Vec<Listed>) -> Self {
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let entries = entries.into_iter().map(|listed| EntryReport {
            key: listed.key.to_string(),
            bytes: listed.bytes,
            used: since(listed.used).as_secs(),
        });
        Self {
            folder: folder.display().to_string(),
            entries: entries.collect(),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let used = UNIX_EPOCH + Duration::from_secs(entry.used);
            let ago = SystemTime::now().duration_since(used).unwrap_or_default();
            // Writing to a text does not fail.
            let _ = writeln!(
                text,
                "{}  {:>11}  used {} ago",
                entry.key,
                bytes(entry.bytes),
                age(ago)
            );
        }
        let _ = writeln!(
            text,
            "{} in {}",
            entries(self.entries.len() as u64),
            self.folder
        );
        text
    }
}

/// How much there is.
#[derive(Serialize)]
pub(super) struct Statistics {
    folder: String,
    entries: u64,
    bytes: u64,
    /// What programs keep at most unless they say otherwise.
    default_limit: u64,
    temporaries: u64,
    temporary_bytes: u64,
    locks: u64,
}

impl Statistics {
    pub(super) fn new(folder: &Path, usage: &Usage, default_limit: u64) -> Self {
        Self {
            folder: folder.display().to_string(),
            entries: usage.entries,
            bytes: usage.bytes,
            default_limit,
            temporaries: usage.temporaries,
            temporary_bytes: usage.temporary_bytes,
            locks: usage.locks,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{} of {} in {}; the default limit is {}\n",
            entries(self.entries),
            bytes(self.bytes),
            self.folder,
            bytes(self.default_limit)
        );
        if self.temporaries + self.locks > 0 {
            let _ = writeln!(
                text,
                "being written, or left by programs that were killed: {} of {}, {}",
                count(self.temporaries, "file"),
                bytes(self.temporary_bytes),
                count(self.locks, "lock")
            );
        }
        text
    }
}

/// What was removed.
#[derive(Serialize)]
pub(super) struct Removed {
    folder: String,
    removed: u64,
}

impl Removed {
    pub(super) fn new(folder: &Path, removed: u64) -> Self {
        let folder = folder.display().to_string();
        Self { folder, removed }
    }

    pub(super) fn text(&self) -> String {
        format!("{} removed from {}\n", entries(self.removed), self.folder)
    }
}

/// What a check of every entry came to.
#[derive(Serialize)]
pub(super) struct Verdict {
    folder: String,
    pub(super) right: u64,
    /// Their files have changed: they are made again when they are needed.
    pub(super) stale: u64,
    problems: Vec<Problem>,
    /// With `--recompile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    recompiled: Option<Recompiled>,
}

/// What compiling again came to.
#[derive(Default, Serialize)]
struct Recompiled {
    same: u64,
    differing: Vec<Problem>,
    /// They could not be made here.
    not_compared: Vec<Problem>,
}

#[derive(Serialize)]
struct Problem {
    key: String,
    problem: String,
}

impl Verdict {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.display().to_string(),
            right: 0,
            stale: 0,
            problems: Vec::new(),
            recompiled: None,
        }
    }

    /// Adds what came of compiling an entry again.
    pub(super) fn recompiled(&mut self, key: &Key, outcome: Outcome) {
        let recompiled = self.recompiled.get_or_insert_default();
        let problem = |problem| Problem {
            key: key.to_string(),
            problem,
        };
        match outcome {
            Outcome::Same => recompiled.same += 1,
            Outcome::Differs(how) => recompiled.differing.push(problem(how)),
            Outcome::NotCompared(why) => recompiled.not_compared.push(problem(why)),
        }
    }

    pub(super) fn damaged(&mut self, key: &Key, problem: &impl fmt::Display) {
        self.problems.push(Problem {
            key: key.to_string(),
            problem: problem.to_string(),
        });
    }

    pub(super) fn is_wrong(&self) -> bool {
        let differing = self.recompiled.as_ref().map(|it| it.differing.len());
        !self.problems.is_empty() || differing.is_some_and(|differing| differing > 0)
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for Problem { key, problem } in &self.problems {
            let _ = writeln!(
                text,
                "{key}  {problem}: a program that needs it compiles again"
            );
        }
        if let Some(recompiled) = &self.recompiled {
            recompiled.write(&mut text);
        }
        let _ = writeln!(
            text,
            "{}, {} stale, {} damaged in {}: {}",
            entries(self.right + self.stale + self.problems.len() as u64),
            self.stale,
            self.problems.len(),
            self.folder,
            verdict(!self.is_wrong())
        );
        text
    }
}

impl Recompiled {
    fn write(&self, text: &mut String) {
        for Problem { key, problem } in &self.differing {
            let _ = writeln!(text, "{key}  differs: {problem}");
        }
        for Problem { key, problem } in &self.not_compared {
            let _ = writeln!(text, "{key}  was not compiled again: {problem}");
        }
        let _ = writeln!(
            text,
            "compiled again: {} the same, {} differ, {} not compared",
            self.same,
            self.differing.len(),
            self.not_compared.len()
        );
    }
}

fn entries(number: u64) -> String {
    match number {
        1 => "1 entry".into(),
        number => format!("{number} entries"),
    }
}

/// A time as people say it.
fn age(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
