//! A copy of the workspace whose orderings are mutants.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::list::Member;
use super::orderings::Sources;
use crate::root;

/// What no test program is built of.
const LEFT_OUT: [&str; 3] = ["target", "docs", "fuzz"];

/// Makes the copy in `folder`. What has not changed since the last time is not written, so that
/// cargo builds it no more.
pub(super) fn write(folder: &Path) -> Result<()> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(root())? {
        let name = PathBuf::from(entry?.file_name());
        let shown = name.display().to_string();
        if !shown.starts_with('.') && !LEFT_OUT.contains(&shown.as_str()) {
            list(&root(), &name, &mut files)?;
        }
    }
    let mut changed = BTreeSet::new();
    for member in Member::ALL {
        let src = Path::new(member.folder()).join("src");
        for (file, text) in Sources::of(member)?.with_mutants(member) {
            let file = src.join(file);
            put(&folder.join(&file), text.as_bytes())?;
            changed.insert(file);
        }
    }
    for file in files.difference(&changed) {
        put(&folder.join(file), &fs::read(root().join(file))?)?;
    }
    // A file that has moved would be two modules of one name.
    let mut there = BTreeSet::new();
    list(folder, Path::new(""), &mut there)?;
    for file in there.difference(&files) {
        fs::remove_file(folder.join(file))?;
    }
    Ok(())
}

/// Adds a file, or all in a folder, by their paths from the root `of` them.
fn list(of: &Path, path: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    let there = of.join(path);
    if there.is_dir() {
        for entry in fs::read_dir(&there)? {
            let name = entry?.file_name();
            if name != "target" {
                list(of, &path.join(name), files)?;
            }
        }
    } else {
        files.insert(path.to_owned());
    }
    Ok(())
}

fn put(file: &Path, bytes: &[u8]) -> Result<()> {
    match fs::read(file) {
        Ok(there) if there == bytes => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = file.parent().context("a file has a folder")?;
            fs::create_dir_all(folder)?;
        }
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    }
    fs::write(file, bytes).with_context(|| file.display().to_string())
}
