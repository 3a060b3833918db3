//! The stores of cupola-core beside what their users would pick instead.
//!
//! Every case runs once inside each round, so that whatever else the machine does concerns
//! all of them; the figures are medians of the samples that no other work disturbed.
//! Every result is checked. The peers are there with the feature `peers`.

mod bars;
mod lookup;
mod ours;
mod pairs;
#[cfg(feature = "peers")]
mod peers;
mod tlsf;

use std::path::PathBuf;
use std::time::Duration;

use super::rounds::Wrong;
use super::{Figures, clock, rounds};
use crate::trace::TraceError;
use pairs::Groups;

/// Rounds, unless told.
pub const ROUNDS: usize = 15;

/// Time that a sample takes, unless told.
pub const SAMPLE: Duration = Duration::from_millis(20);

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A store gave back something else than was put in, or ran out of slots.
    #[error("{0}: a result is wrong")]
    Wrong(String),
    /// No row's name contains what was asked for.
    #[error("no row is called {0:?}, nor has that in its name (names are case-sensitive)")]
    NoRow(String),
    /// A trace cannot be read.
    #[error("{0}: {1}")]
    Trace(String, TraceError),
    /// Two traces have the same name, and rows are told apart by it.
    #[error(
        "two traces are called {0:?} (the bundled one is embed13), and their rows would be too"
    )]
    SameName(String),
}

/// What to measure, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads for the rows with several; 1 leaves these rows out.
    pub threads: usize,
    /// Samples of each row.
    pub rounds: usize,
    /// Time that a sample takes.
    pub sample: Duration,
    /// Only rows whose names contain this.
    pub only: Option<String>,
    /// Files with allocation traces that the heaps replay besides the bundled one.
    pub traces: Vec<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: clock::parallelism().min(2),
            rounds: ROUNDS,
            sample: SAMPLE,
            only: None,
            traces: Vec::new(),
        }
    }
}

impl Options {
    /// One short sample of each row: the results are checked, the figures mean nothing.
    #[must_use]
    pub fn quick(self) -> Self {
        Self {
            rounds: 1,
            sample: Duration::from_millis(1),
            ..self
        }
    }

    fn wants(&self, row: &str) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| row.contains(only.as_str()))
    }
}

/// Measures the stores.
///
/// # Errors
/// A result was wrong, a trace cannot be read, or no row is wanted: then there are no figures.
pub fn run(options: &Options) -> Result<Figures, Error> {
    let mut figures = Figures::new("slots", machine());
    figures.notes = notes(options);
    let mut groups = Groups::new(options.threads, bars::FLOOR);
    ours::pairs(&mut groups);
    #[cfg(feature = "peers")]
    peers::pairs(&mut groups);
    let mut cases: Vec<_> = groups.into_cases().collect();
    cases.extend(lookup::cases(options.threads));
    cases.extend(tlsf::cases(&mut figures, options)?);
    cases.retain(|case| options.wants(case.name()));
    if let Some(only) = &options.only
        && cases.is_empty()
        && figures.rows.is_empty()
    {
        return Err(Error::NoRow(only.clone()));
    }
    rounds::measure(&mut figures, cases, options.rounds, options.sample)
        .map_err(|Wrong(row)| Error::Wrong(row))?;
    bars::put(&mut figures);
    Ok(figures)
}

fn notes(options: &Options) -> Vec<String> {
    let mut notes = vec![format!(
        "{} rounds, {:?} a sample; one thread: processor time; several: {} threads by the clock",
        options.rounds, options.sample, options.threads,
    )];
    if options.threads > clock::parallelism() {
        notes.push(format!(
            "THERE ARE ONLY {} PROCESSORS: the rows of several threads say little",
            clock::parallelism()
        ));
    }
    if cfg!(debug_assertions) {
        notes.push("NOT OPTIMISED: the figures mean nothing".into());
    }
    if !cfg!(feature = "peers") {
        notes.push("WITHOUT PEERS: build with --features peers to measure them too".into());
    }
    notes
}

/// The processor's name, and how many of them there are for us.
fn machine() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let name = name.map_or("an unnamed processor", |name| {
        name.trim_start_matches([' ', '\t', ':'])
    });
    format!("{name}, {} processors", clock::parallelism())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a mistyped name would be answered with no rows, as if all were well.
    #[test]
    fn a_name_that_no_row_has_is_refused() {
        let options = Options {
            threads: 1,
            only: Some("no such row".into()),
            ..Options::default()
        };
        let refusal = run(&options.quick());
        assert!(matches!(refusal, Err(Error::NoRow(name)) if name == "no such row"));
    }
}
