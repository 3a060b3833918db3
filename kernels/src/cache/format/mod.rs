//! The file of an entry. One file holds all of it, so that its parts are of one compile.
//!
//! ```text
//! offset  bytes
//!      0  8   magic
//!      8  4   version of the format
//!     12  8   length of the file
//!     20  32  key
//!     52  1   kind
//!         4   number of lowered names; for each: expression, name (texts)
//!         .   log (a text)
//!         4   number of files; for each: path (bytes), 0 absent | 1 read: SHA-256, 0 | 1 a stamp
//!             | 2 not read: a stamp. A stamp: size, device, inode, modified, changed (8 each)
//!         1   0 | 1 a recipe: compiler (a text), 0 | 1 folder (bytes), request (bytes)
//!         .   payload (bytes)
//!   -32   32  SHA-256 of all before
//! ```
//! Numbers are little-endian; texts and bytes are preceded by their length in 8 bytes.

mod reader;

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

use super::digest::Digest;
use super::entry::{Entry, EntryKind};
use super::key::Key;
use super::manifest::{Dependency, Manifest, Stamp, State};
use super::recipe::Recipe;
use crate::compile::LoweredName;
pub(crate) use reader::Reader;

const MAGIC: &[u8; 8] = b"cupolaKC";
const VERSION: u32 = 2;

/// As much of a file as says how long it is.
pub(super) const PREFIX: usize = 20;

/// The largest file of an entry. What is larger is not kept, and not read.
pub(super) const MOST_BYTES: u64 = 1 << 30;

/// What is wrong with the bytes of an entry. It is dropped and made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// It does not start as an entry does.
    Magic,
    /// Another version of the format.
    Version(u32),
    /// It is shorter or longer than it says.
    Length,
    /// The SHA-256 at its end is of other bytes.
    Checksum,
    /// It is the entry of another key.
    Key(Key),
    /// A part runs over the end, or has a number that means nothing.
    Part(&'static str),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not an entry"),
            Self::Version(version) => write!(f, "format {version}, and this is format {VERSION}"),
            Self::Length => f.write_str("another length than it says"),
            Self::Checksum => f.write_str("its SHA-256 is of other bytes"),
            Self::Key(key) => write!(f, "the entry of key {key}"),
            Self::Part(part) => write!(f, "the {part} cannot be read"),
        }
    }
}

impl std::error::Error for FormatError {}

impl Entry {
    /// The bytes of the entry's file.
    #[must_use]
    pub fn encode(&self, key: &Key) -> Vec<u8> {
        let mut to = Vec::with_capacity(self.payload.len() + self.log.len() + 1024);
        to.extend(MAGIC);
        to.extend(VERSION.to_le_bytes());
        to.extend([0; 8]);
        to.extend(key.digest().bytes());
        to.push(self.kind.code());
        put_count(&mut to, self.names.len());
        for name in &self.names {
            put(&mut to, name.expression.as_bytes());
            put(&mut to, name.symbol.as_bytes());
        }
        put(&mut to, self.log.as_bytes());
        put_count(&mut to, self.manifest.files().len());
        for file in self.manifest.files() {
            put_file(&mut to, file);
        }
        put_recipe(&mut to, self.recipe.as_ref());
        put(&mut to, &self.payload);
        let length = (to.len() + Digest::BYTES) as u64;
        to[PREFIX - 8..PREFIX].copy_from_slice(&length.to_le_bytes());
        let digest = Digest::of(&to);
        to.extend(digest.bytes());
        to
    }

