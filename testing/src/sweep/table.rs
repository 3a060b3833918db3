//! `SweepTable`: what came of each case, and how it is kept.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, SYMBOLS};

/// What came of a case, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Word {
    /// The scenario returned an error; no context was lost.
    Error,
    /// The scenario returned an error, and a context that was kept is lost.
    Lost,
    /// The scenario succeeded, and a context that was kept is lost: cleanup met the error.
    LostQuietly,
    /// The scenario succeeded, and the failed call was to give something back.
    Kept,
    /// The scenario succeeded.
    Absorbed,
    /// The scenario panicked.
    Panicked,
}

impl Word {
    /// As in the table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Lost => "lost",
            Self::LostQuietly => "lost-quietly",
            Self::Kept => "kept",
            Self::Absorbed => "absorbed",
            Self::Panicked => "panicked",
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One case: one call failed with one code.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The driver function.
    pub function: SymbolId,
    /// Which of its calls failed, from 1.
    pub k: u64,
    /// How many calls the scenario makes without a fault.
    pub calls: u64,
    /// What the call returned.
    pub code: CUresult,
    /// What came of it.
    pub word: Word,
}

/// What came of each case of a sweep. Its `Display` is the table that is worth keeping.
#[derive(Clone, Debug, Default)]
pub struct SweepTable {
    pub(super) title: String,
    pub(super) cases: Vec<Case>,
    pub(super) problems: Vec<String>,
}

/// The driver's name of a function.
pub(super) fn name(function: SymbolId) -> &'static str {
    let symbol = SYMBOLS.get(usize::from(function.0));
    symbol.map_or("?", |symbol| symbol.as_str())
}

impl SweepTable {
    /// Every case, function by function.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Number of driver functions of which a call was made to fail.
    #[must_use]
    pub fn functions(&self) -> usize {
        let mut functions: Vec<_> = self.cases.iter().map(|case| case.function).collect();
        functions.dedup();
        functions.len()
    }

    /// How many cases came to each word.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Word, usize> {
        let mut counts = BTreeMap::new();
        for case in &self.cases {
            *counts.entry(case.word).or_default() += 1;
        }
        counts
    }

    /// What must not be, each with its case: leaks, double frees, panics, errors that are
    /// not reported or that name another code than the injected one, a second attempt that
    /// fails. Empty when all is well. A sweep without cases is a problem too.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Writes the table to the file that `CUPOLA_SWEEP_TABLE` names, if it names one: the
    /// first table of the process anew, further ones behind it.
    pub(super) fn keep(&self) -> io::Result<()> {
        static BEGUN: Mutex<bool> = Mutex::new(false);
        let Some(path) = std::env::var_os("CUPOLA_SWEEP_TABLE").filter(|path| !path.is_empty())
        else {
            return Ok(());
        };
        let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = if *begun {
            File::options().append(true).create(true).open(path)
        } else {
            File::create(path)
        }?;
        *begun = true;
        writeln!(file, "{self}")
    }
}

impl fmt::Display for SweepTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cases, functions) = (self.cases.len(), self.functions());
        write!(f, "{}: {cases} cases of {functions} functions", self.title)?;
        for (place, (word, count)) in self.counts().into_iter().enumerate() {
            write!(f, "{} {word} {count}", if place == 0 { ":" } else { "," })?;
        }
        let mut row = None;
        for case in &self.cases {
            if row != Some((case.function, case.k)) {
                row = Some((case.function, case.k));
                let (name, k, calls) = (name(case.function), case.k, case.calls);
                write!(f, "\n{name:32} {k:3} of {calls:3} ")?;
            }
            write!(f, " {}:{}", case.code.0, case.word)?;
        }
        for problem in &self.problems {
            write!(f, "\nPROBLEM: {problem}")?;
        }
        Ok(())
    }
}
