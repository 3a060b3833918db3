//! [`Dependencies`]: the files that a compile may read.
//!
//! No option of NVRTC tells which headers it read. One writes a trace of where the time went, in
//! which they are, but not those that it looked for in vain. So the headers are found here: by
//! reading the source and every header that it can reach, on every search path, without a
//! preprocessor. That gives too many (those under a false condition too) and never too few, or says
//! that it does not know.

mod place;
mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{CompileOption, CompileRequest};
pub use place::{Place, PlaceState};
use scan::{Operand, Scan};

/// So many places are looked at for one request. More is a circle of symbolic links.
const MOST: usize = 1 << 17;

/// The files that the result of a compile depends on, besides its request and the compiler.
///
/// For each `#include` and each `__has_include` that the source can reach, these are *all* the
/// places where the header could be: every folder for headers, and for one in quotes the folder of
/// the file that includes it, that of the source, and the current one. Those where no file is
/// belong to it: a file that appears there could be taken in the place of another. Nothing depends
/// on the order in which the compiler looks.
///
/// If no [`Place`] has changed and the list [is complete](Self::is_complete), the compiler reads
/// what it read. Headers in memory are part of the request. What is read without `#include` is not
/// here: precompiled headers, which change no result, and files that options unknown to this crate
/// name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    places: Vec<Place>,
    unresolved: Vec<UnresolvedInclude>,
    is_timed: bool,
}

/// An include that cannot be resolved without a preprocessor, so that the list is not complete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnresolvedInclude {
    /// The file it is in, or the name of the source or of the header in memory.
    pub file: PathBuf,
    /// What is included.
    pub text: String,
}

impl Dependencies {
    /// Reads what the request can reach, now.
    #[must_use]
    pub fn scan(request: &CompileRequest) -> Self {
        let mut search = Search::new(request);
        let name = Path::new(&request.source().name);
        search.read(
            request.source().text.as_bytes(),
            name,
            request.source_folder(),
        );
        for header in request.headers() {
            let name = Path::new(&header.name);
            let folder = name.parent().unwrap_or(Path::new(""));
            search.read(header.text.as_bytes(), name, folder);
        }
        search.finish()
    }

    /// The places, sorted by path. A header in memory that a file has the name of, too, has its
    /// places here.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The includes that could not be resolved.
    #[must_use]
    pub fn unresolved(&self) -> &[UnresolvedInclude] {
        &self.unresolved
    }

    /// Notes a file that the compiler read, and that is not among the places.
    pub(super) fn note_unscanned(&mut self, file: PathBuf) {
        let text = "(read by the compiler, and not found here)".to_owned();
        self.unresolved.push(UnresolvedInclude { file, text });
    }

    /// Whether a text that is reached has `__DATE__`, `__TIME__` or `__TIMESTAMP__` in it.
    #[must_use]
    pub fn depends_on_time(&self) -> bool {
        self.is_timed
    }

    /// Whether every include could be resolved, and no text asks for the time. If not, a result must not be
    /// kept for later.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unresolved.is_empty() && !self.is_timed
    }

    /// Whether every place is as it was.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.places.iter().all(Place::is_current)
    }
}

/// Where headers are looked for, and what was found.
struct Search {
    /// The folders for headers.
    folders: Vec<PathBuf>,
    /// The source's folder and the current one, relative to the current one.
    own: Vec<PathBuf>,
    places: BTreeMap<PathBuf, PlaceState>,
    unresolved: BTreeSet<UnresolvedInclude>,
    /// A text asks for the time.
    is_timed: bool,
    /// What macros stand for that are defined anywhere.
    macros: BTreeMap<Vec<u8>, BTreeSet<Option<Operand>>>,
    /// Includes of macros.
    computed: BTreeSet<Computed>,
    /// Files that are not read yet.
    queue: Vec<(PathBuf, Vec<u8>)>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Computed {
    name: Vec<u8>,
    file: PathBuf,
    folder: PathBuf,
}

impl Search {
    fn new(request: &CompileRequest) -> Self {
        let mut search = Self {
            folders: request.include_folders().to_vec(),
            own: vec![request.source_folder().to_owned(), PathBuf::new()],
            places: BTreeMap::new(),
            unresolved: BTreeSet::new(),
            is_timed: false,
            macros: BTreeMap::new(),
            computed: BTreeSet::new(),
            queue: Vec::new(),
        };
        search.read_arguments(request);
        search
    }