    /// The entry of `key` that these bytes are.
    ///
    /// # Errors
    /// The bytes are none, or that of another key.
    pub fn decode(bytes: &[u8], key: &Key) -> Result<Self, FormatError> {
        let prefix = bytes.first_chunk().ok_or(FormatError::Length)?;
        if length(prefix)? != bytes.len() as u64 {
            return Err(FormatError::Length);
        }
        let (body, trailer) = bytes
            .split_last_chunk::<{ Digest::BYTES }>()
            .ok_or(FormatError::Length)?;
        if Digest::of(body).bytes() != trailer && !mutant!("entry_without_checksum") {
            return Err(FormatError::Checksum);
        }
        let mut from = Reader::new(&body[PREFIX.min(body.len())..]);
        let found = Key::from_digest(Digest::from_bytes(*from.array("key")?));
        if found != *key && !mutant!("entry_of_any_key") {
            return Err(FormatError::Key(found));
        }
        let kind = EntryKind::from_code(from.byte("kind")?).ok_or(FormatError::Part("kind"))?;
        // Each name has two lengths at least.
        let names = (0..from.count(16, "number of names")?).map(|_| {
            Ok(LoweredName {
                expression: from.text("expression")?,
                symbol: from.text("lowered name")?,
            })
        });
        let names = names.collect::<Result<_, FormatError>>()?;
        let log = from.text("log")?;
        // Each file has a length and a state at least.
        let files = (0..from.count(9, "number of files")?).map(|_| file(&mut from));
        let files = files.collect::<Result<_, FormatError>>()?;
        let recipe = from
            .flag("recipe")?
            .then(|| recipe(&mut from))
            .transpose()?;
        let payload = from.bytes("payload")?.to_vec();
        from.end()?;
        Ok(Self {
            kind,
            payload,
            names,
            log,
            manifest: Manifest::from_files(files),
            recipe,
        })
    }
}

/// How long the file is that begins so.
pub(super) fn length(prefix: &[u8; PREFIX]) -> Result<u64, FormatError> {
    let mut from = Reader::new(prefix);
    if from.array::<8>("magic")? != MAGIC {
        return Err(FormatError::Magic);
    }
    match u32::from_le_bytes(*from.array("version")?) {
        VERSION => from.number("length"),
        other => Err(FormatError::Version(other)),
    }
}

pub(crate) fn put(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u64).to_le_bytes());
    to.extend(bytes);
}

pub(crate) fn put_count(to: &mut Vec<u8>, count: usize) {
    // More would be over the largest file by far, and are not read back.
    to.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_recipe(to: &mut Vec<u8>, recipe: Option<&Recipe>) {
    to.push(recipe.is_some().into());
    let Some(recipe) = recipe else { return };
    put(to, recipe.compiler.as_bytes());
    to.push(recipe.folder.is_some().into());
    if let Some(folder) = &recipe.folder {
        put(to, folder.as_os_str().as_bytes());
    }
    put(to, &recipe.request);
}

fn recipe(from: &mut Reader<'_>) -> Result<Recipe, FormatError> {
    let compiler = from.text("compiler")?;
    let folder = match from.flag("folder")? {
        true => Some(OsStr::from_bytes(from.bytes("folder")?).into()),
        false => None,
    };
    Ok(Recipe {
        compiler,
        folder,
        request: from.bytes("request")?.to_vec(),
    })
}

fn put_file(to: &mut Vec<u8>, file: &Dependency) {
    put(to, file.path().as_os_str().as_bytes());
    match file.state() {
        State::Absent => to.push(0),
        State::Present { digest, stamp } => {
            to.push(1);
            to.extend(digest.bytes());
            to.push(stamp.is_some().into());
            if let Some(stamp) = stamp {
                put_stamp(to, stamp);
            }
        }
        State::Stamped(stamp) => {
            to.push(2);
            put_stamp(to, stamp);
        }
    }
}

fn put_stamp(to: &mut Vec<u8>, stamp: &Stamp) {
    to.extend(stamp.size.to_le_bytes());
    to.extend(stamp.device.to_le_bytes());
    to.extend(stamp.inode.to_le_bytes());
    to.extend(stamp.modified.to_le_bytes());
    to.extend(stamp.changed.to_le_bytes());
}

fn file(from: &mut Reader<'_>) -> Result<Dependency, FormatError> {
    let path = OsStr::from_bytes(from.bytes("path")?).into();
    let state = match from.byte("state of a file")? {
        0 => State::Absent,
        1 => State::Present {
            digest: Digest::from_bytes(*from.array("digest of a file")?),
            stamp: from.flag("stamp")?.then(|| stamp(from)).transpose()?,
        },
        2 => State::Stamped(stamp(from)?),
        _ => return Err(FormatError::Part("state of a file")),
    };
    Ok(Dependency::new(path, state))
}

fn stamp(from: &mut Reader<'_>) -> Result<Stamp, FormatError> {
    Ok(Stamp {
        size: from.number("stamp")?,
        device: from.number("stamp")?,
        inode: from.number("stamp")?,
        modified: from.number("stamp")?.cast_signed(),
        changed: from.number("stamp")?.cast_signed(),
    })
}

#[cfg(all(test, not(loom)))]
mod tests;
