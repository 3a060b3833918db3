//! `Key`: the name of a compile, which is a SHA-256 of everything that it depends on.

use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use super::digest::{Digest, NotADigest};
use super::identity::FileIdentity;
use crate::compile::ImageKind;

/// Goes up whenever the fields of [`CompileInputs`] or their encoding change.
const SCHEMA: &str = "cupola compile 1";

/// Names one compile: equal keys mean equal outputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Digest);

impl Key {
    /// The key that was named so before.
    #[must_use]
    pub const fn from_digest(digest: Digest) -> Self {
        Self(digest)
    }

    /// As a digest.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.0)
    }
}

impl FromStr for Key {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        text.parse().map(Self)
    }
}

/// Makes a [`Key`] of labelled fields. Each label, each list and each value is preceded by its
/// length, so that no two sequences of fields are hashed as the same bytes.
#[derive(Clone, Debug)]
pub struct KeyBuilder(Sha256);

impl KeyBuilder {
    /// No field yet. The schema says what the fields mean.
    #[must_use]
    pub fn new(schema: &str) -> Self {
        Self(Sha256::new()).field("schema", schema.as_bytes())
    }

    /// Adds a field of one value.
    #[must_use]
    pub fn field(self, label: &str, value: &[u8]) -> Self {
        self.list(label, [value])
    }

    /// Adds a field of several values, in this order.
    #[must_use]
    pub fn list<V: AsRef<[u8]>>(
        mut self,
        label: &str,
        values: impl IntoIterator<Item = V, IntoIter: ExactSizeIterator>,
    ) -> Self {
        encode(label, values, |bytes| self.0.update(bytes));
        self
    }

    /// The key of all fields.
    #[must_use]
    pub fn finish(self) -> Key {
        Key(Digest::from_bytes(self.0.finalize().into()))
    }
}

/// Hands out the bytes of a field, part by part.
fn encode<V: AsRef<[u8]>>(
    label: &str,
    values: impl IntoIterator<Item = V, IntoIter: ExactSizeIterator>,
    mut to: impl FnMut(&[u8]),
) {
    let values = values.into_iter();
    let length = |length: usize, to: &mut dyn FnMut(&[u8])| {
        if !mutant!("key_without_lengths") {
            to(&(length as u64).to_le_bytes());
        }
    };
    length(label.len(), &mut to);
    to(label.as_bytes());
    length(values.len(), &mut to);
    for value in values {
        let value = value.as_ref();
        length(value.len(), &mut to);
        to(value);
    }
}

/// A header that is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// What `#include` calls it.
    pub name: &'a str,
    /// Its text.
    pub text: &'a [u8],
}

/// A variable of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value; `None` where it is not set, which is not the same as empty.
    pub value: Option<&'a [u8]>,
}

/// Everything that a compile depends on, but for files that it finds by itself, which are in the
/// [`Manifest`](super::Manifest).
///
/// There is no default on purpose: a caller that leaves a field out does not compile. Wrong results
/// of other caches come from an ingredient that was left out more often than from anything else.
#[derive(Clone, Copy, Debug)]
pub struct CompileInputs<'a> {
    /// The compiler and its exact version, such as `nvrtc 13.0.88`.
    pub compiler: &'a str,
    /// The files of the compiler: its library, its builtins.
    pub libraries: &'a [FileIdentity],
    /// The target with its suffix, such as `sm_90a` or `compute_90`.
    pub architecture: &'a str,
    /// What is made.
    pub output: ImageKind,
    /// Every option as it is passed on, in order. Of options whose order means nothing the caller
    /// chooses one.
    pub options: &'a [&'a [u8]],
    /// What the program is called: `__FILE__` and line information name it.
    pub name: &'a str,
    /// The program's text.
    pub source: &'a [u8],
    /// Headers in memory.
    pub headers: &'a [Header<'a>],
    /// Expressions whose lowered names are asked for.
    pub expressions: &'a [&'a str],
    /// The variables that the compiler looks at.
    pub environment: &'a [Variable<'a>],
    /// The folder that relative names in options and `#include` start from; `None` where no name is
    /// relative.
    pub folder: Option<&'a Path>,
}

impl CompileInputs<'_> {
    /// The key. Equal inputs have equal keys, and others have others.
    #[must_use]
    pub fn key(&self) -> Key {
        // Taken apart, so that a new field which is not hashed is a warning.
        let Self {
            compiler,
            libraries,
            architecture,
            output,
            options,
            name,
            source,
            headers,
            expressions,
            environment,
            folder,
        } = *self;
        let mut key = KeyBuilder::new(SCHEMA);
        if !mutant!("key_without_compiler") {
            key = key.field("compiler", compiler.as_bytes());
        }
        if !mutant!("key_without_libraries") {
            key = key.list("libraries", libraries.iter().map(FileIdentity::bytes));
        }
        if !mutant!("key_without_architecture") {
            key = key.field("architecture", architecture.as_bytes());
        }
        if !mutant!("key_without_output") {
            key = key.field("output", &[output.code()]);
        }
        if !mutant!("key_without_options") {
            key = key.list("options", options);
        }
        if !mutant!("key_without_name") {
            key = key.field("name", name.as_bytes());
        }
        if !mutant!("key_without_source") {
            key = key.field("source", source);
        }
        if !mutant!("key_without_header_names") {
            key = key.list("header names", headers.iter().map(|header| header.name));
        }
        if !mutant!("key_without_header_texts") {
            key = key.list("header texts", headers.iter().map(|header| header.text));
        }
        if !mutant!("key_without_expressions") {
            key = key.list("expressions", expressions);
        }
        if !mutant!("key_without_environment") {
            for variable in environment {
                let value = variable.value.as_slice();
                key = key.field("variable", variable.name.as_bytes());
                key = key.list("value", value);
            }
        }
        if !mutant!("key_without_folder") {
            let folder = folder.map(|folder| folder.as_os_str().as_bytes());
            key = key.list("folder", folder.as_slice());
        }
        key.finish()
    }
}

#[cfg(test)]
mod tests;
