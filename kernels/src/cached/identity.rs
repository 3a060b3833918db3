//! `Identity`: which compiler it is, as keys have it; and `Note`: what a process leaves of it in the cache's
//! folder, so that the next one need not load it to know.

use cupola_sys::Version;

use crate::cache::format::{Reader, put, put_count};
use crate::cache::{
    Cache, Entry, EntryKind, Failure, FileIdentity, FormatError, Key, KeyBuilder, Manifest,
};
use crate::compile::{ClangVersion, Compiler, CompilerVersion, Description, Places};

/// Goes up whenever a note or its key mean something else.
const SCHEMA: &str = "cupola compiler 1";

/// Which compiler it is, as keys have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The compiler with its version.
    pub(super) name: String,
    /// What its files are; none where they cannot be read.
    pub(super) files: Vec<FileIdentity>,
}

impl Identity {
    /// That of a compiler, whose files are as they are now.
    pub(super) fn of(compiler: &Compiler) -> Self {
        let files = compiler.files();
        let files: std::io::Result<Vec<_>> =
            files.iter().map(|file| FileIdentity::of(file)).collect();
        let files = files.unwrap_or_else(|error| {
            tracing::warn!(%error, "the compiler's files cannot be read: nothing is kept on disk");
            Vec::new()
        });
        Self {
            name: compiler.identity(),
            files,
        }
    }

    /// Whether another version of the compiler would be told from this one.
    pub(super) fn is_known(&self) -> bool {
        !self.files.is_empty()
    }
}

/// What is noted of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) description: Description,
    pub(super) identity: Identity,
}

impl Note {
    /// What was noted of the compiler that is found in these places, if all files that tell which it is are
    /// as they were then.
    pub(super) fn find<E: Failure>(cache: &Cache<E>, places: &Places) -> Option<Self> {
        if places.files().is_empty() {
            return None;
        }
        let entry = cache.noted(&key(places))?;
        // Its checksum is right: what cannot be read was written by another version.
        Self::decode(&entry.payload).ok()
    }

    /// Notes a compiler that was found in these places; nothing where its files do not tell which it is, or
    /// were replaced so lately that they may change unseen.
    pub(super) fn keep<E: Failure>(
        cache: &Cache<E>,
        places: &Places,
        compiler: &Compiler,
        identity: &Identity,
    ) {
        let Some(evidence) = places.evidence(compiler) else {
            return;
        };
        let Ok(description) = Description::of(compiler) else {
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
        if Identity::of(compiler) != *identity {
            return;
        }
        let note = Self {
            description,
            identity: identity.clone(),
        };
        let entry = Entry {
            kind: EntryKind::Compiler,
            payload: note.encode(),
            names: Vec::new(),
            log: String::new(),
            manifest,
            recipe: None,
        };
        cache.note(&key(places), &entry);
    }

    fn encode(&self) -> Vec<u8> {
        let Self {
            description,
            identity,
        } = self;
        let mut to = Vec::new();
        let (is_clang, numbers) = match description.version {
            CompilerVersion::Nvrtc(version) => (false, vec![version.0]),
            CompilerVersion::Clang(it) => (true, vec![it.major, it.minor, it.patch]),
        };
        to.push(is_clang.into());
        for number in numbers {
            to.extend(number.to_le_bytes());
        }
        put(&mut to, description.banner.as_bytes());
        put_count(&mut to, description.architectures.len());
        for architecture in &description.architectures {
            put(&mut to, architecture.to_string().as_bytes());
        }
        put_count(&mut to, identity.files.len());
        for file in &identity.files {
            put(&mut to, file.bytes());
        }
        to
    }

    fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut from = Reader::new(bytes);
        let is_clang = from.flag("compiler")?;
        let mut number = || from.array("version").map(|it| u32::from_le_bytes(*it));
        let version = match is_clang {
            true => CompilerVersion::Clang(ClangVersion {
                major: number()?,
                minor: number()?,
                patch: number()?,
            }),
            false => CompilerVersion::Nvrtc(Version(number()?)),
        };
        let banner = from.text("line of a compiler's version")?;
        let architectures = (0..from.count(8, "number of architectures")?).map(|_| {
            let name = from.text("architecture")?;
            name.parse().map_err(|_| FormatError::Part("architecture"))
        });
        let architectures = architectures.collect::<Result<_, FormatError>>()?;
        let files = (0..from.count(8, "number of files")?).map(|_| {
            let bytes = from.bytes("identity of a file")?;
            Ok(FileIdentity::from_bytes(bytes.to_vec()))
        });
        let files: Vec<_> = files.collect::<Result<_, FormatError>>()?;
        from.end()?;
        if files.is_empty() {
            return Err(FormatError::Part("number of files"));
        }
        let description = Description {
            version,
            banner,
            architectures,
        };
        Ok(Self {
            identity: Identity {
                name: description.identity(),
                files,
            },
            description,
        })
    }
}

/// The key of a note: where the compiler is looked for.
fn key(places: &Places) -> Key {
    use std::os::unix::ffi::OsStrExt as _;
    let files = places.files().iter();
    KeyBuilder::new(SCHEMA)
        .field("kind", format!("{:?}", places.kind()).as_bytes())
        .list("places", files.map(|file| file.as_os_str().as_bytes()))
        .finish()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    fn note(version: CompilerVersion, banner: String, files: Vec<Vec<u8>>) -> Note {
        let architectures = ["sm_75", "sm_90a", "sm_100f"];
        let description = Description {
            version,
            banner,
            architectures: architectures.map(|it| it.parse().unwrap()).to_vec(),
        };
        Note {
            identity: Identity {
                name: description.identity(),
                files: files.into_iter().map(FileIdentity::from_bytes).collect(),
            },
            description,
        }
    }

    // Without it a process could take a compiler for another one than was noted, and be given its results.
    #[test]
    fn a_note_is_read_back_as_it_was() {
        fn nvrtc(number: u32, files: Vec<Vec<u8>>) -> bool {
            let files = [vec![vec![1]], files].concat();
            let note = note(
                CompilerVersion::Nvrtc(Version(number)),
                String::new(),
                files,
            );
            Note::decode(&note.encode()) == Ok(note)
        }
        fn clang(version: (u32, u32, u32), banner: String, files: Vec<Vec<u8>>) -> bool {
            let (major, minor, patch) = version;
            let version = ClangVersion {
                major,
                minor,
                patch,
            };
            let files = [vec![vec![1]], files].concat();
            let note = note(CompilerVersion::Clang(version), banner, files);
            Note::decode(&note.encode()) == Ok(note)
        }
        quickcheck(nvrtc as fn(_, _) -> _);
        quickcheck(clang as fn(_, _, _) -> _);
    }

    // Without it bytes of another version could be taken for a compiler, or for one without files, whose
    // results would be those of every version.
    #[test]
    fn other_bytes_are_no_note() {
        let version = CompilerVersion::Nvrtc(Version::new(13, 0));
        let bytes = note(version, String::new(), vec![vec![1; 44], vec![2; 44]]).encode();
        for length in 0..bytes.len() {
            assert!(Note::decode(&bytes[..length]).is_err(), "{length}");
        }
        assert!(Note::decode(&[&bytes[..], &[0]].concat()).is_err());
        assert!(Note::decode(&note(version, String::new(), Vec::new()).encode()).is_err());
    }
}
