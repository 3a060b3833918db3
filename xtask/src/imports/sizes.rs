//! How large a folder of sources may be, and a file: in the whole repository, tests included.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::root;

/// As many files as a room has at most: a larger one has two things in it. A folder in it is a room
/// of its own.
const MOST_FILES: usize = 15;

/// As many lines as a file has at most: a longer one has two concepts in it.
const MOST_LINES: usize = 600;

/// Written by `cargo xtask bindgen`, from headers that are as long as they are.
const GENERATED: &str = "cuda-sys/src/generated";

/// Reads every source that was written by hand, and refuses folders and files that are too large.
pub(super) fn check() -> Result<()> {
    eprintln!("\n==== how large folders and files are");
    let root = root();
    let mut lines = BTreeMap::new();
    for path in rust_files(&root)? {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let file = path.strip_prefix(&root).unwrap_or(&path);
        let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
        lines.insert(parts.join("/"), text.lines().count());
    }
    let generated = |file: &str| file.starts_with(GENERATED);
    // A reader that sees no source would find nothing wrong.
    ensure!(
        lines.keys().any(|file| generated(file)),
        "{GENERATED} is not seen"
    );
    lines.retain(|file, _| !generated(file));
    let problems = problems(&lines);
    if !problems.is_empty() {
        bail!("rooms and files are small:\n\n{}", problems.join("\n"));
    }
    println!("{} files are in rooms of at most {MOST_FILES}", lines.len());
    Ok(())
}

/// A complaint for each folder with too many files, and for each file with too many lines.
fn problems(lines: &BTreeMap<String, usize>) -> Vec<String> {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in lines.keys() {
        let (folder, name) = file.rsplit_once('/').unwrap_or((".", file));
        folders.entry(folder).or_default().push(name);
    }
    folders.retain(|_, files| files.len() > MOST_FILES);
    let crowded = folders.iter().map(|(folder, files)| {
        format!(
            "{folder} has {} files, at most {MOST_FILES} are a room:\n    {}",
            files.len(),
            files.join(" ")
        )
    });
    let long = lines.iter().filter(|(_, lines)| **lines > MOST_LINES);
    let long = long
        .map(|(file, lines)| format!("{file} has {lines} lines, at most {MOST_LINES} are a file"));
    crowded.chain(long).collect()
}

/// The Rust sources in a folder and in those below it. What a build has written is left out, and
/// hidden folders are.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if entry.file_type()?.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if name.ends_with(".rs") {
                files.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of one line each.
    fn short(files: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
        files.into_iter().map(|file| (file, 1)).collect()
    }

    /// Without it a room could grow, or its files be counted with those of the folders in it.
    #[test]
    fn the_files_of_a_folder_are_counted_apart() {
        let of = |n: usize| {
            let files = (0..n).map(|i| format!("room/f{i}.rs"));
            let inner = (0..9).map(|i| format!("room/inner/f{i}.rs"));
            // Beside a folder of its name: one room, and one file of the room around it.
            short(files.chain(inner).chain(["room.rs".to_owned()]))
        };
        assert_eq!(problems(&of(MOST_FILES)), [""; 0]);
        let said = problems(&of(MOST_FILES + 1));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with("room has 16 files") && said[0].contains("f15.rs"),
            "{said:?}"
        );
    }

    /// Without it a file could grow until it holds several concepts.
    #[test]
    fn a_long_file_is_told_with_its_length() {
        let of = |lines: usize| BTreeMap::from([("room/long.rs".to_owned(), lines)]);
        assert_eq!(problems(&of(MOST_LINES)), [""; 0]);
        let said = problems(&of(MOST_LINES + 1)).join("\n");
        assert!(said.contains("room/long.rs has 601 lines"), "{said}");
    }

    /// Without it the check could overlook tests, fuzz targets or what is two folders down, or read
    /// what a build has written.
    #[test]
    fn sources_are_found_wherever_they_are() {
        let files = rust_files(&root()).unwrap();
        let has = |file: &str| files.contains(&root().join(file));
        for file in [
            "xtask/src/imports/sizes.rs",
            "managers/tests/pool/main.rs",
            "fuzz/fuzz_targets/pool.rs",
            "cuda-sys/src/generated/driver.rs",
        ] {
            assert!(has(file), "{file}");
        }
        let built = root().join("target");
        assert!(!files.iter().any(|file| file.starts_with(&built)));
    }
}
