//! `Note`: what a process leaves of a compiler or a linker in the cache's folder, so that the next one need
//! not load it to know which it is.

use super::identity::Identity;
use super::tool::{Describe, Tool};
use crate::cache::format::{Reader, put, put_count};
use crate::cache::{Cache, Entry, Failure, FileIdentity, FormatError, Key, KeyBuilder, Manifest};
use crate::places::Places;

/// Goes up whenever a note or its key mean something else.
const SCHEMA: &str = "cupola note 1";

/// What is noted of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note<D> {
    pub(super) description: D,
    pub(super) identity: Identity,
}

impl<D: Describe> Note<D> {
    /// What was noted of the tool that is found in these places, if all files that tell which it is are
    /// as they were then.
    pub(super) fn find<E: Failure>(cache: &Cache<E>, places: &Places) -> Option<Self> {
        if places.files().is_empty() {
            return None;
        }
        let entry = cache.noted(&key(places))?;
        // Its checksum is right: what cannot be read was written by another version.
        Self::decode(&entry.payload).ok()
    }

    /// Notes a tool that was found in these places; nothing where its files do not tell which it is, or
    /// were replaced so lately that they may change unseen.
    pub(super) fn keep<E: Failure, T: Tool<Description = D>>(
        cache: &Cache<E>,
        places: &Places,
        tool: &T,
        identity: &Identity,
    ) {
        let Some(evidence) = tool.evidence(places) else {
            return;
        };
        let Some(description) = tool.describe() else {
            return;
        };
        let mut manifest = Manifest::new();
        for file in evidence.absent {
            if !matches!(manifest.stamp(file), Ok(false)) {
                // It was passed over for a reason that its stamp does not tell.
                return;
            }
        }
        for file in &evidence.present {
            if manifest.stamp(file).is_err() {
                return;
            }
        }
        // After the stamps: of files that were settled then, these are the contents.
        if Identity::of(tool) != *identity {
            return;
        }
        let note = Self {
            description,
            identity: identity.clone(),
        };
        let entry = Entry {
            kind: T::NOTE,
            payload: note.encode(),
            names: Vec::new(),
            log: String::new(),
            manifest,
            recipe: None,
        };
        cache.note(&key(places), &entry);
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = Vec::new();
        self.description.write(&mut to);
        put_count(&mut to, self.identity.files.len());
        for file in &self.identity.files {
            put(&mut to, file.bytes());
        }
        to
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut from = Reader::new(bytes);
        let description = D::read(&mut from)?;
        let files = (0..from.count(8, "number of files")?).map(|_| {
            let bytes = from.bytes("identity of a file")?;
            Ok(FileIdentity::from_bytes(bytes.to_vec()))
        });
        let files: Vec<_> = files.collect::<Result<_, FormatError>>()?;
        from.end()?;
        if files.is_empty() {
            return Err(FormatError::Part("number of files"));
        }
        Ok(Self {
            identity: Identity {
                name: description.name(),
                files,
            },
            description,
        })
    }
}

/// The key of a note: where the tool is looked for.
fn key(places: &Places) -> Key {
    use std::os::unix::ffi::OsStrExt as _;
    let files = places.files().iter();
    KeyBuilder::new(SCHEMA)
        .field("tool", places.tool().as_bytes())
        .list("places", files.map(|file| file.as_os_str().as_bytes()))
        .finish()
}
