//! [`Compiler`] as a [`Tool`].

use std::path::PathBuf;

use cupola_managers::backend::BackendKind;
use cupola_managers::device::Architecture;
use cupola_sys::Version;

use super::lazy::Lazy;
use super::tool::{Describe, Tool};
use crate::cache::format::{Reader, put, put_count};
use crate::cache::{EntryKind, FormatError};
use crate::compile::{ClangVersion, CompileError, Compiler, CompilerVersion, Description, Target};
use crate::places::{Evidence, Places};

impl Tool for Compiler {
    type Wanted = BackendKind;
    type Description = Description;
    type Error = CompileError;

    const NOTE: EntryKind = EntryKind::Compiler;

    fn places(wanted: BackendKind) -> Places {
        Compiler::places(wanted)
    }

    fn load(wanted: BackendKind) -> Result<Self, CompileError> {
        Self::for_backend(wanted)
    }

    fn name(&self) -> String {
        self.identity()
    }

    fn files(&self) -> Vec<PathBuf> {
        Compiler::files(self)
    }

    fn describe(&self) -> Option<Description> {
        Description::of(self).ok()
    }

    fn evidence<'p>(&self, places: &'p Places) -> Option<Evidence<'p>> {
        Compiler::evidence(self, places)
    }

    fn is_started_anew(&self) -> bool {
        match self {
            Self::Nvrtc(_) => false,
            Self::Clang(_) => true,
        }
    }
}

impl Describe for Description {
    fn name(&self) -> String {
        self.identity()
    }

    fn write(&self, to: &mut Vec<u8>) {
        let (is_clang, numbers) = match self.version {
            CompilerVersion::Nvrtc(version) => (false, vec![version.0]),
            CompilerVersion::Clang(it) => (true, vec![it.major, it.minor, it.patch]),
        };
        to.push(is_clang.into());
        for number in numbers {
            to.extend(number.to_le_bytes());
        }
        put(to, self.banner.as_bytes());
        put_count(to, self.architectures.len());
        for architecture in &self.architectures {
            put(to, architecture.to_string().as_bytes());
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, FormatError> {
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
        Ok(Self {
            version,
            banner,
            architectures: architectures.collect::<Result<_, FormatError>>()?,
        })
    }
}

impl Lazy<Compiler> {
    /// Its version.
    pub(super) fn version(&self) -> CompilerVersion {
        match self.loaded() {
            Ok(loaded) => loaded.tool.version(),
            Err(note) => note.description.version,
        }
    }

    /// As [`Compiler::target_for`].
    pub(super) fn target_for(
        &self,
        device: Architecture,
        driver: Version,
    ) -> Result<Target, CompileError> {
        match self.loaded() {
            Ok(loaded) => loaded.tool.target_for(device, driver),
            Err(note) => note.description.target_for(device, driver),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use quickcheck::quickcheck;

    use super::*;
    use crate::cache::FileIdentity;
    use crate::cached::identity::Identity;
    use crate::cached::note::Note;

    fn note(version: CompilerVersion, banner: String, files: Vec<Vec<u8>>) -> Note<Description> {
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
            Note::<Description>::decode(&note.encode()) == Ok(note)
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
            Note::<Description>::decode(&note.encode()) == Ok(note)
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
            assert!(
                Note::<Description>::decode(&bytes[..length]).is_err(),
                "{length}"
            );
        }
        assert!(Note::<Description>::decode(&[&bytes[..], &[0]].concat()).is_err());
        assert!(
            Note::<Description>::decode(&note(version, String::new(), Vec::new()).encode())
                .is_err()
        );
    }
}
