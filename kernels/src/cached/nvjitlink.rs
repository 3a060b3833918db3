//! nvJitLink as a [`Tool`], and as a [`Linker`] that is loaded when it has something to link.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use cupola_sys::Version;
use cupola_sys::nvjitlink::NvJitLink;

use super::lazy::Lazy;
use super::libraries::Libraries;
use super::tool::{Describe, Tool};
use crate::cache::format::{Reader, put};
use crate::cache::{EntryKind, FormatError};
use crate::link::{
    LinkError, LinkRequest, Linked, Linker, LinkerIdentity, NvJitLinkDescription, NvJitLinker,
};
use crate::places::{Evidence, Places};

impl Tool for NvJitLinker {
    type Wanted = ();
    type Description = NvJitLinkDescription;
    type Error = LinkError;

    const NOTE: EntryKind = EntryKind::Linker;

    fn places((): ()) -> Places {
        Places::new(NvJitLinkDescription::NAME, NvJitLink::candidates())
    }

    fn load((): ()) -> Result<Self, LinkError> {
        Self::load()
    }

    fn name(&self) -> String {
        self.description().name()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.library().path().into_iter().collect()
    }

    fn describe(&self) -> Option<NvJitLinkDescription> {
        Some(self.description().clone())
    }

    fn evidence<'p>(&self, places: &'p Places) -> Option<Evidence<'p>> {
        let found = PathBuf::from(self.library().describe());
        places.evidence_of_library(found, self.files())
    }

    fn is_started_anew(&self) -> bool {
        false
    }
}

impl Describe for NvJitLinkDescription {
    fn name(&self) -> String {
        Self::name(self)
    }

    fn write(&self, to: &mut Vec<u8>) {
        // No version is 0.
        let version = self.version.map_or(0, |version| version.0);
        to.extend(version.to_le_bytes());
        let library = self.library.as_deref().unwrap_or("".as_ref());
        put(to, library.as_os_str().as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, FormatError> {
        let version = u32::from_le_bytes(*from.array("version")?);
        let library = from.bytes("linker's library")?;
        Ok(Self {
            version: (version != 0).then_some(Version(version)),
            library: (!library.is_empty()).then(|| OsStr::from_bytes(library).into()),
        })
    }
}

/// nvJitLink, loaded or as an earlier process noted it.
#[derive(Debug)]
pub(super) struct LazyNvJitLinker {
    linker: Lazy<NvJitLinker>,
    libraries: Arc<Libraries>,
}

impl LazyNvJitLinker {
    /// The linker, whose library the others are told of.
    pub(super) fn new(linker: Lazy<NvJitLinker>, libraries: Arc<Libraries>) -> Self {
        let new = Self { linker, libraries };
        new.tell();
        new
    }

    /// Tells which file the library is: it is what was noted, or loaded, also when another takes its place.
    fn tell(&self) {
        let path = self.description().library.as_deref();
        if let (Some(path), [library]) = (path, &self.linker.identity().files[..]) {
            self.libraries.tell(path, library);
        }
    }

    fn description(&self) -> &NvJitLinkDescription {
        match self.linker.loaded() {
            Ok(loaded) => loaded.tool.description(),
            Err(note) => &note.description,
        }
    }
}

impl Linker for LazyNvJitLinker {
    fn name(&self) -> &'static str {
        NvJitLinkDescription::NAME
    }

    fn accepts(&self, request: &LinkRequest) -> Result<(), LinkError> {
        self.description().accepts(request)
    }

    fn identity(&self, request: &LinkRequest) -> Result<LinkerIdentity, LinkError> {
        self.description().identity(request)
    }

    fn link(&self, request: &LinkRequest) -> Result<Linked, LinkError> {
        let loaded = self.linker.load()?;
        // It may be another than was noted.
        self.tell();
        loaded.tool.link(request)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::OnceLock;

    use quickcheck::quickcheck;

    use super::*;
    use crate::cache::FileIdentity;
    use crate::cached::identity::Identity;
    use crate::cached::note::Note;
    use crate::compile::Target;

    // Without it a process could take a linker for another one than was noted, and be given its results.
    #[test]
    fn a_linkers_note_is_read_back_as_it_was() {
        fn is_read_back(version: Option<u32>, library: PathBuf, file: Vec<u8>) -> bool {
            let description = NvJitLinkDescription {
                version: version.filter(|it| *it != 0).map(Version),
                library: (!library.as_os_str().is_empty()).then_some(library),
            };
            let note = Note {
                identity: Identity {
                    name: Describe::name(&description),
                    files: vec![FileIdentity::from_bytes(file)],
                },
                description,
            };
            let bytes = note.encode();
            let is_cut = |length| Note::<NvJitLinkDescription>::decode(&bytes[..length]).is_err();
            (0..bytes.len()).all(is_cut) && Note::decode(&bytes) == Ok(note)
        }
        quickcheck(is_read_back as fn(_, _, _) -> _);
    }

    // Without it what a library made that took the place of the noted one would be kept under the key of that.
    #[test]
    fn a_library_in_the_place_of_the_noted_one_is_told_of_when_it_is_loaded() {
        let real = match NvJitLinker::load() {
            Ok(real) => real,
            Err(error) if std::env::var_os("CUPOLA_REQUIRE_WHEELS").is_some() => panic!("{error}"),
            Err(error) => {
                eprintln!("SKIPPED: {error}");
                return;
            }
        };
        let path = real.library().path().unwrap();
        let replaced = FileIdentity::from_bytes(vec![1]);
        let linker = Lazy::Noted {
            wanted: (),
            note: Note {
                description: real.description().clone(),
                identity: Identity {
                    name: Tool::name(&real),
                    files: vec![replaced.clone()],
                },
            },
            loaded: OnceLock::new(),
        };
        let libraries = Arc::new(Libraries::default());
        let linker = LazyNvJitLinker::new(linker, Arc::clone(&libraries));
        assert_eq!(libraries.identify(&path), Some(replaced));
        // It cannot, and is loaded to say so.
        let request = LinkRequest::new(Target::LtoIr("sm_90".parse().unwrap()));
        assert!(linker.link(&request).is_err());
        assert_eq!(libraries.identify(&path), FileIdentity::of(&path).ok());
    }
}
