//! `CachedLinker`: a linker that is asked for nothing that its cache has.

use std::sync::Arc;

use super::failure::LinkFailure;
use super::lazy::Lazy;
use super::libraries::Libraries;
use super::nvjitlink::LazyNvJitLinker;
use crate::cache::{
    Cache, CacheConfig, CacheError, CacheStats, Entry, Fetched, FileIdentity, Key, KeyBuilder,
    Manifest,
};
use crate::link::{
    DriverLinker, LinkError, LinkOption, LinkRequest, Linker, LinkerIdentity, Linkers,
};

/// Goes up whenever the fields of a link's key or their encoding change.
const SCHEMA: &str = "cupola link 1";

/// A linker, and what it made before: in memory, on disk, and in a shared folder ([`CacheConfig`]).
/// Threads share one. It may have the folder of a [`CachedCompiler`](crate::CachedCompiler): keys of
/// links are never those of compiles.
///
/// The key is of the linker with its version and its library, the target, the options in order, and of
/// each input the name, the kind and all bytes.
///
/// ```no_run
/// use cupola_kernels::CachedLinker;
/// use cupola_kernels::cache::CacheConfig;
/// use cupola_kernels::compile::Target;
/// use cupola_kernels::link::{InputKind, LinkInput, LinkRequest};
///
/// # fn link(one: Vec<u8>, two: Vec<u8>) -> Result<(), Box<dyn std::error::Error>> {
/// let linker = CachedLinker::find(None, CacheConfig::default());
/// let request = LinkRequest::new(Target::Cubin("sm_90a".parse()?))
///     .input(LinkInput::new("one", InputKind::LtoIr, one))
///     .input(LinkInput::new("two", InputKind::LtoIr, two));
/// let fetched = linker.link(&request)?;
/// println!("{:?}: {} bytes", fetched.source, fetched.entry.payload.len());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct CachedLinker<L> {
    linker: L,
    libraries: Arc<Libraries>,
    cache: Cache<LinkFailure>,
}

/// Which linker it is, as a key has it; no file where it cannot be told from another version.
#[derive(PartialEq)]
struct Identified {
    name: String,
    library: Option<FileIdentity>,
}

impl CachedLinker<Linkers> {
    /// The linkers of this machine, as [`Linkers::find`], with a cache.
    ///
    /// nvJitLink is not loaded if the private folder has a note of it: from the first process on that found
    /// it, until its file, or a place that is looked at before it, changes. A request that the cache has is
    /// then answered without it; the first that it has not loads it. There is no note of one that only
    /// the system's loader finds by its name (`CUPOLA_NVJITLINK_LIBRARY`, `CUDA_PATH` or a Python environment
    /// name its folder), nor of a file that changed within the last minute.
    #[must_use]
    pub fn find(driver: Option<DriverLinker>, config: CacheConfig) -> Self {
        let cache = Cache::new(config);
        let libraries = Arc::default();
        let nvjitlink = Lazy::find(&cache, ())
            .map(|linker| LazyNvJitLinker::new(linker, Arc::clone(&libraries)));
        Self {
            linker: Linkers::of(nvjitlink, driver),
            libraries,
            cache,
        }
    }
}

impl<L: Linker> CachedLinker<L> {
    /// A linker with a cache. What a linker makes whose library is not known, as that of a software
    /// device within the process, is not kept.
    #[must_use]
    pub fn new(linker: L, config: CacheConfig) -> Self {
        Self {
            linker,
            libraries: Arc::default(),
            cache: Cache::new(config),
        }
    }

    /// The linker.
    #[must_use]
    pub fn linker(&self) -> &L {
        &self.linker
    }

    /// The cache.
    #[must_use]
    pub fn cache(&self) -> &Cache<LinkFailure> {
        &self.cache
    }

