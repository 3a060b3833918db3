//! `Failed`: a compile or a link of which nothing came.

use std::error::Error;
use std::fmt;

use crate::cache::{Failure, Fault, Manifest};
use crate::compile::CompileError;
use crate::link::LinkError;

/// A compile or a link that failed, with the files that it depended on.
#[derive(Clone, Debug)]
pub struct Failed<E> {
    /// Why.
    pub error: E,
    /// The files: while they are as they were, the same fails again. None of a link, all of whose inputs are
    /// in the request.
    pub manifest: Manifest,
}

/// A compile that failed.
pub type CompileFailure = Failed<CompileError>;

/// A link that failed.
pub type LinkFailure = Failed<LinkError>;

impl<E> Failed<E> {
    /// That of what depended on no file.
    pub(super) fn new(error: E) -> Self {
        let manifest = Manifest::new();
        Self { error, manifest }
    }
}

impl<E: fmt::Display> fmt::Display for Failed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E: Error> Error for Failed<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // Its text is this error's own.
        self.error.source()
    }
}

impl Failure for CompileFailure {
    fn fault(&self) -> Fault<'_> {
        match self.error {
            CompileError::Source { .. }
            | CompileError::Option { .. }
            | CompileError::Architecture { .. }
            | CompileError::Name { .. }
            | CompileError::NotInClang { .. }
            | CompileError::Nul { .. } => Fault::Inputs(&self.manifest),
            CompileError::Cancelled => Fault::GivenUp,
            _ => Fault::Machine,
        }
    }
}

impl Failure for LinkFailure {
    fn fault(&self) -> Fault<'_> {
        match self.error {
            LinkError::Input { .. } | LinkError::Link { .. } | LinkError::Nul { .. } => {
                Fault::Inputs(&self.manifest)
            }
            _ => Fault::Machine,
        }
    }
}
