//! Tests that each crate which is published is complete on its own.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// The folder and the manifest of each package of the workspace that is published.
fn published() -> Vec<(PathBuf, toml::Table)> {
    let manifest = |folder: &Path| -> toml::Table {
        let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        text.parse().unwrap()
    };
    let all = manifest(&root());
    let members = all["workspace"]["members"].as_array().unwrap();
    let mut packages: Vec<_> = members
        .iter()
        .map(|member| root().join(member.as_str().unwrap()))
        .map(|folder| (manifest(&folder), folder))
        .map(|(manifest, folder)| (folder, manifest))
        .collect();
    packages.push((root(), all));
    let published =
        |manifest: &toml::Table| manifest["package"].get("publish") != Some(&false.into());
    packages.retain(|(_, manifest)| published(manifest));
    assert!(packages.len() > 5, "{packages:?}");
    packages
}

/// Without it a crate could go out without the text that its licence demands, without a page to
/// read, or with words that the registry refuses.
#[test]
fn each_crate_has_what_its_users_need() {
    for (folder, manifest) in published() {
        let what = folder.display();
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = fs::read(folder.join(licence)).unwrap_or_default();
            let same = text == fs::read(root().join(licence)).unwrap();
            assert!(same, "{what} lacks {licence} of the root");
        }
        let package = manifest["package"].as_table().unwrap();
        let name = package["name"].as_str().unwrap();
        let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert!(readme.contains(name), "{what}/README.md: is it {name}'s?");
        let include = package["include"].as_array().unwrap();
        assert!(include.contains(&"/LICENSE-*".into()), "{what}");
        let words = manifest["package"]["keywords"].as_array();
        for word in words.into_iter().flatten() {
            let word = word.as_str().unwrap();
            assert!(
                word.len() <= 20 && words.unwrap().len() <= 5,
                "{what}: {word}"
            );
        }
    }
}

/// Without it a packaged crate might not compile: what it includes from outside of its folder is
/// not in the package.
#[test]
fn no_crate_includes_what_is_not_its_own() {
    fn look(folder: &Path, depth: usize) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, depth + 1);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                for (_, rest) in text
                    .match_indices("include_")
                    .map(|(at, _)| text.split_at(at))
                {
                    let quoted = rest.split('"').nth(1).unwrap_or_default();
                    let macro_call = ["include_str!(\"", "include_bytes!(\""]
                        .iter()
                        .any(|start| rest.starts_with(start));
                    let out = quoted.split('/').take_while(|part| *part == "..").count();
                    assert!(
                        !macro_call || out <= depth,
                        "{} includes {quoted}",
                        path.display()
                    );
                }
            }
        }
    }
    for (folder, _) in published() {
        // A file of `src` is one folder inside of its package.
        look(&folder.join("src"), 1);
    }
}