    /// What the cache did so far.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.cache.stats()
    }

    /// The key of a request: of all that its result depends on.
    ///
    /// # Errors
    /// No linker can do it, as [`Linker::accepts`] says.
    pub fn key(&self, request: &LinkRequest) -> Result<Key, LinkError> {
        Ok(key(&self.identify(request)?, request))
    }

    /// What the request asks for: from the cache, or linked and kept. Of threads and processes that want
    /// the same one links, as [`Cache::get_or_compile`] says.
    ///
    /// # Errors
    /// [`CacheError::Compile`] as [`Linker::link`]; [`CacheError::NotListed`] for a binary that the
    /// [policy](CacheConfig::policy) does not list.
    pub fn link(&self, request: &LinkRequest) -> Result<Fetched, CacheError<LinkFailure>> {
        let identified = self.identify(request).map_err(|error| {
            let failure = LinkFailure::new(error);
            CacheError::Compile(failure.into())
        })?;
        let link = || {
            let linked = self.linker.link(request).map_err(LinkFailure::new)?;
            let mut manifest = Manifest::new();
            // One that was known by a note may be another when it is loaded: then the key is not its own.
            let is_as_it_was = self.identify(request).is_ok_and(|now| now == identified);
            if identified.library.is_none() || !is_as_it_was {
                manifest.note_unknown();
            }
            Ok(Entry {
                kind: linked.target().kind().into(),
                names: Vec::new(),
                log: linked.log().to_owned(),
                payload: linked.into_image(),
                manifest,
                // Its inputs are what others keep already, and larger than what is made of them.
                recipe: None,
            })
        };
        self.cache.get_or_compile(&key(&identified, request), link)
    }

    fn identify(&self, request: &LinkRequest) -> Result<Identified, LinkError> {
        let LinkerIdentity { name, library } = self.linker.identity(request)?;
        let library = library.and_then(|library| self.libraries.identify(&library));
        Ok(Identified { name, library })
    }
}

fn key(identified: &Identified, request: &LinkRequest) -> Key {
    let Identified { name, library } = identified;
    let target = request.target();
    let inputs = request.inputs();
    let mut key = KeyBuilder::new(SCHEMA);
    if !mutant!("link_key_without_linker") {
        key = key.field("linker", name.as_bytes());
    }
    if !mutant!("link_key_without_library") {
        let library = library.as_ref().map(FileIdentity::bytes);
        key = key.list("library", library.as_slice());
    }
    if !mutant!("link_key_without_target") {
        key = key
            .field("architecture", target.architecture().to_string().as_bytes())
            .field("output", &[target.kind().code()]);
    }
    if !mutant!("link_key_without_options") {
        let options = request.options().iter().map(LinkOption::argument);
        key = key.list("options", options);
    }
    if !mutant!("link_key_without_names") {
        key = key.list("names", inputs.iter().map(|input| &input.name));
    }
    if !mutant!("link_key_without_kinds") {
        key = key.list("kinds", inputs.iter().map(|input| input.kind.to_string()));
    }
    if !mutant!("link_key_without_data") {
        key = key.list("data", inputs.iter().map(|input| &input.data));
    }
    key.finish()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::compile::Target;
    use crate::link::{InputKind, LinkInput};

    fn library(name: &str) -> Option<FileIdentity> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library");
        std::fs::write(&path, name).unwrap();
        FileIdentity::of(&path).ok()
    }

    // Without it what was linked of other inputs, for another GPU or by another linker could be loaded.
    #[test]
    fn each_ingredient_of_a_link_changes_its_key() {
        let target = |name: &str| Target::Cubin(name.parse().unwrap());
        let input = |name: &str, kind, data: &[u8]| LinkInput::new(name, kind, data);
        let one = || input("a", InputKind::Ptx, b"text");
        let base = || LinkRequest::new(target("sm_90")).input(one());
        // One file: another would be another library.
        let known = library("x");
        let by = |name: &str| Identified {
            name: name.into(),
            library: known.clone(),
        };
        let requests = [
            base(),
            LinkRequest::new(target("sm_90a")).input(one()),
            LinkRequest::new(Target::Ptx("sm_90".parse().unwrap())).input(one()),
            base().with(LinkOption::Debug),
            base().with(LinkOption::Debug).with(LinkOption::LineInfo),
            base().with(LinkOption::LineInfo).with(LinkOption::Debug),
            base().input(one()),
            LinkRequest::new(target("sm_90")).input(input("b", InputKind::Ptx, b"text")),
            LinkRequest::new(target("sm_90")).input(input("a", InputKind::Fatbin, b"text")),
            LinkRequest::new(target("sm_90")).input(input("a", InputKind::Ptx, b"texts")),
        ];
        let linker = by("nvJitLink 13.0");
        let mut keys: Vec<_> = requests.iter().map(|it| key(&linker, it)).collect();
        keys.push(key(&by("nvJitLink 13.1"), &base()));
        keys.push(key(
            &Identified {
                library: library("other"),
                name: linker.name.clone(),
            },
            &base(),
        ));
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
    }
}
