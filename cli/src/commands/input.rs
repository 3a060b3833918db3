//! Traces that a command reads: a file, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::exit::{Exit, Failure};

/// The name of standard input.
const STANDARD: &str = "-";

/// A trace by its name on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'p>(&'p Path);

impl<'p> Input<'p> {
    /// What `path` names: `-` is standard input, and a file of that name is `./-`.
    pub(crate) fn new(path: &'p Path) -> Self {
        Self(path)
    }

    fn is_standard(self) -> bool {
        self.0 == Path::new(STANDARD)
    }

    /// What it is called in reports and failures.
    pub(crate) fn name(self) -> &'p Path {
        match self.is_standard() {
            true => Path::new("standard input"),
            false => self.0,
        }
    }

    /// Where it is, for the question whether a file of the command would take its place.
    pub(crate) fn place(self) -> &'p Path {
        match self.is_standard() {
            true => Path::new("/dev/stdin"),
            false => self.0,
        }
    }

    /// Opens it.
    pub(crate) fn open(self) -> Result<Box<dyn Read>, Failure> {
        if self.is_standard() {
            return Ok(Box::new(io::stdin().lock()));
        }
        let file = File::open(self.0).map_err(|error| Failure::file(self.0, error))?;
        Ok(Box::new(file))
    }
}

/// Refuses standard input where a file is needed, and says why.
pub(crate) fn only_files<'p>(
    paths: impl IntoIterator<Item = &'p Path>,
    why: &str,
) -> Result<(), Failure> {
    match paths.into_iter().any(|path| Input(path).is_standard()) {
        true => Err(Failure::new(
            Exit::Usage,
            format!("-: standard input is not taken here: {why}; a file of that name is ./-"),
        )),
        false => Ok(()),
    }
}
