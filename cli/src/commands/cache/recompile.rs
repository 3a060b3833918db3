//! `cupola cache verify --recompile`: whether the compilers of this machine make again what is kept.

use std::io;
use std::path::{Path, PathBuf};

use cupola::kernels::cache::{CacheConfig, Entry, EntryKind, Key, Recipe};
use cupola::kernels::compile::{CompileError, Compiler};
use cupola::kernels::{CachedCompiler, Recompiled};

/// What came of an entry.
pub(super) enum Outcome {
    /// The same was made.
    Same,
    /// Something else was made.
    Differs(String),
    /// It could not be made here, and why.
    NotCompared(String),
}

/// The compilers of this machine, each looked for when the first entry of its kind is met.
#[derive(Default)]
pub(super) struct Recompiler {
    nvrtc: Option<Result<CachedCompiler, String>>,
    clang: Option<Result<CachedCompiler, String>>,
}

impl Recompiler {
    /// Compiles once more what an entry was made of, where the program was that made it: relative names
    /// start there.
    pub(super) fn compare(&mut self, key: &Key, entry: &Entry) -> Outcome {
        let EntryKind::Image(_) = entry.kind else {
            let kind = entry.kind;
            return Outcome::NotCompared(format!("it is {kind}, which nothing compiled"));
        };
        let Some(recipe) = &entry.recipe else {
            return Outcome::NotCompared(
                "it records no request: it was linked, or made of more than is recorded".into(),
            );
        };
        let there = match &recipe.folder {
            Some(folder) => match CurrentFolder::enter(folder) {
                Ok(there) => Some(there),
                Err(error) => {
                    let folder = folder.display();
                    return Outcome::NotCompared(format!("its folder {folder}: {error}"));
                }
            },
            None => None,
        };
        let outcome = self.compare_here(key, entry, recipe);
        drop(there);
        outcome
    }

    fn compare_here(&mut self, key: &Key, entry: &Entry, recipe: &Recipe) -> Outcome {
        let compiler = match self.compiler(&recipe.compiler) {
            Ok(compiler) => compiler,
            Err(problem) => return Outcome::NotCompared(problem.clone()),
        };
        let here = compiler.version();
        let request = recipe.read_request();
        let name = request.map_or_else(|_| String::new(), |it| it.source().name.clone());
        match compiler.recompile(key, entry) {
            Recompiled::Same => Outcome::Same,
            Recompiled::Differs { offset, kept, made } => {
                let place = match offset {
                    Some(offset) => format!("from byte {offset} on"),
                    None => "in its symbols".to_owned(),
                };
                Outcome::Differs(format!(
                    "{here} makes {made} bytes of {name} where {kept} are kept, which differ {place}"
                ))
            }
            Recompiled::OtherCompiler { made_by, here } => {
                Outcome::NotCompared(format!("made by {made_by}; here is {here}"))
            }
            Recompiled::Failed(error) => {
                Outcome::Differs(format!("{here} does not compile {name} any more: {error}"))
            }
            Recompiled::OtherFolder(folder) => {
                let folder = folder.display();
                Outcome::NotCompared(format!("it belongs to the folder {folder}"))
            }
            Recompiled::Unreadable(error) => {
                Outcome::NotCompared(format!("what it records: {error}"))
            }
            _ => Outcome::NotCompared("it records no request".into()),
        }
    }

    /// The compiler of the kind that made an entry.
    fn compiler(&mut self, made_by: &str) -> Result<&CachedCompiler, &String> {
        let load = |compiler: Result<Compiler, CompileError>| {
            let mut config = CacheConfig::default();
            // Nothing is taken from the folder that is verified, and nothing is added to it.
            config.folder = None;
            match compiler {
                Ok(compiler) => Ok(CachedCompiler::new(compiler, config)),
                Err(error) => Err(error.to_string()),
            }
        };
        let compiler = match made_by.starts_with("nvrtc ") {
            true => self.nvrtc.get_or_insert_with(|| load(Compiler::load())),
            false => self
                .clang
                .get_or_insert_with(|| load(Compiler::find_clang())),
        };
        compiler.as_ref()
    }
}

/// Another current folder, until it is dropped: the command's own files are named from the first one.
struct CurrentFolder {
    before: PathBuf,
}

impl CurrentFolder {
    fn enter(folder: &Path) -> io::Result<Self> {
        let before = std::env::current_dir()?;
        std::env::set_current_dir(folder)?;
        Ok(Self { before })
    }
}

impl Drop for CurrentFolder {
    fn drop(&mut self) {
        // One that is gone is told by what is read or written there next.
        let _ = std::env::set_current_dir(&self.before);
    }
}
