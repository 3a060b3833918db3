//! Whether the compiler of this machine makes again what an entry has.

use std::path::PathBuf;

use super::{CachedCompiler, current_folder_of};
use crate::cache::{Entry, FormatError, Key};
use crate::compile::CompileError;

/// What came of compiling an entry's request once more.
#[derive(Debug)]
#[non_exhaustive]
pub enum Recompiled {
    /// The same bytes and symbols.
    Same,
    /// Other bytes or symbols, by the same compiler.
    Differs {
        /// The first byte of the code that is another one; `None` where the symbols differ alone.
        offset: Option<usize>,
        /// How many bytes the entry has.
        kept: usize,
        /// How many were made now.
        made: usize,
    },
    /// The entry records no request: it was made by a linker, of more than
    /// [`Recipe::MOST_BYTES`](crate::cache::Recipe::MOST_BYTES), or by a caller's own compiler.
    NotRecorded,
    /// Another compiler, or another version of it, made the entry.
    OtherCompiler {
        /// That one.
        made_by: String,
        /// The one that is here.
        here: String,
    },
    /// Relative names of the request start from another folder than the current one.
    OtherFolder(PathBuf),
    /// What is recorded cannot be read as a request.
    Unreadable(FormatError),
    /// The compile failed, which it did not when the entry was made; or the compiler could not be loaded.
    Failed(CompileError),
}

impl CachedCompiler {
    /// Compiles the request that an entry records once more, and compares: a compiler gives the same
    /// bytes for the same request. Neither the entry nor the cache is changed.
    #[must_use]
    pub fn recompile(&self, key: &Key, entry: &Entry) -> Recompiled {
        let Some(recipe) = &entry.recipe else {
            return Recompiled::NotRecorded;
        };
        let loaded = match self.compiler.load() {
            Ok(loaded) => loaded,
            Err(error) => return Recompiled::Failed(error),
        };
        let here = loaded.identity.name.clone();
        if recipe.compiler != here {
            let made_by = recipe.compiler.clone();
            return Recompiled::OtherCompiler { made_by, here };
        }
        let request = match recipe.read_request() {
            Ok(request) => request,
            Err(error) => return Recompiled::Unreadable(error),
        };
        match &recipe.folder {
            Some(folder) if current_folder_of(&request).as_ref() != Some(folder) => {
                return Recompiled::OtherFolder(folder.clone());
            }
            _ => {}
        }
        if self.key(&request) != *key {
            // The request and the version are the key's: then the compiler's files are others.
            let made_by = format!("{here}, of other files");
            return Recompiled::OtherCompiler { made_by, here };
        }
        let compiled = match loaded.tool.compile(&request) {
            Ok(compiled) => compiled,
            Err(error) => return Recompiled::Failed(error),
        };
        let (kept, made) = (&entry.payload, compiled.image());
        if kept == made && entry.names == compiled.lowered_names() {
            return Recompiled::Same;
        }
        let shorter = kept.len().min(made.len());
        let first = kept.iter().zip(made).position(|(one, other)| one != other);
        Recompiled::Differs {
            offset: first.or_else(|| (kept.len() != made.len()).then_some(shorter)),
            kept: kept.len(),
            made: made.len(),
        }
    }
}