    /// Folders, headers and macros that are among the options.
    fn read_arguments(&mut self, request: &CompileRequest) {
        let mut arguments = request.options().iter().map(CompileOption::argument);
        let mut headers = Vec::new();
        while let Some(argument) = arguments.next() {
            let bytes = argument.as_encoded_bytes();
            self.is_timed |= asks_for_time(bytes);
            let Some((meaning, value)) = Meaning::of(bytes) else {
                continue;
            };
            let value = match value {
                Some(value) => value.trim_ascii().to_vec(),
                // It is the next argument.
                None => arguments
                    .next()
                    .unwrap_or_default()
                    .as_encoded_bytes()
                    .to_vec(),
            };
            match meaning {
                Meaning::Folder => self.folders.push(path_of(&value)),
                Meaning::Header => headers.push(value),
                Meaning::Macro => self.define_argument(&value),
                Meaning::Arguments => self.unknown(Path::new("the options"), &value),
            }
        }
        let folder = request.source_folder().to_owned();
        for header in headers {
            self.look_for(&Operand::Quoted(header), Path::new("the options"), &folder);
        }
    }

    fn define_argument(&mut self, definition: &[u8]) {
        let equals = definition.iter().position(|&byte| byte == b'=');
        let (name, value) = definition.split_at(equals.unwrap_or(definition.len()));
        let header = match scan::included(value.strip_prefix(b"=").unwrap_or_default()) {
            Some(header @ (Operand::Quoted(_) | Operand::Angled(_))) => Some(header),
            _ => None,
        };
        self.macros.entry(name.to_vec()).or_default().insert(header);
    }

    /// Looks for all that a text may include.
    fn read(&mut self, text: &[u8], file: &Path, folder: &Path) {
        self.is_timed |= asks_for_time(text);
        let scan = Scan::of(text);
        for definition in scan.definitions {
            let meanings = self.macros.entry(definition.name).or_default();
            meanings.insert(definition.header);
        }
        for operand in scan.operands {
            self.look_for(&operand, file, folder);
        }
    }

    fn look_for(&mut self, operand: &Operand, file: &Path, folder: &Path) {
        match operand {
            Operand::Opaque(text) => self.unknown(file, text),
            Operand::Macro(name) => {
                self.computed.insert(Computed {
                    name: name.clone(),
                    file: file.to_owned(),
                    folder: folder.to_owned(),
                });
            }
            Operand::Angled(name) => {
                let name = path_of(name);
                for at in 0..self.folders.len() {
                    self.look_at(&self.folders[at].join(&name));
                }
            }
            Operand::Quoted(name) => {
                let name = path_of(name);
                self.look_at(&folder.join(&name));
                for own in self.own.clone() {
                    self.look_at(&own.join(&name));
                }
                for at in 0..self.folders.len() {
                    self.look_at(&self.folders[at].join(&name));
                }
            }
        }
    }

    fn look_at(&mut self, path: &Path) {
        // Without a current folder nothing relative is found.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if self.places.contains_key(&path) {
            return;
        }
        if self.places.len() >= MOST {
            self.unknown(&path, b"(too many places)");
            return;
        }
        let (state, text) = PlaceState::read(&path);
        if let Some(text) = text {
            self.queue.push((path.clone(), text));
        }
        self.places.insert(path, state);
    }

    fn unknown(&mut self, file: &Path, text: &[u8]) {
        self.unresolved.insert(UnresolvedInclude {
            file: file.to_owned(),
            text: String::from_utf8_lossy(text).trim().to_owned(),
        });
    }

    /// Reads all that is reached, and tells.
    fn finish(mut self) -> Dependencies {
        let mut seen = BTreeSet::new();
        loop {
            while let Some((path, text)) = self.queue.pop() {
                let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                self.read(&text, &path, &folder);
            }
            // A header that was read last may define what one that was read first includes.
            let before = seen.len();
            for computed in self.computed.clone() {
                for header in self.macros.get(&computed.name).cloned().unwrap_or_default() {
                    if let Some(header) = header
                        && seen.insert((computed.clone(), header.clone()))
                    {
                        self.look_for(&header, &computed.file, &computed.folder);
                    }
                }
            }
            if seen.len() == before {
                break;
            }
        }
        for computed in std::mem::take(&mut self.computed) {
            let meanings = self.macros.get(&computed.name);
            let known = meanings.is_some_and(|meanings| !meanings.contains(&None));
            if !known {
                self.unknown(&computed.file, &computed.name);
            }
        }
        Dependencies {
            places: self
                .places
                .into_iter()
                .map(|(path, state)| Place { path, state })
                .collect(),
            unresolved: self.unresolved.into_iter().collect(),
            is_timed: self.is_timed,
        }
    }
}

/// Whether a text has one of the names in it that stand for the time of the compile. In parts that a
/// macro puts together it is not seen.
fn asks_for_time(text: &[u8]) -> bool {
    const NAMES: [&[u8]; 3] = [b"__DATE__", b"__TIME__", b"__TIMESTAMP__"];
    // A line goes on behind a backslash, within a name too.
    let joined: Vec<_> = text
        .iter()
        .copied()
        .filter(|byte| !b"\\\r\n".contains(byte))
        .collect();
    NAMES
        .iter()
        .any(|name| joined.windows(name.len()).any(|at| at == *name))
}

