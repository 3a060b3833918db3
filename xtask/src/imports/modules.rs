//! The modules of a crate, and what the paths in them lead to.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

use super::Imports;
use super::uses::{Found, read};

/// A path from the crate's root, or from where it is written.
pub(super) type Path = Vec<String>;

/// A module, in a file of its own or inline.
struct Module {
    /// Its file, relative to that of the crate.
    file: String,
    found: Found,
}

/// All modules but those of tests.
pub(super) struct Crate {
    modules: BTreeMap<Path, Module>,
}

/// The text of a file, if there is one.
type Text<'a> = &'a dyn Fn(&str) -> Result<Option<String>>;

impl Crate {
    /// Reads the file `lib.rs`, and the files of the modules that it declares.
    pub(super) fn read(text: Text) -> Result<Self> {
        let mut this = Self {
            modules: BTreeMap::new(),
        };
        this.add_file(text, &[], "lib.rs", "")?;
        Ok(this)
    }

    /// Adds the module of a file, whose children have their files in `folder`.
    fn add_file(&mut self, text: Text, path: &[String], file: &str, folder: &str) -> Result<()> {
        let source = text(file)?.with_context(|| format!("there is no {file}"))?;
        let parsed = syn::parse_file(&source).with_context(|| file.to_owned())?;
        self.add(text, path, file, folder, &parsed.items)
    }

    /// Adds a module that has these items, and its children.
    fn add(
        &mut self,
        text: Text,
        path: &[String],
        file: &str,
        folder: &str,
        items: &[syn::Item],
    ) -> Result<()> {
        let mut found = read(items);
        if let Some(glob) = &found.hidden {
            bail!("{file} re-exports `{glob}::*`: name what it re-exports, so that it can be seen");
        }
        let children = std::mem::take(&mut found.children);
        let module = Module {
            file: file.to_owned(),
            found,
        };
        self.modules.insert(path.to_vec(), module);
        for child in children {
            let name = child.ident.to_string();
            let alone = format!("{folder}{name}.rs");
            let below = format!("{folder}{name}/");
            let path = [path, &[name]].concat();
            if let Some((_, items)) = &child.content {
                self.add(text, &path, file, &below, items)?;
            } else if text(&alone)?.is_some() {
                self.add_file(text, &path, &alone, &below)?;
            } else {
                self.add_file(text, &path, &format!("{below}mod.rs"), &below)?;
            }
        }
        Ok(())
    }

    /// Which file imports which.
    pub(super) fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (at, module) in &self.modules {
            let of_file = imports.entry(module.file.clone()).or_default();
            for path in &module.found.imported {
                if let Some(file) = self.other_file(at, path) {
                    of_file.entry(file).or_default().insert(path.join("::"));
                }
            }
            for path in &module.found.named {
                if let Some(file) = self.other_file(at, path) {
                    // A path to what is imported says nothing new.
                    of_file
                        .entry(file)
                        .or_insert_with(|| [path.join("::")].into());
                }
            }
        }
        imports
    }

    /// The file that `path` leads to from the module `at`, if it is another of this crate.
    fn other_file(&self, at: &[String], path: &[String]) -> Option<String> {
        let file = self.file_of(at, path, 0)?;
        (self.modules.get(at)?.file != file).then(|| file.to_owned())
    }

    /// The file that defines what `path` leads to, written in the module `at`; `None` if it is
    /// not in this crate. `followed` names were imported by a module on the way, from another.
    fn file_of(&self, at: &[String], path: &[String], followed: u32) -> Option<&str> {
        let (mut here, mut rest) = (at.to_vec(), path);
        while let Some((first, more)) = rest.split_first() {
            match first.as_str() {
                "crate" => here.clear(),
                "self" => {}
                "super" => drop(here.pop()),
                _ => break,
            }
            rest = more;
        }
        while let Some((first, more)) = rest.split_first() {
            here.push(first.clone());
            if !self.modules.contains_key(&here) {
                here.pop();
                break;
            }
            rest = more;
        }
        let module = self.modules.get(&here)?;
        if let Some((name, more)) = rest.split_first()
            && let Some(target) = module.found.names.get(name)
            && followed < MOST_FOLLOWED
        {
            let target: Vec<_> = target.iter().chain(more).cloned().collect();
            if let Some(file) = self.file_of(&here, &target, followed + 1) {
                return Some(file);
            }
        }
        // What no module of this crate defines is of another crate, or of the language.
        (rest.len() < path.len()).then_some(&module.file)
    }
}

/// More than a chain of re-exports has: an import of another crate by its own name goes round.
const MOST_FOLLOWED: u32 = 32;
