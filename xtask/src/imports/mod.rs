//! `cargo xtask imports`: the drawing of `managers` holds, and no room of the workspace is crowded.
//!
//! Which file imports which, and which fields others see, is read from the sources: `use` items and paths that start at
//! `crate`, at `super`, at a child module or at a name that was imported. A re-export is followed
//! to the file that defines the name. Tests, comments, attributes and visibilities
//! (`pub(in crate::pool)`) import nothing.

mod circles;
mod dependencies;
mod fields;
mod modules;
mod rooms;
pub(crate) mod sizes;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;

use anyhow::{Context as _, Result, bail, ensure};

use crate::root;
use modules::Crate;

/// For each file the files that it imports, each with the paths by which it does.
type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Reads the sources of `managers`, and refuses what breaks a rule.
pub(crate) fn run() -> Result<()> {
    eprintln!("\n==== which file of managers imports which");
    let folder = root().join("managers/src");
    let imports = Crate::read(&|file| match fs::read_to_string(folder.join(file)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("managers/src/{file}")),
    })?
    .imports();
    let mut problems = circles::problems(&imports);
    problems.extend(rooms::problems(&imports));
    problems.extend(rooms::empty(&imports));
    let read = |file: &'_ String| Ok((file.clone(), fs::read_to_string(folder.join(file))?));
    let texts: Vec<(String, String)> = imports.keys().map(read).collect::<Result<_>>()?;
    let texts = texts
        .iter()
        .map(|(file, text)| (file.as_str(), text.clone()));
    problems.extend(fields::problems(texts)?);
    if !problems.is_empty() {
        bail!(
            "the files below are of managers/src, the rules are in xtask/src/imports:\n\n{}",
            problems.join("\n\n")
        );
    }
    let arrows: usize = imports.values().map(BTreeMap::len).sum();
    // A reader that sees no import would find nothing wrong.
    ensure!(arrows > imports.len(), "{arrows} imports are not all");
    println!("{} files, {arrows} imports", imports.len());
    dependencies::check()?;
    sizes::check()
}

/// `file imports other (path, path)`, a line of each complaint.
fn arrow(from: &str, to: &str, paths: &BTreeSet<String>) -> String {
    let paths: Vec<_> = paths.iter().map(String::as_str).collect();
    format!("    {from} imports {to} ({})", paths.join(", "))
}

/// The imports of a crate whose files are these, `lib.rs` among them.
#[cfg(test)]
fn imports_of(files: &[(&str, &str)]) -> Imports {
    let text = |file: &str| {
        let mut files = files.iter();
        let found = files.find(|(name, _)| *name == file);
        Ok(found.map(|(_, text)| (*text).to_owned()))
    };
    Crate::read(&text).unwrap().imports()
}