/// What an argument means for headers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Folder,
    Header,
    Macro,
    /// More arguments, in a file.
    Arguments,
}

impl Meaning {
    /// What the argument means, and its value unless that is the next argument.
    fn of(argument: &[u8]) -> Option<(Self, Option<&[u8]>)> {
        const NAMES: [(&[u8], Meaning); 8] = [
            (b"include-path", Meaning::Folder),
            (b"use-bundled-headers", Meaning::Folder),
            (b"pre-include", Meaning::Header),
            (b"include", Meaning::Header),
            (b"define-macro", Meaning::Macro),
            (b"options-file", Meaning::Arguments),
            (b"optf", Meaning::Arguments),
            (b"I", Meaning::Folder),
        ];
        let argument = argument.trim_ascii();
        let (name, short) = match argument.strip_prefix(b"--") {
            Some(name) => (name, None),
            None => {
                let name = argument.strip_prefix(b"-")?;
                (name, Some(name))
            }
        };
        let long = NAMES.iter().find_map(|(long, meaning)| {
            let value = name.strip_prefix(*long)?;
            match value.first() {
                None => Some((*meaning, None)),
                Some(b'=') => Some((*meaning, Some(&value[1..]))),
                Some(b' ') => Some((*meaning, Some(value))),
                Some(_) => None,
            }
        });
        long.or_else(|| {
            let short = short?;
            let (meaning, value) = match short.first()? {
                b'I' => (Self::Folder, &short[1..]),
                b'D' => (Self::Macro, &short[1..]),
                _ => return None,
            };
            Some((meaning, Some(value).filter(|value| !value.is_empty())))
        })
    }
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{Target, TargetArchitecture};
    use super::*;

    fn request(name: &str, text: &str) -> CompileRequest {
        CompileRequest::new(name, text, Target::Ptx(TargetArchitecture::from_number(90)))
    }

    fn files(dependencies: &Dependencies) -> Vec<&str> {
        let is_file = |place: &&Place| matches!(place.state, PlaceState::File { .. });
        let found = dependencies.places().iter().filter(is_file);
        found
            .map(|place| place.path.file_name().unwrap().to_str().unwrap())
            .collect()
    }

    // Without it a file that appears in front of the one that was read could be missed, or one
    // beside the source, or one behind a macro.
    #[test]
    fn every_place_is_there_with_those_where_nothing_is() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("first/deep.h", "#include \"deeper.h\"\n#include COMPUTED\n");
        write("second/deeper.h", "#define COMPUTED <computed.h>\n");
        write("second/computed.h", "");
        write("own/own.h", "");
        write("third/given.h", "");
        let (first, second) = (root.path().join("first"), root.path().join("second"));
        let source = "#include <deep.h>\n#include \"own.h\"\n#include GIVEN\n";
        let name = root.path().join("own/k.cu");
        let request = request(name.to_str().unwrap(), source)
            .include_folder(&first)
            .include_folder(&second)
            .with(format!("-I{}", root.path().join("third").display()).as_str())
            .define("GIVEN", "<given.h>");
        let before = Dependencies::scan(&request);
        assert_eq!(before.unresolved(), []);
        let found = files(&before);
        assert_eq!(
            found,
            ["deep.h", "own.h", "computed.h", "deeper.h", "given.h"]
        );
        let absent = |path: PathBuf| {
            let place = before.places().iter().find(|place| place.path == path);
            place.is_some_and(|place| place.state == PlaceState::NoFile)
        };
        assert!(absent(first.join("deeper.h")) && absent(second.join("deep.h")));
        assert!(absent(root.path().join("own/deeper.h")));
        assert!(before.is_current());

        write("first/computed.h", "");
        assert!(!before.is_current());
        std::fs::remove_file(first.join("computed.h")).unwrap();
        assert!(before.is_current());
        write("own/own.h", "#define CHANGED\n");
        assert!(!before.is_current());
        assert_ne!(Dependencies::scan(&request), before);
    }

    // Without it a result could be kept whose inputs are not known.
    #[test]
    fn what_is_not_known_is_told() {
        let unknown = |request: &CompileRequest| {
            let found = Dependencies::scan(request);
            assert!(!found.is_complete());
            found.unresolved()[0].text.clone()
        };
        assert_eq!(unknown(&request("k.cu", "#include NOWHERE")), "NOWHERE");
        let both = "#define A <a.h>\n#define A B\n#include A";
        assert_eq!(unknown(&request("k.cu", both)), "A");
        let file = request("k.cu", "").with("--options-file=more");
        assert_eq!(unknown(&file), "more");
        let memory = request("k.cu", "").header("m.h", "#include CALL(x)");
        assert_eq!(unknown(&memory), "CALL(x)");
    }
}
